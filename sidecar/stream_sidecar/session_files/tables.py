"""Sessions in SQLite: a cell is a message or a document with some, as JSON or text.

Rows are read in the order of their keys, some hundred at a time, so a table may be
larger than the memory. Writing is one transaction: each cell is replaced only if it is
still what was read, and all of them or none are. What is not a cell of the column is
never touched.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from contextlib import closing
from typing import TYPE_CHECKING, Any

from stream_sidecar.history.documents import FoundMessage, cuts_of, messages_in, spliced
from stream_sidecar.history.shapes import ASSISTANT, shape_of
from stream_sidecar.records import frozen
from stream_sidecar.session_files.documents import repaired, repairs_of
from stream_sidecar.session_files.layouts import columns_of, layouts_in, missing, quoted
from stream_sidecar.session_files.packing import CannotEditError, packed, unpacked
from stream_sidecar.session_files.replacing import FileChangedError
from stream_sidecar.values.jsontext import loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from stream_sidecar.history.history import History
    from stream_sidecar.history.results import Repair
    from stream_sidecar.session_files.documents import Advance
    from stream_sidecar.session_files.layouts import RoleOf, TableLayout
    from stream_sidecar.session_files.reports import FileReport, Tally

_ROWS = 500
_BOM = "\ufeff"
_SESSIONS = 1024
"""So many sessions may be interleaved before one is begun anew."""


@frozen
class _Row:
    key: int
    cell: str | bytes
    role: str | None
    session: Any
    model: str | None
    packing: str | None
    text: str
    """What is in the cell."""


def layouts_of(path: Path) -> tuple[TableLayout, ...]:
    """The presets whose tables and columns a database has."""
    with closing(_open(path)) as database:
        return layouts_in(database)


def repair_tables(
    path: Path,
    layouts: tuple[TableLayout, ...],
    new_history: Callable[[], History],
    tally: Tally,
    advance: Advance,
    *,
    write: bool,
) -> bool:
    """Repairs the tables of a database, each session of which has a ``new_history``;
    True when cells were written.

    FileChangedError when a cell is not what was read any more, sqlite3.Error for what
    SQLite cannot do; in both cases nothing was written.
    """
    written = False
    with closing(_open(path, write=write)) as database, database:
        if write:
            database.execute("BEGIN IMMEDIATE")
        for layout in layouts:
            histories: OrderedDict[Any, History] = OrderedDict()
            for row in _rows(database, layout, tally.report, advance):
                history = _history(histories, row.session, new_history)
                new = _repair(row, layout, history, tally)
                if write and new is not None:
                    _replace(database, layout, row, new)
                    written = True
    return written


def copy_database(path: Path, backup: Path) -> None:
    """Copies a database as it is now, whoever is writing to it, into an empty file."""
    with closing(_open(path)) as old, closing(_open(backup, write=True)) as new:
        new.execute("PRAGMA journal_mode = OFF")  # nothing beside it is left behind
        old.backup(new)


def missing_in(path: Path, layout: TableLayout) -> list[str]:
    """What of the layout the database does not have, columns that it may do without
    included."""
    with closing(_open(path)) as database:
        known = columns_of(database, layout.table)
        more = [name for _, name in layout.more_columns() if name not in known]
        return missing(database, layout) + more


def _open(path: Path, *, write: bool = False) -> sqlite3.Connection:
    mode = "rw" if write else "ro"
    uri = f"{path.resolve().as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, isolation_level=None)


def _rows(
    database: sqlite3.Connection,
    layout: TableLayout,
    report: FileReport,
    advance: Advance,
) -> Iterator[_Row]:
    """All rows with text in the column, by their keys; the others are counted."""
    for key, cell, role, session, model, packing in _cells(database, layout):
        try:
            if layout.untouched is not None:
                raise CannotEditError(layout.untouched)
            text = unpacked(cell, packing)
        except ValueError:
            report.unreadable += 1
        except CannotEditError as error:
            report.leave(str(error))
        else:
            role = role or layout.role
            if role or not layout.tells_roles:
                yield _Row(key, cell, role, session, model or None, packing, text)
        advance(len(cell) if isinstance(cell, str | bytes) else 0)


def _cells(
    database: sqlite3.Connection, layout: TableLayout
) -> Iterator[tuple[Any, ...]]:
    query = _query(database, layout)
    last = -(2**63)
    while rows := database.execute(query, {"last": last}).fetchall():
        yield from rows
        last = rows[-1][0]


def _query(database: sqlite3.Connection, layout: TableLayout) -> str:
    known = columns_of(database, layout.table)
    wanted = (
        *(layout.role_column, layout.session_column),
        *(layout.model_column, layout.packing_column),
    )
    names = ["NULL" if name not in known else quoted(str(name)) for name in wanted]
    if layout.role_of is not None:
        names[0] = _role_query(layout, layout.role_of)
    table, column = quoted(layout.table), quoted(layout.column)
    where = ""
    if layout.key is not None:
        where = f"AND substr({quoted(layout.key[0])}, 1, {len(layout.key[1])}) = "
        where += "'" + layout.key[1].replace("'", "''") + "'"
    is_text = f"typeof({column}) IN ('text', 'blob')"
    if layout.untouched is not None:
        is_text = "1"
    return (
        f"SELECT rowid, {column}, {', '.join(names)} FROM {table} "
        f"WHERE rowid > :last AND {is_text} {where} ORDER BY rowid LIMIT {_ROWS}"
    )


def _role_query(layout: TableLayout, told: RoleOf) -> str:
    """The role of a row as SQL: it stands in the JSON of another table."""
    data = f"told.{quoted(told.column)}"
    role = f"json_extract({data}, '$.{told.member}')"
    return (
        f"(SELECT CASE WHEN json_valid({data}) THEN {role} END "
        f"FROM {quoted(told.table)} AS told WHERE told.{quoted(told.key)} "
        f"= {quoted(layout.table)}.{quoted(told.by)})"
    )


def _history(
    histories: OrderedDict[Any, History],
    session: Any,
    new_history: Callable[[], History],
) -> History:
    history = histories.pop(session, None) or new_history()
    histories[session] = history
    if len(histories) > _SESSIONS:
        histories.popitem(last=False)
    return history


def _repair(
    row: _Row, layout: TableLayout, history: History, tally: Tally
) -> str | None:
    """The new text of the cell; None: it stays."""
    place = {"table": layout.table, "row": row.key}
    content = None if row.role is None else _content(row)
    if content is not None:
        return _repair_content(row, content, history, tally, place)
    try:
        repairs = _repairs(row, layout, history)
    except (ValueError, RecursionError):
        tally.report.unreadable += 1
        return None
    for found, repair in repairs:
        tally.add(place, found, repair)
    changed = any(repair.changed for _, repair in repairs)
    return repaired(row.text, repairs) if changed else None


def _repairs(
    row: _Row, layout: TableLayout, history: History
) -> list[tuple[FoundMessage, Repair]]:
    """The messages of a cell that is a document."""
    if layout.shape is None:
        return repairs_of(row.text, history)
    value = loads(row.text.removeprefix(_BOM))
    if not layout.shape.fits(value, ()):
        return []
    found = FoundMessage((), value, row.model, shape=layout.shape)
    return [(found, history.repair_found(found))]


@frozen
class _Content:
    """The content of a message, and the text of it as JSON: that of the cell between
    ``before`` and ``after``; no JSON, but the very text, where ``before`` is None."""

    value: Any
    before: str | None = None
    after: str = ""


def _content(row: _Row) -> _Content | None:
    """What a cell holds of a message whose role is known: its text; as JSON its text,
    its parts or one part; None: documents of their own, with messages or without."""
    try:
        value = loads(row.text.removeprefix(_BOM))
    except (ValueError, RecursionError):
        return None if _is_lines(row.text) else _Content(row.text)
    if isinstance(value, dict):
        if row.role in ASSISTANT and any(messages_in(value)):
            return None
        return _Content([value], "[", "]")
    is_json = isinstance(value, list | str)
    return _Content(value, "", "") if is_json else _Content(row.text)


def _is_lines(cell: str) -> bool:
    """Whether a cell is lines of JSON objects."""
    try:
        lines = [loads(line) for line in cell.split("\n") if line.strip()]
    except (ValueError, RecursionError):
        return False
    return bool(lines) and all(isinstance(each, dict) for each in lines)


def _repair_content(
    row: _Row, content: _Content, history: History, tally: Tally, place: dict[str, Any]
) -> str | None:
    message = {"role": row.role, "content": content.value}
    found = FoundMessage((), message, row.model, shape=shape_of(message))
    repair = history.repair_found(found)
    tally.add(place, found, repair)
    if not repair.changed:
        return None
    if content.before is None:
        return spliced(row.text, [(edit.start, edit.end) for edit in repair.edits])
    bom = _BOM if row.text.startswith(_BOM) else ""
    before, after = '{"content":' + content.before, content.after + "}"
    whole = before + row.text.removeprefix(_BOM) + after
    new = spliced(whole, cuts_of(whole, [(found, repair)]))
    return bom + new[len(before) : len(new) - len(after)]


def _replace(
    database: sqlite3.Connection, layout: TableLayout, row: _Row, new: str
) -> None:
    column = quoted(layout.column)
    done = database.execute(
        f"UPDATE {quoted(layout.table)} SET {column} = ? "
        f"WHERE rowid = ? AND {column} = ?",
        (packed(new, row.cell, row.packing), row.key, row.cell),
    )
    if done.rowcount != 1:
        raise FileChangedError("a row was changed meanwhile")
