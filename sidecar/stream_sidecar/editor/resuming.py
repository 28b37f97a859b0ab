"""What stands in the way of a session document when it is resumed, for the editor.

`ResumeReading` reads the lines of a log, or a whole document, as records, and remembers
those of unchanged lines. Offsets are code points of the document. This module knows no
LSP types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.history.lengths import is_pointed_at
from stream_sidecar.records import evolve, frozen
from stream_sidecar.resume.edits import text_changes
from stream_sidecar.resume.formats import format_of
from stream_sidecar.resume.halves import RULE as HALVES
from stream_sidecar.resume.halves import halves_sent
from stream_sidecar.resume.images import images_in
from stream_sidecar.resume.records import StoredRecord, outline
from stream_sidecar.resume.sessions import findings_in
from stream_sidecar.resume.wording import record_of
from stream_sidecar.session_files.damage import read_lines
from stream_sidecar.session_files.halves import HALF, Halves
from stream_sidecar.values.json_places import locate
from stream_sidecar.values.jsontext import loads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stream_sidecar.history.cuts import Change
    from stream_sidecar.resume.findings import FileEdit, ResumeFinding
    from stream_sidecar.session_files.damage import Damage


@frozen
class DocumentPiece:
    """A line of a log, or the whole document: its ``text``, and where this begins.
    ``line``: its number, from 1; None for a whole document."""

    start: int
    text: str
    line: int | None = None


@frozen
class Problem:
    """A finding at ``start`` to ``end``. ``record``: the finding as in a report.
    ``changes`` of the document mend it; if there are none, the file cannot."""

    start: int
    end: int
    record: dict[str, Any]
    changes: tuple[Change, ...] = ()


class ResumeReading:
    """The readings of one document. ``kinds``: those that count, None for all."""

    def __init__(self, kinds: frozenset[str] | None = None) -> None:
        self._kinds = kinds
        self._records: dict[str, StoredRecord | None] = {}

    def problems(
        self, pieces: Sequence[DocumentPiece], *, is_session: bool
    ) -> list[Problem]:
        """What was found in the document of ``pieces``. It is a session if it has
        messages (``is_session``), or if its records are those of an agent."""
        self._records = {piece.text: self._record(piece.text) for piece in pieces}
        readable = [piece for piece in pieces if self._records[piece.text]]
        read = filter(None, (self._records[piece.text] for piece in readable))
        records = [
            evolve(record, number=number, place=_place(readable[number]))
            for number, record in enumerate(read)
        ]
        agent = format_of(records)
        if not (is_session or agent):
            return []
        findings = [each for each in findings_in(records) if each.rule != HALVES]
        if agent is not None:  # halves in a model's own text are leaks
            texts = [piece.text for piece in readable]
            findings += halves_sent(_halves(records, texts), records, agent)
        problems = [_problem(finding, readable) for finding in findings]
        problems += self._broken(pieces)
        return [
            problem
            for problem in problems
            if self._kinds is None or problem.record["kind"] in self._kinds
        ]

    def _record(self, text: str) -> StoredRecord | None:
        """The record in a text, without its place; None if it is no JSON."""
        if text in self._records:
            return self._records[text]
        try:
            value = loads(text)
            return StoredRecord(0, outline(value), images=images_in(value))
        except (ValueError, RecursionError):
            return None

    def _broken(self, pieces: Sequence[DocumentPiece]) -> Iterator[Problem]:
        """The lines that are no JSON. A whole document that is none is in work."""
        if all(self._records[p.text] or p.line is None for p in pieces):
            return
        keeps_length = any(r and is_pointed_at(r.value) for r in self._records.values())
        lines = (piece.text.encode("utf-8", "surrogatepass") for piece in pieces)
        for read in read_lines(lines):
            if read.damage is not None and read.damage.look != "bom":
                yield _damaged(read.damage, pieces, keeps_length=keeps_length)


def _halves(
    records: Sequence[StoredRecord], texts: Sequence[str]
) -> Sequence[FileEdit]:
    """The edits that mend the strings with half a character."""
    halves = Halves()
    for record, text in zip(records, texts, strict=True):
        line = text.encode("utf-8", "surrogatepass")
        if HALF.search(line):
            halves.add(record, loads(text), line, None)
    return halves.edits


def _damaged(
    damage: Damage, pieces: Sequence[DocumentPiece], *, keeps_length: bool
) -> Problem:
    """A damaged line, or the lines of one damaged record."""
    first = pieces[damage.line - 1]
    old = damage.data.decode("utf-8", "surrogatepass")
    shown = damage.data[: damage.start].decode("utf-8", "ignore")
    new = damage.mended(keeps_length=keeps_length)
    record = {
        "kind": "broken",
        "message": f"{damage.sentence}.",
        "mend": "none" if new is None else "file",
    }
    changes: tuple[Change, ...] = ()
    if new is not None:
        text = new.decode("utf-8", "surrogatepass")
        changes = ((first.start, first.start + len(old), text),)
    end = first.start + len(old.rstrip("\r\n"))
    return Problem(first.start + len(shown), end, record, changes)


def _problem(finding: ResumeFinding, pieces: Sequence[DocumentPiece]) -> Problem:
    source = finding.source
    piece = pieces[source.record.number]
    path = (*source.record.path, *source.path)
    place = locate(piece.text, [path]).get(path) if path else None
    start, end = piece.start, _end(piece)
    if place is not None:
        start, end = (piece.start + offset for offset in place.span)
    record = record_of(finding)
    return Problem(start, end, record, tuple(_changes(finding, pieces)))


def _changes(
    finding: ResumeFinding, pieces: Sequence[DocumentPiece]
) -> Iterator[Change]:
    """The edits of a finding, which may be of several records."""
    for number in sorted({edit.source.record.number for edit in finding.edits}):
        edits = [e for e in finding.edits if e.source.record.number == number]
        piece = pieces[number]
        for start, end, new in text_changes(piece.text, edits):
            yield piece.start + start, piece.start + end, new


def _place(piece: DocumentPiece) -> dict[str, int]:
    return {} if piece.line is None else {"line": piece.line}


def _end(piece: DocumentPiece) -> int:
    """Where a piece ends, without its line break."""
    return piece.start + len(piece.text.rstrip("\r\n"))
