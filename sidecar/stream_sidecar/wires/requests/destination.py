"""Where a request goes, and what the host and the server say about its way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.records import frozen
from stream_sidecar.wires.shared.request_rules import Names, rule_for

if TYPE_CHECKING:
    from stream_sidecar.parts import Json
    from stream_sidecar.wires.shared.rendering import Reasoning
    from stream_sidecar.wires.shared.request_rules import Rule
    from stream_sidecar.wires.shared.row import WireRow


@frozen
class Destination:
    """The wire's ``row``, the provider and the model, "" if nobody named them.

    ``reasoning``: which of it the host wants to send. ``stores``: the server keeps the
    items that it sent. ``continues``: the server has earlier items, which the request
    names and does not repeat.
    """

    row: WireRow
    provider: str
    model: str
    reasoning: Reasoning
    stores: bool
    continues: bool

    @property
    def maker(self) -> str:
        """The maker whose state the model can read; "" if it is not known."""
        return Names(self.provider, self.model).maker

    @property
    def rule(self) -> Rule | None:
        """The rule of the provider and model; None if they are not known to refuse."""
        rules = self.row.rules
        rule = rule_for(rules, Names(self.provider, self.model))
        is_nobody = rule is rules[-1] and self.row.is_of_many
        return None if is_nobody or not (self.provider or self.model) else rule

    def prefix(self, items: list[Json]) -> int:
        """The index at which the model's turn at the end of the list begins. Where each
        call is an item, so is each part of the turn."""
        start = len(items)
        while start and self.row.shape.role(items[start - 1]) == "model":
            start -= 1
            if self.row.shape.parts:
                break
        return start
