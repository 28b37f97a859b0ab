"""Methods on whole sessions: message/inspect and message/repair.

Both read the messages in their order, because the results of tools earlier in a session
show what is an echo later. ``watch(done, total)`` is called before each message; an
exception that it raises ends the batch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from stream_sidecar.history.history import History
from stream_sidecar.history.messages import model_of, read_message
from stream_sidecar.history.repair_counts import counters_of
from stream_sidecar.options import StreamOptions
from stream_sidecar.protocol.params import InspectResult, RepairResult
from stream_sidecar.protocol.reading_options import patched
from stream_sidecar.records import evolve
from stream_sidecar.wires.requests.seals import binding_of, covers, sealed_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.history.history import Wants
    from stream_sidecar.history.results import Repair
    from stream_sidecar.history.spans import RemovedSpan
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
    messages = params.messages
    models = [model_of(message) or params.model for message in messages]
    seals = sealed_until(messages, [binding_of(each) is not None for each in models])
    bound: set[int] = set()
    results: list[Repair] = []

    def wants(removal: RemovedSpan) -> bool:
        is_bound = covers(seals, len(results), removal.text.path)
        bound.update({len(results)} if is_bound else ())
        return not is_bound

    history = _history(sessions, params, wants)
    for number, message in enumerate(_watched(messages, watch)):
        result = history.repair(message)
        if number in bound:
            result = evolve(result, bound=True)
        results.append(result)
        if read_message(message) is not None:
            model = model_of(message) or params.model
            sessions.repairs.add(counters_of(result, params.provider, model))
    return RepairResult(results)


def _history(
    sessions: Sessions, params: HistoryParams, wants: Wants | None = None
) -> History:
    return History(
        StreamOptions(
            provider=params.provider,
            model=params.model,
            tools=params.tools,
            policy=patched(sessions.policy, params.policy or {}),
            response_template=params.response_template,
            limits=sessions.limits,
        ),
        wants,
    )


def _watched(items: list[T], watch: BatchWatch) -> Iterator[T]:
    for done, item in enumerate(items):
        watch(done, len(items))
        yield item
