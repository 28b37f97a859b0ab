"""Strings of a framing, cut where the values of their document stand.

Of ``{"n": 1, "text": "Hi"}`` the text stands in the slot ``Hi``, and ``n`` in the slot
``1``. `slots_of` finds the slots of what varies, `is_right` tells whether the string is
read as it should with other values there, and `cut_string` gives what finds the text of
a string that differs in its slots alone (`TextOf`).
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from json import JSONDecoder
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from stream_sidecar.framing.framer import BYTE_ORDER_MARK
from stream_sidecar.records import define, frozen, hot
from stream_sidecar.values.jsontext import loads
from stream_sidecar.values.paths import put, values_at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stream_sidecar.parts import Again, Aside, DocumentPlace

Accepts: TypeAlias = "Callable[[str], bool] | None"
"""Whether a slot's text is what may stand there; None: it is the text."""

TextOf: TypeAlias = "Callable[[object], str | None]"
"""The text of a chunk, if it is like the one that was learned; else None or nothing."""


@frozen
class SlotKind:
    """What may stand in a slot, without the quotes of a string; ``other``: such."""

    accepts: Callable[[str], bool]
    other: str


def _is_plain(text: str) -> bool:
    """Whether ``text`` stands for itself in a JSON string."""
    return text.isprintable() and '"' not in text and "\\" not in text


def _is_number(text: str) -> bool:
    digits = text.isascii() and text.isdecimal() and len(text) < _LONG_NUMBER
    return digits and (text[0] != "0" or text == "0")


def _is_value(text: str) -> bool:
    """Whether ``text`` is JSON on one line."""
    try:
        loads(text)
    except ValueError:
        return False
    return "\n" not in text and "\r" not in text


def object_of(told: Aside) -> Callable[[str], bool]:
    """Whether a text is an object on one line, which is then what is ``told``."""
    latest, value = "", told.value

    def accepts(text: str) -> bool:
        nonlocal latest, value
        if text != latest:  # counts are mostly told again
            try:
                read = loads(text)
            except ValueError:
                return False
            if type(read) is not dict or "\n" in text or "\r" in text:
                return False
            latest, value = text, read
        told.value = value
        return True

    return accepts


def _is_blank(text: str) -> bool:
    return not text.strip(" ")


_LONG_NUMBER = 19
_VALUE = SlotKind(_is_value, "null")
SLOT_KINDS = {str: SlotKind(_is_plain, "x"), int: SlotKind(_is_number, "1")}
_BLANKS = SlotKind(_is_blank, "  ")
_DECODER = JSONDecoder()


@hot
class Slot:
    """Where the value at a ``place`` of the document stands in a string; ``kind`` is
    None for the text. Blanks have no place."""

    start: int
    end: int
    place: DocumentPlace
    kind: SlotKind | None


@define(eq=False)
class StringCut:
    """How strings are read that are cut where a text stands, and values that are
    ``free``, and what is ``told``: the ``pieces`` around these, and what each of them
    ``accepts``. ``number``: the one that the pieces have."""

    free: frozenset[DocumentPlace]
    told: Aside | None
    number: tuple[DocumentPlace, int] | None
    pieces: tuple[str, ...]
    accepts: tuple[Accepts, ...]
    text_of: TextOf
    _around: tuple[int, str, str] | None = None

    def fits(self, again: Again) -> bool:
        """Whether that is what ``again`` allows, which is of the same texts."""
        return self.free <= again.unread and self.told is again.told

    def renumbered(
        self, numbered: tuple[DocumentPlace, int], limit: int
    ) -> TextOf | None:
        """For strings with another number at the same place, which must be one that
        has its name alone; None where it is not."""
        if self.told or not self.number or self.number[0] != numbered[0]:
            return None
        if self._around is None:
            self._around = _around(self.pieces, *self.number)
        at, before, behind = self._around
        if at < 0:
            return None
        pieces = list(self.pieces)
        pieces[at] = f"{before}{numbered[1]}{behind}"
        return _text_of(pieces, self.accepts, limit)


Cuts: TypeAlias = dict[tuple["DocumentPlace", ...], StringCut]
"""The cut of the last string with texts at these places."""

_NOWHERE = -1, "", ""


def _around(
    pieces: tuple[str, ...], place: DocumentPlace, number: int
) -> tuple[int, str, str]:
    """Which of the ``pieces`` has the ``number`` of a ``place``, and what is before
    and behind it there."""
    name, whole = str(place[-1]), "".join(pieces)
    if "\\" in whole or whole.count(f'"{name}"') != 1:
        return _NOWHERE
    for at, piece in enumerate(pieces):
        found = _name(name).search(piece)
        if found and (rest := piece[found.end() :]).startswith(str(number)):
            return at, piece[: found.end()], rest[len(str(number)) :]
    return _NOWHERE


def is_right(
    chunk: str, slots: list[Slot], reads: Callable[[str], Any], document: Any
) -> bool:
    """Whether the ``slots`` are where the values of the ``document`` stand. A key
    spelled without a backslash is spelled in one way: it is the name that was found."""
    if chunk.startswith(BYTE_ORDER_MARK):  # only a stream's first string may have it
        return False
    if "\\" not in chunk:
        return True
    ends = [0, *(slot.end for slot in slots)]
    starts = [*(slot.start for slot in slots), len(chunk)]
    between = zip(ends, starts, strict=True)
    is_bare = all(chunk.find("\\", *each) < 0 for each in between)
    return is_bare or _is_read(chunk, slots, reads, document)


