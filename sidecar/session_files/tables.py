"""Sessions in SQLite: one cell a message, as JSON or as its text.

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

from attrs import frozen

from sidecar.history.documents import FoundMessage, cuts_of, messages_in, spliced
from sidecar.history.history import History
from sidecar.history.messages import ASSISTANT
from sidecar.session_files.documents import repaired, repairs_of
from sidecar.session_files.replacing import FileChangedError
from sidecar.values.jsontext import loads

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sidecar.options import StreamOptions
    from sidecar.session_files.documents import Advance
    from sidecar.session_files.reports import Tally

_ROWS = 500
_BOM = "\ufeff"
_SESSIONS = 1024
"""So many sessions may be interleaved before one is begun anew."""


@frozen
class TableLayout:
    """Where the messages are. ``column`` holds them as JSON, or, with ``role`` or
    ``role_column``, the content of a message of that role: its text, or as JSON its
    text, its parts or one of them; JSON of the message with its content, too. A row
    without a role is nobody's then. ``session_column`` tells sessions apart."""

    table: str
    column: str
    role: str | None = None
    role_column: str | None = None
    session_column: str | None = None
    model_column: str | None = None


PRESETS: dict[str, TableLayout] = {
    "openai-agents": TableLayout(
        "agent_messages", "message_data", session_column="session_id"
    ),
    "langchain": TableLayout("message_store", "message", session_column="session_id"),
    "llm": TableLayout(
        "responses",
        "response",
        role="assistant",
        session_column="conversation_id",
        model_column="model",
    ),
    "goose": TableLayout(
        "messages", "content_json", role_column="role", session_column="session_id"
    ),
}
"""Layouts of programs that document theirs."""


@frozen
class _Row:
    key: int
    cell: str
    role: str | None
    session: Any
    model: str | None


def layout_of(path: Path) -> TableLayout | None:
    """The preset whose table and columns a database has; None: none."""
    with closing(_open(path)) as database:
        for layout in PRESETS.values():
            if _columns_of(layout) <= _columns(database, layout.table):
                return layout
    return None


def repair_table(
    path: Path,
    layout: TableLayout,
    options: StreamOptions,
    tally: Tally,
    advance: Advance,
    *,
    write: bool,
) -> bool:
    """Repairs a table; True when cells were written.

    FileChangedError when a cell is not what was read any more, sqlite3.Error for what
    SQLite cannot do; in both cases nothing was written.
    """
    written = False
    histories: OrderedDict[Any, History] = OrderedDict()
    with closing(_open(path, write=write)) as database, database:
        if write:
            database.execute("BEGIN IMMEDIATE")
        for row in _rows(database, layout):
            history = _history(histories, row.session, options)
            new = _repair(row, history, tally)
            if write and new is not None:
                _replace(database, layout, row, new)
                written = True
            advance(len(row.cell))
    return written


def copy_database(path: Path, backup: Path) -> None:
    """Copies a database as it is now, whoever is writing to it, into an empty file."""
    with closing(_open(path)) as old, closing(_open(backup, write=True)) as new:
        new.execute("PRAGMA journal_mode = OFF")  # nothing beside it is left behind
        old.backup(new)


def missing_in(path: Path, layout: TableLayout) -> set[str]:
    """Columns of the layout that the database does not have."""
    with closing(_open(path)) as database:
        return _columns_of(layout) - _columns(database, layout.table)


def _open(path: Path, *, write: bool = False) -> sqlite3.Connection:
    mode = "rw" if write else "ro"
    uri = f"{path.resolve().as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, isolation_level=None)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _columns(database: sqlite3.Connection, table: str) -> set[str]:
    rows = database.execute(f"PRAGMA table_info({_quoted(table)})")
    return {row[1] for row in rows}


def _columns_of(layout: TableLayout) -> set[str]:
    names = (
        *(layout.column, layout.role_column),
        *(layout.session_column, layout.model_column),
    )
    return {name for name in names if name is not None}


def _rows(database: sqlite3.Connection, layout: TableLayout) -> Iterator[_Row]:
    """All rows with text in the column, by their keys."""
    names = (layout.column, layout.role_column, layout.session_column)
    columns = ", ".join(
        "NULL" if name is None else _quoted(name)
        for name in (*names, layout.model_column)
    )
    query = (
        f"SELECT rowid, {columns} FROM {_quoted(layout.table)} "
        f"WHERE rowid > ? AND typeof({_quoted(layout.column)}) = 'text' "
        f"ORDER BY rowid LIMIT {_ROWS}"
    )
    last = -(2**63)
    while rows := database.execute(query, (last,)).fetchall():
        for key, cell, role, session, model in rows:
            role = role or layout.role
            if role or not layout.role_column:
                yield _Row(key, cell, role, session, model or None)
        last = rows[-1][0]


def _history(
    histories: OrderedDict[Any, History], session: Any, options: StreamOptions
) -> History:
    history = histories.pop(session, None) or History(options)
    histories[session] = history
    if len(histories) > _SESSIONS:
        histories.popitem(last=False)
    return history


def _repair(row: _Row, history: History, tally: Tally) -> str | None:
    """The new cell; None: it stays."""
    place = {"row": row.key}
    content = None if row.role is None else _content(row)
    if content is not None:
        return _repair_content(row, content, history, tally, place)
    try:
        repairs = repairs_of(row.cell, history)
    except (ValueError, RecursionError):
        tally.report.unreadable += 1
        return None
    for found, repair in repairs:
        tally.add(place, found, repair)
    changed = any(repair.changed for _, repair in repairs)
    return repaired(row.cell, repairs) if changed else None


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
        value = loads(row.cell.removeprefix(_BOM))
    except (ValueError, RecursionError):
        return None if _is_lines(row.cell) else _Content(row.cell)
    if isinstance(value, dict):
        if row.role in ASSISTANT and any(messages_in(value)):
            return None
        return _Content([value], "[", "]")
    is_json = isinstance(value, list | str)
    return _Content(value, "", "") if is_json else _Content(row.cell)


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
    found = FoundMessage((), {"role": row.role, "content": content.value}, row.model)
    repair = history.repair(found.message, row.model)
    tally.add(place, found, repair)
    if not repair.changed:
        return None
    if content.before is None:
        return spliced(row.cell, [(edit.start, edit.end) for edit in repair.edits])
    bom = _BOM if row.cell.startswith(_BOM) else ""
    before, after = '{"content":' + content.before, content.after + "}"
    whole = before + row.cell.removeprefix(_BOM) + after
    new = spliced(whole, cuts_of(whole, [(found, repair)]))
    return bom + new[len(before) : len(new) - len(after)]


def _replace(
    database: sqlite3.Connection, layout: TableLayout, row: _Row, new: str
) -> None:
    column = _quoted(layout.column)
    done = database.execute(
        f"UPDATE {_quoted(layout.table)} SET {column} = ? "
        f"WHERE rowid = ? AND {column} = ?",
        (new, row.key, row.cell),
    )
    if done.rowcount != 1:
        raise FileChangedError("a row was changed meanwhile")
