"""Sessions in SQLite: a cell is a message or a document with some, as JSON or text.

Rows are read in the order of their keys, some hundred at a time, so a table may be
larger than the memory. Writing is one transaction: a cell is replaced only if it is
still what was read, and either all cells are replaced or none. Only cells of the column
are changed, and the text of a search index that repeats them.

A database may come from anybody. Only what real tables store is read, functions that
its schema calls meanwhile cannot do harm, and a query that takes long can be ended.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from contextlib import closing, contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from stream_sidecar import patterns
from stream_sidecar.history.bound import BoundTexts
from stream_sidecar.history.cuts import changes_of, spliced
from stream_sidecar.history.digests import SEALED, seal_of
from stream_sidecar.history.documents import messages_in
from stream_sidecar.history.messages import read_message
from stream_sidecar.history.shapes import ASSISTANT, shape_of
from stream_sidecar.history.signed_blocks import may_have_seal, seals_of
from stream_sidecar.history.unsealing import first_edit, unsealed
from stream_sidecar.records import frozen
from stream_sidecar.session_files import size_limits
from stream_sidecar.session_files.documents import (
    Stopped,
    editable,
    name_unread,
    repaired,
    repairs_of,
)
from stream_sidecar.session_files.layouts import (
    PRESETS,
    columns_of,
    is_sealed,
    is_searched,
    missing,
    quoted,
)
from stream_sidecar.session_files.packing import packed, unpacked
from stream_sidecar.session_files.replacing import FileChangedError
from stream_sidecar.session_files.reports import FileReport
from stream_sidecar.session_files.size_limits import CannotEditError, too_large
from stream_sidecar.values.jsontext import loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from stream_sidecar.history.history import History
    from stream_sidecar.history.messages import StoredMessage
    from stream_sidecar.history.unread import UnreadText
    from stream_sidecar.history.unsealing import RepairedMessage
    from stream_sidecar.session_files.documents import Advance, Seal
    from stream_sidecar.session_files.layouts import RoleOf, TableLayout
    from stream_sidecar.session_files.reports import Tally
    from stream_sidecar.session_files.stored_sessions import SessionJudge

_ROWS = 500
_BYTES = 1 << 24
"""So many rows are read at a time, or fewer with so many bytes."""

_STEPS = 10_000
"""After so many steps of SQLite, `Advance` is asked whether to continue."""

_PAGES = 4096
"""So many pages are copied at a time."""

_OF_JSON = patterns.compile(r"unsafe use of (?:json_\w+|->>?)\(\)")

_BOM = "\ufeff"
_SESSIONS = 1024
"""So many sessions may be interleaved. Beyond that, the session without a row for the
longest time is forgotten."""


@frozen
class _Row:
    key: int
    cell: str | bytes
    role: str | None
    session: Any
    model: str | None
    packing: str | None
    text: str
    """The text in the cell, unpacked."""


def layouts_of(path: Path) -> tuple[TableLayout, ...]:
    with closing(_open(path)) as database:
        return tuple(row for row in PRESETS.values() if not missing(database, row))


def repair_tables(
    path: Path,
    layouts: tuple[TableLayout, ...],
    new_history: Callable[[], History],
    tally: Tally,
    advance: Advance,
    *,
    write: bool,
    judge: SessionJudge | None = None,
    unseal: bool = False,
) -> bool:
    """Repairs the tables of a database, each session with a ``new_history``; True if
    cells were written. ``judge`` says what stands in the way of the sessions, and mends
    it. ``unseal``: bound text is edited, and the seals that this breaks are taken out.

    FileChangedError if a cell is no longer what was read, sqlite3.Error for what SQLite
    cannot do; in both cases nothing was written.
    """
    is_written = False
    with (
        closing(_open(path, write=write)) as database,
        database,
        _stoppable(database, advance),
    ):
        if write:
            database.execute("BEGIN IMMEDIATE")
        for layout in layouts:
            histories: OrderedDict[Any, History] = OrderedDict()
            is_all_sealed = is_sealed(database, layout)
            seal: Seal = (lambda *_: SEALED) if is_all_sealed else seal_of
            model = new_history().options.model
            order = _Order(database, layout, model, unseals=unseal)
            for row in _rows(database, layout, tally.report, advance):
                history = histories.pop(row.session, None) or new_history()
                histories[row.session] = history
                if len(histories) > _SESSIONS:
                    histories.popitem(last=False)
                new_text = _repair(row, layout, history, tally, seal, order)
                if write and new_text is not None:
                    _replace(database, layout, row, new_text)
                    is_written = True
        if judge is not None:
            is_written |= judge.judge(database, layouts, tally, write=write)
    return is_written


class _Order:
    """What comes before and after the rows of a table, session by session."""

    def __init__(
        self,
        database: sqlite3.Connection,
        layout: TableLayout,
        model: str | None,
        *,
        unseals: bool,
    ) -> None:
        self._database, self._layout, self._model = database, layout, model
        self.unseals = unseals
        self.edited_sessions: set[Any] = set()

    @cached_property
    def _last_seals(self) -> dict[Any, int]:
        """Session -> key of its last row with a seal. Read once, when it is needed."""
        unread = FileReport("")
        rows = _rows(self._database, self._layout, unread, lambda _size: None)
        return {
            row.session: row.key
            for row in rows
            if may_have_seal(row.text) and self._is_sealed(row)
        }

    def _is_sealed(self, row: _Row) -> bool:
        cell, shape = _cell_content(row, self._layout), self._layout.shape
        if cell is None:
            return False
        messages = cell.messages
        if shape is not None:  # the documents that do not fit may be thinking
            messages = [read_message(cell.document, shape, model=row.model)]
        return any(seals_of(message, self._model) for message in messages)

    def is_before_seal(self, row: _Row) -> bool:
        """Whether a seal in a later row binds the texts of ``row``."""
        if self.unseals:
            return False
        return row.key < self._last_seals.get(row.session, row.key)


@contextmanager
def _stoppable(database: sqlite3.Connection, advance: Advance) -> Iterator[None]:
    """Asks ``advance`` whether to continue, within a query, too. Raises `Stopped`."""
    is_stopped = False

    def check() -> bool:
        nonlocal is_stopped
        try:
            advance(0)
        except Stopped:
            is_stopped = True
        return is_stopped

    database.set_progress_handler(check, _STEPS)
    try:
        yield
    except sqlite3.OperationalError:
        if is_stopped:
            raise Stopped from None
        raise
    finally:
        database.set_progress_handler(None, 0)


def copy_database(path: Path, backup: Path, advance: Advance) -> None:
    """Copies a database as it is now, even while somebody writes to it."""
    with closing(_open(path)) as old, closing(_open(backup, write=True)) as new:
        new.execute("PRAGMA journal_mode = OFF")  # leaves no file beside it
        old.backup(new, pages=_PAGES, progress=lambda *_: advance(0))


def missing_in(path: Path, layout: TableLayout) -> list[str]:
    """The tables and columns of the layout that the database does not have, including
    optional columns."""
    with closing(_open(path)) as database:
        columns = columns_of(database, layout.table)
        optional = [name for _, name in layout.more_columns() if name not in columns]
        return missing(database, layout) + optional


def _open(path: Path, *, write: bool = False) -> sqlite3.Connection:
    mode = "rw" if write else "ro"
    uri = f"{path.resolve().as_uri()}?mode={mode}"
    database = sqlite3.connect(uri, uri=True, isolation_level=None)
    if not write:  # a trigger may have to keep an index of the text (llm)
        database.execute("PRAGMA trusted_schema = OFF")
        if _calls_json(database):
            database.execute("PRAGMA trusted_schema = ON")
    return database


def _calls_json(database: sqlite3.Connection) -> bool:
    """Whether an index keeps the database from being read, because SQLite treats its
    own functions of JSON as unsafe there, as 3.40 does (Codex, Kilo)."""
    try:
        database.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except sqlite3.DatabaseError as error:
        return _OF_JSON.search(str(error)) is not None
    return False


def _rows(
    database: sqlite3.Connection,
    layout: TableLayout,
    report: FileReport,
    advance: Advance,
) -> Iterator[_Row]:
    """All rows with text, in the order of their keys; the others are counted."""
    for key, cell, role, session, model, packing in _cells(database, layout):
        try:
            if layout.untouched is not None:
                raise CannotEditError(layout.untouched)
            if cell is None:
                raise too_large("a cell", size_limits.LARGEST_DOCUMENT)
            text = unpacked(cell, packing)
        except ValueError:
            report.unreadable += 1
        except CannotEditError as error:
            report.leave(str(error))
        else:
            role = role or layout.role
            if role or not layout.has_roles:
                yield _Row(key, cell, role, session, model or None, packing, text)
        advance(len(cell) if isinstance(cell, str | bytes) else 0)


def _cells(
    database: sqlite3.Connection, layout: TableLayout
) -> Iterator[tuple[Any, ...]]:
    query = _query(database, layout)
    last_key = -(2**63)
    while True:
        rows, size = [], 0
        with closing(database.execute(query, {"last": last_key})) as cursor:
            for row in cursor:
                rows.append(row)
                size += len(row[1]) if isinstance(row[1], str | bytes) else 0
                if size > _BYTES:  # mostly all rows of the query have fewer
                    break
        if not rows:
            return
        yield from rows
        last_key = rows[-1][0]


def _query(database: sqlite3.Connection, layout: TableLayout) -> str:
    known = columns_of(database, layout.table)
    columns = (
        layout.role_column,
        layout.session_column,
        layout.model_column,
        layout.packing_column,
    )
    values = ["NULL" if name not in known else quoted(str(name)) for name in columns]
    if (role_of := layout.role_of) is not None:
        values[0] = _elsewhere(layout, role_of, role_of.member)
        values[2] = _elsewhere(layout, role_of, role_of.model)
    source = layout.model_of
    if source and {source.key, source.column} <= columns_of(database, source.table):
        values[2] = _elsewhere(layout, source, source.model)
    table, column = quoted(layout.table), quoted(layout.column)
    condition = f"typeof({column}) IN ('text', 'blob')"
    if layout.untouched is not None:
        condition = "1"
    if layout.key is not None:
        name, start = layout.key
        start_text = "'" + start.replace("'", "''") + "'"
        condition += f" AND substr({quoted(name)}, 1, {len(start)}) = {start_text}"
    limit = size_limits.LARGEST_DOCUMENT
    cell = f"CASE WHEN length({column}) <= {limit} THEN {column} END"
    return (
        f"SELECT rowid, {cell}, {', '.join(values)} FROM {table} "
        f"WHERE rowid > :last AND {condition} ORDER BY rowid LIMIT {_ROWS}"
    )


def _elsewhere(layout: TableLayout, role_of: RoleOf, member: str) -> str:
    """SQL for a row's role or model, which is in the JSON of another table."""
    data = f"roles.{quoted(role_of.column)}"
    by = f"{quoted(layout.table)}.{quoted(role_of.by)}"
    if role_of.within:
        within = f"json_extract({by}, '$.{role_of.within}')"
        by = f"CASE WHEN json_valid({by}) THEN {within} END"
    value = f"json_extract({data}, '$.{member}')"
    return (
        f"(SELECT CASE WHEN json_valid({data}) THEN {value} END "
        f"FROM {quoted(role_of.table)} AS roles "
        f"WHERE roles.{quoted(role_of.key)} = {by})"
    )


