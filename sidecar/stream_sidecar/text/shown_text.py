"""The visible text on its way out: decides which white space is removed with a removal.

A visible line that a removal leaves blank is removed with its line break. Before the
first visible character, if something was removed there, blank lines are removed, and
blanks on the removal's own line. Nothing else is ever trimmed. So blanks at a line's
start wait for the next visible character or the line's end; at the answer's start all
white space waits. Example: of ``a``, a line with only ``<think>x</think>``, and ``b``,
two lines are shown.

`ShownText` also knows the end of the visible text (for rebuilt delimiters and openers
in mid-sentence), and notices the first visible character after a closer without an
opener (an orphan).
"""

from __future__ import annotations

from collections import Counter
from enum import Enum
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.markdown.code import BLANKS, LONGEST_START, CodeState
from stream_sidecar.records import define, field
from stream_sidecar.text.elements import NO_ELEMENTS, OpenElements
from stream_sidecar.text.json_answer import JSON_BEGINS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stream_sidecar.text.json_answer import JsonPlace
    from stream_sidecar.text.pieces import Pieces

SPACE = "\n" + BLANKS

_LINE = patterns.compile("[^\n]*+\n++|[^\n]++")
"""A line with the empty lines after it. Only blanks at its start may wait."""

_STATE_FIELDS = (
    "elements",
    "has_reopened",
    "head",
    "is_start",
    "json_place",
    "last_visible",
    "line_mentions",
    "line_removed",
    "line_shown",
    "mentions",
    "orphan_state",
    "start_removed",
)
_read_fields = attrgetter(*_STATE_FIELDS)

Mentions: TypeAlias = "Mapping[frozenset[str], int]"
NO_MENTIONS: Mentions = {}  # nobody writes into it

_LONGEST_TAIL = 512
"""If more characters of the shown text are kept than this, the tail is cut back."""


class Orphan(Enum):
    """The state of a closer without an opener (text rule 9.2)."""

    NONE = 1  # there is none, or it was a stray
    LINE = 2  # its line is blank so far
    ARMED = 3  # the next visible text makes the text before the closer reasoning


class Budget(Protocol):
    """Says how many more characters may wait; see `Tail.room`."""

    def room(self, size: int, *, calls: bool = False) -> int: ...


