"""Finds out whether an open run of backticks will close, in text cut into slices.

`RunIndex` looks ahead for the run that closes an open one, so that the text between
them is code. Example: in ``a `<b>` c`` the place of ``<b>`` is code; that is known when
the second backtick has arrived.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.markdown.code import LONGEST_RUN, with_run
from stream_sidecar.markdown.lines import Line
from stream_sidecar.records import define, field

if TYPE_CHECKING:
    import re
    from collections.abc import Collection

    from stream_sidecar.markdown.code import CodeState

_RUN_OR_BREAK = patterns.compile(r"`++|\n")
_TICKS = patterns.compile("`*+")
_RUN = patterns.compile(r"(?<!\\)\\*+`++")


def open_runs(line: str) -> dict[int, int]:
    """Return the runs that are open after ``line``: length -> end of the run."""
    ends: dict[int, int] = {}
    for match in _RUN.finditer(line):
        sizes = with_run(tuple(ends), match[0])
        ends = {size: ends.get(size, match.end()) for size in sizes}
    return ends


def closing_run(runs: Collection[int], text: str) -> re.Match[str] | None:
    """Return the first run in ``text`` that closes one of ``runs``, or None."""
    found = _RUN_OR_BREAK.finditer(text)
    return next((run for run in found if len(run[0]) in runs and run[0] != "\n"), None)


@define(eq=False)
class RunIndex:
    """The runs after a place. `verdict` is called for one place after another, in
    rising order. It reads each character once, so hostile lines cost no more than
    others.

    Runs are known up to the position ``read_end``. ``long``: it is inside a run of more
    than `LONGEST_RUN`. ``line_end``: the first line break after the start; ``starts``:
    positions of runs by their length; ``last_start``: the start of the last run.
    """

    read_end: int = 0
    long: bool = False
    line_end: int | None = None
    last_start: int = -1
    starts: dict[int, deque[int]] = field(factory=dict)

    def verdict(
        self, code: CodeState, buffer: str, base: int, at: int, limit: int, final: bool
    ) -> bool | None:
        """Whether the place ``at``, in the line of ``code``, is code; None if that
        depends on text after ``buffer``.

        ``at`` is an absolute position, and ``base`` that of ``buffer[0]``. ``final``:
        no text follows. From the absolute position ``limit`` on the answer no longer
        waits for text.
        """
        self._scan(buffer, base, at, final)
        for length in code.runs:
            if self._next_start(length, at) + length < limit:
                return True
        full = base + len(buffer) >= limit
        if not final and not full and not self.ended(limit):
            return None
        fence = code.line is Line.INFO and (final or self.ended(limit))
        return fence and self.last_start < at

    def ended(self, limit: int) -> bool:
        """Whether the line is known to end before ``limit``."""
        return self.line_end is not None and self.line_end < limit

    def _scan(self, buffer: str, base: int, at: int, final: bool) -> None:
        if self.line_end is not None and self.line_end < at:
            self.line_end = None
            self.starts.clear()
        if self.line_end is not None:
            return
        if at > self.read_end:
            self.read_end, self.long = at, False
        start = self.read_end - base
        if self.long:  # in a run that is too long to matter
            match = _TICKS.match(buffer, start)
            start = match.end() if match else start
            self.long = start == len(buffer)
        for match in _RUN_OR_BREAK.finditer(buffer, start):
            if match[0] == "\n":
                self.line_end = self.read_end = base + match.start()
                return
            length = match.end() - match.start()
            self.last_start = base + match.start()
            self.long = length > LONGEST_RUN and match.end() == len(buffer)
            if length > LONGEST_RUN:
                continue
            if match.end() == len(buffer) and not final:
                self.read_end = base + match.start()
                return
            self.starts.setdefault(length, deque()).append(base + match.start())
        self.read_end = base + len(buffer)

    def _next_start(self, length: int, at: int) -> float:
        starts = self.starts.get(length)
        while starts and starts[0] < at:
            starts.popleft()
        return starts[0] if starts else float("inf")
