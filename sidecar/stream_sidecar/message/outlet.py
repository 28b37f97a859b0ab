"""The outlet of a stream: numbers events and blocks, and orders events at the close.

``send`` makes an event at once. While a stream closes, events that belong after the
held text wait. ``release`` sends them in the order of protocol.md, "Events".
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeAlias

from stream_sidecar.events import (
    BlockEnd,
    Citation,
    Diagnostic,
    Event,
    ProviderError,
    Reclassify,
    Retract,
    ToolCall,
    ToolResult,
    Usage,
)
from stream_sidecar.message.builder import MessageBuilder
from stream_sidecar.message.joined_deltas import JoinedDeltas
from stream_sidecar.message.message import TextCounters
from stream_sidecar.records import evolve, frozen, hot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from stream_sidecar.events import ReasoningDelta, Severity, Span, TextDelta

    _Waiting: TypeAlias = defaultdict[Any, list[Callable[..., Event]]]

EventFields = ParamSpec("EventFields")
"""The fields of a kind of event, without ``seq`` and ``choice``."""

_CLOSING_ORDER: tuple[type, ...] = (
    ToolCall,
    ToolResult,
    Reclassify,
    Citation,
    Retract,
    Usage,
    Diagnostic,
    ProviderError,
)
"""Events that belong after the held text, in their order at the close."""

_LATE = frozenset(_CLOSING_ORDER)


class Run(Protocol):
    """Deltas of one choice that have been sent, but whose bookkeeping is still to do;
    see `stream_sidecar.channel.plain_run` and `stream_sidecar.stream.parts_run`."""

    @property
    def held(self) -> int:
        """Code points that the run holds back."""

    def settle(self) -> None:
        """Does the bookkeeping; the run continues."""

    def end(self) -> None:
        """Does the bookkeeping and ends the run."""


@hot
class RunReader:
    """A fast reader for deltas that differ from the last delta only in their text.

    ``matters(text)``: whether the delta must be read in full. ``make(seq, text)``
    returns the event of the delta. ``account(texts, more)`` does the bookkeeping for
    all texts since its last call. It returns how many code points each of the next
    ``more`` deltas may have.
    """

    matters: Callable[[str], object]
    make: Callable[[int, str], Event]
    account: Callable[[list[str], int], int]


class Listener(Protocol):
    """Gets the raw text of each channel before anything is removed, for
    `stream_sidecar.explain`. The spans of events (policy ``trace``) are positions in
    these texts."""

    def text(self, choice: int, text: str) -> None:
        """Gets the next piece of the answer's text."""

    def reasoning(
        self, choice: int, field: str, known: str, repeated: int, new: str
    ) -> None:
        """Gets a delta of native reasoning from ``field``: the text ``known`` and then
        the text ``new``. The first ``repeated`` characters of ``known`` were sent
        before by the same field, the rest of ``known`` by another field."""


@frozen
class Origin:
    """What the writers of documents (``emit``) need to know about a block before its
    end.

    ``item``: the id of the provider's item to which the block belongs. ``kind``: the
    type of this item. For a call: ``server``: the provider runs the call. ``free``: the
    arguments are free text. ``opaque``, ``caller`` and ``raw`` are the fields of the
    call.
    """

    item: str = ""
    server: bool = False
    free: bool = False
    opaque: Any = None
    caller: Any = None
    raw: Any = None
    kind: str = ""


