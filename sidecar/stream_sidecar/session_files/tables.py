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
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from stream_sidecar.history.history import History
    from stream_sidecar.history.messages import StoredMessage
    from stream_sidecar.history.unread import UnreadText
    from stream_sidecar.history.unsealing import RepairedMessage
    from stream_sidecar.session_files.documents import Advance, Seal
    from stream_sidecar.session_files.layouts import RoleOf, SearchIndex, TableLayout
    from stream_sidecar.session_files.reports import Tally

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
        return tuple(each for each in PRESETS.values() if not missing(database, each))


def repair_tables(
    path: Path,
    layouts: tuple[TableLayout, ...],
    new_history: Callable[[], History],
    tally: Tally,
    advance: Advance,
    *,
    write: bool,
    unseal: bool = False,
) -> bool:
    """Repairs the tables of a database, each session with a ``new_history``; True if
    cells were written. ``unseal``: bound text is edited, and the seals that this breaks
    are taken out.

    FileChangedError if a cell is no longer what was read, sqlite3.Error for what SQLite
    cannot do; in both cases nothing was written.
    """
    written = False
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
            order = _Order(database, layout, model, set() if unseal else None)
            for row in _rows(database, layout, tally.report, advance):
                history = _history(histories, row.session, new_history)
                new = _repair(row, layout, history, tally, seal, order)
                if write and new is not None:
                    _replace(database, layout, row, new)
                    written = True
    return written


class _Order:
    """What comes before and after the rows of a table, session by session.
    ``after_edits``: the sessions that were edited; None if bound text stays."""

    def __init__(
        self,
        database: sqlite3.Connection,
        layout: TableLayout,
        model: str | None,
        after_edits: set[Any] | None,
    ) -> None:
        self._database, self._layout, self._model = database, layout, model
        self.after_edits = after_edits

    @cached_property
    def _last(self) -> dict[Any, int]:
        """The session -> the key of the last row with a seal. Read once, when something
        has to be removed."""
        unread = FileReport("")
        rows = _rows(self._database, self._layout, unread, lambda _size: None)
        return {
            row.session: row.key
            for row in rows
            if may_have_seal(row.text) and self._is_sealed(row)
        }

    def _is_sealed(self, row: _Row) -> bool:
        read, shape = _found_in(row, self._layout), self._layout.shape
        if read is None:
            return False
        found = read.messages
        if shape is not None:  # the documents that do not fit may be thinking
            found = [read_message(read.document, shape, model=row.model)]
        return any(seals_of(each, self._model) for each in found)

    def is_before_seal(self, row: _Row) -> bool:
        """Whether a seal in a later row binds the texts of ``row``."""
        if self.after_edits is not None:
            return False
        return row.key < self._last.get(row.session, row.key)


@contextmanager
def _stoppable(database: sqlite3.Connection, advance: Advance) -> Iterator[None]:
    """Asks ``advance`` whether to continue, within a query, too. Raises `Stopped`."""
    stopped: list[Stopped] = []

    def asked() -> bool:
        try:
            advance(0)
        except Stopped as wish:
            stopped.append(wish)
        return bool(stopped)

    database.set_progress_handler(asked, _STEPS)
    try:
        yield
    except sqlite3.OperationalError:
        if stopped:
            raise Stopped from None
        raise
    finally:
        database.set_progress_handler(None, 0)


def copy_database(path: Path, backup: Path, advance: Advance) -> None:
    """Copies a database as it is now into an empty file, even while somebody writes to
    the database."""
    with closing(_open(path)) as old, closing(_open(backup, write=True)) as new:
        new.execute("PRAGMA journal_mode = OFF")  # leaves no file beside it
        old.backup(new, pages=_PAGES, progress=lambda *_: advance(0))


def missing_in(path: Path, layout: TableLayout) -> list[str]:
    """The tables and columns of the layout that the database does not have, including
    optional columns."""
    with closing(_open(path)) as database:
        known = columns_of(database, layout.table)
        more = [name for _, name in layout.more_columns() if name not in known]
        return missing(database, layout) + more


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
    """All rows with text in the column, in the order of their keys. Rows that cannot be
    read are counted."""
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
    last = -(2**63)
    while True:
        with closing(database.execute(query, {"last": last})) as cursor:
            rows = _up_to_limit(cursor)
        if not rows:
            return
        yield from rows
        last = rows[-1][0]


