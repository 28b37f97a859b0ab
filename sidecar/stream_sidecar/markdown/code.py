"""Finds where code begins and ends in a text that arrives in slices.

`CodeState` reads the text and knows whether its end is in a fence, in indented code or
in text. In a line of text a *span* is code: from a run of backticks to the next equal
run. Example: in ``a `<b>` ` <c>`` the ``<b>`` is in a span; the last backtick opens no
span, since no other follows. `CodeState` never looks ahead; `RunIndex` finds out
whether an open run will close.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, ClassVar

from attrs import fields_dict

from stream_sidecar import patterns
from stream_sidecar.markdown.lines import OTHER, SIGNS, Line, read_line
from stream_sidecar.records import define

LONGEST_RUN = 32
"""Longer runs of backticks never open a span, so that there are few open runs."""

LONGEST_START = 1_000
"""The most signs at the beginning of a line that are read to decide what it is."""

_LOOKED_AT = 2_048
"""The code points at a text's end that are searched for a line to begin at."""

BLANKS = " \t\r\f\v"

_SIGNS = patterns.compile(f"{SIGNS}*+")
_WORD = r" {0,3}+(?:[0-9]++(?![.)])|(?:[*_+\-#=.)]++|`{1,2}+)(?!\n))"
"""Signs that are text unless another sign follows, and digits alone on their line."""

_PLAIN_LINES = patterns.compile(rf"(?:(?:{_WORD})?+(?!{SIGNS})[^\n]*+\n)++")
_FENCED_LINE = r"(?:(?![ \r]*+[`~])[^\n]*+\n)"
_FENCED_LINES = patterns.compile(f"{_FENCED_LINE}++")
_NO_FENCES = r"(?:[^\n`~]*+(?:(?!```|~~~)[`~][^\n`~]*+)*+\n)*+"
_SIGNS_OF_FENCE, _INFO = "`{3,64}+", r"[^`\n]*+\n"
_FENCES = patterns.compile(
    rf"(?:{_NO_FENCES}(?P<signs>{_SIGNS_OF_FENCE}){_INFO}{_FENCED_LINE}*+"
    rf"(?P=signs)`*+[ \t]*+\n)*(?:{_NO_FENCES}(?={_SIGNS_OF_FENCE}{_INFO}))?"
)
"""Everything up to the beginning or the end of the last fence outside containers, and
after its end the lines that begin no fence."""

_FRESH_LINE = patterns.compile(
    rf"\n(?:(?<=\n\n)(?![ \t\r>\n])|(?=[*+\-#] [^\n{BLANKS}]))"
    rf"{SIGNS}{{0,64}}+(?!{SIGNS})(?s:.)"
).match
_RUN = patterns.compile(r"[`\\](?:(?<=`)`*+|(?<!`)(?<!\\\\)\\*+(?:`++|\Z))")
"""A run, or backslashes at the end. It begins with a set, which is found fast."""

_MAY_HAVE_RUN = patterns.compile(r"[`\\]").search
_MAY_BEGIN_FENCE = patterns.compile("```|~~~").search
_MAY_BE_CODE = patterns.compile(r" {4}|[\t\r~]")
_TICK_OR_BREAK = patterns.compile(r"[`\n]")

AT_BEGINNING = frozenset((Line.OPEN, Line.PARAGRAPH))
_NEXT = {Line.TEXT: Line.PARAGRAPH, Line.PARAGRAPH: Line.PARAGRAPH}
"""Kind of a line -> kind at the next line's beginning; `Line.OPEN` if missing here."""


