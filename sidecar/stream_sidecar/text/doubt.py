"""Reasoning that may turn out to be text, kept so that it can be read again.

Reasoning is doubtful after an opener in mid-sentence, after a nested closer and from a
closer of another pair on (text rules 7.2, 7.3 and 7.7). `Doubt` keeps the raw text from
there on. It also knows where this text has code, because a delimiter in code after a
doubtful opener is text, as in the answer.
Example: after the opener in ``Use a <think> tag.`` everything is kept, and a
``</think>`` in a fence closes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.records import define, field

if TYPE_CHECKING:
    from stream_sidecar.markdown.code import CodeState

CLOSING_PUNCTUATION = frozenset(".!?:;)\"]}'…。！？：；）】」』”’»")
"""An opener right after one of these characters is not in mid-sentence."""

_NO_SENTENCE_END = patterns.compile(
    r"^[ \t>*+-]*+(?:[0-9]{1,9}[.)][ \t]*+)?\[[ xX]?\]\Z"  # a task's box
    r"|^[ \t>]*+[0-9]{1,9}[.)]\Z"  # a list mark
    r"|(?:^|[\s(\[{=,:])[rRbBfFuU]{0,2}[\"'”’»]\Z"  # an opening quote
)


def is_doubtful(line: str, last_visible: str) -> bool:
    """Whether an opener right after ``line`` stands in mid-sentence (text rule 7.2).

    ``last_visible``: the last character of ``line`` that is not blank; "" if there is
    none. Then the opener begins its line and is not in mid-sentence.
    """
    if not last_visible or last_visible not in CLOSING_PUNCTUATION:
        return bool(last_visible)
    return _NO_SENTENCE_END.search(line.rstrip(" \t")) is not None


@define(eq=False)
class Doubt:
    """The raw text of doubtful reasoning, which begins at position ``start``.

    ``room``: how many more code points may be kept. ``code``: the state of code at the
    end of the text; None if a delimiter in code counts here. ``closer``: start and end
    of the first closer in the open fence that has no opener before it there.
    ``openers``: how many openers in the open fence have no closer yet.
    ``closer_size``: if the text begins with a closer of another pair, its size.
    """

    start: int
    room: int
    code: CodeState | None = None
    text_parts: list[str] = field(factory=list)
    closer: tuple[int, int] | None = None
    openers: int = 0
    closer_size: int = 0

    def keep_text(self, text: str) -> None:
        """Adds raw ``text``; drops all of it if there is no room."""
        self.room -= len(text)
        if self.room >= 0:
            self.text_parts.append(text)
        else:
            self.text_parts.clear()

    @property
    def has_answer(self) -> bool:
        """Whether visible text stands after the closer of another pair."""
        return bool("".join(self.text_parts)[self.closer_size :].strip())

    @property
    def is_whole(self) -> bool:
        """Whether all text from ``start`` on has been kept."""
        return self.room >= 0

    def feed_code(self, text: str) -> None:
        """Updates the state of code with ``text``, the next part of the reasoning."""
        if self.code is not None:
            self.code.feed(text)
            if not self.code.fence:
                self.closer, self.openers = None, 0

    def is_in_code(self, start: int, end: int, *, is_closer: bool) -> bool:
        """Whether the delimiter from ``start`` to ``end`` is text because it stands in
        a fence or in indented code. In a fence, notes it in ``closer`` or ``openers``.
        ``is_closer``: it is a closer of the reasoning."""
        code = self.code
        if code is None or not code.is_code:
            return False
        if code.fence and is_closer and not self.openers:
            self.closer = self.closer or (start, end)
        elif code.fence:
            self.openers += -1 if is_closer else 1
        return True
