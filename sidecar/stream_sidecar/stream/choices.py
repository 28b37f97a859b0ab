"""The parts of a stream: each goes to its choice, or is about the whole stream.

`Choices.take` gets the parts of one document. Most documents only continue the open
run, and become one event without their choice (see `PlainRun` and `PartsRun`).
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, cast

from attrs import fields

from stream_sidecar.channel.plain_run import PlainRun
from stream_sidecar.events import Metadata, ProviderError, Usage
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
from stream_sidecar.stream.choice import Choice
from stream_sidecar.stream.ending import Ending, failed_finish
from stream_sidecar.stream.grouped_diagnostics import GroupedDiagnostics
from stream_sidecar.stream.intake import MALFORMED
from stream_sidecar.stream.parts_run import PartsRun

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.channel.setup import Surroundings
    from stream_sidecar.events import ErrorKind
    from stream_sidecar.parts import Part
    from stream_sidecar.stream.intake import Intake

_OF_CHOICE: dict[type, Callable[[Choice, Any], None]] = {
    TextPart: Choice.text,
    RefusalPart: Choice.refuse,
    ReasoningPart: Choice.reasoning,
    ReasoningStatePart: Choice.reasoning_state,
    BlockEndPart: Choice.end_block,
    CallPart: Choice.call,
    CallEndPart: Choice.end_call,
    CallCancelPart: Choice.cancel_calls,
    ResultPart: Choice.result,
    CitationPart: Choice.cite,
}
"""Kinds of parts that are about one choice, with what the choice does with them."""

_COUNTS = tuple(each.name for each in fields(UsagePart) if each.name != "raw")
_counts_of = attrgetter(*_COUNTS)

MAX_CHOICES = 128
"""A stream has at most this many choices; no provider gives more."""


class Choices:
    """The choices of a stream, made when their first part comes.

    ``all``: the choices by number. ``ending``: how the stream ends, as far as known.
    ``malformed``: how many documents could not be used. ``diagnostics`` reports them.
    ``has_failed``: an error was reported.
    """

    def __init__(self, shared: Surroundings, intake: Intake) -> None:
        self.all: dict[int, Choice] = {}
        self.ending = Ending()
        self.malformed = 0
        self.has_failed = False
        self.diagnostics = GroupedDiagnostics(shared.outlet)
        self._shared = shared
        self._outlet = shared.outlet
        self._intake = intake
        self._crowded = False
        self._usage: tuple[int | None, ...] = (None,) * len(_COUNTS)

    @property
    def is_finished(self) -> bool:
        """Whether the provider gave any choice a finish reason."""
        return any(choice.last for choice in self.all.values())

    def take(self, parts: list[Part]) -> None:
        """Handles the parts of one document."""
        run = self._outlet.run
        if not parts and run is None:
            return
        first: Any = parts[0] if parts else None
        events = None
        if type(run) is PartsRun:
            events = run.push_parts(parts)
            if events is None:
                run.end()  # it lasts no longer than its documents
        elif type(run) is PlainRun and type(first) is TextPart and len(parts) == 1:
            is_next = first.choice == run.choice and first.text
            events = run.push(first.text) if is_next else None
        if events is not None:
            self._outlet.plain(events)
            return
        part: Any
        for part in parts:
            push = _OF_CHOICE.get(type(part))
            if push is None:
                self._OF_STREAM[type(part)](self, part)
            else:
                push(self.choice(part.choice), part)
        if isinstance(first, (ReasoningPart, CallPart)):
            self.choice(first.choice).begin_run(parts)

    def choice(self, number: int) -> Choice:
        choice = self.all.get(number)
        if choice is not None:
            return choice
        if len(self.all) < MAX_CHOICES:
            choice = self.all[number] = Choice(number, self._shared, self._intake)
            return choice
        if not self._crowded:
            self._crowded = True
            message = f"more than {MAX_CHOICES} choices; the rest is part of the last"
            self.diagnostic(DiagnosticPart("unknown-chunk", message, raw=number))
        return list(self.all.values())[-1]

    # Parts about the whole stream

    def _done(self, _part: DonePart) -> None:
        """Notes the wire's own end mark. Spliced streams continue after it."""
        self.ending.done = True

    def _item(self, part: ItemPart) -> None:
        self._outlet.open_item(part.id, part.type)

    def _metadata(self, part: MetadataPart) -> None:
        values = (part.id, part.model, part.provider, part.created)
        self._outlet.send(Metadata, 0, *values, part.wire, part.framing)

    def _count(self, part: UsagePart) -> None:
        """Sends the totals if they are new. Totals replace earlier totals, they are
        never added; a field that is missing keeps its value."""
        pairs = zip(self._usage, _counts_of(part), strict=True)
        counts = tuple([known if latest is None else latest for known, latest in pairs])
        if counts != self._usage:
            self._usage = counts
            self._outlet.send(Usage, 0, part.raw, *counts)

    def _finish(self, part: FinishPart) -> None:
        self.choice(part.choice).finished(part)
        if part.reason != "unknown":
            self.ending.error = None  # the stream recovered from it

    def error(self, part: ErrorPart) -> None:
        self.ending.error = part
        self.has_failed = True
        has_content = self._outlet.has_content
        self._outlet.send(
            ProviderError,
            self.choice(part.choice).number,  # which then gets its finish
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
            refusal=part.refusal,
        )

    def report_failures(self) -> None:
        """Reports a choice whose finish says that it failed, without any error."""
        ends = [choice.last for choice in self.all.values() if choice.last]
        failure = next((end for end in ends if end.reason == "error"), None)
        if failure is not None and not self.has_failed:
            self._outlet.is_told = True
            self.error(failed_finish(failure.raw, failure.choice))
            self._outlet.is_told = False

    def diagnostic(self, part: DiagnosticPart) -> None:
        if part.code in MALFORMED:
            self.malformed += 1
        self.diagnostics.push(part)

    _OF_STREAM: ClassVar[dict[type, Any]] = {
        DonePart: _done,
        FinishPart: _finish,
        ItemPart: _item,
        MetadataPart: _metadata,
        UsagePart: _count,
        ErrorPart: error,
        DiagnosticPart: diagnostic,
    }
