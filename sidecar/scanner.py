"""Reasoning as it is read, between an opener and its closer or in a native field.

`ReasoningScanner` holds what both halves of the splitter share, the buffer and where it
is done, and takes one step at a time while ``depth`` is not 0 (contract 7.3): a closer
of any name closes, an opener nests only at a line's start or right after another
opener, a closer with backticks directly on both sides is quoted, and one line break
right after an opener belongs to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from sidecar.pieces import Kind, Pieces
from sidecar.visible import SPACE

if TYPE_CHECKING:
    from sidecar.delimiters import Delimiters

Scope: TypeAlias = Literal["outside-code", "everywhere", "boundary"]


class ReasoningScanner:
    """The buffer of a channel, and the steps through reasoning in it."""

    def __init__(self, delimiters: Delimiters, scope: Scope, *, native: bool) -> None:
        self.delimiters = delimiters
        self.scope = scope
        self.native = native
        self.buffer = ""
        self.at = 0  # how much of the buffer is done
        self.base = 0  # position of the buffer in the raw channel
        self.border = False  # something was removed right before the next character
        self.depth = 0
        self.implicit = False  # reasoning without an opener so far
        self.line_blank = True  # only blanks since line break or opener
        self.skip_break = False  # a line break here belongs to the opener
        self.tail = ""  # the last characters given
        self.quoted = False  # a quoted closer was left in it
        self.out: Pieces = []

    @property
    def _rest(self) -> str:
        """The next characters, as many as a delimiter may have."""
        return self.buffer[self.at : self.at + self.delimiters.longest]

    def _cut(self, kind: Kind, size: int) -> None:
        start, end = self.at, self.at + size
        piece = (kind, self.buffer[start:end], self.base + start, self.base + end)
        self.out.append(piece)
        self.at = end

    def _reasoning(self, final: bool) -> bool:
        """One step; False when nothing more can be done with this buffer."""
        if self.skip_break:
            return self._skip_break(final)
        if self.border:
            size = self.delimiters.rebuilt(self.tail, self._rest, final=final)
            if size:
                self._cut(Kind.REBUILT, size)
                return True
            self.border = size is None
            return size is not None
        end, delimiter = self.delimiters.next(self.buffer, self.at, final=final)
        self._think(end)
        if delimiter is None:
            return False
        if delimiter not in self.delimiters.closers:
            self._nested_opener(delimiter)
            return True
        quoted = self._is_quoted(delimiter, final)
        if quoted:
            self.quoted = True
            self._think(end + len(delimiter))
        elif quoted is False:
            self._closer(delimiter)
        return quoted is not None

    def _skip_break(self, final: bool) -> bool:
        rest = self.buffer[self.at : self.at + 2]
        if rest == "\r" and not final:
            return False
        self.skip_break = False
        if rest[0] == "\n" or rest == "\r\n":
            self._cut(Kind.BLANK, rest.index("\n") + 1)
        return True

    def _think(self, end: int) -> None:
        if end > self.at:
            self._note(self.buffer[self.at : end])
            self._cut(Kind.REASONING, end - self.at)

    def _note(self, text: str) -> None:
        """Remembers the end of the reasoning."""
        size = self.delimiters.longest
        self.tail = text[-size:] if len(text) >= size else (self.tail + text)[-size:]
        if self.implicit and text.strip(SPACE):
            self.implicit = False
        line = text[text.rfind("\n") + 1 :]
        if line.strip(SPACE):
            self.line_blank = False
        elif len(line) < len(text):
            self.line_blank = True

    def _is_quoted(self, delimiter: str, final: bool) -> bool | None:
        """A closer with backticks directly on both sides is quoted; None: wait."""
        if self.tail[-1:] != "`" or self.border or self.scope == "everywhere":
            return False
        after = self.buffer[self.at + len(delimiter) :][:1]
        return None if not after and not final else after == "`"

    def _nested_opener(self, delimiter: str) -> None:
        if self.line_blank and not self.implicit and not self.native:
            self.depth += 1
        self._cut(Kind.DELIMITER, len(delimiter))
        self.implicit = False
        self.line_blank = self.skip_break = self.border = True

    def _closer(self, delimiter: str) -> None:
        self._cut(Kind.DELIMITER, len(delimiter))
        self.implicit = False
        self.border = True
        if self.native:
            return
        self.depth -= 1
        self.out.append((Kind.CUT if self.depth else Kind.EXIT, "", 0, 0))
