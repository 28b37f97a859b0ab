"""Tagged reasoning beside native reasoning: sent, held, dropped or judged at the end.

Before the first native character, tagged reasoning is sent at once, and retracted if
the native text turns out to be the same (text rule 8.3). From the first native
character on, tagged blocks are held, and dropped into a diagnostic when they close
(text rule 8.2). A block that never closes is judged at the end (text rule 7.1). The
native text is kept only if a tagged block has to be compared with it.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from stream_sidecar.channel.native_text import Collapsed, SameText
from stream_sidecar.channel.readers import HOLD_LIMIT
from stream_sidecar.events import Reclassify, Retract
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.records import define, field
from stream_sidecar.text.pieces import FORM_KINDS, Piece, merged
from stream_sidecar.values.surrogates import SurrogateJoiner

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.channel.blocks import Blocks
    from stream_sidecar.channel.native_text import NativeText
    from stream_sidecar.channel.readers import Readers
    from stream_sidecar.channel.setup import Surroundings
    from stream_sidecar.text.doubt import Doubt

_REMOVED = {
    *FORM_KINDS,
    PieceKind.DELIMITER,
    PieceKind.STRAY,
    PieceKind.REBUILT,
    PieceKind.MARK,
}


@define
class _Block:
    """An open tagged block, or the part of it after its last nested closer.

    ``sent``: numbers of the event blocks with its text. ``held``: the pieces that wait.
    ``passing``: nothing waits any more, because the hold limit was reached.
    """

    sent: list[int] = field(factory=list)
    passing: bool = False
    held: list[Piece] = field(factory=list)


class TaggedReasoning:
    """The tagged reasoning of one choice. ``mirrors`` has the native text."""

    def __init__(
        self,
        choice: int,
        shared: Surroundings,
        readers: Readers,
        mirrors: NativeText,
        blocks: Blocks,
    ) -> None:
        self.choice = choice
        self.policy = shared.policy.reasoning
        self.max_held = shared.options.limits.max_held_chars
        self.blocks = blocks
        self.outlet = shared.outlet
        self._shared = shared
        self._readers = readers
        self._waiting = 0  # characters of the answer that wait before the open block
        self._block: _Block | None = None
        self._same: SameText | None = None  # None: no tagged text to compare yet
        # An array: a list of numbers takes five times the room, and streams are long.
        self._copies = array("Q")  # blocks that may repeat native text
        self._is_second = False  # native reasoning came before
        self._mirrors = mirrors
        self._native: str | None = None  # the beginning of the native text, if needed
        self._copied = 0  # up to where tagged blocks repeated it (policy merge)
        self._collapsed = Collapsed()

    def enter(self, *, waiting: int) -> None:
        """Begins a block after an opener. ``waiting``: so many characters of the answer
        wait before it, and count towards the hold limit (text rule 7.2)."""
        if self.blocks.open is not None and self.blocks.open.channel == "reasoning":
            self.blocks.end()
        self._block, self._waiting = _Block(), waiting

    def push(self, piece: Piece) -> None:
        """Sends or holds ``piece``, more text of the open block (text rule 8.2)."""
        block = self._open
        if not self._is_second or block.passing:
            self._send(block, piece)
            return
        block.held.append(piece)
        readers = self._readers
        readers.tagged += len(piece[1])
        size = readers.tagged + self._waiting + readers.native_share()[1]
        if size > self.max_held:
            block.passing = True
            self.outlet.diagnose(self.choice, *HOLD_LIMIT)
            self._release(block)

    def exit(self, *, nested: bool) -> None:
        """Ends the block; after a ``nested`` closer another begins (text rule 7.3)."""
        if self.policy.precedence == "merge":
            self._settle(self._is_copy)
        else:
            self._settle(lambda _text: True)
        self._block = None
        if nested:
            self.blocks.end()
            self._block = _Block()

    def native(self, text: str) -> None:
        """Notes that native reasoning was sent. Retracts the tagged reasoning before it
        if the native text turns out to say the same (text rule 8.3)."""
        self._is_second = True
        if self._native is not None and len(self._native) < self.max_held:
            self._native += self._collapsed.push(text)
        same = self._same
        if same is not None and same.same is None and same.native(text):
            blocks = tuple(self._copies)
            self.outlet.send(Retract, self.choice, blocks, "duplicate-of-native")

    def reclassify(self, blocks: tuple[int, ...]) -> None:
        """Makes these blocks of text reasoning. If they are a copy of native reasoning,
        retracts them (text rule 8.3)."""
        any_text = self.outlet.builder.any_text
        texts = [any_text(self.choice, number) for number in blocks]
        known = [text for text in texts if text is not None]
        is_known = len(known) == len(texts)
        if self._is_second and is_known and self._is_begun_copy("".join(known)):
            self.outlet.send(Retract, self.choice, blocks, "duplicate-of-native")
        else:
            self.outlet.send(Reclassify, self.choice, blocks, "reasoning")

    def flush(self) -> None:
        self._waiting = 0
        if self._block is not None:
            self._settle(self._is_begun_copy)

    def judge(self, doubt: Doubt | None, *, is_cut: bool) -> bool:
        """Whether a block that is still open at the end is text, and has to be read
        again (text rules 7.1, 7.5 and 7.7). Reports the block. ``doubt``: the reader's.
        ``is_cut``: something cut the model off."""
        block = self._block
        if block is None:
            return False
        self._report()
        is_certain = self.policy.unclosed == "reasoning"
        if is_certain or doubt is None or not self._live(block):
            return False
        if doubt.closer_size and doubt.is_whole and (is_cut or not doubt.has_answer):
            return False
        if not doubt.is_whole:
            self.outlet.diagnose(self.choice, *HOLD_LIMIT)
        return doubt.is_whole

    def give_back(self, *, closing: bool) -> tuple[int, ...]:
        """Drops the open block, which is text and comes again. Returns its event
        blocks. ``closing``: `judge` has reported it, because the stream closes."""
        block, self._block = self._open, None
        self._readers.tagged, block.held = 0, []
        if not closing:
            self._report()
        return self._live(block)

    def _report(self) -> None:
        message = "reasoning was never closed"
        self.outlet.diagnose(self.choice, "unclosed-reasoning", "warning", message)

    def _live(self, block: _Block) -> tuple[int, ...]:
        """The event blocks of ``block`` that were not retracted as copies."""
        retracted = self._copies if self._same is not None and self._same.same else ()
        return tuple(number for number in block.sent if number not in retracted)

    def to_answer(self) -> bool:
        """Makes the last block of reasoning, native or tagged, the answer (text rule
        7.6). Returns False if there is no such block, or if a reading of it as the
        answer would remove something."""
        number = self.outlet.builder.last_reasoning(self.choice)
        if number is None:
            return False
        text = self.outlet.builder.text_with(self.choice, number)
        probe = self._shared.shown()
        pieces = [*probe.push(text), *probe.flush()]
        if any(piece[0] in _REMOVED for piece in pieces):
            return False
        self.outlet.send(Reclassify, self.choice, (number,), "text")
        return True

    @property
    def needs_native(self) -> bool:
        """Whether further native text has to be compared."""
        same = self._same
        return self._native is not None or (same is not None and same.same is None)

    @property
    def is_open(self) -> bool:
        """Whether a tagged block is open."""
        return self._block is not None

    @property
    def _open(self) -> _Block:
        assert self._block is not None  # the splitter says "enter" first
        return self._block

    @property
    def passes(self) -> bool:
        """Whether a block is open whose text is sent as it comes."""
        block = self._block
        return block is not None and (not self._is_second or block.passing)

    def _send(self, block: _Block, piece: Piece) -> None:
        number = self.blocks.reasoning(piece[1], "tag", self.outlet.span(*piece[2:]))
        self._note_sent(block, number, piece[1])

    def extend(self, text: str) -> None:
        """Notes that ``text`` has been sent in the open block."""
        self._note_sent(self._open, self._open.sent[-1], text)

    def _note_sent(self, block: _Block, number: int, text: str) -> None:
        if number not in block.sent[-1:]:
            block.sent.append(number)
        if not self._is_second:
            self._same = self._same or SameText()
            self._same.tagged(text)
            if not self._copies or self._copies[-1] != number:
                self._copies.append(number)

    def _settle(self, is_copy: Callable[[str], bool]) -> None:
        """Drops the held text if it is a copy of the native text, else sends it."""
        block = self._open
        text = "".join(piece[1] for piece in block.held)
        if not text or not is_copy(text):
            self._release(block)
            return
        message = "dropped: the provider sent reasoning in its own field, too"
        for piece in self._unhold(block):
            self.outlet.diagnose(
                self.choice, "duplicate-reasoning", "info", message, piece[1:]
            )

    def _release(self, block: _Block) -> None:
        for piece in self._unhold(block):
            self._send(block, piece)

    def _unhold(self, block: _Block) -> list[Piece]:
        held, block.held, self._readers.tagged = block.held, [], 0
        return list(merged(held))

    def _is_begun_copy(self, text: str) -> bool:
        """Whether the native text begins with ``text``, or continues with it after the
        part that equals tagged text sent before (text rule 8.4)."""
        words, head = Collapsed().push(text), self._head()
        size = self._same.size if self._same is not None else 0
        return head.startswith(words) or head[size:].lstrip().startswith(words)

    def _is_copy(self, text: str) -> bool:
        """Whether ``text`` repeats the native text, from the native text's beginning or
        from where the last copy ended (text rule 8.5)."""
        words, head = Collapsed().push(text), self._head()
        for end in (self._copied, 0):
            start = end + head.startswith(" ", end)
            if head.startswith(words, start):
                self._copied = start + len(words)
                return True
        return False

    def _head(self) -> str:
        """The beginning of the native text as sent, with white space collapsed."""
        if self._native is None:
            text = SurrogateJoiner().push(self._mirrors.head(self.max_held))
            pieces = self._shared.native().push(text)
            texts = [piece[1] for piece in pieces if piece[0] is PieceKind.REASONING]
            self._native = self._collapsed.push("".join(texts))
        return self._native
