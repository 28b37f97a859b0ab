"""transformers: the streaming parser of response templates, with one pair of tags."""

from __future__ import annotations

from typing import Any

from harness import Splitter, drive
from transformers.utils.chat_parsing.response_parser import ResponseParser
from transformers.utils.chat_parsing.response_templates import load_response_template

TEMPLATE = load_response_template(
    {
        "start_anchor": "<|assistant|>",
        "fields": {
            "content": {"repeats": True, "join": ""},
            "thinking": {
                "open": "<think>",
                "close": "</think>",
                "repeats": True,
                "join": "",
            },
        },
    }
)


def start() -> Splitter:
    parser = ResponseParser(TEMPLATE, prefix="")

    def read(given: list[Any]) -> tuple[str, str]:
        """What it streamed; what it returns at the end it trims."""
        *streamed, (_, last) = given
        events = [event for events in (*streamed, last) for event in events]
        return _joined(events, "content"), _joined(events, "thinking")

    return Splitter(parser.feed, parser.finalize, read)


def _joined(events: list[dict[str, Any]], field: str) -> str:
    return "".join(
        event["text"]
        for event in events
        if event["type"] == "region_chunk" and event["field"] == field
    )


drive(start)
