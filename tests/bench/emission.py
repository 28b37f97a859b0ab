"""What ``emit`` costs: a push with it against the same push without.

Processor time of whole requests, from the bytes of the request to the bytes of its
answer, in the process without its pipes: one chat delta for each push, as a server-sent
event, emitted on each wire. Rounds of both alternate in one interpreter, and the best
round of each counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time
from typing import Any

from chunks import event, text_chunk
from rows import Bar, Row, microseconds

from stream_sidecar.options import Limits, Policy
from stream_sidecar.protocol.methods import METHODS
from stream_sidecar.protocol.sessions import Sessions
from stream_sidecar.values.jsontext import decode, encode
from stream_sidecar.wires import WRITERS

ROUNDS = 12
PUSHES = 2_000
BAR = Bar(limit=1.5, aim=1.3)


def run() -> Iterator[Row]:
    for wire in WRITERS:
        plain, emitting = [], []
        for _ in range(ROUNDS):
            plain.append(_measure(None))
            emitting.append(_measure({"wire": wire}))
        mine, other = min(emitting), min(plain)
        measured = f"{microseconds(mine)}, without {microseconds(other)}"
        yield Row(f"push with emit, {wire}", measured, mine / other, BAR)


def _measure(emit: dict[str, Any] | None) -> float:
    """Seconds of processor time a push."""
    sessions = Sessions(Policy(), Limits())
    params = {"streamId": "s", "wire": "openai-chat", "framing": "sse", "emit": emit}
    METHODS["stream/open"].call(sessions, params)
    push = METHODS["stream/push"]
    requests = [_request(number) for number in range(PUSHES)]
    before = process_time()
    for request in requests:
        message = decode(request)
        encode({"id": message["id"], "result": push.call(sessions, message["params"])})
    return (process_time() - before) / PUSHES


def _request(number: int) -> bytes:
    chunk = event(text_chunk(f"word {number} "))
    params = {"streamId": "s", "chunk": chunk}
    return encode({"id": number, "method": "stream/push", "params": params})
