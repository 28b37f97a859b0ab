"""Sessions as JSON: one document a line, or one document a file.

A JSONL file is read line by line and may be larger than the memory; a JSON file is read
whole. Lines that are not JSON stay as they are and are counted.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Protocol, TypeAlias

from sidecar.history.documents import cuts_of, messages_in, spliced
from sidecar.values.jsontext import loads

if TYPE_CHECKING:
    from collections.abc import Callable

    from sidecar.history.documents import FoundMessage
    from sidecar.history.history import History
    from sidecar.history.results import Repair
    from sidecar.session_files.reports import Tally

Advance: TypeAlias = "Callable[[int], None]"
"""Is told how many more bytes have been read."""


class Output(Protocol):
    """Takes a file's content in its order: what stays, and what stands in its place."""

    def keep(self, data: bytes) -> None: ...

    def change(self, data: bytes) -> None: ...


_BOM = "\ufeff"


def repair_lines(
    file: IO[bytes], history: History, tally: Tally, new: Output, advance: Advance
) -> None:
    """Repairs a JSONL file into ``new``."""
    for number, line in enumerate(file, 1):
        _repair(line, {"line": number}, history, tally, new)
        advance(len(line))


def repair_whole(
    file: IO[bytes], history: History, tally: Tally, new: Output, advance: Advance
) -> None:
    """Repairs a JSON file into ``new``."""
    data = file.read()
    _repair(data, {}, history, tally, new)
    advance(len(data))


def _repair(
    data: bytes,
    place: dict[str, int],
    history: History,
    tally: Tally,
    new: Output,
) -> None:
    if data.isspace() or not data:
        new.keep(data)
        return
    try:
        text = data.decode("utf-8")
        repairs = repairs_of(text, history)
    except (ValueError, RecursionError):
        tally.report.unreadable += 1
        new.keep(data)
        return
    for found, repair in repairs:
        tally.add(place, found, repair)
    if any(repair.changed for _, repair in repairs):
        new.change(repaired(text, repairs).encode("utf-8"))
    else:
        new.keep(data)


def repairs_of(text: str, history: History) -> list[tuple[FoundMessage, Repair]]:
    """The messages of a document with their repairs; ValueError: it is not JSON."""
    document = loads(text.removeprefix(_BOM))
    return [
        (found, history.repair(found.message, found.model))
        for found in messages_in(document)
    ]


def repaired(text: str, repairs: list[tuple[FoundMessage, Repair]]) -> str:
    """``text`` with the repairs of its messages; nothing else of it changes."""
    bom = _BOM if text.startswith(_BOM) else ""
    body = text.removeprefix(_BOM)
    changes = [(found, repair) for found, repair in repairs if repair.changed]
    return bom + spliced(body, cuts_of(body, changes))
