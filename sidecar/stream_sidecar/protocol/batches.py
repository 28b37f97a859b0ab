"""Methods on whole sessions: message/inspect and message/repair.

Both read the messages in their order, because the results of tools earlier in a session
show what is an echo later. ``watch(done, total)`` is called before each message; an
exception that it raises ends the batch.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from stream_sidecar.history.bound import BoundTexts
from stream_sidecar.history.documents import named_model
from stream_sidecar.history.history import History
from stream_sidecar.history.messages import read_message
from stream_sidecar.history.repair_counts import counters_of
from stream_sidecar.history.shapes import shape_of
from stream_sidecar.options import StreamOptions
from stream_sidecar.protocol.params import InspectResult, RepairResult
from stream_sidecar.protocol.reading_options import patched

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.history.results import Repair
    from stream_sidecar.protocol.params import HistoryParams
    from stream_sidecar.protocol.sessions import Sessions

T = TypeVar("T")
BatchWatch: TypeAlias = Callable[[int, int], None]


def inspect_messages(
    sessions: Sessions, params: HistoryParams, watch: BatchWatch
) -> InspectResult:
    """``message/inspect``, which changes and counts nothing."""
    history = _history(sessions, params)
    return InspectResult([*map(history.inspect, _watched(params.messages, watch))])


def repair_messages(
    sessions: Sessions, params: HistoryParams, watch: BatchWatch
) -> RepairResult:
    """``message/repair``: the repaired messages, which `Sessions` counts."""
    # Read only if something has to be removed: most batches have no seal to look for.
    stored = (
        read_message(item, shape_of(item), model=named_model(item))
        for item in params.messages
    )
    bound = BoundTexts(stored, params.model)
    history = _history(sessions, params)
    results: list[Repair] = []
    for number, item in enumerate(_watched(params.messages, watch)):
        message = read_message(item, shape_of(item))
        result = history.examine(message, partial(bound.until, number)).repair()
        results.append(result)
        if message.fields:
            model = message.own_model or params.model
            sessions.repairs.add(counters_of(result, params.provider, model))
    return RepairResult(results)


def _history(sessions: Sessions, params: HistoryParams) -> History:
    return History(
        StreamOptions(
            provider=params.provider,
            model=params.model,
            tools=params.tools,
            policy=patched(sessions.policy, params.policy or {}),
            response_template=params.response_template,
            limits=sessions.limits,
        )
    )


def _watched(items: list[T], watch: BatchWatch) -> Iterator[T]:
    for number, item in enumerate(items):
        watch(number, len(items))
        yield item
