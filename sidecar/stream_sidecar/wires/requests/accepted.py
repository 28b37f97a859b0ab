"""A request that its provider accepts: the steps for a provider with rules, in order.

Each step changes only what the provider refuses (wires/README.md, "Requests").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.wires.requests.refusals import cleaned_end, cleaned_items
from stream_sidecar.wires.requests.settings import refused_at_end, refused_settings
from stream_sidecar.wires.requests.turn_list import TurnList
from stream_sidecar.wires.shared.item_cleaning import Cleaning

if TYPE_CHECKING:
    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.requests.destination import Destination
    from stream_sidecar.wires.shared.rendering import LostPart
    from stream_sidecar.wires.shared.request_rules import Rule


def accepted_request(
    to: Destination,
    rule: Rule,
    body: JsonObject,
    items: list[Json],
    lost: list[LostPart],
) -> tuple[list[Json], JsonObject]:
    """The ``items`` of the request ``body`` without what the provider refuses, and the
    settings to change. The model's turn at the end stays."""
    cleaning = Cleaning(
        shape=to.row.shape,
        rule=rule,
        provider=to.provider,
        model=to.model,
        maker=to.maker,
        reasoning=to.reasoning,
        stores=to.stores,
        items=items,
        lost=lost,
    )
    cleaner, end = to.row.cleaner(cleaning), to.prefix(items)
    cleaned = cleaned_items(cleaning, cleaner, end)
    turns = TurnList(to.row, rule, cleaned, lost, to.continues).mend()
    turns += cleaned_end(cleaning, cleaner, end)
    prefix = list(enumerate(items))[end:]
    lost += refused_at_end(to.row, rule, to.model, prefix)
    return turns, refused_settings(to.row, rule, body, turns, lost)
