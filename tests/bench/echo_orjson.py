"""The floor: a bare echo over Content-Length frames, as fast as plain Python gets.

Blocking reads of descriptor 0, orjson, one write for everything that one read brought.
No validation, no errors, no lifecycle: what any server in Python pays for reading a
message, decoding it, encoding an answer and writing it.
"""

from __future__ import annotations

import os

import orjson


def main() -> None:
    buffer = b""
    while data := os.read(0, 65_536):
        buffer = buffer + data if buffer else data
        out, at = echo(buffer)
        buffer = buffer[at:]
        while out:
            out = out[os.write(1, out) :]


def echo(buffer: bytes) -> tuple[bytes, int]:
    """The answers to the whole messages in ``buffer``, and how far these reach."""
    loads, dumps = orjson.loads, orjson.dumps
    answers = []
    at = 0
    while (end := buffer.find(b"\r\n\r\n", at)) >= 0:
        start = end + 4
        stop = start + int(buffer[at + 16 : end])
        if stop > len(buffer):
            break
        message = loads(buffer[start:stop])
        at = stop
        body = dumps(
            {"jsonrpc": "2.0", "id": message["id"], "result": message["params"]}
        )
        answers.append(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    return b"".join(answers), at


if __name__ == "__main__":
    main()
