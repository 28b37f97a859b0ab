"""How a wire says that it reads more documents like one (`Again`).

Not a wire: a helper of those that learn. `alone` is for documents of which a wire keeps
nothing: other text, other part. `reading` is for the others: they are made and read.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from attrs import fields

from sidecar.parts import Again, CallPart, Document, ReasoningPart, TextPart, UsagePart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sidecar.parts import DocumentPlace, Json, Part, Wire

_TEXTS: dict[type, str] = {
    TextPart: "text",
    ReasoningPart: "text",
    CallPart: "arguments",
}
"""Parts that say a text, and where."""


def alone(
    parts: list[Part], texts: tuple[DocumentPlace, ...], unread: Iterable[DocumentPlace]
) -> Again | None:
    """For documents of which nothing is remembered but that they came; None where they
    tell counts, too, which are remembered."""
    if any(type(part) is UsagePart for part in parts):
        return None
    free = frozenset(unread)
    first = parts[0]
    make = _maker(first)
    if len(parts) == 1:
        speaker = first.choice if isinstance(first, TextPart) else None
        return Again(texts, lambda text: [make(text)], free, speaker)
    makers = [make, *map(_maker, parts[1:])]
    return Again(texts, lambda text: [make(text) for make in makers], free)


def _maker(part: Part) -> Callable[[str], Part]:
    """Makes parts that differ from ``part`` in their text."""
    kind: Any = type(part)
    at, names = _layout(kind)
    values = [getattr(part, name) for name in names]
    before, behind = values[:at], values[at + 1 :]
    return lambda text: kind(*before, text, *behind)


@cache
def _layout(kind: type) -> tuple[int, list[str]]:
    """At which place a kind of part takes its text, and what it takes."""
    names = [each.name for each in fields(kind)]
    return names.index(_TEXTS[kind]), names


def reading(
    wire: Wire,
    document: Document,
    texts: tuple[DocumentPlace, ...],
    unread: Iterable[DocumentPlace],
) -> Again:
    """For documents of which the wire remembers something: each is read."""
    value, event = document.value, document.event

    def read(text: str) -> list[Part]:
        other = value
        for place in texts:
            other = _with(other, place, text)
        return wire.push(Document(other, event))

    return Again(texts, read, frozenset(unread))


def _with(value: Json, place: DocumentPlace, text: str) -> Json:
    """``value`` with ``text`` at ``place``; what is on the way there is copied."""
    if not place:
        return text
    step, *rest = place
    copied = value.copy()
    copied[step] = _with(value[step], tuple(rest), text)
    return copied
