"""vLLM: the engine below its parsers, with a format of one pair of tags.

Its formats, and the layer that makes ``DeltaMessage`` of the engine's events, import
torch. The format here is written with the engine's own classes and has what Qwen3's
has for reasoning; that of calls has the tags of Hermes. The JSON between these is read
by the layer above: here at the end, and not timed. No token ids are given, so tags are
found in the text.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from bare_package import without_init
from harness import Splitter, drive

without_init("vllm")
without_init("vllm.parser")

from vllm.parser.engine.events import EventType  # noqa: E402
from vllm.parser.engine.parser_engine_config import (  # noqa: E402
    ParserEngineConfig,
    ParserState,
    Transition,
)
from vllm.parser.engine.streaming_parser_engine import (  # noqa: E402
    StreamingParserEngine,
)

OPENS = Transition(ParserState.REASONING, (EventType.REASONING_START,))
CLOSES = Transition(ParserState.CONTENT, (EventType.REASONING_END,))
FORMAT = ParserEngineConfig(
    name="one pair",
    terminals={"THINK_START": "<think>", "THINK_END": "</think>"},
    transitions={
        (ParserState.CONTENT, "THINK_START"): OPENS,
        (ParserState.REASONING, "THINK_END"): CLOSES,
    },
)
TOOL_OPENS = Transition(ParserState.TOOL_ARGS, (EventType.TOOL_CALL_START,))
TOOL_CLOSES = Transition(ParserState.CONTENT, (EventType.TOOL_CALL_END,))
CALLS = ParserEngineConfig(
    name="Hermes",
    terminals={"TOOL_START": "<tool_call>", "TOOL_END": "</tool_call>"},
    transitions={
        (ParserState.CONTENT, "TOOL_START"): TOOL_OPENS,
        (ParserState.TOOL_ARGS, "TOOL_END"): TOOL_CLOSES,
    },
)
NO_TOKENS: tuple[int, ...] = ()


def start() -> Splitter:
    def read(events: list[Any]) -> tuple[str, str]:
        answer = _joined(events, EventType.TEXT_CHUNK)
        return answer, _joined(events, EventType.REASONING_CHUNK)

    return _splitter(FORMAT, read)


def calls(_tool: str) -> Callable[[], Splitter]:
    def read(events: list[Any]) -> tuple[str, str]:
        call = json.loads(_joined(events, EventType.ARG_VALUE_CHUNK))
        return call["name"], json.dumps(call["arguments"])

    return lambda: _splitter(CALLS, read)


def _splitter(
    format: ParserEngineConfig, read: Callable[[list[Any]], tuple[str, str]]
) -> Splitter:
    engine = StreamingParserEngine(format, None)

    def push(delta: str) -> Any:
        return engine.feed(delta, NO_TOKENS)

    def read_all(given: list[Any]) -> tuple[str, str]:
        return read([event for events in given for event in events])

    return Splitter(push, engine.finish, read_all)


def _joined(events: list[Any], kind: EventType) -> str:
    return "".join(event.value for event in events if event.type is kind)


drive(start, calls=calls)