def _up_to_limit(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Rows up to `_BYTES` bytes: mostly all that the query returns."""
    taken, size = [], 0
    for row in rows:
        taken.append(row)
        size += len(row[1]) if isinstance(row[1], str | bytes) else 0
        if size > _BYTES:
            break
    return taken


def _query(database: sqlite3.Connection, layout: TableLayout) -> str:
    known = columns_of(database, layout.table)
    wanted = (
        layout.role_column,
        layout.session_column,
        layout.model_column,
        layout.packing_column,
    )
    names = ["NULL" if name not in known else quoted(str(name)) for name in wanted]
    if (of := layout.role_of) is not None:
        names[0] = _elsewhere(layout, of, of.member)
        names[2] = _elsewhere(layout, of, of.model)
    of = layout.model_of
    if of is not None and {of.key, of.column} <= columns_of(database, of.table):
        names[2] = _elsewhere(layout, of, of.model)
    table, column = quoted(layout.table), quoted(layout.column)
    where = ""
    if layout.key is not None:
        where = f"AND substr({quoted(layout.key[0])}, 1, {len(layout.key[1])}) = "
        where += "'" + layout.key[1].replace("'", "''") + "'"
    is_text = f"typeof({column}) IN ('text', 'blob')"
    if layout.untouched is not None:
        is_text = "1"
    most = size_limits.LARGEST_DOCUMENT
    small = f"CASE WHEN length({column}) <= {most} THEN {column} END"
    return (
        f"SELECT rowid, {small}, {', '.join(names)} FROM {table} "
        f"WHERE rowid > :last AND {is_text} {where} ORDER BY rowid LIMIT {_ROWS}"
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


@frozen
class _Read:
    """A cell that was read. ``content`` of None: it is a document."""

    document: Any
    messages: list[StoredMessage]
    content: _Content | None


def _found_in(
    row: _Row, layout: TableLayout, unread: list[UnreadText] | None = None
) -> _Read | None:
    """What is in a cell; None if it is not JSON."""
    is_content = row.role is not None and layout.shape is None
    content = _content(row) if is_content else None
    try:
        document = _document(row) if content is None else content.message(row)
    except (ValueError, RecursionError):
        return None
    if content is not None:
        message = read_message(document, shape_of(document), model=row.model)
        return _Read(document, [message], content)
    return _Read(document, [*_messages(document, row, layout, unread)], None)


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
    read = _found_in(row, layout, unread)
    if read is None:
        tally.report.unreadable += 1
        return None
    unseals, model = order.after_edits is not None, history.options.model
    is_later = partial(order.is_before_seal, row)
    bound = BoundTexts(read.messages, model, is_later, unseals=unseals)
    repairs = repairs_of(read.messages, history, bound)
    name_unread(read.document, unread, history, tally.report)
    for found, repair in repairs:
        tally.add({"table": layout.table, "row": row.key}, found, repair)
    changed = [each for each in repairs if each[1].changed]
    made = editable(read.document, changed, tally.report, seal)
    if order.after_edits is not None:
        made = _unsealed(row, read, made, history, tally, order.after_edits)
    if not made:
        return None
    content = read.content
    return repaired(row.text, made) if content is None else content.cut(row, made)


def _unsealed(
    row: _Row,
    read: _Read,
    made: list[RepairedMessage],
    history: History,
    tally: Tally,
    after_edits: set[Any],
) -> list[RepairedMessage]:
    """The repairs ``made``, with the removal of the seals that edits break."""
    is_after = row.session in after_edits
    if first_edit(read.messages, made) is not None:
        after_edits.add(row.session)
    model = history.options.model
    made, count = unsealed(read.document, read.messages, made, model, is_after=is_after)
    tally.report.unsealed += count
    return made


def _document(row: _Row) -> Any:
    return loads(row.text.removeprefix(_BOM))


def _messages(
    document: Any, row: _Row, layout: TableLayout, unread: list[UnreadText] | None
) -> Iterable[StoredMessage]:
    if layout.shape is None:
        return messages_in(document, unread=unread)
    is_one = row.role in (None, *ASSISTANT) and layout.shape.fits(document, ())
    return [read_message(document, layout.shape, model=row.model)] if is_one else []


@frozen
class _Content:
    """The content of a message. As JSON, its text is that of the cell between
    ``before`` and ``after``. ``before`` of None: the cell is not JSON but the message's
    text itself."""

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
        whole = before + row.text.removeprefix(_BOM) + after
        new = spliced(whole, changes_of(whole, repairs))
        return bom + new[len(before) : len(new) - len(after)]


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
    return bool(lines) and all(isinstance(each, dict) for each in lines)


def _replace(
    database: sqlite3.Connection, layout: TableLayout, row: _Row, new: str
) -> None:
    table, column = quoted(layout.table), quoted(layout.column)
    where = f"WHERE rowid = ? AND {column} = ?"
    if new:
        done = database.execute(
            f"UPDATE {table} SET {column} = ? {where}",
            (packed(new, row.cell, row.packing), row.key, row.cell),
        )
    else:  # the row was a sealed block
        done = database.execute(f"DELETE FROM {table} {where}", (row.key, row.cell))
    if done.rowcount != 1:
        raise FileChangedError("a row was changed meanwhile")
    if layout.index is not None and is_searched(database, layout.index):
        _search_for(database, layout, layout.index, row, new)


def _search_for(
    database: sqlite3.Connection,
    layout: TableLayout,
    index: SearchIndex,
    row: _Row,
    new: str,
) -> None:
    """Replaces a row's text in the index, if the index has the row's old text."""
    column = quoted(index.column)
    database.execute(
        f"UPDATE {quoted(index.table)} "
        f"SET {column} = substr({column}, 1, length({column}) - length(:old)) || :new "
        f"WHERE {quoted(index.key)} = "
        f"(SELECT {index.of} FROM {quoted(layout.table)} WHERE rowid = :key) "
        f"AND substr({column}, -length(:old)) = :old",
        {"old": row.text, "new": new, "key": row.key},
    )
