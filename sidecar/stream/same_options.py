"""Streams of one host mostly have the same options: their surroundings are made once.

`SameOptions` gives what `surroundings` gives. It remembers what it made last, without
anything of a stream, and gives it again where model, provider, tools, policy and limits
are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidecar.channel.setup import Surroundings, surroundings
from sidecar.message.outlet import Outlet

if TYPE_CHECKING:
    from sidecar.options import StreamOptions


class SameOptions:
    """``surroundings`` of a new stream."""

    def __init__(self) -> None:
        self._known: Surroundings | None = None

    def surroundings(self, options: StreamOptions, outlet: Outlet) -> Surroundings:
        known = self._known
        if known is None or _decisive(known.options) != _decisive(options):
            nobody = Outlet(parts=False, trace=False)
            known = self._known = surroundings(options, nobody)
        return Surroundings(
            options,
            known.profile,
            known.policy,
            known.lexicon,
            known.context,
            known.rules,
            known.watch,
            outlet,
            known.tools,
        )


def _decisive(options: StreamOptions) -> tuple[object, ...]:
    """What surroundings are made of."""
    who = options.provider, options.model
    return *who, options.tools, options.policy, options.limits
