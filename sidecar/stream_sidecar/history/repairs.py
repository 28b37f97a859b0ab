"""The results for one message, made of what was found in its fields of text.

An `ExaminedMessage` gives the results of message/inspect and message/repair
(protocol.md, "message/inspect" and "message/repair"). Pure; searches no text.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from stream_sidecar.history.messages import Text, Thought
from stream_sidecar.history.paths import at, pointer_to
from stream_sidecar.history.results import (
    SURROGATE,
    Edit,
    Finding,
    Inspection,
    Removal,
    Repair,
)
from stream_sidecar.records import frozen
from stream_sidecar.values.absent import ABSENT
from stream_sidecar.values.jsontext import is_portable
from stream_sidecar.values.surrogates import without_halves

if TYPE_CHECKING:
    from stream_sidecar.history.messages import StoredItem
    from stream_sidecar.history.removals import FieldRemovals
    from stream_sidecar.history.spans import RemovedSpan
    from stream_sidecar.parts import Json
    from stream_sidecar.values.json_places import Path

_NO_REPAIR = Repair(False, False, ABSENT)
"""The repair of most messages of a document."""

_NEW: Any = object()
"""In a tree of paths, the key of the value that replaces what is at the path."""

_GONE: Any = object()
"""The new value of an item that is removed from its list."""


@frozen
class ExaminedMessage:
    """A message, and what was found in its fields. Most messages have no such field."""

    message: Json
    fields: list[FieldRemovals]

    def inspection(self) -> Inspection:
        findings = [_finding(piece) for field in self.fields for piece in field.found]
        return Inspection(bool(findings), findings)

    def repair(self, *, in_place: bool = False) -> Repair:
        """The repair, with a new message if that can be written exactly. ``in_place``:
        the message is cut in the text of its document, so the repair has no new one:
        building it costs as much as everything else."""
        message = ABSENT if in_place else self.message
        stays = [_removal(piece) for field in self.fields for piece in field.bound]
        removed = [piece for field in self.fields for piece in field.removed]
        if in_place and not (removed or stays):
            return _NO_REPAIR
        more: Any = {"bound": True, "stays": stays} if stays else {}
        texts = _new_texts(removed)
        blocked = any(_is_emptied(field, texts) for field in self.fields)
        if blocked or not removed:
            return Repair(False, blocked, _portable(message), **more)
        parts = {piece.text.path: piece.text.part for piece in removed}
        gone = [part for path, part in parts.items() if part and not texts[path]]
        if not in_place:
            message = _portable(_rebuilt(message, texts, gone))
        readings = [each for field in self.fields for each in field.readings]
        return Repair(
            changed=True,
            blocked=False,
            message=message,
            edits=_edits(removed),
            removed=[_removal(piece) for piece in removed],
            dropped=[pointer_to(path) for path in gone],
            reasoning="".join(text for one in readings for text in one.reasoning)
            or None,
            tool_results=[each for one in readings for each in one.results] or None,
            tool_calls=[each for one in readings for each in one.calls] or None,
            **more,
        )


def _finding(piece: RemovedSpan) -> Finding:
    where = (piece.start, piece.end, piece.start_utf16, piece.end_utf16)
    return Finding(piece.kind, pointer_to(piece.text.path), *where, piece.removed)


def _removal(piece: RemovedSpan) -> Removal:
    where = (pointer_to(piece.text.path), piece.start, piece.end)
    return Removal(piece.kind, *where, piece.removed)


def _replacement(piece: RemovedSpan) -> str:
    return without_halves(piece.removed) if piece.kind == SURROGATE else ""


def _new_texts(removed: list[RemovedSpan]) -> dict[Path, str]:
    """The texts from which something is removed, without it, by their paths."""
    texts: dict[Path, str] = {}
    for text, pieces in groupby(removed, key=lambda piece: piece.text):
        kept: list[str] = []
        read_to = 0
        for piece in pieces:
            kept += (text.text[read_to : piece.start], _replacement(piece))
            read_to = piece.end
        texts[text.path] = "".join((*kept, text.text[read_to:]))
    return texts


def _is_emptied(field: FieldRemovals, texts: dict[Path, str]) -> bool:
    """Whether a field changes and then has no text, call or other part."""
    return bool(field.removed) and not any(_is_left(e, texts) for e in field.items)


def _is_left(item: StoredItem, texts: dict[Path, str]) -> bool:
    """Whether an item is left as content. Blank text and reasoning in a field of its
    own do not count."""
    if isinstance(item, Text):
        return bool(texts.get(item.path, item.text).strip())
    return not (isinstance(item, Thought) and item.beside)


def _portable(message: Json) -> Json:
    """``message``, if it can be written exactly."""
    return message if message is ABSENT or is_portable(message) else ABSENT


def _rebuilt(message: Json, texts: dict[Path, str], gone: list[Path]) -> Json:
    """A copy of the message with the new texts and without the parts that are gone.
    Values that hold none of these are not copied."""
    tree: dict[Any, Any] = {}
    for path in (*texts, *gone):
        inner = tree
        for name in path:
            inner = inner.setdefault(name, {})
        inner[_NEW] = texts.get(path, _GONE)
    for path in gone:
        at(tree, path)[_NEW] = _GONE
    return _replaced(message, tree)


def _replaced(value: Json, tree: dict[Any, Any]) -> Json:
    if _NEW in tree:
        return tree[_NEW]
    if isinstance(value, dict):
        news = {name: _replaced(value[name], inner) for name, inner in tree.items()}
        return {**value, **news}
    items = (
        _replaced(item, tree[number]) if number in tree else item
        for number, item in enumerate(value)
    )
    return [item for item in items if item is not _GONE]


def _edits(pieces: list[RemovedSpan]) -> list[Edit]:
    """The removals as edits; removals that touch are one edit, and so are halves of
    characters."""
    joined: list[Edit] = []
    for piece in pieces:
        path, new = pointer_to(piece.text.path), _replacement(piece)
        start, start_utf16 = piece.start, piece.start_utf16
        last = joined[-1] if joined else None
        touches = last is not None and (last.path, last.end) == (path, start)
        if last is not None and touches and bool(last.new_text) == bool(new):
            joined.pop()
            start, start_utf16 = last.start, last.start_utf16
            new = last.new_text + new
        joined.append(Edit(path, start, piece.end, start_utf16, piece.end_utf16, new))
    return joined
