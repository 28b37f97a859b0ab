"""``stream-sidecar`` in a separate process, also on a small disk."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from forked import CAN_FORK, COMMAND, ended, start
from rpc_client import ROOT

ENVIRONMENT = {"PATH": os.environ.get("PATH", ""), "COLUMNS": "500", "PYTHONUTF8": "1"}


@frozen
class Run:
    code: int
    output: str


def run(*arguments: object, **more: Any) -> Run:
    """``stream-sidecar`` with ``arguments``; both streams together. ``more`` is what
    a process of another kind is made with."""
    words = [*map(str, arguments)]
    code, said = _started(words, more) if more or not CAN_FORK else _forked(words)
    assert b"Traceback" not in said, said
    return Run(code, said.decode())


def _started(words: list[str], more: dict[str, Any]) -> tuple[int, bytes]:
    done = subprocess.run(
        [*COMMAND, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=ROOT,
        env=ENVIRONMENT,
        check=False,
        **more,
    )
    return done.returncode, done.stdout


def _forked(words: list[str]) -> tuple[int, bytes]:
    nothing = os.open(os.devnull, os.O_RDONLY)
    reading, writing = os.pipe()
    child = start(words, ENVIRONMENT, (nothing, writing, writing), (reading,))
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    return ended(child), said


_FULL_DISK = """
mount -t tmpfs -o size=$1 none "$2" && cp "$3"/* "$2" && shift 3 && "$@"
code=$?
cd "$OLDPWD" 2>/dev/null
for name in "$TARGET"/* "$TARGET"/.[!.]*; do
  test -e "$name" && cp "$name" "$RESULT"
done
exit $code
"""
"""In a new mount namespace, in which a user may mount: a small disk with copies of the
files, then the command, then copies of the files that it left."""


def on_a_small_disk(folder: Path, size: int, *arguments: object) -> Run:
    """The command on ``folder`` as if it were a disk of so many bytes."""
    shutil.which("unshare") or pytest.skip("no unshare: no small disk was mounted")
    with tempfile.TemporaryDirectory() as place:
        target, result = Path(place, "target"), Path(place, "result")
        target.mkdir()
        result.mkdir()
        words = [str(size), str(target), str(folder), *COMMAND, *map(str, arguments)]
        done = subprocess.run(
            ["unshare", "-Urm", "sh", "-c", _FULL_DISK, "sh", *words, str(target)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=ROOT,
            env={**ENVIRONMENT, "TARGET": str(target), "RESULT": str(result)},
            check=False,
        )
        if b"unshare:" in done.stdout or b"mount:" in done.stdout:
            pytest.skip("no mount namespaces: no small disk was mounted")
        shutil.rmtree(folder)
        shutil.copytree(result, folder)
    assert b"Traceback" not in done.stdout, done.stdout
    return Run(done.returncode, done.stdout.decode())