@frozen
class _Cell:
    """A cell that was read. ``content`` of None: it is a document."""

    document: Any
    messages: list[StoredMessage]
    content: _Content | None


def _cell_content(
    row: _Row, layout: TableLayout, unread: list[UnreadText] | None = None
) -> _Cell | None:
    """What is in a cell; None if it is not JSON."""
    is_content = row.role is not None and layout.shape is None
    content = _content(row) if is_content else None
    try:
        document = _document(row) if content is None else content.message(row)
    except (ValueError, RecursionError):
        return None
    if content is not None:
        message = read_message(document, shape_of(document), model=row.model)
        return _Cell(document, [message], content)
    if layout.shape is None:
        return _Cell(document, [*messages_in(document, unread=unread)], None)
    messages = []
    if row.role in (None, *ASSISTANT) and layout.shape.fits(document, ()):
        messages = [read_message(document, layout.shape, model=row.model)]
    return _Cell(document, messages, None)


def _repair(
    row: _Row,
    layout: TableLayout,
    history: History,
    tally: Tally,
    seal: Seal,
    order: _Order,
) -> str | None:
    """The new text of the cell; None if it stays, "" if nothing is left of it."""
    unread: list[UnreadText] = []
    cell = _cell_content(row, layout, unread)
    if cell is None:
        tally.report.unreadable += 1
        return None
    document, messages, model = cell.document, cell.messages, history.options.model
    unseals, is_before_seal = order.unseals, partial(order.is_before_seal, row)
    bound = BoundTexts(messages, model, is_before_seal, unseals=unseals)
    repairs = repairs_of(messages, history, bound)
    name_unread(document, unread, history, tally.report)
    for message, repair in repairs:
        tally.add({"table": layout.table, "row": row.key}, message, repair)
    changed = [pair for pair in repairs if pair[1].changed]
    edits = editable(document, changed, tally.report, seal)
    if unseals:  # also takes out the seals that edits break
        is_after = row.session in order.edited_sessions
        if first_edit(messages, edits) is not None:
            order.edited_sessions.add(row.session)
        edits, count = unsealed(document, messages, edits, model, is_after=is_after)
        tally.report.unsealed += count
    if not edits:
        return None
    content = cell.content
    return repaired(row.text, edits) if content is None else content.cut(row, edits)


