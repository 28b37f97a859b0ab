"""Chunks that differ from those before in their text alone, which most do.

When ``{"choices": [{"delta": {"content": "Hi"}}]}`` gave the text ``Hi`` and nothing
else, then ``{"choices": [{"delta": {"content": "you"}}]}`` gives ``you`` and nothing
else: it need not be read, only compared. `Learner` learns decoded documents and strings
of a framing (`cut_strings`) alike, and gives a `TextOf`, which finds the text of a
chunk that is like the last one. ``intake`` asks for that only where it holds: the wire
must say so (`Wire.again`), and framing must hold nothing back.

Nothing is guessed. The wire names the places of the text, those of which it reads
nothing (``obfuscation``, ``sequence_number``, ids), and one whose object it reads again
in every chunk (``usageMetadata``, `Aside`); all others must be equal, numbers and truth
values of the same type, too: false is not 0, and 0.0 is no index. Which of them vary is
seen where a chunk differs from the one before; they are few, so a string is compared in
few pieces.

Where a wire tells its blocks apart by numbers, a string is expected as soon as the next
block has begun (`Wire.expects`): as the last one of such a block was, in this stream or
in one before, with the new number in it. What needs no chunk of its own stream before
it is the business of `recalled_strings`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.records import hot
from stream_sidecar.stream.cut_strings import (
    Cuts,
    TextOf,
    cut_string,
    is_right,
    slots_of,
)
from stream_sidecar.values.paths import values_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from stream_sidecar.parts import Again, Aside, DocumentPlace


@hot
class Learned:
    """How to read a chunk without reading it: ``text_of`` finds its text (where that
    is None, a string is its text), ``again`` says what that gives. ``expected``: no
    such chunk has come yet, but others that differ in a number."""

    text_of: TextOf | None
    again: Again
    expected: bool = False


_LONGEST = 4096
"""Code points of a string that is remembered when its stream is over."""

_DEEPEST = 8
"""Levels of a document that is learned; no text of a delta stands deeper."""

_RESTLESS = frozenset(("sequence_number", "obfuscation", "p"))
"""Names of values that are others in every chunk."""


class Learner:
    """``learn`` a chunk; it remembers of the one before what helps with the next.

    ``limit``: code points that a document may have. ``reads(string)`` is the document
    that framing reads, if it reads one and holds nothing back. ``cuts`` are those of
    the strings that were learned, in other streams, too.
    """

    def __init__(self, limit: int, reads: Callable[[str], Any], cuts: Cuts) -> None:
        self._limit = limit
        self._reads = reads
        self._cuts = cuts
        self._before: Any = None  # the document that was learned before
        self._varying: set[DocumentPlace] = set()

    def learn(self, chunk: object, document: Any, again: Again) -> TextOf | None:
        """For chunks like ``chunk``, which is read as ``document``."""
        texts = [value for _, value in values_at(document, again.texts)]
        text = texts[0] if texts else None
        if not text or type(text) is not str or texts.count(text) < len(texts):
            return None
        try:
            return self._learn(chunk, document, text, again)
        except (RecursionError, ValueError):
            return None  # it is nested as deep as hardly anything that reads it can

    def recall(self, again: Again) -> TextOf | None:
        """For strings like those that were learned last with such texts, but for the
        number that they have."""
        known, numbered = self._cuts.get(again.texts), again.number
        return known.renumbered(numbered, self._limit) if known and numbered else None

    def _learn(
        self, chunk: object, document: Any, text: str, again: Again
    ) -> TextOf | None:
        known = self._cuts.get(again.texts)
        if known and known.fits(again) and known.text_of(chunk) == text:
            return known.text_of
        free = self._free(document, again.unread)
        if type(chunk) is dict:
            return alike_object(document, again.texts, free, again.told)
        if isinstance(chunk, str):
            slots = slots_of(chunk, text, again, free)
            if slots and is_right(chunk, slots, self._reads, document):
                cut = cut_string(chunk, slots, again, self._limit)
                if len(chunk) <= _LONGEST:
                    self._cuts[again.texts] = cut
                return cut.text_of
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
            return dict(values_at(document, restless))
        values, known = (
            dict(values_at(document, unread)),
            dict(values_at(before, unread)),
        )
        for place, value in values.items():
            if place[-1] in _RESTLESS or known.get(place, value) != value:
                self._varying.add(place)
        return {place: values[place] for place in values if place in self._varying}


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
