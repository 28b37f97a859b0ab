"""The sessions of a database as records of the room `resume`, and their mends.

A record is a row: an object of its columns, in which the columns of JSON are decoded.
Each session of the database is judged alone, so one session at a time is in the memory,
as an outline. The edits of a finding are made in its cell; every other byte of the cell
stays.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

from stream_sidecar.history.cuts import spliced
from stream_sidecar.history.paths import pointer_to
from stream_sidecar.records import evolve, frozen
from stream_sidecar.resume.conversation import StoredPlace
from stream_sidecar.resume.edits import text_changes
from stream_sidecar.resume.formats import format_of
from stream_sidecar.resume.halves import RULE as HALF_SURROGATE
from stream_sidecar.resume.halves import halves_sent
from stream_sidecar.resume.images import images_in
from stream_sidecar.resume.records import Outlines, StoredRecord
from stream_sidecar.resume.sessions import findings_in
from stream_sidecar.resume.wording import record_of
from stream_sidecar.session_files import size_limits
from stream_sidecar.session_files.halves import HALF, Halves
from stream_sidecar.session_files.layouts import PRESETS, columns_of, quoted
from stream_sidecar.session_files.replacing import FileChangedError
from stream_sidecar.values.jsontext import loads

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterator, Sequence

    from stream_sidecar.resume.findings import FileEdit, ResumeFinding
    from stream_sidecar.session_files.layouts import TableLayout
    from stream_sidecar.session_files.reports import Tally


@frozen
class SessionTable:
    """A table with records of sessions. ``session``: the column that names the session.
    ``columns``: what is read of it, if the table has it; of these, ``documents`` are
    JSON. ``order``: the columns that its rows are in the order of."""

    name: str
    session: str
    columns: tuple[str, ...]
    documents: tuple[str, ...]
    order: tuple[str, ...] = ()


SESSION_TABLES: dict[str, tuple[SessionTable, ...]] = {
    "opencode": (
        SessionTable("message", "session_id", ("id", "data"), ("data",), ("id",)),
        SessionTable(
            "part", "session_id", ("id", "message_id", "data"), ("data",), ("id",)
        ),
        SessionTable("session", "id", ("revert",), ("revert",)),
    ),
    "goose": (
        SessionTable(
            "messages",
            "session_id",
            ("role", "content_json", "metadata_json"),
            ("content_json", "metadata_json"),
            ("created_timestamp",),
        ),
        SessionTable(
            "sessions",
            "id",
            ("provider_name", "model_config_json"),
            ("model_config_json",),
        ),
    ),
    "crush": (
        SessionTable(
            "messages",
            "session_id",
            ("id", "role", "parts", "model", "provider"),
            ("parts",),
            ("created_at",),
        ),
        SessionTable("sessions", "id", ("summary_message_id",), ()),
    ),
}
"""Name of a layout -> the tables of the agent's store; the first has the messages."""


@frozen
class SessionJudge:
    """Judges the sessions of a database. ``kinds``: the kinds of findings that count,
    None for all. ``wants`` decides for every finding that an edit mends, given as in a
    report, whether it is made."""

    kinds: Collection[str] | None = None
    wants: Callable[[dict[str, Any]], bool] | None = None

    def judge(
        self,
        database: sqlite3.Connection,
        layouts: Sequence[TableLayout],
        tally: Tally,
        *,
        write: bool,
    ) -> bool:
        """Counts the findings in all sessions; True if cells were mended."""
        is_written = False
        for session in sessions_in(database, layouts):
            edits: list[FileEdit] = []
            for finding in session.findings():
                if self.kinds is not None and finding.kind not in self.kinds:
                    continue
                if tally.find(_shown(finding), self.wants):
                    edits.extend(finding.edits)
            if write and edits:
                _mend(database, edits)
                is_written = True
        return is_written


def _shown(finding: ResumeFinding) -> dict[str, Any]:
    """The finding as a report has it. The first step of its path is a column."""
    source = finding.source
    inner = pointer_to(source.path[1:])
    return {**source.record.place, **record_of(finding), "path": inner}


@frozen
class StoredSession:
    """The records of a session in a database. ``halves``: the edits of its strings with
    half a character."""

    records: list[StoredRecord]
    halves: list[FileEdit]

    def findings(self) -> Iterator[ResumeFinding]:
        for finding in findings_in(self.records):
            if finding.rule != HALF_SURROGATE:
                yield finding
        agent = format_of(self.records)
        if agent is not None:
            yield from halves_sent(self.halves, self.records, agent)


