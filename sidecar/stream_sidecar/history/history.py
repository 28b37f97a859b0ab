"""Stored messages: what is malformed in them, and the messages without it.

`History` reads the messages of one session in their order. ``inspect(item)`` and
``repair(item)`` accept any JSON value and return the results of message/inspect and
message/repair (protocol.md, "message/inspect" and "message/repair"). For each message,
`History` knows the results of tools that came before it in the session. This module
searches no text itself: ``reading`` asks the engine.
Never raises for any JSON value. Positions are code points of a text as it is stored, or
UTF-16 units where a name says so.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from stream_sidecar.channel.sieve import Sieve
from stream_sidecar.forms.known_results import known_value
from stream_sidecar.history.bound import order_of
from stream_sidecar.history.messages import (
    Text,
    Thought,
    model_of,
    read_message,
    results_of,
)
from stream_sidecar.history.reading import read_text, reading_options, texts_of
from stream_sidecar.history.results import (
    SURROGATE,
    Edit,
    Finding,
    Inspection,
    Removal,
    Repair,
)
from stream_sidecar.history.shapes import at
from stream_sidecar.history.spans import (
    halves_in,
    kept_texts,
    moved,
    pieces_of,
    unlocked,
    without,
)
from stream_sidecar.records import evolve, frozen
from stream_sidecar.values.absent import ABSENT
from stream_sidecar.values.jsontext import dumps, is_portable
from stream_sidecar.values.surrogates import has_half, without_halves

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from stream_sidecar.events import Span
    from stream_sidecar.history.documents import FoundMessage
    from stream_sidecar.history.messages import Stored, StoredItem
    from stream_sidecar.history.reading import Mark, TextReading
    from stream_sidecar.history.shapes import RecordShape
    from stream_sidecar.history.spans import PlacedText, RemovedSpan
    from stream_sidecar.options import StreamOptions
    from stream_sidecar.parts import Json
    from stream_sidecar.values.json_places import Path

_ROUNDS = 8
"""At most so many readings of a field. A removal may uncover something, so what is left
is read again. Nearly always the second reading finds nothing."""

_KNOWN = 256
"""How many results of tools a session remembers: the latest."""

_MODELS = 64
"""How many models' options and sieves are kept."""

_OF_DELIMITERS = frozenset(("reasoning", "delimiter", "tool-call", "marker"))
"""Kinds of removals that mean a leak, whoever wrote the text."""

_MADE, _REFUSED, _BOUND = "made", "refused", "bound"

_BEFORE_JSON = " \t\r\n\ufeff"

_NEW: Any = object()
"""In a tree of paths, the key of the value that replaces what is at the path."""

_NO_REPAIR = Repair(False, False, ABSENT)
"""The repair of most messages of a document."""

_GONE: Any = object()
"""The new value of an item that is removed from its list."""


Wants: TypeAlias = "Callable[[RemovedSpan], bool]"

Until: TypeAlias = "Callable[[], float]"
"""Returns the order below which the texts of a message are bound (`bound.BoundTexts`).
It is called only if something has to be removed."""

Judge: TypeAlias = "Callable[[RemovedSpan], str]"


@frozen
class _Field:
    """One field of a message, read until a reading removes nothing more. ``bound``:
    what a bound text keeps; ``halves``: the halves of characters in what is left."""

    texts: list[PlacedText]
    removals: list[Mark]
    readings: list[TextReading]
    bound: list[Mark]
    halves: list[Mark]

    @property
    def made(self) -> list[Mark]:
        """What is removed, and the halves of characters that are replaced."""
        return sorted(self.removals + self.halves)


class Readings:
    """The options and the sieve of each model, made once. All sessions that know no
    result of a tool yet share them."""

    def __init__(self, options: StreamOptions) -> None:
        self._options = reading_options(options)
        self._of: dict[str | None, tuple[StreamOptions, Sieve]] = {}

    def of(self, model: str | None) -> tuple[StreamOptions, Sieve]:
        """The options for ``model``, and the sieve that decides whether a text has to
        be read. ``model`` of None: the model of the options."""
        known = self._of.get(model)
        if known is None:
            if len(self._of) >= _MODELS:  # names come from strangers
                self._of.clear()
            options = self._options
            if model is not None:
                options = evolve(options, model=model)
            known = self._of[model] = (options, Sieve(options))
        return known


