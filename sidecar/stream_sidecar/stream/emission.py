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
    Finish,
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
    from stream_sidecar.parts import Document, Json, JsonObject


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
        self.over = False  # every choice has its finish
        self.failed = False  # the stream failed, and no document says so
        self.marked = False  # the wire's own end mark came
        self._item: Origin | None = None
        self._moved = 0

    @property
    def removals(self) -> int:
        """How often something was removed or moved so far."""
        return self._moved + super().removals

    def passes(self, document: Document, held: int, *, is_unread: bool) -> None:
        """Notes that a document of the same wire was read. ``held``: how many code
        points are undecided after it. ``is_unread``: it has text that was not read."""
        value, event = document.value, document.event
        values = value if type(value) is list else (value,)
        chunks = [_chunk(each, event) for each in values if self._is_written(each)]
        if len(chunks) < len(values):
            chunks = []
        between = self.between if is_unread else None
        read = ReadDocument(chunks, self.seq, self.removals, held, self.over, between)
        self.passed.append(read)

    def _is_written(self, value: Json) -> bool:
        return type(value) is dict and self._row.is_written(value)

    def block(self) -> int:
        number = super().block()
        if self._item is not None:
            self.origins[number] = self._item
        return number

    def open_item(self, id: str, kind: str) -> None:
        self._item = Origin(id, kind=kind)

    def open_call(self, block: int, origin: Callable[[], Origin]) -> None:
        own = origin()
        known = self.origins.get(block, own)
        self.origins[block] = evolve(own, item=known.item, kind=known.kind)

    def plain(self, events: list[Event]) -> None:
        super().plain(events)
        for event in events:
            if type(event) is ReasoningDelta and event.source == "tag":
                self._moved += 1

    def send(self, make: Any, choice: int, *args: Any, **fields: Any) -> None:
        super().send(make, choice, *args, **fields)
        self.failed = self.failed or (make is ProviderError and self.is_closing)
        if make in (Reclassify, Retract):
            self._moved += 1
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
            sent = self._sent.get(self._calls.get(id, -1), id)
        else:
            taken = self._calls.setdefault(id, block) != block
            made = made_id(id, str(block)) if taken else id
            sent = self._sent.setdefault(block, made)
            self._calls[id] = block
        return event if sent == id else evolve(event, tool_call_id=sent)


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
        self._documents = OwnDocuments(row, options.limits.max_held_chars)
        self._stream = options.stream_id or ""
        self._writer = row.make_writer(wire, outlet.origins, self._stream)
        self._left_out = defaultdict[int, list[str]](list)
        self._decided: tuple[type, ...] = (
            ToolCall,
            ToolCallDelta,
            ToolResult,
            BlockEnd,
        )
        self._whole: set[str] = set()  # signatures that were written
        self._states = row.states
        self._removals = 0  # before the document that is next
        self._ids = SentIds()
        if outlet.emit.reasoning != "include":
            self._decided += (ReasoningDelta, Reclassify)

    def push(self, events: list[Event]) -> list[Chunk]:
        if self._outlet.is_foreign:
            return self._documents.before() + self._write(events)
        passed, self._outlet.passed = self._outlet.passed, []
        chunks: list[Chunk] = []
        at = 0
        for each in passed:
            end = bisect_right(events, each.last, at, key=_seq)
            said = events[at:end]
            if each.between is None:
                self._documents.push(each.chunks, self._dressed(each, said))
            else:
                self._push_unread(each, said)
            self._removals = each.removals
            cites = each.removals > 0 and any(isinstance(e, Citation) for e in said)
            stays = each.removals > 0 and self._outlet.binds()
            chunks += self._documents.after(each, cites=cites, stays=stays)
            at = end
        rest = events[at:] if at else events
        if rest:
            self._push_without_document(rest)
        return chunks

    def _dressed(self, read: ReadDocument, said: list[Event]) -> list[Chunk]:
        """What is written in place of a document, with its state."""
        ours = self._write(said)
        if self._states is not None:
            is_broken = self._removals > 0 and self._outlet.binds()
            for own in map(inside_of, read.chunks):
                ours = self._states.add(own, ours, is_broken)
        return ours

    def _push_unread(self, read: ReadDocument, said: list[Event]) -> None:
        """Adds a document whose text was not read, after the text that was held before
        it. The writer notes the document's other events."""
        own, cut = read.chunks, bisect_right(said, read.between, key=_seq)
        self._documents.push([], self._write(said[:cut]))
        self._write(said[cut:])
        self._documents.push(own, own)

    def _push_without_document(self, events: list[Event]) -> None:
        """Adds events that belong to no document. An error among them is written in any
        case."""
        ours = self._write([e for e in events if not isinstance(e, ProviderError)])
        errors = self._write([e for e in events if isinstance(e, ProviderError)])
        self._documents.push(errors, ours + errors)

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
        is_other = promoted or (removals and _cites(message))
        chunks += self._documents.end(removals, is_other=bool(is_other))
        return [*chunks, END] if self._outlet.marked else [*chunks]

    def body(self, message: Message, wire: str) -> Chunk:
        """The whole clean response. If nothing leaked, this is the response that
        came."""
        came = [each.chunks for each in self._outlet.passed]
        own = came[0][0] if [len(chunks) for chunks in came] == [1] else None
        if own is not None and not (self._outlet.removals or self._outlet.failed):
            return own
        self._outlet.broken |= _broken_in(message)
        row, states = self._writer.row, self._states
        self._states, origins = None, self._outlet.origins
        self._writer = row.make_writer(wire, origins, self._stream)
        chunks = self._write(list(_events_of(message)))
        chunks += self._end(message, [*self._promoted(message)])
        body = self._writer.fold(chunks)
        is_broken = self._outlet.removals > 0 and self._outlet.binds()
        if states is not None and own is not None and is_broken:
            body = states.cut(body)
        return body if own is None else Chunk(around(body, inside_of(own), row))

    def _promoted(self, message: Message) -> Iterator[ToolCall]:
        """The claims that have become calls at the end."""
        for each in message.choices or (message,):
            if each.finish and each.finish.reason == "pause":
                continue  # the model goes on, and the host answers no call
            for call in filter(self._is_promoted, each.tool_calls):
                yield evolve(self._ids.of(call), origin="structured")

    def _end(self, message: Message, promoted: list[ToolCall]) -> list[Chunk]:
        calling, finishes = {call.choice for call in promoted}, []
        for each in message.choices or (message,):
            finish = each.finish
            assert finish is not None  # the stream is closed
            finishes.append(_with_calls(finish) if each.choice in calling else finish)
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
            opaque = without_signatures(event.opaque, self._whole)
            event = evolve(event, signature=None, opaque=opaque)
        else:
            self._whole |= signatures_in(event.opaque) | {event.signature or ""}
        yield event

    @property
    def _includes_reasoning(self) -> bool:
        return self._outlet.emit.reasoning == "include"

    def _without_tagged(self, event: Event) -> Iterator[Event]:
        """``event``, if it is not reasoning that is left out: tagged reasoning, or
        reasoning with a broken signature. Tagged reasoning that was left out is
        returned as text when it turns out to be text."""
        if isinstance(event, ReasoningDelta) and event.source == "tag":
            if self._accepts_tagged:
                yield event
            else:
                self._left_out[event.block].append(event.text)
            return
        if isinstance(event, ReasoningDelta) and event.block in self._outlet.broken:
            if self._includes_reasoning:
                yield event
            return
        yield event
        if isinstance(event, Reclassify) and event.to == "text":
            for block in event.blocks:
                text = "".join(self._left_out.pop(block, ()))
                if text:
                    yield TextDelta(event.seq, event.choice, block, text)

    @cached_property
    def _accepts_tagged(self) -> bool:
        """Whether tagged reasoning is written into the wire's field for reasoning. This
        is decided when the first tagged reasoning comes."""
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
    came = {*(event.fields or ()), *(event.opaque or ())}.intersection(names)
    if not came:
        return event
    left = {name: event.opaque[name] for name in event.opaque or () if name not in came}
    signature = None if came.intersection(event.fields or ()) else event.signature
    return evolve(event, signature=signature, opaque=left or None)


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


