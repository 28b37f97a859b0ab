"""A host that believes nothing: JSON-RPC over the raw bytes of a real process.

It reads exactly one Content-Length header and then so many bytes of JSON that the
strictest peers accept (serde_json), and fails on any other byte, where other clients
read over a stray ``print`` (pytest-lsp does). Nothing blocks for ever: all waiting ends
after `PATIENCE` seconds with an error.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from places import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

COMMAND = (sys.executable, "-m", "stream_sidecar", "--stdio")
PATIENCE = 120.0
PROMPTLY = 60.0
"""Seconds within which the process must end. It needs one; on a busy machine it may
need a minute. A process that hangs does not end in this time."""

_HEADER = re.compile(rb"Content-Length: (0|[1-9][0-9]*)\r\n\r\n")
_LONGEST_HEADER = 40
_PIECE = 65_536
_SURROGATE = re.compile("[\ud800-\udfff]")
_ABSENT = object()


class RpcError(Exception):
    """An error answer: ``code``, ``message`` and ``data``, checked for its promises."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data: dict[str, Any] = error["data"]
        assert error.keys() == {"code", "message", "data"}
        assert self.message
        assert "Traceback" not in self.message
        assert str(ROOT) not in json.dumps(error)
        assert isinstance(self.data["kind"], str)
        assert isinstance(self.data["retryable"], bool)


class RpcClient:
    """Starts ``command`` with ``arguments`` and speaks to it.

    ``options`` go to ``subprocess.Popen``; stderr is a pipe that is read at the end.
    As a context manager it kills what is still running.
    """

    def __init__(
        self, *arguments: str, command: tuple[str, ...] = COMMAND, **options: Any
    ) -> None:
        options = {"stderr": subprocess.PIPE, "cwd": ROOT, "bufsize": 0, **options}
        options.setdefault("stdin", subprocess.PIPE)
        options.setdefault("stdout", subprocess.PIPE)
        self.process = subprocess.Popen([*command, *arguments], **options)
        self._buffer = b""
        self._last_id = 0
        self._stderr = b""

    def __enter__(self) -> RpcClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()

    # Speaking

    def initialize(self, params: Any = None, **ours: Any) -> Any:
        """The whole handshake; ``ours`` is ``initializationOptions.streamSidecar``."""
        params = {"processId": None, "capabilities": {}, **(params or {})}
        if ours:
            params["initializationOptions"] = {"streamSidecar": ours}
        result = self.request("initialize", params)
        self.notify("initialized", {})
        return result

    def request(self, method: str, params: Any = _ABSENT) -> Any:
        """Sends a request and gives its result; raises RpcError."""
        self._last_id += 1
        self.send(message(method, params, id=self._last_id))
        answer = self.read()
        assert answer["id"] == self._last_id, answer
        return result_of(answer)

    def notify(self, method: str, params: Any = _ABSENT) -> None:
        self.send(message(method, params))

    def send(self, *messages: Any) -> None:
        self.send_bytes(b"".join(map(frame, messages)))

    def send_bytes(self, data: bytes) -> None:
        """Writes all of ``data``, however slowly the peer reads it."""
        assert self.process.stdin is not None
        descriptor = self.process.stdin.fileno()
        rest = memoryview(data)
        while rest:
            piece = rest[:_PIECE]
            written = within_patience(
                lambda piece=piece: os.write(descriptor, piece),
                "the peer does not read",
            )
            rest = rest[written:]

    def read(self) -> Any:
        """The next message, checked byte by byte."""
        while not (match := _HEADER.match(self._buffer)):
            assert len(self._buffer) < _LONGEST_HEADER, self._buffer[:200]
            assert b"Content-Length: ".startswith(self._buffer[:16]), self._buffer
            self._more()
        end = match.end() + int(match[1])
        while len(self._buffer) < end:
            self._more()
        body, self._buffer = self._buffer[match.end() : end], self._buffer[end:]
        return strict_json(body)

    def read_all(self) -> list[Any]:
        """All messages up to the end of output."""
        messages = []
        while True:
            try:
                messages.append(self.read())
            except EOFError:
                assert self._buffer == b""
                return messages

    def assert_silent(self) -> None:
        """Nothing but what was asked for is on its way."""
        assert "uptimeMs" in self.request("sidecar/stats")

    # Ending

    def end_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def wait(self, seconds: float = PATIENCE) -> int:
        """The exit code, which must come within ``seconds``."""
        return self.process.wait(seconds)

    def stderr(self) -> str:
        """What the process, which has ended, said."""
        assert self.process.stderr is not None
        self._stderr += self.process.stderr.read()
        return self._stderr.decode()

    def _more(self) -> None:
        assert self.process.stdout is not None
        descriptor = self.process.stdout.fileno()
        data = within_patience(lambda: os.read(descriptor, 1 << 20), "no answer")
        if not data:
            raise EOFError(self.stderr() if self.process.stderr else "")
        self._buffer += data


def within_patience(act: Callable[[], Any], complaint: str) -> Any:
    """The result of a call that may wait; fails if it waits too long.

    It waits in a thread, since not every system reports whether a pipe is ready.
    """
    outcome: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            outcome.put((act(), None))
        except BaseException as error:
            outcome.put((None, error))

    Thread(target=run, daemon=True).start()
    try:
        result, error = outcome.get(timeout=PATIENCE)
    except Empty:
        raise AssertionError(complaint) from None
    if error is not None:
        raise error
    return result


def message(method: str, params: Any = _ABSENT, **more: Any) -> dict[str, Any]:
    """A notification, or a request when ``id`` is given."""
    given = {} if params is _ABSENT else {"params": params}
    return {"jsonrpc": "2.0", **more, "method": method, **given}


def frame(body: Any) -> bytes:
    """One message as well-behaved clients write it."""
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def result_of(answer: dict[str, Any]) -> Any:
    """The result of a response; raises its error."""
    if "error" in answer:
        assert answer.keys() == {"jsonrpc", "id", "error"}
        raise RpcError(answer["error"])
    assert answer.keys() == {"jsonrpc", "id", "result"}
    return answer["result"]


def strict_json(body: bytes) -> Any:
    """``body`` as serde_json 1.0 reads it (hosts of language servers are in Rust)."""
    value = json.loads(
        body.decode("utf-8"),
        parse_int=_integer,
        parse_float=_real,
        parse_constant=_refuse,
        object_pairs_hook=_object,
    )
    _check(value, 127)
    return value


def _integer(text: str) -> int:
    assert -(2**63) <= int(text) < 2**64, text
    return int(text)


def _real(text: str) -> float:
    assert abs(float(text)) < float("inf"), text
    return float(text)


def _refuse(text: str) -> Any:
    raise AssertionError(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len(dict(pairs)) == len(pairs), "a key comes twice"
    return dict(pairs)


def _check(value: Any, depth: int) -> None:
    assert depth >= 0, "nested too deeply"
    if isinstance(value, dict):
        for key, item in value.items():
            _check(key, depth)
            _check(item, depth - 1)
    elif isinstance(value, list):
        for item in value:
            _check(item, depth - 1)
    elif isinstance(value, str):
        assert not _SURROGATE.search(value), "half a character"