class History:
    """The messages of one session, read with ``options``.

    A message that names its model is read as that model's. ``kinds``: the kinds of
    removals that count, None for all. ``wants`` decides for every removal whether it is
    made; without ``wants`` all removals are made. ``known`` are results of tools that
    came before. ``readings`` are those of ``options``, if the caller has them.
    ``learns``: results in the messages are remembered, so that later copies of them are
    found.
    """

    def __init__(
        self,
        options: StreamOptions,
        wants: Wants | None = None,
        known: Iterable[Json] = (),
        readings: Readings | None = None,
        kinds: Collection[str] | None = None,
        *,
        learns: bool = True,
    ) -> None:
        self.options = options
        self._learns = learns
        self._wants, self._kinds = wants, kinds
        self._readings = readings or Readings(options)
        self._known: deque[Json] = deque(known, maxlen=_KNOWN)
        if self._known:
            self._readings = Readings(_informed(options, self._known))
        #: a hash of what is known: equal states give equal results for equal items
        self.state = 0

    @property
    def known(self) -> tuple[Json, ...]:
        """The results of tools that are known so far."""
        return tuple(self._known)

    def inspect(
        self, item: Json, model: str | None = None, shape: RecordShape | None = None
    ) -> Inspection:
        """The findings in ``item``. ``model``: the item's model, if its document names
        it outside of the item; ``shape``: the item's shape, if its document determines
        it."""
        return self.examine(item, model, shape)[0]

    def repair(
        self,
        item: Json,
        model: str | None = None,
        shape: RecordShape | None = None,
        until: Until | None = None,
    ) -> Repair:
        """The repair of ``item``; ``model`` and ``shape`` as in `inspect`. ``until``:
        which of its texts are bound, none without it."""
        return self.examine(item, model, shape, until)[1]

    def examine(
        self,
        item: Json,
        model: str | None,
        shape: RecordShape | None = None,
        until: Until | None = None,
    ) -> tuple[Inspection, Repair]:
        """The results of `inspect` and `repair`, at the cost of one."""
        stored = read_message(item, shape)
        fields = [] if stored is None else self._fields(stored, model, until)
        findings = [_finding(piece) for piece in _found(fields)]
        inspection = Inspection(bool(findings), findings)
        self.learn(results_of(item))
        return inspection, _repaired(item, stored, fields)

    def repair_found(self, found: FoundMessage, until: Until | None = None) -> Repair:
        """The repair of a message that is cut in the text of its document. It has no
        new message: building one costs as much as everything else."""
        stored = found.stored
        fields = [] if stored is None else self._fields(stored, found.model, until)
        self.learn(results_of(found.message))
        return _repaired(ABSENT, stored, fields)

    def would_cut(self, text: str) -> bool:
        """Whether a delimiter, or text that belongs to it, would be removed if a model
        had written ``text``. ``wants`` is not asked."""
        options, sieve = self._readings.of(None)
        if sieve.passes(text):
            return False
        reading = read_text((Text((), text),), options)
        return any(kind in _OF_DELIMITERS for _, _, kind in reading.removals)

    def learn(self, results: Iterable[Json]) -> None:
        """Remembers results of tools for the messages that follow. A result that is not
        an object is ignored, because only an object can be an echo."""
        longest = self.options.limits.max_held_chars  # more is never held
        for result in filter(_may_be_object, results if self._learns else ()):
            text = result if isinstance(result, str) else dumps(result)
            value = known_value(result) if len(text) <= longest else None
            if isinstance(value, dict):
                self._known.append(value)
                self.state = hash((self.state, text))
                self._readings = Readings(_informed(self.options, self._known))

    def _fields(
        self, stored: Stored, model: str | None, until: Until | None
    ) -> list[_Field]:
        options, sieve = self._readings.of(model_of(stored.message) or model)
        decides = (self._wants, self._kinds, until) != (None, None, None)
        verdict = partial(self._verdict, until) if decides else None
        return [
            _read(items, options, verdict, sieve)
            for items in stored.fields
            if not _passes(items, sieve) or _has_halves(items)
        ]

    def _verdict(self, until: Until | None, piece: RemovedSpan) -> str:
        """What becomes of a removal: `_MADE`, `_REFUSED` or `_BOUND`. A provider cannot
        have sealed halves of characters, or blank text alone."""
        if self._kinds is not None and piece.kind not in self._kinds:
            return _REFUSED
        counts = piece.kind != SURROGATE and bool(piece.text.text.strip())
        if counts and until is not None and order_of(piece.text.path) < until():
            return _BOUND
        return _MADE if self._wants is None or self._wants(piece) else _REFUSED


def _may_be_object(result: Json) -> bool:
    """Whether a result of a tool, or the JSON in it, may be an object."""
    if isinstance(result, str):
        return result.lstrip(_BEFORE_JSON).startswith("{")
    return isinstance(result, dict)


def _has_halves(items: tuple[StoredItem, ...]) -> bool:
    """Whether a text that may change has halves of characters."""
    texts = (item for item in items if isinstance(item, Text) and not item.locked)
    return any(not text.text.isascii() and has_half(text.text) for text in texts)


