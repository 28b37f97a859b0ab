"""The end of the answer: the text that is shown, and what waits for the text after it.

Three things wait. Blanks at a line's start wait in ``shown``: the next character
decides whether they are removed with a removal. Stop tokens and calls without a marker
wait in ``trailing``: visible text after them makes them text. Results at the answer's
start wait in ``leading``: visible text after them makes them repetitions, which are
removed. All except the calls share one budget; `Tail.room` returns how much of it is
left. Example: with a budget of 20, nine more characters may wait after
`` <|im_end|>``.
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
"""If a line ends with one of these, its code continues on the next line."""

KNOWN = WINDOW + 1
"""At least this many characters before the next one are kept; more if a literal is
longer."""


@define(eq=False)
class Tail:
    """``shown`` gets the visible text. ``trailing``: stop tokens and calls that wait.
    ``leading``: results that wait. ``trailing`` and ``leading`` are None while nothing
    waits there. ``refused``: items that waited and turned out to be text, to be read
    again."""

    _rules: Rules
    _buffer: Buffer
    shown: ShownText = field(init=False)
    trailing: Waiting | None = None
    leading: Waiting | None = None
    refused: list[Item] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        rules, size = self._rules, max(self._rules.lexicon.literals.longest, KNOWN)
        passes = rules.scope != "everywhere"
        # A weak reference: a cycle would keep the rules alive until the collector runs.
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
        """How many waiting characters belong to calls."""
        return 0 if self.trailing is None else self.trailing.called

    @property
    def waiting(self) -> int:
        """How many waiting characters do not belong to calls."""
        return self.held - self.called

    def room(self, size: int, *, calls: bool = False) -> int:
        """How many more characters may wait; with ``calls``, how many more of calls
        (text rule 13.1). A result below ``size`` is exact. A larger one may be too
        large: text that other readers will hold but have not read yet is not counted.
        """
        room, unread = self._room(calls), self.shown.unread
        literal = self._rules.lexicon.literals.longest  # its beginning is never counted
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
        """Lets the form that comes next wait for the text after it (text rule 12.1)."""
        if taken.kind is PieceKind.MARK and taken.end > self.room(taken.end):
            self._buffer.mark(PieceKind.FULL)
            self.end_trailing(followed=False)
        # the same question again: what waited is decided now, which may make room
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
        """Whether the waiting objects are results even if white space follows (text
        rule 10.2)."""
        proves, leading.values = self._rules.context.echo.proves(leading.values), []
        leading.proven = leading.proven or proves
        return leading.proven

    # Shown or removed

    def show(self, size: int, *, final: bool = True) -> None:
        """Shows the next ``size`` characters, or lets blanks among them wait. If these
        characters decide something that waits, they may stay in the buffer, because
        refused text has to be read again first. ``final``: no more text comes."""
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
            # the next character decides whether a sentence continues: see `continues`
            if following in ("+", "-", "/") and not final:
                raise UndecidedError
            echo = room == blanks and self.is_echo()
            beside = "\n" not in self.leading.gap
            self.decide(echo=echo and not continues(following, beside=beside))
            return
        self.end_trailing(followed=room == blanks)
        # refused text is read again before these characters
        if not self.refused:
            self.shown.write(*self._buffer.take(size - room), self._buffer.pieces)

    def is_echo(self) -> bool:
        """Whether the objects in ``leading`` are repeated results if text follows
        here."""
        leading = self.leading
        if leading is None:
            return False
        return leading.items[-1][2] is not None or self._is_proven(leading)

    def decide(self, *, echo: bool) -> None:
        """Decides the leading results: with ``echo`` they are repetitions and are
        removed, else they are text (text rule 10.4)."""
        leading, self.leading = self.leading, None
        items = [] if leading is None else leading.items
        if echo:
            self._settle(items)
        else:
            self.refused = items

    def _settle(self, items: list[Item], *, last: int = -1, text: bool = False) -> None:
        """Removes the forms in ``items``, and the blanks up to the item with index
        ``last``. Shows the blanks after that item. With ``text``, shows all of them and
        the forms, too."""
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
        """Takes the next ``size`` characters out of the answer, as a piece of
        ``kind``."""
        self._buffer.cut(kind, size)
        (self.trailing or self.shown).removed()
        self._buffer.border = True

    def end_trailing(self, *, followed: bool) -> None:
        """Decides the trailing forms. ``followed``: visible text comes next, so the
        forms are text. Otherwise the answer ends, and they are removed.

        At the answer's end, the blanks between stop tokens are removed, and blanks
        after the last one stay. Text that contains delimiters is refused: it has to be
        read again (text rule 11.6).
        """
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
                    self._buffer.report_call(taken, text, start)
            return
        forms = enumerate(trailing.items)
        tokens = [n for n, (*_, each) in forms if each and each.kind is PieceKind.MARK]
        last = -1 if followed or not tokens else tokens[-1]
        self._settle(trailing.items, last=last, text=followed)

    def await_answer(self) -> None:
        """Handles a closer without an opener, which comes next: the text before the
        closer may be reasoning, and an answer may follow it (text rules 9.4 and
        9.5)."""
        shown, alone = self.shown, not self.line_shown
        orphan, shown.next_orphan = shown.next_orphan, Orphan.NONE
        if orphan is Orphan.ARMED or (orphan is Orphan.LINE and alone):
            self.end_trailing(followed=False)  # the forms are in what may be reasoning
            shown.orphan = orphan

    # The text before the next character

    @property
    def line_shown(self) -> bool:
        """Whether this line has visible text, or a waiting form that may become visible
        text."""
        return (self.trailing or self.shown).line_shown

    @property
    def before(self) -> str:
        """The end of the text before the next character, waiting forms included."""
        return self.shown.before if self.trailing is None else self.trailing.tail

    @property
    def place(self) -> AnswerPlace:
        """The place of the next character, for judging mentions."""
        shown, before = self.shown, self.before
        waits = self.trailing is not None
        in_json = shown.json is not None and shown.json.string != ""
        is_all = not waits and len(before) <= WINDOW
        return AnswerPlace(before, is_all, "" if waits else shown.head, in_json)

    @property
    def last(self) -> str:
        """The last character of this line that is not blank, waiting forms included; ""
        if there is none."""
        if not self.line_shown:
            return ""
        waiting = "" if self.trailing is None else self.trailing.tail.rstrip(SPACE)
        return (waiting or self.shown.last)[-1:]

    @property
    def is_open(self) -> bool:
        """Whether the line before this one leaves code open: it ends with a bracket
        that opens, or with a comma after a value (text rule 11.6)."""
        return not self.trailing and self.shown.tail.rstrip().endswith(OPEN)

    @property
    def is_start(self) -> bool:
        """Whether the answer, or a new answer, begins with the next visible
        character."""
        return self.trailing is None and (self.shown.start or self.is_armed)

    @property
    def is_armed(self) -> bool:
        """Whether visible text would begin a new answer here (text rule 9.2)."""
        return self.shown.orphan is Orphan.ARMED
