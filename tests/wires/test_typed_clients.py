"""What is emitted from another wire has every member that clients' own types demand.

Open Responses' types (openresponses.org) are the package ``openresponses-types``, those
of Chat Completions' helper for streams come with ``openai``: both are in the group
``sdks`` of pyproject.toml. What their types do not know is named here.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, get_args

import pytest
from emitting import emitted
from recordings import PATHS, own

from stream_sidecar.wires import WRITERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recordings import Recording

_NONE = "no SDKs (pip install --group sdks)"
types: Any = pytest.importorskip("openresponses_types", reason=_NONE)
openai: Any = pytest.importorskip("openai", reason=_NONE)
streaming: Any = pytest.importorskip("openai.lib.streaming.chat", reason=_NONE)
models: Any = pytest.importorskip("openai._models", reason=_NONE)

_UNKNOWN = ("mcp_call", "custom_tool_call")
"""Items of OpenAI's own that Open Responses does not have."""

_CHUNK: Any = openai.types.chat.ChatCompletionChunk
_RAISED = openai.LengthFinishReasonError, openai.ContentFilterFinishReasonError
"""How an answer ended, told by the helper."""

_COUNTS = {
    "openai-chat": ("prompt_tokens", "prompt_tokens_details", "cached_tokens"),
    "openai-responses": ("input_tokens", "input_tokens_details", "cached_tokens"),
    "gemini": ("promptTokenCount", "", "cachedContentTokenCount"),
}


def _events() -> dict[str, Any]:
    """Type of an event -> its model."""
    names = [name for name in vars(types) if name.endswith("StreamingEvent")]
    events = [getattr(types, name) for name in names]
    return {_type_of(each.model_fields["type"]): each for each in events}


def _type_of(field: Any) -> str:
    """The one word that a field may have."""
    (word,) = get_args(field.annotation) or field.annotation
    return str(getattr(word, "value", word))


def _others(wire: str) -> Iterator[tuple[Recording, list[Any]]]:
    """Recordings of other wires, and what is emitted of each on ``wire``."""
    for each in map(own, PATHS):
        if not each.name.startswith(wire):
            trip = emitted(each.params, each.chunks, wire, close=each.close)
            yield each, [chunk for chunk in trip.chunks if isinstance(chunk, dict)]


def _known(value: Any) -> Any:
    """Without the items and annotations that Open Responses' types do not know."""
    if isinstance(value, list):
        return [_known(each) for each in value if not _is_unknown(each)]
    if isinstance(value, dict):
        return {name: _known(each) for name, each in value.items()}
    return value


def _is_unknown(value: Any) -> bool:
    kind = value.get("type", "") if isinstance(value, dict) else ""
    return kind in _UNKNOWN or (kind.endswith("_citation") and kind != "url_citation")


def test_open_responses(subtests: pytest.Subtests) -> None:
    known, seen = _events(), 0
    for recording, events in _others("openai-responses"):
        with subtests.test(recording.name):
            for event in events:
                parts = [event.get("item"), event.get("annotation")]
                model = known.get(event["type"])
                if model is None or any(map(_is_unknown, parts)):
                    assert model or "custom_tool_call" in event["type"]
                    continue
                model.model_validate(_known(event))
                seen += 1
    assert seen > 1000


def test_helper_for_streams_of_chat(subtests: pytest.Subtests) -> None:
    """It adds up lists by their ``index``; how an answer ended it raises."""
    for recording, chunks in _others("openai-chat"):
        said = [chunk for chunk in chunks if "choices" in chunk]
        if not said or "custom" in str(said):  # it knows no call with free text
            continue
        state = streaming._completions.ChatCompletionStreamState()
        with subtests.test(recording.name), suppress(*_RAISED):
            for chunk in said:
                read = models.construct_type(type_=_CHUNK, value=chunk)
                state.handle_chunk(read)
            message: Any = state.get_final_completion().choices[0].message
            blocks = getattr(message, "thinking_blocks", None) or []
            text = "".join(block.get("thinking", "") for block in blocks)
            assert text in (getattr(message, "reasoning_content", "") or "")


@pytest.mark.parametrize("wire", _COUNTS)
def test_what_was_cached_is_a_part_of_what_was_asked(wire: str) -> None:
    assert wire in WRITERS
    whole, details, part = _COUNTS[wire]
    for recording, chunks in _others(wire):
        for chunk in chunks:
            holder = chunk.get("response", chunk)
            usage = holder.get("usage") or holder.get("usageMetadata") or {}
            cached = (usage.get(details) or {} if details else usage).get(part, 0)
            assert cached <= usage.get(whole, 0), recording.name


def test_counts_of_chat_are_whole() -> None:
    for recording, chunks in _others("openai-chat"):
        for usage in [chunk["usage"] for chunk in chunks if chunk.get("usage")]:
            counts = ("prompt_tokens", "completion_tokens", "total_tokens")
            assert usage.keys() >= {*counts}, recording.name
