"""Reasoning that may turn out to be text, kept so that it can be read again.

An opener in mid-sentence is doubtful, and so is what stands behind a nested closer
(text rules 7.2 and 7.3). `Doubt` keeps the raw text from there on, and knows where it
is code, since code quotes behind a doubtful opener as it does in the answer. Example:
of ``Use a <think> tag.`` and a fence, all behind the opener is kept, and a ``</think>``
in the fence closes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.records import define, field

if TYPE_CHECKING:
    from stream_sidecar.markdown.code import CodeState

CLOSING_PUNCTUATION = frozenset(".!?:;)\"]}'…。！？：；）】」』”’»")
"""After these an opener is not in mid-sentence."""

_OPENS_AGAIN = patterns.compile(
    r"^[ \t>*+-]*+(?:[0-9]{1,9}[.)][ \t]*+)?\[[ xX]?\]\Z"  # a task's box
    r"|^[ \t>]*+[0-9]{1,9}[.)]\Z"  # a list mark
    r"|(?:^|[\s(\[{=,:])[rRbBfFuU]{0,2}[\"'”’»]\Z"  # an opening quote
)


def is_doubtful(line: str, last: str) -> bool:
    """Whether an opener stands in mid-sentence behind ``line``; ``last`` is its last
    character that is not blank, "" where a line begins, which is no sentence's middle.
    """
    if not last or last not in CLOSING_PUNCTUATION:
        return bool(last)
    return _OPENS_AGAIN.search(line.rstrip(" \t")) is not None


@define(eq=False)
class Doubt:
    """Raw text from the position ``start`` on, at most ``room`` code points of it.

    ``code``: where it is code; None: code quotes nothing here. ``closer``: the extent
    of the first closer without an opener before it in the fence that is open.
    """

    start: int
    room: int
    code: CodeState | None = None
    parts: list[str] = field(factory=list)
    closer: tuple[int, int] | None = None
    openers: int = 0

    def keep(self, text: str) -> None:
        """More of the channel's text has come."""
        self.room -= len(text)
        if self.room >= 0:
            self.parts.append(text)
        else:
            self.parts.clear()

    @property
    def is_whole(self) -> bool:
        """Whether all of the text was kept."""
        return self.room >= 0

    def feed(self, text: str) -> None:
        """``text`` is the next that would be shown."""
        if self.code is not None:
            self.code.feed(text)
            if not self.code.fence:
                self.closer, self.openers = None, 0

    def quotes(self, start: int, end: int, *, closes: bool) -> bool:
        """Whether the delimiter from ``start`` to ``end`` stands in a fence or in
        indented code; ``closes``: it would close the reasoning."""
        code = self.code
        if code is None or not code.is_code:
            return False
        if code.fence and closes and not self.openers:
            self.closer = self.closer or (start, end)
        elif code.fence:
            self.openers += -1 if closes else 1
        return True
