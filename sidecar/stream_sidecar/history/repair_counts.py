"""Counts of repairs, by provider and model.

Safe on any thread: batches count on other threads than the connection, which reads the
totals.
"""

# The converter reads the annotations at run time.
from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

from attrs import Factory

from stream_sidecar.records import define, evolve

if TYPE_CHECKING:
    from collections.abc import Collection

    from stream_sidecar.history.results import Repair

MODELS = 256
"""How many models have counters of their own; their names come from strangers."""

_LONGEST_NAME = 256
"""How many code points of a name count; the rest is ignored."""

Named: TypeAlias = "tuple[str | None, str | None]"
"""Provider and model; None: it is not known."""


def counted_as(
    provider: str | None, model: str | None, counted: Collection[Named]
) -> Named:
    """The names under which a message is counted, given the names ``counted`` so far.
    Models beyond `MODELS` are counted together, without a name."""
    names = provider and provider[:_LONGEST_NAME], model and model[:_LONGEST_NAME]
    is_one_more = names not in counted and len(counted) >= MODELS
    return (None, None) if is_one_more else names


@define
class RepairCounters:
    """Totals over the model's messages that message/repair has read; ``removed`` counts
    removals by kind."""

    messages: int = 0
    changed: int = 0
    blocked: int = 0
    removed: dict[str, int] = Factory(dict)


@define
class ModelRepairCounters(RepairCounters):
    """Totals of one model. A name is None if neither the host nor the message gave it;
    both are None for the models beyond 256, counted together."""

    provider: str | None = None
    model: str | None = None


@define
class AllRepairCounters(RepairCounters):
    """Totals of all models together, and of each model."""

    by_model: list[ModelRepairCounters] = Factory(list)


def counters_of(
    repair: Repair, provider: str | None, model: str | None
) -> ModelRepairCounters:
    kinds = Counter(each.kind for each in repair.removed) if repair.removed else {}
    return ModelRepairCounters(
        1, repair.changed, repair.blocked, kinds, provider, model
    )


class RepairCounts:
    """Adds up counters of messages: ``add`` some, then read the ``total``."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._models: dict[Named, ModelRepairCounters] = {}

    def add(self, counters: ModelRepairCounters) -> None:
        with self._lock:
            name = counted_as(counters.provider, counters.model, self._models)
            zero = ModelRepairCounters(provider=name[0], model=name[1])
            _add(self._models.setdefault(name, zero), counters)

    def total(self) -> AllRepairCounters:
        """The totals of all models together, with copies of each model's counters."""
        with self._lock:
            models = self._models.values()
            total = AllRepairCounters(
                by_model=[evolve(each, removed={**each.removed}) for each in models]
            )
        for model in total.by_model:
            _add(total, model)
        return total


def _add(total: RepairCounters, counters: RepairCounters) -> None:
    total.messages += counters.messages
    total.changed += counters.changed
    total.blocked += counters.blocked
    for kind, count in counters.removed.items():
        total.removed[kind] = total.removed.get(kind, 0) + count