def _passes(items: tuple[StoredItem, ...], sieve: Sieve) -> bool:
    """Whether no text of a field has to be read. Several texts are checked joined, too,
    because a delimiter may begin in one and end in the next."""
    texts = [item.read for item in items if isinstance(item, Text)]
    joined = ["".join(texts)] if len(texts) > 1 else []
    return all(map(sieve.passes, (*joined, *texts)))


def _informed(options: StreamOptions, known: Iterable[Json]) -> StreamOptions:
    """``options`` with the ``known`` results added to those of the host."""
    policy = options.policy
    results = policy.tool_results
    results = evolve(results, known=(*results.known, *known))
    policy = evolve(policy, tool_results=results)
    return evolve(options, policy=policy)


def _repaired(item: Json, stored: Stored | None, fields: list[_Field]) -> Repair:
    """The repair of ``item``, with a new message if that can be written exactly."""
    stays = [_removal(piece) for piece in _pieces(fields, lambda one: one.bound)]
    more: Any = {"bound": True, "stays": stays} if stays else {}
    texts = _texts(fields)
    if stored is None or not texts:
        if item is ABSENT and not stays:
            return _NO_REPAIR
        return Repair(False, False, _portable(item), **more)
    if not _has_content(stored, texts):
        return Repair(False, True, _portable(item), **more)
    gone = _emptied(fields, texts)
    new = item if item is ABSENT else _portable(_rebuilt(item, texts, gone))
    return evolve(_repair(fields, gone, new), **more)


def _portable(item: Json) -> Json:
    """``item``, if it can be written exactly."""
    return item if item is ABSENT or is_portable(item) else ABSENT


def _read(
    items: tuple[StoredItem, ...],
    options: StreamOptions,
    verdict: Judge | None,
    sieve: Sieve,
) -> _Field:
    """Reads a field, and then what is left of it, until a reading removes nothing, or
    the sieve finds nothing to read. Mostly one reading is enough."""
    texts = texts_of(items)
    choice = _Choice(texts, verdict)
    readings: list[TextReading] = []
    kept = [(start, end) for start, end, _ in texts]
    removed: list[Mark] = []
    while len(readings) < _ROUNDS:
        left = _shortened(items, texts, kept) if readings else items
        if readings and _passes(left, sieve):
            break
        reading = read_text(left, options)
        cut = choice.of(unlocked(moved(reading.removals, kept), texts))
        if not cut:
            break
        readings.append(reading)
        removed += cut
        kept = without(kept, cut)
    halves = choice.of(halves_in(texts, kept))
    return _Field(texts, sorted(removed), readings, sorted(choice.bound), halves)


class _Choice:
    """The removals of a field that are made, and those that stay because they are
    ``bound``. What is not made once stays in every later reading."""

    def __init__(self, texts: list[PlacedText], verdict: Judge | None) -> None:
        self._texts, self._verdict = texts, verdict
        self._kept: list[Mark] = []
        self.bound: list[Mark] = []

    def of(self, removals: list[Mark]) -> list[Mark]:
        """The ``removals`` that are made."""
        if self._verdict is None:
            return removals
        new = self._new(removals)
        verdicts = [self._verdict(piece) for piece in pieces_of(new, self._texts)]
        judged = [*zip(new, verdicts, strict=True)]
        refused = [mark for mark, verdict in judged if verdict != _MADE]
        self._kept = sorted([*self._kept, *refused])
        self.bound += [mark for mark, verdict in judged if verdict == _BOUND]
        return [mark for mark, verdict in judged if verdict == _MADE]

    def _new(self, removals: list[Mark]) -> list[Mark]:
        """The ``removals`` that overlap nothing that was refused; all are sorted."""
        found, number, kept = [], 0, self._kept
        for mark in removals:
            while number < len(kept) and kept[number][1] <= mark[0]:
                number += 1
            if number == len(kept) or kept[number][0] >= mark[1]:
                found.append(mark)
        return found


def _shortened(
    items: tuple[StoredItem, ...],
    texts: list[PlacedText],
    kept: list[Span],
) -> tuple[StoredItem, ...]:
    """The items, with the kept pieces of their texts."""
    shorter = iter(kept_texts(texts, kept))
    return tuple(
        evolve(item, text=next(shorter)) if isinstance(item, Text) else item
        for item in items
    )


# Results


def _pieces(
    fields: list[_Field], marks: Callable[[_Field], list[Mark]]
) -> list[RemovedSpan]:
    return [each for one in fields for each in pieces_of(marks(one), one.texts)]


def _made(fields: list[_Field]) -> list[RemovedSpan]:
    """What the repair removes and replaces."""
    return _pieces(fields, lambda one: one.made)


def _found(fields: list[_Field]) -> list[RemovedSpan]:
    """What does not belong in the message, bound or not."""
    return _pieces(fields, lambda one: sorted(one.made + one.bound))


