"""The text and reasoning of one choice: pieces become blocks and events.

`Channel` passes the answer's text to the text engine (``text``) and a provider's field
for reasoning to a second splitter (``reasoning``). It turns the returned pieces into
events: ``"<think>a</think>b"`` becomes a reasoning delta and a text delta. Held text is
decided by a structured call and a wire's block end (``border``), and by the end
(``flush``, then ``close``; text rule 13.4). Calls, results and citations found in the
text go to the choice.
"""

from __future__ import annotations

from array import array
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from stream_sidecar.channel.blocks import Blocks
from stream_sidecar.channel.fast_path_text import FastPathText
from stream_sidecar.channel.found_forms import REMOVAL_DIAGNOSTICS, FoundForms
from stream_sidecar.channel.native_reasoning import NativeText
from stream_sidecar.channel.plain_run import PlainRun
from stream_sidecar.channel.report_results import ResultWatch
from stream_sidecar.channel.tagged_reasoning import HOLD_LIMIT, TaggedReasoning
from stream_sidecar.channel.text_map import RECENT, TextMap
from stream_sidecar.dialects.profiles import cumulative_fields
from stream_sidecar.events import Diagnostic, Reclassify
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.message.outlet import RunReader
from stream_sidecar.text.fast_path import SLICE_SIZE, in_slices
from stream_sidecar.text.lexicon import total_share
from stream_sidecar.text.pieces import FORM_KINDS, Piece, Pieces, merged
from stream_sidecar.values.surrogates import SurrogateJoiner, has_half

if TYPE_CHECKING:
    from stream_sidecar.channel.found_forms import FormSink
    from stream_sidecar.channel.setup import Surroundings
    from stream_sidecar.events import Severity
    from stream_sidecar.message.outlet import Listener
    from stream_sidecar.text.fast_path import Passage
    from stream_sidecar.text.lexicon import Share
    from stream_sidecar.text.rereading import Rereading
    from stream_sidecar.text.splitter import Splitter

_WRITTEN = (*FORM_KINDS, PieceKind.SEEN, PieceKind.FAILED)
"""Kinds of pieces that have an entry in ``taken`` of their reader."""

_Again: TypeAlias = tuple[tuple[int, ...], tuple[int, int]]
"""Blocks of reasoning that turned out to be text, and the start and end of their raw
text."""

_SAID_BEFORE: tuple[str, Severity, str] = (
    "duplicate-reasoning",
    "info",
    "the provider repeats what its reasoning field has said",
)


