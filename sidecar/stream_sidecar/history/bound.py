"""Text that a later seal is bound to: after an edit, its provider refuses the session.

`signed_blocks` finds the seals in messages. This module says which texts of a document
come before one. Pure.
"""

from __future__ import annotations

from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

from stream_sidecar.history.signed_blocks import seals_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from stream_sidecar.history.messages import StoredMessage

BOUND = "a later seal is bound to it"
"""Why a text is not edited, for people."""


class BoundTexts:
    """Which texts of a document's messages, which are in their order, a seal is bound
    to: one in the document, or a later one if ``is_later`` says so. Nothing is looked
    for before the first question. ``unseals``: only a seal counts that cannot be taken
    out."""

    def __init__(
        self,
        messages: Iterable[StoredMessage],
        model: str | None,
        is_later: Callable[[], bool] = lambda: False,
        *,
        unseals: bool = False,
    ) -> None:
        self._messages, self._model, self._is_later = messages, model, is_later
        self._unseals = unseals

    @cached_property
    def _last_seal(self) -> tuple[int, float]:
        """The number of the last message with a seal, and the order of this seal."""
        sealed, order = -1, -inf
        for number, message in enumerate(self._messages):
            seals = seals_of(message, self._model)
            orders = [s.order for s in seals if not (self._unseals and s.in_list)]
            if orders:
                sealed, order = number, max(orders)
        return sealed, order

    def until(self, number: int) -> float:
        """Below this order the texts of the message with this ``number`` are bound."""
        sealed, order = self._last_seal
        if number < sealed or self._is_later():
            return inf
        return order if number == sealed else -inf
