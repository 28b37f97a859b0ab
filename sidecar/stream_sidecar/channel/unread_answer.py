"""An answer of plain text, which need not be read until something in it matters.

Most short answers, and the beginnings of most long ones, are plain text: a run
(`PlainRun`) passes it on, and this module remembers it. The reader of answers is made
when it is needed, and first gets the text that passed. Example: ``Hi, it is 12`` and
`` degrees.`` pass. The next delta, ``<``, has to be read, by a reader that knows that
both were shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stream_sidecar.text.rereading import Rereading

_MOST = 2048
"""Code points that are remembered at most; of a longer answer its reader knows all that
will matter."""


class UnreadAnswer:
    """``has_thought``: native reasoning came before it. ``flushed``: something else
    follows, which changes nothing for text that holds nothing back. ``called``: a
    structured call follows."""

    def __init__(self, *, has_thought: bool) -> None:
        self.has_thought = has_thought
        self.flushed = False
        self.called = False
        self._text = ""

    def passed(self, text: str) -> tuple[int, int] | None:
        """More ``text`` passed, between these positions; None: it is too much."""
        start = len(self._text)
        end = start + len(text)
        if end > _MOST or self.flushed:
            return None
        self._text += text
        return start, end

    def tell(self, answer: Rereading) -> None:
        """Gives the reader the text that was shown, and what followed it."""
        answer.passed(self._text)
        if self.flushed:
            answer.flush()
        if self.called:
            answer.call()
