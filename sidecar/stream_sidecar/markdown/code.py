"""Where code begins and ends in a text that comes in slices.

`CodeState` is fed the text and knows what its end is in: a fence, indented code, text.
In a line of text a *span* is code, a run of backticks up to an equal run. Example: in
``a `<b>` ` <c>`` the ``<b>`` stands in a span, and the last backtick opens none, since
no other follows. `CodeState` never looks ahead: whether an open run will close is the
business of `RunIndex`.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, ClassVar

from attrs import fields_dict

from stream_sidecar import patterns
from stream_sidecar.markdown.lines import OTHER, SIGNS, Line, read_line
from stream_sidecar.records import define

LONGEST_RUN = 32
"""Longer backtick runs never open a span, so that open runs stay few."""

LONGEST_START = 1_000
"""A line with so many signs at its beginning is decided by them."""

_LOOKED_AT = 2_048
"""Code points at a text's end in which a line is looked for that begins anew."""

BLANKS = " \t\r\f\v"

_SIGNS = patterns.compile(f"{SIGNS}*+")
_WORD = r" {0,3}+(?:[0-9]++(?![.)])|(?:[*_+\-#=.)]++|`{1,2}+)(?!\n))"
"""Signs that are text where no other of them follows, and digits on their own line."""

_PLAIN_LINES = patterns.compile(rf"(?:(?:{_WORD})?+(?!{SIGNS})[^\n]*+\n)++")
_FENCED_LINE = r"(?:(?![ \r]*+[`~])[^\n]*+\n)"
_FENCED_LINES = patterns.compile(f"{_FENCED_LINE}++")
_NO_FENCES = r"(?:[^\n`~]*+(?:(?!```|~~~)[`~][^\n`~]*+)*+\n)*+"
_SIGNS_OF_FENCE, _INFO = "`{3,64}+", r"[^`\n]*+\n"
_FENCES = patterns.compile(
    rf"(?:{_NO_FENCES}(?P<signs>{_SIGNS_OF_FENCE}){_INFO}{_FENCED_LINE}*+"
    rf"(?P=signs)`*+[ \t]*+\n)*(?:{_NO_FENCES}(?={_SIGNS_OF_FENCE}{_INFO}))?"
)
"""Up to the last fence in nothing else, or behind it, with what no fence begins in."""

_ANEW = patterns.compile(
    rf"\n(?:(?<=\n\n)(?![ \t\r>\n])|(?=[*+\-#] [^\n{BLANKS}]))"
    rf"{SIGNS}{{0,64}}+(?!{SIGNS})(?s:.)"
).match
_RUN = patterns.compile(r"[`\\](?:(?<=`)`*+|(?<!`)(?<!\\\\)\\*+(?:`++|\Z))")
"""A run, or backslashes at the text's end; a set comes first, for it is soon found."""

_MAY_HAVE_RUN = patterns.compile(r"[`\\]").search
_MAY_BEGIN_FENCE = patterns.compile("```|~~~").search
_MAY_BE_CODE = patterns.compile(r" {4}|[\t\r~]")
_TICK_OR_BREAK = patterns.compile(r"[`\n]")

AT_BEGINNING = frozenset((Line.OPEN, Line.PARAGRAPH))
_NEXT = {Line.TEXT: Line.PARAGRAPH, Line.PARAGRAPH: Line.PARAGRAPH}
"""What a line leaves to the next one; the others nothing."""


