"""Readers of the answer on Chat Completions: text, content arrays, refusals.

A part of a content array that is neither text nor reasoning nor a citation is reported,
and never becomes text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.parts import RefusalPart, TextPart
from stream_sidecar.wires.openai_chat.reasoning import content_part
from stream_sidecar.wires.shared.citations import reference
from stream_sidecar.wires.shared.fields import details, type_of

if TYPE_CHECKING:
    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.fields import ChoiceState, PartReader


def content(choice: ChoiceState, value: Json, name: str) -> None:
    """Reads ``content``: a string, or an array of typed parts and strings."""
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, str):
            _say(choice, part)
        elif isinstance(part, dict) and isinstance(value, list):
            kind = type_of(part)
            CONTENT_PARTS.get(kind, _other)(choice, part, f"{name}.{kind}")
        elif part is not None:
            choice.malformed(name, part)


def refusal(choice: ChoiceState, value: Json, name: str) -> None:
    """Reads ``refusal``: the text that the user sees instead of an answer."""
    if isinstance(value, str):
        if value:
            choice.parts.append(RefusalPart(value, choice.index))
    else:
        choice.malformed(name, value)


def audio(choice: ChoiceState, value: Json, name: str) -> None:
    """Reads ``audio``: the transcript is text of the answer; the sound is left out."""
    if isinstance(value, dict):
        _say(choice, choice.text(value, "transcript") or "")
    else:
        choice.malformed(name, value)


def images(choice: ChoiceState, value: Json, name: str) -> None:
    """Reports ``images``, which no event carries."""
    choice.ignored(name, value)


def detail(choice: ChoiceState, value: Json, name: str) -> None:
    """Reports, once, a member in which the response describes itself."""
    if choice.changed(name, value):
        choice.parts.append(details({name: value}, choice.index))


def _say(choice: ChoiceState, text: str) -> None:
    if text:
        choice.parts.append(TextPart(text, choice.index))


def _text(choice: ChoiceState, part: JsonObject, name: str) -> None:
    _say(choice, choice.text(part, "text") or "")


def _refusal(choice: ChoiceState, part: JsonObject, name: str) -> None:
    refusal(choice, choice.text(part, "refusal") or "", name)


def _other(choice: ChoiceState, part: JsonObject, name: str) -> None:
    choice.ignored(name, part)


CONTENT_PARTS: dict[str, PartReader] = {
    "text": _text,
    "output_text": _text,
    "thinking": content_part,
    "reasoning": content_part,
    "refusal": _refusal,
    "reference": reference,
    "tool_reference": reference,
}
"""Type of a part in a content array -> its reader."""
