"""A session of text as its agent would resume it: what stands in its way, and what
mends the file.

The file is read before it is repaired, line by line: its damaged lines are reported
(`damage`), and the outlines of its records are judged (`resume`) as they are after the
mends of damaged lines. The places of the findings, and the changes that mend them, are
then looked up in the lines that have some. Only sessions of a known agent are looked
at, and lists of plain messages, which may belong to anybody: their damaged lines stay.
"""

from __future__ import annotations

import shlex
from io import BytesIO
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

from stream_sidecar.history.lengths import is_pointed_at
from stream_sidecar.history.paths import at
from stream_sidecar.history.shapes import is_piece
from stream_sidecar.records import define, field, frozen
from stream_sidecar.resume.formats import format_of
from stream_sidecar.resume.halves import RULE, halves_sent
from stream_sidecar.resume.images import images_in, may_have_image
from stream_sidecar.resume.records import StoredRecord, outline
from stream_sidecar.resume.sessions import findings_in
from stream_sidecar.session_files import size_limits
from stream_sidecar.session_files.documents import decoded
from stream_sidecar.session_files.halves import HALF, Halves
from stream_sidecar.session_files.judgement import Judgement, PlacedRecord
from stream_sidecar.session_files.mends import LineMend
from stream_sidecar.session_files.packing import unpack_zstd
from stream_sidecar.session_files.stored_lines import StoredDocument, StoredLines
from stream_sidecar.values.jsontext import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stream_sidecar.resume.formats import AgentFormat
    from stream_sidecar.session_files.damage import Damage, ReadLine
    from stream_sidecar.session_files.reports import Tally
    from stream_sidecar.session_files.surrounding_files import SurroundingFiles

_HEAD = 256
"""So many lines say whose session it is."""

_MOST = 1 << 25
"""The most bytes of the outlines of a session, as JSON."""

_ANYBODYS = "messages"
"""The name of the format of plain messages."""


@frozen
class Resumption:
    """How a session is looked at. ``check`` is called for each line, and raises if the
    run has to end. ``kinds``: the kinds of findings that count, None for all.
    ``wants``: whether a finding, given as in a report, is mended."""

    tally: Tally
    surroundings: SurroundingFiles
    check: Callable[[], None]
    kinds: frozenset[str] | None = None
    wants: Callable[[dict[str, Any]], bool] | None = None

    def mends_of(self, file: IO[bytes], format: str) -> dict[int, LineMend]:
        """The mends of a file by line; of a whole document, that of line 1. The file is
        at its beginning, before and afterwards."""
        try:
            if format == "jsonl":
                return self._look(StoredLines(file))
            if format == "jsonl.zst":
                packed = size_limits.read_whole(file)
                return self._look(StoredLines(BytesIO(unpack_zstd(packed))))
            if format == "json":
                return self._look(StoredDocument(size_limits.read_whole(file)))
        except ValueError:  # of a frame that is none
            pass
        finally:
            file.seek(0)
        return {}

    def _look(self, stored: StoredLines | StoredDocument) -> dict[int, LineMend]:
        head = [read.value for read in islice(stored.read(), _HEAD)]
        records = [StoredRecord(n, value) for n, value in enumerate(head)]
        agent = format_of(records)
        if agent is None or (stored.by_line and _is_dataset(agent, head)):
            return {}
        if not stored.by_line and is_piece(head[0], self.surroundings.role):
            return {}  # a session has many such files
        session = _Session(self, agent, stored, any(map(is_pointed_at, head)))
        for read in stored.read():
            self.check()
            session.add(read)
        return session.judged()

    def find(self, finding: dict[str, Any]) -> bool:
        """Counts a finding, if it is of a chosen kind; whether the file is mended."""
        if self.kinds is not None and finding["kind"] not in self.kinds:
            return False
        return self.tally.find(finding, self.wants)


