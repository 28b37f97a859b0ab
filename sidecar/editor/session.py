"""A session document as the editor needs it: what leaked, where, and how to cut it.

`SessionDocument` reads a text step by step, so that others have their turn and a newer
text can end it. What was read of a line or a message is remembered, and only what has
changed is inspected again. Offsets are code points of the document. Knows no LSP types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from sidecar.history.documents import cuts_of, messages_in, path_of
from sidecar.history.history import History
from sidecar.history.messages import results_of
from sidecar.values.json_places import locate, offsets
from sidecar.values.jsontext import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sidecar.editor.text import DocumentText
    from sidecar.history.documents import Cut, FoundMessage
    from sidecar.history.results import Finding, Inspection, Repair
    from sidecar.options import StreamOptions
    from sidecar.values.json_places import Path, Place

_BOM = "\ufeff"


@frozen
class Leak:
    """A finding at ``start`` to ``end`` of its unit's text."""

    finding: Finding
    start: int
    end: int


@frozen
class SessionMessage:
    """A message of a unit, at ``place`` of its text when it has leaks."""

    found: FoundMessage
    inspection: Inspection
    repair: Repair
    place: Place | None = None
    leaks: tuple[Leak, ...] = ()

    def cuts(self, text: str, leak: Leak | None = None) -> list[Cut]:
        """Where its unit's ``text`` is to be cut: everywhere, or for one leak."""
        repair = self.repair if leak is None else _only(self.repair, leak.finding)
        return cuts_of(text, [(self.found, repair)])


@frozen
class SessionUnit:
    """A JSON text of its own, a line or the document. ``results``: of tools in it."""

    text: str
    messages: tuple[SessionMessage, ...] = ()
    results: tuple[object, ...] = ()


@frozen
class PlacedUnit:
    """A unit in its document."""

    start: int
    unit: SessionUnit


@frozen
class _Memory:
    """What was read before. The keys are all that a reading depends on: the text of a
    unit or a message, its model, and the state of the session before it."""

    units: dict[tuple[str, int], SessionUnit] = field(factory=dict)
    messages: dict[tuple[str, str | None, int], tuple[Inspection, Repair]] = field(
        factory=dict
    )


class SessionDocument:
    """``read`` a text; then ``units`` has what was found. ``inspected`` counts the
    messages that the engine was asked for, since the beginning."""

    def __init__(self, options: StreamOptions, *, by_line: bool) -> None:
        self.units: list[PlacedUnit] = []
        self.inspected = 0
        self._options = options
        self._by_line = by_line
        self._memory = _Memory()

    def read(self, text: DocumentText) -> Iterator[tuple[int, int]]:
        """Reads a document; gives how many code points of it are done, and of how many,
        between two messages. A reading that is not finished changes nothing."""
        history, new = History(self._options), _Memory()
        units: list[PlacedUnit] = []
        total = len(text.text)
        for start, end in self._pieces(text):
            unit_text = text.text[start:end]
            unit = self._memory.units.get((unit_text, history.state))
            key = (unit_text, history.state)
            if unit is None:
                unit = SessionUnit(unit_text)
                for read in self._inspect(unit_text, history, new):
                    unit = read
                    yield start, total
            else:
                history.learn(unit.results)
                yield end, total
            new.units[key] = unit
            units.append(PlacedUnit(start, unit))
        self.units, self._memory = units, new

    def _pieces(self, text: DocumentText) -> Iterator[Place]:
        """Where the units are: the lines that are not blank, or the whole document, in
        both cases without the byte order mark."""
        bom = len(_BOM) if text.text.startswith(_BOM) else 0
        if not self._by_line:
            yield bom, len(text.text)
            return
        for number in range(text.lines):
            start, end = text.line(number)
            start = max(start, bom)
            if text.text[start:end].strip():
                yield start, end

    def _inspect(
        self, text: str, history: History, new: _Memory
    ) -> Iterator[SessionUnit]:
        """A unit as far as it has been inspected."""
        try:
            document = loads(text)
        except (ValueError, RecursionError):
            return
        messages: list[SessionMessage] = []
        results: list[object] = []
        for found in messages_in(document):
            messages.append(self._message(found, history, new))
            results += results_of(found.message)
            yield SessionUnit(text)
        yield SessionUnit(text, tuple(_placed(text, messages)), tuple(results))

    def _message(
        self, found: FoundMessage, history: History, new: _Memory
    ) -> SessionMessage:
        key = (dumps(found.message), found.model, history.state)
        known = self._memory.messages.get(key) or new.messages.get(key)
        if known is None:
            known = history.examine(found.message, found.model)
            self.inspected += 1
        else:
            history.learn(results_of(found.message))
        new.messages[key] = known
        return SessionMessage(found, *known)


def _placed(text: str, messages: list[SessionMessage]) -> Iterator[SessionMessage]:
    """The messages, those with findings with their places in ``text``."""
    malformed = [each for each in messages if each.inspection.malformed]
    paths = {id(each): _paths(each) for each in malformed}
    wanted = (path for inner in paths.values() for path in inner.values())
    places = locate(text, wanted) if malformed else {}
    for message in messages:
        if (inner := paths.get(id(message))) is None:
            yield message
            continue
        leaks = []
        for each in message.inspection.findings:
            start = places[inner[each.path]][0]
            leaks.append(Leak(each, *offsets(text, start, (each.start, each.end))))
        yield evolve(message, place=places[inner[""]], leaks=tuple(leaks))


def _paths(message: SessionMessage) -> dict[str, Path]:
    """The paths in the document of a message and of the texts with findings."""
    found = message.found
    inner = {
        each.path: (*found.path, *path_of(each.path, found.message))
        for each in message.inspection.findings
    }
    return {"": found.path, **inner}


def places_of(unit: SessionUnit) -> dict[Path, Place]:
    """Where all messages of a unit are."""
    paths = [message.found.path for message in unit.messages]
    return locate(unit.text, paths) if paths else {}  # without, it may be no JSON


def _only(repair: Repair, finding: Finding) -> Repair:
    """The part of a repair that is about one finding."""
    edits = [
        evolve(
            edit,
            start=finding.start,
            end=finding.end,
            start_utf16=finding.start_utf16,
            end_utf16=finding.end_utf16,
        )
        for edit in repair.edits
        if edit.path == finding.path and edit.start <= finding.start < edit.end
    ]
    alone = sum(each.path == finding.path for each in repair.removed) == 1
    part = finding.path.removesuffix("/text")
    gone = [path for path in repair.dropped if alone and path in (part, finding.path)]
    return evolve(repair, edits=edits, dropped=gone)
