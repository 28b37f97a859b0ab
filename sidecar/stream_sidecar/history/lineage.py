"""Records of a log in the order in which its agent sends them: what continues what.

A log is a list of records, but its conversations may be a tree: a record may name its
parent. `RecordsBeforeSeals` says which records a later seal is bound to, and
`RecordsAfterEdits` which seals an edit breaks. Pure.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from stream_sidecar.history.paths import at

if TYPE_CHECKING:
    from stream_sidecar.parts import Json

_OF_PARENT = (b'"parentUuid"', b'"parentId"')
_LINKS = (("uuid", "parentUuid"), ("id", "parentId"))
"""The names of a record's id and of its parent's: Claude Code's, pi's."""

_OF_LINKS = (
    *(name for pair in _LINKS for name in pair),
    "logicalParentUuid",
    "compactMetadata",
)

_KEEPING = frozenset(("preservedSegment", "preservedMessages"))
"""A summary with one of these is sent before the last messages that came before it."""


class Lineage:
    """Which record of a log a record continues: its parent, if it names one, else the
    record before it. Logs with names of parents have several branches."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._last_number = -1

    def parent_of(self, number: int, record: Json) -> int:
        """The number of the record that ``record`` continues; -1: it continues none.
        All records have to be given, in their order."""
        previous, self._last_number = self._last_number, number
        if not isinstance(record, dict):
            return previous
        for name, link in _LINKS:
            id = record.get(name)
            if isinstance(id, str) and link in record:
                self._numbers[id] = number
                parent = record[link]
                # What Claude Code notes where it put a summary in place of messages.
                summary = record.get("compactMetadata")
                members = summary if isinstance(summary, dict) else ()
                if parent is None and _KEEPING.isdisjoint(members):
                    return -1
                parent = parent or record.get("logicalParentUuid")
                return self._numbers.get(str(parent), previous)
        return previous


def links_of(record: Json) -> Json:
    """``record`` with what `RecordsBeforeSeals` reads of it."""
    if not isinstance(record, dict):
        return None
    links = {name: record[name] for name in _OF_LINKS if name in record}
    return {**links, "message": {"id": answer_of(record)}}


def answer_of(record: Json) -> str | None:
    """The id of the answer that the record's block belongs to. If an answer has several
    calls at once, Claude Code keeps its records on several branches, and sends all of
    them."""
    id = at(record, ("message", "id"))
    return id if isinstance(id, str) else None


class RecordsBeforeSeals:
    """Which records come before a bound seal. ``add`` gets all, in their order."""

    def __init__(self) -> None:
        self._lineage = Lineage()
        self._parents = array("q")
        self._before = bytearray()
        self._answers: dict[int, str] = {}
        self._blocks: dict[str, list[int]] = {}

    def add(self, record: Json, *, is_sealed: bool) -> None:
        number, answer = len(self._before), answer_of(record)
        parent = self._lineage.parent_of(number, record)
        self._parents.append(parent)
        self._before.append(0)
        if answer is not None:
            self._answers[number] = answer
            if self._answers.get(parent) == answer:
                self._blocks.setdefault(answer, []).append(number)
        waiting = [parent] if is_sealed else []
        while waiting:
            number = waiting.pop()
            if number < 0:
                continue
            if (other := self._answers.get(number)) not in (None, answer):
                waiting += self._blocks.pop(str(other), ())
            if not self._before[number]:
                self._before[number] = 1
                waiting.append(self._parents[number])

    def has(self, number: int) -> bool:
        """Whether a seal is bound to the record with this number, counted from 0."""
        return number < len(self._before) and bool(self._before[number])


class RecordsAfterEdits:
    """Which records of a log come after an edit of another record."""

    def __init__(self) -> None:
        self._lineage = Lineage()
        self._after: set[int] = set()
        self._first: dict[str, int] = {}

    def add(self, number: int, record: Json) -> bool:
        """Whether the next record comes after an edit."""
        is_after = self._lineage.parent_of(number, record) in self._after
        if is_after:
            self._after.add(number)
        if (answer := answer_of(record)) is not None:
            self._first.setdefault(answer, number)
        return is_after

    def edited(self, number: int, record: Json) -> None:
        """Notes that the record with this number was edited. What continues a record
        since the first block of its answer comes after the edit, too."""
        answer = answer_of(record) or ""
        self._after.update(range(self._first.get(answer, number), number + 1))
        self._first[answer] = number


def names_parent(line: bytes) -> bool:
    return any(each in line for each in _OF_PARENT)
