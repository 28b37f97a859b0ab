"""Removes from each item of a request what its provider refuses.

`cleaned_items` applies the provider's rule, as on any wire: to state of other makers,
names, ids, arguments. Then the cleaner of the wire's row removes what only this wire's
providers refuse (wires/README.md, "Requests"). An item in which nothing is refused is
returned as the same object. The result for an item never depends on later items, except
on turns of the model right after it, which continue it. Never raises for any JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.records import define
from stream_sidecar.wires.requests.issuers import readable
from stream_sidecar.wires.shared.fields import type_of
from stream_sidecar.wires.shared.fitting import id_for, name_for
from stream_sidecar.wires.shared.item_ids import BOUND_TO_ID
from stream_sidecar.wires.shared.rendering import LostPart, object_of
from stream_sidecar.wires.shared.request_shapes import (
    changed,
    function_of,
    name_of,
    with_function,
)

if TYPE_CHECKING:
    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.item_cleaning import Cleaning, ItemCleaner

OTHER_IDS = "this provider accepts only other ids"
OTHER_NAMES = "this provider accepts only other names of tools"
LED = "the item that it led to does not go"
NO_NAME = "a call without a name is refused"
NO_OBJECT = "the arguments are no JSON object that this provider accepts"


def cleaned_items(
    cleaning: Cleaning, cleaner: ItemCleaner, end: int
) -> list[tuple[int, Json]]:
    """The items before the number ``end`` as they may be sent, each with its number. An
    item that is refused goes with the reasoning that led to it."""
    items: list[tuple[int, Json]] = []
    one_item = _Item(cleaning, cleaner)
    for number, raw in enumerate(cleaning.items[:end]):
        cleaning.number = number
        item = one_item.clean(raw) if isinstance(raw, dict) else raw
        if item is not None or raw is None:
            items.append((number, item))
        elif items and _leads_to(items[-1][1], raw):
            thought, _ = items.pop()
            path = f"/{cleaning.shape.items}/{thought}"
            cleaning.lost.append(LostPart(path, "reasoning", LED))
            cleaner.note_removed()
    return items


def cleaned_end(cleaning: Cleaning, cleaner: ItemCleaner, start: int) -> list[Json]:
    """The items from the number ``start`` on: the model's turn that ends the request.
    Only what would break this turn off is removed."""
    items: list[Json] = []
    for number, item in enumerate(cleaning.items[start:], start):
        cleaning.number = number
        cleaned = cleaner.clean_end(item) if isinstance(item, dict) else item
        items += [] if cleaned is None else [cleaned]
    return items


def _leads_to(thought: Json, item: Json) -> bool:
    """Whether ``thought`` is reasoning that led to ``item``, which must have an id."""
    is_bound = isinstance(item, dict) and type_of(item) in BOUND_TO_ID
    return is_bound and isinstance(thought, dict) and type_of(thought) == "reasoning"


@define
class _Item:
    """Cleans one item. A new name or id depends only on the old one."""

    cleaning: Cleaning
    cleaner: ItemCleaner

    def clean(self, item: JsonObject) -> JsonObject | None:
        cleaning, shape = self.cleaning, self.cleaning.shape
        readable_item = readable(item, cleaning.maker, cleaning.path, cleaning.lost)
        if not isinstance(readable_item, dict):
            self.cleaner.note_removed()
            return None
        new_item = shape.change_calls(readable_item, self._call)
        if new_item is not None:
            new_item = shape.change_answers(new_item, self._answer)
        return None if new_item is None else self.cleaner.clean(new_item)

    def _call(self, call: JsonObject) -> JsonObject | None:
        cleaning, shape, name = self.cleaning, self.cleaning.shape, name_of(call)
        is_named = isinstance(name, str) and name_for(cleaning.rule, name)
        may_lack_name = shape.named_calls and type_of(call) not in shape.named_calls
        if not is_named and (name is not None or not may_lack_name):
            cleaning.lose("", "tool-call", NO_NAME)
            return None
        call = self._with_name(self._with_id(call, shape.id))
        if shape.call_members and cleaning.rule.is_closed:
            call = cleaning.with_members(call, shape.call_members)
        return self._with_arguments(call)

    def _answer(self, answer: JsonObject) -> JsonObject:
        return self._with_name(self._with_id(answer, self.cleaning.shape.answered))

    def _with_id(self, holder: JsonObject, name: str) -> JsonObject:
        id = holder.get(name)
        if not isinstance(id, str):
            return holder
        new_id = id_for(self.cleaning.rule, id)
        if new_id == id:
            return holder
        self.cleaning.lose("", "tool-call-id", OTHER_IDS)
        return changed(holder, {name: new_id})

    def _with_name(self, holder: JsonObject) -> JsonObject:
        name = name_of(holder)
        if not isinstance(name, str):
            return holder
        new_name = name_for(self.cleaning.rule, name)
        if new_name == name:
            return holder
        self.cleaning.lose("", "name", OTHER_NAMES)
        return with_function(holder, name=new_name)

    def _with_arguments(self, call: JsonObject) -> JsonObject:
        """The call with arguments that the provider accepts: an object, in which no
        name is too long, on wires where they are no text."""
        rule, shape = self.cleaning.rule, self.cleaning.shape
        value = function_of(call).get(shape.input)
        if not isinstance(value, str):
            return call
        parsed = object_of(value)
        takes_text = rule.raw_arguments and not shape.is_parsed
        has_long_key = any(len(key) > rule.longest_key for key in parsed or ())
        if (parsed is None and not takes_text) or has_long_key:
            self.cleaning.lose("", "arguments", NO_OBJECT)
            parsed = {}
        elif not shape.is_parsed:
            return call
        return with_function(call, **{shape.input: parsed if shape.is_parsed else "{}"})
