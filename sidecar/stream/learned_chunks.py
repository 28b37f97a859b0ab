"""Chunks that differ from those before in their text alone, which most do.

When ``{"choices": [{"delta": {"content": "Hi"}}]}`` gave the text ``Hi`` and nothing
else, then ``{"choices": [{"delta": {"content": "you"}}]}`` gives ``you`` and nothing
else: it need not be read, only compared. `Learner` learns decoded documents and strings
of a framing alike, and gives a `TextOf`, which finds the text of a chunk that is like
the last one. ``intake`` asks for that only where it holds: the wire must say so
(`Wire.again`), and framing must hold nothing back.

Nothing is guessed. The wire names the places of the text, those of which it reads
nothing (``obfuscation``, ``sequence_number``, ids), and one whose object it reads again
in every chunk (``usageMetadata``, `Aside`); all others must be equal, numbers and truth
values of the same type, too: false is not 0, and 0.0 is no index. A string is
cut at these places, and is learned only if it is read as it should with other values
there. Which of them vary is seen where a chunk differs from the one before; they are
few, so a string is compared in few pieces.
"""

from __future__ import annotations

import re
from functools import lru_cache
from json import JSONDecoder
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from sidecar.records import evolve, frozen, hot
from sidecar.values.jsontext import loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sidecar.parts import Again, Aside, DocumentPlace

TextOf: TypeAlias = "Callable[[object], str | None]"
"""The text of a chunk, if it is like the one that was learned; else None or nothing."""


@hot
class Learned:
    """How to read a chunk without reading it: ``text_of`` finds its text, ``again``
    says what that gives."""

    text_of: TextOf
    again: Again


_DEEPEST = 8
"""Levels of a document that is learned; no text of a delta stands deeper."""

_RESTLESS = frozenset(("sequence_number", "obfuscation", "p"))
"""Names of values that are others in every chunk."""


class KnownCuts:
    """Where strings were cut lately, in this stream or in another of the same host: the
    deltas of many wires have no id of their stream. No text is kept."""

    def __init__(self) -> None:
        self._latest: list[tuple[object, _Cut]] = []

    def find(self, how: object, chunk: object, text: str, again: Again) -> _Cut | None:
        """A cut of strings like ``chunk``, which says ``text``; ``how``: framed so."""
        for known, cut in self._latest:
            if known == how and cut.text_of(chunk) == text and cut.fits(again):
                return cut
        return None

    def add(self, how: object, cut: _Cut) -> None:
        if cut.told is None:  # else it belongs to its stream
            known = how, evolve(cut, chunk="")
            self._latest = [known, *self._latest[: _MOST_KNOWN - 1]]


_MOST_KNOWN = 8


class Learner:
    """``learn`` a chunk; it remembers of the one before what helps with the next.

    ``limit``: code points that a document may have. ``reads(string)`` is the document
    that framing reads, if it reads one and holds nothing back; ``framing`` names it.
    """

    def __init__(
        self,
        limit: int,
        reads: Callable[[str], Any],
        framing: str = "",
        cuts: KnownCuts | None = None,
    ) -> None:
        self._reads = reads
        self._how = framing, limit
        self._cuts = cuts or KnownCuts()
        self._cut: _Cut | None = None
        self._values: dict[DocumentPlace, Any] = {}
        self._varying: set[DocumentPlace] = set()

    def learn(self, chunk: object, document: Any, again: Again) -> TextOf | None:
        """For chunks like ``chunk``, which is read as ``document``."""
        texts = [value for _, value in _values(document, again.texts)]
        text = texts[0] if texts else None
        if not text or type(text) is not str or texts.count(text) < len(texts):
            return None
        try:
            return self._learn(chunk, document, text, again)
        except (RecursionError, ValueError):
            return None  # it is nested as deep as hardly anything that reads it can

    def _learn(
        self, chunk: object, document: Any, text: str, again: Again
    ) -> TextOf | None:
        if type(chunk) is dict:
            free = self._free(document, again)
            return alike_object(document, again.texts, free, again.told)
        known = self._cut
        if known and known.fits(again) and known.text_of(chunk) == text:
            return known.text_of
        self._cut = self._cuts.find(self._how, chunk, text, again)
        if self._cut is not None:
            return self._cut.text_of
        if isinstance(chunk, str):
            free = self._free(document, again)
            cut = cut_string(chunk, again.texts, free, self._how[1], again.told)
            if cut is not None and cut.is_right(text, self._reads, document):
                self._cut = cut
                self._cuts.add(self._how, cut)
                return cut.text_of
        return None

    def _free(self, document: Any, again: Again) -> dict[DocumentPlace, Any]:
        """The places that vary, as far as that was seen, and their values."""
        values, known = dict(_values(document, again.unread)), self._values
        for place, value in values.items():
            if place[-1] in _RESTLESS or known.get(place, value) != value:
                self._varying.add(place)
        self._values = values
        return {place: values[place] for place in values if place in self._varying}