@define(eq=False)
class CodeState:
    """The state at the end of the text read so far.

    ``line``, ``containers`` and ``fence`` are the fields of `Known` for the last line;
    at a line's beginning, for the lines before it. ``undecided``: the end of the text,
    if its meaning depends on the text after it. At a line's beginning that is the whole
    line so far, elsewhere backslashes and a run. ``runs``: the sizes of this line's
    unmatched runs of backticks, in order. ``promised``: a caller has read text as code
    because an open run will close.
    """

    line: Line = Line.OPEN
    containers: tuple[int, ...] = ()
    fence: str = ""
    undecided: str = ""
    runs: tuple[int, ...] = ()
    promised: bool = False

    def state(self) -> tuple[Any, ...]:
        """All fields, to compare or to resume."""
        return _STATE(self)

    def resume(self, state: tuple[Any, ...]) -> None:
        """Sets all fields to an earlier ``state``."""
        for name, value in zip(_NAMES, state, strict=True):
            setattr(self, name, value)

    def after(self, text: str = "x") -> CodeState:
        """Return the state after ``text``, by default after an ordinary character."""
        copy = CodeState(*self.state())
        copy.feed(text)
        return copy

    @property
    def indent(self) -> int:
        """The indentation of lines that continue a fence inside list items. 0 if the
        fence is in no container, -1 if it is in a quote or there is no fence."""
        fenced = self.fence and all(self.containers)
        return sum(self.containers) if fenced else -1

    @property
    def fills_line(self) -> bool:
        """Whether the rest of the line is code, whatever it contains."""
        if not self.fence or self.line not in AT_BEGINNING:
            return self.line is Line.CODE
        if not self.containers:
            return True
        indent = self.indent
        return indent > 0 and self.undecided.startswith(" " * indent)

    def filled(self, text: str, index: int) -> int:
        """Return the end of the code in ``text`` after ``index``, a place at which
        `fills_line` is True. That is at least one line, and in a fence outside
        containers all lines that cannot end it."""
        end = text.find("\n", index) + 1
        next_line = index if self.at_beginning else end if self.line is Line.CODE else 0
        if self.fence and not self.containers and (next_line or self.at_beginning):
            lines = _FENCED_LINES.match(text, next_line)
            end = lines.end() if lines else end
        return end or len(text)

    @property
    def is_code(self) -> bool:
        """Whether the next character is in a fence or in indented code."""
        if self.line not in AT_BEGINNING:
            return self.line is Line.CODE
        may_be = self.fence or _MAY_BE_CODE.search(self.undecided)
        if not may_be:
            return False
        start = self.undecided + OTHER
        line_state = read_line(start, self.line, self.containers, self.fence)
        return line_state.line is Line.CODE

    @property
    def at_beginning(self) -> bool:
        """Whether the text ends at the beginning of a line."""
        return self.line in AT_BEGINNING and not self.undecided

    @property
    def closing(self) -> bool:
        """Whether the text ends with the run that closes a span."""
        return self.undecided.count("`") in self.runs

    def feed(self, text: str) -> None:
        """Reads the next ``text``."""
        text, self.undecided = self.undecided + text, ""
        index, end = self._fresh_line(text) if "\n" in text else 0, len(text)
        while index < end:
            index = self._READ[self.line](self, text, index)

    def _fresh_line(self, text: str) -> int:
        """Skips text that has no influence on the state at the end of ``text``. Returns
        the position to read from: the beginning of the last line that can be read
        without the lines before it, or the end of the last fence. 0 if nothing can be
        skipped."""
        index = 0
        if self.fence or _MAY_BEGIN_FENCE(text):
            index = self._after_fences(text)
            if self.fence or _MAY_BEGIN_FENCE(text, index):
                return index
        search_start = max(len(text) - _LOOKED_AT, index)
        line = text.rfind("\n", search_start)
        while line >= 0 and not _FRESH_LINE(text, line):
            line = text.rfind("\n", search_start, line)
        if line >= 0:
            self.resume(_AT_FIRST)
        return max(line + 1, index)

    def _after_fences(self, text: str) -> int:
        """Reads open fences; returns where to read on."""
        index, end = 0, len(text)
        while self.fence and index < end:
            index = self._READ[self.line](self, text, index)
        line = index if self.line in AT_BEGINNING else text.find("\n", index) + 1
        match = _FENCES.match(text, line) if line >= index and not self.fence else None
        if match is None or match.end() == line:
            return index
        self.resume(_AT_FIRST)
        return match.end()

    def _begin(self, text: str, index: int) -> int:
        """Reads from the beginning of a line."""
        if not self.containers and (lines := self._passed(text, index)):
            return lines
        match = _SIGNS.match(text, index, index + LONGEST_START)
        start = match[0] if match else ""
        end, full = index + len(start), len(start) == LONGEST_START
        if end == len(text) and not full:
            self.undecided = start
            return end
        ended = not full and text[end] == "\n"
        if start or ended or self.containers or self.fence:
            self._decide(start if ended else start + OTHER)
        else:  # most lines
            self.line = Line.TEXT
        if ended:
            return self._end_line(end + 1)
        run = start.find("`") if self.line is not Line.INFO else -1
        return end if run < 0 else index + run

    def _decide(self, start: str) -> None:
        """Decides what the line is that begins with ``start`` (see `read_line`)."""
        line_state = read_line(start, self.line, self.containers, self.fence)
        self.line, self.containers, self.fence = line_state
        if self.line is Line.INFO:
            self.runs = with_run((), self.fence)

    def _passed(self, text: str, index: int) -> int:
        """Skips lines that change nothing; returns their end, or 0."""
        if self.fence:
            match = _FENCED_LINES.match(text, index)
        elif match := _PLAIN_LINES.match(text, index):
            blank = match[0] == "\n" or match[0].endswith("\n\n")
            self.line = Line.OPEN if blank else Line.PARAGRAPH
        return match.end() if match else 0

    def _text(self, text: str, index: int) -> int:
        line_end = text.find("\n", index)
        if line_end >= 0:  # the runs of a finished line no longer count
            return self._end_line(line_end + 1)
        for match in _RUN.finditer(text, index) if _MAY_HAVE_RUN(text, index) else ():
            if match.end() == len(text):
                self.undecided = _short(match[0])
            else:
                self.runs = with_run(self.runs, match[0])
                self.promised = self.promised and bool(self.runs)
        return len(text)

    def _info(self, text: str, index: int) -> int:
        match = _TICK_OR_BREAK.search(text, index)
        if match is None:
            return len(text)
        if match[0] == "\n":
            return self._end_line(match.end())
        self.line, self.fence = Line.TEXT, ""
        return match.start()

    def _code(self, text: str, index: int) -> int:
        line_end = text.find("\n", index)
        return len(text) if line_end < 0 else self._end_line(line_end + 1)

    def _end_line(self, index: int) -> int:
        self.line = _NEXT.get(self.line, Line.OPEN)
        self.runs, self.promised = (), False
        return index

    _READ: ClassVar = {
        Line.OPEN: _begin,
        Line.PARAGRAPH: _begin,
        Line.TEXT: _text,
        Line.HEADING: _text,
        Line.INFO: _info,
        Line.CODE: _code,
    }


_NAMES = tuple(fields_dict(CodeState))
_STATE = attrgetter(*_NAMES)
_AT_FIRST = CodeState().state()


def with_run(runs: tuple[int, ...], run: str) -> tuple[int, ...]:
    """Return the open ``runs`` of a line after the text ``run``: backticks, perhaps
    with backslashes before them.

    If an open run has the same size, ``run`` closes it, and the runs opened after it no
    longer count. Otherwise ``run`` is open, too. A backslash directly before it makes
    its first backtick text, unless the run closes another one.
    """
    size = run.count("`")
    if size > LONGEST_RUN:
        return runs
    if size in runs:
        return runs[: runs.index(size)]
    size -= run.count("\\") % 2
    return runs if size in (0, *runs) else (*runs, size)


def _short(run: str) -> str:
    """A run at the end of the text, shortened to the part that counts."""
    backslash = "\\" * (run.count("\\") % 2)
    return backslash + "`" * min(run.count("`"), LONGEST_RUN + 1)
