"""Readers of native reasoning on chat.completions, in all the fields that carry it.

Not a wire: a part of ``reader``. Every copy is given under its field's name; that a
provider mirrors one reasoning in several fields is settled by the stream (protocol.md,
"What becomes of the text"). Fields: wires/README.md, "Chat Completions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.parts import ReasoningPart, ReasoningStatePart
from stream_sidecar.values.equality import equal
from stream_sidecar.wires.openai_chat.tools import (
    server_call,
    server_result,
    server_tool_call,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.fields import ChoiceState

_SERVER_CALL = "reasoning.server_tool_call"
_STEP_RESULTS = ("search_results", "contents", "result")
"""Where the result stands in a tool of Perplexity's ``reasoning_steps``."""

_STEP_TOOLS = 8
"""Tools of one step that are read; more than one has not been seen."""


def plain(choice: ChoiceState, value: Json, name: str) -> None:
    """``reasoning_content``, ``reasoning`` and the like: a string."""
    if not isinstance(value, str):
        choice.malformed(name, value)
    elif value:
        part = ReasoningPart(value, name, choice.index, choice.reasoning.block)
        choice.parts.append(part)


def thinking_blocks(choice: ChoiceState, value: Json, name: str) -> None:
    """LiteLLM's copy of Anthropic's blocks: text, signature alone, or redacted."""
    for item in choice.objects(value, name):
        if item.get("data") is not None:
            _redacted(choice, item, name)
        else:
            text, signature = choice.text(item, "thinking"), item.get("signature")
            _fragment(choice, name, text, signature)


def reasoning_details(choice: ChoiceState, value: Json, name: str) -> None:
    """OpenRouter's list: text, summary, encrypted, and tools that the server ran."""
    for item in choice.objects(value, name):
        choice.reasoning.merge(item)
        if item.get("type") == _SERVER_CALL:
            server_tool_call(choice, item, name)
            continue
        text = choice.text(item, "text") or choice.text(item, "summary")
        _fragment(choice, name, text, item.get("signature"))
        if item.get("data") is not None:
            choice.reasoning.blocks(name).seal()


def content_part(choice: ChoiceState, part: JsonObject, name: str) -> None:
    """A ``thinking`` or ``reasoning`` part of a content array, lists inside or not."""
    for field in ("thinking", "reasoning", "summary", "text", "content"):
        for text, signature in _pieces(choice, part.get(field), name):
            _fragment(choice, name, text, signature)
    _fragment(choice, name, None, part.get("signature"))


def reasoning_steps(choice: ChoiceState, value: Json, name: str) -> None:
    """Perplexity: thoughts, each with at most one tool that the server ran.

    A list that begins with all of the list before is cumulative.
    """
    if not isinstance(value, list):
        choice.malformed(name, value)
        return
    last = choice.given.get(name, [])
    choice.given[name] = value
    known = len(last) if equal(value[: len(last)], last) else 0
    for step in choice.objects(value[known:], name):
        _step(choice, step, name)


def signatures(choice: ChoiceState, value: Json, name: str) -> None:
    """LiteLLM's ``thought_signatures`` of Gemini's parts: each document has its own."""
    if isinstance(value, list):
        choice.reasoning.carry("thought_signatures").extend(value)
    else:
        choice.malformed(name, value)


def state(choice: ChoiceState, value: Json, name: str) -> None:
    """Copilot's ``reasoning_opaque``, LiteLLM's ``reasoning_items``: the last one that
    a message has counts."""
    choice.reasoning.keep(name, value)


def signed(choice: ChoiceState, value: Json, name: str) -> None:
    """Gemini's ``extra_content`` beside text, where it has a signature."""
    google = value.get("google") if isinstance(value, dict) else None
    if isinstance(google, dict) and google.get("thought_signature"):
        choice.reasoning.keep(name, value)


def compaction(choice: ChoiceState, value: Json, name: str) -> None:
    """LiteLLM's ``compaction_blocks``: cumulative, the last list counts."""
    if isinstance(value, list):
        choice.reasoning.carry("compaction_blocks")[:] = value
    else:
        choice.malformed(name, value)


def _fragment(
    choice: ChoiceState, name: str, text: str | None, signature: Json
) -> None:
    if signature is not None and not isinstance(signature, str):
        choice.malformed(f"{name}.signature", signature)
        signature = None
    reasoning = choice.reasoning
    blocks = reasoning.blocks(name)
    if text:
        blocks.text(signature or None)
        choice.parts.append(ReasoningPart(text, name, choice.index, blocks.key))
    if signature and reasoning.sign(blocks, signature):
        part = ReasoningStatePart(choice.index, signature, None, blocks.key, name)
        choice.parts.append(part)
    reasoning.block = blocks.key


def _redacted(choice: ChoiceState, item: JsonObject, name: str) -> None:
    blocks = choice.reasoning.blocks(name)
    blocks.single()
    choice.reasoning.block = blocks.key
    if choice.changed(f"redacted:{blocks.key}", item):
        opaque = {"thinking_blocks": [item]}
        part = ReasoningStatePart(choice.index, None, opaque, blocks.key)
        choice.parts.append(part)


def _pieces(choice: ChoiceState, value: Json, name: str) -> Iterator[tuple[str, Json]]:
    """``(text, signature)`` of a string, or of a list of strings and text objects."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            yield choice.text(item, "text") or "", item.get("signature")
        elif isinstance(item, str):
            yield item, None
        elif item is not None:
            choice.malformed(name, item)


def _step(choice: ChoiceState, step: JsonObject, name: str) -> None:
    blocks = choice.reasoning.blocks(name)
    blocks.single()
    choice.reasoning.block = blocks.key
    if thought := choice.text(step, "thought"):
        choice.parts.append(ReasoningPart(thought, name, choice.index, blocks.key))
    tools = [tool for tool in step if isinstance(step[tool], dict)]
    for tool in tools[:_STEP_TOOLS]:
        detail, key = step[tool], f"{name}:{blocks.count}:{tool}"
        raw = step if tool == tools[0] else {tool: detail}
        result = next((of for of in _STEP_RESULTS if of in detail), None)
        arguments = {of: detail[of] for of in detail if of != result}
        server_call(choice, key, raw, name=tool, arguments=arguments)
        if result is not None:
            server_result(choice, key, detail[result], raw, name=tool)
    if rest := {tool: step[tool] for tool in tools[_STEP_TOOLS:]}:
        choice.malformed(name, rest)