def _values(
    document: Any, places: Iterable[DocumentPlace]
) -> list[tuple[DocumentPlace, Any]]:
    """What stands at those of the ``places`` that are there."""
    found = []
    for place in places:
        value = document
        for step in place:
            is_there = step in value if type(value) is dict else _is_item(value, step)
            if not is_there:
                break
            value = value[step]
        else:
            found.append((place, value))
    return found


def _is_item(value: Any, step: int | str) -> bool:
    """Whether ``value`` is a list that has an item with this number."""
    return type(value) is list and type(step) is int and step < len(value)


# Decoded documents

_NOTHING = object()
"""Equal to no value."""


class _Text:
    """Equal to any text, which it remembers as ``found``."""

    __slots__ = ("found",)

    def __init__(self) -> None:
        self.found = ""

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            self.found = other
            return True
        return False

    __hash__ = None  # type: ignore[assignment]


class _Anything:
    """Equal to whatever there is."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class _Object:
    """Equal to any object, which is what is ``told``."""

    __slots__ = ("told",)

    def __init__(self, told: Aside) -> None:
        self.told = told

    def __eq__(self, other: object) -> bool:
        if type(other) is dict:
            self.told.value = other
            return True
        return False

    __hash__ = None  # type: ignore[assignment]


class _Exactly:
    """Equal to what is equal and of the same type."""

    __slots__ = ("kind", "value")

    def __init__(self, value: object) -> None:
        self.value = value
        self.kind = type(value)

    def __eq__(self, other: object) -> bool:
        return type(other) is self.kind and other == self.value

    __hash__ = None  # type: ignore[assignment]


def alike_object(
    document: Any,
    places: Iterable[DocumentPlace],
    free: Iterable[DocumentPlace],
    told: Aside | None = None,
) -> TextOf:
    """For objects like ``document``, whose text stands at all of the ``places``; what
    stands at those that are ``free`` does not count, and what is ``told`` is read."""
    texts = {place: _Text() for place in places}
    marks: dict[str | int, Any] = {}
    leaves: dict[DocumentPlace, Any] = {each: _Anything() for each in free} | texts
    if told:
        leaves[told.place] = _Object(told)
    for place, leaf in leaves.items():
        node = marks
        for step in place[:-1]:
            node = node.setdefault(step, {})
        node[place[-1]] = leaf
    pattern = _pattern(document, marks, _DEEPEST)
    first, *others = texts.values()

    def text_of(chunk: object) -> str | None:
        return first.found if type(chunk) is dict and chunk == pattern else None

    def text_of_all(chunk: object) -> str | None:
        text = text_of(chunk)
        return text if all(each.found == text for each in others) else None

    return text_of_all if others else text_of


def _pattern(value: Any, marks: Any, depth: int) -> Any:
    """``value`` with what ``marks`` says in its places."""
    if marks is not None and type(marks) is not dict:
        return marks
    if not depth and isinstance(value, dict | list):
        return _NOTHING
    inner = marks or {}
    if type(value) is dict:
        return {
            key: _pattern(item, inner.get(key), depth - 1)
            for key, item in value.items()
        }
    if type(value) is list:
        return [
            _pattern(item, inner.get(number), depth - 1)
            for number, item in enumerate(value)
        ]
    return value if value is None or type(value) is str else _Exactly(value)


# Strings


@frozen
class _Kind:
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


def _object_of(told: Aside) -> Callable[[str], bool]:
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
_VALUE = _Kind(_is_value, "null")
_KINDS = {str: _Kind(_is_plain, "x"), int: _Kind(_is_number, "1")}
_BLANKS = _Kind(_is_blank, "  ")
_DECODER = JSONDecoder()


@hot
class _Slot:
    """Where the value at a ``place`` of the document stands in a string; ``kind`` is
    None for the text. Blanks have no place."""

    start: int
    end: int
    place: DocumentPlace
    kind: _Kind | None


@hot
class _Cut:
    """A string, cut at its slots."""

    chunk: str
    slots: tuple[_Slot, ...]
    text_of: TextOf
    told: Aside | None

    def fits(self, again: Again) -> bool:
        """Whether it is cut where ``again`` allows, for what it tells."""
        read = {self.told.place} if self.told else set()
        texts = {slot.place for slot in self.slots if slot.kind is None}
        free = {slot.place for slot in self.slots if slot.kind and slot.place} - read
        is_cut = texts == set(again.texts) and free <= again.unread
        return is_cut and self.told is again.told

    def is_right(self, text: str, reads: Callable[[str], Any], document: Any) -> bool:
        """Whether it is cut where the values of the ``document`` stand. A key spelled
        without a backslash is spelled in one way: it is the name that was found."""
        said = [slot for slot in self.slots if slot.kind is None]
        if any(_unescaped(self.chunk[each.start : each.end]) != text for each in said):
            return False
        ends = [0, *(slot.end for slot in self.slots)]
        starts = [*(slot.start for slot in self.slots), len(self.chunk)]
        between = zip(ends, starts, strict=True)
        is_bare = all(self.chunk.find("\\", *each) < 0 for each in between)
        return is_bare or self._is_read(reads, document)

    def _is_read(self, reads: Callable[[str], Any], document: Any) -> bool:
        """Whether the string with other values is read as the ``document`` with these.

        Example: ``{"a": "b","c": "\\u002c"}`` must not be cut between its strings.
        """
        pieces, at = [], 0
        for slot in self.slots:
            old = self.chunk[slot.start : slot.end]
            other = slot.kind.other if slot.kind else f"{old}."
            pieces += [self.chunk[at : slot.start], other]
            at = slot.end
        string = "".join([*pieces, self.chunk[at:]])
        text, found = self.text_of(string), reads(string)
        places = [slot.place for slot in self.slots if slot.place]
        told = dict(_values(document, places))
        texts = [slot.place for slot in self.slots if slot.kind is None]
        read = dict(_values(found, places))
        if len(read) < len(places) or any(read[place] != text for place in texts):
            return False
        for place in places:
            _put(found, place, told[place])
        return bool(found == document)


def _put(document: Any, place: DocumentPlace, value: Any) -> None:
    """Puts ``value`` where another of the same ``place`` stands."""
    for step in place[:-1]:
        document = document[step]
    document[place[-1]] = value


def cut_string(
    chunk: str,
    texts: Sequence[DocumentPlace],
    free: dict[DocumentPlace, Any],
    limit: int,
    told: Aside | None = None,
) -> _Cut | None:
    """For strings like ``chunk`` of at most ``limit`` code points; None where it cannot
    be told where the text stands."""
    slots = _text_slots(chunk, texts)
    if told:
        slots += _slots(chunk, [told.place], _Kind(_object_of(told), "{}"))
    if len(slots) < len(texts) + (told is not None):
        return None
    for place, value in free.items():
        slots += _slots(chunk, [place], _KINDS.get(type(value), _VALUE))
    end = chunk.rfind("}")
    start = len(chunk[: max(end, 0)].rstrip(" "))
    if start < end:  # some servers fill their documents up to a size
        slots.append(_Slot(start, end, (), _BLANKS))
    slots.sort(key=attrgetter("start"))
    ends = [0, *(slot.end for slot in slots)]
    starts = [*(slot.start for slot in slots), len(chunk)]
    head, *rest = (chunk[end:start] for end, start in zip(ends, starts, strict=True))
    accepts = [slot.kind.accepts if slot.kind else None for slot in slots]
    steps = tuple(zip(accepts, rest, strict=True))
    text_of = _one(head, rest[0], limit) if not rest[1:] else _many(head, steps, limit)
    return _Cut(chunk, tuple(slots), text_of, told)


def _text_slots(chunk: str, places: Iterable[DocumentPlace]) -> list[_Slot]:
    """Where the text stands, which is the same at all of the ``places``."""
    alike: dict[int | str, list[DocumentPlace]] = {}
    for place in places:
        alike.setdefault(place[-1], []).append(place)
    return [slot for those in alike.values() for slot in _slots(chunk, those, None)]


def _slots(chunk: str, places: list[DocumentPlace], kind: _Kind | None) -> list[_Slot]:
    """Where the values of a name stand that is there for each of the ``places`` and
    nowhere else; none where that cannot be told."""
    names = list(_name(str(places[0][-1])).finditer(chunk))
    if len(names) != len(places):
        return []
    found = []
    for place, name in zip(places, names, strict=True):
        value, end = _DECODER.raw_decode(chunk, name.end())
        inner = int(isinstance(value, str))  # without its quotes
        found.append(_Slot(name.end() + inner, end - inner, place, kind))
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
            return text if _is_plain(text) else _unescaped(text)
        return None

    return text_of


def _many(
    head: str, steps: tuple[tuple[Callable[[str], bool] | None, str], ...], limit: int
) -> TextOf:
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
        return text if _is_plain(text) else _unescaped(text)

    return text_of


def _unescaped(text: str) -> str | None:
    """What stands in a JSON string as ``text``; None where a string is no more."""
    try:
        return str(loads(f'"{text}"'))
    except ValueError:
        return None
