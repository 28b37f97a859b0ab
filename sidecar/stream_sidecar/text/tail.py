"""The end of the answer: what is shown, and what waits behind it for what follows.

Blanks at a line's start wait in ``shown`` for the character that decides whether they
go with a removal; ``trailing`` stop tokens and calls for visible text; ``leading``
results for the text that makes them repetitions. All of it but the calls has one
budget: `Tail` says how much ``room`` is left. Example: with a budget of 20, behind
`` <|im_end|>`` nine more characters may wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import proxy

from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.forms.literals import UndecidedError
from stream_sidecar.forms.repeated_results import continues
from stream_sidecar.records import define, field
from stream_sidecar.text.mentions import WINDOW, AnswerPlace
from stream_sidecar.text.pieces import FORMED
from stream_sidecar.text.shown_text import SPACE, Orphan, ShownText
from stream_sidecar.text.waiting import Waiting

if TYPE_CHECKING:
    from stream_sidecar.forms.candidate import Taken
    from stream_sidecar.text.buffer import Buffer
    from stream_sidecar.text.lexicon import Rules
    from stream_sidecar.text.waiting import Item

OPEN = ("(", "[", "{", "),", "],", "},", '",', "',")
"""Text that ends so is code that goes on."""

KNOWN = WINDOW + 1
"""So much is known of what was shown or waits, or as much as a literal may have."""


@define(eq=False)
class Tail:
    """``shown`` takes what is visible; ``trailing`` and ``leading`` are None where
    nothing waits there; ``refused`` is what waited and is text after all."""

    _rules: Rules
    _buffer: Buffer
    shown: ShownText = field(init=False)
    trailing: Waiting | None = None
    leading: Waiting | None = None
    refused: list[Item] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        rules, size = self._rules, max(self._rules.lexicon.literals.longest, KNOWN)
        passes = rules.scope != "everywhere"
        # Weakly: in a circle the rules, and all words, would wait for the collector.
        budget = proxy(self)
        self.shown = ShownText(budget, size, passes, rules.orphan, rules.orphan)

    # What waits

    @property
    def held(self) -> int:
        """How many characters wait."""
        trailing, leading = self.trailing, self.leading
        held = self.shown.held + (0 if trailing is None else trailing.held)
        return held if leading is None else held + leading.held

    @property
    def called(self) -> int:
        """How many of them are of calls."""
        return 0 if self.trailing is None else self.trailing.called

    @property
    def waiting(self) -> int:
        """How many of them are not."""
        return self.held - self.called

    def room(self, size: int, *, calls: bool = False) -> int:
        """How many more may wait, or be of ``calls``: exact where they are fewer than
        ``size``, else without what others will hold of what they have not read (text
        rule 13.1)."""
        room, unread = self._room(calls), self.shown.unread
        literal = self._rules.lexicon.literals.longest  # its beginning counts nowhere
        if self._buffer.pieces and room < size + unread + literal:
            self._rules.settle()
            room = self._room(calls)
        return max(room, 0)

    def _room(self, calls: bool) -> int:
        rules, (of_calls, held) = self._rules, self._rules.others()
        if calls:
            return rules.max_call - of_calls - self.called
        return rules.max_held - held - self.waiting

    def hold(self, taken: Taken) -> None:
        """What stands here waits for what follows it (text rule 12.1)."""
        if taken.kind is PieceKind.MARK and taken.end > self.room(taken.end):
            self._buffer.mark(PieceKind.FULL)
            self.end_trailing(followed=False)
        if taken.kind is PieceKind.MARK and taken.end > self.room(taken.end):
            self.remove(PieceKind.MARK, taken.end)  # it may not wait at all
            return
        new = Waiting(self.shown.tail_size, alone=not self.line_shown)
        text, start = self._buffer.take(taken.end)
        if taken.kind is not PieceKind.RESULT:
            self.trailing = self.trailing or new
            self.trailing.push(text, start, taken)
            return
        leading, patience = self.leading or new, self._rules.context.echo.patience
        leading.push(text, start, taken)
        self.leading = leading
        if leading.held > patience and not self._is_proven(leading):
            self.decide(echo=False)

    def _is_proven(self, leading: Waiting) -> bool:
        """Whether the objects that wait are results although white space follows."""
        proves, leading.values = self._rules.context.echo.proves(leading.values), []
        leading.proven = leading.proven or proves
        return leading.proven

    # What is shown and what is not

    def show(self, size: int, *, final: bool = True) -> None:
        """Shows the next ``size`` characters, or lets them wait; they stay where they
        are if what waited goes, or is refused, which has to be read first."""
        waiting, blanks, room = self.trailing or self.leading, 0, 0
        if waiting is not None:
            blanks = min(self._buffer.blanks(), size)
            if waiting.alone and "\n" in self._buffer.ahead(blanks):
                self.end_trailing(followed=False)
                return
            room = min(blanks, self.room(blanks))
            waiting.push(*self._buffer.take(room))
            if room == size:
                return
            if room < blanks:
                self._buffer.mark(PieceKind.FULL)
        if self.leading is not None:
            following = self._buffer.ahead(2)
            if following in ("+", "-", "/") and not final:
                raise UndecidedError
            echo = room == blanks and self.is_echo()
            beside = "\n" not in self.leading.gap
            self.decide(echo=echo and not continues(following, beside=beside))
            return
        self.end_trailing(followed=room == blanks)
        if not self.refused:
            self.shown.write(*self._buffer.take(size - room), self._buffer.pieces)

    def is_echo(self) -> bool:
        """Whether leading objects wait that are repeated results where text follows."""
        leading = self.leading
        if leading is None:
            return False
        return leading.items[-1][2] is not None or self._is_proven(leading)

    def decide(self, *, echo: bool) -> None:
        """Leading results, if any wait, are repetitions or not (text rule 10.4)."""
        leading, self.leading = self.leading, None
        items = [] if leading is None else leading.items
        if echo:
            self._settle(items)
        else:
            self.refused = items

    def _settle(self, items: list[Item], *, last: int = -1, text: bool = False) -> None:
        """Forms go that have waited, with blanks before the ``last`` of them; or all of
        it is ``text``."""
        pieces = self._buffer.pieces
        for number, (each, start, taken) in enumerate(items):
            if each and number > last and (text or taken is None):
                self.shown.write(each, start, pieces)
                continue
            kind = PieceKind.BLANK if taken is None else taken.kind
            if taken is not None and kind in FORMED:
                self._buffer.taken.append(taken)
            if kind is PieceKind.CALL:
                self.shown.followed(pieces)
            if each:
                pieces.append((kind, each, start, start + len(each)))
            self.shown.removed()

    def remove(self, kind: PieceKind, size: int) -> None:
        """Takes the next ``size`` characters out of the answer."""
        self._buffer.cut(kind, size)
        (self.trailing or self.shown).removed()
        self._buffer.border = True

    def end_trailing(self, *, followed: bool) -> None:
        """Visible text has ``followed`` the trailing forms, or the answer ends: then
        they go, with what stands between tokens; blanks behind them stay. What is text
        and has delimiters in it is refused: it has to be read (text rule 11.6)."""
        trailing, self.trailing = self.trailing, None
        if trailing is None:
            return
        called, delimiters = trailing.called, self._rules.lexicon.delimiters
        seen = called and self._rules.context.calls == "report"
        torn = any(delimiters.any.search(text) for text, *_ in trailing.items)
        if seen or (followed and torn):
            self.refused = trailing.items
            for text, start, taken in () if followed else trailing.items:
                if taken is not None and taken.kind is PieceKind.CALL:
                    self._buffer.see(taken, text, start)
            return
        forms = enumerate(trailing.items)
        tokens = [n for n, (*_, each) in forms if each and each.kind is PieceKind.MARK]
        last = -1 if followed or not tokens else tokens[-1]
        self._settle(trailing.items, last=last, text=followed)

    def await_answer(self) -> None:
        """A closer without an opener stands here: it may be that what was shown is
        reasoning, and that an answer follows (text rules 9.4 and 9.5)."""
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
    def place(self) -> AnswerPlace:
        """What is known of the place before the next character, for mentions."""
        shown, before = self.shown, self.before
        waits = self.trailing is not None
        in_json = shown.json is not None and shown.json.in_string
        is_all = not waits and len(before) <= WINDOW
        return AnswerPlace(before, is_all, "" if waits else shown.head, in_json)

    @property
    def last(self) -> str:
        """The last character on this line that is not blank, or may stand there."""
        if not self.line_shown:
            return ""
        waiting = "" if self.trailing is None else self.trailing.tail.rstrip(SPACE)
        return (waiting or self.shown.last)[-1:]

    @property
    def is_open(self) -> bool:
        """Whether the code before this line goes on: ``[``, or a comma behind one of
        its values (text rule 11.6)."""
        return not self.trailing and self.shown.tail.rstrip().endswith(OPEN)

    @property
    def is_start(self) -> bool:
        """Whether the answer begins here."""
        return self.trailing is None and (self.shown.start or self.is_armed)

    @property
    def is_armed(self) -> bool:
        """Whether visible text begins a new answer here."""
        return self.shown.orphan is Orphan.ARMED
