"""How a wire says that it reads more documents like one (`Again`).

Not a wire: a helper of those that learn. With other text a document gives other parts
of the same kinds; where a wire keeps something of it, it says how that is remembered.
"""

from __future__ import annotations

from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from attrs import fields

from stream_sidecar.parts import Again, CallPart, ReasoningPart, TextPart, UsagePart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from stream_sidecar.parts import DocumentPlace, Part

_TEXTS: dict[type, str] = {
    TextPart: "text",
    ReasoningPart: "text",
    CallPart: "arguments",
}
"""Parts that say a text, and where."""


def alone(
    parts: list[Part],
    texts: tuple[DocumentPlace, ...],
    unread: Iterable[DocumentPlace],
    remember: Callable[[str], object] | None = None,
    number: tuple[DocumentPlace, int] | None = None,
) -> Again | None:
    """For documents of which nothing is remembered but that they came, and what
    ``remember`` does with their text; None where they tell counts, too, which are
    remembered. ``number`` is that of `Again`."""
    if UsagePart in map(type, parts):
        return None
    free = frozenset(unread)
    first = parts[0]
    make = _maker(first)
    if len(parts) == 1 and remember is None:
        speaker = first.choice if isinstance(first, TextPart) else make
        return Again(texts, lambda text: [make(text)], free, speaker, number=number)
    makers = [make, *map(_maker, parts[1:])]

    def read(text: str) -> list[Part]:
        if remember is not None:
            remember(text)
        return [make(text) for make in makers]

    return Again(texts, read, free)


def _maker(part: Part) -> Callable[[str], Part]:
    """Makes parts that differ from ``part`` in their text."""
    kind: Any = type(part)
    at, values_of = _layout(kind)
    values = values_of(part)
    before, behind = values[:at], values[at + 1 :]
    return lambda text: kind(*before, text, *behind)


@cache
def _layout(kind: type) -> tuple[int, Callable[[Part], tuple[Any, ...]]]:
    """At which place a kind of part takes its text, and all that it takes."""
    names = [each.name for each in fields(kind)]
    return names.index(_TEXTS[kind]), attrgetter(*names)
