"""Stored messages: what is malformed in them, and the messages without it.

`History` goes through one session in its order: ``inspect(item)`` and ``repair(item)``
take any JSON value of a list of messages and give what message/inspect and
message/repair say of it (protocol.md, "message/inspect" and "message/repair"). Nothing
is scanned here: ``reading`` asks the engine. Each message
knows the tool results that came before it in the session.
Never raises for any JSON value. Positions are code points of a text as it is stored, or
UTF-16 units where a name says so.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, TypeAlias

from stream_sidecar.channel.sieve import Sieve
from stream_sidecar.forms.known_results import known_value
from stream_sidecar.history.messages import (
    Text,
    Thought,
    model_of,
    read_message,
    results_of,
)
from stream_sidecar.history.reading import read_text, reading_options, texts_of
from stream_sidecar.history.results import Edit, Finding, Inspection, Removal, Repair
from stream_sidecar.history.shapes import at
from stream_sidecar.history.spans import kept_texts, moved, pieces_of, unlocked, without
from stream_sidecar.records import evolve, frozen
from stream_sidecar.values.absent import ABSENT
from stream_sidecar.values.jsontext import dumps, is_portable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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
"""What a removal leaves is read again, because it may have uncovered something: at most
this often. Nearly always the second reading finds nothing."""

_KNOWN = 256
"""Results of a session that are remembered, the latest."""

_MODELS = 64
"""Models whose sieves are kept."""

_OF_DELIMITERS = frozenset(("reasoning", "delimiter", "tool-call", "marker"))
"""Kinds of removals that say of a text, whoever's it is, that something leaked."""

_BEFORE_JSON = " \t\r\n\ufeff"

_NEW: Any = object()
"""In a tree of paths: what comes in the place of what is there."""

_GONE: Any = object()
"""In place of an item of a list: nothing."""


Wants: TypeAlias = "Callable[[RemovedSpan], bool]"


@frozen
class _Field:
    """One field of a message, read until nothing more goes."""

    texts: list[PlacedText]
    removals: list[Mark]
    readings: list[TextReading]