@define(eq=False)
class CodeState:
    """The state of code at the end of all text so far.

    ``line``, ``containers`` and ``fence`` are what is `Known` of its last line, or at
    its beginning what is of those before. ``undecided``: the end of the text if more
    may make it something else: at a line's beginning all of it, else backslashes and a
    run. ``runs``: unmatched backtick runs of this line, in order. ``promised``:
    something was taken for code because an open run will close.
    """

    line: Line = Line.OPEN
    containers: tuple[int, ...] = ()
    fence: str = ""
    undecided: str = ""
    runs: tuple[int, ...] = ()
    promised: bool = False

    def state(self) -> tuple[Any, ...]:
        """All that is known, to be compared or resumed."""
        return _STATE(self)

    def resume(self, state: tuple[Any, ...]) -> None:
        """Goes on where ``state`` was taken."""
        for name, value in zip(_NAMES, state, strict=True):
            setattr(self, name, value)

    def behind(self, text: str = "x") -> CodeState:
        """The state behind ``text``, by default behind any character of text."""
        other = CodeState(*self.state())
        other.feed(text)
        return other

    @property
    def indent(self) -> int:
        """How far the lines of a fence are indented that go on with it, in list items;
        0: it is in nothing else; -1: in something else, or this is no fence."""
        fenced = self.fence and all(self.containers)
        return sum(self.containers) if fenced else -1

    @property
    def fills_line(self) -> bool:
        """True where all that comes up to the next line is code, whatever it is."""
        if not self.fence or self.line not in AT_BEGINNING:
            return self.line is Line.CODE
        if not self.containers:
            return True
        indent = self.indent
        return indent > 0 and self.undecided.startswith(" " * indent)

    def filled(self, text: str, at: int) -> int:
        """Up to where ``text`` is code from ``at`` on, a place that `fills_line`: one
        line at least, and in a fence in nothing else all that cannot end it."""
        end = text.find("\n", at) + 1
        next_line = at if self.at_beginning else end if self.line is Line.CODE else 0
        if self.fence and not self.containers and (next_line or self.at_beginning):
            lines = _FENCED_LINES.match(text, next_line)
            end = lines.end() if lines else end
        return end or len(text)

    @property
    def is_code(self) -> bool:
        """True when a character that comes next stands in a fence or indented code."""
        if self.line not in AT_BEGINNING:
            return self.line is Line.CODE
        may_be = self.fence or _MAY_BE_CODE.search(self.undecided)
        if not may_be:
            return False
        start = self.undecided + OTHER
        known = read_line(start, self.line, self.containers, self.fence)
        return known.line is Line.CODE

    @property
    def at_beginning(self) -> bool:
        """True where a line begins."""
        return self.line in AT_BEGINNING and not self.undecided

    @property
    def closing(self) -> bool:
        """True when the text ends with the run that closes a span."""
        return self.undecided.count("`") in self.runs

    def feed(self, text: str) -> None:
        """``text`` comes next."""
        text, self.undecided = self.undecided + text, ""
        at, end = self._anew(text) if "\n" in text else 0, len(text)
        while at < end:
            at = self._READ[self.line](self, text, at)

    def _anew(self, text: str) -> int:
        """Where the last line of ``text`` begins that is found without those before it:
        it is what it is, whatever they are, or they end a fence; 0: there is none."""
        at = 0
        if self.fence or _MAY_BEGIN_FENCE(text):
            at = self._behind_fences(text)
            if self.fence or _MAY_BEGIN_FENCE(text, at):
                return at
        first = max(len(text) - _LOOKED_AT, at)
        line = text.rfind("\n", first)
        while line >= 0 and not _ANEW(text, line):
            line = text.rfind("\n", first, line)
        if line >= 0:
            self.resume(_AT_FIRST)
        return max(line + 1, at)

    def _behind_fences(self, text: str) -> int:
        """Behind the fence that is open, and from there on the last line of ``text``
        that begins a fence in nothing else, or that is behind one."""
        at, end = 0, len(text)
        while self.fence and at < end:
            at = self._READ[self.line](self, text, at)
        line = at if self.line in AT_BEGINNING else text.find("\n", at) + 1
        found = _FENCES.match(text, line) if line >= at and not self.fence else None
        if found is None or found.end() == line:
            return at
        self.resume(_AT_FIRST)
        return found.end()

    def _begin(self, text: str, at: int) -> int:
        """At the beginning of a line."""
        if not self.containers and (lines := self._passed(text, at)):
            return lines
        match = _SIGNS.match(text, at, at + LONGEST_START)
        start = match[0] if match else ""
        end, full = at + len(start), len(start) == LONGEST_START
        if end == len(text) and not full:
            self.undecided = start
            return end
        ended = not full and text[end] == "\n"
        if start or ended or self.containers or self.fence:
            self._decide(start if ended else start + OTHER)
        else:  # as most lines
            self.line = Line.TEXT
        if ended:
            return self._end_line(end + 1)
        run = start.find("`") if self.line is not Line.INFO else -1
        return end if run < 0 else at + run

    def _decide(self, start: str) -> None:
        """The line begins with ``start`` (see `read_line`)."""
        known = read_line(start, self.line, self.containers, self.fence)
        self.line, self.containers, self.fence = known
        if self.line is Line.INFO:
            self.runs = with_run((), self.fence)

    def _passed(self, text: str, at: int) -> int:
        """Behind the lines that change nothing; 0: there is none."""
        if self.fence:
            match = _FENCED_LINES.match(text, at)
        elif match := _PLAIN_LINES.match(text, at):
            blank = match[0] == "\n" or match[0].endswith("\n\n")
            self.line = Line.OPEN if blank else Line.PARAGRAPH
        return match.end() if match else 0

    def _text(self, text: str, at: int) -> int:
        line_end = text.find("\n", at)
        if line_end >= 0:  # the runs of a whole line count no more
            return self._end_line(line_end + 1)
        for match in _RUN.finditer(text, at) if _MAY_HAVE_RUN(text, at) else ():
            if match.end() == len(text):
                self.undecided = _short(match[0])
            else:
                self.runs = with_run(self.runs, match[0])
                self.promised = self.promised and bool(self.runs)
        return len(text)

    def _info(self, text: str, at: int) -> int:
        match = _TICK_OR_BREAK.search(text, at)
        if match is None:
            return len(text)
        if match[0] == "\n":
            return self._end_line(match.end())
        self.line, self.fence = Line.TEXT, ""
        return match.start()

    def _code(self, text: str, at: int) -> int:
        found = text.find("\n", at)
        return len(text) if found < 0 else self._end_line(found + 1)

    def _end_line(self, at: int) -> int:
        self.line = _NEXT.get(self.line, Line.OPEN)
        self.runs, self.promised = (), False
        return at

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
    """``runs`` behind another ``run``: it closes the first equal one, or is open.

    A backslash before it makes its first backtick text, unless it closes one.
    """
    size = run.count("`")
    if size > LONGEST_RUN:
        return runs
    if size in runs:
        return runs[: runs.index(size)]
    size -= run.count("\\") % 2
    return runs if size in (0, *runs) else (*runs, size)


def _short(run: str) -> str:
    """A run at the end of the text, with no more of it than counts."""
    backslash = "\\" * (run.count("\\") % 2)
    return backslash + "`" * min(run.count("`"), LONGEST_RUN + 1)
