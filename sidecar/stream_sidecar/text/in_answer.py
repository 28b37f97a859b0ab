"""Steps through the answer: what is shown, and what is taken out.

Delimiters and forms count outside code. A closer without an opener is a stray, which is
removed, or it makes the text before it reasoning. Example: in ``a `<think>` <think>b``
the first opener is code and is shown; the second begins reasoning.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.forms.literals import UndecidedError, completions, rebuilt
from stream_sidecar.markdown.lines import Line
from stream_sidecar.markdown.runs import RunIndex
from stream_sidecar.records import define, field
from stream_sidecar.text.doubt import CLOSING_PUNCTUATION, is_doubtful
from stream_sidecar.text.mentions import (
    BETWEEN,
    WINDOW,
    BorderPlace,
    is_mentioned,
    pair_of,
    stands_in_sentence,
)
from stream_sidecar.text.pieces import FORMED
from stream_sidecar.text.shown_text import Orphan

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.forms.candidate import Taken
    from stream_sidecar.markdown.code import CodeState
    from stream_sidecar.text.buffer import Buffer
    from stream_sidecar.text.candidate_tracker import CandidateTracker
    from stream_sidecar.text.in_reasoning import InReasoning
    from stream_sidecar.text.lexicon import Rules
    from stream_sidecar.text.tail import Tail

T = TypeVar("T")

PENDING = -2
"""In `InAnswer._called_at`: nothing but blanks has come since a call or its result."""


@define(eq=False)
class InAnswer:
    """The steps of the answer. The fields remember what was found out about places in
    the text, so that no step finds it out again."""

    _rules: Rules
    _buffer: Buffer
    _candidates: CandidateTracker
    _tail: Tail
    _reasoning: InReasoning
    _tried: int = -1  # the last line's start where no form begins
    opens_from: int = 0  # an opener before this position opens nothing
    flushed: int = -1  # where a structured call or a block's end decided held text
    _bordered: int = -1  # the position right after the last mark or wrapper
    _wrapped: set[str] = field(factory=set)  # closers of wrappers that were removed
    _full_at: int = -1  # the last position where the hold limit was reached
    _called_at: int = -1  # the position after the last call and blanks, or `PENDING`
    _clear: int = 0  # no literal begins before this position
    _runs: RunIndex | None = None

    def restart(self, start: int) -> None:
        """Continues at position ``start``: forgets what is known of the text ahead."""
        self._runs, self._clear = None, start

    def step(self, *, final: bool) -> None:
        """Decides the next characters, up to the next place that may matter. Raises
        `UndecidedError` if this needs more text."""
        buffer, tail, lexicon = self._buffer, self._tail, self._rules.lexicon
        if buffer.border:
            self._after_border(final)
            return
        code = tail.shown.code_ahead
        # nothing in such a line counts, so it is shown without a search for literals
        if code.fills_line and tail.shown.fences_pass:
            tail.show(code.filled(buffer.text, buffer.at) - buffer.at)
            return
        if self._may_begin_line(code) and self._at_line(final):
            return
        at = max(buffer.at, self._clear - buffer.base)
        end, literal = lexicon.literals.next(buffer.text, at, final=final)
        self._clear = buffer.base + end
        line = lexicon.line_start(buffer.text, buffer.at, end)
        if line is not None:  # a line may begin where the literal stands
            end = line
        if end > buffer.at:
            tail.show(end - buffer.at, final=final)
        elif literal is None:
            raise UndecidedError
        else:
            self._at_literal(literal, final)

    def _may_begin_line(self, code: CodeState) -> bool:
        """Whether the next character is where an opener is valid that is valid only at
        a line's start."""
        place = self._buffer.place
        read = place < self._candidates.free or place == self._tried
        return not (read or self._tail.line_shown or code.is_code)

    def _at_line(self, final: bool) -> bool:
        """Begins a candidate if an opener of a line's start comes next, or shows the
        blanks before such an opener. Returns False if neither comes next."""
        buffer, lexicon = self._buffer, self._rules.lexicon
        if blanks := buffer.blanks():
            self._tail.show(blanks)
            return True
        start, called = self._tail.is_start, buffer.place == self._called_at
        openings = lexicon.at_line(
            buffer.text, buffer.at, start=start, called=called, final=final
        )
        if self._tail.shown.elements.names:
            openings = [each for each in openings if not each.form.element]
        # the line before is not complete, so this may be an item of code (11.6)
        if openings and self._tail.is_open:
            openings = [each for each in openings if each.form.tier != "C"]
        if openings:
            here = buffer.text, buffer.at
            literal = lexicon.literals.any.match(*here)
            if not (literal and lexicon.overlap(*here, literal[0], final=final)):
                self._candidates.begin(tuple(openings), inside=False)
                return True
        self._tried = buffer.place
        return False

    def _at_literal(self, literal: str, final: bool) -> None:
        buffer, lexicon, tail = self._buffer, self._rules.lexicon, self._tail
        tag = literal in lexicon.delimiters.literals
        here = buffer.text, buffer.at
        if overlap := lexicon.overlap(*here, literal, final=final):
            self._tail.show(overlap)
            return
        first = tag and literal not in lexicon.delimiters.closers and tail.shown.start
        code = self._is_mention(literal, final, tag)
        code = code or self._in_code(final, tag=tag, first=first)
        if not code and literal in lexicon.vocabulary.borders:
            code = self._in_sentence(literal, final)
        if tag and not code and (pair := self._pair(literal, final)):
            self._tail.show(pair)
            return
        if not tag:
            if not code and self._protocol(literal):
                return
            if size := lexicon.delimiters.size_without(literal):
                self._tail.show(size)
                return
            literal = lexicon.delimiter_at(*here)
            # under `everywhere` code quotes calls, but no delimiters (text rule 4.8)
            code = code and self._rules.scope != "everywhere"
        self._at_delimiter(literal, code=code)

    def _at_delimiter(self, delimiter: str, *, code: bool) -> None:
        """Decides the delimiter that comes next: it begins reasoning, is a stray, or is
        text (text rule 3.6). ``code``: it is code or a mention, so it is text."""
        if code or not self._counts(delimiter):
            self._tail.show(len(delimiter))
        elif delimiter in self._rules.lexicon.delimiters.closers:
            if self._is_attributed(delimiter):
                self._tail.show(len(delimiter))
                return
            self._tail.await_answer()
            self._tail.remove(PieceKind.STRAY, len(delimiter))
        else:
            middle = self._is_middle()
            self._tail.remove(PieceKind.DELIMITER, len(delimiter))
            closers = self._rules.lexicon.delimiters.partners[delimiter]
            self._begin(closers, middle=middle)

    def _is_attributed(self, closer: str) -> bool:
        """Whether ``closer`` closes an opener with attributes that was shown as text
        (text rule 4.13). Where reasoning may have begun in the prompt, only an opener
        on the same line counts."""
        if not self._candidates.is_pending(closer, inside=False):
            return False
        line = self._tail.before.rpartition("\n")[2]
        opener = closer.replace("/", "", 1).rstrip(">")
        return self._rules.orphan is not Orphan.ARMED or opener in line

    def _protocol(self, literal: str) -> bool:
        """Handles the mark, the closer of a call or the opener that comes next (text
        rule 12.3). Returns False if ``literal`` is text here."""
        words, candidates = self._rules.lexicon.vocabulary, self._candidates
        tail = self._tail
        candidates.renew()
        tried = self._buffer.place < candidates.free  # it is text, and time is linear
        if tried or candidates.is_pending(literal, inside=False):
            return False
        called = tail.is_start or self._buffer.place == self._called_at
        openings = words.openings_of(literal, called=called)
        closer = words.closers.get(literal)
        if literal in words.ends or literal in words.marks or (closer and called):
            tail.remove(PieceKind.MARK, len(literal))
            self._called_at = PENDING if closer else -1
            self._bordered = -1 if closer else self._buffer.place
            if literal in words.ends:  # so this is the answer already
                tail.shown.next_orphan = Orphan.NONE
        elif closer:
            tail.hold(closer)
        elif not openings:
            return False
        else:
            candidates.begin(openings, inside=False)
        return True

    def leave(self, *, final: bool) -> None:
        """Handles the literal that comes next, after the candidate that began with it
        has failed."""
        buffer = self._buffer
        if literal := self._rules.lexicon.literals.any.match(buffer.text, buffer.at):
            self._at_literal(literal[0], final)

    def take_out(self, taken: Taken) -> None:
        """Takes out the form that comes next (text rule 2.3), or lets it wait in the
        tail."""
        buffer = self._buffer
        if taken.kind is PieceKind.ENTER and taken.content:
            self._take_thought(taken)
        elif taken.kind is PieceKind.ENTER:
            self._tail.remove(PieceKind.DELIMITER, taken.end)
            self._begin(self._reasoning.closers_after(taken), middle=False)
        elif taken.waits and not (taken.opening.form.called and self._tail.trailing):
            self._tail.hold(taken)
            buffer.border |= taken.kind is PieceKind.CALL or taken.opening.form.called
        else:
            if taken.kind is PieceKind.CALL and self._tail.is_echo():
                self._tail.decide(echo=True)
            if taken.kind in FORMED:
                buffer.taken.append(taken)
            if taken.kind is PieceKind.CALL:
                self._tail.shown.followed(buffer.pieces)
            ends = taken.kind is PieceKind.EXIT
            self._tail.remove(PieceKind.MARK if ends else taken.kind, taken.end)
            if ends:
                self._tail.shown.next_orphan = Orphan.NONE
        called = buffer.border and taken.kind in (PieceKind.CALL, PieceKind.RESULT)
        self._called_at = PENDING if called else -1

    def _take_thought(self, taken: Taken) -> None:
        """Takes out a form that is a complete block of reasoning."""
        (start, end), buffer = taken.content, self._buffer
        self._tail.remove(PieceKind.DELIMITER, start)
        buffer.mark(PieceKind.ENTER, self._tail.waiting)
        buffer.cut(PieceKind.REASONING, end - start)
        buffer.cut(PieceKind.DELIMITER, taken.end - end)
        buffer.mark(PieceKind.EXIT)
        self._tail.shown.removed()

    def completes(self, text: str) -> bool:
        """Whether ``text``, right after a removal, may complete a literal begun before
        the removal, or has to be read step by step for another reason."""
        if self._called_at == PENDING or text[0].isspace():
            return True
        shown, whole = self._tail.shown, self._rules.lexicon.vocabulary.whole
        return shown.code_ahead.promised or bool(completions(whole, shown.before))

    def _after_border(self, final: bool) -> None:
        """Removes text that would complete a literal across a removal (text rule 5.1),
        or a backtick that would lengthen the run that closes a span. If neither comes
        next, clears `Buffer.border`."""
        buffer, tail, lexicon = self._buffer, self._tail, self._rules.lexicon
        if blanks := buffer.blanks():
            tail.show(blanks)
            return
        if self._keeps_promise():
            return
        rest = buffer.ahead(lexicon.literals.longest)
        size = rebuilt(lexicon.vocabulary.whole, tail.before, rest, final=final)
        if size and not self._in_code(final, tag=True):
            tail.remove(PieceKind.REBUILT, size)
        else:
            buffer.border = False
            self._called_at = buffer.place if self._called_at == PENDING else -1

    def _keeps_promise(self) -> bool:
        """Removes the next backtick if it would turn code that was shown into text. If
        text of the line stands before this backtick, shows that text first. Returns
        False if there is nothing to remove or to show."""
        code, buffer = self._tail.shown.code_ahead, self._buffer
        if not code.promised:
            return False
        if code.line is Line.INFO:
            line = buffer.text[buffer.at :].partition("\n")[0]
            if size := len(line.partition("`")[0]):
                self._tail.show(size)
                return True
        elif not code.closing:
            return False
        if buffer.ahead(1) != "`":
            return False
        self._tail.remove(PieceKind.REBUILT, 1)
        return True

    def _in_code(self, final: bool, *, tag: bool, first: bool = False) -> bool:
        """Whether the literal that comes next is in code (text rules 4.1, 4.2, 4.8).

        ``tag``: it is a delimiter. ``first``: it is an opener that begins the answer,
        which is never in indented code (text rule 4.4).
        """
        if tag and self._rules.scope == "everywhere":
            return False
        buffer, tail = self._buffer, self._tail
        state = tail.shown.code_ahead
        if state.is_code:
            return bool(state.fence) or not first
        ahead = state.after() if state.undecided else state
        breaks = tail.trailing is not None and tail.trailing.breaks
        if breaks or not (ahead.runs or ahead.line is Line.INFO):
            return False
        at, limit = buffer.place, buffer.place + tail.room(len(buffer) + 1)
        runs = self._runs = self._runs or RunIndex()
        code = runs.verdict(ahead, buffer.text, buffer.base, at, limit, final)
        if code is None:
            raise UndecidedError
        if not (code or final or runs.ended(limit)):
            self._report_full()
        if code:
            state.promised = True
        return code

    def _is_mention(self, literal: str, final: bool, tag: bool) -> bool:
        """Whether the literal that comes next is only mentioned (text rule 4.6).
        ``tag``: it is a delimiter."""
        if tag and self._rules.scope == "everywhere":
            return False
        words = self._rules.lexicon
        kind, literals = words.vocabulary.kind_of(literal), words.literals
        place = self._tail.place

        def judge(after: str, *, final: bool) -> bool | None:
            return is_mentioned(place, literal, after, kind, literals, final=final)

        if judge("", final=False) is False:
            return False  # the usual case: the text before it decides
        return self._judged(judge, len(literal), WINDOW, final) or False

    def _in_sentence(self, border: str, final: bool) -> bool:
        """Whether the mark or wrapper ``border`` is a word of a sentence (text rule
        12.6). If it is, the closer of a wrapper is text as well."""
        tail, closer = self._tail, f"</{border[1:]}"
        beside = self._buffer.place in (self._called_at, self._bordered)
        word = border.strip("</>").isalpha()
        # its opener was removed: a sentence between them does not make it text
        if border in self._wrapped:
            self._wrapped.remove(border)
            return False
        in_sentence = False
        stands = word or (tail.line_shown and tail.before[-1:].isspace())
        if stands and not (tail.is_start or beside):
            place = BorderPlace(tail.before, tail.line_shown, word)
            literals = self._rules.lexicon.literals
            judge = partial(stands_in_sentence, place, literals)
            in_sentence = self._judged(judge, len(border), WINDOW, final) or False
        if word and border[1] != "/":
            if in_sentence:
                self._candidates.pending[False][closer] += 1
            else:
                self._wrapped.add(closer)
        return in_sentence

    def _pair(self, opener: str, final: bool) -> int:
        """The length of the mentioned pair that begins with ``opener``, such as
        ``<think>...</think>`` in a sentence (text rule 4.12); 0 if none begins."""
        delimiters, tail = self._rules.lexicon.delimiters, self._tail
        closes = opener in delimiters.closers
        if closes or not tail.last or self._rules.scope == "everywhere":
            return 0
        closers = delimiters.partners[opener]
        most = BETWEEN + max(map(len, closers))
        size = self._judged(partial(pair_of, closers=closers), len(opener), most, final)
        return size + len(opener) if size else 0

    def _judged(
        self, judge: Callable[..., T | None], skip: int, most: int, final: bool
    ) -> T | None:
        """The verdict of ``judge`` on the text after the next ``skip`` characters.

        ``judge`` gets at most ``most`` characters, and no more than may be held. Raises
        `UndecidedError` if more text may come and be held. Returns None if ``judge`` is
        undecided at the hold limit.
        """
        room = max(min(self._tail.room(skip + most + 1) - skip, most), 0)
        after = self._buffer.ahead(room + 1, skip=skip)
        verdict = judge(after[:room], final=final)
        if verdict is None and len(after) <= room:
            raise UndecidedError
        if verdict is None:
            self._report_full()
        return verdict

    def _report_full(self) -> None:
        """Reports that the hold limit is reached at this position, once for each
        position."""
        if self._full_at != self._buffer.place:
            self._full_at = self._buffer.place
            self._buffer.mark(PieceKind.FULL)

    def _counts(self, delimiter: str) -> bool:
        """Whether ``delimiter`` counts at this place. With the policy ``boundary``, an
        opener counts only at a line's start and after closing punctuation (text rule
        4.9)."""
        boundary = self._rules.scope == "boundary"
        if not boundary or delimiter in self._rules.lexicon.delimiters.closers:
            return True
        tail = self._tail
        return not tail.line_shown or tail.before[-1:] in CLOSING_PUNCTUATION

    def _begin(self, closers: frozenset[str], *, middle: bool) -> None:
        self._tail.shown.next_orphan = Orphan.NONE
        if self._rules.thinks and self._buffer.place > self.opens_from:
            code = self._tail.shown.code_ahead if middle else None
            self._reasoning.begin(closers, code=code)

    def _is_middle(self) -> bool:
        """Whether the opener that comes next is in mid-sentence (text rule 7.2)."""
        # a structured call or the end of a block interrupts every sentence
        if self._buffer.place == self.flushed:
            return False
        line = self._tail.before[-WINDOW:].rpartition("\n")[2]
        return is_doubtful(line, self._tail.last)
