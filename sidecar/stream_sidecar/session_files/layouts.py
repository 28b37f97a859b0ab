"""Where programs keep messages in a database: tables, columns, and what a cell holds.

`PRESETS` are the layouts of known programs, recognised by the tables and columns of a
database. The command line can name another `TableLayout`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.history.digests import is_digest_name
from stream_sidecar.history.shapes import CURSOR, OPENCODE_EVENT, OPENCODE_MESSAGE
from stream_sidecar.records import frozen

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from stream_sidecar.history.shapes import RecordShape


@frozen
class RoleOf:
    """Where the role of a row is, if another table has it: at ``member`` in the JSON of
    ``column``, in the row whose ``key`` equals the value in ``by`` of this table. If
    ``by`` is JSON, the value is at ``within`` there. ``model``: where the name of the
    model is in the same JSON. A table may have only the model."""

    table: str
    key: str
    by: str
    column: str
    member: str = ""
    within: str = ""
    model: str = ""


@frozen
class SearchIndex:
    """A table for full-text search that repeats the text of each row at the end of
    ``column``. Its ``key`` equals ``of``, an SQL expression over this table's row."""

    table: str
    column: str
    key: str
    of: str


@frozen
class TableLayout:
    """Where a table keeps messages. ``column`` holds them as JSON. With ``role``,
    ``role_column`` or ``role_of``, it holds the content of a message of that role: the
    text, or as JSON the text, the parts or one part. JSON of a whole message is read
    there, too. Where rows have roles, a row without a role is nobody's.
    ``session_column`` separates the sessions. ``model_of``: where another table has the
    model, if the database has it.

    ``packing_column`` says how a cell is packed (``zstd``). ``key`` is a column, and
    how its value begins in the rows that are read. ``shape`` is the shape of every
    document. ``beside`` are further tables that the database must have. ``untouched``:
    why no row can be edited. ``index`` repeats the text.
    """

    table: str
    column: str
    role: str | None = None
    role_column: str | None = None
    session_column: str | None = None
    model_column: str | None = None
    role_of: RoleOf | None = None
    model_of: RoleOf | None = None
    packing_column: str | None = None
    key: tuple[str, str] | None = None
    shape: RecordShape | None = None
    beside: tuple[str, ...] = ()
    untouched: str | None = None
    index: SearchIndex | None = None

    @property
    def has_roles(self) -> bool:
        """Whether every row has a role, or is nobody's."""
        return self.role_column is not None or self.role_of is not None

    def columns(self) -> Iterator[tuple[str, str]]:
        """The tables and columns that the layout needs."""
        yield self.table, self.column
        if self.role_column is not None:
            yield self.table, self.role_column
        if self.key is not None:
            yield self.table, self.key[0]
        if self.role_of is not None:
            yield self.table, self.role_of.by
            yield self.role_of.table, self.role_of.key
            yield self.role_of.table, self.role_of.column

    def more_columns(self) -> Iterator[tuple[str, str]]:
        """The tables and columns that are used if they exist."""
        for name in (self.session_column, self.model_column, self.packing_column):
            if name is not None:
                yield self.table, name


_BY_HASH = "its rows are named after a hash of their content"

PRESETS: dict[str, TableLayout] = {
    "openai-agents": TableLayout(
        table="agent_messages", column="message_data", session_column="session_id"
    ),
    "langchain": TableLayout(
        table="message_store", column="message", session_column="session_id"
    ),
    "langgraph": TableLayout(
        table="checkpoints",
        column="checkpoint",
        session_column="thread_id",
        packing_column="type",
    ),
    "langgraph-writes": TableLayout(
        table="writes",
        column="value",
        session_column="thread_id",
        packing_column="type",
    ),
    "llm": TableLayout(
        table="responses",
        column="response",
        role="assistant",
        session_column="conversation_id",
        model_column="model",
    ),
    "llm-turns": TableLayout(
        table="parts", column="rowid", beside=("messages", "turns"), untouched=_BY_HASH
    ),
    "goose": TableLayout(
        table="messages",
        column="content_json",
        role_column="role",
        session_column="session_id",
        model_of=RoleOf(
            table="sessions",
            key="id",
            by="session_id",
            column="model_config_json",
            model="model_name",
        ),
    ),
    "crush": TableLayout(
        table="messages",
        column="parts",
        role_column="role",
        session_column="session_id",
        model_column="model",
    ),
    "opencode": TableLayout(
        table="part",
        column="data",
        session_column="session_id",
        role_of=RoleOf(
            table="message",
            key="id",
            by="message_id",
            column="data",
            member="role",
            model="modelID",
        ),
    ),
    "opencode-events": TableLayout(
        table="event",
        column="data",
        session_column="aggregate_id",
        role_of=RoleOf(
            table="message",
            key="id",
            by="data",
            column="data",
            member="role",
            within="part.messageID",
            model="modelID",
        ),
        key=("type", "message.part.updated"),
        shape=OPENCODE_EVENT,
    ),
    "opencode-messages": TableLayout(
        table="session_message",
        column="data",
        role_column="type",
        session_column="session_id",
        shape=OPENCODE_MESSAGE,
    ),
    "codex": TableLayout(
        table="thread_items", column="item_json", session_column="thread_id"
    ),
    "copilot-cli": TableLayout(
        table="turns",
        column="assistant_response",
        role="assistant",
        session_column="session_id",
        index=SearchIndex(
            table="search_index",
            column="content",
            key="source_id",
            of="session_id || ':turn:' || turn_index",
        ),
    ),
    "zed": TableLayout(table="threads", column="data", packing_column="data_type"),
    "cursor": TableLayout(
        table="cursorDiskKV", column="value", key=("key", "bubbleId:"), shape=CURSOR
    ),
    "cursor-cli": TableLayout(
        table="blobs", column="rowid", beside=("meta",), untouched=_BY_HASH
    ),
    "open-webui": TableLayout(table="chat", column="chat"),
}
"""Layouts of programs that document them, or whose source shows them."""


def missing(database: sqlite3.Connection, layout: TableLayout) -> list[str]:
    """Tables and columns of the layout that the database does not have."""
    tables = {name for name, _ in layout.columns()} | {*layout.beside}
    columns = {name: columns_of(database, name) for name in tables}
    missing_tables = [name for name in layout.beside if not columns[name]]
    return missing_tables + [
        column
        for table, column in layout.columns()
        if column not in columns[table] and not (column == "rowid" and columns[table])
    ]


_REAL = (
    "SELECT 1 FROM sqlite_master WHERE type = 'table' AND rootpage > 0 "
    "AND name = ? COLLATE NOCASE"
)


def columns_of(database: sqlite3.Connection, table: str) -> set[str]:
    """The columns that a table stores. A view or a virtual table has none: it may
    compute without end."""
    if database.execute(_REAL, (table,)).fetchone() is None:
        return set()
    rows = database.execute(f"PRAGMA table_info({quoted(table)})")
    return {row[1] for row in rows}


_SEARCHED = (
    "SELECT 1 FROM sqlite_master WHERE name = ? "
    "AND sql LIKE 'CREATE VIRTUAL TABLE % USING fts5%'"
)


def is_searched(database: sqlite3.Connection, index: SearchIndex) -> bool:
    """Whether the index exists and is a real one, not a view, which may do anything."""
    return database.execute(_SEARCHED, (index.table,)).fetchone() is not None


def is_sealed(database: sqlite3.Connection, layout: TableLayout) -> bool:
    """Whether a table has a column for hashes of what it stores."""
    return any(map(is_digest_name, columns_of(database, layout.table)))


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
