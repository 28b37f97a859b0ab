"""transformers: the streaming parser of response templates, with one pair of tags; for
calls with that of Hermes, whose JSON it reads at the end."""

from __future__ import annotations

import json
from collections.abc import Callable
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
CALLS = load_response_template(
    {
        "start_anchor": "<|assistant|>",
        "fields": {
            "content": {"repeats": True, "join": ""},
            "tool_calls": {
                "open": "<tool_call>",
                "close": "</tool_call>",
                "repeats": True,
                "content": "json",
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


def calls(_tool: str) -> Callable[[], Splitter]:
    def read(given: list[Any]) -> tuple[str, str]:
        message, _ = given[-1]
        (call,) = message["tool_calls"]
        return call["name"], json.dumps(call["arguments"])

    def begin() -> Splitter:
        parser = ResponseParser(CALLS, prefix="")
        return Splitter(parser.feed, parser.finalize, read)

    return begin


def _joined(events: list[dict[str, Any]], field: str) -> str:
    return "".join(
        event["text"]
        for event in events
        if event["type"] == "region_chunk" and event["field"] == field
    )


drive(start, calls=calls)
