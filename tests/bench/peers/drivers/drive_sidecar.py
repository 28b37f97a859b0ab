"""The project's engine, in process: wire ``text``, or whole events with ``--events``.

Driven as the peers are, with what streams share, as in the process. With ``--events`` a
delta comes as the server-sent event of a chat API, as its bytes would, and is read from
there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from harness import Splitter, drive

from stream_sidecar.options import StreamOptions, Tool
from stream_sidecar.records import evolve
from stream_sidecar.stream.earlier_streams import EarlierStreams
from stream_sidecar.stream.stream import Stream

EVENTS = "--events" in sys.argv
OPTIONS = StreamOptions(wire="openai-chat" if EVENTS else "text")
EARLIER = EarlierStreams()


def start() -> Splitter:
    stream = Stream(OPTIONS, earlier=EARLIER)

    def push(delta: str) -> Any:
        return stream.push(delta)

    def read(_given: list[Any]) -> tuple[str, str]:
        message = stream.message()
        return message.text, message.reasoning

    return Splitter(push, stream.close, read)


def calls(tool: str) -> Callable[[], Splitter]:
    options = evolve(OPTIONS, tools=(Tool(tool),))

    def read(stream: Stream) -> tuple[str, str]:
        (call,) = stream.message().tool_calls
        return call.name, call.arguments

    def begin() -> Splitter:
        stream = Stream(options, earlier=EARLIER)
        return Splitter(stream.push, stream.close, lambda _given: read(stream))

    return begin


def event(text: str) -> str:
    """``text`` as a chat API sends it."""
    delta = {"index": 0, "delta": {"content": text}, "finish_reason": None}
    document = {
        "id": "chatcmpl-CGqKxk3JY0Qm1v8yqNn0fQ2cTzR5a",
        "object": "chat.completion.chunk",
        "created": 1758300000,
        "model": "a-model",
        "choices": [delta],
    }
    return f"data: {json.dumps(document)}\n\n"


drive(start, event if EVENTS else lambda text: text, calls)
