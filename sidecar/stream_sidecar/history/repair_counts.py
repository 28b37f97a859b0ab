"""What is counted of repairs, by provider and model.

Safe on any thread: batches count beside the connection, which reads the totals.
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


def counters_of(
    repair: Repair, provider: str | None, model: str | None
) -> ModelRepairCounters:
    """What the repair of one message counts for."""
    kinds = Counter(each.kind for each in repair.removed) if repair.removed else {}
    return ModelRepairCounters(
        1, repair.changed, repair.blocked, kinds, provider, model
    )


class RepairCounts:
    """``add`` counters of messages, ``total`` them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._models: dict[Named, ModelRepairCounters] = {}

    def add(self, counters: ModelRepairCounters) -> None:
        """Adds what was counted of one model."""
        with self._lock:
            name = counted_as(counters.provider, counters.model, self._models)
            known = ModelRepairCounters(provider=name[0], model=name[1])
            _add(self._models.setdefault(name, known), counters)

    def total(self) -> AllRepairCounters:
        """All models together, and copies of each."""
        with self._lock:
            models = self._models.values()
            total = AllRepairCounters(
                by_model=[evolve(each, removed={**each.removed}) for each in models]
            )
        for each in total.by_model:
            _add(total, each)
        return total


def _add(total: RepairCounters, more: RepairCounters) -> None:
    total.messages += more.messages
    total.changed += more.changed
    total.blocked += more.blocked
    for kind, count in more.removed.items():
        total.removed[kind] = total.removed.get(kind, 0) + count
