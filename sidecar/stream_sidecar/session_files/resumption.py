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
from stream_sidecar.resume.records import Outlines, StoredRecord
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
    from stream_sidecar.values.json_places import Path as JsonPath

_HEAD = 4096
"""So many lines are read to find out whose session it is. One record is enough, but an
agent may write others first."""

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
        agent, value = _agent_of(stored)
        if agent is None:
            return {}
        if not stored.by_line and is_piece(value, self.surroundings.role):
            return {}  # a session has many such files
        session = _Session(self, agent, stored, is_pointed_at(value))
        for read in stored.read():
            self.check()
            session.add(read)
        return session.judged()

    def find(self, finding: dict[str, Any]) -> bool:
        """Counts a finding, if it is of a chosen kind; whether the file is mended."""
        if self.kinds is not None and finding["kind"] not in self.kinds:
            return False
        return self.tally.find(finding, self.wants)


def _agent_of(stored: StoredLines | StoredDocument) -> tuple[AgentFormat | None, Any]:
    """The agent that wrote the session, and the record that says so. Plain messages are
    anybody's only if no record is of an agent. A line that is a whole conversation is
    of a dataset."""
    anybodys: tuple[AgentFormat | None, Any] = None, None
    for read in islice(stored.read(), _HEAD):
        agent = format_of((StoredRecord(0, read.value),))
        if agent is not None and agent.name != _ANYBODYS:
            return agent, read.value
        if agent is not None and stored.by_line and _is_conversation(read.value):
            return None, None
        if agent is not None and anybodys[0] is None:
            anybodys = agent, read.value
    return anybodys


def _is_conversation(line: Any) -> bool:
    return isinstance(line, list) or "messages" in line


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
    outlines: Outlines = field(init=False)
    size: int = 0

    def __attrs_post_init__(self) -> None:
        self.outlines = Outlines(self.agent.reads)

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
        if damage.look == "nul" and not self.stored.by_line:
            return damage.data.rstrip(b"\0")
        if damage.look == "cut" and not self.stored.by_line:
            return None
        is_fixed = self.keeps_length or self.resumption.surroundings.is_pointed_into()
        return damage.mended(keeps_length=is_fixed)

    def _mends(self, damage: Damage, new: bytes | None) -> bool:
        """Reports the damage; whether ``new`` takes its place."""
        if self.agent.name == _ANYBODYS:
            return False
        said = damage.sentence if new is None else damage.message
        message, mend = f"{said}.", "none" if new is None else "file"
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
                short = self.outlines.of(value)
            except (ValueError, RecursionError):
                continue
            self.size += len(encode(short))
            if self.size > _MOST:
                self.records.clear()
                self.halves = Halves()
                continue
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
        found = [each for each in findings_in(records, self.agent) if each.rule != RULE]
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


_IDS = (("sessionId",), ("session_id",))
"""Where records have the id of their session. A fork begins with records of its parent,
so the last one counts."""

_HEADS: dict[str, tuple[JsonPath, ...]] = {
    "session_meta": (("payload", "session_id"), ("payload", "id")),  # Codex
    "session": (("id",),),  # pi
    "session.start": (("data", "sessionId"),),  # Copilot CLI
}
"""The type of the record that begins a session -> where it has the id. In a fork, the
parent's comes later."""


def _session_id(records: Sequence[StoredRecord]) -> str:
    """The id of a session; "" if no record has one."""
    values = [each.value for each in records if isinstance(each.value, dict)]
    heads = (each for each in values if each.get("type") in _HEADS)
    ids = [at(head, path) for head in heads for path in _HEADS[head["type"]]]
    ids += [at(each, path) for each in reversed(values) for path in _IDS]
    return next((id for id in ids if isinstance(id, str)), "")
