"""Reasoning as it is read, between an opener and its closer or in a native field.

`ReasoningScanner` takes one step at a time while ``depth`` is not 0 (contract 7.3): a
closer of any name closes, an opener nests only at a line's start or right after another
opener, a closer with backticks directly on both sides is quoted, and one line break
right after an opener belongs to it. Calls that a model drafts here are taken out and
the block goes on, unless their dialect ends reasoning by design (contract 7.7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from attrs import frozen

from sidecar.forms.kinds import PieceKind
from sidecar.forms.literals import rebuilt
from sidecar.text.attempts import FormScanner
from sidecar.text.shown_text import SPACE

if TYPE_CHECKING:
    from sidecar.forms.candidate import Taken
    from sidecar.forms.grammar import Context
    from sidecar.text.lexicon import Lexicon

Scope: TypeAlias = Literal["outside-code", "everywhere", "boundary"]

FORMED = frozenset((PieceKind.CALL, PieceKind.RESULT, PieceKind.CITE))
"""Kinds of pieces that have a `Taken`."""


@frozen
class Rules:
    """By what a channel is read. ``max_held`` and ``max_call`` are code points,
    ``native``: the channel is a provider's own reasoning field."""

    lexicon: Lexicon
    context: Context
    scope: Scope
    max_held: int
    max_call: int
    native: bool


class ReasoningScanner(FormScanner):
    """The steps through reasoning."""

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules.lexicon, rules.context, rules.max_held, rules.max_call)
        self.scope = rules.scope
        self.native = rules.native
        self.border = False  # something was removed right before the next character
        self.implicit = False  # reasoning without an opener so far
        self.line_blank = True  # only blanks since line break or opener
        self.skip_break = False  # a line break here belongs to the opener
        self.tail = ""  # the last characters given
        self.quoted = False  # a quoted closer was left in it

    def _reasoning(self, final: bool) -> bool:
        """One step; False when nothing more can be done with this buffer."""
        if self.skip_break:
            return self._skip_break(final)
        if self.border:
            whole = self.lexicon.vocabulary.whole
            size = rebuilt(whole, self.tail, self._rest, final=final)
            if size:
                self._cut(PieceKind.REBUILT, size)
                return True
            self.border = size is None
            return size is not None
        end, literal = self.literals.next(self.buffer, self.at, final=final)
        self._think(end)
        if literal is None:
            return False
        if literal not in self.delimiters.literals:
            overlap = self._overlap(literal, final)
            if overlap != 0:
                self._think(self.at + (overlap or 0))
                return overlap is not None
            size = self._protocol(literal)
            if size:
                self._think(self.at + size)
            if size != 0:
                return True
            literal = self._delimiter_at()
        if literal in self.delimiters.closers:
            return self._close(literal, final)
        self._nested_opener(literal)
        return True

    def _delimiter_at(self) -> str:
        """The delimiter with which a longer literal begins that is text here."""
        match = self.delimiters.any.match(self.buffer, self.at)
        assert match is not None  # the caller knows
        return match[0]

    def _overlap(self, literal: str, final: bool) -> int | None:
        """How much of ``literal`` is text, since the rest of it begins a delimiter; 0:
        no delimiter begins in it, None: that takes more text to know."""
        size = self.delimiters.size_without(literal)
        if size in (0, len(literal)):
            return 0
        after = self.at + len(literal)
        rest = self.buffer[after : after + self.literals.longest]
        found = rebuilt(self.delimiters, literal, rest, final=final)
        return size if found else found

    def _close(self, closer: str, final: bool) -> bool:
        quoted = self._is_quoted(closer, final)
        if quoted:
            self.quoted = True
            self._think(self.at + len(closer))
        elif quoted is False:
            self._closer(closer)
        return quoted is not None

    def _protocol(self, literal: str) -> int | None:
        """What is no delimiter of reasoning: a mark, a closer or an opener of calls.

        Where it is text: how much of it.
        """
        words = self.lexicon.vocabulary
        if self.base + self.at < self.free or self._is_owed(literal):
            return self.delimiters.size_without(literal)
        if literal in words.ends:
            self._cut(PieceKind.MARK, len(literal))
            self._leave()
        elif literal in words.marks or literal in words.closers:
            self._cut(PieceKind.MARK, len(literal))
            self.border = True
        else:
            self._try(words.openings_of(literal))
        return None

    def _leave(self) -> None:
        """Reasoning is over, whatever was open in it."""
        self.border = True
        if not self.native:
            self.depth, self.implicit = 0, False
            self.out.append((PieceKind.EXIT, "", 0, 0))

    def _take_out_of_reasoning(self, taken: Taken) -> None:
        by_design = taken.opening.named and taken.opening.dialect.ends_reasoning
        leaves = taken.kind in (PieceKind.ENTER, PieceKind.EXIT) or by_design
        if leaves:
            self._leave()
        kind = (
            PieceKind.MARK
            if taken.kind in (PieceKind.ENTER, PieceKind.EXIT)
            else taken.kind
        )
        if kind in FORMED:
            self.taken.append(taken)
        self._cut(kind, taken.end)
        self.border = True
        if taken.kind is PieceKind.ENTER and not self.native:
            self._begin(middle=False)

    def _begin(self, *, middle: bool) -> None:
        """A block of reasoning begins behind an opener."""
        self.out.append((PieceKind.ENTER_MID if middle else PieceKind.ENTER, "", 0, 0))
        self.depth, self.implicit = 1, False
        self.owed.clear()
        self.line_blank = self.skip_break = True
        self.tail, self.border = "", False

    def _skip_break(self, final: bool) -> bool:
        rest = self.buffer[self.at : self.at + 2]
        if rest == "\r" and not final:
            return False
        self.skip_break = False
        if rest[0] == "\n" or rest == "\r\n":
            self._cut(PieceKind.BLANK, rest.index("\n") + 1)
        return True

    def _think(self, end: int) -> None:
        if end > self.at:
            self._note(self.buffer[self.at : end])
            self._cut(PieceKind.REASONING, end - self.at)

    def _note(self, text: str) -> None:
        """Remembers the end of the reasoning."""
        size = self.literals.longest
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
        self._cut(PieceKind.DELIMITER, len(delimiter))
        self.implicit = False
        self.line_blank = self.skip_break = self.border = True

    def _closer(self, delimiter: str) -> None:
        self._cut(PieceKind.DELIMITER, len(delimiter))
        self.implicit = False
        self.border = True
        if self.native:
            return
        self.depth -= 1
        self.out.append((PieceKind.CUT if self.depth else PieceKind.EXIT, "", 0, 0))