class Readings:
    """How texts are read by ``options``: made once for each model, and for all sessions
    in which no result of a tool is known yet."""

    def __init__(self, options: StreamOptions) -> None:
        self._options = reading_options(options)
        self._of: dict[str | None, tuple[StreamOptions, Sieve]] = {}

    def of(self, model: str | None) -> tuple[StreamOptions, Sieve]:
        """The options of a ``model``, and what tells whether a text need be read by
        them; None: the model is that of the options."""
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
    """One session; ``options`` are those of its streams.

    A message that names its model is read as that model's. ``wants`` is asked of every
    removal whether it is to be; without it all are. ``known`` are results of tools
    that came before. ``readings`` are those of ``options``, if the caller has them.
    """

    def __init__(
        self,
        options: StreamOptions,
        wants: Wants | None = None,
        known: Iterable[Json] = (),
        readings: Readings | None = None,
    ) -> None:
        self.options = options
        self._wants = wants
        self._readings = readings or Readings(options)
        self._known: deque[Json] = deque(known, maxlen=_KNOWN)
        if self._known:
            self._readings = Readings(_informed(options, self._known))
        #: what is known: equal states, equal answers to equal items
        self.state = 0

    @property
    def known(self) -> tuple[Json, ...]:
        """The results of tools that are known now."""
        return tuple(self._known)

    def inspect(
        self, item: Json, model: str | None = None, shape: RecordShape | None = None
    ) -> Inspection:
        """``model``: what is said of the item's model outside of it; ``shape``: its
        own, where its document tells it."""
        return self.examine(item, model, shape)[0]

    def repair(
        self, item: Json, model: str | None = None, shape: RecordShape | None = None
    ) -> Repair:
        """``model`` and ``shape`` as of `inspect`."""
        return self.examine(item, model, shape)[1]

    def examine(
        self, item: Json, model: str | None, shape: RecordShape | None = None
    ) -> tuple[Inspection, Repair]:
        """Both at once, at the cost of one."""
        stored = read_message(item, shape)
        fields = [] if stored is None else self._fields(stored, model)
        findings = [_finding(piece) for piece in _pieces(fields)]
        inspection = Inspection(bool(findings), findings)
        self.learn(results_of(item))
        reported = item if is_portable(item) else ABSENT
        return inspection, _repaired(reported, stored, fields)

    def repair_found(self, found: FoundMessage) -> Repair:
        """`repair` of a message that is cut in the text of its document: it is not told
        as a value, which costs as much as all the rest."""
        stored = found.stored
        fields = [] if stored is None else self._fields(stored, found.model)
        self.learn(results_of(found.message))
        return _repaired(ABSENT, stored, fields)

    def would_cut(self, text: str) -> bool:
        """Whether a delimiter or what is around it would go if a model had said
        ``text``; nobody is asked."""
        options, sieve = self._readings.of(None)
        if sieve.passes(text):
            return False
        reading = read_text((Text((), text),), options)
        return any(kind in _OF_DELIMITERS for _, _, kind in reading.removals)

    def learn(self, results: Iterable[Json]) -> None:
        """Results of tools; known from now on. Only an object can be an echo."""
        longest = self.options.limits.max_held_chars  # more is never held
        for result in filter(_may_be_object, results):
            text = result if isinstance(result, str) else dumps(result)
            value = known_value(result) if len(text) <= longest else None
            if isinstance(value, dict):
                self._known.append(value)
                self.state = hash((self.state, text))
                self._readings = Readings(_informed(self.options, self._known))

    def _fields(self, stored: Stored, model: str | None) -> list[_Field]:
        options, sieve = self._readings.of(model_of(stored.message) or model)
        return [
            _read(items, options, self._wants, sieve)
            for items in stored.fields
            if not _passes(items, sieve)
        ]


def _may_be_object(result: Json) -> bool:
    """Whether a result of a tool, or the JSON in it, may be an object."""
    if isinstance(result, str):
        return result.lstrip(_BEFORE_JSON).startswith("{")
    return isinstance(result, dict)


def _passes(items: tuple[StoredItem, ...], sieve: Sieve) -> bool:
    """Whether nothing of a field need be read. No border of parts may make a delimiter
    of what is shown, so several count together, too."""
    texts = [item.read for item in items if isinstance(item, Text)]
    whole = ["".join(texts)] if len(texts) > 1 else []
    return all(map(sieve.passes, (*whole, *texts)))


def _informed(options: StreamOptions, known: Iterable[Json]) -> StreamOptions:
    """``options`` with results that are known beside the host's."""
    policy = options.policy
    results = policy.tool_results
    results = evolve(results, known=(*results.known, *known))
    policy = evolve(policy, tool_results=results)
    return evolve(options, policy=policy)


def _repaired(reported: Json, stored: Stored | None, fields: list[_Field]) -> Repair:
    if stored is None or not any(one.removals for one in fields):
        return Repair(False, False, reported)
    texts = _texts(fields)
    if not _speaks(stored, texts):
        return Repair(False, True, reported)
    gone = _emptied(fields, texts)
    new = reported if reported is ABSENT else _rebuilt(reported, texts, gone)
    return _repair(fields, gone, new)


def _read(
    items: tuple[StoredItem, ...],
    options: StreamOptions,
    wants: Wants | None,
    sieve: Sieve,
) -> _Field:
    """Reads a field, and again what is left of it, until nothing goes any more, or
    nothing could: mostly that is known without a second reading."""
    whole = texts_of(items)
    choice = _Choice(whole, wants)
    readings: list[TextReading] = []
    kept = [(start, end) for start, end, _ in whole]
    removed: list[Mark] = []
    while len(readings) < _ROUNDS:
        left = _shortened(items, whole, kept) if readings else items
        if readings and _passes(left, sieve):
            break
        reading = read_text(left, options)
        cut = choice.of(unlocked(moved(reading.removals, kept), whole))
        if not cut:
            break
        readings.append(reading)
        removed += cut
        kept = without(kept, cut)
    return _Field(whole, sorted(removed), readings)


