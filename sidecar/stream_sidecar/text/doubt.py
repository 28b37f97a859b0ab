"""Reasoning that may turn out to be text, kept so that it can be read again.

Reasoning is doubtful after an opener in mid-sentence and after a nested closer (text
rules 7.2 and 7.3). `Doubt` keeps the raw text from there on and knows which of it is
code, since code after a doubtful opener quotes as it does in the answer. Example: in
``Use a <think> tag.`` and a fence, everything after the opener is kept, and a
``</think>`` in the fence closes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.records import define, field

if TYPE_CHECKING:
    from stream_sidecar.markdown.code import CodeState

CLOSING_PUNCTUATION = frozenset(".!?:;)\"]}'…。！？：；）】」』”’»")
"""An opener right after one of these is not in mid-sentence."""

_OPENS_AGAIN = patterns.compile(
    r"^[ \t>*+-]*+(?:[0-9]{1,9}[.)][ \t]*+)?\[[ xX]?\]\Z"  # a task's box
    r"|^[ \t>]*+[0-9]{1,9}[.)]\Z"  # a list mark
    r"|(?:^|[\s(\[{=,:])[rRbBfFuU]{0,2}[\"'”’»]\Z"  # an opening quote
)


def is_doubtful(line: str, last: str) -> bool:
    """Whether an opener after ``line`` stands in mid-sentence. ``last``: the last
    character of the line that is not blank, or "" at a line's start, which is never
    mid-sentence."""
    if not last or last not in CLOSING_PUNCTUATION:
        return bool(last)
    return _OPENS_AGAIN.search(line.rstrip(" \t")) is not None


@define(eq=False)
class Doubt:
    """Raw text from the position ``start`` on, at most ``room`` code points of it.

    ``code``: the state of code in it; None: code quotes nothing here. ``closer``: start
    and end of the first closer in the open fence that has no opener before it there.
    """

    start: int
    room: int
    code: CodeState | None = None
    parts: list[str] = field(factory=list)
    closer: tuple[int, int] | None = None
    openers: int = 0

    def keep(self, text: str) -> None:
        """Adds ``text``, the next of the channel; beyond ``room`` everything is
        dropped."""
        self.room -= len(text)
        if self.room >= 0:
            self.parts.append(text)
        else:
            self.parts.clear()

    @property
    def is_whole(self) -> bool:
        """Whether all text from ``start`` on has been kept."""
        return self.room >= 0

    def feed(self, text: str) -> None:
        """Follows the state of code over ``text``, the next that would be shown."""
        if self.code is not None:
            self.code.feed(text)
            if not self.code.fence:
                self.closer, self.openers = None, 0

    def quotes(self, start: int, end: int, *, closes: bool) -> bool:
        """Whether the delimiter from ``start`` to ``end`` stands in a fence or in
        indented code. ``closes``: the delimiter would close the reasoning."""
        code = self.code
        if code is None or not code.is_code:
            return False
        if code.fence and closes and not self.openers:
            self.closer = self.closer or (start, end)
        elif code.fence:
            self.openers += -1 if closes else 1
        return True
