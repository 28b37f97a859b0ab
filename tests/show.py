"""Sends a stream through the real process and prints what comes back: the main job.

``python3 tests/show.py [FILE]`` makes its own environment, starts the sidecar, speaks
JSON-RPC with it over stdio as an editor agent would, and pushes the file in slices of
64 bytes. It prints each slice, and below it the events that came of it. Without FILE it
takes a stream that leaks its reasoning and its delimiters.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

from environment import ROOT, ensure

sys.path.append(str(ROOT / "sidecar"))

SAMPLE = ROOT / "tests" / "wires" / "openai-chat" / "leaking.sse"
SLICE = 64


class Sidecar:
    """A host in thirty lines: one process, one request at a time."""

    def __init__(self, python: Path) -> None:
        self.process = subprocess.Popen(
            [str(python), "-m", "stream_sidecar", "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
        )
        self.requests = 0

    def request(self, method: str, params: Any = None) -> Any:
        self.requests += 1
        self._write({"id": self.requests, "method": method, "params": params})
        answer = self._read(self.process.stdout)
        if "error" in answer:
            sys.exit(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def notify(self, method: str) -> None:
        self._write({"method": method})

    def _write(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def _read(self, stream: IO[bytes] | None) -> Any:
        assert stream is not None
        size = int(stream.readline().split(b":")[1])
        stream.readline()
        return json.loads(stream.read(size))


def main(arguments: list[str]) -> None:
    if "--help" in arguments or "-h" in arguments:
        print(__doc__)
        return
    if len(arguments) > 1:
        sys.exit("one FILE, or none")
    path = Path(*arguments) if arguments else SAMPLE
    try:
        data = path.read_bytes()
    except OSError as error:
        sys.exit(str(error))
    sidecar = Sidecar(ensure())
    server = sidecar.request("initialize", {})["serverInfo"]
    print(f"{server['name']} {server['version']} reads {path.name}\n")
    stream = sidecar.request("stream/open", {"encoding": "base64"})["streamId"]
    for start in range(0, len(data), SLICE):
        part = data[start : start + SLICE]
        chunk = base64.b64encode(part).decode()
        pushed = sidecar.request("stream/push", {"streamId": stream, "chunk": chunk})
        print(f"< {part.decode(errors='replace')!a}")
        show(pushed["events"])
    closed = sidecar.request("stream/close", {"streamId": stream})
    print("< the end")
    show(closed["events"])
    print(f"\nanswer:    {closed['message']['text']!r}")
    print(f"reasoning: {closed['message']['reasoning']!r}")
    sidecar.request("shutdown")
    sidecar.notify("exit")
    sys.exit(sidecar.process.wait())


def show(events: list[dict[str, Any]]) -> None:
    """An event a line, with nothing in it that steers a terminal."""
    from stream_sidecar.values.printable import json_line

    for event in events:
        line = json.dumps(event, ensure_ascii=False).encode(errors="replace")
        print(f"  {json_line(line).decode()}")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except BrokenPipeError:  # nobody reads the output any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