def _is_read(
    chunk: str, slots: list[Slot], reads: Callable[[str], Any], document: Any
) -> bool:
    """Whether the string with other values is read as the ``document`` with these.

    Example: ``{"a": "b","c": "\\u002c"}`` must not be cut between its strings.
    """
    pieces, at, said = [], 0, None
    for slot in slots:
        old = chunk[slot.start : slot.end]
        other = slot.kind.other if slot.kind else f"{old}."
        said = said if slot.kind else unescaped(other)
        pieces += [chunk[at : slot.start], other]
        at = slot.end
    found = reads("".join([*pieces, chunk[at:]]))
    places = [slot.place for slot in slots if slot.place]
    texts = [slot.place for slot in slots if slot.kind is None]
    told, read = dict(values_at(document, places)), dict(values_at(found, places))
    if len(read) < len(places) or any(read[place] != said for place in texts):
        return False
    for place in places:
        put(found, place, told[place])
    return bool(found == document)


def slots_of(
    chunk: str, text: str, again: Again, free: dict[DocumentPlace, Any]
) -> list[Slot]:
    """Where the ``text`` stands in a string like ``chunk``, what is told, and values
    that are ``free``; none where that cannot be told."""
    slots, told = [], again.told
    for places in _by_name(again.texts):
        slots += slots_at(chunk, places, None, text)
    if told:
        slots += slots_at(chunk, [told.place], SlotKind(object_of(told), "{}"))
    if len(slots) < len(again.texts) + (told is not None):
        return []
    for place, value in free.items():
        slots += slots_at(chunk, [place], SLOT_KINDS.get(type(value), _VALUE))
    end = chunk.rfind("}")
    if end > 0 and chunk[end - 1] == " ":  # servers fill documents up to a size
        slots.append(Slot(len(chunk[:end].rstrip(" ")), end, (), _BLANKS))
    slots.sort(key=attrgetter("start"))
    return slots


def cut_string(chunk: str, slots: list[Slot], again: Again, limit: int) -> StringCut:
    """For strings like ``chunk`` of at most ``limit`` code points."""
    between = [chunk[slot.end : after.start] for slot, after in pairwise(slots)]
    pieces = (chunk[: slots[0].start], *between, chunk[slots[-1].end :])
    accepts = tuple([slot.kind.accepts if slot.kind else None for slot in slots])
    free = again.unread.intersection([slot.place for slot in slots])
    text_of = _text_of(pieces, accepts, limit)
    return StringCut(free, again.told, again.number, pieces, accepts, text_of)


def _text_of(pieces: Sequence[str], accepts: tuple[Accepts, ...], limit: int) -> TextOf:
    """For strings of these ``pieces`` and what they accept, in turns."""
    if len(accepts) == 1:
        return _one(pieces[0], pieces[1], limit)
    return _many(pieces[0], tuple(zip(accepts, pieces[1:], strict=True)), limit)


@lru_cache(maxsize=256)
def _by_name(places: tuple[DocumentPlace, ...]) -> list[list[DocumentPlace]]:
    """The ``places``, those together that have one name."""
    alike: dict[int | str, list[DocumentPlace]] = {}
    for place in places:
        alike.setdefault(place[-1], []).append(place)
    return list(alike.values())


def slots_at(
    chunk: str,
    places: list[DocumentPlace],
    kind: SlotKind | None,
    text: str | None = None,
) -> list[Slot]:
    """Where the values of a name stand that is there for each of the ``places`` and
    nowhere else; none where that cannot be told, or one of them is another ``text``."""
    names = list(_name(str(places[0][-1])).finditer(chunk))
    if len(names) != len(places):
        return []
    found = []
    for place, name in zip(places, names, strict=True):
        value, end = _DECODER.raw_decode(chunk, name.end())
        if text is not None and value != text:
            return []
        inner = int(isinstance(value, str))  # without its quotes
        found.append(Slot(name.end() + inner, end - inner, place, kind))
    return found


@lru_cache(maxsize=256)
def _name(name: str) -> re.Pattern[str]:
    return re.compile(rf'"{re.escape(name)}"\s{{0,8}}+:\s{{0,8}}+')


def _one(head: str, tail: str, limit: int) -> TextOf:
    """For strings with one slot, that of the text."""
    start, end = len(head), -len(tail)

    def text_of(chunk: object) -> str | None:
        if (
            type(chunk) is str
            and chunk.startswith(head)
            and chunk.endswith(tail)
            and len(chunk) <= limit
        ):
            text = chunk[start:end]
            return text if _is_plain(text) else unescaped(text)
        return None

    return text_of


def _many(head: str, steps: tuple[tuple[Accepts, str], ...], limit: int) -> TextOf:
    """For strings with several slots, each with what stands behind it.

    Whatever these pieces are, they are the whole string, and what stands in a slot is
    one value: so a string that is found to be alike is.
    """
    start = len(head)

    def text_of(chunk: object) -> str | None:
        if not (type(chunk) is str and chunk.startswith(head) and len(chunk) <= limit):
            return None
        at, text = start, None
        for accepts, behind in steps:
            end = chunk.find(behind, at)
            while end > 0 and chunk[end - 1] == "\\":  # it may stand in the text
                end = chunk.find(behind, end + 1)
            if end < 0:
                return None
            value = chunk[at:end]
            if accepts is None:
                if text is not None and value != text:
                    return None
                text = value
            elif not accepts(value):
                return None
            at = end + len(behind)
        if at != len(chunk) or text is None:
            return None
        return text if _is_plain(text) else unescaped(text)

    return text_of


def unescaped(text: str) -> str | None:
    """What stands in a JSON string as ``text``; None where a string is no more."""
    try:
        return str(loads(f'"{text}"'))
    except ValueError:
        return None
