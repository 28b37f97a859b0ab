"""What is counted of repairs, by provider and model.

Safe on any thread: batches count beside the connection, which reads the totals.
"""

# The converter reads the annotations at run time.
from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeAlias

from attrs import Factory

from stream_sidecar.records import define

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

MODELS = 256
"""So many models have counters of their own; names come from strangers."""

_LONGEST_NAME = 256
"""Code points of a name; of a longer one the beginning counts."""

Named: TypeAlias = "tuple[str | None, str | None]"
"""Provider and model; None: it is not known."""


def counted_as(
    provider: str | None, model: str | None, counted: Collection[Named]
) -> Named:
    """Under which names a message is counted, where others have been ``counted``."""
    named = provider and provider[:_LONGEST_NAME], model and model[:_LONGEST_NAME]
    is_one_more = named not in counted and len(counted) >= MODELS
    return (None, None) if is_one_more else named


@define
class RepairCounters:
    """Totals over the model's messages that message/repair has read; ``removed`` are
    removals by kind."""

    messages: int = 0
    changed: int = 0
    blocked: int = 0
    removed: dict[str, int] = Factory(dict)


@define
class ModelRepairCounters(RepairCounters):
    """Totals of one model; None: neither the host nor the message has named it."""

    provider: str | None = None
    model: str | None = None


@define
class AllRepairCounters(RepairCounters):
    """Totals of all models together, and of each."""

    by_model: list[ModelRepairCounters] = Factory(list)


class RepairCounts:
    """``add`` the results of messages, ``total`` them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._models: dict[Named, ModelRepairCounters] = {}

    def add(
        self,
        provider: str | None,
        model: str | None,
        removed: Mapping[str, int],
        *,
        messages: int = 1,
        changed: int = 0,
        blocked: int = 0,
    ) -> None:
        """Counts ``messages`` of one model; ``removed``: removals by kind."""
        with self._lock:
            name = counted_as(provider, model, self._models)
            counters = self._models.setdefault(
                name, ModelRepairCounters(provider=name[0], model=name[1])
            )
            _add(counters, RepairCounters(messages, changed, blocked, dict(removed)))

    def add_counters(self, counters: ModelRepairCounters) -> None:
        """Adds what was counted elsewhere."""
        self.add(
            counters.provider,
            counters.model,
            counters.removed,
            messages=counters.messages,
            changed=counters.changed,
            blocked=counters.blocked,
        )

    def total(self) -> AllRepairCounters:
        """All models together, and copies of each."""
        total = AllRepairCounters()
        with self._lock:
            for counters in self._models.values():
                copy = ModelRepairCounters(
                    provider=counters.provider, model=counters.model
                )
                _add(copy, counters)
                _add(total, counters)
                total.by_model.append(copy)
        return total


def _add(total: RepairCounters, more: RepairCounters) -> None:
    total.messages += more.messages
    total.changed += more.changed
    total.blocked += more.blocked
    for kind, count in more.removed.items():
        total.removed[kind] = total.removed.get(kind, 0) + count
