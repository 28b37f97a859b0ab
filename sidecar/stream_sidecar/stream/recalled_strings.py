"""Strings like those of earlier streams, which need not be read even the first time.

The streams of a host mostly have the same provider, whose documents have few shapes:
``{"text": "Hi", "model": "m"}`` and ``{"text": "Bye", "model": "n"}`` have the same. A
wire that can read a shape in any stream names it (`Again.shape`), and the values that
it reads there: a text, what is told beside it, and what is ``steady``; all others must
be equal. A `Recalled` has a pattern with a group for each of these values, `Shapes`
has those of earlier streams, and finds the one that a string fits.

Nothing is guessed: what stands between the groups is all the rest of the string, and a
group takes one JSON value of its kind.
"""

from __future__ import annotations

import re
from functools import cached_property
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any

from stream_sidecar.stream.cut_strings import (
    SLOT_KINDS,
    SlotKind,
    is_right,
    object_of,
    slots_at,
    unescaped,
)
from stream_sidecar.values.paths import values_at
from stream_sidecar.values.surrogates import has_half

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.parts import Again
    from stream_sidecar.stream.cut_strings import Accepts, Slot, TextOf

_PLAIN = r'[^"\\\x00-\x1f]*+'
_FLAT = r"[^{}\x00-\x1f]*+"
_TEXT = re.compile(rf"({_PLAIN}(?:\\.{_PLAIN})*+)")
_KINDS: dict[type, re.Pattern[str]] = {
    str: re.compile(f"({_PLAIN})"),
    dict: re.compile(rf"(\{{{_FLAT}(?:\{{{_FLAT}\}}{_FLAT})*+\}})"),
}
"""What a group takes: a string without escapes; what is an object if it is JSON."""

_NOTHING = re.compile("(?!)")
"""For values of other types, with which a shape is not learned."""

_STAND_INS: dict[type, SlotKind] = {
    str: SLOT_KINDS[str],
    dict: SlotKind(lambda _: True, "{}"),
}
"""What may stand there instead when it is tried out where a value stands."""

_MOST = 16
"""Ways in which strings begin that are remembered, and patterns for each."""

_LONGEST = 4096
"""Code points of a pattern without its groups."""


class Recalled:
    """Strings of one ``shape``: the ``rest`` of them stands around the ``slots``, each
    of which has a group."""

    def __init__(
        self, rest: list[str], slots: list[tuple[Slot, str]], again: Again
    ) -> None:
        self.shape = again.shape
        self.rest = rest
        #: stands in all such strings, and in few others
        self.mark = max(rest[1:], key=len)
        numbers = {slot.place: number for number, (slot, _) in enumerate(slots)}
        self._groups = [group for _, group in slots]
        self._text = numbers[again.texts[0]]
        self._told = numbers[again.told.place] if again.told else 0
        self._steady = [numbers.get(place) for place in again.steady]
        self._latest = 0  # which stream had one last
        self._repeats = False

    @cached_property
    def match(self) -> Callable[[str], re.Match[str] | None]:
        """The whole of a string; made when another stream has come."""
        head, *pieces = map(re.escape, self.rest)
        both = zip(self._groups, pieces, strict=True)
        return re.compile(head + "".join(map("".join, both))).fullmatch

    @cached_property
    def _steady_in(self) -> Callable[[tuple[str, ...]], object]:
        """Gives those of the values that are steady, as far as there are any."""
        places = [place for place in self._steady if place is not None]
        return itemgetter(*places) if places else lambda _values: None

    def read(
        self, chunk: str, recalls: Callable[[Any], Again], limit: int
    ) -> tuple[str, Again, TextOf | None] | None:
        """The text of a ``chunk``; how such are read, as the wire ``recalls`` it, which
        is told the other values; and what finds the text of more of at most ``limit``
        code points, if more are to be expected. None: the chunk must be read."""
        found = self.match(chunk)
        if found is None:
            return None
        values, again = found.groups(), recalls(self.shape)
        text = _text(values[self._text])
        accepts = object_of(again.told) if again.told else None
        if text is None or has_half(text):
            return None
        if accepts and not accepts(values[self._told]):
            return None
        assert again.takes is not None  # what has a shape takes what is steady
        again.takes([None if at is None else values[at] for at in self._steady])
        is_usual = self._repeats_in(again)
        return text, again, self._text_of(values, accepts, limit) if is_usual else None

    def _repeats_in(self, again: Again) -> bool:
        """Whether a stream has had more than one such string, one of which was just
        found: only then it is worth while to prepare for the next."""
        latest, self._latest = self._latest, id(again)
        self._repeats = self._repeats or latest == self._latest
        return self._repeats

    def _text_of(self, values: tuple[str, ...], accepts: Accepts, limit: int) -> TextOf:
        """For strings of one stream, with the steady ones of these ``values``."""
        match, at, told, steady_in = self.match, self._text, self._told, self._steady_in
        known = steady_in(values)

        def text_of(chunk: object) -> str | None:
            found = match(chunk) if type(chunk) is str and len(chunk) <= limit else None
            if found is None:
                return None
            groups = found.groups()
            if steady_in(groups) != known:
                return None
            if accepts and not accepts(groups[told]):
                return None
            return _text(groups[at])

        return text_of


class Shapes:
    """The shapes that the last streams had, by how their strings begin."""

    def __init__(self) -> None:
        self._by_head: dict[str, list[Recalled]] = {}

    def of(self, chunk: str) -> list[Recalled]:
        """The shapes that a ``chunk`` may have; mostly there is one or none."""
        return [
            each
            for head, those in self._by_head.items()
            if chunk.startswith(head)
            for each in those
            if each.mark in chunk
        ]

    def learn(
        self, chunk: str, document: Any, again: Again, reads: Callable[[str], Any]
    ) -> None:
        """Remembers the shape of a ``chunk``, which is read as ``document``."""
        slots = _slots_of(chunk, document, again)
        bare = [slot for slot, _ in slots]
        if not slots or not is_right(chunk, bare, reads, document):
            return
        ends, starts = [0, *map(_END, bare)], [*map(_START, bare), len(chunk)]
        rest = [chunk[end:start] for end, start in zip(ends, starts, strict=True)]
        if sum(map(len, rest)) <= _LONGEST:
            self._add(Recalled(rest, slots, again))

    def _add(self, new: Recalled) -> None:
        heads = self._by_head
        those = heads.setdefault(new.rest[0], [])
        if all(each.rest != new.rest for each in those):
            those.insert(0, new)
            del those[_MOST:]
        if len(heads) > _MOST:
            del heads[next(iter(heads))]


_START, _END = attrgetter("start"), attrgetter("end")


def _slots_of(chunk: str, document: Any, again: Again) -> list[tuple[Slot, str]]:
    """Where the values stand that the wire reads, each with its group; none where one
    of them is not found."""
    told = [again.told.place] if again.told else []
    places = [*again.texts, *told, *again.steady]
    found = []
    for place, value in values_at(document, places):
        if value is None:
            continue  # it must be so in the others
        is_text = place in again.texts
        group = _TEXT if is_text else _KINDS.get(type(value), _NOTHING)
        kind = None if is_text else _STAND_INS.get(type(value))
        slots = slots_at(chunk, [place], kind)
        if not slots or not group.fullmatch(chunk, slots[0].start, slots[0].end):
            return []
        found.append((slots[0], group.pattern))
    return sorted(found, key=lambda each: each[0].start)


def _text(spelled: str) -> str | None:
    """What a text says that is spelled so in JSON; None where that is no string."""
    return unescaped(spelled) if "\\" in spelled else spelled