class Outlet:
    """Collects the events of one push; ``take`` returns them."""

    def __init__(self, *, parts: bool, trace: bool) -> None:
        self.builder = MessageBuilder(parts=parts)
        self.counters = TextCounters()
        self.trace = trace
        self.seq = 0
        self.has_content = False  # text, reasoning or a call has been sent
        self.is_told = False  # a finish that was read says the error that is sent
        self.run: Run | None = None
        self.listener: Listener | None = None  # only with ``trace``
        #: whether the model binds its state to everything before it
        self.binds: Callable[[], bool] = bool
        self.broken: set[int] = set()  # blocks whose state is bound to changed text
        self._blocks = 0
        self._events: list[Event] = []
        self._joined: JoinedDeltas | None = None
        #: makers of events that know their choice
        self._waiting: _Waiting | None = None

    def block(self) -> int:
        """Begins a block and returns its number."""
        self._blocks += 1
        self.has_content = True
        return self._blocks - 1

    def native_block(self) -> int:
        """Begins native reasoning; a removal before it breaks its bound state."""
        number = self.block()
        if self.removals and self.binds():
            self.broken.add(number)
        return number

    @property
    def removals(self) -> int:
        """How often something was removed so far."""
        counters = self.counters
        stripped = counters.delimiters_stripped + counters.tool_results_stripped
        return stripped + counters.tool_calls_from_text

    def open_item(self, id: str, kind: str) -> None:
        """Notes that an item of the provider begins, for a stream with ``emit``."""

    def open_call(self, block: int, origin: Callable[[], Origin]) -> None:
        """Notes that a call begins in ``block``, for a stream with ``emit``."""

    def send(
        self,
        make: Callable[Concatenate[int, int, EventFields], Event],
        choice: int,
        *args: EventFields.args,
        **fields: EventFields.kwargs,
    ) -> None:
        """Sends the event ``make(seq, choice, ...)``. While the stream closes, an event
        that belongs after the held text waits for ``release``."""
        if self._waiting is not None and make in _LATE:
            self._waiting[make].append(
                lambda seq, _choice=0: make(seq, choice, *args, **fields)
            )
            return
        if make is not Usage:  # usage is in no block
            self.end_run()
        self.seq += 1
        event = make(self.seq, choice, *args, **fields)
        self._events.append(event)
        self.builder.push(event)
        if type(event) is Reclassify and self.binds():  # state behind it is broken
            for block in self.builder.sealed_behind(choice, min(event.blocks)):
                self.send(BlockEnd, choice, block, "reasoning", seal_broken=True)

    def delta(self, event: TextDelta | ReasoningDelta) -> None:
        """Sends a delta that already has the next number: the fast way."""
        self.seq = event.seq
        self.plain([event])
        self.builder.push(event)

    def plain(self, events: list[Event]) -> None:
        """Sends deltas of the run, which does their bookkeeping later."""
        if self._joined is None:
            self._events += events
        else:
            self.seq -= self._joined.add(events)

    def as_one(self, steps: Iterable[None]) -> None:
        """Runs ``steps``, the slices of one text, and joins the deltas of them."""
        self._joined = joined = JoinedDeltas(self._events)
        for _ in steps:
            pass
        self._joined = None
        joined.end()

    @property
    def held(self) -> int:
        """The number of code points that the run, if there is one, holds back."""
        return 0 if self.run is None else self.run.held

    def end_run(self) -> None:
        if self.run is not None:
            self.run.end()

    def settle(self) -> None:
        """Lets the run, if there is one, do its bookkeeping; the run continues."""
        if self.run is not None:
            self.run.settle()

    def retract(self, choice: int, blocks: tuple[int, ...], place: Span) -> None:
        """Retracts ``blocks`` now, even while the stream closes, because the raw text
        at ``place`` is read again as the answer."""
        waiting, self._waiting = self._waiting, None
        self.send(Retract, choice, blocks, "read-as-text", self.span(*place))
        self._waiting = waiting
        if waiting is not None and self.trace:  # the second reading reports them again
            diagnostics = waiting[Diagnostic]
            diagnostics[:] = [
                make for make in diagnostics if not _is_within(make(0), choice, place)
            ]

    def post(self, event: Event) -> None:
        """Sends ``event``, which was made elsewhere, with the next number."""

        def numbered(seq: int, _choice: int = 0) -> Event:
            return event if event.seq == seq else evolve(event, seq=seq)

        if self._waiting is not None and type(event) in _LATE:
            self._waiting[type(event)].append(numbered)
        else:
            self.send(numbered, event.choice)

    def span(self, start: int, end: int) -> Span | None:
        """The ``span`` of an event: only with the policy ``trace``."""
        return (start, end) if self.trace else None

    def diagnose(
        self,
        choice: int,
        code: str,
        severity: Severity,
        message: str,
        place: tuple[str, int, int] | None = None,
    ) -> None:
        """Sends a diagnostic. ``place``: the removed text, and its start and end."""
        raw = place[0] if place else None
        span = self.span(*place[1:]) if place else None
        self.send(Diagnostic, choice, code, severity, message, raw, span)

    def closing(self) -> None:
        """From now on events that belong after the held text wait for ``release``."""
        self._waiting = defaultdict(list)

    @property
    def is_closing(self) -> bool:
        return self._waiting is not None

    def waiting(self, *kinds: type) -> list[Event]:
        """The waiting events of these ``kinds``; their numbers are 0."""
        waiting: _Waiting = self._waiting or defaultdict(list)
        return [maker(0) for kind in kinds for maker in waiting.get(kind, ())]

    def release(self) -> None:
        """Sends the waiting events, kind by kind."""
        waiting: _Waiting = self._waiting or defaultdict(list)
        self._waiting = None
        for kind in sorted(waiting, key=_CLOSING_ORDER.index):
            for maker in waiting[kind]:
                self.send(maker, 0)

    def take(self) -> list[Event]:
        events, self._events = self._events, []
        return events


def _is_within(event: Event, choice: int, place: Span) -> bool:
    span: Span | None = getattr(event, "span", None)
    is_there = span is not None and place[0] <= span[0] < place[1]
    return is_there and event.choice == choice
