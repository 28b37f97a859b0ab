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

    found: StoredMessage
    inspection: Inspection
    repair: Repair
    place: JsonSpan | None = None
    leaks: tuple[Leak, ...] = ()
    stays: str | None = None

    @property
    def fixable(self) -> list[Leak]:
        return [leak for leak in self.leaks if leak.stays is None]

    def changes(self, unit: SessionUnit, leak: Leak | None = None) -> list[Change]:
        """The changes of the text of ``unit`` that fix ``leak``, or all leaks if it is
        None."""
        if leak is not None:
            return [leak.change]
        if unit.is_plain:
            return [(each.start, each.end, each.new_text) for each in self.repair.edits]
        return changes_of(unit.text, [(self.found, self.repair)])


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
    whether a seal comes after it. ``links``: of a line, what it continues, and whether
    it has a seal."""

    units: dict[tuple[str, int, bool], SessionUnit] = field(factory=dict)
    messages: dict[
        tuple[str, str | None, str | None, int, float], tuple[Inspection, Repair]
    ] = field(factory=dict)
    links: dict[str, tuple[Any, bool]] = field(factory=dict)


class SessionDocument:
    """A document that is read again after each change. After ``read``, ``units`` has
    the result. ``inspected`` is the number of messages that the engine has inspected so
    far. ``surroundings``: the files around the document, if it is a file."""

    def __init__(
        self,
        options: StreamOptions,
        reading: str,
        surroundings: SurroundingFiles | None = None,
        kinds: frozenset[str] | None = None,
    ) -> None:
        self.units: list[PlacedUnit] = []
        self.inspected = 0
        self._options = options
        self._reading = reading
        self._surroundings = surroundings
        self._kinds = kinds
        self._memory = _Memory()

    def read(self, text: DocumentText) -> Iterator[tuple[int, int]]:
        """Reads ``text``. After each message, yields two numbers: the code points read
        so far, and all code points. A reading that is stopped changes nothing."""
        history, new = History(self._options, kinds=self._kinds), _Memory()
        units: list[PlacedUnit] = []
        total = len(text.text)
        pieces = [(s, end, text.text[s:end]) for s, end in self._pieces(text)]
        before_seals = RecordsBeforeSeals()
        if self._reading == LINES and may_have_seal(text.text):
            for _, _, line in pieces:
                self._link(line, before_seals, new)
                yield 0, total
        for number, (start, end, unit_text) in enumerate(pieces):
            is_bound = before_seals.has(number)
            key = (unit_text, history.state, is_bound)
            unit = self._memory.units.get(key)
            if unit is None:
                unit = self._unit(unit_text)
                for read in self._inspect(unit_text, history, new, is_bound=is_bound):
                    unit = read
                    yield start, total
            else:
                history.learn(unit.results)
                yield end, total
            new.units[key] = unit
            units.append(PlacedUnit(start, unit, unit.is_pointed_at))
        if self._reading == LINES and self._is_pointed_into(text.text, units):
            units = [evolve(each, keeps_length=True) for each in units]
        self.units, self._memory = units, new

    def _link(self, line: str, before: RecordsBeforeSeals, new: _Memory) -> None:
        """Adds a line of a log to those ``before`` a bound seal of another line."""
        known = self._memory.links.get(line)
        if known is None:
            document, found = self._found(line)
            model = self._options.model
            is_sealed = any(seals_of(each, model) for each in found)
            known = (links_of(document), is_sealed)
        new.links[line] = known
        before.add(known[0], is_sealed=known[1])

    def _is_pointed_into(self, text: str, units: list[PlacedUnit]) -> bool:
        """Whether something points into the document by byte offsets: the document or a
        file beside it says so. False if the answer makes no difference: nothing is to
        be cut, or all units keep their length."""
        leaking = (m for each in units for m in each.unit.messages if m.fixable)
        if next(leaking, None) is None or all(each.keeps_length for each in units):
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

    def _unit(
        self,
        text: str,
        messages: tuple[SessionMessage, ...] = (),
        results: tuple[object, ...] = (),
    ) -> SessionUnit:
        return SessionUnit(text, self._reading == CHAT_LOG, messages, results)

    def _inspect(
        self, text: str, history: History, new: _Memory, *, is_bound: bool
    ) -> Iterator[SessionUnit]:
        """Yields an empty unit after each inspected message, and the complete unit at
        the end. ``is_bound``: a later unit has a seal."""
        messages: list[SessionMessage] = []
        results: list[object] = []
        document, read = self._found(text)
        all_found = [*read]
        model, surroundings = self._options.model, self._surroundings
        is_bound = is_bound or (
            self._reading == WHOLE
            and surroundings is not None
            and surroundings.is_before_seal(document, model)
        )
        bound = BoundTexts(all_found, model, lambda: is_bound)
        for number, found in enumerate(all_found):
            until = bound.until(number)
            messages.append(self._message(found, history, new, until))
            results += found.results
            yield self._unit(text)
        if self._reading == CHAT_LOG:
            yield self._unit(text, tuple(_placed_plain(text, messages)), tuple(results))
            return
        messages = [self._sealed(each, document) for each in messages]
        unit = self._unit(text, tuple(_placed(text, messages)), tuple(results))
        yield evolve(unit, is_pointed_at=is_pointed_at(document))

    def _found(self, text: str) -> tuple[Any, Iterable[StoredMessage]]:
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

    def _sealed(self, message: SessionMessage, document: Any) -> SessionMessage:
        """``message``; with the reason in ``stays`` if a hash elsewhere covers its
        text."""
        if not message.repair.changed:
            return message
        paths = edited_in(message.found, message.repair)
        seal = seal_of if self._surroundings is None else self._surroundings.seal
        return evolve(message, stays=seal(document, paths))

    def _message(
        self, found: StoredMessage, history: History, new: _Memory, until: float
    ) -> SessionMessage:
        shape = found.shape.name if found.shape is not None else None
        key = (dumps(found.message), shape, found.model, history.state, until)
        known = self._memory.messages.get(key) or new.messages.get(key)
        if known is None:
            examined = history.examine(found, lambda: until)
            known = examined.inspection(), examined.repair()
            self.inspected += 1
        else:
            history.learn(found.results)
        new.messages[key] = known
        stays = _BLOCKED if known[1].blocked else None
        return SessionMessage(found, *known, stays=stays)


def _placed(text: str, messages: list[SessionMessage]) -> Iterator[SessionMessage]:
    """The messages, with the places in ``text`` of those that have findings."""
    malformed = [each for each in messages if each.inspection.malformed]
    findings = [(each.found, each.inspection.findings) for each in malformed]
    spans = iter(spans_of(text, findings))
    paths = [each.found.path for each in malformed]
    places = locate(text, paths) if malformed else {}
    for message in messages:
        if not message.inspection.malformed:
            yield message
            continue
        cuts = _cuts_alone(text, message)
        leaks = []
        for finding, span in zip(message.inspection.findings, next(spans), strict=True):
            start, end = cuts.get(finding.path, span)
            change = (start, end, _new(finding, text[start:end]))
            leaks.append(_leak(message, finding, span, change))
        yield evolve(message, place=places[message.found.path].span, leaks=tuple(leaks))


def _new(finding: Finding, written: str) -> str:
    """The text that replaces a finding; ``written``: as the document has it."""
    return halves_replaced(written) if finding.kind == SURROGATE else ""


def _leak(
    message: SessionMessage, finding: Finding, span: JsonSpan, change: Change
) -> Leak:
    place = (finding.path, finding.start, finding.kind)
    bound = {(e.path, e.start, e.kind) for e in message.repair.stays or ()}
    stays = BOUND if place in bound else message.stays
    return Leak(finding, *span, change, stays)


def _cuts_alone(text: str, message: SessionMessage) -> dict[str, Cut]:
    """The path of a finding -> the cut of its whole part, for parts that are removed
    because of this finding alone."""
    counts = Counter(each.path for each in message.repair.removed)
    alone = {
        part: path
        for path, count in counts.items()
        if count == 1
        for part in message.repair.dropped
        if path == part or path.startswith(f"{part}/")
    }
    cuts = drops_of(text, message.found, alone)
    return {path: cuts[part] for part, path in alone.items()}


def _placed_plain(
    text: str, messages: list[SessionMessage]
) -> Iterator[SessionMessage]:
    """The messages of an answer in Markdown. The positions of their findings are
    positions in ``text``."""
    for message in messages:
        leaks = (
            Leak(
                each,
                each.start,
                each.end,
                (each.start, each.end, _new(each, each.text)),
            )
            for each in message.inspection.findings
        )
        yield evolve(message, place=(0, len(text)), leaks=tuple(leaks))


def places_of(unit: SessionUnit) -> Iterator[tuple[SessionMessage, JsonSpan]]:
    """All messages of a unit, with their spans in its text."""
    if unit.is_plain:
        yield from ((message, (0, len(unit.text))) for message in unit.messages)
        return
    paths = [message.found.path for message in unit.messages]
    places = locate(unit.text, paths) if paths else {}  # without any, it may be no JSON
    for message, path in zip(unit.messages, paths, strict=True):
        yield message, places[path].span
