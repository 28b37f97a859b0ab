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
from itertools import pairwise
from json import JSONDecoder
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from sidecar.records import frozen, hot
from sidecar.values.jsontext import loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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


class Learner:
    """``learn`` a chunk; it remembers of the one before what helps with the next.

    ``limit``: code points that a document may have. ``reads(string)`` is the document
    that framing reads, if it reads one and holds nothing back.
    """

    def __init__(self, limit: int, reads: Callable[[str], Any]) -> None:
        self._limit = limit
        self._reads = reads
        self._cut: _Cut | None = None
        self._before: Any = None  # the document that was learned before
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
        known = self._cut
        if known and known.fits(again) and known.text_of(chunk) == text:
            return known.text_of
        free = self._free(document, again.unread)
        if type(chunk) is dict:
            return alike_object(document, again.texts, free, again.told)
        if isinstance(chunk, str):
            slots = slots_of(chunk, text, again, free)
            if slots and _is_right(chunk, slots, self._reads, document):
                self._cut = cut_string(chunk, slots, again, self._limit)
                return self._cut.text_of
        return None

    def _free(
        self, document: Any, unread: frozenset[DocumentPlace]
    ) -> dict[DocumentPlace, Any]:
        """The places that vary, as far as that was seen, and their values."""
        before, self._before = self._before, document
        if not unread:
            return {}
        if before is None:
            restless = [place for place in unread if place[-1] in _RESTLESS]
            return dict(_values(document, restless))
        values, known = dict(_values(document, unread)), dict(_values(before, unread))
        for place, value in values.items():
            if place[-1] in _RESTLESS or known.get(place, value) != value:
                self._varying.add(place)
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
    """How strings are read that are cut where ``texts`` stand, and values that are
    ``free``, and what is ``told``."""

    texts: tuple[DocumentPlace, ...]
    free: frozenset[DocumentPlace]
    told: Aside | None
    text_of: TextOf

    def fits(self, again: Again) -> bool:
        """Whether that is what ``again`` allows."""
        is_cut = self.texts == again.texts and self.free <= again.unread
        return is_cut and self.told is again.told


def _is_right(
    chunk: str, slots: list[_Slot], reads: Callable[[str], Any], document: Any
) -> bool:
    """Whether the ``slots`` are where the values of the ``document`` stand. A key
    spelled without a backslash is spelled in one way: it is the name that was found."""
    if "\\" not in chunk:
        return True
    ends = [0, *(slot.end for slot in slots)]
    starts = [*(slot.start for slot in slots), len(chunk)]
    between = zip(ends, starts, strict=True)
    is_bare = all(chunk.find("\\", *each) < 0 for each in between)
    return is_bare or _is_read(chunk, slots, reads, document)


def _is_read(
    chunk: str, slots: list[_Slot], reads: Callable[[str], Any], document: Any
) -> bool:
    """Whether the string with other values is read as the ``document`` with these.

    Example: ``{"a": "b","c": "\\u002c"}`` must not be cut between its strings.
    """
    pieces, at, said = [], 0, None
    for slot in slots:
        old = chunk[slot.start : slot.end]
        other = slot.kind.other if slot.kind else f"{old}."
        said = said if slot.kind else _unescaped(other)
        pieces += [chunk[at : slot.start], other]
        at = slot.end
    found = reads("".join([*pieces, chunk[at:]]))
    places = [slot.place for slot in slots if slot.place]
    texts = [slot.place for slot in slots if slot.kind is None]
    told, read = dict(_values(document, places)), dict(_values(found, places))
    if len(read) < len(places) or any(read[place] != said for place in texts):
        return False
    for place in places:
        _put(found, place, told[place])
    return bool(found == document)


def _put(document: Any, place: DocumentPlace, value: Any) -> None:
    """Puts ``value`` where another of the same ``place`` stands."""
    for step in place[:-1]:
        document = document[step]
    document[place[-1]] = value


def slots_of(
    chunk: str, text: str, again: Again, free: dict[DocumentPlace, Any]
) -> list[_Slot]:
    """Where the ``text`` stands in a string like ``chunk``, what is told, and values
    that are ``free``; none where that cannot be told."""
    slots, told = [], again.told
    for places in _by_name(again.texts):
        slots += _slots(chunk, places, None, text)
    if told:
        slots += _slots(chunk, [told.place], _Kind(_object_of(told), "{}"))
    if len(slots) < len(again.texts) + (told is not None):
        return []
    for place, value in free.items():
        slots += _slots(chunk, [place], _KINDS.get(type(value), _VALUE))
    end = chunk.rfind("}")
    if end > 0 and chunk[end - 1] == " ":  # servers fill documents up to a size
        slots.append(_Slot(len(chunk[:end].rstrip(" ")), end, (), _BLANKS))
    slots.sort(key=attrgetter("start"))
    return slots


def cut_string(chunk: str, slots: list[_Slot], again: Again, limit: int) -> _Cut:
    """For strings like ``chunk`` of at most ``limit`` code points."""
    first, last = slots[0], slots[-1]
    head, tail = chunk[: first.start], chunk[last.end :]
    if first is last:
        return _Cut(again.texts, frozenset(), None, _one(head, tail, limit))
    behind = [chunk[slot.end : after.start] for slot, after in pairwise(slots)]
    accepts = [slot.kind.accepts if slot.kind else None for slot in slots]
    steps = tuple(zip(accepts, [*behind, tail], strict=True))
    free = again.unread.intersection([slot.place for slot in slots])
    return _Cut(again.texts, free, again.told, _many(head, steps, limit))


@lru_cache(maxsize=256)
def _by_name(places: tuple[DocumentPlace, ...]) -> list[list[DocumentPlace]]:
    """Those of the ``places`` together that have one name."""
    alike: dict[int | str, list[DocumentPlace]] = {}
    for place in places:
        alike.setdefault(place[-1], []).append(place)
    return list(alike.values())


def _slots(
    chunk: str, places: list[DocumentPlace], kind: _Kind | None, text: str | None = None
) -> list[_Slot]:
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
