"""The state of a choice of Chat Completions, and typed access to its fields.

A reader is a function ``(choice, value, name) -> None`` that appends parts to
``choice.parts`` for the value of one field. ``name`` is the field's full name,
``value`` is never None. The methods of `ChoiceState` turn a wrong type inside into a
``malformed-chunk`` diagnostic and None, so that the rest is still used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from stream_sidecar.parts import (
    DiagnosticPart,
    ErrorPart,
    Json,
    JsonObject,
    MetadataPart,
    Part,
)
from stream_sidecar.records import define, field
from stream_sidecar.values.equality import equal
from stream_sidecar.wires.shared.reasoning_state import ReasoningState

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@define
class ChoiceState:
    """The state of one choice that lasts from document to document, and its new
    ``parts``. ``document`` and ``delta`` are those being read; ``is_whole``: the delta
    is a finished message."""

    index: int
    parts: list[Part] = field(factory=list)
    document: JsonObject = field(factory=dict)
    delta: JsonObject = field(factory=dict)
    is_whole: bool = False
    reasoning: ReasoningState = field(factory=ReasoningState)
    #: key of an item that comes repeatedly -> its last value
    latest: dict[str, Json] = field(factory=dict)
    #: citations in annotations so far: (url, start, end)
    placed: set[tuple[str, int | None, int | None]] = field(factory=set)

    def text(self, holder: JsonObject, name: str) -> str | None:
        """``holder[name]`` if it is a string and not empty, else None."""
        value = holder.get(name)
        if value is None or isinstance(value, str):
            return value or None
        self.malformed(name, value)
        return None

    def number(self, holder: JsonObject, name: str) -> int | None:
        """``holder[name]`` if it is an integer, else None."""
        value = holder.get(name)
        if value is None or type(value) is int:
            return value
        self.malformed(name, value)
        return None

    def objects(self, value: Json, name: str) -> Iterable[JsonObject]:
        """The objects in the list ``value``; null items are skipped."""
        if isinstance(value, list):
            return objects_of(value, name, self.malformed)
        self.malformed(name, value)
        return ()

    def changed(self, key: str, item: Json) -> bool:
        """Whether ``item`` differs from the last one under ``key``."""
        if key in self.latest and equal(self.latest[key], item):
            return False
        self.latest[key] = item
        return True

    def malformed(self, name: str, value: Json) -> None:
        self.parts.append(malformed(name, value, self.index))

    def ignored(self, name: str, value: Json) -> None:
        """Reports a ``value`` that may be content, but that no event carries."""
        message = f"{name} is no text and was left out"
        self.parts.append(
            DiagnosticPart("unknown-chunk", message, "info", value, self.index)
        )


FieldReader: TypeAlias = Callable[[ChoiceState, Any, str], None]
PartReader: TypeAlias = Callable[[ChoiceState, JsonObject, str], None]


def malformed(
    name: str, value: Json, choice: int = 0, reason: str = "is of an unexpected type"
) -> DiagnosticPart:
    """The diagnostic for a field whose value cannot be used."""
    message = f"{name} {reason}"
    return DiagnosticPart("malformed-chunk", message, "warning", value, choice)


def refusal(text: str, raw: Json, **error_fields: Any) -> ErrorPart:
    """The error with the provider's explanation of a refusal."""
    return ErrorPart(
        "content-filter", text, False, raw, provider_type="refusal", **error_fields
    )


def details(raw: JsonObject, choice: int) -> DiagnosticPart:
    """The diagnostic for members in which a response describes itself, such as a
    container, which the next request may need, or why a prompt was blocked."""
    message = "what else the response says of itself"
    return DiagnosticPart("response-details", message, "info", raw, choice)


def unused(name: str, value: Json, choice: int) -> DiagnosticPart:
    """The diagnostic for a document, or a part of one, without anything usable."""
    message = f"nothing of the {name} could be used"
    return DiagnosticPart("unknown-chunk", message, "warning", value, choice)


def objects_of(
    items: list[Json], name: str, malformed: Callable[[str, Json], None]
) -> Iterable[JsonObject]:
    """The objects among ``items``; ``malformed`` gets any other value but null."""
    is_plain = {dict}.issuperset(map(type, items))
    return items if is_plain else _picked(items, name, malformed)


def _picked(
    items: list[Json], name: str, malformed: Callable[[str, Json], None]
) -> Iterator[JsonObject]:
    for item in items:
        if isinstance(item, dict):
            yield item
        elif item is not None:
            malformed(name, item)


def first_object(value: Json) -> JsonObject:
    """``value`` or, for a list, its first item, if that is an object; else ``{}``."""
    item = value[0] if isinstance(value, list) and value else value
    return item if isinstance(item, dict) else {}


def type_of(item: JsonObject) -> str:
    """``item["type"]``; "" if it is no string."""
    kind = item.get("type")
    return kind if isinstance(kind, str) else ""


def is_responses_state(item: JsonObject) -> bool:
    """Whether an item is stored on a Responses server, or encrypted. Anthropic's
    compaction has the same type, but no id, and its summary in ``content``."""
    return "id" in item or ("encrypted_content" in item and "content" not in item)


def is_failed(item: JsonObject) -> bool | None:
    """Whether an Anthropic result is an error; None if it does not say so."""
    is_error, content = item.get("is_error"), item.get("content")
    if isinstance(is_error, bool):
        return is_error
    kind = type_of(content) if isinstance(content, dict) else ""
    return True if kind.endswith("_error") else None


def first_text(body: JsonObject, names: tuple[str, ...]) -> str | None:
    """The first of ``names`` whose value is a string and not empty, else None."""
    for name in names:
        value = body.get(name)
        if value and isinstance(value, str):
            return str(value)
    return None


_DOCUMENT_IDS = ("file_id", "document_id", "documentName", "document_index")


def document_id(*holders: JsonObject) -> str | None:
    """The id of the document that a citation names, or its number in the request."""
    for holder in holders:
        for name in _DOCUMENT_IDS:
            value = holder.get(name)
            if value or type(value) is int:
                return str(value) if isinstance(value, str | int) else None
    return None


_METADATA: tuple[tuple[str, type], ...] = (
    ("id", str),
    ("model", str),
    ("provider", str),
    ("created", int),
)


@define
class Identity:
    """The response's id, time and model. ``read`` adds what is new: the model when it
    changes, the others once, because some servers send a different id in every chunk
    (Groq compound). ``is_open``: no id has come yet."""

    model: str | None = None
    is_open: bool = True
    known: JsonObject = field(factory=dict)

    def read(self, document: JsonObject, parts: list[Part]) -> None:
        fresh: JsonObject = {}
        for name, kind in _METADATA:
            value = document.get(name)
            if value and type(value) is kind:
                old_value = self.known.get(name)
                if old_value is None or (name == "model" and value != old_value):
                    fresh[name] = self.known[name] = value
            elif value and name not in self.known:
                self.known[name] = None
                parts.append(malformed(name, value))
        model = document.get("model")
        self.model = model if isinstance(model, str) else None
        self.is_open = self.known.get("id") is None
        if fresh:
            parts.append(MetadataPart(**fresh))
