"""The results for one message, made of what was found in its fields of text.

An `ExaminedMessage` gives the results of message/inspect and message/repair
(protocol.md, "message/inspect" and "message/repair"). Pure; searches no text.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from stream_sidecar.history.messages import Text, Thought
from stream_sidecar.history.paths import pointer_to
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
        bound = [_removal(piece) for field in self.fields for piece in field.bound]
        removed = [piece for field in self.fields for piece in field.removed]
        if in_place and not (removed or bound):
            return _NO_REPAIR
        seals: Any = {"bound": True, "stays": bound} if bound else {}
        texts = _new_texts(removed)
        is_blocked = any(_is_emptied(field, texts) for field in self.fields)
        if is_blocked or not removed:
            return Repair(False, is_blocked, _portable(message), **seals)
        parts = {piece.text.path: piece.text.part for piece in removed}
        dropped = [part for path, part in parts.items() if part and not texts[path]]
        if not in_place:
            message = _portable(_rebuilt(message, texts, dropped))
        readings = [reading for field in self.fields for reading in field.readings]
        return Repair(
            changed=True,
            blocked=False,
            message=message,
            edits=_edits(removed),
            removed=[_removal(piece) for piece in removed],
            dropped=[pointer_to(path) for path in dropped],
            reasoning="".join(text for r in readings for text in r.reasoning) or None,
            tool_results=[result for r in readings for result in r.results] or None,
            tool_calls=[call for r in readings for call in r.calls] or None,
            **seals,
        )


def _finding(piece: RemovedSpan) -> Finding:
    ends = (piece.start, piece.end, piece.start_utf16, piece.end_utf16)
    return Finding(piece.kind, pointer_to(piece.text.path), *ends, piece.removed)


def _removal(piece: RemovedSpan) -> Removal:
    place = (pointer_to(piece.text.path), piece.start, piece.end)
    return Removal(piece.kind, *place, piece.removed)


def _replacement(piece: RemovedSpan) -> str:
    return without_halves(piece.removed) if piece.kind == SURROGATE else ""


def _new_texts(removed: list[RemovedSpan]) -> dict[Path, str]:
    """The texts from which something is removed, without it, by their paths."""
    texts: dict[Path, str] = {}
    for text, pieces in groupby(removed, key=lambda piece: piece.text):
        parts: list[str] = []
        end = 0
        for piece in pieces:
            parts += (text.text[end : piece.start], _replacement(piece))
            end = piece.end
        texts[text.path] = "".join((*parts, text.text[end:]))
    return texts


def _is_emptied(field: FieldRemovals, texts: dict[Path, str]) -> bool:
    """Whether a field changes and then has no text, call or other part. Blank text and
    reasoning in a field of its own are no content."""
    is_left = any(
        texts.get(item.path, item.text).strip()
        if isinstance(item, Text)
        else not (isinstance(item, Thought) and item.beside)
        for item in field.items
    )
    return bool(field.removed) and not is_left


def _portable(message: Json) -> Json:
    """``message``, if it can be written exactly."""
    return message if message is ABSENT or is_portable(message) else ABSENT


def _rebuilt(message: Json, texts: dict[Path, str], dropped: list[Path]) -> Json:
    """A copy of the message with the new texts and without the ``dropped`` parts.
    Values that hold none of these are not copied."""
    tree: dict[Any, Any] = {}
    values = {**texts, **dict.fromkeys(dropped, _GONE)}
    for path, value in values.items():
        branch = tree
        for name in path:
            branch = branch.setdefault(name, {})
        branch[_NEW] = value
    return _replaced(message, tree)


def _replaced(value: Json, tree: dict[Any, Any]) -> Json:
    if _NEW in tree:
        return tree[_NEW]
    if isinstance(value, dict):
        members = {name: _replaced(value[name], tree[name]) for name in tree}
        return {**value, **members}
    items = (
        _replaced(item, tree[number]) if number in tree else item
        for number, item in enumerate(value)
    )
    return [item for item in items if item is not _GONE]


def _edits(pieces: list[RemovedSpan]) -> list[Edit]:
    """The removals as edits: one for removals, or for halves, that touch."""
    joined: list[Edit] = []
    for piece in pieces:
        path, new = pointer_to(piece.text.path), _replacement(piece)
        start, start_utf16 = piece.start, piece.start_utf16
        edit = joined[-1] if joined else None
        touches = edit is not None and (edit.path, edit.end) == (path, start)
        if edit is not None and touches and bool(edit.new_text) == bool(new):
            joined.pop()
            start, start_utf16 = edit.start, edit.start_utf16
            new = edit.new_text + new
        joined.append(Edit(path, start, piece.end, start_utf16, piece.end_utf16, new))
    return joined