def _cites(message: Message) -> bool:
    return any(each.citations for each in message.choices or (message,))


def _broken_in(message: Message) -> set[int]:
    """The blocks whose state is bound to text that was changed."""
    blocks = (b for each in message.choices or (message,) for b in each.blocks or ())
    reasoning = (b for b in blocks if isinstance(b, ReasoningBlock))
    return {each.block for each in reasoning if each.seal_broken}


def _as_text(call: ToolCall) -> TextDelta | ReasoningDelta:
    """The text of the claim ``call`` as a delta in its channel."""
    assert call.block is not None  # every call of a stream has one
    if call.channel == "reasoning":
        return ReasoningDelta(call.seq, call.choice, call.block, call.raw, "tag")
    return TextDelta(call.seq, call.choice, call.block, call.raw)


def _with_calls(finish: Finish) -> Finish:
    is_stop = finish.reason == "stop"
    return evolve(finish, reason="tool-calls", raw=None) if is_stop else finish


def _events_of(message: Message) -> Iterator[Event]:
    """The message as events: whole blocks, each followed by the citations that end in
    it."""
    if message.metadata is not None:
        yield message.metadata
    for each in message.choices or (message,):
        cited: defaultdict[int, list[Citation]] = defaultdict(list)
        for citation in each.citations:
            cited[citation.blocks[-1] if citation.blocks else -1].append(citation)
        for block in each.blocks or ():
            yield from _events_of_block(block, each.choice)
            yield from cited.pop(block.block or 0, ())
        yield from chain(*cited.values())
        yield from each.errors
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
