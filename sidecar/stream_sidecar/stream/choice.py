"""One choice of a stream: its channel, its calls and results, its citations.

Structured calls stand between the texts: the first fragment of a call decides the text
held before it and ends the block of that text. Who runs a call, and whether it may be
run, is provisional until the stream closes.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from stream_sidecar import events
from stream_sidecar.channel.channel import Channel
from stream_sidecar.message.outlet import Origin, RunReader
from stream_sidecar.parts import CallPart, CitationPart, ReasoningPart
from stream_sidecar.records import evolve
from stream_sidecar.stream.citations import CitationResolver, marked
from stream_sidecar.stream.parts_run import PartsRun
from stream_sidecar.tools.assemble import CallAssembler
from stream_sidecar.tools.checks import check_call
from stream_sidecar.tools.classify import (
    DECISIVE_REASONS,
    CallContext,
    classify,
    executor_of,
    settle_call,
)
from stream_sidecar.tools.written import Twins, open_calls
from stream_sidecar.values.made_id import made_id

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stream_sidecar.channel.setup import Surroundings
    from stream_sidecar.forms.candidate import Taken
    from stream_sidecar.message.outlet import Outlet
    from stream_sidecar.parts import (
        BlockEndPart,
        CallCancelPart,
        CallEndPart,
        DiagnosticPart,
        FinishPart,
        Part,
        ReasoningStatePart,
        RefusalPart,
        ResultPart,
        TextPart,
    )
    from stream_sidecar.stream.ending import Ending
    from stream_sidecar.stream.intake import Intake
    from stream_sidecar.text.pieces import Piece
    from stream_sidecar.tools.call import OpenCall


def _id_of(outlet: Outlet, stream: str, choice: str, number: str) -> str:
    """An id for a call that has none. It is made from the response's id, the host's
    ``streamId``, the choice and the call's ``number`` in it. So calls of other turns
    have other ids: Claude Code drops a call with an id that it knows."""
    metadata = outlet.builder.metadata
    response = "" if metadata is None else metadata.id or ""
    return made_id(response, stream, choice, number)


_CUT_REASONS = ("length", "context-length", "cancelled")
"""Reasons of a finish that something else than the model brought about."""

_INVENTED: tuple[str, events.Severity, str] = (
    "model-written-result",
    "warning",
    "no tool gave this result; the model wrote it",
)


class Choice:
    """Consumes the parts of one choice. ``intake`` knows the wire of the stream.

    Closing has five steps, which give the order of the last events: ``flush`` of the
    channel, ``end``, ``end_results``, ``judge``, ``finish``.
    """

    def __init__(self, number: int, shared: Surroundings, intake: Intake) -> None:
        self.number = number
        self.shared = shared
        self.outlet = shared.outlet
        self.tools = shared.tools
        self.channel = Channel(number, shared, self)
        self._intake = intake
        stream_id = shared.options.stream_id or ""
        self._make_id = partial(_id_of, self.outlet, stream_id, str(number))
        limit = shared.options.limits.max_call_chars
        self._calls = CallAssembler(number, limit, self._make_id)
        self._twins = Twins()
        self.last: FinishPart | None = None
        self._sent: dict[int, OpenCall] = {}  # by block
        self._results: dict[str, int] = {}  # key of a result -> its block
        self._result_ids: set[str] = set()
        self._ids: dict[str, str] = {}  # key of a call -> its id, for its result
        self._citations: CitationResolver | None = None
        self._refused = False
        self._written = 0  # calls that were found in the text
        self._marker = 0, -1  # place of the last citation's marker, and its end

    @property
    def held(self) -> int:
        """The number of code points of text and of calls that are held back."""
        return self.channel.readers.held + self._calls.held

    # What comes in

    def text(self, part: TextPart) -> None:
        channel = self.channel
        if channel.blocks.refuses:
            channel.refuse(is_refusal=False)
        channel.answer.text(part.text)
        if self._citations is not None and self._citations.has_waiting:
            channel.answer.settle()
            self._cite(self._citations.ready())

    def refuse(self, part: RefusalPart) -> None:
        self._refused = True
        if not self.channel.blocks.refuses:
            self.channel.refuse(is_refusal=True)
        self.channel.answer.text(part.text)

    def reasoning(self, part: ReasoningPart) -> None:
        self.channel.answer.settle()
        lists = self._intake.lists
        native, is_signed = self.channel.native, part.is_signed
        native.push(part.field, part.text, part.block, lists, is_signed=is_signed)

    def reasoning_state(self, part: ReasoningStatePart) -> None:
        self.channel.answer.settle()
        state = part.signature, part.opaque
        self.channel.native.state(*state, part.block, part.field)

    def call(self, part: CallPart) -> None:
        if part.origin == "finish-message" and part.name not in (self.tools or ()):
            return  # a guess; its text is in a diagnostic
        for call, delta in self._calls.push(part):
            has_begun = call.block is not None
            self._give_block(call)
            if not call.ended or (has_begun and delta):
                self._send_delta(call, delta)
            if call.ended:
                self._send_call(call)
        self._report(self._calls.take_reports())

    def begin_run(self, parts: list[Part]) -> None:
        """Begins a run (see `PartsRun`) after the ``parts`` of a document, if further
        parts that differ from them only in their text need no full reading."""
        reader = None
        thoughts = [part for part in parts if isinstance(part, ReasoningPart)]
        owners = {(part.choice, part.block) for part in thoughts}
        if len(thoughts) == len(parts) and len(owners) == 1:
            fields = [part.field for part in thoughts]
            reader = self.channel.native.continuation(fields, thoughts[0].block)
        elif len(parts) == 1 and isinstance(parts[0], CallPart):
            reader = self._call_reader(parts[0])
        if reader is not None:
            PartsRun(self.outlet, parts, reader)

    def _call_reader(self, part: CallPart) -> RunReader | None:
        """The fast reader for the fragments after ``part`` of the same call; None if
        each of them must be read in full."""
        entry = self._calls.continuing(part)
        if entry is None:
            return None
        block, arguments, number = entry.call.block, entry.text, self.number
        assert block is not None  # a delta of it was sent

        def make(seq: int, text: str) -> events.ToolCallDelta:
            return events.ToolCallDelta(seq, number, block, text)

        def account(texts: list[str], more: int) -> int:
            arguments.push("".join(texts))
            return arguments.longest(more)

        return RunReader(arguments.matters, make, account)

    def end_call(self, part: CallEndPart) -> None:
        self._end_calls(self._calls.end(part))

    def cancel_calls(self, part: CallCancelPart) -> None:
        """Notes that nobody waits for these calls any more. What was sent stays."""
        for call in self._sent.values():
            call.cancelled = call.cancelled or call.id in part.ids
        message = "the provider took back these calls"
        self.outlet.diagnose(self.number, "cancelled-tool-call", "info", message)

    def result(self, part: ResultPart) -> None:
        """Sends a server's result, which replaces an earlier one with its key."""
        block = self._results.get(part.key) if part.key is not None else None
        if block is None:
            self.channel.border(call=False)
            block = self.outlet.block()
        if part.key is not None:
            self._results[part.key] = block
        self._result_ids.update(filter(None, (part.id, part.key)))
        self.outlet.send(
            events.ToolResult,
            self.number,
            block=block,
            content=part.content,
            source="server",
            executed=True,
            raw=part.raw,
            tool_call_id=part.id or self._ids.get(part.key or ""),
            name=part.name,
            is_error=part.is_error,
        )

    def end_block(self, part: BlockEndPart) -> None:
        """Ends the wire's text or reasoning block."""
        self.channel.border(call=False, opaque=part.opaque)
        (self._citations or self.channel.answer.map).end_block()
        if self._citations is not None:
            self._cite(self._citations.ready())

    def cite(self, part: CitationPart) -> None:
        if self._citations is None:
            self._citations = CitationResolver(self.channel.answer.map)
        self.channel.answer.settle()
        self._citations.push(part)
        self._cite(self._citations.ready())

    def finished(self, part: FinishPart) -> None:
        """Handles a finish chunk: ends the calls that can get no more arguments. Text
        may follow. The reason of the last finish chunk counts."""
        self.last = part
        self._end_calls(self._calls.finish(is_over=False))

    # What was written into the text

    def written_calls(
        self, taken: Taken, piece: Piece, channel: events.ChannelName
    ) -> None:
        """Sends calls that the model wrote into its text or reasoning. If ``piece`` has
        no text, the policy leaves the calls' text in the answer (text rule 11.1)."""
        _, text, start, _ = piece
        assert taken.opening is not None  # every call has a dialect
        calls = open_calls(
            taken.calls,
            text or taken.raw,
            start,
            dialect=taken.opening.dialect.name,
            channel=channel,
            choice=self.number,
            number=self._written,
            make_id=self._make_id,
        )
        self._written += len(taken.calls)
        for call, span in calls:
            call.block = self.outlet.block()
            self._classify(call, None, span if self.outlet.trace and text else None)

    def written_result(self, taken: Taken, piece: Piece) -> None:
        """Sends a result that the model repeated or made up."""
        rules, content = self.shared.rules, taken.content
        is_known = rules.knows(content)
        self.outlet.send(
            events.ToolResult,
            self.number,
            block=self.outlet.block(),
            content=content,
            source="echo",
            executed=True if is_known else False if self._written else None,
            raw=piece[1],
            span=self.outlet.span(*piece[2:]),
        )
        if not is_known and (self._written or rules.known):
            self.outlet.diagnose(self.number, *_INVENTED)

    def written_citation(self, taken: Taken, piece: Piece) -> None:
        """Adds the citations of a marker: one for each of its references."""
        _, text, start, end = piece
        position = self._marker[0] if start == self._marker[1] else start
        self._marker = position, end  # markers in a row stand at one place
        for part in marked(taken.content, text, self.number, position):
            self.cite(part)

    # The end

    def end(self, ending: Ending) -> None:
        """Ends the blocks and the calls, and sends all citations that are left."""
        self.channel.answer.close(is_cut=ending.derive(self.last, []) in _CUT_REASONS)
        self.channel.forms.send_calls()
        self._end_calls(self._calls.finish())
        if count := self.channel.repaired:
            message = f"{count} half characters had no other half and became U+FFFD"
            self.outlet.diagnose(self.number, "surrogate-repaired", "info", message)
        if self._citations is not None:
            block_text = partial(self.outlet.builder.block_text, self.number)
            self._cite(self._citations.close(block_text))
            if left_out := self._citations.left_out:
                message = f"{left_out} references to sources: too many for the text"
                self.outlet.diagnose(self.number, "citation-limit", "warning", message)

    def end_results(self) -> None:
        """Sends the results that were held to the end. They come after all calls."""
        self.channel.forms.send_results()

    def judge(self, ending: Ending) -> None:
        """Decides at the end whether the reasoning is the answer."""
        if self._is_empty and ending.derive(self.last, []) == "stop":
            self.channel.answer.replace_by_reasoning()

    def finish(self, ending: Ending) -> None:
        """Decides the final state of the calls, and sends the last event."""
        calls = self._settle(None)
        reason = ending.derive(self.last, calls)
        if self._refused and reason == "stop":
            reason = "refusal"
        for call in self._settle(reason) if reason in DECISIVE_REASONS else calls:
            self.outlet.builder.replace_call(call)
        self.outlet.send(
            events.Finish,
            self.number,
            cast("events.FinishReason", reason),
            self._is_empty,
            ending.complete(self.last),
            self.last.raw if self.last is not None else None,
        )

    def forget(self) -> None:
        """Breaks the cycles of references through the channel. Call this last."""
        self.channel.readers.forget()
        del self.channel

    @property
    def _is_empty(self) -> bool:
        """Whether nothing is visible and nothing was called."""
        return self.channel.answer.empty and not self._sent

    def _settle(self, reason: str | None) -> list[events.ToolCall]:
        """The calls with their final fields (see `settle`), now that all results are
        known. ``reason``: the finish reason; None if it is not known."""
        if not self._sent:
            return []
        context = CallContext(self.tools, self._intake.wire, self._result_ids, reason)
        calls = self.outlet.builder.calls(self.number)
        return [settle_call(call, self._sent[block], context) for block, call in calls]

    # Calls

    def _give_block(self, call: OpenCall) -> None:
        """Gives the call a block, unless it has one. Text that is held before the call
        is decided first, so that blocks are numbered in the order of the answer."""
        if call.block is None:
            self.channel.border(call=True)
            call.block = self.outlet.block()
        if isinstance(call.key, str):
            self._ids[call.key] = call.id

    def _send_delta(self, call: OpenCall, delta: str) -> None:
        """Sends a fragment of the call's arguments, the first with the id and name."""
        header = () if call.header_sent else (call.id, call.name)
        assert call.block is not None  # the call has begun
        if header:
            self.outlet.open_call(call.block, partial(self._origin, call))
        call.header_sent = True
        self.outlet.send(events.ToolCallDelta, self.number, call.block, delta, *header)

    def _origin(self, call: OpenCall) -> Origin:
        context = CallContext(self.tools, self._intake.wire, self._result_ids)
        is_server = executor_of(call, context) == "server"
        is_free, state = call.format == "text", (call.opaque, call.caller, call.raw)
        return Origin("", is_server, is_free, *state)

    def _end_calls(self, calls: Iterable[OpenCall]) -> None:
        for call in calls:
            self._give_block(call)
            self._send_call(call)
        self._report(self._calls.take_reports())

    def _send_call(self, call: OpenCall) -> None:
        if call.rest:
            self._send_delta(call, call.rest)
        self._classify(call, self._intake.wire)

    def _classify(
        self, call: OpenCall, wire: str | None, span: events.Span | None = None
    ) -> None:
        """Sends the event of a call that has ended. If a structured call and a call
        from the text are equal, retracts the call from the text (text rule 11.12)."""
        reason = self.last.reason if self.last is not None else None
        context = CallContext(self.tools, wire, self._result_ids, reason)
        event = classify(call, context, self.outlet.seq + 1)
        if span is not None:
            event = evolve(event, span=span)
        assert call.block is not None  # every caller gave it one
        self._sent[call.block] = call
        self.outlet.post(event)
        self._report(check_call(event, (self.tools or {}).get(call.name)))
        twin = self._twins.find_retracted(event)
        if twin is not None:
            self.outlet.send(
                events.Retract, self.number, (twin,), "duplicate-of-structured"
            )

    # Reports

    def _cite(self, citations: Iterable[dict[str, Any]]) -> None:
        for fields in citations:
            self.outlet.send(events.Citation, self.number, **fields)

    def _report(self, parts: Iterable[DiagnosticPart]) -> None:
        for part in parts:
            self.outlet.send(
                events.Diagnostic,
                self.number,
                part.code,
                part.severity,
                part.message,
                part.raw,
            )
