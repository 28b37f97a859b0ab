"""Native reasoning on chat.completions: `REASONING_FIELDS` is the table of its fields.

A provider may send one reasoning in several fields. Each copy is reported with its
field's name, and the stream drops the copies (protocol.md, "What becomes of the text").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from stream_sidecar.parts import ReasoningPart, ReasoningStatePart
from stream_sidecar.records import frozen
from stream_sidecar.values.equality import equal
from stream_sidecar.wires.openai_chat.tools import (
    server_call,
    server_result,
    server_tool_call,
)
from stream_sidecar.wires.requests.issuers import BLOCKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.fields import ChoiceState, FieldReader

_SERVER_CALL = "reasoning.server_tool_call"
_STEP_RESULTS = ("search_results", "contents", "result")
"""Members that may have the result of a tool in Perplexity's ``reasoning_steps``."""

_STEP_TOOLS = 8
"""At most this many tools of one step are read. More than one was never seen."""


def plain(choice: ChoiceState, value: Json, name: str) -> None:
    """Reads ``reasoning_content``, ``reasoning`` and the like: a string."""
    if not isinstance(value, str):
        choice.malformed(name, value)
    elif value:
        part = ReasoningPart(value, name, choice.index, choice.reasoning.block)
        choice.parts.append(part)


def thinking_blocks(choice: ChoiceState, value: Json, name: str) -> None:
    """Reads LiteLLM's ``thinking_blocks``, copies of Anthropic's blocks."""
    for item in choice.objects(value, name):
        if item.get("data") is not None:
            _redacted(choice, item, name)
        else:
            text, signature = choice.text(item, "thinking"), item.get("signature")
            _fragment(choice, name, text, signature)


def reasoning_details(choice: ChoiceState, value: Json, name: str) -> None:
    """Reads OpenRouter's ``reasoning_details``, also of tools that the server ran."""
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
    """Reads a ``thinking`` or ``reasoning`` part: a string or a list."""
    for field in ("thinking", "reasoning", "summary", "text", "content"):
        for text, signature in _pieces(choice, part.get(field), name):
            _fragment(choice, name, text, signature)
    _fragment(choice, name, None, part.get("signature"))


def reasoning_steps(choice: ChoiceState, value: Json, name: str) -> None:
    """Reads Perplexity's ``reasoning_steps``: thoughts, each perhaps with a tool that
    the server ran. A list may repeat the list before it and continue."""
    if not isinstance(value, list):
        choice.malformed(name, value)
        return
    latest = choice.latest.get(name, [])
    choice.latest[name] = value
    count = len(latest) if equal(value[: len(latest)], latest) else 0
    for step in choice.objects(value[count:], name):
        _step(choice, step, name)


def signatures(choice: ChoiceState, value: Json, name: str) -> None:
    """Reads LiteLLM's ``thought_signatures`` of Gemini: those new in this document."""
    if isinstance(value, list):
        choice.reasoning.carry("thought_signatures").extend(value)
    else:
        choice.malformed(name, value)


def state(choice: ChoiceState, value: Json, name: str) -> None:
    """Reads Copilot's ``reasoning_opaque`` and LiteLLM's ``reasoning_items``."""
    choice.reasoning.keep(name, value)


def signed(choice: ChoiceState, value: Json, name: str) -> None:
    """Reads Gemini's ``extra_content`` beside text, if it has a signature."""
    google = value.get("google") if isinstance(value, dict) else None
    if isinstance(google, dict) and google.get("thought_signature"):
        choice.reasoning.keep(name, value)


def compaction(choice: ChoiceState, value: Json, name: str) -> None:
    """Reads LiteLLM's ``compaction_blocks``, a cumulative list."""
    if isinstance(value, list):
        choice.reasoning.carry("compaction_blocks")[:] = value
    else:
        choice.malformed(name, value)


PROVIDER = "provider_specific_fields"
"""LiteLLM's member of a delta or message with further fields."""


@frozen
class ReasoningField:
    """A field of a delta or message with reasoning or its state.

    ``holds`` says how it goes back. ``text``: the reasoning as text, in the field in
    which it came, unless the provider's rule names another. ``blocks``: the signed and
    redacted blocks, each for itself. ``state``: unchanged, unless the provider refuses
    reasoning. ``seals``: unchanged, whatever the provider refuses, because more than
    reasoning depends on it. ``steps``: it does not go back. ``is_routers``: only
    routers send the field, and take it back.
    """

    name: str
    read: FieldReader
    holds: Literal["text", "blocks", "state", "seals", "steps"]
    is_routers: bool = False

    @property
    def member(self) -> str:
        """The member of the message with the field, or in which it stands."""
        return self.name.split(".")[0]


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
        is_signed = bool(signature) and not blocks.is_sealed
        thought = ReasoningPart(text, name, choice.index, blocks.key, is_signed)
        choice.parts.append(thought)
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
    """The texts and signatures of a string, or of a list of strings and objects."""
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
        result = next((member for member in _STEP_RESULTS if member in detail), None)
        arguments = {name: detail[name] for name in detail if name != result}
        server_call(choice, key, raw, name=tool, arguments=arguments)
        if result is not None:
            server_result(choice, key, detail[result], raw, name=tool)
    if surplus := {tool: step[tool] for tool in tools[_STEP_TOOLS:]}:
        choice.malformed(name, surplus)


REASONING_FIELDS = (
    # Fields with the provider's blocks come before fields that only mirror the text.
    ReasoningField(name=BLOCKS, read=thinking_blocks, holds="blocks"),
    ReasoningField(name=f"{PROVIDER}.{BLOCKS}", read=thinking_blocks, holds="blocks"),
    ReasoningField(
        name="reasoning_details", read=reasoning_details, holds="state", is_routers=True
    ),
    ReasoningField(
        name=f"{PROVIDER}.thought_signatures", read=signatures, holds="seals"
    ),
    ReasoningField(
        name=f"{PROVIDER}.compaction_blocks", read=compaction, holds="seals"
    ),
    ReasoningField(name="reasoning_content", read=plain, holds="text"),
    ReasoningField(name="reasoning", read=plain, holds="text"),
    ReasoningField(name="reasoning_text", read=plain, holds="text"),
    ReasoningField(name="thinking", read=plain, holds="text"),
    ReasoningField(name="reasoning_steps", read=reasoning_steps, holds="steps"),
    ReasoningField(name="reasoning_opaque", read=state, holds="state", is_routers=True),
    ReasoningField(name="reasoning_items", read=state, holds="state"),
    ReasoningField(name="extra_content", read=signed, holds="seals"),
)
"""The fields in the order in which their parts are given."""


def fields_that_hold(kind: str) -> tuple[str, ...]:
    return tuple(row.name for row in REASONING_FIELDS if row.holds == kind)


TEXTS = fields_that_hold("text")
"""Fields whose value is reasoning as text. The first is that of most providers."""

MESSAGE_STATES = tuple(
    dict.fromkeys(
        row.member for row in REASONING_FIELDS if row.holds in ("state", "seals")
    )
)
"""Members of a message with state of all of it. Each value that came has all of it."""