@define(eq=False)
class ShownText:
    """The end of the visible text: ``write_text`` adds text, ``note_removal`` notes a
    removal, ``flush`` decides the white space that waits.

    ``budget`` says how many more characters may wait; one character always may.
    ``fences_pass``: nothing is taken out of fenced code.

    The text: ``tail`` is its end, at least ``tail_size`` characters. ``code``: the
    state of code at its end. ``unread``: how many shown characters were not returned
    yet. ``is_start``: only blanks were shown so far. ``start_removed``: something was
    removed among these blanks. ``elements``: the open XML elements. ``json_place``: the
    place in an answer that is JSON.

    ``mentions``: for the closers of a pair, how many openers a sentence named whose
    closer is still to be named (text rule 4.14). ``line_mentions``: those of the line.

    The line: ``line_shown``: it has a visible character. ``line_removed``: something
    was removed before its first visible character. ``head``: its first character.
    ``last_visible``: its last character that is not blank.

    The white space that waits: ``lines``, and ``blanks`` of the current line, together
    ``held`` characters.

    Closers without an opener (orphans): ``first_orphan`` is the effect of the first
    orphan after a call, if no opener comes before it. ``next_orphan``: the effect of
    the next orphan. ``orphan_state``: the state of the last orphan. ``has_reopened``: a
    new answer has begun; `CandidateTracker.forget_if_reopened` resets it.
    ``state_at_call``: the tail and the state of code at the last call.
    ``reopened_code``: the state of code if a new answer begins.
    """

    budget: Budget
    tail_size: int
    fences_pass: bool
    first_orphan: Orphan
    next_orphan: Orphan
    code: CodeState = field(factory=CodeState)
    tail: str = ""
    unread: int = 0
    state_at_call: tuple[str, tuple[Any, ...]] = ("", CodeState().state())
    last_visible: str = ""
    is_start: bool = True
    start_removed: bool = False
    line_shown: bool = False
    line_removed: bool = False
    lines: Pieces = field(factory=list)
    blanks: Pieces = field(factory=list)
    held: int = 0
    orphan_state: Orphan = Orphan.NONE
    has_reopened: bool = False
    reopened_code: CodeState | None = None
    head: str = ""
    elements: OpenElements = NO_ELEMENTS
    json_place: JsonPlace | None = JSON_BEGINS
    mentions: Mentions = NO_MENTIONS
    line_mentions: Mentions = NO_MENTIONS

    def note_removal(self) -> None:
        """Notes that something was removed here."""
        self.line_removed = not self.line_shown or self.orphan_state is Orphan.ARMED
        if self.is_start:
            self.start_removed = True

    def write_text(self, text: str, start: int, pieces: Pieces) -> None:
        """Adds ``text``, which begins at position ``start`` of the raw channel, and
        appends the pieces that are now decided to ``pieces``. If the waiting white
        space could reach the hold limit, adds the text line by line, so that the limit
        is checked at each line."""
        limit = len(text) + self.tail_size  # with a literal's beginning held elsewhere
        is_whole = "\n" not in text[:-1] or limit < self.budget.room(limit + 1)
        for line in [text] if is_whole else _LINE.findall(text):
            while line:
                write = self._write_shown if self._can_show(line) else self._write_blank
                if self.fences_pass and self.code.fills_line:
                    write = self._write_fenced
                line, start = write(line, start, pieces)

    def note_passed(self, text: str) -> None:
        """Notes that ``text`` was shown unread. Nothing waits."""
        if not self.line_shown or "\n" in text:
            self.line_removed = False
        self.is_start, self.line_shown = False, text[-1] != "\n"
        self.note_text(text)
        self.unread = 0

    def _can_show(self, text: str) -> bool:
        """Whether ``text`` can be shown at once, except for blanks of its last line."""
        if self.line_shown:
            return self.orphan_state is not Orphan.ARMED
        return text[0] == "\n" and self.begins_line

    def _write_fenced(self, text: str, start: int, pieces: Pieces) -> tuple[str, int]:
        """Shows text in fenced code, up to its last line break if it has one. Blanks
        need not wait, because nothing is removed from fenced code. Returns the rest of
        the text and its position."""
        end = text.rfind("\n") + 1 or len(text)
        self._show_piece(text[:end], start, pieces)
        self.line_shown, self.line_removed = text[end - 1] != "\n", False
        return text[end:], start + end

    def _write_blank(self, text: str, start: int, pieces: Pieces) -> tuple[str, int]:
        """Lets blanks wait, and empty lines at the start."""
        line_end = text.find("\n") + 1
        if line_end and self.is_start and not self.line_removed:
            line_end = len(text) - len(text[line_end:].lstrip("\n"))
        line = text[:line_end] if line_end else text
        blank_count = len(line) - len(line.lstrip(SPACE))
        if not blank_count:
            self._begin_line(pieces)
            return text, start
        room = max(self.budget.room(blank_count + 1), 1)
        count = min(blank_count, room)
        self.blanks.append((PieceKind.BLANK, line[:count], start, start + count))
        self.held += count
        if line_end and count == len(line):
            self._end_blank_line(pieces)
        if count == room and self.held and not self.budget.room(1):
            pieces.append((PieceKind.FULL, "", 0, 0))
            self.orphan_state = Orphan.NONE  # the closer is a stray, as at the end
            self.flush(pieces)
        return text[count:], start + count

    def _end_blank_line(self, pieces: Pieces) -> None:
        """Decides a line of waiting blanks (text rule 6.1)."""
        if self.orphan_state is Orphan.LINE:
            self.orphan_state = Orphan.ARMED
        is_removed = self.line_removed and not self.line_shown
        if self.is_start or (self.orphan_state is Orphan.ARMED and not is_removed):
            self.lines += self.blanks
            self.blanks.clear()
        else:
            self._decide_blanks(self.blanks, pieces, remove=is_removed)
        self.line_removed = self.line_shown = False

    def _begin_line(self, pieces: Pieces) -> None:
        """Decides all waiting white space before a visible character."""
        if self.orphan_state is Orphan.ARMED:
            self.reopen_answer(pieces)
        self.orphan_state = Orphan.NONE
        if self.held:
            self._decide_blanks(self.lines, pieces, remove=self._removes_lines)
            self._decide_blanks(self.blanks, pieces, remove=self._removes_blanks)
        self.is_start = self.start_removed = False
        self.line_shown, self.line_removed = True, False
        self.last_visible = ""

    def reopen_answer(self, pieces: Pieces) -> None:
        """Turns the text since the last call into reasoning (text rule 9.2)."""
        pieces.append((PieceKind.REOPEN, "", 0, 0))
        self.has_reopened = True
        self.tail = self.state_at_call[0]
        self.is_start = self.start_removed = True
        self.head, self.json_place = "", JSON_BEGINS
        self.mentions = self.line_mentions = NO_MENTIONS
        self.code, self.reopened_code = self._code_at_reopening(), None

    def begin_answer(self, pieces: Pieces) -> None:
        """Does what `reopen_answer` does; the new answer begins on a new line."""
        self.reopen_answer(pieces)
        self.orphan_state = Orphan.NONE
        self.line_shown = self.line_removed = False

    def _write_shown(self, text: str, start: int, pieces: Pieces) -> tuple[str, int]:
        """Shows ``text``, which has no removal at a line's start (text rule 6.4). If
        the last line of ``text`` is blank, it is not shown. Returns the rest of the
        text and its position."""
        line_start = text.rfind("\n") + 1
        end = len(text) if text[line_start:].strip(BLANKS) else line_start or len(text)
        self._show_piece(text[:end], start, pieces)
        self.line_shown, self.line_removed = end > line_start, False
        return text[end:], start + end

    def _show_piece(self, text: str, start: int, pieces: Pieces) -> None:
        pieces.append((PieceKind.TEXT, text, start, start + len(text)))
        self.unread += len(text)
        self.note_text(text)

    def note_text(self, text: str) -> None:
        """Updates what is known of the end of the visible text, and where it has code
        (text rule 4.7). ``text`` has just been shown."""
        self.code.feed(text)
        self.elements = self.elements.after_text(text)
        if self.json_place is not None:
            self.json_place = self.json_place.after_text(text)
        line = text[text.rfind("\n") + 1 :]
        if len(line) < len(text):
            self.head, self.line_mentions = "", NO_MENTIONS
        self.head = self.head or line[:1]
        tail = self.tail + text
        self.tail = tail if len(tail) <= _LONGEST_TAIL else tail[-self.tail_size :]
        if text[-1] not in BLANKS:
            self.last_visible = text[-1]
        else:
            self.last_visible = text.rstrip(BLANKS)[-1:] or self.last_visible
        if self.last_visible == "\n":
            self.last_visible = ""

    def note_mention(self, closers: frozenset[str], count: int) -> None:
        """Notes that a sentence named an opener (``count`` is 1) or a closer (-1) of
        the pair with these ``closers``."""
        self.mentions = _counted(self.mentions, closers, count)
        self.line_mentions = _counted(self.line_mentions, closers, count)

    def _decide_blanks(self, blanks: Pieces, pieces: Pieces, *, remove: bool) -> None:
        """Shows the ``blanks`` white space, or removes it if ``remove``."""
        for piece in blanks:
            self.held -= len(piece[1])
            if remove:
                pieces.append(piece)
            else:
                self._show_piece(piece[1], piece[2], pieces)
        blanks.clear()

    def note_call_after(self, pieces: Pieces) -> None:
        """Notes that a tool call follows. If an orphan closer waits, the call begins a
        new answer, as visible text would."""
        if self.orphan_state is not Orphan.NONE:
            self.begin_answer(pieces)

    def flush(self, pieces: Pieces) -> None:
        """Decides the waiting white space as if the text ended here. A waiting orphan
        closer now counts as alone on its line, and still needs visible text after
        it."""
        self.reopened_code = None
        if self.orphan_state is Orphan.LINE:
            self.orphan_state = Orphan.ARMED
        is_removed = self.is_start and self.start_removed
        self._decide_blanks(self.lines, pieces, remove=is_removed)
        is_removed = is_removed or (self.line_removed and not self.line_shown)
        self._decide_blanks(self.blanks, pieces, remove=is_removed)

    @property
    def holds(self) -> bool:
        """Whether white space waits, or an orphan closer waits for visible text."""
        return self.held > 0 or self.orphan_state is not Orphan.NONE

    @property
    def begins_line(self) -> bool:
        """Whether a line begins, and nothing of it was removed or is waiting."""
        return not (self.holds or self.is_start or self.line_shown or self.line_removed)

    @property
    def code_ahead(self) -> CodeState:
        """The state of code after the white space that waits."""
        if not self.holds:
            return self.code
        code = self.code
        if self.orphan_state is Orphan.ARMED:
            code = self.reopened_code = self._code_at_reopening()
        first_pieces = [] if self._removes_blanks else self.blanks[:LONGEST_START]
        blanks = "".join([piece[1] for piece in first_pieces])[:LONGEST_START]
        if self.lines and not self._removes_lines:  # blanks of the first may be shown
            blanks = "\n" + blanks
        return code.after(blanks) if blanks else code

    def _code_at_reopening(self) -> CodeState:
        if self.reopened_code is not None:
            return self.reopened_code
        code = CodeState()
        code.resume(self.state_at_call[1])
        return code

    @property
    def prefix(self) -> str:
        """The end of the visible text before the next visible character."""
        if self.blanks and not self._removes_blanks:
            return "\n"
        return self.state_at_call[0] if self.orphan_state is Orphan.ARMED else self.tail

    @property
    def _removes_lines(self) -> bool:
        """Whether waiting lines are removed (text rule 6.2)."""
        is_removed = self.is_start and self.start_removed
        return is_removed or self.orphan_state is Orphan.ARMED

    @property
    def _removes_blanks(self) -> bool:
        """Whether waiting blanks of this line are removed."""
        return self._removes_lines and self.line_removed

    def state(self) -> tuple[Any, ...]:
        """The state for `resume`. Call this only while nothing waits."""
        tail, code = self.tail[-self.tail_size :], self.code.state()
        return _read_fields(self), tail, code, self.state_at_call

    def resume(self, state: tuple[Any, ...]) -> None:
        """Continues from ``state``, which the method `state` returned earlier."""
        field_values, self.tail, code, self.state_at_call = state
        self.reopened_code = None
        for name, value in zip(_STATE_FIELDS, field_values, strict=True):
            setattr(self, name, value)
        self.code.resume(code)

    def note_call(self) -> None:
        """Notes a call: no orphan turns the text before it to reasoning."""
        self.state_at_call = self.tail[-self.tail_size :], self.code.state()
        self.next_orphan = self.first_orphan


def _counted(mentions: Mentions, closers: frozenset[str], count: int) -> Mentions:
    counts = Counter(mentions)
    counts[closers] += count
    return +counts
