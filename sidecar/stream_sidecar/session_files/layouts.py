"""Where programs keep messages in a database: tables, columns, and what a cell holds.

`PRESETS` are the layouts of known programs, recognised by the tables and columns of a
database. The command line can name another `TableLayout`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.history.seals import is_digest_name
from stream_sidecar.history.shapes import CURSOR, OPENCODE_EVENT
from stream_sidecar.records import frozen

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from stream_sidecar.history.shapes import RecordShape


@frozen
class RoleOf:
    """The role of a row stands in another table: in the JSON of ``column``, at
    ``member``, of the row whose ``key`` is what this table has in ``by``, or there at
    ``within``, if ``by`` is JSON."""

    table: str
    key: str
    by: str
    column: str
    member: str
    within: str = ""


@frozen
class SearchIndex:
    """A table for full-text search, in which the text of a row ends what ``column``
    has, where ``key`` is what the expression ``of`` makes of the row."""

    table: str
    column: str
    key: str
    of: str


@frozen
class TableLayout:
    """Where the messages are. ``column`` holds them as JSON, or, with ``role``,
    ``role_column`` or ``role_of``, the content of a message of that role: its text, or
    as JSON its text, its parts or one of them; JSON of the message with its content,
    too. A row without a role is nobody's then. ``session_column`` tells sessions apart.

    ``packing_column`` tells how a cell is packed (``zstd``); ``key`` is a column and
    how the rows begin there that are meant; ``shape`` is that of every document.
    ``beside`` are tables that the database has, too. ``untouched``: why no row of it
    can be edited. ``index`` has the same text again.
    """

    table: str
    column: str
    role: str | None = None
    role_column: str | None = None
    session_column: str | None = None
    model_column: str | None = None
    role_of: RoleOf | None = None
    packing_column: str | None = None
    key: tuple[str, str] | None = None
    shape: RecordShape | None = None
    beside: tuple[str, ...] = ()
    untouched: str | None = None
    index: SearchIndex | None = None

    @property
    def tells_roles(self) -> bool:
        """Whether every row has a role, or is nobody's."""
        return self.role_column is not None or self.role_of is not None

    def columns(self) -> Iterator[tuple[str, str]]:
        """The tables and columns that it cannot do without."""
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
        """The tables and columns that are used where they are there."""
        for name in (self.session_column, self.model_column, self.packing_column):
            if name is not None:
                yield self.table, name


_BY_HASH = "its rows are named after what is in them"

PRESETS: dict[str, TableLayout] = {
    "openai-agents": TableLayout(
        "agent_messages", "message_data", session_column="session_id"
    ),
    "langchain": TableLayout("message_store", "message", session_column="session_id"),
    "langgraph": TableLayout(
        "checkpoints", "checkpoint", session_column="thread_id", packing_column="type"
    ),
    "langgraph-writes": TableLayout(
        "writes", "value", session_column="thread_id", packing_column="type"
    ),
    "llm": TableLayout(
        "responses",
        "response",
        role="assistant",
        session_column="conversation_id",
        model_column="model",
    ),
    "llm-turns": TableLayout(
        "parts", "rowid", beside=("messages", "turns"), untouched=_BY_HASH
    ),
    "goose": TableLayout(
        "messages", "content_json", role_column="role", session_column="session_id"
    ),
    "crush": TableLayout(
        *("messages", "parts"),
        role_column="role",
        session_column="session_id",
        model_column="model",
    ),
    "opencode": TableLayout(
        *("part", "data"),
        session_column="session_id",
        role_of=RoleOf("message", "id", "message_id", "data", "role"),
    ),
    "opencode-events": TableLayout(
        *("event", "data"),
        session_column="aggregate_id",
        role_of=RoleOf("message", "id", "data", "data", "role", "part.messageID"),
        key=("type", "message.part.updated"),
        shape=OPENCODE_EVENT,
    ),
    "codex": TableLayout("thread_items", "item_json", session_column="thread_id"),
    "copilot-cli": TableLayout(
        *("turns", "assistant_response"),
        role="assistant",
        session_column="session_id",
        index=SearchIndex(
            *("search_index", "content", "source_id"),
            "session_id || ':turn:' || turn_index",
        ),
    ),
    "zed": TableLayout("threads", "data", packing_column="data_type"),
    "cursor": TableLayout(
        "cursorDiskKV", "value", key=("key", "bubbleId:"), shape=CURSOR
    ),
    "open-webui": TableLayout("chat", "chat"),
}
"""Layouts of programs that document theirs, or whose source tells it."""


def missing(database: sqlite3.Connection, layout: TableLayout) -> list[str]:
    """Tables and columns of the layout that the database does not have."""
    tables = {name for name, _ in layout.columns()} | {*layout.beside}
    known = {name: columns_of(database, name) for name in tables}
    gone = [name for name in layout.beside if not known[name]]
    return gone + [
        column
        for table, column in layout.columns()
        if column not in known[table] and not (column == "rowid" and known[table])
    ]


_REAL = (
    "SELECT 1 FROM sqlite_master WHERE type = 'table' AND rootpage > 0 "
    "AND name = ? COLLATE NOCASE"
)


def columns_of(database: sqlite3.Connection, table: str) -> set[str]:
    """The columns that a table stores. A view or a virtual table has none: what it
    computes may have no end."""
    if database.execute(_REAL, (table,)).fetchone() is None:
        return set()
    rows = database.execute(f"PRAGMA table_info({quoted(table)})")
    return {row[1] for row in rows}


_SEARCHED = (
    "SELECT 1 FROM sqlite_master WHERE name = ? "
    "AND sql LIKE 'CREATE VIRTUAL TABLE % USING fts5%'"
)


def is_searched(database: sqlite3.Connection, index: SearchIndex) -> bool:
    """Whether the index is there, and is one: no view, which may do anything."""
    return database.execute(_SEARCHED, (index.table,)).fetchone() is not None


def is_sealed(database: sqlite3.Connection, layout: TableLayout) -> bool:
    """Whether there are hashes in a table of what it stores."""
    return any(map(is_digest_name, columns_of(database, layout.table)))


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
