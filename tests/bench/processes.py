"""A process at the other end of two pipes, driven with raw reads and writes.

The same client for every process that is compared, and as thin as Python gets, so that
what it costs weighs little and the same on both sides of a ratio.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

SIDECAR = ("-m", "stream_sidecar", "--stdio")
ORJSON_ECHO = (str(HERE / "echo_orjson.py"),)
PYGLS_ECHO = (str(HERE / "echo_pygls.py"),)
PYGLS_ECHO_TYPED = (str(HERE / "echo_pygls.py"), "--typed")

_HEADER = b"Content-Length: "
_READ_SIZE = 1 << 16


def frame(message_id: int, method: str, params: Any) -> bytes:
    """A request as a host sends it."""
    message = {"jsonrpc": "2.0", "id": message_id, "method": method, "params": params}
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class Peer:
    """A Python process that speaks JSON-RPC on its standard streams."""

    def __init__(self, arguments: tuple[str, ...]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            bufsize=0,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._to = self.process.stdin.fileno()
        self._from = self.process.stdout.fileno()
        self._asked = 0

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_error: object) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()

    def ask(self, method: str, params: Any) -> Any:
        """The result of a request; the measured ones go through ``exchange``."""
        self._asked += 1
        answer = json.loads(self.exchange(frame(self._asked, method, params)))
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def exchange(self, request: bytes) -> bytes:
        """Sends one frame and waits for its answer; gives the answer's body."""
        self._write(request)
        data = os.read(self._from, _READ_SIZE)
        while (size := _size_of(data)) is None or len(data) < size:
            data += self._read()
        return data[data.index(b"\r\n\r\n") + 4 :]

    def times(self, requests: list[bytes]) -> list[float]:
        """Seconds that each of ``requests`` takes to be answered, one by one."""
        clock, exchange, taken = time.perf_counter, self.exchange, []
        for request in requests:
            start = clock()
            exchange(request)
            taken.append(clock() - start)
        return taken

    def flood(self, requests: list[bytes]) -> float:
        """Answers a second when one thread writes while another reads."""
        data = b"".join(requests)
        writer = threading.Thread(target=self._write, args=(data,))
        start = time.perf_counter()
        writer.start()
        self._count(len(requests))
        seconds = time.perf_counter() - start
        writer.join()
        return len(requests) / seconds

    def resident(self) -> float:
        """Resident memory in megabytes (10^6 bytes)."""
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text(
                encoding="utf-8"
            )
        except OSError:
            command = ["ps", "-o", "rss=", "-p", str(self.process.pid)]
            kilobytes = int(subprocess.check_output(command))
        else:
            kilobytes = int(status.split("VmRSS:")[1].split()[0])
        return kilobytes * 1024 / 1e6

    def _count(self, wanted: int) -> None:
        """Reads until ``wanted`` headers and the whole last body have come."""
        seen, rest = 0, b""
        while True:
            data = rest + self._read()
            seen += data.count(_HEADER)
            last = data.rfind(_HEADER) if seen == wanted else -1
            rest = data[last:] if last >= 0 else data[-len(_HEADER) + 1 :]
            if last >= 0:
                break
        while (size := _size_of(rest)) is None or len(rest) < size:
            rest += self._read()

    def _read(self) -> bytes:
        data = os.read(self._from, _READ_SIZE)
        if not data:
            raise RuntimeError("the process has ended")
        return data

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._to, rest) :]


def _size_of(data: bytes) -> int | None:
    """The size of the frame that ``data`` begins with, once its header is whole."""
    end = data.find(b"\r\n\r\n")
    if end < 0:
        return None
    start = len(_HEADER)
    return end + 4 + int(data[start : data.index(b"\r", start)])
