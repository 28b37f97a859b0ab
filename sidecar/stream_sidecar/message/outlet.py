"""The way out of a stream: numbers events and blocks, keeps the order of the close.

``send`` makes an event at once. While a stream closes, events that belong behind the
held text wait, and ``release`` sends them in the order of protocol.md, "Events".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol

from stream_sidecar.events import (
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
from stream_sidecar.message.joined import JoinedDeltas
from stream_sidecar.message.message import TextCounters
from stream_sidecar.records import evolve, frozen, hot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from stream_sidecar.events import ReasoningDelta, Severity, Span, TextDelta

EventFields = ParamSpec("EventFields")
"""What a kind of event has beside ``seq`` and ``choice``."""

CLOSING_ORDER: tuple[type, ...] = (
    ToolCall,
    ToolResult,
    Reclassify,
    Citation,
    Retract,
    Usage,
    Diagnostic,
    ProviderError,
)


class Run(Protocol):
    """Deltas of one choice that have been sent, while their bookkeeping is still to do;
    see `stream_sidecar.channel.plain_run` and `stream_sidecar.stream.parts_run`."""

    @property
    def held(self) -> int:
        """Code points that the run holds back."""

    def settle(self) -> None:
        """Does the bookkeeping; the run goes on."""

    def end(self) -> None:
        """Does the bookkeeping, and is over."""


@hot
class Going:
    """How deltas are read that say nothing new but their text.

    ``matters(text)`` tells whether one must go the long way, ``make(seq, text)`` is its
    event. ``account(texts, more)`` does the bookkeeping for all that came since it was
    last called, and tells of how many code points each of so many ``more`` may be.
    """

    matters: Callable[[str], object]
    make: Callable[[int, str], Event]
    account: Callable[[list[str], int], int]


class Listener(Protocol):
    """Gets the text of each channel of the wire before anything is removed, for
    `stream_sidecar.explain`. Spans of ``trace`` are positions in these texts."""

    def text(self, choice: int, text: str) -> None:
        """A piece of the answer's channel."""

    def reasoning(
        self, choice: int, field: str, known: str, repeated: int, new: str
    ) -> None:
        """A piece of the native reasoning, from ``field``, which is ``new`` there.
        Before it the field said what is ``known``: so many characters of that it has
        ``repeated``, the rest another field has said."""


@frozen
class Origin:
    """What only writers need to know of a block before it is over.

    ``item`` is the id of the provider's item that it belongs to, of type ``kind``. Of
    a call: ``server``, the provider runs it; ``free``, its arguments are free text;
    ``opaque``, ``caller`` and ``raw`` are those of the call.
    """

    item: str = ""
    server: bool = False
    free: bool = False
    opaque: Any = None
    caller: Any = None
    raw: Any = None
    kind: str = ""


