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

from enum import Enum
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Protocol

from stream_sidecar import patterns
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.markdown.code import BLANKS, LONGEST_START, CodeState
from stream_sidecar.records import define, field
from stream_sidecar.text.elements import NO_ELEMENTS, OpenElements
from stream_sidecar.text.json_answer import JSON_BEGINS

if TYPE_CHECKING:
    from stream_sidecar.text.json_answer import JsonPlace
    from stream_sidecar.text.pieces import Pieces

SPACE = "\n" + BLANKS

_LINE = patterns.compile("[^\n]*+\n++|[^\n]++")
"""A line with the empty lines after it. Only blanks at its start may wait."""

_KNOWN = (
    "elements",
    "head",
    "json",
    "last",
    "line_removed",
    "line_shown",
    "orphan",
    "reopened",
    "start",
    "start_removed",
)
_STATE = attrgetter(*_KNOWN)

_TAIL = 512
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
    """The end of the visible text: ``write`` adds text, ``removed`` notes a removal,
    ``flush`` decides the white space that waits.

    ``budget`` says how many more characters may wait; one character always may.
    ``fences_pass``: nothing is taken out of fenced code.

    The text: ``tail`` is its end, at least ``tail_size`` characters. ``code``: the
    state of code at its end. ``unread``: how many shown characters were not returned
    yet. ``start``: only blanks were shown so far. ``start_removed``: something was
    removed among these blanks. ``elements``: the open XML elements. ``json``: the place
    in an answer that is JSON.

    The line: ``line_shown``: it has a visible character. ``line_removed``: something
    was removed before its first visible character. ``head``: its first character.
    ``last``: its last character that is not blank.

    The white space that waits: ``lines``, and ``blanks`` of the current line, together
    ``held`` characters.

    Closers without an opener (orphans): ``first_orphan`` is the effect of the first
    orphan after a call, if no opener comes before it. ``next_orphan``: the effect of
    the next orphan. ``orphan``: the state of the last orphan. ``reopened``: a new
    answer has begun; `CandidateTracker.renew` resets it. ``at_call``: the tail and the
    state of code at the last call. ``ahead``: the state of code if a new answer begins.
    """

    budget: Budget
    tail_size: int
    fences_pass: bool
    first_orphan: Orphan
    next_orphan: Orphan
    code: CodeState = field(factory=CodeState)
    tail: str = ""
    unread: int = 0
    at_call: tuple[str, tuple[Any, ...]] = ("", CodeState().state())
    last: str = ""
    start: bool = True
    start_removed: bool = False
    line_shown: bool = False
    line_removed: bool = False
    lines: Pieces = field(factory=list)
    blanks: Pieces = field(factory=list)
    held: int = 0
    orphan: Orphan = Orphan.NONE
    reopened: bool = False
    ahead: CodeState | None = None
    head: str = ""
    elements: OpenElements = NO_ELEMENTS
    json: JsonPlace | None = JSON_BEGINS

    def removed(self) -> None:
        """Notes that something was removed here."""
        self.line_removed = not self.line_shown or self.orphan is Orphan.ARMED
        if self.start:
            self.start_removed = True

    def write(self, text: str, start: int, out: Pieces) -> None:
        """Adds ``text``, which begins at position ``start`` of the raw channel, and
        appends the pieces that are now decided to ``out``. If the waiting white space
        could reach the hold limit, adds the text line by line, so that the limit is
        checked at each line."""
        most = len(text) + self.tail_size  # with a literal's beginning held elsewhere
        whole = "\n" not in text[:-1] or most < self.budget.room(most + 1)
        for line in [text] if whole else _LINE.findall(text):
            while line:
                step = self._write_shown if self._shows(line) else self._write_blank
                if self.fences_pass and self.code.fills_line:
                    step = self._write_fenced
                line, start = step(line, start, out)

    def passed(self, text: str) -> None:
        """Notes that ``text`` was shown unread. Nothing waits."""
        if not self.line_shown or "\n" in text:
            self.line_removed = False
        self.start, self.line_shown = False, text[-1] != "\n"
        self.note(text)
        self.unread = 0

    def _shows(self, text: str) -> bool:
        """Whether ``text`` can be shown at once, except for blanks of its last line."""
        if self.line_shown:
            return self.orphan is not Orphan.ARMED
        return text[0] == "\n" and self.begins_line

    def _write_fenced(self, text: str, start: int, out: Pieces) -> tuple[str, int]:
        """Shows text in fenced code, up to its last line break if it has one. Blanks
        need not wait, because nothing is removed from fenced code. Returns the rest of
        the text and its position."""
        end = text.rfind("\n") + 1 or len(text)
        self._emit(text[:end], start, out)
        self.line_shown, self.line_removed = text[end - 1] != "\n", False
        return text[end:], start + end

    def _write_blank(self, text: str, start: int, out: Pieces) -> tuple[str, int]:
        """Lets the blanks at the start of a line wait; at the answer's start also the
        empty lines after this line. Returns the rest of the text and its position."""
        cut = text.find("\n") + 1
        if cut and self.start and not self.line_removed:
            cut = len(text) - len(text[cut:].lstrip("\n"))
        line = text[:cut] if cut else text
        blanks = len(line) - len(line.lstrip(SPACE))
        if not blanks:
            self._begin_line(out)
            return text, start
        room = max(self.budget.room(blanks + 1), 1)
        taken = min(blanks, room)
        self.blanks.append((PieceKind.BLANK, line[:taken], start, start + taken))
        self.held += taken
        if cut and taken == len(line):
            self._blank_line(out)
        if taken == room and self.held and not self.budget.room(1):
            out.append((PieceKind.FULL, "", 0, 0))
            self.orphan = Orphan.NONE  # the closer is a stray, as at the end
            self.flush(out)
        return text[taken:], start + taken

    def _blank_line(self, out: Pieces) -> None:
        """Decides a line that has ended with nothing but waiting blanks (text rule
        6.1)."""
        if self.orphan is Orphan.LINE:
            self.orphan = Orphan.ARMED
        gone = self.line_removed and not self.line_shown
        if self.start or (self.orphan is Orphan.ARMED and not gone):
            self.lines += self.blanks
            self.blanks.clear()
        else:
            self._decide(self.blanks, out, gone=gone)
        self.line_removed = self.line_shown = False

    def _begin_line(self, out: Pieces) -> None:
        """Decides all waiting white space: a line's first visible character comes
        next."""
        if self.orphan is Orphan.ARMED:
            self.reopen(out)
        self.orphan = Orphan.NONE
        if self.held:
            self._decide(self.lines, out, gone=self._lines_go)
            self._decide(self.blanks, out, gone=self._blanks_go)
        self.start = self.start_removed = False
        self.line_shown, self.line_removed = True, False
        self.last = ""

    def reopen(self, out: Pieces) -> None:
        """Turns all text that was shown since the last tool call into reasoning: a new
        answer begins here (text rule 9.2)."""
        out.append((PieceKind.REOPEN, "", 0, 0))
        self.reopened = True
        self.tail = self.at_call[0]
        self.start = self.start_removed = True
        self.head, self.json = "", JSON_BEGINS
        self.code, self.ahead = self._begun(), None

    def begin(self, out: Pieces) -> None:
        """Does what `reopen` does; the new answer begins on a new line."""
        self.reopen(out)
        self.orphan = Orphan.NONE
        self.line_shown = self.line_removed = False

    def _write_shown(self, text: str, start: int, out: Pieces) -> tuple[str, int]:
        """Shows ``text``, which has no removal at a line's start (text rule 6.4). If
        the last line of ``text`` is blank, it is not shown. Returns the rest of the
        text and its position."""
        cut = text.rfind("\n") + 1
        end = len(text) if text[cut:].strip(BLANKS) else cut or len(text)
        self._emit(text[:end], start, out)
        self.line_shown, self.line_removed = end > cut, False
        return text[end:], start + end

    def _emit(self, text: str, start: int, out: Pieces) -> None:
        out.append((PieceKind.TEXT, text, start, start + len(text)))
        self.unread += len(text)
        self.note(text)

    def note(self, text: str) -> None:
        """Updates what is known of the end of the visible text, and where it has code
        (text rule 4.7). ``text`` has just been shown."""
        self.code.feed(text)
        self.elements = self.elements.after(text)
        if self.json is not None:
            self.json = self.json.after(text)
        line = text[text.rfind("\n") + 1 :]
        self.head = (self.head if len(line) == len(text) else "") or line[:1]
        tail = self.tail + text
        self.tail = tail if len(tail) <= _TAIL else tail[-self.tail_size :]
        if text[-1] not in BLANKS:
            self.last = text[-1]
        else:
            self.last = text.rstrip(BLANKS)[-1:] or self.last
        if self.last == "\n":
            self.last = ""

    def _decide(self, waiting: Pieces, out: Pieces, *, gone: bool) -> None:
        """Shows the ``waiting`` white space, or removes it if ``gone``."""
        for piece in waiting:
            self.held -= len(piece[1])
            if gone:
                out.append(piece)
            else:
                self._emit(piece[1], piece[2], out)
        waiting.clear()

    def followed(self, out: Pieces) -> None:
        """Notes that a tool call follows. If an orphan closer waits, the call begins a
        new answer, as visible text would."""
        if self.orphan is not Orphan.NONE:
            self.begin(out)

    def flush(self, out: Pieces) -> None:
        """Decides the waiting white space as if the text ended here. A waiting orphan
        closer now counts as alone on its line, and still needs visible text after
        it."""
        self.ahead = None
        if self.orphan is Orphan.LINE:
            self.orphan = Orphan.ARMED
        gone = self.start and self.start_removed
        self._decide(self.lines, out, gone=gone)
        gone = gone or (self.line_removed and not self.line_shown)
        self._decide(self.blanks, out, gone=gone)

    @property
    def waits(self) -> bool:
        """Whether white space waits, or an orphan closer waits for visible text."""
        return self.held > 0 or self.orphan is not Orphan.NONE

    @property
    def begins_line(self) -> bool:
        """Whether a line begins here on which nothing was removed and nothing
        waits."""
        return not (self.waits or self.start or self.line_shown or self.line_removed)

    @property
    def code_ahead(self) -> CodeState:
        """The state of code right before the next visible character, counting white
        space that waits."""
        if not self.waits:
            return self.code
        code = self.code
        if self.orphan is Orphan.ARMED:
            code = self.ahead = self._begun()
        start = [] if self._blanks_go else self.blanks[:LONGEST_START]
        blanks = "".join([piece[1] for piece in start])[:LONGEST_START]
        if self.lines and not self._lines_go:  # blanks of the first may be shown
            blanks = "\n" + blanks
        return code.after(blanks) if blanks else code

    def _begun(self) -> CodeState:
        """The state of code with which a new answer begins."""
        if self.ahead is not None:
            return self.ahead
        code = CodeState()
        code.resume(self.at_call[1])
        return code

    @property
    def before(self) -> str:
        """The end of the visible text before the next visible character."""
        if self.blanks and not self._blanks_go:
            return "\n"
        return self.at_call[0] if self.orphan is Orphan.ARMED else self.tail

    @property
    def _lines_go(self) -> bool:
        """Whether waiting lines are removed if a visible character comes next (text
        rule 6.2)."""
        gone = self.start and self.start_removed
        return gone or self.orphan is Orphan.ARMED

    @property
    def _blanks_go(self) -> bool:
        """Whether waiting blanks of this line are removed if a visible character comes
        next."""
        return self._lines_go and self.line_removed

    def state(self) -> tuple[Any, ...]:
        """The state of the visible text, for `resume`. Call this only while nothing
        waits."""
        tail, code = self.tail[-self.tail_size :], self.code.state()
        return _STATE(self), tail, code, self.at_call

    def resume(self, state: tuple[Any, ...]) -> None:
        """Continues from ``state``, which the method `state` returned earlier."""
        known, self.tail, code, self.at_call = state
        self.ahead = None
        for name, value in zip(_KNOWN, known, strict=True):
            setattr(self, name, value)
        self.code.resume(code)

    def call(self) -> None:
        """Notes that a tool call comes here: no later orphan closer turns the text
        before the call into reasoning."""
        self.at_call = self.tail[-self.tail_size :], self.code.state()
        self.next_orphan = self.first_orphan
