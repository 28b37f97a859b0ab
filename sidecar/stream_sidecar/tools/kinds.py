"""What a tool does: the kinds of the Agent Client Protocol, from the tool's name.

The first source that knows the kind decides (protocol.md, "Tool calls"): the host's
declaration, the exact name in ``kinds.csv``, the annotations of the Model Context
Protocol, words of the name, else ``other``. ``mutating`` is True if any source says so,
and False only if the table or an annotation says so: words may raise a permission
level, never lower it.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.records import frozen

if TYPE_CHECKING:
    from stream_sidecar.options import Tool

KindSource: TypeAlias = Literal["declared", "table", "annotation", "name", "default"]


@frozen
class Kind:
    """A tool's ``kind``, the source that decided it, and whether the tool changes
    something (None: not known)."""

    kind: str
    source: KindSource
    mutating: bool | None


PREFIXES = ("functions.", "default_api.", "default_api:", "copilot_", "developer__")
"""What models and hosts put before a name. They also use ``mcp__server__`` and
``server__``."""

MUTATING_KINDS = frozenset(("edit", "delete", "move", "execute"))

WORDS = {
    "delete": "delete remove rm unlink erase drop purge destroy trash",
    "execute": "execute exec run bash shell sh powershell terminal command eval spawn"
    " launch kill deploy install",
    "move": "move mv rename copy",
    "edit": "edit write create update patch replace insert append modify save put set"
    " add upload apply overwrite commit push post send",
    "fetch": "fetch download browse http https url web crawl scrape",
    "search": "search grep find glob query lookup rg list ls",
    "read": "read get view cat show describe inspect status open load",
    "think": "think reason reflect plan",
}
"""Kind -> words of a name. The kinds are in the order of danger: if a name has words of
several kinds, the first kind decides."""

_WORD_KINDS = {
    word: kind for kind, words in reversed(WORDS.items()) for word in words.split()
}
_DANGER_RANK = {kind: rank for rank, kind in enumerate(WORDS)}
_NAME_WORD = patterns.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]++|[0-9]++")
_LONGEST_NAME = 256
"""A name is read up to here, because a hostile name may have any length."""


def kind_of(name: str, tool: Tool | None = None, type: str | None = None) -> Kind:
    """The kind of the tool ``name``, which the host declared as ``tool``.

    ``type`` is the structural type of a provider's item: the table has server-run items
    by their type (``web_search_call``).
    """
    names = name[:_LONGEST_NAME], (type or "")[:_LONGEST_NAME]
    if tool is None:
        return _kind_of(*names)
    annotations = tool.annotations
    hint = _mutating_hint(annotations)
    annotated = None
    if hint is False:  # ``openWorldHint`` is true unless it says otherwise
        annotated = "read" if annotations.get("openWorldHint") is False else "fetch"
    return _kind_of(*names, tool.kind, hint, annotated)


@lru_cache(maxsize=256)
def _kind_of(
    name: str,
    type: str,
    declared: str | None = None,
    hint: bool | None = None,
    annotated: str | None = None,
) -> Kind:
    """The kind of a tool, cached because a model calls the same few tools again and
    again. ``declared``: the kind that the host declared. ``hint``: whether the
    annotations say that the tool changes something. ``annotated``: the tool's kind if
    they say that it changes nothing."""
    word = _word_kind(name)
    row = _table_row(name)
    if row is None and word is None and hint is None:
        row = _table_row(type)
    from_table = row[1] if row is not None else None
    from_word = row is None and word in MUTATING_KINDS
    mutating: bool | None = None
    if declared in MUTATING_KINDS or from_table or hint or from_word:
        mutating = True
    elif from_table is False or hint is False:
        mutating = False
    proofs: dict[KindSource, str | None] = {
        "declared": declared,
        "table": row and row[0],
        "annotation": annotated,
        "name": word,
    }
    for source, kind in proofs.items():
        if kind is not None:
            return Kind(kind, source, mutating)
    return Kind("other", "default", mutating)


def _mutating_hint(annotations: Any) -> bool | None:
    """Whether MCP's hints say that the tool changes something. False only if
    ``readOnlyHint`` is true; None if there is no hint."""
    if not isinstance(annotations, dict):
        return None
    if annotations.get("readOnlyHint") is True:
        return False
    hints = annotations.get("readOnlyHint"), annotations.get("destructiveHint")
    return None if hints == (None, None) else True


def _word_kind(name: str) -> str | None:
    words = (word.lower() for word in _NAME_WORD.findall(_bare_name(name)))
    kinds = {_WORD_KINDS[word] for word in words if word in _WORD_KINDS}
    return min(kinds, key=_DANGER_RANK.__getitem__, default=None)


def _table_row(name: str) -> tuple[str, bool | None] | None:
    table = _kind_table()
    return table.get(_normal(name)) or table.get(_normal(_bare_name(name)))


def _bare_name(name: str) -> str:
    """``name`` without the `PREFIXES` and servers that hosts and models add."""
    for prefix in PREFIXES:
        name = name.removeprefix(prefix)
    return name.rpartition("__")[2] or name


def _normal(name: str) -> str:
    return name.lower().replace("-", "_")


@cache
def _kind_table() -> dict[str, tuple[str, bool | None]]:
    """``kinds.csv``: normal name -> kind, and whether the tool changes something (None:
    not known). It is read at the first use."""
    from pkgutil import get_data  # reads zip files, too; the start does not need it

    data = get_data("stream_sidecar.tools", "kinds.csv")
    assert data is not None, "an importer that cannot read files"
    mutating_of = {"true": True, "false": False, "": None}
    rows = (line.split(",") for line in data.decode().splitlines()[1:])
    return {tool: (kind, mutating_of[mutating]) for tool, kind, mutating in rows}
