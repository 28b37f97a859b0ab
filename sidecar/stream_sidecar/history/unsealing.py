"""Edits of text that seals are bound to: the broken seals are taken out with them.

A seal is broken if it comes after an edit in its conversation. Its whole block goes,
because an agent would send thinking without a signature back, and a provider refuses
that, too. Pure.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, TypeAlias

from stream_sidecar.history.paths import at, part_number, path_of, pointer_to
from stream_sidecar.history.results import SURROGATE, Repair
from stream_sidecar.history.shapes import MESSAGE
from stream_sidecar.history.signed_blocks import seals_of
from stream_sidecar.records import evolve
from stream_sidecar.values.absent import ABSENT

if TYPE_CHECKING:
    from stream_sidecar.history.messages import StoredMessage
    from stream_sidecar.parts import Json

RepairedMessage: TypeAlias = "tuple[StoredMessage, Repair]"


def unsealed(
    document: Json,
    messages: list[StoredMessage],
    repairs: list[RepairedMessage],
    model: str | None,
    *,
    is_after: bool,
) -> tuple[list[RepairedMessage], int]:
    """The ``repairs`` of a document's messages, which remove the seals that they break,
    too, and how many seals these are. ``is_after``: the document comes after an edit,
    which breaks all its seals. A message without other content is removed from its
    list."""
    edit = (-1, -inf) if is_after else first_edit(messages, repairs)
    if edit is None:
        return repairs, 0
    by_path = {message.path: (message, repair) for message, repair in repairs}
    count = 0
    for number, message in enumerate(messages):
        seals = seals_of(message, model)
        broken = [s.path for s in seals if s.in_list and (number, s.order) > edit]
        if broken:
            count += len(broken)
            _, repair = by_path.get(message.path, (message, _NOTHING_ELSE))
            pointers = [*repair.dropped, *map(pointer_to, broken)]
            unsealed_message = message, evolve(repair, dropped=pointers)
            removal = _emptied(document, message, pointers)
            by_path[message.path] = removal or unsealed_message
    return [*by_path.values()], count


_NOTHING_ELSE = Repair(True, False, ABSENT)


def _emptied(
    document: Json, message: StoredMessage, dropped: list[str]
) -> RepairedMessage | None:
    """The removal of a message from its list, if the parts that are ``dropped`` are all
    its content; None if it has other content, or is in no list."""
    path = message.path
    items = at(document, path[:-1])
    if not (path and isinstance(items, list) and is_emptied(message, dropped)):
        return None
    holder = evolve(message, path=path[:-1], message=items)
    return holder, evolve(_NOTHING_ELSE, dropped=[f"/{path[-1]}"])


def is_emptied(message: StoredMessage, dropped: list[str]) -> bool:
    """Whether the parts that are ``dropped`` are all the content of a message."""
    if message.has_calls:
        return False
    for body in (message.shape or MESSAGE).bodies:
        value = at(message.message, body)
        numbers = range(len(value)) if isinstance(value, list) else ()
        places = (pointer_to((*body, number)) for number in numbers)
        if (isinstance(value, str) and value) or not {*dropped}.issuperset(places):
            return False
    return bool(dropped)


def first_edit(
    messages: list[StoredMessage], repairs: list[RepairedMessage]
) -> tuple[int, float] | None:
    """The number of the first message that the ``repairs`` edit, and the order of the
    text. None: they edit nothing that a provider could have sealed."""
    numbers = {message.path: number for number, message in enumerate(messages)}
    edits = (
        (numbers[message.path], part_number(path))
        for message, repair in repairs
        for removal in repair.removed
        if removal.kind != SURROGATE
        for path in [path_of(removal.path, message.message)]
        if str(at(message.message, path)).strip()
    )
    return min(edits, default=None)
