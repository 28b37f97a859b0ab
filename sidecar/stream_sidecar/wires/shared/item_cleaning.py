"""What the wires' cleaners of requests have in common.

A cleaner gets the items of one request in order, after the steps for all wires
(`requests.refusals`), and removes what only this wire's providers refuse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.records import define, field
from stream_sidecar.wires.shared.rendering import LostPart
from stream_sidecar.wires.shared.request_shapes import changed, same

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.rendering import Reasoning
    from stream_sidecar.wires.shared.request_rules import Rule
    from stream_sidecar.wires.shared.request_shapes import RequestShape

NEVER = "this provider refuses to be sent reasoning"
NOT_WANTED = "the host wants none to be sent"
UNSIGNED = "thinking without the provider's signature is refused"
NO_BASE64 = "its signature is no base64"
NO_MEMBER = "this provider does not know it"


@define
class Cleaning:
    """The request whose ``items`` are cleaned, and the ``number`` of the item at hand.

    ``provider``: the host's; ``maker``: whose state the model can read, "" fits all.
    ``stores``: the server keeps the items that it sent. ``lost``: reports of what was
    removed.
    """

    shape: RequestShape
    rule: Rule
    provider: str
    model: str
    maker: str
    reasoning: Reasoning
    stores: bool
    items: list[Json]
    lost: list[LostPart]
    number: int = 0
    _reported: set[LostPart] = field(factory=set)

    @property
    def path(self) -> str:
        """The place of the item at hand in the request."""
        return f"/{self.shape.items}/{self.number}"

    def lose(self, inner: str, kind: str, reason: str) -> None:
        """Reports, once, what is removed at ``inner`` of the item at hand."""
        lost = LostPart(self.path + inner, kind, reason)
        if lost not in self._reported:
            self._reported.add(lost)
            self.lost.append(lost)

    def why_no_reasoning(self, *, has_calls: bool) -> str:
        """Why no reasoning of a turn may be sent, in any field; "" if it may."""
        if self.reasoning == "none":
            return NOT_WANTED
        is_for_calls = self.rule.reasoning == "calls" and self.rule.required
        is_refused = is_for_calls and not has_calls and self.reasoning == "auto"
        return NEVER if self.rule.reasoning == "never" or is_refused else ""

    def without_reasoning(
        self, message: JsonObject, name: str, why_not: Callable[[Json], str]
    ) -> JsonObject:
        """``message`` without the refused parts of its list ``name``."""
        parts = message.get(name)
        if not isinstance(parts, list):
            return message
        allowed: list[Json] = []
        for number, part in enumerate(parts):
            if reason := why_not(part):
                self.lose(f"/{name}/{number}", "reasoning", reason)
            else:
                allowed.append(part)
        return changed(message, {name: same(parts, allowed)})

    def with_members(self, holder: JsonObject, names: tuple[str, ...]) -> JsonObject:
        """``holder`` with only its members ``names``; the provider knows no others."""
        unknown = [name for name in holder if name not in names]
        for name in unknown:
            if holder[name]:
                self.lose("", "state", f"{NO_MEMBER}: {name}")
        return {n: holder[n] for n in holder if n in names} if unknown else holder


class ItemCleaner:
    """Cleans the items of one request. This one is for wires that refuse nothing."""

    def __init__(self, cleaning: Cleaning) -> None:
        self.cleaning = cleaning

    def clean(self, item: JsonObject) -> JsonObject | None:
        """The item as it may be sent; None if it may not."""
        return item

    def clean_end(self, item: JsonObject) -> JsonObject | None:
        """An item of the turn that ends the request, as it may be sent, or None."""
        return item

    def note_removed(self) -> None:
        """Notes that an item went whole before it came here, or after."""


def without_nulls(
    holder: JsonObject, names: Collection[str], inner: Mapping[str, Collection[str]]
) -> JsonObject:
    """``holder`` without its members of null, except for ``names``; and without those
    in the objects of its members ``inner``, except for the names there. Dumps of SDKs'
    objects (``model_dump()``) have a null for each member that is not set, but a schema
    accepts null only in some. What a call or a tool's schema has inside is data and
    stays."""
    holder = _without(holder, names)
    members: dict[str, Json] = {}
    for name, nullable in inner.items():
        value = holder.get(name)
        if isinstance(value, dict):
            members[name] = _without(value, nullable)
        elif isinstance(value, list):
            parts = [_without(v, nullable) if isinstance(v, dict) else v for v in value]
            members[name] = same(value, parts)
    return changed(holder, members)


def _without(holder: JsonObject, names: Collection[str]) -> JsonObject:
    filled = {n: v for n, v in holder.items() if v is not None or n in names}
    return holder if len(filled) == len(holder) else filled