def _is_dataset(agent: AgentFormat, lines: list[Any]) -> bool:
    """Whether a line is a whole conversation, as in a dataset."""
    return agent.name == _ANYBODYS and any(
        isinstance(line, list) or (isinstance(line, dict) and "messages" in line)
        for line in lines
    )


@define
class _Session:
    """The records of a session, and the mends of its damaged lines. ``keeps_length``:
    its agent's other files point into it."""

    resumption: Resumption
    agent: AgentFormat
    stored: StoredLines | StoredDocument
    keeps_length: bool
    records: list[PlacedRecord] = field(factory=list)
    mends: dict[int, LineMend] = field(factory=dict)
    halves: Halves = field(factory=Halves)
    size: int = 0

    def add(self, read: ReadLine) -> None:
        damage = read.damage
        if damage is None or damage.look == "bom":
            if damage is not None and self._mends(damage, b""):
                self.mends[read.number] = LineMend(changes=((0, 1, ""),))
            self._add([read.data], read.number)
        elif self.agent.name != _ANYBODYS:
            new = self._mended(damage)
            if self._mends(damage, new) and new is not None:
                count = damage.data.count(b"\n") + (not damage.data.endswith(b"\n"))
                self.mends[read.number] = LineMend(new=new, count=count)
                lines = [*BytesIO(new)] if self.stored.by_line else [new]
                self._add(lines, read.number)

    def _mended(self, damage: Damage) -> bytes | None:
        if not self.stored.by_line:
            return damage.data.rstrip(b"\0")
        is_fixed = self.keeps_length or self.resumption.surroundings.is_pointed_into()
        return damage.mended(keeps_length=is_fixed)

    def _mends(self, damage: Damage, new: bytes | None) -> bool:
        """Reports the damage; whether ``new`` takes its place."""
        if self.agent.name == _ANYBODYS:
            return False
        message, mend = f"{damage.message}.", "none" if new is None else "file"
        if mend == "file" and (seal := self.resumption.surroundings.seal(None, [])):
            message, mend = f"{message} It stays: {seal}.", "none"
        finding = {"kind": "broken", **damage.place, "message": message, "mend": mend}
        return self.resumption.find(finding)

    def _add(self, lines: list[bytes], number: int) -> None:
        for piece, line in enumerate(lines):
            if line.isspace() or self.size > _MOST:
                continue
            try:
                value = decoded(line)
                short = outline(value)
            except (ValueError, RecursionError):
                continue
            self.size += len(encode(short))
            place = {"line": number} if self.stored.by_line else {}
            images = images_in(value) if may_have_image(line) else ()
            record = StoredRecord(len(self.records), short, place, images=images)
            self.records.append(PlacedRecord(record, number, piece))
            if HALF.search(line):
                self.halves.add(record, value, line, self.resumption.surroundings.role)

    def judged(self) -> dict[int, LineMend]:
        """Reports what stands in the way of the session: all mends of its lines."""
        report = self.resumption.tally.report
        if self.size > _MOST:
            error = size_limits.too_large("what it would send:", _MOST)
            report.leave(str(error))
            return self.mends
        records = [placed.record for placed in self.records]
        found = [each for each in findings_in(records) if each.rule != RULE]
        found += halves_sent(self.halves.edits, records, self.agent)
        if not found:
            return self.mends
        if id := _session_id(records):
            report.resumes = self.agent.resumes.format(id=shlex.quote(id))
        found.sort(key=lambda finding: finding.source.record.number)
        judgement = Judgement(
            find=self.resumption.find,
            check=self.resumption.check,
            seal=self.resumption.surroundings.seal,
            stored=self.stored,
            records=self.records,
            mends=self.mends,
        )
        return judgement.of(found)


_IDS = ("sessionId", "session_id")
"""Members of a record that have the id of its session."""


def _session_id(records: Sequence[StoredRecord]) -> str:
    """The id that the last record with one has: a fork begins with records of its
    parent. "" if no record has one."""
    ids = (at(each.value, (name,)) for each in reversed(records) for name in _IDS)
    return next((id for id in ids if isinstance(id, str)), "")
