"""The report of a session file: each removal, and the file as a whole."""

from __future__ import annotations

from collections import Counter
from itertools import zip_longest
from typing import IO, TYPE_CHECKING, Any

from stream_sidecar.history.bound import BOUND
from stream_sidecar.history.paths import at, path_of
from stream_sidecar.history.repair_counts import RepairCounts, counters_of
from stream_sidecar.records import define, evolve, field
from stream_sidecar.values.jsontext import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from stream_sidecar.history.messages import StoredMessage
    from stream_sidecar.history.repair_counts import ModelRepairCounters
    from stream_sidecar.history.results import Repair
    from stream_sidecar.resume.findings import Remedy, ResumeKind

_REASONS = 16
_OTHERS = "other reasons"
"""So many reasons are counted apart; the names in them come from files."""

_FINDINGS = ("refused", "left_out", "broken", "mendable", "in_flight")
"""The counters of what stands in the way of a session."""

_CONTEXT = 60
"""Code points around a removal that are reported with it."""


@define
class FileReport:
    """The report of one file. ``error``: why it was left alone. ``backup``: where the
    old file is. ``stopped``: the run ended before this file was done, and the file is
    as it was. ``writers_unknown``: the file was replaced, and the system did not say
    whether another program had it open for writing.

    ``unreadable`` counts lines and cells that are not JSON, ``left``, by reason, what
    was not read. ``kept`` counts, by reason, those of the ``changed`` messages that
    stay, ``bound`` the messages with a text to which a seal is bound, ``unsealed`` the
    seals that were taken out. ``refused``, ``left_out`` and ``broken`` count the
    findings of these kinds, ``mendable`` those of them that an edit of the file mends,
    ``in_flight`` those that a request mends. ``resumes``: the command of the agent that
    resumes the session, "" if unknown. ``piece``: the file belongs to a store of many
    files and may have no text of a model.
    """

    path: str
    format: str = ""
    messages: int = 0
    changed: int = 0
    blocked: int = 0
    bound: int = 0
    unsealed: int = 0
    refused: int = 0
    left_out: int = 0
    broken: int = 0
    mendable: int = 0
    in_flight: int = 0
    resumes: str = ""
    unreadable: int = 0
    left: Counter[str] = field(factory=Counter)
    kept: Counter[str] = field(factory=Counter)
    piece: bool = False
    removed: dict[str, int] = field(factory=dict)
    models: list[ModelRepairCounters] = field(factory=list)
    written: bool = False
    backup: str | None = None
    error: str | None = None
    stopped: bool = False
    writers_unknown: bool = False

    @property
    def leaking(self) -> int:
        """Messages from which something has to be removed."""
        return self.changed + self.blocked

    @property
    def repairable(self) -> int:
        """Messages from which something can be removed."""
        return self.changed - sum(self.kept.values())

    @property
    def in_the_way(self) -> int:
        """Findings that stand in the way of the session when it is resumed."""
        return self.refused + self.left_out + self.broken

    @property
    def unrecognised(self) -> bool:
        """Whether no message of a model was found where there should be one."""
        silent = self.error is None and not (self.stopped or self.in_the_way)
        return silent and not (self.messages or self.piece or self.left)

    def leave(self, reason: str) -> None:
        """Counts something that was not read."""
        if reason not in self.left and len(self.left) >= _REASONS:
            reason = _OTHERS
        self.left[reason] += 1

    def keep(self, reason: str) -> None:
        """Counts a message that stays."""
        self.kept[reason] += 1

    def find(self, kind: ResumeKind, mend: Remedy) -> None:
        """Counts a finding that stands in the way of the session."""
        name = kind.replace("-", "_")
        setattr(self, name, getattr(self, name) + 1)
        self.mendable += mend == "file"
        self.in_flight += mend == "request"


def record_writer(records: IO[bytes] | None) -> Callable[[dict[str, Any]], None] | None:
    """A function that writes a removal as a line of JSON to ``records``."""
    if records is None:
        return None
    write = records.write

    def write_record(record: dict[str, Any]) -> None:
        write(encode(record) + b"\n")

    return write_record


class Tally:
    """Counts into a `FileReport`, and calls ``record`` with every removal."""

    def __init__(
        self, report: FileReport, record: Callable[[dict[str, Any]], None] | None
    ) -> None:
        self.report = report
        self._record = record
        self._counts = RepairCounts()

    @property
    def wants_records(self) -> bool:
        """Whether somebody wants the removals and their places."""
        return self._record is not None

    def add(
        self,
        place: dict[str, Any],
        message: StoredMessage,
        repair: Repair,
        spans: Sequence[dict[str, int]] = (),
    ) -> None:
        """Counts the repair of one message. ``place`` is where in the file the message
        is, ``spans`` the exact place of each removal."""
        if not message.fields:
            return
        if repair.bound:
            self.report.bound += 1
            if not (repair.changed or repair.blocked):
                self.report.keep(BOUND)
        leaking = evolve(
            repair,
            changed=not repair.blocked and bool(repair.leaks),
            removed=repair.leaks,
        )
        self._counts.add(counters_of(leaking, message.provider, message.model))
        if self._record is not None:
            for record, span in zip_longest(_records(message, repair), spans):
                location = {"file": self.report.path, **place, **(span or {})}
                self._record({**location, **record})

    def find(
        self,
        finding: dict[str, Any],
        wants: Callable[[dict[str, Any]], bool] | None = None,
    ) -> bool:
        """Counts what stands in the way of the session: an object as in a report, but
        for its file. Whether an edit of the file mends it, if there is one and it is
        wanted."""
        record = {"file": self.report.path, **finding}
        if self._record is not None:
            self._record(record)
        is_mended = record["mend"] == "file" and (wants is None or wants(record))
        is_kept = record["mend"] == "file" and not is_mended
        self.report.find(record["kind"], "none" if is_kept else record["mend"])
        return is_mended

    def include(self, part: FileReport) -> None:
        """Adds the numbers of a part of the file that was read elsewhere."""
        for counters in part.models:
            self._counts.add(counters)
        self.report.unreadable += part.unreadable
        self.report.left.update(part.left)
        self.report.kept.update(part.kept)
        self.report.bound += part.bound
        self.report.unsealed += part.unsealed
        for name in _FINDINGS:
            total = getattr(self.report, name) + getattr(part, name)
            setattr(self.report, name, total)
        self.report.resumes = self.report.resumes or part.resumes
        self.report.piece = self.report.piece or part.piece

    def finish(self) -> FileReport:
        total, report = self._counts.total(), self.report
        report.messages, report.changed = total.messages, total.changed
        report.blocked, report.removed = total.blocked, total.removed
        report.models = total.by_model
        return report


def _records(message: StoredMessage, repair: Repair) -> Iterator[dict[str, Any]]:
    """The removals of one message, each with the text around it."""
    pointer = "".join(f"/{name}" for name in message.path)
    model = {"model": message.model} if message.model else {}
    bound = repair.stays or ()
    for removal in repair.leaks:
        text = at(message.message, path_of(removal.path, message.message))
        start, end = removal.start, removal.end
        yield {
            "message": pointer,
            "path": removal.path,
            "kind": removal.kind,
            "start": start,
            "end": end,
            "text": removal.text,
            "before": text[max(start - _CONTEXT, 0) : start],
            "after": text[end : end + _CONTEXT],
            **({"bound": True} if removal in bound else {}),
            **model,
        }
    if repair.blocked:
        yield {"message": pointer, "kind": "blocked", "text": "", **model}