def _document(row: _Row) -> Any:
    return loads(row.text.removeprefix(_BOM))


@frozen
class _Content:
    """The content of a message. As JSON, its text is that of the cell between
    ``before`` and ``after``. ``before`` of None: the cell is the text itself."""

    value: Any
    before: str | None = None
    after: str = ""

    def message(self, row: _Row) -> Any:
        return {"role": row.role, "content": self.value}

    def cut(self, row: _Row, repairs: list[RepairedMessage]) -> str:
        """The text of the cell without what is removed from its message."""
        if self.before is None:
            edits = (edit for _, repair in repairs for edit in repair.edits)
            changes = ((edit.start, edit.end, edit.new_text) for edit in edits)
            return spliced(row.text, changes)
        bom = _BOM if row.text.startswith(_BOM) else ""
        before, after = '{"content":' + self.before, self.after + "}"
        message = before + row.text.removeprefix(_BOM) + after
        new_text = spliced(message, changes_of(message, repairs))
        return bom + new_text[len(before) : len(new_text) - len(after)]


def _content(row: _Row) -> _Content | None:
    """The content in a cell whose role is known: the text of a message; as JSON the
    text, the parts or one part. None: the cell has documents of its own, with messages
    or without."""
    try:
        value = _document(row)
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
    return bool(lines) and all(isinstance(line, dict) for line in lines)


def _replace(
    database: sqlite3.Connection, layout: TableLayout, row: _Row, text: str
) -> None:
    """Replaces the text of a cell. In an index that has the old text, too."""
    table, column = quoted(layout.table), quoted(layout.column)
    condition = f"WHERE rowid = ? AND {column} = ?"
    if text:
        cursor = database.execute(
            f"UPDATE {table} SET {column} = ? {condition}",
            (packed(text, row.cell, row.packing), row.key, row.cell),
        )
    else:  # the row was a sealed block
        values = (row.key, row.cell)
        cursor = database.execute(f"DELETE FROM {table} {condition}", values)
    if cursor.rowcount != 1:
        raise FileChangedError("a row was changed meanwhile")
    index = layout.index
    if index is not None and is_searched(database, index):
        column = quoted(index.column)
        database.execute(
            f"UPDATE {quoted(index.table)} SET {column} = "
            f"substr({column}, 1, length({column}) - length(:old)) || :new "
            f"WHERE {quoted(index.key)} = "
            f"(SELECT {index.of} FROM {table} WHERE rowid = :key) "
            f"AND substr({column}, -length(:old)) = :old",
            {"old": row.text, "new": text, "key": row.key},
        )
