"""``stream-sidecar`` in a fork of this process, with its modules loaded.

A command reads, prints and exits as in a new interpreter, in a tenth of the time. A new
interpreter is used if its start matters (its options, variables whose names begin with
``PYTHON``), and on a system without ``fork``.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NoReturn, TextIO

from package_modules import import_all
from rpc_client import ROOT

COMMAND = (sys.executable, "-m", "stream_sidecar")
CAN_FORK = hasattr(os, "fork")
_COMMANDS = "stream_sidecar.cli"


def command(
    *arguments: str, data: bytes = b"", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """``stream-sidecar`` with ``arguments``, ``data`` on its standard input, and more
    variables than this process has."""
    variables = {**os.environ, **environment}
    if not CAN_FORK or any(name.startswith("PYTHON") for name in environment):
        return subprocess.run(
            [*COMMAND, *arguments],
            input=data,
            capture_output=True,
            cwd=ROOT,
            env=variables,
            check=False,
        )
    (theirs, into), (out, their_out), (err, their_err) = (os.pipe() for _ in range(3))
    child = start(
        arguments, variables, (theirs, their_out, their_err), (into, out, err)
    )
    with ThreadPoolExecutor(2) as pool:
        said = [pool.submit(_read, each) for each in (out, err)]
        _write(into, data)
    output, errors = (each.result() for each in said)
    return subprocess.CompletedProcess(arguments, ended(child), output, errors)


_load = cache(import_all)
"""What the commands import when they are called: once for all of them."""


def ended(child: int) -> int:
    """The code of a process that was started, when it has ended; a signal's number is
    negative."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def start(
    arguments: Sequence[str],
    environment: dict[str, str],
    streams: tuple[int, ...],
    ours: tuple[int, ...],
) -> int:
    """The id of a process that has these standard streams; they are closed here, and
    ``ours``, the other ends, there."""
    _load()
    child = os.fork()
    if not child:
        _become(arguments, environment, streams, ours)
    for stream in {*streams}:
        os.close(stream)
    return child


def _write(pipe: int, data: bytes) -> None:
    with os.fdopen(pipe, "wb") as stdin:
        try:
            stdin.write(data)
            stdin.flush()
        except BrokenPipeError:
            pass  # a command that reads nothing


def _read(pipe: int) -> bytes:
    with os.fdopen(pipe, "rb") as stream:
        return stream.read()


def _become(
    arguments: Sequence[str],
    environment: dict[str, str],
    streams: tuple[int, ...],
    ours: tuple[int, ...],
) -> NoReturn:
    """The command, in a child of the tests that keeps nothing else of them."""
    code: Any = 1
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        for number in ours:
            os.close(number)
        os.chdir(ROOT)
        os.environ.clear()
        os.environ.update(environment)
        code = _run(arguments)
    finally:
        os._exit(code)


def _run(arguments: Sequence[str]) -> int:
    for name in [each for each in sys.modules if each.startswith(_COMMANDS)]:
        del sys.modules[name]  # they keep what they learned of another terminal
    from stream_sidecar import __main__ as program

    sys.modules["__main__"] = program
    sys.argv = [str(program.__file__), *arguments]
    sys.stdin = _stream(0, "<stdin>", "r", "surrogateescape")
    sys.stdout = _stream(1, "<stdout>", "w", "surrogateescape")
    sys.stderr = _stream(2, "<stderr>", "w", "backslashreplace", buffering=1)
    logging.root.handlers.clear()  # they belong to the tests
    try:
        program.main()
    except SystemExit as end:
        return int(end.code or 0)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    return 0


def _stream(
    number: int, name: str, mode: str, errors: str, buffering: int = -1
) -> TextIO:
    """As an interpreter in UTF-8 mode makes a standard stream."""
    stream = os.fdopen(number, mode, buffering, "utf-8", errors, closefd=False)
    stream.buffer.raw.name = name
    return stream
