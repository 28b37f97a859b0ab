"""vLLM: the engine below its parsers, with a format of one pair of tags.

Its formats, and the layer that makes ``DeltaMessage`` of the engine's events, import
torch. The format here is written with the engine's own classes and has what Qwen3's
has for reasoning. No token ids are given, so tags are found in the text.
"""

from __future__ import annotations

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
NO_TOKENS: tuple[int, ...] = ()


def start() -> Splitter:
    engine = StreamingParserEngine(FORMAT, None)

    def push(delta: str) -> Any:
        return engine.feed(delta, NO_TOKENS)

    def read(given: list[Any]) -> tuple[str, str]:
        events = [event for events in given for event in events]
        answer = _joined(events, EventType.TEXT_CHUNK)
        return answer, _joined(events, EventType.REASONING_CHUNK)

    return Splitter(push, engine.finish, read)


def _joined(events: list[Any], kind: EventType) -> str:
    return "".join(event.value for event in events if event.type is kind)


drive(start)
