"""Writes a clean stream as documents of a wire, if the host asked for it (``emit``).

`Emission` gets the events of a stream as they come, and returns the documents that a
writer makes from them (``wires``, "Writers"). This module has what all wires share: the
treatment of calls and reasoning found in the text, and the rule that nothing sent is
taken back. A whole body is made from the message, because nothing was sent before it. A
*claim* is a call that the model wrote as text.

`EmittingOutlet` is the outlet of such a stream. It notes those facts of a block that
only writers need (protocol.md, "The way through"), and reports events that take
something back.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import evolve

from stream_sidecar.events import (
    BlockEnd,
    Citation,
    ProviderError,
    ReasoningDelta,
    Reclassify,
    Retract,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    ToolResult,
)
from stream_sidecar.message.message import ReasoningBlock, TextBlock
from stream_sidecar.message.outlet import Origin, Outlet
from stream_sidecar.parts import Chunk
from stream_sidecar.stream.own_documents import (
    OwnDocuments,
    ReadDocument,
    around,
    inside_of,
)
from stream_sidecar.stream.returned_reasoning import accepts_reasoning
from stream_sidecar.tools.members import is_ambiguous
from stream_sidecar.values.jsontext import portable
from stream_sidecar.values.made_id import made_id
from stream_sidecar.wires import WIRES
from stream_sidecar.wires.requests.seals import signatures_in, without_signatures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from stream_sidecar.events import Event
    from stream_sidecar.message.message import Block, Message
    from stream_sidecar.options import Emit, StreamOptions
    from stream_sidecar.parts import Document, JsonObject


_Called = TypeVar("_Called", bound="ToolCall | ToolCallDelta | ToolResult")

END = "[DONE]"
"""The end mark of a stream of Chat Completions, which is no document."""

_seq = attrgetter("seq")


class EmittingOutlet(Outlet):
    """The outlet of a stream with ``emit``."""

    def __init__(self, emit: Emit, *, parts: bool, trace: bool) -> None:
        super().__init__(parts=parts, trace=trace)
        self.emit = emit
        self._row = WIRES[emit.wire]
        self.origins: dict[int, Origin] = {}
        self.passed: list[ReadDocument] = []
        self.between = 0  # the `seq` of the last event that belongs to no document
        self.is_foreign = False  # the stream is read on another wire
        self.is_over = False  # every choice has its finish
        self.has_failed = False  # the stream failed, and no document says so
        self.told: str | None = None  # the message of an error that a finish says
        self.is_marked = False  # the wire's own end mark came
        self._item: Origin | None = None
        self._moves = 0

    @property
    def removals(self) -> int:
        """How often something was removed or moved so far."""
        return self._moves + super().removals

    def passes(self, document: Document, held: int, *, is_unread: bool) -> None:
        """Notes that a document of the same wire was read. ``held``: how many code
        points are undecided after it. ``is_unread``: it has text that was not read."""
        value, event = document.value, document.event
        values = value if type(value) is list else (value,)
        chunks = []
        is_exception = (event or "").endswith("Exception")  # of AWS, which no wire has
        if not is_exception and all(
            type(item) is dict and self._row.is_written(item) for item in values
        ):
            chunks = [_chunk(item, event) for item in values]
        between = self.between if is_unread else None
        self.passed.append(
            ReadDocument(chunks, self.seq, self.removals, held, self.is_over, between)
        )

    def block(self) -> int:
        number = super().block()
        if self._item is not None:
            self.origins[number] = self._item
        return number

    def open_item(self, id: str, kind: str) -> None:
        self._item = Origin(id, kind=kind)

    def open_call(self, block: int, origin: Callable[[], Origin]) -> None:
        call = origin()
        item = self.origins.get(block, call)
        self.origins[block] = evolve(call, item=item.item, kind=item.kind)

    def plain(self, events: list[Event]) -> None:
        super().plain(events)
        for event in events:
            if type(event) is ReasoningDelta and event.source == "tag":
                self._moves += 1

    def send(self, make: Any, choice: int, *args: Any, **fields: Any) -> None:
        super().send(make, choice, *args, **fields)
        if make is ProviderError and self.is_closing:
            if self.is_told:
                self.told = fields["message"]
            else:
                self.has_failed = True
        if make in (Reclassify, Retract):
            self._moves += 1
            if not self.is_closing:
                self._report(make(0, choice, *args, **fields))

    def release(self) -> None:
        for event in self.waiting(Reclassify, Retract):
            assert isinstance(event, Reclassify | Retract)
            self._report(event)
        super().release()

    def _report(self, event: Reclassify | Retract) -> None:
        """Reports that blocks stay as they were emitted, because a host that reads only
        documents cannot learn that their text is something else."""
        is_call = isinstance(event, Retract) and event.reason.endswith("structured")
        if is_call and self.emit.claims != "text":
            return
        blocks = ", ".join(map(str, event.blocks))
        message = f"{event.type} of blocks that stay as they were emitted: {blocks}"
        self.diagnose(event.choice, "emitted-before", "info", message)


class SentIds:
    """Makes the ids of sent calls unique. Providers repeat ids, and a model may write
    an id that is in use, but no SDK can separate two calls with one id."""

    def __init__(self) -> None:
        self._sent: dict[int, str] = {}  # by block
        self._calls: dict[str, int] = {}  # id of the model -> the latest call with it

    def of(self, event: _Called) -> _Called:
        """``event`` with the id that is sent. A result belongs to the latest call with
        the same id."""
        id, block = event.tool_call_id, event.block
        if id is None or block is None:
            return event
        if isinstance(event, ToolResult):
            sent_id = self._sent.get(self._calls.get(id, -1), id)
        else:
            is_repeated = self._calls.setdefault(id, block) != block
            new_id = made_id(id, str(block)) if is_repeated else id
            sent_id = self._sent.setdefault(block, new_id)
            self._calls[id] = block
        return event if sent_id == id else evolve(event, tool_call_id=sent_id)


class Emission:
    """``push`` and ``close`` return the documents for a stream's events."""

    def __init__(
        self, options: StreamOptions, outlet: EmittingOutlet, wire: str
    ) -> None:
        self._claims = outlet.emit.claims
        self._claims_stay = options.policy.tool_calls.mode == "report"
        self._options = options
        self._outlet = outlet
        row = WIRES[outlet.emit.wire]
        rules = row.sdk_rules() if row.sdk_rules and outlet.emit.rewrite else None
        self._documents = OwnDocuments(row, options.limits.max_held_chars, rules)
        self._stream = options.stream_id or ""
        self._writer = row.make_writer(wire, outlet.origins, self._stream)
        #: kinds of events that are not always written as they are
        self._decided: Any = (ToolCall, ToolCallDelta, ToolResult, BlockEnd)
        if outlet.emit.reasoning != "include":
            self._decided += (ReasoningDelta, Reclassify)
        self._signatures: set[str] = set()  # those that were written
        #: lists of state pass by their indexes, which differ in what is written anew
        self._states = None if rules else row.states
        self._removals = 0  # before the document that is next
        self._ids = SentIds()

    def push(self, events: list[Event]) -> list[Chunk]:
        if self._outlet.is_foreign:
            return self._documents.before() + self._write(events)
        documents, self._outlet.passed = self._outlet.passed, []
        chunks: list[Chunk] = []
        start = 0
        for document in documents:
            end = bisect_right(events, document.last, start, key=_seq)
            self._push_document(document, events[start:end])
            is_cut = document.removals > 0
            cites = is_cut and any(isinstance(e, Citation) for e in events[start:end])
            stays = is_cut and self._outlet.binds()
            chunks += self._documents.after(document, cites=cites, stays=stays)
            self._removals = document.removals
            start = end
        if rest := events[start:]:  # of no document; errors are written in any case
            written = self._write([e for e in rest if not self._is_untold(e)])
            errors = self._write([e for e in rest if self._is_untold(e)])
            self._documents.push(errors, written + errors)
        return chunks

    def _is_untold(self, event: Event) -> bool:
        """Whether it is an error that no document of the stream says."""
        told = self._outlet.told
        return isinstance(event, ProviderError) and event.message != told

    def _push_document(self, document: ReadDocument, events: list[Event]) -> None:
        """Adds a document, and what is written from its events in its place. If its
        text was not read, it comes after the text that was held before it, and the
        writer only notes its other events."""
        chunks = document.chunks
        if document.between is not None:
            cut = bisect_right(events, document.between, key=_seq)
            self._documents.push([], self._write(events[:cut]))
            self._write(events[cut:])
            self._documents.push(chunks, chunks)
            return
        written = self._write(events)
        if self._states is not None:
            is_broken = self._removals > 0 and self._outlet.binds()
            for original in map(inside_of, chunks):
                written = self._states.add(original, written, is_broken)
        self._documents.push(chunks, written)
        self._documents.judge(chunks)

    def _write(self, events: list[Event]) -> list[Chunk]:
        for event in events:
            if isinstance(event, self._decided):
                return self._writer.push(self._written(events))
        return self._writer.push(events)  # the commonest: nothing to decide

    def close(self, events: list[Event], message: Message) -> list[Chunk | str]:
        """The last documents: for ``events``, for claims that have become calls, and
        for the end. If an end mark came on the same wire, the list ends with it."""
        chunks, promoted = self.push(events), [*self._promoted(message)]
        removals = self._outlet.removals
        self._documents.push([], self._end(message, promoted))
        cites = any(choice.citations for choice in message.choices or (message,))
        is_other = bool(promoted) or (removals > 0 and cites)
        chunks += self._documents.end(removals, is_other=is_other)
        return [*chunks, END] if self._outlet.is_marked else [*chunks]

    def body(self, message: Message, wire: str) -> Chunk:
        """The whole clean response: as it came, if nothing leaked."""
        outlet, row = self._outlet, self._writer.row
        chunks = [chunk for document in outlet.passed for chunk in document.chunks]
        is_one = len(outlet.passed) == len(chunks) == 1
        original = chunks[0] if is_one else None
        if original is not None and not (outlet.removals or outlet.has_failed):
            return original
        outlet.broken |= _broken_in(message)
        states, self._states = self._states, None
        self._writer = row.make_writer(wire, outlet.origins, self._stream)
        chunks = self._write(list(_events_of(message)))
        chunks += self._end(message, [*self._promoted(message)])
        body = self._writer.fold(chunks)
        if original is None:
            return body
        if states is not None and outlet.removals > 0 and outlet.binds():
            body = states.cut(body)
        return Chunk(around(body, inside_of(original), row))

    def _promoted(self, message: Message) -> Iterator[ToolCall]:
        """The claims that have become calls at the end."""
        for choice in message.choices or (message,):
            if choice.finish and choice.finish.reason == "pause":
                continue  # the model goes on, and the host answers no call
            for call in filter(self._is_promoted, choice.tool_calls):
                yield evolve(self._ids.of(call), origin="structured")

    def _end(self, message: Message, promoted: list[ToolCall]) -> list[Chunk]:
        calling, finishes = {call.choice for call in promoted}, []
        for choice in message.choices or (message,):
            finish = choice.finish
            assert finish is not None  # the stream is closed
            if choice.choice in calling and finish.reason == "stop":
                finish = evolve(finish, reason="tool-calls", raw=None)
            finishes.append(finish)
        return self._writer.push(promoted) + self._writer.close(finishes)

    def _written(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events to be written. A result that the model wrote is left out. A claim
        is written as text or left out. Tagged reasoning is written if the host wants
        it."""
        for event in events:
            if isinstance(event, ToolCall) and event.origin != "structured":
                if self._is_text(event):
                    yield from self._without_tagged(_as_text(event))
            elif isinstance(event, ToolCall | ToolCallDelta | ToolResult):
                if not isinstance(event, ToolResult) or event.source == "server":
                    yield self._ids.of(event)
            elif isinstance(event, BlockEnd):
                yield from self._with_whole_seals(event)
            else:
                yield from self._without_tagged(event)

    def _with_whole_seals(self, event: BlockEnd) -> Iterator[BlockEnd]:
        """``event`` without signatures that a removal broke. Reasoning whose signature
        is broken is left out, unless the host's requests are prepared."""
        is_broken = event.block in self._outlet.broken
        if is_broken and not self._includes_reasoning:
            return
        if self._states is not None and not self._outlet.is_foreign:
            event = _without(event, self._states.names)
        if is_broken or (event.raw_text is not None and self._outlet.binds()):
            opaque = without_signatures(event.opaque, self._signatures)
            event = evolve(event, signature=None, opaque=opaque)
        else:
            self._signatures |= signatures_in(event.opaque) | {event.signature or ""}
        yield event

    @property
    def _includes_reasoning(self) -> bool:
        return self._outlet.emit.reasoning == "include"

    def _without_tagged(self, event: Event) -> Iterator[Event]:
        """``event``, if it is not reasoning that is left out: tagged reasoning, or
        reasoning with a broken signature. Tagged reasoning that was left out is
        returned as text when it turns out to be text."""
        if not isinstance(event, ReasoningDelta):
            yield event
        elif event.source != "tag":
            if self._includes_reasoning or event.block not in self._outlet.broken:
                yield event
        elif self._accepts_tagged:
            yield event
        if isinstance(event, Reclassify) and event.to == "text":
            if self._includes_reasoning or self._accepts_tagged:
                return
            for block in event.blocks:
                text = self._outlet.builder.tagged_text(event.choice, block)
                if text:
                    yield TextDelta(event.seq, event.choice, block, text)

    @cached_property
    def _accepts_tagged(self) -> bool:
        """Whether tagged reasoning goes into the wire's field, decided at the first."""
        emit, options = self._outlet.emit, self._options
        if emit.reasoning != "auto":
            return emit.reasoning == "include"
        metadata = self._outlet.builder.metadata
        model = options.model or (metadata.model if metadata else None)
        return accepts_reasoning(emit.wire, options.provider, model)

    def _is_text(self, call: ToolCall) -> bool:
        """Whether the claim ``call`` has to be written as text at its place. If the
        policy left its text in the answer, it is written already."""
        is_asked = self._claims == "text" and not self._claims_stay
        return is_asked and call.origin == "text" and bool(call.raw)

    def _is_promoted(self, call: ToolCall) -> bool:
        """Whether a claim becomes a call: only a complete call of the answer does. A
        call in the reasoning may be a draft, an undeclared tool cannot be run, and
        ambiguous arguments might run something else."""
        return (
            self._claims == "promote"
            and call.origin != "structured"
            and call.channel == "text"
            and call.state == "complete"
            and call.declared is not False
            and not is_ambiguous(call.arguments, call.input)
        )


def _without(event: BlockEnd, names: tuple[str, ...]) -> BlockEnd:
    """``event`` without the state that came in fields of these names."""
    fields, opaque = {*(event.fields or ())}, event.opaque or {}
    if {*fields, *opaque}.isdisjoint(names):
        return event
    opaque = {name: opaque[name] for name in opaque if name not in names}
    signature = event.signature if fields.isdisjoint(names) else None
    return evolve(event, signature=signature, opaque=opaque or None)


def _chunk(value: JsonObject, event: str | None) -> Chunk:
    """The chunk for a document that is passed on unchanged. The chunk has the name of
    the event only if the document itself has no ``type``."""
    is_named = event is not None and "type" not in value
    return Chunk(portable({"event": event, "data": value} if is_named else value))


def outlet_of(options: StreamOptions) -> Outlet:
    """The outlet of a new stream with these ``options``."""
    policy, emit = options.policy, options.emit
    if emit is None:
        return Outlet(parts=policy.message.parts, trace=policy.trace)
    return EmittingOutlet(emit, parts=policy.message.parts, trace=policy.trace)


def _broken_in(message: Message) -> set[int]:
    """The blocks whose state is bound to text that was changed."""
    return {
        block.block
        for choice in message.choices or (message,)
        for block in choice.blocks or ()
        if isinstance(block, ReasoningBlock) and block.seal_broken
    }


def _as_text(call: ToolCall) -> TextDelta | ReasoningDelta:
    """The text of the claim ``call`` as a delta in its channel."""
    assert call.block is not None  # every call of a stream has one
    if call.channel == "reasoning":
        return ReasoningDelta(call.seq, call.choice, call.block, call.raw, "tag")
    return TextDelta(call.seq, call.choice, call.block, call.raw)


def _events_of(message: Message) -> Iterator[Event]:
    """The message as events: each block, then the citations that end in it."""
    if message.metadata is not None:
        yield message.metadata
    for choice in message.choices or (message,):
        cited: defaultdict[int, list[Citation]] = defaultdict(list)
        for citation in choice.citations:
            cited[citation.blocks[-1] if citation.blocks else -1].append(citation)
        for block in choice.blocks or ():
            yield from _events_of_block(block, choice.choice)
            yield from cited.pop(block.block or 0, ())
        yield from chain(*cited.values())
        yield from choice.errors
    if message.usage is not None:
        yield message.usage


def _events_of_block(block: Block, choice: int) -> Iterator[Event]:
    if isinstance(block, ToolCall | ToolResult):
        yield block
        return
    number, text, opaque = block.block, block.text, block.opaque
    if isinstance(block, TextBlock):
        yield TextDelta(0, choice, number, text, refusal=block.refusal)
        yield BlockEnd(0, choice, number, "text", opaque=opaque)
        return
    if text:
        source: Any = block.source or "native"
        yield ReasoningDelta(0, choice, number, text, source)
    state = block.signature, opaque, block.raw_text, block.fields
    yield BlockEnd(0, choice, number, "reasoning", *state)
