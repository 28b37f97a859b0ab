"""Steps through reasoning, between an opener and its closer or in a native field.

The opener of a block decides which closers end it; delimiters of other pairs are text
of the reasoning. An opener of the same pair nests only at a line's start or right after
another opener. A delimiter with quotes directly on both sides is text. One line break
right after an opener is removed with it. Calls that a model drafts here are taken out
and the block continues, unless calls of their dialect end reasoning by design. Example:
in ``why`</think>`?[/THINK]</think>Yes`` only the last closer counts, and ``Yes`` is the
answer.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from stream_sidecar.forms.grammar import literals
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.forms.literals import UndecidedError, rebuilt
from stream_sidecar.markdown.code import BLANKS, CodeState
from stream_sidecar.records import define, field
from stream_sidecar.text.doubt import Doubt
from stream_sidecar.text.mentions import LONGEST_SPAN, is_quoted, span_around
from stream_sidecar.text.pieces import FORMED
from stream_sidecar.text.quotations import CodeSoFar, Quotation
from stream_sidecar.text.shown_text import SPACE

if TYPE_CHECKING:
    from stream_sidecar.forms.candidate import Taken
    from stream_sidecar.text.buffer import Buffer
    from stream_sidecar.text.candidate_tracker import CandidateTracker
    from stream_sidecar.text.lexicon import Rules
    from stream_sidecar.text.tail import Tail


class LinePlace(Enum):
    """What stands before the next character on its line."""

    AFTER_OPENER = 1  # an opener, directly before: a line break here belongs to it
    BLANK = 2  # only blanks, or an opener and blanks
    TEXT = 3


@define(eq=False)
class InReasoning:
    """The steps of reasoning. ``depth``: how many openers are open; 0 outside
    reasoning.

    ``closers``: the closers of the open block. ``implicit``: the open block has no
    visible opener, and no visible text yet. ``place``: what stands before the next
    character on its line. ``before``: the last characters of the reasoning. ``doubt``:
    the raw text that may turn out to be text of the answer. ``again``: this text is the
    answer's, and has to be read again up to the next character. ``code``: where the
    reasoning has code.
    """

    _rules: Rules
    _buffer: Buffer
    _candidates: CandidateTracker
    _tail: Tail
    closers: frozenset[str]
    depth: int = 0
    implicit: bool = False
    place: LinePlace = LinePlace.BLANK
    before: str = ""
    doubt: Doubt | None = None
    again: bool = False
    code: CodeSoFar = field(factory=CodeSoFar)

    def begin(self, closers: frozenset[str], *, code: CodeState | None = None) -> None:
        """Begins a block that ``closers`` close. ``code``: if its opener is doubtful,
        the state of code before the opener; else None."""
        self._buffer.mark(PieceKind.ENTER, self._tail.waiting)
        self._doubt(code, doubtful=code is not None)
        self.depth, self.implicit, self.closers = 1, False, closers
        self._candidates.pending[True].clear()
        self.place, self.before = LinePlace.AFTER_OPENER, ""
        self.code = CodeSoFar()
        self._buffer.border = False

    def _doubt(self, code: CodeState | None, *, doubtful: bool) -> None:
        """Begins to keep the reasoning from here on if it may turn out to be text:
        because it is ``doubtful``, or because the policy says so. ``code``: the state
        of code before it; None if code does not matter."""
        self.doubt = None
        if (doubtful or self._rules.keeps) and not self._rules.native:
            state = None if code is None else CodeState(*code.state())
            buffer = self._buffer
            self.doubt = Doubt(buffer.place, self._rules.max_call, state)
            self.doubt.keep(buffer.text[buffer.at :])

    def step(self, *, final: bool) -> None:
        """Decides the next characters, up to the next literal. Raises `UndecidedError`
        if this needs more text."""
        buffer, literals = self._buffer, self._rules.lexicon.literals
        if self.place is LinePlace.AFTER_OPENER:
            self._skip_break(final)
        elif buffer.border:
            self._after_border(final)
        else:
            end, literal = literals.next(buffer.text, buffer.at, final=final)
            self._think(end - buffer.at)
            if literal is not None:
                self._at_literal(literal, final)
            elif buffer:  # the rest may begin a literal
                raise UndecidedError

    def _after_border(self, final: bool) -> None:
        """Removes text that would complete a literal across a removal (text rule 5.1).
        If no such text comes next, clears `Buffer.border`."""
        buffer, whole = self._buffer, self._rules.lexicon.vocabulary.whole
        rest = buffer.ahead(self._rules.lexicon.literals.longest)
        if size := rebuilt(whole, self.before, rest, final=final):
            buffer.cut(PieceKind.REBUILT, size)
        else:
            buffer.border = False

    def _at_literal(self, literal: str, final: bool) -> None:
        buffer, lexicon = self._buffer, self._rules.lexicon
        if literal not in lexicon.delimiters.literals:
            size = lexicon.overlap(buffer.text, buffer.at, literal, final=final)
            if not size:
                if not self._is_quoted(literal, final) and self._protocol(literal):
                    return
                size = lexicon.delimiters.size_without(literal)
            if size:
                self._think(size)
                return
            literal = lexicon.delimiter_at(buffer.text, buffer.at)
        self._at_delimiter(literal, final)

    def _at_delimiter(self, delimiter: str, final: bool) -> None:
        partners = self._rules.lexicon.delimiters.partners[delimiter]
        foreign = self.closers.isdisjoint(partners)
        code = foreign or self._is_code(delimiter)
        if code or self._is_quoted(delimiter, final):
            self._think(len(delimiter))
        else:
            (self._end if delimiter in self.closers else self._nest)(delimiter)

    def _is_code(self, delimiter: str) -> bool:
        """Whether the delimiter that comes next is in code after a doubtful opener."""
        if self.doubt is None or self._rules.scope == "everywhere":
            return False
        place, closes = self._buffer.place, delimiter in self.closers
        return self.doubt.quotes(place, place + len(delimiter), closes=closes)

    def _protocol(self, literal: str) -> bool:
        """Handles the mark, the closer of a call, the opener or the end of reasoning
        that comes next. Returns False if ``literal`` is text here."""
        words, candidates = self._rules.lexicon.vocabulary, self._candidates
        ends = words.ends.get(literal)
        tried = self._buffer.place < candidates.free
        # it ends reasoning of another kind, so here it is text
        if ends is not None and self.closers.isdisjoint(ends):
            tried = True
        if tried or candidates.is_pending(literal, inside=True):
            return False
        if ends is not None:
            self._buffer.cut(PieceKind.MARK, len(literal))
            self._leave()
        elif literal in words.marks or literal in words.closers:
            self._buffer.cut(PieceKind.MARK, len(literal))
            self._buffer.border = True
        elif openings := words.openings_of(literal):
            candidates.begin(openings, inside=True)
        else:
            return False
        return True

    def _leave(self, *, called: bool = False) -> None:
        """Ends the reasoning with all open blocks. ``called``: a call ended it. Native
        reasoning continues."""
        self._buffer.border = True
        if not self._rules.native:
            self.depth, self.implicit, self.doubt = 0, False, None
            self._buffer.mark(PieceKind.EXIT_CALL if called else PieceKind.EXIT)
            if called:
                self._tail.shown.call()

    def may_quote(self, taken: Taken) -> bool:
        """Opens a `Quotation` as the candidate if ``taken`` is a call in code: then the
        text after the call decides whether it is quoted (text rule 11.18). Returns
        whether this was done."""
        place, candidates = self._buffer.place, self._candidates
        if taken.kind is not PieceKind.CALL or place < candidates.meant:
            return False
        code = self.code.around()
        if code is None:
            return False
        known = self._rules.native or (self.doubt is not None and self.doubt.code)
        closers = literals(*(() if known else sorted(self.closers)))
        candidates.candidate = Quotation(place, taken, code, closers)
        return True

    def take_out(self, taken: Taken) -> None:
        """Takes out the form that comes next (text rules 11.10 and 11.11)."""
        borders = taken.kind in (PieceKind.ENTER, PieceKind.EXIT)
        called = taken.kind is PieceKind.CALL
        if borders or (taken.opening.named and taken.opening.dialect.ends_reasoning):
            self._leave(called=called)
        if taken.kind in FORMED:
            self._buffer.taken.append(taken)
        self._buffer.cut(PieceKind.MARK if borders else taken.kind, taken.end)
        self._buffer.border = True
        if taken.kind is PieceKind.ENTER and not self._rules.native:
            self.begin(self.closers_after(taken))

    def closers_after(self, taken: Taken) -> frozenset[str]:
        """The delimiters that close the reasoning that the form ``taken`` began. A form
        of tokens has end tokens, so no delimiter closes it. A form of plain words has
        lost its tokens, so any closer may be meant."""
        words = taken.opening.form.vague
        return self._rules.lexicon.delimiters.closers if words else frozenset()

    def _skip_break(self, final: bool) -> None:
        """Removes the line break after an opener, if there is one (text rule 6.3)."""
        rest = self._buffer.ahead(2)
        # its line feed may come next, and belongs to the break
        if rest == "\r" and not final:
            raise UndecidedError
        self.place = LinePlace.BLANK
        if rest[0] == "\n" or rest == "\r\n":
            self._buffer.cut(PieceKind.BLANK, rest.index("\n") + 1)
            self.before = "\n"
            self.code.add("\n")
            if self.doubt is not None:
                self.doubt.feed("\n")

    def _think(self, size: int) -> None:
        if size > 0:
            self._tail.shown.unread += size  # it may be held elsewhere, as tagged text
            self.note(self._buffer.ahead(size))
            self._buffer.cut(PieceKind.REASONING, size)

    def note(self, text: str) -> None:
        """Updates the fields with ``text``, the next part of the reasoning."""
        self.code.add(text)
        if self.doubt is not None:
            self.doubt.feed(text)
        size = max(self._rules.lexicon.literals.longest, LONGEST_SPAN)
        whole = text if len(text) >= size else self.before + text
        self.before = whole[-size:]
        if self.implicit and text.strip(SPACE):
            self.implicit = False
        line = text[text.rfind("\n") + 1 :]
        if line.strip(SPACE):
            self.place = LinePlace.TEXT
        elif len(line) < len(text):
            self.place = LinePlace.BLANK

    def _is_quoted(self, literal: str, final: bool) -> bool:
        """Whether the literal that comes next is only mentioned (text rule 4.5)."""
        if self._rules.scope == "everywhere":
            return False
        room = min(LONGEST_SPAN, self._tail.room(LONGEST_SPAN))
        after = self._buffer.ahead(max(room, 1), skip=len(literal))
        if is_quoted(self.before, after, final=final):
            return True
        known = final or len(after) >= room
        return self._is_paired(literal, *span_around(self.before, after, known=known))

    def _is_paired(self, literal: str, before: str, after: str) -> bool:
        """Whether the code span around ``literal`` contains its partner: an opener
        before a closer, or a closer after an opener. ``before`` and ``after``: the
        parts of the span on both sides."""
        lexicon = self._rules.lexicon
        closers = lexicon.delimiters.closers | lexicon.vocabulary.closers.keys()
        others = before if literal in closers else after
        found = {each[0] in closers for each in lexicon.literals.any.finditer(others)}
        return (literal not in closers) in found

    def _nest(self, opener: str) -> None:
        """Handles an opener of the block's own pair (text rules 3.4 and 3.5)."""
        # the opener that the prompt had comes after all, and says which closers count
        # (text rule 9.1)
        if self.implicit and not self._rules.native:
            self.closers = self._rules.lexicon.delimiters.partners[opener]
        elif self._is_doubtful and self.before.rstrip(BLANKS).endswith("\n"):
            self.again = True
            return
        elif self.place is LinePlace.BLANK and not self._rules.native:
            self.depth += 1
        self._buffer.cut(PieceKind.DELIMITER, len(opener))
        self.implicit, self.place = False, LinePlace.AFTER_OPENER
        self._buffer.border = True

    def _end(self, closer: str) -> None:
        self._buffer.cut(PieceKind.DELIMITER, len(closer))
        self.implicit = False
        self._buffer.border = True
        if not self._rules.native:
            self.depth -= 1
            self._buffer.mark(PieceKind.CUT if self.depth else PieceKind.EXIT)
            self._doubt(None, doubtful=self.depth > 0)
            self.doubt = self.doubt if self.depth else None

    @property
    def _is_doubtful(self) -> bool:
        """Whether the open block began after a doubtful opener, no closer came since,
        and all its raw text is kept."""
        doubt = self.doubt
        return doubt is not None and doubt.code is not None and doubt.is_whole
