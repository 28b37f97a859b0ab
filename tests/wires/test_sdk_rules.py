"""With ``emit.rewrite`` the official SDKs read from a stream what the sidecar reads.

The SDKs' own code joins the documents: the helpers for streams of ``openai`` and
``anthropic``, and the types of ``google-genai`` (group ``sdks`` of pyproject.toml).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from emitting import emitted
from places import TESTS
from recordings import PATHS, own

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.message.message import Message

_NONE = "no SDKs (pip install --group sdks)"
openai: Any = pytest.importorskip("openai", reason=_NONE)
chat: Any = pytest.importorskip("openai.lib.streaming.chat", reason=_NONE)
responses: Any = pytest.importorskip(
    "openai.lib.streaming.responses._responses", reason=_NONE
)
messages: Any = pytest.importorskip("anthropic.lib.streaming._messages", reason=_NONE)
google: Any = pytest.importorskip("google.genai.types", reason=_NONE)
construct: Any = pytest.importorskip("openai._models", reason=_NONE).construct_type

Read = tuple[str, list[tuple[str, Any]], str | None]
"""The text, the name and the arguments of each call, and Chat Completions' word for how
the choice ended."""

CASES = [
    json.loads(line)
    for line in Path(TESTS, "data", "sdk_rules.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
"""Streams that the SDKs do not read as they come, with what they read then."""


START = {
    "type": "message_start",
    "message": {"id": "m", "role": "assistant", "content": [], "usage": {}},
}
TEXT = [
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}},
    {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "text_delta", "text": "Hi"},
    },
    {"type": "content_block_stop", "index": 0},
]
END = [
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn"},
        "usage": {"output_tokens": 1},
    },
    {"type": "message_stop"},
]


def _of_chat(documents: list[Any]) -> Read:
    state = chat.ChatCompletionStreamState(
        input_tools=openai.NOT_GIVEN, response_format=openai.NOT_GIVEN
    )
    kind = openai.types.chat.ChatCompletionChunk
    chunks = [construct(type_=kind, value=each) for each in documents]
    for chunk in chunks:
        if chunk.object == "chat.completion.chunk":  # as the helper chooses
            [*state.handle_chunk(chunk)]
    (choice,) = state.get_final_completion().choices
    assert choice.message.role, "the helper of openai-node fails without a role"
    functions = [each.function for each in choice.message.tool_calls or ()]
    calls = [_call(each.name, each.arguments) for each in functions]
    return choice.message.content or "", calls, choice.finish_reason


def _of_responses(documents: list[Any]) -> Read:
    state = responses.ResponseStreamState(
        input_tools=openai.NOT_GIVEN, text_format=openai.NOT_GIVEN
    )
    kind = openai.types.responses.ResponseStreamEvent
    for each in documents:
        [*state.handle_event(construct(type_=kind, value=each))]
    final = state._completed_response
    calls = [each for each in final.output if each.type == "function_call"]
    return final.output_text, [_call(each.name, each.arguments) for each in calls], None


def _of_messages(documents: list[Any]) -> Read:
    snapshot, buffers = None, dict[int, bytes]()
    for each in documents:
        if each["type"] == "ping":
            continue
        snapshot = messages.accumulate_event(
            event=each, current_snapshot=snapshot, json_bufs=buffers
        )
    assert snapshot is not None
    text = "".join(each.text for each in snapshot.content if each.type == "text")
    calls = [each for each in snapshot.content if each.type == "tool_use"]
    return text, [(each.name, each.input) for each in calls], None


def _of_gemini(documents: list[Any]) -> Read:
    read = [google.GenerateContentResponse.model_validate(each) for each in documents]
    parts = [
        part
        for each in read
        for candidate in each.candidates or ()
        for part in (candidate.content and candidate.content.parts) or ()
    ]
    calls = [part.function_call for part in parts if part.function_call]
    text = "".join(part.text for part in parts if part.text and not part.thought)
    return text, [(each.name, each.args or {}) for each in calls], None


READERS: dict[str, Callable[[list[Any]], Read]] = {
    "openai-chat": _of_chat,
    "openai-responses": _of_responses,
    "anthropic": _of_messages,
    "gemini": _of_gemini,
}


def _call(name: str, arguments: str | None) -> tuple[str, Any]:
    return name, json.loads(arguments or "{}")


def _documents(case: dict[str, Any], *, rewrite: bool) -> list[Any]:
    wire = case["wire"]
    return emitted({"wire": wire}, case["chunks"], wire, rewrite=rewrite).chunks


def _outcome(read: Callable[[list[Any]], Read], documents: list[Any]) -> object:
    """What the SDK reads, or its exception."""
    try:
        return read(documents)
    except Exception as error:  # whatever the SDK raises
        return error


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["why"])
def test_sdks_read_what_is_rewritten(case: dict[str, Any]) -> None:
    read = READERS[case["wire"]]
    wanted = case["text"], [*map(tuple, case["calls"])], case["finish"]
    assert _documents(case, rewrite=False) == case["chunks"]
    assert _outcome(read, case["chunks"]) != wanted
    assert read(_documents(case, rewrite=True)) == wanted


def test_a_message_begins_once() -> None:
    """Anthropic's SDK for JavaScript fails at a second start; that for Python does
    not."""
    case = CASES[0] | {"wire": "anthropic", "chunks": [START, START, *TEXT, *END]}
    documents = _documents(case, rewrite=True)
    assert [each["type"] for each in documents].count("message_start") == 1
    assert _of_messages(documents)[0] == "Hi"


ODD = {"openai-chat/minimax-whole-message", "openai-chat/perplexity-stream"}
"""The SDK leaves out documents of these, which have another ``object``. It reads the
text and the calls from the others."""


def test_the_others_stay_as_they_came() -> None:
    """Recordings of clean streams that the SDKs can read."""
    changed, stays = [], 0
    for each in map(own, PATHS):
        wire = each.name.partition("/")[0]
        if wire not in READERS:
            continue
        plain, rewritten = (
            emitted(each.params, each.chunks, wire, rewrite=rewrite, close=each.close)
            for rewrite in (False, True)
        )
        if not plain.is_as_it_came(wire) or plain.wire != wire:
            continue
        stays += plain.chunks == rewritten.chunks
        if plain.chunks != rewritten.chunks:
            outcome = _outcome(READERS[wire], plain.chunks)
            if isinstance(outcome, tuple) and outcome[:2] == _said(plain.read.message):
                changed.append(each.name)
    assert stays > 100
    assert {*changed} == ODD


def _said(message: Message) -> tuple[str, list[tuple[str, Any]]]:
    calls = [call for call in message.tool_calls if call.executor == "client"]
    return message.text, [(call.name, call.input) for call in calls]