def sessions_in(
    database: sqlite3.Connection, layouts: Sequence[TableLayout]
) -> Iterator[StoredSession]:
    """Each session in the stores of known agents."""
    for name, tables in SESSION_TABLES.items():
        if PRESETS[name] not in layouts:
            continue
        table, session = quoted(tables[0].name), quoted(tables[0].session)
        names = f"SELECT DISTINCT {session} FROM {table} WHERE {session} IS NOT NULL"
        for (id,) in database.execute(names).fetchall():
            outlines, halves = Outlines(), Halves()
            records: list[StoredRecord] = []
            for each in tables:
                for row in _rows(database, each, id):
                    records.append(row.record(len(records), outlines))
                    row.add_halves(records[-1], halves)
            yield StoredSession(records, halves.edits)


@frozen
class _Row:
    """A row of a session: its ``place``, the ``columns`` that are no JSON, and the
    values of those that are. A column that is no JSON where it should be is None."""

    place: dict[str, Any]
    columns: dict[str, Any]
    documents: dict[str, Any]
    cells: dict[str, str]

    def record(self, number: int, outlines: Outlines) -> StoredRecord:
        images = (images_in(value, (name,)) for name, value in self.documents.items())
        value = {**self.columns, **self.documents}
        return StoredRecord(
            number,
            outlines.of(value),
            self.place,
            images=tuple(chain.from_iterable(images)),
        )

    def add_halves(self, record: StoredRecord, halves: Halves) -> None:
        for name, cell in self.cells.items():
            line = cell.encode("utf-8", "surrogatepass")
            if HALF.search(line):
                halves.add(record, self.documents[name], line, None, (name,))


def _rows(
    database: sqlite3.Connection, table: SessionTable, session: Any
) -> Iterator[_Row]:
    """The rows of a session."""
    known = columns_of(database, table.name)
    if table.session not in known:
        return
    columns = [name for name in table.columns if name in known]
    order = [quoted(name) for name in table.order if name in known]
    limit = size_limits.LARGEST_DOCUMENT
    values = (
        f"CASE WHEN length({quoted(name)}) <= {limit} THEN {quoted(name)} END"
        for name in columns
    )
    query = (
        f"SELECT {', '.join(('rowid', *values))} FROM {quoted(table.name)} "
        f"WHERE {quoted(table.session)} = ? ORDER BY {', '.join((*order, 'rowid'))}"
    )
    for number, *cells in database.execute(query, (session,)):
        place = {"table": table.name, "row": number}
        row = _Row(place, {table.session: session}, {}, {})
        for name, cell in zip(columns, cells, strict=True):
            if name not in table.documents:
                row.columns[name] = cell
                continue
            row.documents[name] = None
            if isinstance(cell, str | bytes):
                with suppress(ValueError, RecursionError):
                    text = cell.decode("utf-8") if isinstance(cell, bytes) else cell
                    row.documents[name] = loads(text)
                    row.cells[name] = text
        yield row


def _mend(database: sqlite3.Connection, edits: Sequence[FileEdit]) -> None:
    """Makes ``edits`` in the cells where they are; a row whose document goes is
    removed."""

    def cell(edit: FileEdit) -> tuple[str, int, str]:
        place = edit.source.record.place
        return place["table"], place["row"], str(edit.source.path[0])

    for (table, row, column), run in groupby(sorted(edits, key=cell), cell):
        inner = [
            evolve(edit, source=StoredPlace(edit.source.record, edit.source.path[1:]))
            for edit in run
        ]
        where = f"{quoted(table)} WHERE rowid = ?"
        if any(edit.new is None and not edit.source.path for edit in inner):
            database.execute(f"DELETE FROM {where}", (row,))
            continue
        name = quoted(column)
        found = database.execute(f"SELECT {name} FROM {where}", (row,)).fetchone()
        if found is None:
            raise FileChangedError("a row was changed meanwhile")
        text = found[0] if isinstance(found[0], str) else found[0].decode("utf-8")
        new = spliced(text, text_changes(text, inner))
        value = new if isinstance(found[0], str) else new.encode("utf-8")
        database.execute(
            f"UPDATE {quoted(table)} SET {name} = ? WHERE rowid = ?", (value, row)
        )