class Outlet:
    """Collects the events of one push; ``take`` hands them over."""

    def __init__(self, *, parts: bool, trace: bool) -> None:
        self.builder = MessageBuilder(parts=parts)
        self.counters = TextCounters()
        self.trace = trace
        self.seq = 0
        self.spoken = False  # text, reasoning or a call has been sent
        self.run: Run | None = None
        self.listener: Listener | None = None  # with ``trace`` alone
        self._blocks = 0
        self._events: list[Event] = []
        self._joined: JoinedDeltas | None = None
        #: makers of events that know their choice
        self._waiting: dict[object, list[Callable[..., Event]]] | None = None

    def block(self) -> int:
        """The number of a new block."""
        self._blocks += 1
        self.spoken = True
        return self._blocks - 1

    def open_item(self, id: str, kind: str) -> None:
        """An item of the provider's begins; only an outlet that is written wants to
        know."""

    def open_call(self, block: int, origin: Callable[[], Origin]) -> None:
        """A call begins in ``block``; only an outlet that is written wants to know of
        what ``origin`` it is."""

    def send(
        self,
        make: Callable[Concatenate[int, int, EventFields], Event],
        choice: int,
        *args: EventFields.args,
        **fields: EventFields.kwargs,
    ) -> None:
        """Makes ``make(seq, choice, ...)`` and sends it, now or in closing order."""
        if self._waiting is not None and make in self._waiting:
            self._waiting[make].append(
                lambda seq, _choice=0: make(seq, choice, *args, **fields)
            )
            return
        if self.run is not None and make is not Usage:  # counts are in no block
            self.run.end()
        self.seq += 1
        event = make(self.seq, choice, *args, **fields)
        self._events.append(event)
        self.builder.push(event)

    def delta(self, event: TextDelta | ReasoningDelta) -> None:
        """Sends a delta, made under the next number: most events are deltas."""
        self.seq = event.seq
        self.plain([event])
        self.builder.push(event)

    def plain(self, events: list[Event]) -> None:
        """Sends deltas of the run, whose bookkeeping is done later."""
        if self._joined is None:
            self._events += events
        else:
            self.seq -= self._joined.add(events)

    def as_one(self, steps: Iterable[None]) -> None:
        """Runs the ``steps``, which read one text slice by slice. Deltas that continue
        each other become one event."""
        self._joined = joined = JoinedDeltas(self._events)
        for _ in steps:
            pass
        self._joined = None
        joined.end()

    def settle(self) -> None:
        """The run does its bookkeeping, and goes on."""
        if self.run is not None:
            self.run.settle()

    def retract(self, choice: int, blocks: tuple[int, ...], place: Span) -> None:
        """Takes ``blocks`` back at once, also while the stream closes: what stands at
        ``place`` comes again as text."""
        waiting, self._waiting = self._waiting, None
        self.send(Retract, choice, blocks, "read-as-text", self.span(*place))
        self._waiting = waiting
        if waiting is not None and self.trace:  # what was told of it is reported anew
            reported = waiting[Diagnostic]
            reported[:] = [
                each for each in reported if not _is_within(each(0), choice, place)
            ]

    def post(self, event: Event) -> None:
        """Sends an event that was made elsewhere, for the next number or any other."""

        def numbered(seq: int, _choice: int = 0) -> Event:
            return event if event.seq == seq else evolve(event, seq=seq)

        if self._waiting is not None and type(event) in self._waiting:
            self._waiting[type(event)].append(numbered)
        else:
            self.send(numbered, event.choice)

    def span(self, start: int, end: int) -> Span | None:
        """``span`` of an event, under the policy ``trace``; else None."""
        return (start, end) if self.trace else None

    def diagnose(
        self,
        choice: int,
        code: str,
        severity: Severity,
        message: str,
        place: tuple[str, int, int] | None = None,
    ) -> None:
        """Sends a diagnostic; ``place``: what was taken out, its start and its end."""
        raw = place[0] if place else None
        span = self.span(*place[1:]) if place else None
        self.send(Diagnostic, choice, code, severity, message, raw, span)

    def closing(self) -> None:
        """The stream closes: events behind the held text wait for ``release``."""
        self._waiting = {make: [] for make in CLOSING_ORDER}

    @property
    def is_closing(self) -> bool:
        return self._waiting is not None

    def waiting(self, *kinds: type) -> list[Event]:
        """The events of some kinds that wait, without their numbers."""
        waiting = self._waiting or {}
        return [maker(0) for kind in kinds for maker in waiting.get(kind, ())]

    def release(self) -> None:
        """Sends what waited, kind by kind."""
        waiting, self._waiting = self._waiting or {}, None
        for makers in waiting.values():
            for maker in makers:
                self.send(maker, 0)

    def take(self) -> list[Event]:
        events, self._events = self._events, []
        return events


def _is_within(event: Event, choice: int, place: Span) -> bool:
    span: Span | None = getattr(event, "span", None)
    is_there = span is not None and place[0] <= span[0] < place[1]
    return is_there and event.choice == choice
