"""Where code begins and ends in the visible text: spans and fences.

A *span* is a backtick run up to an equal run on the same line. A *fence* is a line that
starts (after blanks, ``>`` and list marks) with three or more backticks or tildes; it
runs to a line with at least as many of them and nothing else, or to the end (where this
is silent, CommonMark 0.31 speaks). Example: in ```a `<think>` ` b``` the opener stands
in a span, and the last backtick opens none, since no other follows.

`CodeState` is fed the visible text only, so removed text changes nothing. It never
looks ahead: whether an open run will close is the business of `RunIndex`.
"""

from __future__ import annotations

import re
from collections import deque
from enum import Enum
from operator import attrgetter
from typing import Any, ClassVar

from attrs import define, field, fields_dict

LONGEST_RUN = 32
"""Longer backtick runs never open a span, so that open runs stay few."""

BLANKS = " \t\r\f\v"

_RUN_OR_BREAK = re.compile(r"`+|\n")


@define(eq=False)
class RunIndex:
    """Looks ahead, in raw text, for the run that makes a delimiter code.

    ``verdict`` answers for one delimiter at a time, at rising positions, and each
    character is looked at once: hostile lines cost no more than others.

    Runs are known up to the position ``seen``; it may be inside one that is ``long``,
    of more than `LONGEST_RUN`. ``line_end``: the first line break behind the start;
    ``starts``: positions of runs by their length.
    """

    seen: int = 0
    long: bool = False
    line_end: int | None = None
    starts: dict[int, deque[int]] = field(factory=dict)

    def verdict(
        self, code: CodeState, buffer: str, base: int, at: int, limit: int, final: bool
    ) -> bool | None:
        """True: code, False: the delimiter at ``at`` counts, None: more is needed.

        ``base`` is the absolute position of ``buffer[0]``; ``limit`` the absolute
        position from which nothing is waited for any more.
        """
        self._look(buffer, base, at, final)
        for length in code.open_runs():
            if self._next_start(length, at) + length < limit:
                return True
        full = base + len(buffer) >= limit
        return False if final or full or self.ended(limit) else None

    def ended(self, limit: int) -> bool:
        """True when the line is known to end before ``limit``."""
        return self.line_end is not None and self.line_end < limit

    def _look(self, buffer: str, base: int, at: int, final: bool) -> None:
        if self.line_end is not None and self.line_end < at:
            self.line_end = None
            self.starts.clear()
        if self.line_end is not None:
            return
        if at > self.seen:
            self.seen, self.long = at, False
        start = self.seen - base
        if self.long:  # in a run that is too long to matter
            start = _run_end(buffer, start, "`")
            self.long = start == len(buffer)
        for match in _RUN_OR_BREAK.finditer(buffer, start):
            if match[0] == "\n":
                self.line_end = self.seen = base + match.start()
                return
            length = match.end() - match.start()
            self.long = length > LONGEST_RUN and match.end() == len(buffer)
            if length > LONGEST_RUN:
                continue
            if match.end() == len(buffer) and not final:
                self.seen = base + match.start()
                return
            self.starts.setdefault(length, deque()).append(base + match.start())
        self.seen = base + len(buffer)

    def _next_start(self, length: int, at: int) -> float:
        starts = self.starts.get(length)
        while starts and starts[0] < at:
            starts.popleft()
        return starts[0] if starts else float("inf")


class Line(Enum):
    """Where the current visible line stands."""

    __hash__ = object.__hash__  # that of an enum is no C code, and lines are keys

    PREFIX = 1  # only blanks, ``>`` and list marks so far
    MARK = 2  # a list mark or its digits, which only a blank makes part of the prefix
    RUN = 3  # inside the run that may become a fence
    TEXT = 4  # anything else
    FENCED_PREFIX = 5  # in a fence: only blanks and ``>`` so far
    FENCED_RUN = 6  # in a fence: inside the run that may close it
    FENCED_TRAIL = 7  # in a fence: behind such a run, blanks only
    FENCED = 8  # in a fence: code


_FENCED = {Line.FENCED_PREFIX, Line.FENCED_RUN, Line.FENCED_TRAIL, Line.FENCED}


