"""The edits of the file that mend a fault: a table of rules.

A rule that is not in the table is mended in a request, or not at all. An edit removes
what the provider refuses, or replaces characters; it never adds what a model or a tool
could have written.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from stream_sidecar.history.paths import at
from stream_sidecar.records import frozen
from stream_sidecar.resume.conversation import StoredPlace
from stream_sidecar.resume.findings import FileEdit
from stream_sidecar.values.jsontext import dumps
from stream_sidecar.values.made_id import made_id
from stream_sidecar.values.surrogates import without_halves
from stream_sidecar.wires.shared.fitting import name_for
from stream_sidecar.wires.shared.request_shapes import name_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.resume.conversation import SentItem
    from stream_sidecar.resume.faults import Fault, Request
    from stream_sidecar.values.json_places import Path

_BLANK = "[blank text]"
_LINKS = ("parentUuid", "parentId", "ordinal")
"""Members by which records refer to each other: no such record goes whole."""

_PAYLOADS: tuple[Path, ...] = ((), ("payload",), ("message",))
"""Where a line has its only item."""

_SEALS = ("signature", "thoughtSignature", "thought_signature", "encrypted_content")
_LONGEST = 256
"""Texts of this length may be outlines, which cannot be written back."""


@frozen
class StoredRequest:
    """A ``request``, its items with their places in the file, and how the agent wants
    an item to go (`AgentFormat.without_item`)."""

    request: Request
    sent: tuple[SentItem, ...]
    without_item: Callable[[StoredPlace], tuple[FileEdit, ...]] | None = None


def edits_for(stored: StoredRequest, fault: Fault) -> tuple[FileEdit, ...]:
    """What mends a fault in the file; () if nothing does."""
    mend = _MENDS.get(fault.rule)
    return mend(stored, fault) if mend else ()


def _removed_item(stored: StoredRequest, source: StoredPlace) -> tuple[FileEdit, ...]:
    """Removes an item that is stored as a line, or in a list."""
    if stored.without_item is not None:
        return stored.without_item(source)
    record, inner = source.record, source.path[len(source.record.path) :]
    if inner and isinstance(inner[-1], int):
        return (FileEdit(source),)
    value = record.value
    is_linked = isinstance(value, dict) and any(name in value for name in _LINKS)
    if "line" in record.place and inner in _PAYLOADS and not is_linked:
        return (FileEdit(StoredPlace(record, ())),)
    return ()


def _remove(stored: StoredRequest, fault: Fault) -> tuple[FileEdit, ...]:
    """Removes a part, or the item if it has no other."""
    item = stored.sent[fault.number]
    if not fault.path:
        return _removed_item(stored, item.source)
    source = item.stored(fault.path)
    if source.path[-1:] and source.path[-1] in _SEALS:
        return (FileEdit(source),)
    siblings = at(item.item, fault.path[:1])
    if isinstance(siblings, list) and len(siblings) > 1:
        if source.path and isinstance(source.path[-1], int):
            return (FileEdit(source),)
        is_row = "row" in source.record.place
        return stored.without_item(source) if is_row and stored.without_item else ()
    return _removed_item(stored, item.source)


def _remove_reasoning(stored: StoredRequest, fault: Fault) -> tuple[FileEdit, ...]:
    """Removes an item of reasoning, and the ids of the model's items behind it: by
    those the provider asks for it."""
    edits = _remove(stored, fault)
    if not edits or stored.sent[fault.number].item.get("type") != "reasoning":
        return edits
    behind = stored.sent[fault.number + 1 :]
    issued = takewhile(lambda each: each.item.get("type") != "reasoning", behind)
    ids = (
        FileEdit(each.stored(("id",)))
        for each in issued
        if "id" in each.item and each.item.get("role", "assistant") == "assistant"
    )
    return (*edits, *ids)


def _unblank(stored: StoredRequest, fault: Fault) -> tuple[FileEdit, ...]:
    """Removes a blank text; the only text of a turn says that it was blank."""
    siblings = at(stored.sent[fault.number].item, fault.path[:-1])
    if isinstance(siblings, list) and len(siblings) > 1:
        return _remove(stored, fault)
    source = stored.sent[fault.number].stored((*fault.path, "text"))
    return (FileEdit(source, dumps(_BLANK)),)


def _rename(stored: StoredRequest, fault: Fault) -> tuple[FileEdit, ...]:
    """Replaces refused characters in a tool's name."""
    item = stored.sent[fault.number]
    holder = at(item.item, fault.path)
    name = name_of(holder) if isinstance(holder, dict) else None
    if not isinstance(name, str) or not (
        new_name := name_for(stored.request.rule, name)
    ):
        return ()
    words = ((), ("function",), ("custom",))
    paths = ((*fault.path, *word, "name") for word in words)
    path = next((path for path in paths if at(item.item, path) == name), None)
    return () if path is None else (FileEdit(item.stored(path), dumps(new_name)),)


def _heal(stored: StoredRequest, fault: Fault) -> tuple[FileEdit, ...]:
    """Puts U+FFFD in place of half a character."""
    item = stored.sent[fault.number]
    text = at(item.item, fault.path)
    if not isinstance(text, str) or len(text) >= _LONGEST:
        return ()
    return (FileEdit(item.stored(fault.path), dumps(without_halves(text))),)


def _own_id(stored: StoredRequest, fault: Fault) -> tuple[FileEdit, ...]:
    """Gives a later call of a repeated id, and its result, an id of their own. Calls
    and results are paired in their order, so there must be as many of each. One that
    only repeats an earlier call, and has no result, goes."""
    request, shape = stored.request, stored.request.shape
    call = at(stored.sent[fault.number].item, fault.path)
    id = call.get(shape.id) if isinstance(call, dict) else None
    if not isinstance(id, str):
        return ()
    calls: list[tuple[int, Path]] = []
    answers: list[tuple[int, Path]] = []
    for number in range(len(stored.sent)):
        calls += [
            (number, p) for p, c in request.calls(number) if c.get(shape.id) == id
        ]
        answers += [
            (number, path)
            for path, answer in request.answers(number)
            if answer.get(shape.answered) == id
        ]
    if (fault.number, fault.path) not in calls:
        return ()
    place = calls.index((fault.number, fault.path))
    if len(calls) != len(answers):
        earlier = (at(stored.sent[n].item, path) for n, path in calls[:place])
        return _remove(stored, fault) if call in earlier else ()
    number, path = answers[place]
    new_id = dumps(made_id(f"{id}#{place}"))
    return (
        FileEdit(stored.sent[fault.number].stored((*fault.path, shape.id)), new_id),
        FileEdit(stored.sent[number].stored((*path, shape.answered)), new_id),
    )


_MENDS: dict[str, Callable[[StoredRequest, Fault], tuple[FileEdit, ...]]] = {
    "blank-text": _unblank,
    "signature-missing": _remove,
    "signature-foreign": _remove,
    "foreign-encrypted-content": _remove_reasoning,
    "lonely-reasoning": _remove,
    "item-not-stored": _remove_reasoning,
    "result-without-call": _remove,
    "name-characters": _rename,
    "half-surrogate": _heal,
    "repeated-id": _own_id,
    "two-results": _remove,
}
