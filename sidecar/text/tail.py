"""The end of the answer: what is shown, and what waits behind it for what follows.

Blanks at a line's start wait in ``shown`` for the character that decides whether they
go with a removal; ``trailing`` stop tokens for visible text; ``leading`` results for
the text that makes them repetitions. All of it has one budget: `Tail` says how much
``room`` is left. Example: with a budget of 20, behind `` <|im_end|>`` nine more
characters may wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from sidecar.forms.kinds import PieceKind
from sidecar.text.leading_results import LeadingResults
from sidecar.text.shown_text import SPACE, Orphan, ShownText
from sidecar.text.trailing import Trailing

if TYPE_CHECKING:
    from sidecar.forms.candidate import Taken
    from sidecar.markdown.code import CodeState
    from sidecar.text.buffer import Buffer
    from sidecar.text.leading_results import Leading
    from sidecar.text.lexicon import Rules

KNOWN = 256
"""So much is known of what was shown or waits, or as much as a literal may have."""


@define(eq=False)
class Tail:
    """``shown`` takes what is visible; ``trailing`` and ``leading`` are None where
    nothing waits there; ``refused`` are leading results that are text after all."""

    _rules: Rules
    _buffer: Buffer
    shown: ShownText = field(init=False)
    trailing: Trailing | None = None
    leading: LeadingResults | None = None
    refused: list[Leading] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        rules, size = self._rules, max(self._rules.lexicon.literals.longest, KNOWN)
        passes, held = rules.scope != "everywhere", max(rules.max_held, 1)
        self.shown = ShownText(held, size, passes, rules.orphan, rules.orphan)

    # What waits

    @property
    def held(self) -> int:
        """How many characters wait."""
        held = self.shown.held
        if self.trailing is not None:
            held += self.trailing.held
        return held if self.leading is None else held + self.leading.held

    @property
    def room(self) -> int:
        """How many more may wait."""
        return max(self._rules.max_held - self.held, 0)

    def hold_token(self, size: int) -> bool:
        """What stands here is text only if visible text follows, so it waits; False:
        there is no room for it."""
        if size > self.room:
            self._buffer.mark(PieceKind.FULL)
            self.end_trailing(followed=True)
            return False
        if self.trailing is None:
            self.trailing = Trailing(self.shown.tail_size)
        self.trailing.push(*self._buffer.take(size), token=True)
        return True

    def hold_result(self, taken: Taken) -> None:
        """What stands here is a result only if visible text follows, so it waits."""
        rules = self._rules.context.echo
        assert rules is not None  # else nothing reads results
        self.leading = self.leading or LeadingResults(rules)
        self.leading.push(*self._buffer.take(taken.end), taken)

    # What is shown and what is not

    def show(self, size: int) -> None:
        """Shows the next ``size`` characters, or lets them wait; they stay where they
        are if leading results are refused, which have to be read first."""
        if self.trailing is not None:
            size -= self._wait(size)
            if not size:
                return
        if self.leading is not None:
            self._follow(size)
            return
        self.end_trailing(followed=True)
        self.shown.write(*self._buffer.take(size), self._buffer.pieces)

    def _wait(self, size: int) -> int:
        """Blanks behind trailing tokens wait with them; gives how many of them."""
        assert self.trailing is not None  # the caller looked
        blanks = min(self._buffer.blanks(), size)
        room = min(blanks, self.room)
        if room:
            self.trailing.push(*self._buffer.take(room), token=False)
        if room < blanks:
            self._buffer.mark(PieceKind.FULL)
        return room

    def _follow(self, size: int) -> None:
        """Text follows the leading results: blanks wait with them, more decides."""
        assert self.leading is not None  # the caller looked
        blanks = 0 if self.trailing else min(self._buffer.blanks(), size)
        room = min(blanks, self.room)
        if room:
            self.leading.push(*self._buffer.take(room))
        if room < blanks:
            self._buffer.mark(PieceKind.FULL)
            self.decide(echo=False)
        elif room < size:
            self.decide(echo=self.leading.is_echo())
            if not self.refused:
                self.show(size - room)

    def decide(self, *, echo: bool) -> None:
        """The leading results, if any wait, are repetitions and go, or are refused."""
        leading, self.leading = self.leading, None
        items = [] if leading is None else leading.items
        if not echo:
            self.refused = items
            return
        for text, start, taken in items:
            if taken is None:
                self.shown.write(text, start, self._buffer.pieces)
                continue
            piece = (PieceKind.RESULT, text, start, start + len(text))
            self._buffer.taken.append(taken)
            self._buffer.pieces.append(piece)
            self.shown.removed()

    def remove(self, kind: PieceKind, size: int) -> None:
        """Takes the next ``size`` characters out of the answer."""
        self._buffer.cut(kind, size)
        if self.trailing is not None:
            self.trailing.removed()
        else:
            self.shown.removed()
        self._buffer.border = True

    def end_trailing(self, *, followed: bool) -> None:
        """Visible text has ``followed`` the trailing tokens, or the answer ends: then
        they go, with what stands between them; blanks behind them stay."""
        trailing, self.trailing = self.trailing, None
        if trailing is None:
            return
        last = -1 if followed else trailing.last_token()
        for number, (text, start, token) in enumerate(trailing.items):
            if text and number > last:
                self.shown.write(text, start, self._buffer.pieces)
                continue
            if text:
                kind = PieceKind.MARK if token else PieceKind.BLANK
                self._buffer.pieces.append((kind, text, start, start + len(text)))
            self.shown.removed()

    def await_answer(self) -> None:
        """A closer without an opener stands here: it may be that what was shown is
        reasoning, and that an answer follows."""
        shown, alone = self.shown, not self.line_shown
        orphan, shown.next_orphan = shown.next_orphan, Orphan.NONE
        if orphan is Orphan.ARMED or (orphan is Orphan.LINE and alone):
            self.end_trailing(followed=False)  # it stands in what may be reasoning
            shown.orphan = orphan

    # What stands before the next character

    @property
    def line_shown(self) -> bool:
        """Whether something visible stands on this line, or may."""
        return (self.trailing or self.shown).line_shown

    @property
    def before(self) -> str:
        """What stands before the next character, or may."""
        return self.shown.before if self.trailing is None else self.trailing.tail

    @property
    def last(self) -> str:
        """The last character on this line that is not blank, or may stand there."""
        if not self.line_shown:
            return ""
        waiting = "" if self.trailing is None else self.trailing.tail.rstrip(SPACE)
        return (waiting or self.shown.last)[-1:]

    @property
    def breaks(self) -> bool:
        """Whether a line ends in what waits."""
        return self.trailing is not None and self.trailing.breaks

    @property
    def code(self) -> CodeState:
        """The state of code before the next character."""
        return self.shown.code_ahead

    @property
    def is_start(self) -> bool:
        """Whether the answer begins here."""
        return self.trailing is None and (self.shown.start or self.is_armed)

    @property
    def is_armed(self) -> bool:
        """Whether visible text begins a new answer here."""
        return self.shown.orphan is Orphan.ARMED

    def has_reopened(self) -> bool:
        """Whether a new answer has begun since this was last asked."""
        reopened, self.shown.reopened = self.shown.reopened, False
        return reopened
