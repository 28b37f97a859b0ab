"""The findings of a session in its file: their places, and the changes that mend it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from stream_sidecar.history.cuts import spliced
from stream_sidecar.records import evolve, frozen
from stream_sidecar.resume.edits import text_changes
from stream_sidecar.resume.wording import record_of
from stream_sidecar.session_files.documents import Lines, decoded
from stream_sidecar.session_files.mends import UNMENDED
from stream_sidecar.values.json_places import locate

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from stream_sidecar.history.cuts import Change
    from stream_sidecar.resume.findings import FileEdit, ResumeFinding
    from stream_sidecar.resume.records import StoredRecord
    from stream_sidecar.session_files.documents import Seal
    from stream_sidecar.session_files.mends import LineMend
    from stream_sidecar.session_files.stored_lines import StoredDocument, StoredLines
    from stream_sidecar.values.json_places import Path

_BOM = "\ufeff"
_HALVES = "surrogatepass"


@frozen
class PlacedRecord:
    """A ``record`` in a line, or in the lines that take the place of a damaged one:
    then ``piece`` is the number of its line there, from 0."""

    record: StoredRecord
    line: int
    piece: int


@frozen
class Judgement:
    """Reports findings, and adds their edits to the ``mends`` of a session. ``find``
    counts a finding, which is given as in a report, and says whether it is mended;
    ``check`` raises if the run has to end; ``seal`` says why strings of a document are
    not edited."""

    find: Callable[[dict[str, Any]], bool]
    check: Callable[[], None]
    seal: Seal
    stored: StoredLines | StoredDocument
    records: Sequence[PlacedRecord]
    mends: dict[int, LineMend]

    def of(self, findings: Sequence[ResumeFinding]) -> dict[int, LineMend]:
        """The mends of all lines. A finding with an edit in text that a hash protects
        is not mended."""
        places = self._places(findings)
        wanted: list[FileEdit] = []
        for finding, (span, seal) in zip(findings, places, strict=True):
            record = {**finding.source.record.place, **span, **record_of(finding)}
            if seal:
                record["mend"] = "none"
                record["message"] = f"{finding.message} It stays: {seal}."
            if self.find(record):
                wanted += finding.edits
        return {**self.mends, **dict(self._edited(wanted))}

    def _places(
        self, findings: Sequence[ResumeFinding]
    ) -> list[tuple[dict[str, int], str]]:
        """For each finding its span in the file, and why its edits are not made."""
        spans: list[dict[str, int]] = [{} for _ in findings]
        seals = ["" for _ in findings]
        found: dict[int, list[int]] = defaultdict(list)
        for number, finding in enumerate(findings):
            sources = (finding.source, *(edit.source for edit in finding.edits))
            for record in {source.record.number for source in sources}:
                found[record].append(number)
        for placed, text in self._texts(found):
            here = {number: findings[number] for number in found[placed.record.number]}
            reasons = self._seals(placed, text, here)
            for number, reason in reasons.items():
                seals[number] = seals[number] or reason
            if placed.line not in self.mends or self.mends[placed.line].new is None:
                for number, span in _spans(placed, text, here):
                    spans[number] = span
        return list(zip(spans, seals, strict=True))

    def _seals(
        self, placed: PlacedRecord, text: str, findings: dict[int, ResumeFinding]
    ) -> dict[int, str]:
        """Why the edits of the findings in a record are not made."""
        reasons: dict[int, str] = {}
        document: Any = None
        for number, finding in findings.items():
            paths = [e.source.path for e in finding.edits if _is_in(e, placed)]
            if paths:
                document = document or decoded(text.encode("utf-8", _HALVES))
                if reason := self.seal(document, paths):
                    reasons[number] = reason
        return reasons

    def _edited(self, edits: Sequence[FileEdit]) -> Iterator[tuple[int, LineMend]]:
        """The mends of the lines with ``edits``, which their earlier mends are in."""
        by_record: dict[int, list[FileEdit]] = defaultdict(list)
        for edit in edits:
            by_record[edit.source.record.number].append(edit)
        mends = dict(self.mends)
        for placed, text in self._texts(by_record):
            changes = changes_in(text, by_record[placed.record.number])
            mend = mends.get(placed.line, UNMENDED)
            if mend.new is None:
                mend = evolve(mend, changes=(*mend.changes, *changes))
            else:
                lines = mend.lines(b"")
                new = spliced(text, changes).encode("utf-8", _HALVES)
                lines[placed.piece] = new
                mend = evolve(mend, new=b"".join(lines))
            mends[placed.line] = mend
            yield placed.line, mend

    def _texts(self, numbers: Collection[int]) -> Iterator[tuple[PlacedRecord, str]]:
        """The records with these ``numbers``, and their text in the file."""
        by_line: dict[int, list[PlacedRecord]] = defaultdict(list)
        for placed in self.records:
            if placed.record.number in numbers:
                by_line[placed.line].append(placed)
        for line, data, mend in self.stored.mended(self.mends):
            self.check()
            if line in by_line:
                texts = mend.lines(data) if self.stored.by_line else [mend.new or data]
                for placed in by_line[line]:
                    yield placed, texts[placed.piece].decode("utf-8", _HALVES)


def _is_in(edit: FileEdit, placed: PlacedRecord) -> bool:
    return edit.source.record.number == placed.record.number


def _spans(
    placed: PlacedRecord, text: str, findings: dict[int, ResumeFinding]
) -> Iterator[tuple[int, dict[str, int]]]:
    """The spans of the findings that are in a record."""
    paths = {
        number: finding.source.path
        for number, finding in findings.items()
        if finding.source.record.number == placed.record.number and finding.source.path
    }
    bom = text.startswith(_BOM)
    places = locate(text[bom:], paths.values())
    lines = Lines(text, placed.line)
    for number, path in paths.items():
        if path in places:
            start, end = places[path].span
            yield number, lines.span(start + bom, end + bom)


def changes_in(text: str, edits: Sequence[FileEdit]) -> list[Change]:
    """The changes of a record's text. An edit inside a value that another edit replaces
    is not made."""
    paths = {edit.source.path for edit in edits}
    outer = [edit for edit in edits if not _is_inside(edit.source.path, paths)]
    bom = text.startswith(_BOM)
    changes = text_changes(text[bom:], outer)
    return [(start + bom, end + bom, new) for start, end, new in changes]


def _is_inside(path: Path, others: Collection[Path]) -> bool:
    return any(path[:end] in others for end in range(len(path)))
