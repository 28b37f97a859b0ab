"""Remembers the text of an answer that the fast path showed, for its later reader.

Most short answers, and the beginnings of most long ones, are plain text, which a run
(`PlainRun`) shows. The reader of the answer is made when something in the text may
matter, and first gets the text that was shown. Example: ``Hi, it is 12`` and
`` degrees.`` are shown unread. The next delta, ``<``, has to be read, by a reader that
knows the text of both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stream_sidecar.text.rereading import Rereading

_MOST = 2048
"""At most this many code points are remembered. After that the reader of the answer is
made."""


class FastPathText:
    """The text of an answer that was shown unread. ``has_thought``: native reasoning
    came before it. ``flushed``: held text was decided after it, which changes nothing,
    because none of it was held. ``called``: a structured call follows."""

    def __init__(self, *, has_thought: bool) -> None:
        self.has_thought = has_thought
        self.flushed = False
        self.called = False
        self._text = ""

    def passed(self, text: str) -> tuple[int, int] | None:
        """Adds ``text``, and returns its start and end in the answer; None if there
        would be too much text, or if it was ``flushed``."""
        start = len(self._text)
        end = start + len(text)
        if end > _MOST or self.flushed:
            return None
        self._text += text
        return start, end

    def replay(self, answer: Rereading) -> None:
        """Passes to ``answer``, the reader, the text that was shown and what followed
        it."""
        answer.show_passed(self._text)
        if self.flushed:
            answer.flush()
        if self.called:
            answer.note_call()
