"""The pipeline of one stream: framing -> wire -> channels and calls -> events.

`Stream.push(chunk)` returns the events of one chunk. `Stream.close()` returns the rest,
with the held text first and one ``finish`` for each choice last (protocol.md,
"Events"). Neither raises for anything a provider sends: whatever cannot be used becomes
a ``diagnostic``. Any exception that leaves them is a bug. A whole response is pushed
once and closed.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from stream_sidecar.channel.plain_run import PlainRun
from stream_sidecar.channel.setup import surroundings
from stream_sidecar.message.message import Stats
from stream_sidecar.parts import (
    CallPart,
    DiagnosticPart,
    ErrorPart,
    FinishPart,
    ReasoningPart,
    RefusalPart,
    TextPart,
)
from stream_sidecar.provider_errors.normalize import closing_error
from stream_sidecar.stream.choices import Choices
from stream_sidecar.stream.emission import Emission, EmittingOutlet, outlet_of
from stream_sidecar.stream.intake import Intake
from stream_sidecar.wires.requests.seals import binding_of

if TYPE_CHECKING:
    from stream_sidecar.events import Event
    from stream_sidecar.message.builder import MessageBuilder
    from stream_sidecar.message.message import Message
    from stream_sidecar.message.outlet import Listener
    from stream_sidecar.options import StreamOptions
    from stream_sidecar.parts import Part
    from stream_sidecar.stream.earlier_streams import EarlierStreams

_SAYING = frozenset((TextPart, RefusalPart, ReasoningPart, CallPart))
"""Parts that continue a choice after its finish."""


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
        outlet.listener = listener
        outlet.builder.provider = options.provider
        outlet.builder.model = options.model
        outlet.binds = partial(_binds, options.model, outlet.builder)
        self._intake = Intake(options)
        #: joins the halves of characters of text whose parts no writer needs
        self._joiner = None if self._emitting else self._intake.text_joiner
        #: whether such text takes the short way of `push`: no half character waits
        self._short = self._joiner is not None
        make = surroundings if earlier is None else earlier.surroundings
        shared = make(options, outlet)
        self.profile = shared.profile
        self.policy = shared.policy
        self._choices = Choices(shared, self._intake)
        self._pushes = self._framed = self._chars = 0

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
        choices = (choice.held for choice in self._choices.all.values())
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

    def push(self, chunk: object) -> list[Event]:
        """The events of one chunk: a slice of the body, or a decoded document."""
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
        ending = self._choices.ending
        ending.reason = reason
        ending.done = ending.done or self._intake.done
        if self._emitting is not None:
            is_own = self._emitting.emit.wire == self.wire
            self._emitting.is_marked = is_own and self._intake.done
        ending.implicit = self.wire == "text"
        self._choices.choice(0)  # the message's top level, whatever came
        choices = self._choices.all
        self._outlet.end_run()
        self._outlet.closing()
        for choice in choices.values():
            choice.channel.flush()
        self._choices.take(self._intake.end())
        for choice in choices.values():
            choice.end(ending)
        for choice in choices.values():
            choice.end_results()
        self._report_end(error or {})
        for choice in choices.values():
            choice.judge(ending)
        self._outlet.release()
        for _, choice in sorted(choices.items()):
            choice.finish(ending)
        return self._outlet.take()

    def _report_end(self, host: dict[str, Any]) -> None:
        """Reports what is known only at the end. ``host``: the ``error`` of `close`."""
        choices, intake = self._choices, self._intake
        ending = choices.ending
        is_over = ending.is_ended or choices.is_finished
        choices.take(intake.last_words(is_over=is_over))
        if ending.reason == "error":
            error = closing_error(host, self.options.provider)
            if ending.error is None or error.kind != "network":
                choices.error(error)  # after a provider's error, a break adds nothing
        elif ending.reason == "eof" and intake.silent:
            choices.take(intake.silence())
        else:
            choices.take(intake.strays())
        if ending.reason == "eof":
            choices.report_failures()
        if not (ending.is_explained or intake.silent or choices.is_finished):
            message = "the stream ended without a finish reason or an end mark"
            choices.diagnostic(DiagnosticPart("missing-terminator", message))
        choices.diagnostics.close()

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
            malformed_chunks=self._choices.malformed,
            held_peak=counters.held_peak,
        )

    def forget(self) -> None:
        """Breaks the cycles of references, so that memory is freed without the garbage
        collector. Call this when the closed stream is not needed any more."""
        for choice in self._choices.all.values():
            choice.forget()

    def _take(self, parts: list[Part]) -> None:
        """Handles the parts of a document, and notes it for the writer, if any."""
        self._choices.take(parts)
        outlet, document = self._emitting, self._intake.document
        if outlet is None:
            return
        if document is not None and self.wire != outlet.emit.wire:
            outlet.is_foreign = True
            return
        kinds = {*map(type, parts)}
        if document is None:
            outlet.has_failed = outlet.has_failed or ErrorPart in kinds
            outlet.between = outlet.seq
            return
        if not _SAYING.isdisjoint(kinds):
            outlet.is_over = False
        if FinishPart in kinds:
            outlet.is_over = all(choice.last for choice in self._choices.all.values())
        held = outlet.held
        for choice in self._choices.all.values():
            held += choice.held
        outlet.passes(document, held, is_unread=self._intake.is_unread)


def _binds(model: str | None, builder: MessageBuilder) -> bool:
    """Whether the named model binds its state to everything before it."""
    response_model = builder.metadata.model if builder.metadata else None
    return any(binding_of(each) is not None for each in (model, response_model))