def _finding(piece: RemovedSpan) -> Finding:
    where = (piece.start, piece.end, piece.start_utf16, piece.end_utf16)
    return Finding(piece.kind, pointer(piece.text.path), *where, piece.removed)


def pointer(path: Path) -> str:
    """``path`` as a JSON Pointer (RFC 6901)."""
    names = (str(name).replace("~", "~0").replace("/", "~1") for name in path)
    return "".join(f"/{name}" for name in names)


def _texts(fields: list[_Field]) -> dict[Path, str]:
    """The new texts by path."""
    texts: dict[Path, str] = {}
    for one in fields:
        cut = {piece.text.path for piece in pieces_of(one.made, one.texts)}
        kept = without([(start, end) for start, end, _ in one.texts], one.removals)
        news = kept_texts(_mended(one), kept)
        for new, (_, _, text) in zip(news, one.texts, strict=True):
            if text.path in cut:
                texts[text.path] = new
    return texts


def _mended(one: _Field) -> list[PlacedText]:
    """The texts of a field, with its halves of characters replaced."""
    news = {text.path: [*text.text] for _, _, text in one.texts}
    for piece in pieces_of(one.halves, one.texts):
        news[piece.text.path][piece.start] = without_halves(piece.removed)
    return [
        (start, end, evolve(text, text="".join(news[text.path])))
        for start, end, text in one.texts
    ]


def _emptied(fields: list[_Field], texts: dict[Path, str]) -> list[Path]:
    """The paths of the parts whose new text is empty."""
    stored = [text for one in fields for _, _, text in one.texts]
    return [text.part for text in stored if text.part and texts.get(text.path) == ""]


def _has_content(stored: Stored, texts: dict[Path, str]) -> bool:
    """Whether every field that changes still has text, a call or another part."""
    changed = (
        items
        for items in stored.fields
        if any(isinstance(item, Text) and item.path in texts for item in items)
    )
    return all(any(_is_left(item, texts) for item in items) for items in changed)


def _is_left(item: StoredItem, texts: dict[Path, str]) -> bool:
    """Whether an item is left as content. Blank text and reasoning in a field of its
    own do not count."""
    if isinstance(item, Text):
        return bool(texts.get(item.path, item.text).strip())
    return not (isinstance(item, Thought) and item.beside)


def _rebuilt(message: Json, texts: dict[Path, str], gone: list[Path]) -> Json:
    """A copy of the message with the new texts and without the parts that are gone.
    Values that hold none of these are not copied."""
    tree: dict[Any, Any] = {}
    for path in (*texts, *gone):
        inner = tree
        for name in path:
            inner = inner.setdefault(name, {})
        inner[_NEW] = texts.get(path, _GONE)
    for path in gone:
        at(tree, path)[_NEW] = _GONE
    return _replaced(message, tree)


def _replaced(value: Json, tree: dict[Any, Any]) -> Json:
    if _NEW in tree:
        return tree[_NEW]
    if isinstance(value, dict):
        news = {name: _replaced(value[name], inner) for name, inner in tree.items()}
        return {**value, **news}
    items = (
        _replaced(item, tree[number]) if number in tree else item
        for number, item in enumerate(value)
    )
    return [item for item in items if item is not _GONE]


def _repair(fields: list[_Field], dropped: list[Path], message: Json) -> Repair:
    pieces = _made(fields)
    readings = [reading for one in fields for reading in one.readings]
    return Repair(
        changed=True,
        blocked=False,
        message=message,
        edits=_edits(pieces),
        removed=[_removal(piece) for piece in pieces],
        dropped=[pointer(path) for path in dropped],
        reasoning="".join(text for one in readings for text in one.reasoning) or None,
        tool_results=[each for one in readings for each in one.results] or None,
        tool_calls=[each for one in readings for each in one.calls] or None,
    )


def _removal(piece: RemovedSpan) -> Removal:
    where = (pointer(piece.text.path), piece.start, piece.end)
    return Removal(piece.kind, *where, piece.removed)


def _edits(pieces: list[RemovedSpan]) -> list[Edit]:
    """The removals as edits; removals that touch are one edit, and so are halves of
    characters."""
    joined: list[Edit] = []
    for piece in pieces:
        path = pointer(piece.text.path)
        start, start_utf16 = piece.start, piece.start_utf16
        new = without_halves(piece.removed) if piece.kind == SURROGATE else ""
        last = joined[-1] if joined else None
        touches = last is not None and (last.path, last.end) == (path, start)
        if last is not None and touches and bool(last.new_text) == bool(new):
            joined.pop()
            start, start_utf16 = last.start, last.start_utf16
            new = last.new_text + new
        joined.append(Edit(path, start, piece.end, start_utf16, piece.end_utf16, new))
    return joined
