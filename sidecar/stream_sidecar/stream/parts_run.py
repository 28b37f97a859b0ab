"""Runs of parts: reasoning in a provider's fields, arguments of one call.

These runs do what `stream_sidecar.channel.plain_run` does for plain text: a delta in
which only the text is new becomes an event at once, and the bookkeeping for all deltas
is done together. A run accepts the parts of a document that differ only in their text
from the parts before the run. Example: after ``ReasoningPart("a", "why")`` it accepts
``ReasoningPart("b", "why")``, and no part of another field.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from attrs import fields

from stream_sidecar.parts import CallPart, ReasoningPart
from stream_sidecar.values.surrogates import has_half

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stream_sidecar.events import Event
    from stream_sidecar.message.outlet import Outlet, RunReader
    from stream_sidecar.parts import Part

MOST = 128
"""At most this many deltas are remembered, because each is a string of its own."""

_TEXTS: dict[Any, str] = {ReasoningPart: "text", CallPart: "arguments"}
"""Kinds of parts that have runs, with the field of their text."""

_REST = {
    kind: attrgetter(*(each.name for each in fields(kind) if each.name != name))
    for kind, name in _TEXTS.items()
}


class PartsRun:
    """The run after ``parts`` of one kind: the outlet's ``run`` until ``end``."""

    def __init__(
        self, outlet: Outlet, parts: Sequence[Part], reader: RunReader
    ) -> None:
        outlet.end_run()
        self._outlet = outlet
        self._kind = kind = type(parts[0])
        self._rest, self._text = _REST[kind], attrgetter(_TEXTS[kind])
        self._like, *self._others = [self._rest(part) for part in parts]
        self._size = len(parts)
        self._matters, self._make = reader.matters, reader.make
        self._account = reader.account
        self._texts: list[str] = []
        self._most = reader.account([], MOST)
        outlet.run = self

    @property
    def held(self) -> int:
        return 0

    def push_parts(self, parts: list[Part]) -> list[Event] | None:
        """The events of a document's parts, with the next numbers; None if the parts do
        not fit the run and their choices must process them."""
        first = parts[0] if len(parts) == self._size else None
        if type(first) is not self._kind or self._rest(first) != self._like:
            return None
        text = self._text(first)
        is_text = type(text) is str and 0 < len(text) <= self._most
        if not is_text or self._matters(text):
            return None
        for part, like in zip(parts[1:], self._others, strict=True):
            if type(part) is not self._kind or self._rest(part) != like:
                return None
            if self._text(part) != text:
                return None
        if not text.isascii() and has_half(text):
            return None
        self._texts.append(text)
        if len(self._texts) == MOST:
            self.settle()
        outlet = self._outlet
        outlet.seq = seq = outlet.seq + 1
        return [self._make(seq, text)]

    def settle(self) -> None:
        texts, self._texts = self._texts, []
        if texts:
            self._most = self._account(texts, MOST)

    def end(self) -> None:
        """Does the bookkeeping and ends the run."""
        self._outlet.run = None
        self.settle()