class Channel:
    """The text and reasoning of one choice. ``empty``: no text but white space is
    visible."""

    def __init__(self, choice: int, shared: Surroundings, sink: FormSink) -> None:
        options, outlet = shared.options, shared.outlet
        self.choice = choice
        self._shared = shared
        self.outlet = outlet
        self.counters = outlet.counters
        self.blocks = Blocks(choice, outlet)
        self.map = TextMap(None if options.policy.message.parts else RECENT)
        self._sink = sink
        self._watch = None if shared.watch is None else ResultWatch(shared)
        self.empty = True
        self._empty_at_call = True
        self._since_call = array("Q")  # numbers of text blocks since the last call
        self._native: Splitter | None = None
        self._fast_path_text: FastPathText | None = None
        self._thought = False  # native reasoning was sent
        self._again: _Again | None = None  # reasoning that turned out to be text
        self._native_key: int | str | None = None
        self._joiners = SurrogateJoiner(), SurrogateJoiner()
        own = self._account, self._hold, self._note_held, self._fails
        self._run = PlainRun(choice, outlet, *own)

    # Parts that few streams need are made on first use

    @cached_property
    def answer(self) -> Rereading:
        """The reader of the answer. It is made on first use, and first gets the text
        that was shown unread."""
        shown, self._fast_path_text = self._fast_path_text, None
        has_thought = shown.has_thought if shown else self._native is not None
        beside = self._beside, self._read_so_far, self._native_share
        answer = self._shared.answer(*beside, has_thought=has_thought)
        if shown:
            vars(self)["answer"] = answer  # reading needs it: for what others hold
            shown.replay(answer)
        return answer

    @cached_property
    def found_forms(self) -> FoundForms:
        """Gets the calls, results and citations that were written into the channel."""
        return FoundForms(self.choice, self.outlet, self.blocks, self._sink)

    @cached_property
    def tagged(self) -> TaggedReasoning:
        """Gets the tagged reasoning of the answer."""
        return TaggedReasoning(
            choice=self.choice,
            shared=self._shared,
            answer=self.answer,
            mirrors=self._mirrors,
            blocks=self.blocks,
            native=self._native_share,
            is_second=self._thought,
        )

    @cached_property
    def _mirrors(self) -> NativeText:
        limit = self._shared.options.limits.max_document_chars
        return NativeText(limit, cumulative_fields(self._shared.profile))

    # Input

    def text(self, text: str) -> None:
        in_run = text and self.outlet.run is self._run
        if in_run and (events := self._run.push(text)) is not None:
            self.outlet.plain(events)
            return
        if len(text) > SLICE_SIZE:
            self.outlet.as_one(map(self.text, in_slices(text)))
            return
        self.settle()
        joiner = self._joiners[0]
        if joiner.held or not text.isascii():
            text = joiner.push(text)
        if text:
            self.map.raw(text)
            if self.outlet.listener is not None:
                self.outlet.listener.text(self.choice, text)
            if self._passes(text):
                return
            answer = self.answer
            self._take(answer.push(text))
            passage = answer.passage
            if passage and not (self._held_tagged or joiner.held):
                self._begin_run(passage)
            else:
                self._note_held()
                self._begin_to_wait()

    def _passes(self, text: str) -> bool:
        """Shows ``text`` unread and begins a run (see `PlainRun`), if neither ``text``
        nor any text before it has to be read. Returns whether this was done."""
        is_read = self._answers or self._joiners[0].held or self.held
        if is_read or self.blocks.refuses:
            return False
        shown, run = self._fast_path_text, self._run
        passage = run.passes(text) if shown else self._shared.passes_at_first(text)
        if passage is None:
            return False
        if shown is None:
            has_thought = self._native is not None
            shown = self._fast_path_text = FastPathText(has_thought=has_thought)
        place = shown.passed(text)
        if place is not None:
            self._text((PieceKind.TEXT, text, *place))
            run.begin(self._since_call[-1], passage, thinks=False)
        return place is not None

    def _begin_run(self, passage: Passage) -> None:
        """Begins a run (see `PlainRun`) if the open block, the policy and a refusal
        allow it. From here on a plain delta only becomes an event. ``passage``: the
        fast path for the next delta."""
        block = self.blocks.open
        if block is None or self._is_watched:
            return
        thinks = self.answer.first.reasoning.depth > 0
        fits = block.source == ("tag" if thinks else None)
        if fits and (not thinks or self.tagged.passes):
            self._run.begin(block.number, passage, thinks=thinks)

    @property
    def _is_watched(self) -> bool:
        """Whether somebody needs each piece of text at once, so that no run may
        begin."""
        return self.outlet.trace or self.blocks.refuses or self._watch is not None

    def _begin_to_wait(self) -> None:
        """Begins a run of text that only waits, if an open candidate would only keep
        such text, and nobody else wants to see it at once."""
        if self._is_watched or self.outlet.listener or self._held_tagged:
            return
        stays, most = self.answer.first.undeciding_patterns()
        if stays and not self._joiners[0].held:
            self._run.wait(stays, most)

    def settle(self) -> None:
        """Ends the run if there is one, and does its bookkeeping."""
        if self.outlet.run is self._run:
            self._run.end()

    def _account(self, text: str) -> None:
        """Does the bookkeeping for the ``text`` of a run: all that `_take` does except
        for sending events."""
        self.map.raw(text)
        self.blocks.extend(text)
        shown = self._fast_path_text
        place = shown.passed(text) if shown else None
        if place is None:
            ((kind, *_, start, end),) = self.answer.show_passed(text)
            if kind is PieceKind.REASONING:
                self.tagged.extend(text)
                return
            place = start, end
        self._shown(text, *place)

    def _hold(self, text: str) -> None:
        """Gives the text engine the ``text`` that the run has held back: perhaps the
        beginning of a delimiter."""
        self.map.raw(text)
        self._take(self.answer.push(text))

    def _fails(self, text: str) -> bool:
        """Whether ``text`` at the start of a line certainly begins no form. False if it
        has half a character, which may have to be joined before this is known."""
        return False if has_half(text) else self.answer.first.begins_no_form(text)

    def reasoning(
        self, field: str, text: str, block: int | str | None, document: int
    ) -> None:
        """Reads ``text`` of the native ``field``, which belongs to ``block`` of the
        provider. ``document``: the number of the document (see `NativeText`)."""
        new, said = self._mirrors.push(field, text, document)
        if said:
            self.outlet.send(Diagnostic, self.choice, *_SAID_BEFORE, said)
        given = text
        if text := self._joiners[1].push(new):
            self.settle()
        if self.outlet.listener is not None:
            known = given[: len(given) - len(new)]
            self.outlet.listener.reasoning(self.choice, field, known, len(said), text)
        is_next = bool(text) and (self.blocks.signed or block != self._native_key)
        if is_next:
            self._native_key = block
            self.blocks.end_native()
        self._mirrors.says(field, restarts=is_next)
        if not text:
            return
        if self._native is None:
            self._native = self._shared.native(self._answer_share)
        self._take_native(self._native, self._native.push(text))
        if self._native.held:
            if self._answers:
                self.answer.first.passage = None  # there may be no room for blanks
            self._note_held()

    def continuation(
        self, fields: list[str], block: int | str | None
    ) -> RunReader | None:
        """The fast reader for further native reasoning in the same ``fields`` and the
        same ``block`` of the provider; None if each text must be read in full."""
        native = self._native
        passage = None if native is None else native.passage
        if not (native and passage) or self.outlet.trace or not self._may_grow(block):
            return None
        waits = self._joiners[1].held or (self._tags and self.tagged.needs_native)
        if waits or not self._mirrors.in_step(fields):
            return None
        search = passage[0].pattern.search  # lines do not matter in reasoning

        def matters(text: str) -> bool:
            return search(text) is not None

        def account(texts: list[str], more: int) -> int:
            if texts:
                native.show_passed(text := "".join(texts))
                self.blocks.extend(text)
                self._mirrors.extend(fields, text, len(texts))
            return self._mirrors.longest(fields, more)

        return RunReader(matters, self.blocks.native, account)

    def _may_grow(self, block: int | str | None) -> bool:
        """Whether the open block is ``block`` of the provider, and may get more
        reasoning."""
        is_same = self.blocks.is_native_open and not self.blocks.signed
        return is_same and block == self._native_key

    def state(
        self,
        signature: str | None,
        opaque: Any,
        block: int | str | None,
        field: str | None,
    ) -> None:
        """Adds provider state of the native ``block``. If the block has no text at all,
        the state came in ``field``."""
        self.settle()
        if block is not None and block != self._native_key:
            self._native_key = block
            self.blocks.begin_native()
        self.blocks.state(signature, opaque, field)

    def border(self, *, call: bool, opaque: Any = None) -> None:
        """Decides held text, because a structured call (``call``) or the end of a block
        on the wire comes next (text rule 13.4).

        ``opaque``: provider state of the block that ends.
        """
        self.flush(followed=call)
        if self.blocks.open is not None and opaque is not None:
            self.blocks.open.opaque = opaque
        self.blocks.end()
        if call:
            if self._fast_path_text:
                self._fast_path_text.called = True
            elif self._answers:
                self.answer.note_call()
            self._called()

    def refuse(self, *, is_refusal: bool) -> None:
        """Decides held text and ends the block, because the next text belongs to a
        refusal or, without ``is_refusal``, to the answer again."""
        self.border(call=False)
        self.blocks.refuses = True if is_refusal else None

    def _called(self) -> None:
        """Notes that a structured call begins here: no later orphan closer turns the
        text before the call into reasoning."""
        self._since_call = array("Q")
        self._empty_at_call = self.empty

    def flush(self, *, followed: bool = False) -> None:
        """Decides held text as if the text ended here; reasoning, fence and line
        continue.

        ``followed``: a structured call follows.
        """
        self.settle()
        text, native = map(SurrogateJoiner.close, self._joiners)
        if self.outlet.listener is not None:
            self._report_halves(self.outlet.listener, text, native)
        if text:
            self.map.raw(text)
            self._take(self.answer.push(text))
        if self._fast_path_text:
            self._fast_path_text.flushed = True
        elif self._answers or self._shared.policy.reasoning.starts_open == "open":
            self._take(self.answer.flush(followed=followed))
        if self._watch is not None:
            self._report_results(self._watch.flush(followed=followed))
        if self._native is not None:
            pieces = self._native.push(native) if native else []
            self._take_native(self._native, [*pieces, *self._native.flush()])
        if self._tags:
            self.tagged.flush()

    def _report_halves(self, listener: Listener, text: str, native: str) -> None:
        """Reports halves of characters whose other half never came."""
        if text:
            listener.text(self.choice, text)
        if native and self._native is not None:
            listener.reasoning(self.choice, self._mirrors.fields[-1], "", 0, native)

    def close(self) -> None:
        """Ends the blocks, and decides whether reasoning that never closed is text.
        Call this after the last ``flush``."""
        self.blocks.end()
        if self._tags and self.tagged.judge():
            self._take(self.answer.read_again())
            self._decide_again(None)
            self.blocks.end()

    def answer_by_reasoning(self) -> None:
        """Makes the last reasoning the answer, if the policy says so (text rule 7.6).
        Call this if nothing is visible and the model meant to stop."""
        if self._shared.policy.reasoning.as_answer == "when-empty":
            self.empty = not self.tagged.to_answer()

    @property
    def has_found_forms(self) -> bool:
        """Whether ``found_forms`` was made: something was written into the channel."""
        return "found_forms" in vars(self)

    @property
    def repaired(self) -> int:
        """The number of half characters that had no other half."""
        answer, native = self._joiners
        return answer.repaired + native.repaired

    @property
    def _held_tagged(self) -> int:
        return self.tagged.held if self._tags else 0

    @property
    def _tags(self) -> bool:
        """Whether ``tagged`` was made: there may be tagged reasoning."""
        return "tagged" in vars(self)

    @property
    def held(self) -> int:
        """The number of code points held back, without the end of a plain run."""
        held = self._held_tagged + (self.answer.held if self._answers else 0)
        return held if self._native is None else held + self._native.held

    @property
    def _answers(self) -> bool:
        """Whether ``answer`` was made: something has to read the answer."""
        return "answer" in vars(self)

    def _native_share(self) -> Share:
        return total_share() if self._native is None else self._native.share()

    def _beside(self) -> Share:
        """The `Share` of all readers except the first reading of the answer."""
        calls, held = self.answer.share()
        beside = calls, held + self._held_tagged
        return (
            beside
            if self._native is None
            else total_share(beside, self._native.share())
        )

    def _answer_share(self) -> Share:
        """The `Share` of all readers except that of native reasoning."""
        if not self._answers:
            return total_share()
        answer = self.answer
        return total_share(answer.first.share(), answer.share(), (0, self._held_tagged))

    def _read_so_far(self) -> None:
        """Turns the pieces of the answer that are decided so far into events, in the
        middle of a text."""
        self._take(self.answer.take_decided())

    def _note_held(self, in_run: int = 0) -> None:
        held = in_run + self.held
        if held > self.counters.held_peak:
            self.counters.held_peak = held

    # The pieces of the answer

    def _take(self, pieces: Pieces) -> None:
        for piece in pieces if len(pieces) < 2 else merged(pieces):
            if self._again is None or not self._decide_again(piece):
                self._READ[piece[0]](self, piece)

    def _doubted(self, piece: Piece) -> None:
        """Notes that the open reasoning is text. The next piece shows whether its text
        is exactly what was sent."""
        self.blocks.end()
        sent = self.tagged.give_back(closing=self.outlet.is_closing)
        calls = (
            number
            for number, call in self.outlet.builder.calls(self.choice)
            if sent and number > sent[0]
            if (call.origin, call.channel) == ("text", "reasoning")
        )
        self._again = (*sent, *calls), piece[2:]
        if self.has_found_forms:
            self.found_forms.forget_calls(piece[2])

    def _decide_again(self, piece: Piece | None) -> bool:
        """Reclassifies reasoning that is text after all if ``piece`` is exactly the
        text that was sent. Otherwise retracts it. Returns whether ``piece`` was sent by
        this."""
        again, self._again = self._again, None
        if again is None or not again[0]:
            return False
        blocks, extent = again
        sent = self.outlet.builder.any_text(self.choice, blocks[0])
        is_whole = piece == (PieceKind.TEXT, sent, *extent)
        if piece is None or not is_whole or len(blocks) > 1:
            self.outlet.retract(self.choice, blocks, extent)
            return False
        self.outlet.send(Reclassify, self.choice, blocks, "text")
        self._since_call.append(blocks[0])
        self._shown(*piece[1:])
        return True

    def _text(self, piece: Piece) -> None:
        _, text, start, end = piece
        block = self.blocks.text(text, (start, end) if self.outlet.trace else None)
        if self._watch is not None:
            self._watch.push(text)
        if not self._since_call or self._since_call[-1] != block:
            self._since_call.append(block)
        self._shown(text, start, end)

    def _shown(self, text: str, start: int, end: int) -> None:
        self.map.visible(start, end, self._since_call[-1])
        if self.empty and not text.isspace():
            self.empty = False

    def _reasoning(self, piece: Piece) -> None:
        self.tagged.push(piece)

    def _enter(self, piece: Piece) -> None:
        self.tagged.enter(waiting=piece[2])

    def _exit(self, piece: Piece) -> None:
        self.counters.reasoning_extracted += 1
        self.tagged.exit(nested=piece[0] is PieceKind.CUT)
        if piece[0] is PieceKind.EXIT_CALL:
            self._called()

    def _reopen(self, _piece: Piece) -> None:
        """Turns the visible text since the last tool call into reasoning (text rule
        9.2)."""
        self.blocks.end()
        if self._since_call:
            self.tagged.reclassify(tuple(self._since_call))
        self._since_call = array("Q")
        self.empty = self._empty_at_call

    def _full(self, _piece: Piece) -> None:
        self.outlet.diagnose(self.choice, *HOLD_LIMIT)

    def _removed(self, piece: Piece) -> None:
        kind = piece[0]
        if kind is not PieceKind.BLANK:
            self.counters.delimiters_stripped += 1
        code, severity, message = REMOVAL_DIAGNOSTICS[kind]
        if self.outlet.trace or severity == "warning":
            self.outlet.diagnose(self.choice, code, severity, message, piece[1:])

    def _form(self, piece: Piece) -> None:
        """Passes on a call, result or citation that was written into the answer."""
        self._pass_on_form(self.answer, piece, reasoning=self.tagged.is_open)

    def _pass_on_form(
        self, reader: Rereading | Splitter, piece: Piece, *, reasoning: bool
    ) -> None:
        self.found_forms.pass_on(reader.verdicts.popleft(), piece, reasoning=reasoning)
        if piece[0] is PieceKind.CITE:
            self._removed(piece)

    def _report_results(self, found: int) -> None:
        message = "the answer begins with what looks like a tool's result"
        for _ in range(found):
            self.outlet.diagnose(self.choice, "tool-result-text", "warning", message)

    _READ: ClassVar = {
        PieceKind.TEXT: _text,
        PieceKind.REASONING: _reasoning,
        **dict.fromkeys(
            (PieceKind.DELIMITER, PieceKind.STRAY, PieceKind.REBUILT), _removed
        ),
        **dict.fromkeys((PieceKind.BLANK, PieceKind.MARK), _removed),
        PieceKind.ENTER: _enter,
        PieceKind.EXIT: _exit,
        PieceKind.EXIT_CALL: _exit,
        PieceKind.CUT: _exit,
        PieceKind.REOPEN: _reopen,
        PieceKind.FULL: _full,
        PieceKind.AGAIN: _doubted,
        **dict.fromkeys(_WRITTEN, _form),
    }

    # The pieces of native reasoning

    def _take_native(self, reader: Splitter, pieces: Pieces) -> None:
        for piece in pieces if len(pieces) < 2 else merged(pieces):
            if piece[0] is PieceKind.REASONING:
                self._send_native(piece)
                continue
            self.blocks.removed(piece[1])
            if piece[0] in _WRITTEN:
                self._pass_on_form(reader, piece, reasoning=True)
            else:
                self._READ[piece[0]](self, piece)

    def _send_native(self, piece: Piece) -> None:
        span, fields = self.outlet.span(*piece[2:]), self._mirrors.fields
        self.blocks.reasoning(piece[1], "native", span, fields)
        self._thought = True
        if self._tags:
            self.tagged.native(piece[1])
