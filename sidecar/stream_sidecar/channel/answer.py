"""The answer's text: pieces of the text engine become blocks and events.

`Answer` gives the text to the text engine, and turns the returned pieces into events:
``"<think>a</think>b"`` becomes a reasoning delta and a text delta. Text that the fast
path proves plain begins a run (`PlainRun`), which shows the next deltas unread.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from stream_sidecar.channel.plain_run import PlainRun
from stream_sidecar.channel.report_results import ResultWatch
from stream_sidecar.channel.text_map import RECENT, TextMap
from stream_sidecar.events import Reclassify
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.text.fast_path import SLICE_SIZE, in_slices
from stream_sidecar.text.pieces import WRITTEN_KINDS, Piece, Pieces, merged
from stream_sidecar.values.surrogates import SurrogateJoiner, has_half

if TYPE_CHECKING:
    from stream_sidecar.channel.blocks import Blocks
    from stream_sidecar.channel.found_forms import FoundForms
    from stream_sidecar.channel.readers import Readers
    from stream_sidecar.channel.setup import Surroundings
    from stream_sidecar.channel.tagged_reasoning import TaggedReasoning
    from stream_sidecar.events import Severity
    from stream_sidecar.text.rereading import Rereading

_Doubted: TypeAlias = tuple[tuple[int, ...], tuple[int, int]]
"""Blocks of reasoning that turned out to be text, and the start and end of their raw
text."""

_MOST_UNREAD = 4096
"""At most this many code points of plain text are shown before there is a reader, which
gets them all at once."""

_RESULT_TEXT: tuple[str, Severity, str] = (
    "tool-result-text",
    "warning",
    "the answer begins with what looks like a tool's result",
)


class Answer:
    """The answer of one choice. ``empty``: no text but white space is visible. ``map``:
    where the raw text is in the visible text."""

    def __init__(
        self,
        choice: int,
        shared: Surroundings,
        readers: Readers,
        tagged: TaggedReasoning,
        blocks: Blocks,
        forms: FoundForms,
    ) -> None:
        self.choice = choice
        self.outlet = shared.outlet
        self.joiner = SurrogateJoiner()
        self.map = TextMap(None if shared.options.policy.message.parts else RECENT)
        self.empty = True
        self._empty_at_call = True
        self._since_call = array("Q")  # numbers of text blocks since the last call
        self._shared = shared
        self._readers = readers
        self._tagged = tagged
        self._blocks = blocks
        self._forms = forms
        self._watch = None if shared.watch is None else ResultWatch(shared)
        self._doubted: _Doubted | None = None  # reasoning that turned out to be text
        self._unread = ""  # the text that was shown before there was a reader

    # Input

    def text(self, text: str) -> None:
        run = self.outlet.run
        if type(run) is PlainRun and run.choice == self.choice:
            events = run.push(text) if text else None
            if events is not None:
                self.outlet.plain(events)
                return
            if len(text) <= SLICE_SIZE:
                run.end()
        if len(text) > SLICE_SIZE:
            self.outlet.as_one(map(self.text, in_slices(text)))
            return
        joiner, readers = self.joiner, self._readers
        if joiner.held or not text.isascii():
            text = joiner.push(text)
        if not text:
            return
        self.map.raw(text)
        if self.outlet.listener is not None:
            self.outlet.listener.text(self.choice, text)
        if readers.answer is None and self._shows_unread(text):
            return
        reader = self._reader
        self._take(reader.push(text))
        passage = reader.passage
        if passage is None or readers.tagged or joiner.held:
            readers.note_held()
            self._begin_to_wait(reader)
            return
        block = self._blocks.open
        if block is None or self._is_watched:
            return
        thinks = reader.first.reasoning.depth > 0
        is_same_channel = block.source == ("tag" if thinks else None)
        if is_same_channel and (not thinks or self._tagged.passes):
            PlainRun(self, passage, block.number, thinks=thinks)

    def _shows_unread(self, text: str) -> bool:
        """Shows ``text`` without a reader, if it is the first text and plain. Returns
        whether this was done. A short answer of plain text needs no reader."""
        if self._unread or self.joiner.held or self._readers.held or self._is_watched:
            return False
        passage = self._shared.passes_at_first(text)
        if passage is None:
            return False
        self._unread = text
        self._text((PieceKind.TEXT, text, 0, len(text)))
        PlainRun(self, passage, self._since_call[-1])
        return True

    @property
    def _reader(self) -> Rereading:
        """The reader, made when text has to be read: native reasoning before the text
        shows that the choice did not begin its reasoning in the prompt."""
        readers = self._readers
        if readers.answer is None:
            readers.answer = self._shared.answer(
                readers.beside_answer,
                self._read_so_far,
                readers.native_share,
                has_thought=readers.native is not None,
            )
            readers.answer.show_passed(self._unread)
        return readers.answer

    @property
    def _is_watched(self) -> bool:
        """Whether somebody needs each piece of text at once, without a run."""
        return self.outlet.trace or self._blocks.refuses or self._watch is not None

    def _begin_to_wait(self, reader: Rereading) -> None:
        """Begins a run of text that only waits, if an open candidate would only keep
        such text, and nobody else wants to see it at once."""
        if self._is_watched or self.outlet.listener or self._readers.tagged:
            return
        patterns, room = reader.first.undeciding_patterns()
        if patterns and not self.joiner.held:
            PlainRun(self, stays=patterns, room=room)

    def settle(self) -> None:
        """Ends the run if there is one, and does its bookkeeping."""
        run = self.outlet.run
        if type(run) is PlainRun and run.choice == self.choice:
            run.end()

    def call(self) -> None:
        """Notes that a structured call begins here."""
        if self._readers.answer is not None:
            self._readers.answer.note_call()
        self._called()

    def _called(self) -> None:
        """Notes a call: no orphan closer makes the text before it reasoning."""
        self._since_call = array("Q")
        self._empty_at_call = self.empty

    def flush(self, *, followed: bool) -> None:
        """Decides held text as if it ended here, or a structured call ``followed``."""
        self.settle()
        if half := self.joiner.close():
            if self.outlet.listener is not None:
                self.outlet.listener.text(self.choice, half)
            self.map.raw(half)
            self._take(self._reader.push(half))
        opens = self._shared.policy.reasoning.starts_open == "open"
        continues = self._unread and not self.outlet.is_closing
        if self._readers.answer is not None or opens or continues:
            self._take(self._reader.flush(followed=followed))
        if self._watch is not None:
            for _ in range(self._watch.flush(followed=followed)):
                self.outlet.diagnose(self.choice, *_RESULT_TEXT)

    def close(self, *, is_cut: bool) -> None:
        """Ends the blocks, and decides whether reasoning that never closed is text.
        ``is_cut``: a limit or the user cut the model off. Call this after the last
        ``flush``."""
        self._blocks.end()
        reader = self._readers.answer
        doubt = None if reader is None else reader.first.reasoning.doubt
        if reader is not None and self._tagged.judge(doubt, is_cut=is_cut):
            self._take(reader.read_again())
            self._decide_doubted(None)
            self._blocks.end()

    def replace_by_reasoning(self) -> None:
        """Makes the last reasoning the answer, if the policy says so (text rule 7.6).
        Call this if nothing is visible and the model meant to stop."""
        if self._shared.policy.reasoning.as_answer == "when-empty":
            self.empty = not self._tagged.to_answer()

    # For the run

    def account(self, text: str) -> None:
        """Does for the ``text`` of a run all that `_take` does except sending."""
        self.map.raw(text)
        self._blocks.extend(text)
        start = len(self._unread)
        if self._readers.answer is None and start + len(text) <= _MOST_UNREAD:
            self._unread += text
            self._shown(text, start, len(self._unread))
            return
        ((kind, *_, start, end),) = self._reader.show_passed(text)
        if kind is PieceKind.REASONING:
            self._tagged.extend(text)
        else:
            self._shown(text, start, end)

    def hold(self, text: str) -> None:
        """Gives the text engine what the run held: perhaps part of a delimiter."""
        self.map.raw(text)
        self._take(self._reader.push(text))

    def note_held(self, in_run: int) -> None:
        self._readers.note_held(in_run)

    def fails(self, text: str) -> bool:
        """Whether ``text`` at the start of a line certainly begins no form. False if it
        has half a character, which may have to be joined before this is known."""
        return False if has_half(text) else self._reader.first.begins_no_form(text)

    # Pieces

    def _take(self, pieces: Pieces) -> None:
        for piece in pieces if len(pieces) < 2 else merged(pieces):
            if self._doubted is None or not self._decide_doubted(piece):
                self._READ[piece[0]](self, piece)

    def _read_so_far(self) -> None:
        """Sends what is decided so far, in the middle of a text."""
        self._take(self._reader.take_decided())

    def _doubt(self, piece: Piece) -> None:
        """Notes that the open reasoning is text. The next piece shows whether its text
        is exactly what was sent."""
        self._blocks.end()
        blocks = self._tagged.give_back(closing=self.outlet.is_closing)
        calls = (
            number
            for number, call in self.outlet.builder.calls(self.choice)
            if blocks and number > blocks[0]
            if (call.origin, call.channel) == ("text", "reasoning")
        )
        self._doubted = (*blocks, *calls), piece[2:]
        self._forms.forget_calls(piece[2])

    def _decide_doubted(self, piece: Piece | None) -> bool:
        """Reclassifies reasoning that is text after all if ``piece`` is exactly the
        text that was sent, else retracts it. Returns whether this sent ``piece``."""
        doubted, self._doubted = self._doubted, None
        if doubted is None or not doubted[0]:
            return False
        blocks, extent = doubted
        sent_text = self.outlet.builder.any_text(self.choice, blocks[0])
        is_whole = piece == (PieceKind.TEXT, sent_text, *extent)
        if piece is None or not is_whole or len(blocks) > 1:
            self.outlet.retract(self.choice, blocks, extent)
            return False
        self.outlet.send(Reclassify, self.choice, blocks, "text")
        self._since_call.append(blocks[0])
        self._shown(*piece[1:])
        return True

    def _text(self, piece: Piece) -> None:
        _, text, start, end = piece
        block = self._blocks.text(text, (start, end) if self.outlet.trace else None)
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
        self._tagged.push(piece)

    def _enter(self, piece: Piece) -> None:
        self._tagged.enter(waiting=piece[2])

    def _exit(self, piece: Piece) -> None:
        self.outlet.counters.reasoning_extracted += 1
        self._tagged.exit(nested=piece[0] is PieceKind.CUT)
        if piece[0] is PieceKind.EXIT_CALL:
            self._called()

    def _reopen(self, _piece: Piece) -> None:
        """Makes the visible text since the last call reasoning (text rule 9.2)."""
        self._blocks.end()
        if self._since_call:
            self._tagged.reclassify(tuple(self._since_call))
        self._since_call = array("Q")
        self.empty = self._empty_at_call

    def _removed(self, piece: Piece) -> None:
        self._forms.removed(piece)

    def _form(self, piece: Piece) -> None:
        """Passes on a call, result or citation that was written into the answer."""
        taken = self._reader.verdicts.popleft()
        self._forms.pass_on(taken, piece, reasoning=self._tagged.is_open)

    _READ: ClassVar = {
        PieceKind.TEXT: _text,
        PieceKind.REASONING: _reasoning,
        PieceKind.DELIMITER: _removed,
        PieceKind.STRAY: _removed,
        PieceKind.REBUILT: _removed,
        PieceKind.BLANK: _removed,
        PieceKind.MARK: _removed,
        PieceKind.FULL: _removed,
        PieceKind.ENTER: _enter,
        PieceKind.EXIT: _exit,
        PieceKind.EXIT_CALL: _exit,
        PieceKind.CUT: _exit,
        PieceKind.REOPEN: _reopen,
        PieceKind.AGAIN: _doubt,
        **dict.fromkeys(WRITTEN_KINDS, _form),
    }
