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
from stream_sidecar.text.mentions import LONGEST_SPAN, code_span, is_quoted
from stream_sidecar.text.pieces import FORM_KINDS
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
    AFTER_FORM = 2  # a form, directly before, and only blanks before it: the same
    BLANK = 3  # only blanks, or an opener and blanks
    TEXT = 4


AFTER = (LinePlace.AFTER_OPENER, LinePlace.AFTER_FORM)
"""Where a line break that comes next is removed."""


@define(eq=False)
class InReasoning:
    """The steps of reasoning. ``depth``: how many openers are open; 0 outside
    reasoning.

    ``closers``: the closers of the open block. ``has_implicit_opener``: the open block
    has no visible opener, and no visible text yet. ``line_place``: what stands before
    the next character on its line. ``prefix``: the last characters of the reasoning.
    ``doubt``: the raw text that may turn out to be text of the answer.
    ``must_read_again``: this text is the answer's, and has to be read again up to the
    next character. ``code``: where the reasoning has code. ``foreign_pairs``: the
    closers of other pairs whose opener the reasoning has.
    """

    _rules: Rules
    _buffer: Buffer
    _candidates: CandidateTracker
    _tail: Tail
    closers: frozenset[str]
    depth: int = 0
    has_implicit_opener: bool = False
    line_place: LinePlace = LinePlace.BLANK
    prefix: str = ""
    doubt: Doubt | None = None
    must_read_again: bool = False
    code: CodeSoFar = field(factory=CodeSoFar)
    foreign_pairs: frozenset[frozenset[str]] = frozenset()

    def enter(self, closers: frozenset[str], *, code: CodeState | None = None) -> None:
        """Begins a block. ``code``: the state before a doubtful opener."""
        self._buffer.add_mark(PieceKind.ENTER, self._tail.waiting_size)
        self._begin_doubt(code, is_doubtful=code is not None)
        self.depth, self.has_implicit_opener, self.closers = 1, False, closers
        self._candidates.due_closers[True].clear()
        self.foreign_pairs = frozenset()
        self.line_place, self.prefix = LinePlace.AFTER_OPENER, ""
        self.code = CodeSoFar()
        self._buffer.has_gap = False

    def _begin_doubt(self, code: CodeState | None, *, is_doubtful: bool) -> None:
        """Begins to keep the reasoning from here on if it may turn out to be text:
        because it ``is_doubtful``, or because the policy says so. ``code``: the state
        of code before it; None if code does not matter."""
        self.doubt = None
        if (is_doubtful or self._rules.keeps_reasoning) and not self._rules.native:
            code_copy = None if code is None else CodeState(*code.state())
            buffer = self._buffer
            self.doubt = Doubt(buffer.place, self._rules.max_call, code_copy)
            self.doubt.keep_text(buffer.text[buffer.index :])

    def decide_next(self, *, final: bool) -> None:
        """Decides the next characters, up to the next literal. Raises `UndecidedError`
        if this needs more text."""
        buffer, literals = self._buffer, self._rules.lexicon.literals
        if self.line_place in AFTER:
            self._skip_break(final)
        elif buffer.has_gap:
            self._decide_after_removal(final)
        else:
            end, literal = literals.next(buffer.text, buffer.index, final=final)
            self._add_reasoning(end - buffer.index)
            if literal is not None:
                self._decide_literal(literal, final)
            elif buffer:  # the rest may begin a literal
                raise UndecidedError

    def _decide_after_removal(self, final: bool) -> None:
        """Removes text that would complete a literal across a removal (text rule 5.1).
        If no such text comes next, clears `Buffer.has_gap`."""
        buffer, guarded = self._buffer, self._rules.lexicon.vocabulary.guarded
        next_text = buffer.peek(self._rules.lexicon.literals.longest)
        if size := rebuilt(guarded, self.prefix, next_text, final=final):
            buffer.cut_piece(PieceKind.REBUILT, size)
        else:
            buffer.has_gap = False

    def _decide_literal(self, literal: str, final: bool) -> None:
        buffer, lexicon = self._buffer, self._rules.lexicon
        if literal not in lexicon.delimiters.literals:
            size = lexicon.overlap_size(buffer.text, buffer.index, literal, final=final)
            if not size:
                if not self._is_quoted(literal, final) and self._handle_call(literal):
                    return
                size = lexicon.delimiters.size_without(literal)
            if size:
                self._add_reasoning(size)
                return
            literal = lexicon.delimiter_at(buffer.text, buffer.index)
        self._decide_delimiter(literal, final)

    def _decide_delimiter(self, delimiter: str, final: bool) -> None:
        partners = self._rules.lexicon.delimiters.partners[delimiter]
        if self.closers.isdisjoint(partners):
            self._note_foreign(delimiter, partners, final)
            self._add_reasoning(len(delimiter))
        elif self._is_in_doubtful_code(delimiter) or self._is_quoted(delimiter, final):
            self._add_reasoning(len(delimiter))
        else:
            (self._end_block if delimiter in self.closers else self._nest)(delimiter)

    def _note_foreign(
        self, delimiter: str, partners: frozenset[str], final: bool
    ) -> None:
        """Notes a delimiter of another pair, whose closers are ``partners``. A closer
        without its opener may end the reasoning if nothing else does (text rule 7.7).
        """
        if delimiter not in self._rules.lexicon.delimiters.closers:
            self.foreign_pairs |= {partners}
            return
        is_decided = self.doubt is not None and not self.doubt.closer_size
        if self._rules.native or is_decided or partners in self.foreign_pairs:
            return
        if self.code.state_around() is None and not self._is_quoted(delimiter, final):
            buffer = self._buffer
            buffer.add_mark(PieceKind.CUT)
            limit, size = self._rules.max_call, len(delimiter)
            self.doubt = Doubt(buffer.place, limit, closer_size=size)
            self.doubt.keep_text(buffer.text[buffer.index :])

    def _is_in_doubtful_code(self, delimiter: str) -> bool:
        """Whether the delimiter that comes next is in code after a doubtful opener."""
        if self.doubt is None or self._rules.scope == "everywhere":
            return False
        place, is_closer = self._buffer.place, delimiter in self.closers
        return self.doubt.is_in_code(place, place + len(delimiter), is_closer=is_closer)

    def _handle_call(self, literal: str) -> bool:
        """Handles a mark, closer, opener or end; False: it is text."""
        words, candidates = self._rules.lexicon.vocabulary, self._candidates
        ended_closers = words.exits.get(literal)
        is_text = self._buffer.place < candidates.free_at
        # it ends reasoning of another kind, so here it is text
        if ended_closers is not None and self.closers.isdisjoint(ended_closers):
            is_text = True
        if is_text or candidates.is_pending(literal, in_reasoning=True):
            return False
        if ended_closers is not None:
            self._buffer.cut_piece(PieceKind.MARK, len(literal))
            self._end_reasoning()
        elif literal in words.marks or literal in words.closers:
            self._buffer.cut_piece(PieceKind.MARK, len(literal))
            self._buffer.has_gap = True
        elif openings := words.forms_of(literal):
            candidates.try_forms(openings, in_reasoning=True)
        else:
            return False
        return True

    def _end_reasoning(self, *, by_call: bool = False) -> None:
        """Ends all open blocks; native reasoning continues."""
        self._buffer.has_gap = True
        if not self._rules.native:
            self.depth, self.has_implicit_opener, self.doubt = 0, False, None
            self._buffer.add_mark(PieceKind.EXIT_CALL if by_call else PieceKind.EXIT)
            if by_call:
                self._tail.shown.note_call()

    def open_quotation(self, form: Taken) -> bool:
        """Opens a `Quotation` as the candidate if ``form`` is a call in code: then the
        text after the call decides whether it is quoted (text rule 11.18). Returns
        whether this was done."""
        place, candidates = self._buffer.place, self._candidates
        if form.kind is not PieceKind.CALL or place < candidates.unquoted_until:
            return False
        code_around = self.code.state_around()
        if code_around is None:
            return False
        no_closers = self._rules.native or (self.doubt is not None and self.doubt.code)
        closers = literals(*(() if no_closers else sorted(self.closers)))
        candidates.candidate = Quotation(place, form, code_around, closers)
        return True

    def take_out_form(self, form: Taken) -> None:
        """Takes out the form that comes next (text rules 11.10 and 11.11)."""
        is_border = form.kind in (PieceKind.ENTER, PieceKind.EXIT)
        is_call = form.kind is PieceKind.CALL
        if is_border or (form.opening.named and form.opening.dialect.ends_reasoning):
            self._end_reasoning(by_call=is_call)
        if form.kind in FORM_KINDS:
            self._buffer.verdicts.append(form)
        self._buffer.cut_piece(PieceKind.MARK if is_border else form.kind, form.end)
        self._buffer.has_gap = True
        if is_call and self.line_place is LinePlace.BLANK:
            self.line_place = LinePlace.AFTER_FORM
        if form.kind is PieceKind.ENTER and not self._rules.native:
            self.enter(self.closers_after(form))

    def closers_after(self, form: Taken) -> frozenset[str]:
        """The delimiters that close the reasoning that the form ``form`` began. A form
        of tokens has end tokens, so no delimiter closes it. A form of plain words has
        lost its tokens, so any closer may be meant."""
        is_vague = form.opening.form.vague
        return self._rules.lexicon.delimiters.closers if is_vague else frozenset()

    def _skip_break(self, final: bool) -> None:
        """Removes the line break after an opener, or after a form on a line of its own,
        if there is one (text rules 6.1 and 6.3)."""
        next_text = self._buffer.peek(2)
        # its line feed may come next, and belongs to the break
        if next_text == "\r" and not final:
            raise UndecidedError
        place, self.line_place = self.line_place, LinePlace.BLANK
        if next_text[0] == "\n" or next_text == "\r\n":
            self._buffer.cut_piece(PieceKind.BLANK, next_text.index("\n") + 1)
            if place is LinePlace.AFTER_FORM:
                return  # the break before the form ends the line that was shown
            self.prefix = "\n"
            self.code.add_text("\n")
            if self.doubt is not None:
                self.doubt.feed_code("\n")

    def _add_reasoning(self, size: int) -> None:
        if size > 0:
            self._tail.shown.unread += size  # it may be held elsewhere, as tagged text
            self.note_text(self._buffer.peek(size))
            self._buffer.cut_piece(PieceKind.REASONING, size)

    def note_text(self, text: str) -> None:
        """Updates the fields with ``text``, the next part of the reasoning."""
        self.code.add_text(text)
        if self.doubt is not None:
            self.doubt.feed_code(text)
        kept_size = max(self._rules.lexicon.literals.longest, LONGEST_SPAN)
        all_text = text if len(text) >= kept_size else self.prefix + text
        self.prefix = all_text[-kept_size:]
        if self.has_implicit_opener and text.strip(SPACE):
            self.has_implicit_opener = False
        last_line = text[text.rfind("\n") + 1 :]
        if last_line.strip(SPACE):
            self.line_place = LinePlace.TEXT
        elif len(last_line) < len(text):
            self.line_place = LinePlace.BLANK

    def _is_quoted(self, literal: str, final: bool) -> bool:
        """Whether the literal that comes next is only mentioned (text rule 4.5)."""
        if self._rules.scope == "everywhere":
            return False
        window = min(LONGEST_SPAN, self._tail.room(LONGEST_SPAN))
        suffix = self._buffer.peek(max(window, 1), skip=len(literal))
        if is_quoted(self.prefix, suffix, final=final):
            return True
        is_all = final or len(suffix) >= window
        return self._is_paired(literal, *code_span(self.prefix, suffix, is_all=is_all))

    def _is_paired(self, literal: str, prefix: str, suffix: str) -> bool:
        """Whether the code span around ``literal`` contains its partner: an opener
        before a closer, or a closer after an opener. ``prefix`` and ``suffix``: the
        parts of the span on both sides."""
        lexicon = self._rules.lexicon
        closers = lexicon.delimiters.closers | lexicon.vocabulary.closers.keys()
        side = prefix if literal in closers else suffix
        kinds = {match[0] in closers for match in lexicon.literals.any.finditer(side)}
        return (literal not in closers) in kinds

    def _nest(self, opener: str) -> None:
        """Handles an opener of the block's own pair (text rules 3.4 and 3.5)."""
        # the opener that the prompt had comes after all, and says which closers count
        # (text rule 9.1)
        if self.has_implicit_opener and not self._rules.native:
            self.closers = self._rules.lexicon.delimiters.partners[opener]
        elif self._is_doubtful and self.prefix.rstrip(BLANKS).endswith("\n"):
            self.must_read_again = True
            return
        elif self.line_place is LinePlace.BLANK and not self._rules.native:
            self.depth += 1
        self._buffer.cut_piece(PieceKind.DELIMITER, len(opener))
        self.has_implicit_opener, self.line_place = False, LinePlace.AFTER_OPENER
        self._buffer.has_gap = True

    def _end_block(self, closer: str) -> None:
        self._buffer.cut_piece(PieceKind.DELIMITER, len(closer))
        self.has_implicit_opener = False
        self._buffer.has_gap = True
        if not self._rules.native:
            self.depth -= 1
            self._buffer.add_mark(PieceKind.CUT if self.depth else PieceKind.EXIT)
            self._begin_doubt(None, is_doubtful=self.depth > 0)
            self.doubt = self.doubt if self.depth else None

    @property
    def _is_doubtful(self) -> bool:
        """Whether the block may be text and is kept whole."""
        doubt = self.doubt
        return doubt is not None and doubt.code is not None and doubt.is_whole
