"""The pipeline of one stream: framing -> wire -> channels and calls -> events.

`Stream.push(chunk)` returns the events of one chunk. `Stream.close()` returns the rest,
with the held text first and one ``finish`` for each choice last (protocol.md,
"Events"). Neither raises for anything a provider sends: whatever cannot be used becomes
a ``diagnostic``. Any exception that leaves them is a bug. A whole response is pushed
once and closed.
"""

from __future__ import annotations

from functools import cached_property, partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, cast

from attrs import fields

from stream_sidecar.channel.plain_run import PlainRun
from stream_sidecar.channel.setup import surroundings
from stream_sidecar.events import Event, Metadata, ProviderError, Usage
from stream_sidecar.message.message import Stats
from stream_sidecar.parts import (
    BlockEndPart,
    CallCancelPart,
    CallEndPart,
    CallPart,
    CitationPart,
    DiagnosticPart,
    DonePart,
    ErrorPart,
    FinishPart,
    ItemPart,
    MetadataPart,
    ReasoningPart,
    ReasoningStatePart,
    RefusalPart,
    ResultPart,
    TextPart,
    UsagePart,
)
from stream_sidecar.provider_errors.normalize import closing_error
from stream_sidecar.stream.choice import Choice
from stream_sidecar.stream.emission import Emission, EmittingOutlet, outlet_of
from stream_sidecar.stream.ending import Ending
from stream_sidecar.stream.grouped_diagnostics import GroupedDiagnostics
from stream_sidecar.stream.intake import MALFORMED, Intake
from stream_sidecar.stream.parts_run import PartsRun
from stream_sidecar.wires.requests.seals import binding_of

if TYPE_CHECKING:
    from stream_sidecar.events import ErrorKind
    from stream_sidecar.message.builder import MessageBuilder
    from stream_sidecar.message.message import Message
    from stream_sidecar.message.outlet import Listener
    from stream_sidecar.options import StreamOptions
    from stream_sidecar.parts import Part
    from stream_sidecar.stream.earlier_streams import EarlierStreams

_COUNTS = tuple(each.name for each in fields(UsagePart) if each.name != "raw")
_counts_of = attrgetter(*_COUNTS)

_SAYING = frozenset((TextPart, RefusalPart, ReasoningPart, CallPart))
"""Parts that continue a choice after its finish."""

MAX_CHOICES = 128
"""A stream has at most this many choices; no provider gives more."""


