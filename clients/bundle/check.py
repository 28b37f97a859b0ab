"""Replays every transcript of the project through a program.

``python3 check.py PROGRAM [ARGUMENT ...]``: says what differs, and ends with 1 where
something does. On any system: it reads pipes and waits, and has the checkout's tests,
but nothing that has to be installed.
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent.parent
SUPPORT = CHECKOUT / "tests" / "support"


def main() -> None:
    """Every transcript through ``sys.argv[1:]``."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    replay = _support("replay")
    command, failed = _command(*sys.argv[1:]), 0
    paths = sorted((CHECKOUT / "tests" / "transcripts").glob("*.jsonl"))
    for path in paths:
        lines = replay.read(path)
        played = replay.replay(lines, partial(PipeClient, command))
        problems = [*filter(None, map(replay.difference, lines, played))]
        failed += bool(problems)
        for problem in problems:
            print(f"{path.stem}: {problem}", file=sys.stderr)
    print(f"{len(paths) - failed} of {len(paths)} transcripts replayed")
    sys.exit(1 if failed or not paths else 0)


def _command(program: str, *arguments: str) -> tuple[str, ...]:
    """The program: a file of this name here, or else the program on ``PATH``."""
    here = Path(program)
    return (str(here.absolute()) if here.is_file() else program, *arguments)


def _support(name: str) -> Any:
    """A module of the tests, which only a checkout has."""
    if str(SUPPORT) not in sys.path:
        sys.path.insert(0, str(SUPPORT))
    return import_module(name)


class PipeClient:
    """What a replay asks of a client, over blocking pipes."""

    def __init__(self, command: tuple[str, ...]) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0
        )
        self._rest = b""

    def __enter__(self) -> PipeClient:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def send(self, message: Any) -> None:
        self.send_bytes(_support("rpc_client").frame(message))

    def send_bytes(self, data: bytes) -> None:
        assert self._process.stdin is not None
        rest = memoryview(data)
        while rest:
            rest = rest[self._process.stdin.write(rest) :]

    def end_input(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.stdin = None

    def read(self) -> Any:
        while b"\r\n\r\n" not in self._rest:
            self._more()
        header, _, self._rest = self._rest.partition(b"\r\n\r\n")
        size = int(header.removeprefix(b"Content-Length: "))
        while len(self._rest) < size:
            self._more()
        body, self._rest = self._rest[:size], self._rest[size:]
        return _support("rpc_client").strict_json(body)

    def read_all(self) -> list[bytes]:
        """What is left, which should be nothing."""
        assert self._process.stdout is not None
        rest = self._rest + self._process.stdout.read()
        return [rest] if rest else []

    def wait(self) -> int:
        return self._process.wait()

    def stderr(self) -> str:
        assert self._process.stderr is not None
        return self._process.stderr.read().decode(errors="replace")

    def _more(self) -> None:
        assert self._process.stdout is not None
        data = self._process.stdout.read(65_536)
        if not data:
            raise EOFError(self.stderr())
        self._rest += data


if __name__ == "__main__":
    main()