class _Choice:
    """Which removals of a field are to be. What stays once stays in every reading."""

    def __init__(self, whole: list[PlacedText], wants: Wants | None) -> None:
        self._whole, self._wants = whole, wants
        self._kept: list[Mark] = []

    def of(self, removals: list[Mark]) -> list[Mark]:
        """The ``removals`` that are wanted."""
        if self._wants is None:
            return removals
        new = self._new(removals)
        pieces = pieces_of(new, self._whole)
        wanted = [self._wants(piece) for piece in pieces]
        refused = [mark for mark, want in zip(new, wanted, strict=True) if not want]
        self._kept = sorted([*self._kept, *refused])
        return [mark for mark, want in zip(new, wanted, strict=True) if want]

    def _new(self, removals: list[Mark]) -> list[Mark]:
        """The ``removals`` that touch nothing that stays; all are sorted."""
        found, number, kept = [], 0, self._kept
        for mark in removals:
            while number < len(kept) and kept[number][1] <= mark[0]:
                number += 1
            if number == len(kept) or kept[number][0] >= mark[1]:
                found.append(mark)
        return found


def _shortened(
    items: tuple[StoredItem, ...],
    whole: list[PlacedText],
    kept: list[Span],
) -> tuple[StoredItem, ...]:
    """The items with what is kept of their texts."""
    texts = iter(kept_texts(whole, kept))
    return tuple(
        evolve(item, text=next(texts)) if isinstance(item, Text) else item
        for item in items
    )


# What it says


def _pieces(fields: list[_Field]) -> list[RemovedSpan]:
    return [each for one in fields for each in pieces_of(one.removals, one.texts)]


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
        cut = {piece.text.path for piece in pieces_of(one.removals, one.texts)}
        kept = without([(start, end) for start, end, _ in one.texts], one.removals)
        news = kept_texts(one.texts, kept)
        for new, (_, _, text) in zip(news, one.texts, strict=True):
            if text.path in cut:
                texts[text.path] = new
    return texts


def _emptied(fields: list[_Field], texts: dict[Path, str]) -> list[Path]:
    """The parts that the new texts leave empty."""
    whole = [text for one in fields for _, _, text in one.texts]
    return [text.part for text in whole if text.part and texts.get(text.path) == ""]


def _speaks(stored: Stored, texts: dict[Path, str]) -> bool:
    """Whether text, a call or another part is left in every field that changes."""
    changed = (
        items
        for items in stored.fields
        if any(isinstance(item, Text) and item.path in texts for item in items)
    )
    return all(any(_is_left(item, texts) for item in items) for items in changed)


def _is_left(item: StoredItem, texts: dict[Path, str]) -> bool:
    """Whether an item is something to go by: reasoning in a field of its own is not."""
    if isinstance(item, Text):
        return bool(texts.get(item.path, item.text).strip())
    return not (isinstance(item, Thought) and item.beside)


def _rebuilt(message: Json, texts: dict[Path, str], gone: list[Path]) -> Json:
    """A copy of the message with new texts and without the parts that are gone; what
    holds none of them is the same object."""
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
    pieces = _pieces(fields)
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
    """Removals that touch are one edit."""
    joined: list[Edit] = []
    for piece in pieces:
        path = pointer(piece.text.path)
        start, start_utf16 = piece.start, piece.start_utf16
        if joined and (joined[-1].path, joined[-1].end) == (path, start):
            last = joined.pop()
            start, start_utf16 = last.start, last.start_utf16
        joined.append(Edit(path, start, piece.end, start_utf16, piece.end_utf16, ""))
    return joined