@define(eq=False)
class CodeState:
    """The state of code at the end of all visible text so far.

    ``fence``: the character of the fence or of what may become one, and ``size``: how
    many of them opened it. ``run``: length of the run at the very end; ``runs``:
    unmatched backtick runs of this line, in order. ``mark``: last character of what may
    be a list mark. ``promised``: a delimiter was shown because an open run will close.
    """

    line: Line = Line.PREFIX
    fence: str = ""
    size: int = 0
    run: int = 0
    runs: list[int] = field(factory=list)
    mark: str = ""
    promised: bool = False

    def state(self) -> tuple[Any, ...]:
        """All that is known, to be compared or resumed."""
        return _STATE(self)

    def resume(self, state: tuple[Any, ...]) -> None:
        """Goes on where ``state`` was taken."""
        for name, value in zip(_NAMES, state, strict=True):
            setattr(self, name, value)

    @property
    def in_fence(self) -> bool:
        """True in fenced code."""
        return self.line in _FENCED

    @property
    def in_code_line(self) -> bool:
        """The same, outside of a run that may close it."""
        return self.line is Line.FENCED or self.line is Line.FENCED_PREFIX

    @property
    def begins_line(self) -> bool:
        """True where nothing but blanks and ``>`` may have come on this line."""
        return self.line is Line.PREFIX

    @property
    def fenced(self) -> bool:
        """True when what comes next, if it goes on with no run, is fenced code."""
        return self.in_fence or (self.line is Line.RUN and self.size > 2)

    @property
    def closing(self) -> bool:
        """True when the text ends with the run that closes a span."""
        return self.run in self.runs

    def open_runs(self) -> list[int]:
        """Lengths of the runs that a later equal run would close into a span."""
        if self.line is Line.RUN:
            return _with_run([], self.size) if self.fence == "`" else []
        if not self.run:
            return self.runs
        return _with_run(self.runs, self.run)

    def feed(self, text: str) -> None:
        position, end = 0, len(text)
        while position < end:
            position = self._READ[self.line](self, text, position)

    def _prefix(self, text: str, at: int) -> int:
        character = text[at]
        if character in "`~":
            self.fence, self.size, self.line = character, 0, Line.RUN
            return at
        if character in "-*+" or character.isdecimal():
            self.line, self.mark = Line.MARK, character
        elif character not in BLANKS and character not in ">\n":
            self.line = Line.TEXT
        return at + 1

    def _list_mark(self, text: str, at: int) -> int:
        character = text[at]
        number = self.mark.isdecimal()
        if character in " \t" and not number:
            self.line = Line.PREFIX
        elif number and (character.isdecimal() or character in ".)"):
            self.mark = character
        else:
            self.line = Line.TEXT
            return at
        return at + 1

    def _run(self, text: str, at: int) -> int:
        end = _run_end(text, at, self.fence)
        self.size += end - at
        if end < len(text):
            self._end_run()
        return end

    def _end_run(self) -> None:
        if self.size > 2:
            self.line = Line.FENCED
            return
        self.runs = _with_run([], self.size) if self.fence == "`" else []
        self.line = Line.TEXT

    def _text(self, text: str, at: int) -> int:
        if self.run and text[at] != "`":
            self.runs, self.run = _with_run(self.runs, self.run), 0
            self.promised = self.promised and bool(self.runs)
        match = _RUN_OR_BREAK.search(text, at)
        if match is None:
            return len(text)
        if match[0] == "\n":
            self.runs, self.line, self.promised = [], Line.PREFIX, False
        else:
            self.run += match.end() - match.start()
        return match.end()

    def _fenced_prefix(self, text: str, at: int) -> int:
        character = text[at]
        if character == self.fence:
            self.line = Line.FENCED_RUN
            return at
        if character not in BLANKS and character not in ">\n":
            self.line = Line.FENCED
        return at + 1

    def _fenced_run(self, text: str, at: int) -> int:
        end = _run_end(text, at, self.fence)
        self.run += end - at
        if end < len(text):
            closing, self.run = self.run >= self.size, 0
            self.line = Line.FENCED_TRAIL if closing else Line.FENCED
        return end

    def _fenced_trail(self, text: str, at: int) -> int:
        if text[at] == "\n":
            self.line = Line.PREFIX
        elif text[at] not in BLANKS:
            self.line = Line.FENCED
        return at + 1

    def _fenced(self, text: str, at: int) -> int:
        found = text.find("\n", at)
        if found < 0:
            return len(text)
        self.line = Line.FENCED_PREFIX
        return found + 1

    _READ: ClassVar = {
        Line.PREFIX: _prefix,
        Line.MARK: _list_mark,
        Line.RUN: _run,
        Line.TEXT: _text,
        Line.FENCED_PREFIX: _fenced_prefix,
        Line.FENCED_RUN: _fenced_run,
        Line.FENCED_TRAIL: _fenced_trail,
        Line.FENCED: _fenced,
    }


_NAMES = tuple(fields_dict(CodeState))
_STATE = attrgetter(*_NAMES)


def _run_end(text: str, at: int, character: str) -> int:
    end = at
    while end < len(text) and text[end] == character:
        end += 1
    return end


def _with_run(runs: list[int], length: int) -> list[int]:
    """``runs`` after a run of ``length``: it closes the first equal one, or is open."""
    if length > LONGEST_RUN:
        return runs
    if length in runs:
        return runs[: runs.index(length)]
    return [*runs, length]
