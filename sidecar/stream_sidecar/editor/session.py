"""A session document for the editor: what leaked, where, and how to cut it.

`SessionDocument` reads a text step by step, so that other tasks can run in between and
a newer text can stop the reading. It remembers the result for each line and message,
and inspects only what has changed. Offsets are code points of the document. This module
knows no LSP types.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from attrs import evolve

from stream_sidecar.editor.resuming import DocumentPiece, ResumeReading
from stream_sidecar.history.bound import BOUND, BoundTexts
from stream_sidecar.history.chat_logs import answers_in, message_of
from stream_sidecar.history.cuts import (
    changes_of,
    drops_of,
    edited_in,
    halves_replaced,
    spans_of,
)
from stream_sidecar.history.digests import seal_of
from stream_sidecar.history.documents import messages_in
from stream_sidecar.history.history import History
from stream_sidecar.history.lengths import is_pointed_at, says_offsets
from stream_sidecar.history.lineage import RecordsBeforeSeals, links_of
from stream_sidecar.history.results import SURROGATE
from stream_sidecar.history.signed_blocks import may_have_seal, seals_of
from stream_sidecar.records import field, frozen
from stream_sidecar.values.json_places import locate
from stream_sidecar.values.jsontext import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stream_sidecar.editor.resuming import Problem
    from stream_sidecar.editor.text import DocumentText
    from stream_sidecar.history.cuts import Change, Cut
    from stream_sidecar.history.messages import StoredMessage
    from stream_sidecar.history.results import Finding, Inspection, Repair
    from stream_sidecar.options import StreamOptions
    from stream_sidecar.session_files.surrounding_files import SurroundingFiles
    from stream_sidecar.values.json_places import JsonSpan

_BOM = "\ufeff"

LINES, WHOLE, CHAT_LOG = "lines", "whole", "chat log"
"""How a document is read: one JSON text for each line, one JSON text as a whole, or a
chat log in Markdown, as aider writes it."""

_BLOCKED = "nothing else would be left of the message"


@frozen
class Leak:
    """A finding at ``start`` to ``end`` of the text of its `SessionUnit`. The
    ``change`` fixes it. ``stays``: the reason why it may not be removed, or None."""

    finding: Finding
    start: int
    end: int
    change: Change
    stays: str | None = None


@frozen
class SessionMessage:
    """A message of a `SessionUnit`. ``place``: the span of the message in the unit's
    text; None if nothing leaked. ``stays``: the reason why nothing may be removed from
    the message, or None."""

    message: StoredMessage
    inspection: Inspection
    repair: Repair
    place: JsonSpan | None = None
    leaks: tuple[Leak, ...] = ()
    stays: str | None = None

    @property
    def fixable(self) -> list[Leak]:
        return [leak for leak in self.leaks if leak.stays is None]

    def changes(self, unit: SessionUnit, leak: Leak | None = None) -> list[Change]:
        """The changes of the text of ``unit`` that fix ``leak``, or all leaks."""
        if leak is not None:
            return [leak.change]
        if unit.is_plain:
            return [(edit.start, edit.end, edit.new_text) for edit in self.repair.edits]
        return changes_of(unit.text, [(self.message, self.repair)])


@frozen
class SessionUnit:
    """A text that is read as one: a line, the whole document, or an answer in a chat
    log. ``is_plain``: it is Markdown; other units are JSON. ``results``: the tool
    results in it. ``is_pointed_at``: it is a line of a log into which something else
    points by byte offsets."""

    text: str
    is_plain: bool
    messages: tuple[SessionMessage, ...] = ()
    results: tuple[object, ...] = ()
    is_pointed_at: bool = False


@frozen
class PlacedUnit:
    """A unit at ``start`` of its document. ``keeps_length``: blanks replace what is
    cut, so that the unit has as many bytes as before."""

    start: int
    unit: SessionUnit
    keeps_length: bool = False

    def place_of(self, leak: Leak) -> Cut:
        """The span in the document of ``leak``, a leak of this unit."""
        return self.start + leak.start, self.start + leak.end


@frozen
class _Memory:
    """Earlier results. A key has everything that a result depends on: the text of the
    unit or message, its shape and model, the state of the session before it, and
    whether a seal follows. ``links``: what a line continues, whether it has a seal."""

    units: dict[tuple[str, int, bool], SessionUnit] = field(factory=dict)
    messages: dict[
        tuple[str, str | None, str | None, int, float], tuple[Inspection, Repair]
    ] = field(factory=dict)
    links: dict[str, tuple[Any, bool]] = field(factory=dict)


class SessionDocument:
    """A document that is read again after each change. After ``read``, ``units`` has
    the result, and ``problems`` what stands in the way of the session when it is
    resumed. ``inspected`` is the number of messages that the engine has inspected so
    far. ``surroundings``: the files around the document, if it is a file."""

    def __init__(
        self,
        options: StreamOptions,
        reading: str,
        surroundings: SurroundingFiles | None = None,
        kinds: frozenset[str] | None = None,
    ) -> None:
        self.units: list[PlacedUnit] = []
        self.problems: list[Problem] = []
        self.inspected = 0
        self._options = options
        self._reading = reading
        self._surroundings = surroundings
        self._kinds = kinds
        self._resuming = ResumeReading(kinds)
        self._memory = _Memory()

    def read(self, text: DocumentText) -> Iterator[tuple[int, int]]:
        """Reads ``text``. After each message, yields two numbers: the code points read
        so far, and all code points. A reading that is stopped changes nothing."""
        history, memory = History(self._options, kinds=self._kinds), _Memory()
        units: list[PlacedUnit] = []
        total = len(text.text)
        pieces = [(s, end, text.text[s:end]) for s, end in self._pieces(text)]
        before_seals = RecordsBeforeSeals()
        if self._reading == LINES and may_have_seal(text.text):
            for _, _, line in pieces:
                link = self._memory.links.get(line)
                if link is None:
                    document, messages = self._messages_in(line)
                    model = self._options.model
                    is_sealed = any(seals_of(message, model) for message in messages)
                    link = (links_of(document), is_sealed)
                memory.links[line] = link
                before_seals.add(link[0], is_sealed=link[1])
                yield 0, total
        for number, (start, end, unit_text) in enumerate(pieces):
            is_bound = before_seals.has(number)
            key = (unit_text, history.state, is_bound)
            unit = self._memory.units.get(key)
            if unit is None:
                unit = SessionUnit(unit_text, self._reading == CHAT_LOG)
                steps = self._inspect(unit_text, history, memory, is_bound=is_bound)
                for step in steps:
                    unit = step
                    yield start, total
            else:
                history.learn(unit.results)
                yield end, total
            memory.units[key] = unit
            units.append(PlacedUnit(start, unit, unit.is_pointed_at))
        if self._reading == LINES and self._is_pointed_into(text.text, units):
            units = [evolve(unit, keeps_length=True) for unit in units]
        self.problems = self._problems(text, pieces, units)
        self.units, self._memory = units, memory

    def _problems(
        self,
        text: DocumentText,
        pieces: list[tuple[int, int, str]],
        units: list[PlacedUnit],
    ) -> list[Problem]:
        if self._reading == CHAT_LOG:
            return []
        by_line = self._reading == LINES
        points = text.points(start for start, _, _ in pieces)
        placed = [
            DocumentPiece(start, piece, number + 1 if by_line else None)
            for (start, _, piece), (number, _) in zip(pieces, points, strict=True)
        ]
        is_session = any(unit.unit.messages for unit in units)
        return self._resuming.problems(placed, is_session=is_session)

    def _is_pointed_into(self, text: str, units: list[PlacedUnit]) -> bool:
        """Whether something points into the document by byte offsets: the document or a
        file beside it says so. False if the answer makes no difference: nothing is to
        be cut, or all units keep their length."""
        fixable = any(m.fixable for placed in units for m in placed.unit.messages)
        if not fixable or all(placed.keeps_length for placed in units):
            return False
        if says_offsets(text.encode("utf-8", "surrogatepass")):
            return True
        return self._surroundings is not None and self._surroundings.is_pointed_into()

    def _pieces(self, text: DocumentText) -> Iterator[JsonSpan]:
        """The spans of the units: the answers of a chat log, the lines that are not
        blank, or the whole document. A byte order mark before JSON is in no span."""
        if self._reading == CHAT_LOG:
            yield from answers_in(text.text)
            return
        bom = len(_BOM) if text.text.startswith(_BOM) else 0
        if self._reading == WHOLE:
            yield bom, len(text.text)
            return
        for number in range(text.lines):
            start, end = text.line(number)
            start = max(start, bom)
            if text.text[start:end].strip():
                yield start, end

    def _inspect(
        self, text: str, history: History, memory: _Memory, *, is_bound: bool
    ) -> Iterator[SessionUnit]:
        """Yields an empty unit after each inspected message, and the complete unit at
        the end. ``is_bound``: a later unit has a seal."""
        messages: list[SessionMessage] = []
        results: list[object] = []
        is_plain = self._reading == CHAT_LOG
        document, iterator = self._messages_in(text)
        stored_messages = [*iterator]
        model, surroundings = self._options.model, self._surroundings
        is_bound = is_bound or (
            self._reading == WHOLE
            and surroundings is not None
            and surroundings.is_before_seal(document, model)
        )
        bound = BoundTexts(stored_messages, model, lambda: is_bound)
        for number, stored in enumerate(stored_messages):
            until = bound.until(number)
            messages.append(self._message(stored, history, memory, until))
            results += stored.results
            yield SessionUnit(text, is_plain)
        if is_plain:
            placed = tuple(_placed_plain(text, messages))
            yield SessionUnit(text, is_plain, placed, tuple(results))
            return
        seal = seal_of if surroundings is None else surroundings.seal
        for number, message in enumerate(messages):
            if message.repair.changed:  # unless a hash elsewhere covers its text
                paths = edited_in(message.message, message.repair)
                messages[number] = evolve(message, stays=seal(document, paths))
        placed, is_target = tuple(_placed(text, messages)), is_pointed_at(document)
        yield SessionUnit(text, is_plain, placed, tuple(results), is_target)

    def _messages_in(self, text: str) -> tuple[Any, Iterable[StoredMessage]]:
        """The decoded document of a unit, and its messages. The document is None if the
        unit is Markdown or not JSON."""
        if self._reading == CHAT_LOG:
            return None, [message_of(text)]
        try:
            document = loads(text)
        except (ValueError, RecursionError):
            return None, ()
        role = None if self._surroundings is None else self._surroundings.role
        return document, messages_in(document, role)

    def _message(
        self, message: StoredMessage, history: History, memory: _Memory, until: float
    ) -> SessionMessage:
        shape = message.shape.name if message.shape is not None else None
        key = (dumps(message.message), shape, message.model, history.state, until)
        findings = self._memory.messages.get(key) or memory.messages.get(key)
        if findings is None:
            examined = history.examine(message, lambda: until)
            findings = examined.inspection(), examined.repair()
            self.inspected += 1
        else:
            history.learn(message.results)
        memory.messages[key] = findings
        stays = _BLOCKED if findings[1].blocked else None
        return SessionMessage(message, *findings, stays=stays)


def _placed(text: str, messages: list[SessionMessage]) -> Iterator[SessionMessage]:
    """The messages, with the places in ``text`` of those that have findings."""
    malformed = [message for message in messages if message.inspection.malformed]
    findings = [(each.message, each.inspection.findings) for each in malformed]
    spans = iter(spans_of(text, findings))
    paths = [message.message.path for message in malformed]
    places = locate(text, paths) if malformed else {}
    for message in messages:
        if not message.inspection.malformed:
            yield message
            continue
        cuts = _cuts_alone(text, message)
        leaks = []
        for finding, span in zip(message.inspection.findings, next(spans), strict=True):
            start, end = cuts.get(finding.path, span)
            change = (start, end, _replacement(finding, text[start:end]))
            bound = {(f.path, f.start, f.kind) for f in message.repair.stays or ()}
            is_bound = (finding.path, finding.start, finding.kind) in bound
            stays = BOUND if is_bound else message.stays
            leaks.append(Leak(finding, *span, change, stays))
        place = places[message.message.path].span
        yield evolve(message, place=place, leaks=tuple(leaks))


def _replacement(finding: Finding, text: str) -> str:
    """The text that replaces a finding; ``text``: as the document has it."""
    return halves_replaced(text) if finding.kind == SURROGATE else ""


def _cuts_alone(text: str, message: SessionMessage) -> dict[str, Cut]:
    """The path of a finding -> the cut of its whole part, for parts that are removed
    because of this finding alone."""
    counts = Counter(removal.path for removal in message.repair.removed)
    parts = {
        part: path
        for path, count in counts.items()
        if count == 1
        for part in message.repair.dropped
        if path == part or path.startswith(f"{part}/")
    }
    cuts = drops_of(text, message.message, parts)
    return {path: cuts[part] for part, path in parts.items()}


def _placed_plain(
    text: str, messages: list[SessionMessage]
) -> Iterator[SessionMessage]:
    """The messages of an answer in Markdown. The positions of their findings are
    positions in ``text``."""
    for message in messages:
        leaks = []
        for finding in message.inspection.findings:
            start, end = finding.start, finding.end
            change = (start, end, _replacement(finding, finding.text))
            leaks.append(Leak(finding, start, end, change))
        yield evolve(message, place=(0, len(text)), leaks=tuple(leaks))


def places_of(unit: SessionUnit) -> Iterator[tuple[SessionMessage, JsonSpan]]:
    """All messages of a unit, with their spans in its text."""
    if unit.is_plain:
        yield from ((message, (0, len(unit.text))) for message in unit.messages)
        return
    paths = [message.message.path for message in unit.messages]
    places = locate(unit.text, paths) if paths else {}  # without any, it may be no JSON
    for message, path in zip(unit.messages, paths, strict=True):
        yield message, places[path].span
