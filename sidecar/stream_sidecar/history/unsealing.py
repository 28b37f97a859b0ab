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
    found: list[StoredMessage],
    repairs: list[RepairedMessage],
    model: str | None,
    *,
    is_after: bool,
) -> tuple[list[RepairedMessage], int]:
    """The ``repairs`` of a document's messages, which remove the seals that they break,
    too, and how many seals these are. ``is_after``: the document comes after an edit,
    which breaks all its seals. A message without other content is removed from its
    list."""
    edit = (-1, -inf) if is_after else first_edit(found, repairs)
    if edit is None:
        return repairs, 0
    made = {each.path: (each, repair) for each, repair in repairs}
    count = 0
    for number, each in enumerate(found):
        seals = seals_of(each, model)
        gone = [s.path for s in seals if s.in_list and (number, s.order) > edit]
        if gone:
            count += len(gone)
            repair = made[each.path][1] if each.path in made else _NOTHING_ELSE
            pointers = [*repair.dropped, *map(pointer_to, gone)]
            made[each.path] = _emptied(document, each, pointers) or (
                each,
                evolve(repair, dropped=pointers),
            )
    return [*made.values()], count


_NOTHING_ELSE = Repair(True, False, ABSENT)


def _emptied(
    document: Json, found: StoredMessage, dropped: list[str]
) -> RepairedMessage | None:
    """The removal of a message from its list, if the parts that are ``dropped`` are all
    its content; None if it has other content, or is in no list."""
    items = at(document, found.path[:-1])
    if not (found.path and isinstance(items, list) and is_emptied(found, dropped)):
        return None
    holder = evolve(found, path=found.path[:-1], message=items)
    return holder, evolve(_NOTHING_ELSE, dropped=[f"/{found.path[-1]}"])


def is_emptied(found: StoredMessage, dropped: list[str]) -> bool:
    """Whether the parts that are ``dropped`` are all the content of a message."""
    if found.has_calls:
        return False
    gone = set(dropped)
    for body in (found.shape or MESSAGE).bodies:
        value = at(found.message, body)
        numbers = range(len(value)) if isinstance(value, list) else ()
        places = (pointer_to((*body, number)) for number in numbers)
        if (isinstance(value, str) and value) or not gone.issuperset(places):
            return False
    return bool(dropped)


def first_edit(
    found: list[StoredMessage], repairs: list[RepairedMessage]
) -> tuple[int, float] | None:
    """The number of the first message that the ``repairs`` edit, and the order of the
    text. None: they edit nothing that a provider could have sealed."""
    numbers = {each.path: number for number, each in enumerate(found)}
    edits = (
        (numbers[each.path], part_number(path))
        for each, repair in repairs
        for removal in repair.removed
        if removal.kind != SURROGATE
        for path in [path_of(removal.path, each.message)]
        if str(at(each.message, path)).strip()
    )
    return min(edits, default=None)
