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
from stream_sidecar.text.pieces import FORM_KINDS
from stream_sidecar.text.shown_text import SPACE, Orphan, ShownText
from stream_sidecar.text.waiting import Waiting

if TYPE_CHECKING:
    from stream_sidecar.forms.candidate import Taken
    from stream_sidecar.text.buffer import Buffer
    from stream_sidecar.text.lexicon import Rules
    from stream_sidecar.text.waiting import Item

OPEN_ENDS = ("(", "[", "{", "),", "],", "},", '",', "',")
"""If a line ends with one of these, its code continues on the next line."""

SENTENCE_ENDS = frozenset(".!?…。！？।؟۔")

MIN_TAIL = WINDOW + 1
"""At least so many characters before the next one are kept."""


@define(eq=False)
class Tail:
    """``shown`` gets the visible text. ``trailing``: stop tokens and calls that wait.
    ``leading``: results that wait. ``trailing`` and ``leading`` are None while nothing
    waits there. ``rejects``: items that waited and turned out to be text, to be read
    again."""

    _rules: Rules
    _buffer: Buffer
    shown: ShownText = field(init=False)
    trailing: Waiting | None = None
    leading: Waiting | None = None
    rejects: list[Item] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        rules, size = self._rules, max(self._rules.lexicon.literals.longest, MIN_TAIL)
        fences_pass = rules.scope != "everywhere"
        # A weak reference: a cycle would keep the rules alive until the collector runs.
        budget = proxy(self)
        self.shown = ShownText(budget, size, fences_pass, rules.orphan, rules.orphan)

    # What waits

    @property
    def held(self) -> int:
        """How many characters wait."""
        trailing, leading = self.trailing, self.leading
        held = self.shown.held + (0 if trailing is None else trailing.held)
        return held if leading is None else held + leading.held

    @property
    def call_size(self) -> int:
        """How many waiting characters belong to calls."""
        return 0 if self.trailing is None else self.trailing.call_size

    @property
    def waiting_size(self) -> int:
        """How many waiting characters do not belong to calls."""
        return self.held - self.call_size

    def room(self, size: int, *, calls: bool = False) -> int:
        """How many more characters may wait; with ``calls``, how many more of calls
        (text rule 13.1). A result below ``size`` is exact. A larger one may be too
        large: text that other readers will hold but have not read yet is not counted.
        """
        room, unread = self._room(calls), self.shown.unread
        literal = self._rules.lexicon.literals.longest  # its beginning is never counted
        if self._buffer.pieces and room < size + unread + literal:
            self._rules.settle_others()
            room = self._room(calls)
        return max(room, 0)

    def _room(self, calls: bool) -> int:
        rules, (call_share, other_share) = self._rules, self._rules.others_share()
        if calls:
            return rules.max_call - call_share - self.call_size
        return rules.max_held - other_share - self.waiting_size

    def hold_form(self, form: Taken) -> None:
        """Lets the form that comes next wait for the text after it (text rule 12.1)."""
        if form.kind is PieceKind.MARK and form.end > self.room(form.end):
            self._buffer.add_mark(PieceKind.FULL)
            self.end_trailing(followed=False)
        # the same question again: what waited is decided now, which may make room
        if form.kind is PieceKind.MARK and form.end > self.room(form.end):
            self.remove_next(PieceKind.MARK, form.end)  # it may not wait at all
            return
        fresh = Waiting(self.shown.tail_size, is_alone=not self.line_shown)
        text, start = self._buffer.take(form.end)
        if form.kind is not PieceKind.RESULT:
            self.trailing = self.trailing or fresh
            self.trailing.push(text, start, form)
            return
        leading, patience = self.leading or fresh, self._rules.context.echo.patience
        leading.push(text, start, form)
        self.leading = leading
        if leading.held > patience and not self._is_proven(leading):
            self.decide_leading(echo=False)

    def _is_proven(self, leading: Waiting) -> bool:
        """Whether white space may follow the results (text rule 10.2)."""
        is_proof, leading.values = self._rules.context.echo.proves(leading.values), []
        leading.is_proven = leading.is_proven or is_proof
        return leading.is_proven

    # Shown or removed

    def show_next(self, size: int, *, final: bool = True) -> None:
        """Shows the next ``size`` characters, or lets blanks among them wait. If these
        characters decide something that waits, they may stay in the buffer, because
        refused text has to be read again first. ``final``: no more text comes."""
        waiting, blank_count, count = self.trailing or self.leading, 0, 0
        if waiting is not None:
            blank_count = min(self._buffer.count_blanks(), size)
            if waiting.is_alone and "\n" in self._buffer.peek(blank_count):
                self.end_trailing(followed=False)
                return
            count = min(blank_count, self.room(blank_count))
            waiting.push(*self._buffer.take(count))
            if count == size:
                return
            if count < blank_count:
                self._buffer.add_mark(PieceKind.FULL)
        if self.leading is not None:
            following = self._buffer.peek(2)
            # the next character decides whether a sentence continues: see `continues`
            if following in ("+", "-", "/") and not final:
                raise UndecidedError
            is_echo = count == blank_count and self.is_echo()
            near = "\n" not in self.leading.last_blanks
            self.decide_leading(echo=is_echo and not continues(following, beside=near))
            return
        self.end_trailing(followed=count == blank_count)
        # refused text is read again before these characters
        if not self.rejects:
            self.shown.write_text(*self._buffer.take(size - count), self._buffer.pieces)

    def is_echo(self) -> bool:
        """Whether ``leading`` are repetitions if text follows."""
        leading = self.leading
        if leading is None:
            return False
        return leading.items[-1][2] is not None or self._is_proven(leading)

    def decide_leading(self, *, echo: bool) -> None:
        """Decides the leading results: with ``echo`` they are repetitions and are
        removed, else they are text (text rule 10.4)."""
        leading, self.leading = self.leading, None
        items = [] if leading is None else leading.items
        if echo:
            self._drop(items)
        else:
            self.rejects = items

    def _drop(self, items: list[Item], *, end: int = -1, show: bool = False) -> None:
        """Removes the forms in ``items``, and the blanks up to the item with index
        ``end``. Shows the blanks after that item. With ``show``, shows all of
        them and the forms, too."""
        pieces = self._buffer.pieces
        for index, (item_text, start, form) in enumerate(items):
            if item_text and index > end and (show or form is None):
                self.shown.write_text(item_text, start, pieces)
                continue
            kind = PieceKind.BLANK if form is None else form.kind
            if form is not None and kind in FORM_KINDS:
                self._buffer.verdicts.append(form)
            if kind is PieceKind.CALL:
                self.shown.note_call_after(pieces)
            if item_text:
                pieces.append((kind, item_text, start, start + len(item_text)))
            self.shown.note_removal()

    def remove_next(self, kind: PieceKind, size: int) -> None:
        """Takes the next ``size`` characters out, as ``kind``."""
        self._buffer.cut_piece(kind, size)
        (self.trailing or self.shown).note_removal()
        self._buffer.has_gap = True

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
        call_size, delimiters = trailing.call_size, self._rules.lexicon.delimiters
        is_reported = call_size and self._rules.context.calls == "report"
        has_delimiter = any(delimiters.any.search(text) for text, *_ in trailing.items)
        if is_reported or (followed and has_delimiter):
            self.rejects = trailing.items
            for text, start, form in () if followed else trailing.items:
                if form is not None and form.kind is PieceKind.CALL:
                    self._buffer.report_call(form, text, start)
            return
        forms = enumerate(trailing.items)
        tokens = [n for n, (*_, form) in forms if form and form.kind is PieceKind.MARK]
        end = -1 if followed or not tokens else tokens[-1]
        self._drop(trailing.items, end=end, show=followed)

    def handle_orphan(self, *, is_headed: bool) -> None:
        """Handles a closer without an opener, which comes next: the text before the
        closer may be reasoning, and an answer may follow it (text rules 9.4 and 9.5).
        ``is_headed``: a header that begins the answer stands right after it."""
        shown, is_alone = self.shown, not self.line_shown
        orphan, shown.next_orphan = shown.next_orphan, Orphan.NONE
        if is_headed and orphan is Orphan.LINE:
            orphan = Orphan.ARMED
        if orphan is Orphan.ARMED or (orphan is Orphan.LINE and is_alone):
            self.end_trailing(followed=False)  # the forms are in what may be reasoning
            shown.orphan_state = orphan

    # The text before the next character

    @property
    def line_shown(self) -> bool:
        """Whether this line has visible text, or a waiting form."""
        return (self.trailing or self.shown).line_shown

    @property
    def prefix(self) -> str:
        """The end of the text before the next character, waiting forms included."""
        return self.shown.prefix if self.trailing is None else self.trailing.tail

    @property
    def place(self) -> AnswerPlace:
        """The place of the next character, for judging mentions."""
        shown, prefix = self.shown, self.prefix
        is_held = self.trailing is not None
        in_json = shown.json_place is not None and shown.json_place.open_string != ""
        is_all = not is_held and len(prefix) <= WINDOW
        return AnswerPlace(prefix, is_all, "" if is_held else shown.head, in_json)

    @property
    def last_visible(self) -> str:
        """The line's last character but blanks, with waiting forms."""
        if not self.line_shown:
            return ""
        waiting_text = "" if self.trailing is None else self.trailing.tail.rstrip(SPACE)
        return (waiting_text or self.shown.last_visible)[-1:]

    @property
    def ends_sentence(self) -> bool:
        """Whether the text before the waiting forms ends a line or a sentence."""
        shown, waiting = self.shown, self.trailing
        if not shown.line_shown or (waiting is not None and waiting.has_line_break):
            return True
        return shown.last_visible in SENTENCE_ENDS

    @property
    def leaves_code_open(self) -> bool:
        """Whether the line before this one leaves code open: it ends with a bracket
        that opens, or with a comma after a value (text rule 11.6)."""
        return not self.trailing and self.shown.tail.rstrip().endswith(OPEN_ENDS)

    @property
    def is_start(self) -> bool:
        """Whether the next visible character begins an answer."""
        return self.trailing is None and (self.shown.is_start or self.is_armed)

    @property
    def is_armed(self) -> bool:
        """Whether visible text would begin a new answer here (text rule 9.2)."""
        return self.shown.orphan_state is Orphan.ARMED