class Stream:
    """One stream of one model. ``options``: those of stream/open. ``listener`` gets the
    text of the channels as it comes, if the policy ``trace`` is on. ``earlier``: what
    earlier streams have prepared, because most streams have the same options.

    ``profile`` and ``policy``: with the dialects and the tags that are in force.
    """

    def __init__(
        self,
        options: StreamOptions,
        listener: Listener | None = None,
        earlier: EarlierStreams | None = None,
    ) -> None:
        self.options = options
        self._outlet = outlet = outlet_of(options)
        self._emitting = outlet if isinstance(outlet, EmittingOutlet) else None
        self._outlet.listener = listener
        self._outlet.builder.provider = options.provider
        self._outlet.builder.model = options.model
        self._outlet.binds = partial(_binds, options.model, self._outlet.builder)
        self._intake = Intake(options)
        #: joins the halves of characters of text whose parts no writer needs
        self._joiner = None if self._emitting else self._intake.text_joiner
        #: whether such text takes the short way of `push`: no half character waits
        self._short = self._joiner is not None
        make = surroundings if earlier is None else earlier.surroundings
        self._shared = make(options, self._outlet)
        self.profile = self._shared.profile
        self.policy = self._shared.policy
        self._choices: dict[int, Choice] = {}
        self._crowded = False
        self._ending = Ending()
        self._pushes = self._framed = self._chars = self._malformed = 0
        self._lists = 0  # how many documents had parts (see `NativeText`)
        self._usage: tuple[int | None, ...] = (None,) * len(_COUNTS)

    @property
    def wire(self) -> str:
        """The wire's name, ``auto`` until it is decided."""
        return self._intake.wire

    @property
    def framing(self) -> str:
        """The framing's name, ``auto`` until it is decided."""
        return self._intake.framing

    @property
    def held(self) -> int:
        """At most this many code points are held back. The message is not counted."""
        choices = (choice.held for choice in self._choices.values())
        return self._intake.held + sum(choices) + self._outlet.held

    @property
    def last_seq(self) -> int:
        """The ``seq`` of the last event; 0 before the first."""
        return self._outlet.seq

    def emission(self) -> Emission | None:
        """The writer of this stream; None if the host did not ask for one."""
        if self._emitting is None:
            return None
        return Emission(self.options, self._emitting, self.wire)

    @cached_property
    def _grouped_diagnostics(self) -> GroupedDiagnostics:
        """Reports input that cannot be used. Made on first use, because few streams
        need it."""
        return GroupedDiagnostics(self._outlet)

    def push(self, chunk: object) -> list[Event]:
        """The events of one chunk: a string (a slice as ``framing`` says) or any JSON
        value (one decoded document)."""
        self._pushes += 1
        if isinstance(chunk, str):
            self._chars += len(chunk)
            if self._short:
                run = self._outlet.run
                if type(run) is PlainRun and chunk:
                    # no document, no part: half the cost; the run finds half characters
                    events = run.push(chunk)
                    if events is not None:
                        return events
        for parts in self._intake.push(chunk):
            self._take(parts)
            if self._emitting is not None:
                self._pass(parts, self._emitting)
        if self._joiner:
            self._framed += 1
            self._short = not self._joiner.held
        return self._outlet.take()

    def close(
        self, reason: str = "eof", error: dict[str, Any] | None = None
    ) -> list[Event]:
        """The last events: first those of all that was held back, and last one
        ``finish`` for each choice. ``reason``: the host's reason of stream/close.
        ``error``: what the host knows of a failed transport (``status``, ``headers``,
        ``body``)."""
        for parts in self._intake.close():
            self._take(parts)
            if self._emitting is not None:
                self._pass(parts, self._emitting)
        self._ending.reason = reason
        self._ending.done = self._ending.done or self._intake.done
        if self._emitting is not None:
            is_own = self._emitting.emit.wire == self.wire
            self._emitting.marked = is_own and self._intake.done
        self._ending.implicit = self.wire == "text"
        self._choice(0)  # the message's top level, whatever came
        choices = self._choices
        self._end_parts()
        self._outlet.closing()
        for choice in choices.values():
            choice.flush()
        self._take(self._intake.end())
        for choice in choices.values():
            choice.end(self.wire)
        for choice in choices.values():
            choice.end_results()
        self._report_end(error or {})
        for choice in choices.values():
            choice.judge(self._ending)
        self._outlet.release()
        for _, choice in sorted(choices.items()):
            choice.finish(self._ending, self.wire)
        return self._outlet.take()

    def _report_end(self, host: dict[str, Any]) -> None:
        """Reports errors and diagnostics that are known only at the end. ``host``: the
        ``error`` of `close`."""
        is_over = self._ending.ended or self._is_finished
        self._take(self._intake.last_words(is_over=is_over))
        if self._ending.reason == "error":
            error = closing_error(host, self.options.provider)
            if self._ending.error is None or error.kind != "network":
                self._error(error)  # after a provider's error, a break adds nothing
        elif self._ending.reason == "eof" and self._intake.silent:
            self._take(self._intake.silence())
        else:
            self._take(self._intake.strays())
        if not (self._ending.over or self._intake.silent or self._is_finished):
            message = "the stream ended without a finish reason or an end mark"
            self._diagnostic(DiagnosticPart("missing-terminator", message))
        if "_grouped_diagnostics" in vars(self):
            self._grouped_diagnostics.close()

    @property
    def _is_finished(self) -> bool:
        """Whether the provider gave any choice a finish reason."""
        return any(choice.last for choice in self._choices.values())

    def message(self) -> Message:
        """The message of all events so far."""
        self._outlet.settle()
        return self._outlet.builder.build()

    def stats(self, pushes: int | None = None) -> Stats:
        """The counters so far; see ``Stats``. ``pushes``: the number of pushes as the
        host counts them; None: as this stream counts them."""
        self._outlet.settle()
        counters = self._outlet.counters
        short = self._pushes - self._framed if self._joiner else 0
        return Stats(
            pushes=self._pushes if pushes is None else pushes,
            chunks=self._intake.documents + short,
            chars=self._chars,
            events=self._outlet.seq,
            delimiters_stripped=counters.delimiters_stripped,
            reasoning_extracted=counters.reasoning_extracted,
            tool_results_stripped=counters.tool_results_stripped,
            tool_calls_from_text=counters.tool_calls_from_text,
            malformed_chunks=self._malformed,
            held_peak=counters.held_peak,
        )

    def forget(self) -> None:
        """Breaks the cycles of references between the readers, so that their memory is
        freed without the garbage collector. Call this when the closed stream is not
        needed any more."""
        for choice in self._choices.values():
            vars(choice.channel).clear()
        vars(self._intake).clear()

    # Parts

    def _take(self, parts: list[Part]) -> None:
        """Handles the parts of one document. Mostly they continue the open run."""
        run = self._outlet.run
        part = parts[0] if len(parts) == 1 else None
        events = None
        if type(part) is TextPart:
            if type(run) is PlainRun and part.text and part.choice == run.choice:
                events = run.push(part.text)
        elif type(run) is PartsRun:
            events = run.push_parts(parts)
        if events is not None:
            self._outlet.plain(events)
            return
        self._end_parts()
        self._lists += 1
        for part in parts:
            self._READ[type(part)](self, part)
        first = parts[0] if parts else None
        if isinstance(first, (ReasoningPart, CallPart)):
            self._choice(first.choice).begin_run(parts)

    def _pass(self, parts: list[Part], outlet: EmittingOutlet) -> None:
        """Notes a document that was read, and the state after it, for the writer."""
        document = self._intake.document
        if document is not None and self.wire != outlet.emit.wire:
            outlet.is_foreign = True
            return
        kinds = {*map(type, parts)}
        if document is None:
            outlet.failed = outlet.failed or ErrorPart in kinds
            outlet.between = outlet.seq
            return
        if not _SAYING.isdisjoint(kinds):
            outlet.over = False
        if FinishPart in kinds:
            outlet.over = all(choice.last for choice in self._choices.values())
        held = outlet.held
        for choice in self._choices.values():
            held += choice.channel.held
        outlet.passes(document, held, is_unread=self._intake.is_unread)

    def _end_parts(self) -> None:
        """Ends the open run if it is a run of parts, which lasts no longer than its
        documents."""
        if isinstance(self._outlet.run, PartsRun):
            self._outlet.run.end()

    def _choice(self, number: int) -> Choice:
        choice = self._choices.get(number)
        if choice is None:
            if len(self._choices) == MAX_CHOICES:
                return self._crowd(number)
            choice = self._choices[number] = Choice(number, self._shared)
        return choice

    def _crowd(self, number: int) -> Choice:
        """The last choice for which there was room: it gets the parts of choice
        ``number``, which is one too many. Reports this once."""
        if not self._crowded:
            self._crowded = True
            message = f"more than {MAX_CHOICES} choices; the rest is part of the last"
            self._diagnostic(DiagnosticPart("unknown-chunk", message, raw=number))
        return list(self._choices.values())[-1]

    def _text(self, part: TextPart) -> None:
        self._choice(part.choice).text(part.text)

    def _refusal(self, part: RefusalPart) -> None:
        self._choice(part.choice).refuse(part.text)

    def _reasoning(self, part: ReasoningPart) -> None:
        channel = self._choice(part.choice).channel
        channel.reasoning(part.field, part.text, part.block, self._lists)

    def _reasoning_state(self, part: ReasoningStatePart) -> None:
        channel = self._choice(part.choice).channel
        channel.state(part.signature, part.opaque, part.block, part.field)

    def _block_end(self, part: BlockEndPart) -> None:
        self._choice(part.choice).end_block(part.opaque)

    def _call(self, part: CallPart) -> None:
        self._choice(part.choice).call(part, self.wire)

    def _call_end(self, part: CallEndPart) -> None:
        self._choice(part.choice).end_call(part, self.wire)

    def _call_cancel(self, part: CallCancelPart) -> None:
        self._choice(part.choice).cancel_calls(part)

    def _item(self, part: ItemPart) -> None:
        self._outlet.open_item(part.id, part.type)

    def _result(self, part: ResultPart) -> None:
        self._choice(part.choice).result(part)

    def _citation(self, part: CitationPart) -> None:
        self._choice(part.choice).cite(part)

    def _finish(self, part: FinishPart) -> None:
        self._choice(part.choice).finished(part, self.wire)
        if part.reason != "unknown":
            self._ending.recover()

    def _done(self, _part: DonePart) -> None:
        """Notes the wire's own end mark. Spliced streams continue after it."""
        self._ending.done = True

    def _metadata(self, part: MetadataPart) -> None:
        values = (part.id, part.model, part.provider, part.created)
        self._outlet.send(Metadata, 0, *values, part.wire, part.framing)

    def _count(self, part: UsagePart) -> None:
        """Sends the totals if they are new. Totals replace earlier totals, they are
        never added; a field that is missing keeps its value."""
        known, latest = self._usage, _counts_of(part)
        if latest != known:
            both = zip(known, latest, strict=True)
            counts = tuple([old if new is None else new for old, new in both])
            if counts != known:
                self._usage = counts
                self._outlet.send(Usage, 0, part.raw, *counts)

    def _error(self, part: ErrorPart) -> None:
        self._ending.failed(part)
        has_content = self._outlet.has_content
        self._outlet.send(
            ProviderError,
            self._choice(part.choice).number,  # which then gets its finish
            kind=cast("ErrorKind", part.kind),
            message=part.message,
            retryable=part.retryable,
            phase="mid-stream" if has_content else "before-stream",
            partial=has_content,
            raw=part.raw,
            code=part.code,
            provider_type=part.provider_type,
            http_status=part.http_status,
            retry_after_ms=part.retry_after_ms,
        )

    def _diagnostic(self, part: DiagnosticPart) -> None:
        if part.code in MALFORMED:
            self._malformed += 1
        self._grouped_diagnostics.push(part)

    _READ: ClassVar[dict[type, Any]] = {
        TextPart: _text,
        RefusalPart: _refusal,
        ReasoningPart: _reasoning,
        ReasoningStatePart: _reasoning_state,
        BlockEndPart: _block_end,
        CallPart: _call,
        CallEndPart: _call_end,
        CallCancelPart: _call_cancel,
        ItemPart: _item,
        ResultPart: _result,
        CitationPart: _citation,
        FinishPart: _finish,
        DonePart: _done,
        MetadataPart: _metadata,
        UsagePart: _count,
        ErrorPart: _error,
        DiagnosticPart: _diagnostic,
    }


def _binds(model: str | None, builder: MessageBuilder) -> bool:
    """Whether the model that the host or the response names binds its state to
    everything before it."""
    response_model = builder.metadata.model if builder.metadata else None
    return any(binding_of(each) is not None for each in (model, response_model))
