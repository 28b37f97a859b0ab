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
    MOST_GAP,
    WINDOW,
    After,
    BorderPlace,
    after_closer,
    is_mentioned,
    pair_of,
    sentence_goes_on,
    stands_in_sentence,
)
from stream_sidecar.text.pieces import FORM_KINDS
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
"""In `InAnswer._call_end`: nothing but blanks has come since a call or its result."""


@define(eq=False)
class InAnswer:
    """The steps of the answer. The fields spare a step what is known."""

    _rules: Rules
    _buffer: Buffer
    _candidates: CandidateTracker
    _tail: Tail
    _reasoning: InReasoning
    _tried_at: int = -1  # the last line's start where no form begins
    opens_from: int = 0  # an opener before this position opens nothing
    flushed_at: int = -1  # where a structured call or a block's end decided held text
    _border_end: int = -1  # the position right after the last mark or wrapper
    _wrapper_closers: set[str] = field(factory=set)  # closers of removed wrappers
    _hold_limit_at: int = -1  # the last position where the hold limit was reached
    _call_end: int = -1  # the position after the last call and blanks, or `PENDING`
    _no_literal_before: int = 0  # no literal begins before this position
    _run_index: RunIndex | None = None

    def restart(self, start: int) -> None:
        """Continues at position ``start``: forgets what is known of the text ahead."""
        self._run_index, self._no_literal_before = None, start

    def decide_next(self, *, final: bool) -> None:
        """Decides the next characters, up to the next place that may matter. Raises
        `UndecidedError` if this needs more text."""
        buffer, tail, lexicon = self._buffer, self._tail, self._rules.lexicon
        if buffer.has_gap:
            self._decide_after_removal(final)
            return
        code = tail.shown.code_ahead
        # nothing in such a line counts, so it is shown without a search for literals
        if code.fills_line and tail.shown.fences_pass:
            tail.show_next(code.filled(buffer.text, buffer.index) - buffer.index)
            return
        if self._may_begin_line(code) and self._decide_line_start(final):
            return
        search_start = max(buffer.index, self._no_literal_before - buffer.base)
        end, literal = lexicon.literals.next(buffer.text, search_start, final=final)
        self._no_literal_before = buffer.base + end
        line_opener_at = lexicon.find_line_opener(buffer.text, buffer.index, end)
        if line_opener_at is not None:  # a line may begin where the literal stands
            end = line_opener_at
        if end > buffer.index:
            tail.show_next(end - buffer.index, final=final)
        elif literal is None:
            raise UndecidedError
        else:
            self._decide_literal(literal, final)

    def _may_begin_line(self, code: CodeState) -> bool:
        """Whether an opener of a line's start counts here."""
        position = self._buffer.place
        was_read = position < self._candidates.free_at or position == self._tried_at
        return not (was_read or self._tail.line_shown or code.is_code)

    def _decide_line_start(self, final: bool) -> bool:
        """Begins a candidate if an opener of a line's start comes next, or shows the
        blanks before such an opener. Returns False if neither comes next."""
        buffer, lexicon = self._buffer, self._rules.lexicon
        if blanks := buffer.count_blanks():
            self._tail.show_next(blanks)
            return True
        at_start, after_call = self._tail.is_start, buffer.place == self._call_end
        place = buffer.text, buffer.index
        openings = lexicon.openings_at(
            *place, at_start=at_start, after_call=after_call, final=final
        )
        if self._tail.shown.elements.names:
            openings = [opening for opening in openings if not opening.form.element]
        # the line before is not complete, so this may be an item of code (11.6)
        if openings and self._tail.leaves_code_open:
            openings = [opening for opening in openings if opening.form.tier != "C"]
        if openings:
            literal = lexicon.literals.any.match(*place)
            if not (literal and lexicon.overlap_size(*place, literal[0], final=final)):
                self._candidates.try_forms(tuple(openings), in_reasoning=False)
                return True
        self._tried_at = buffer.place
        return False

    def _decide_literal(self, literal: str, final: bool) -> None:
        buffer, lexicon, tail = self._buffer, self._rules.lexicon, self._tail
        is_tag = literal in lexicon.delimiters.literals
        place = buffer.text, buffer.index
        if overlap := lexicon.overlap_size(*place, literal, final=final):
            self._tail.show_next(overlap)
            return
        at_start = (
            is_tag and literal not in lexicon.delimiters.closers and tail.shown.is_start
        )
        if self._is_mention(literal, final, is_tag):
            is_text = True
            if literal in lexicon.delimiters.closers:
                self._show_named(literal, len(literal), -1)
                return
        else:
            is_text = self._is_in_code(final, is_tag=is_tag, at_start=at_start)
        if not is_text and literal in lexicon.vocabulary.borders:
            is_text = self._is_in_sentence(literal, final)
        if is_tag and not is_text and self._is_named(literal, final):
            return
        if not is_tag:
            if not is_text and self._handle_call(literal):
                return
            if size := lexicon.delimiters.size_without(literal):
                self._tail.show_next(size)
                return
            literal = lexicon.delimiter_at(*place)
            # under `everywhere` code quotes calls, but no delimiters (text rule 4.8)
            is_text = is_text and self._rules.scope != "everywhere"
        self._decide_delimiter(literal, final, is_text=is_text)

    def _decide_delimiter(self, delimiter: str, final: bool, *, is_text: bool) -> None:
        """Decides the delimiter that comes next: it begins reasoning, is a stray, or is
        text (text rule 3.6). ``is_text``: it is code or a mention, so it is text."""
        if is_text or not self._is_effective(delimiter):
            self._tail.show_next(len(delimiter))
        elif delimiter in self._rules.lexicon.delimiters.closers:
            if self._is_attributed(delimiter):
                self._tail.show_next(len(delimiter))
                return
            after = self._after_closer(delimiter, final)
            if after is not After.SENTENCE:
                self._tail.handle_orphan(is_headed=after is After.ANSWER)
            self._tail.remove_next(PieceKind.STRAY, len(delimiter))
        else:
            mid_sentence = self._is_in_mid_sentence()
            self._tail.remove_next(PieceKind.DELIMITER, len(delimiter))
            closers = self._rules.lexicon.delimiters.partners[delimiter]
            self._begin_block(closers, mid_sentence=mid_sentence)

    def _after_closer(self, closer: str, final: bool) -> After:
        """What stands after ``closer``, which has no opener (text rule 9.6)."""
        headers = self._rules.lexicon.vocabulary.headers.get(closer, ())
        if not headers or self._tail.shown.next_orphan is Orphan.NONE:
            return After.OTHER
        judge = partial(after_closer, headers=headers)
        limit = 1 + max(map(len, headers))
        return self._judge(judge, len(closer), limit, final) or After.OTHER

    def _is_attributed(self, closer: str) -> bool:
        """Whether ``closer`` closes an opener with attributes that was shown as text
        (text rule 4.13). Where reasoning may have begun in the prompt, only an opener
        on the same line counts."""
        if not self._candidates.is_pending(closer, in_reasoning=False):
            return False
        line = self._tail.prefix.rpartition("\n")[2]
        opener = closer.replace("/", "", 1).rstrip(">")
        return self._rules.orphan is not Orphan.ARMED or opener in line

    def _handle_call(self, literal: str) -> bool:
        """Handles the mark, the closer of a call or the opener that comes next (text
        rule 12.3). Returns False if ``literal`` is text here."""
        words, candidates = self._rules.lexicon.vocabulary, self._candidates
        tail = self._tail
        candidates.forget_if_reopened()
        was_tried = self._buffer.place < candidates.free_at  # text: time is linear
        if was_tried or candidates.is_pending(literal, in_reasoning=False):
            return False
        after_call = tail.is_start or self._buffer.place == self._call_end
        openings = words.forms_of(literal, after_call=after_call)
        if openings and not tail.ends_sentence:
            openings = tuple(
                each for each in openings if each.form.place != "sentence-end"
            )
        closer = words.closers.get(literal)
        if literal in words.exits or literal in words.marks or (closer and after_call):
            tail.remove_next(PieceKind.MARK, len(literal))
            self._call_end = PENDING if closer else -1
            self._border_end = -1 if closer else self._buffer.place
            if literal in words.exits:  # so this is the answer already
                tail.shown.next_orphan = Orphan.NONE
        elif closer:
            tail.hold_form(closer)
        elif not openings:
            return False
        else:
            candidates.try_forms(openings, in_reasoning=False)
        return True

    def decide_failed_opener(self, *, final: bool) -> None:
        """Handles the literal of a candidate that failed."""
        buffer = self._buffer
        if literal := self._rules.lexicon.literals.any.match(buffer.text, buffer.index):
            self._decide_literal(literal[0], final)

    def take_out_form(self, form: Taken) -> None:
        """Takes out the form, or lets it wait (text rule 2.3)."""
        buffer = self._buffer
        if form.kind is PieceKind.ENTER and form.content:
            self._take_thought(form)
        elif form.kind is PieceKind.ENTER:
            self._tail.remove_next(PieceKind.DELIMITER, form.end)
            self._begin_block(self._reasoning.closers_after(form), mid_sentence=False)
        elif form.waits and not (form.opening.form.called and self._tail.trailing):
            self._tail.hold_form(form)
            buffer.has_gap |= form.kind is PieceKind.CALL or form.opening.form.called
        else:
            if form.kind is PieceKind.CALL and self._tail.is_echo():
                self._tail.decide_leading(echo=True)
            if form.kind in FORM_KINDS:
                buffer.verdicts.append(form)
            if form.kind is PieceKind.CALL:
                self._tail.shown.note_call_after(buffer.pieces)
            is_exit = form.kind is PieceKind.EXIT
            self._tail.remove_next(PieceKind.MARK if is_exit else form.kind, form.end)
            if is_exit:
                self._tail.shown.next_orphan = Orphan.NONE
        ends_call = buffer.has_gap and form.kind in (PieceKind.CALL, PieceKind.RESULT)
        self._call_end = PENDING if ends_call else -1

    def _take_thought(self, form: Taken) -> None:
        """Takes out a form that is a complete block of reasoning."""
        (start, end), buffer = form.content, self._buffer
        self._tail.remove_next(PieceKind.DELIMITER, start)
        buffer.add_mark(PieceKind.ENTER, self._tail.waiting_size)
        buffer.cut_piece(PieceKind.REASONING, end - start)
        buffer.cut_piece(PieceKind.DELIMITER, form.end - end)
        buffer.add_mark(PieceKind.EXIT)
        self._tail.shown.note_removal()

    def may_complete(self, text: str) -> bool:
        """Whether ``text`` after a removal has to be read in steps."""
        if self._call_end == PENDING or text[0].isspace():
            return True
        shown, guarded = self._tail.shown, self._rules.lexicon.vocabulary.guarded
        return shown.code_ahead.promised or bool(completions(guarded, shown.prefix))

    def _decide_after_removal(self, final: bool) -> None:
        """Removes text that would complete a literal across a removal (text rule 5.1),
        or a backtick that would lengthen the run that closes a span. If neither comes
        next, clears `Buffer.has_gap`."""
        buffer, tail, lexicon = self._buffer, self._tail, self._rules.lexicon
        if blanks := buffer.count_blanks():
            tail.show_next(blanks)
            return
        if self._keep_promised_code():
            return
        next_text = buffer.peek(lexicon.literals.longest)
        size = rebuilt(lexicon.vocabulary.guarded, tail.prefix, next_text, final=final)
        if size and not self._is_in_code(final, is_tag=True):
            tail.remove_next(PieceKind.REBUILT, size)
        else:
            buffer.has_gap = False
            self._call_end = buffer.place if self._call_end == PENDING else -1

    def _keep_promised_code(self) -> bool:
        """Removes the next backtick if it would turn code that was shown into text. If
        text of the line stands before this backtick, shows that text first. Returns
        False if there is nothing to remove or to show."""
        code, buffer = self._tail.shown.code_ahead, self._buffer
        if not code.promised:
            return False
        if code.line is Line.INFO:
            line = buffer.text[buffer.index :].partition("\n")[0]
            if size := len(line.partition("`")[0]):
                self._tail.show_next(size)
                return True
        elif not code.closing:
            return False
        if buffer.peek(1) != "`":
            return False
        self._tail.remove_next(PieceKind.REBUILT, 1)
        return True

    def _is_in_code(self, final: bool, *, is_tag: bool, at_start: bool = False) -> bool:
        """Whether the literal that comes next is in code (text rules 4.1, 4.2, 4.8).

        ``is_tag``: it is a delimiter. ``at_start``: it is an opener that begins the
        answer, which is never in indented code (text rule 4.4).
        """
        if is_tag and self._rules.scope == "everywhere":
            return False
        buffer, tail = self._buffer, self._tail
        ahead_code = tail.shown.code_ahead
        if ahead_code.is_code:
            return bool(ahead_code.fence) or not at_start
        line_code = ahead_code.after() if ahead_code.undecided else ahead_code
        has_line_break = tail.trailing is not None and tail.trailing.has_line_break
        if has_line_break or not (line_code.runs or line_code.line is Line.INFO):
            return False
        place, limit = buffer.place, buffer.place + tail.room(len(buffer) + 1)
        runs = self._run_index = self._run_index or RunIndex()
        is_code = runs.verdict(line_code, buffer.text, buffer.base, place, limit, final)
        if is_code is None:
            raise UndecidedError
        if not (is_code or final or runs.ended(limit)):
            self._report_full()
        if is_code:
            ahead_code.promised = True
        return is_code

    def _is_mention(self, literal: str, final: bool, is_tag: bool) -> bool:
        """Whether the literal is only mentioned (text rule 4.6)."""
        if is_tag and self._rules.scope == "everywhere":
            return False
        lexicon = self._rules.lexicon
        kind, literals = lexicon.vocabulary.kind_of(literal), lexicon.literals
        place = self._tail.place

        def judge(text: str, *, final: bool) -> bool | None:
            return is_mentioned(place, literal, text, kind, literals, final=final)

        if judge("", final=False) is False:
            return False  # the usual case: the text before it decides
        return self._judge(judge, len(literal), WINDOW, final) or False

    def _is_in_sentence(self, border: str, final: bool) -> bool:
        """Whether the mark or wrapper ``border`` is a word of a sentence (text rule
        12.6). If it is, the closer of a wrapper is text as well."""
        tail, closer = self._tail, f"</{border[1:]}"
        is_beside = self._buffer.place in (self._call_end, self._border_end)
        is_word = border.strip("</>").isalpha()
        # its opener was removed: a sentence between them does not make it text
        if border in self._wrapper_closers:
            self._wrapper_closers.remove(border)
            return False
        in_sentence = False
        may_be_word = is_word or (tail.line_shown and tail.prefix[-1:].isspace())
        if may_be_word and not (tail.is_start or is_beside):
            place = BorderPlace(tail.prefix, tail.line_shown, is_word)
            literals = self._rules.lexicon.literals
            judge = partial(stands_in_sentence, place, literals)
            in_sentence = self._judge(judge, len(border), WINDOW, final) or False
        if is_word and border[1] != "/":
            if in_sentence:
                self._candidates.due_closers[False][closer] += 1
            else:
                self._wrapper_closers.add(closer)
        return in_sentence

    def _is_named(self, delimiter: str, final: bool) -> bool:
        """Whether a sentence names ``delimiter``, alone or with its partner (text rules
        4.12 and 4.14). If it does, shows it."""
        tail, delimiters = self._tail, self._rules.lexicon.delimiters
        closers, size = delimiters.partners[delimiter], len(delimiter)
        if self._rules.scope == "everywhere" or not tail.last_visible or tail.is_armed:
            return False
        is_closer = delimiter in delimiters.closers
        limit = MOST_GAP + delimiters.longest
        goes_on = partial(sentence_goes_on, delimiters=delimiters)
        if is_closer:
            is_named = closers in tail.shown.mentions and (
                closers in tail.shown.line_mentions
                or self._judge(goes_on, size, limit, final)
            )
        elif pair_end := self._judge(
            partial(pair_of, closers=closers), size, limit, final
        ):
            return self._show_named(delimiter, size + pair_end, -1)
        else:
            is_named = self._judge(goes_on, size, limit, final)
        return bool(is_named) and self._show_named(
            delimiter, size, -1 if is_closer else 1
        )

    def _show_named(self, delimiter: str, size: int, count: int) -> bool:
        """Shows the next ``size`` characters, in which a sentence names ``delimiter``.
        ``count``: how many more closers of its pair are to be named after it."""
        start = self._buffer.place
        self._tail.show_next(size)
        if self._buffer.place > start:  # else something that waited is read first
            closers = self._rules.lexicon.delimiters.partners[delimiter]
            self._tail.shown.note_mention(closers, count)
        return True

    def _judge(
        self, judge: Callable[..., T | None], skip: int, limit: int, final: bool
    ) -> T | None:
        """The verdict of ``judge`` on the text after the next ``skip`` characters.

        ``judge`` gets at most ``limit`` characters, and no more than may be held.
        Raises `UndecidedError` if more text may come and be held. Returns None if
        ``judge`` is undecided at the hold limit.
        """
        window = max(min(self._tail.room(skip + limit + 1) - skip, limit), 0)
        text = self._buffer.peek(window + 1, skip=skip)
        verdict = judge(text[:window], final=final)
        if verdict is None and len(text) <= window:
            raise UndecidedError
        if verdict is None:
            self._report_full()
        return verdict

    def _report_full(self) -> None:
        """Reports the hold limit, once for each position."""
        if self._hold_limit_at != self._buffer.place:
            self._hold_limit_at = self._buffer.place
            self._buffer.add_mark(PieceKind.FULL)

    def _is_effective(self, delimiter: str) -> bool:
        """Whether ``delimiter`` counts at this place. With the policy ``boundary``, an
        opener counts only at a line's start and after closing punctuation (text rule
        4.9)."""
        needs_boundary = self._rules.scope == "boundary"
        if not needs_boundary or delimiter in self._rules.lexicon.delimiters.closers:
            return True
        tail = self._tail
        return not tail.line_shown or tail.prefix[-1:] in CLOSING_PUNCTUATION

    def _begin_block(self, closers: frozenset[str], *, mid_sentence: bool) -> None:
        self._tail.shown.next_orphan = Orphan.NONE
        if self._rules.opens_reasoning and self._buffer.place > self.opens_from:
            code = self._tail.shown.code_ahead if mid_sentence else None
            self._reasoning.enter(closers, code=code)

    def _is_in_mid_sentence(self) -> bool:
        """Whether the opener that comes next is in mid-sentence (text rule 7.2)."""
        # a structured call or the end of a block interrupts every sentence
        if self._buffer.place == self.flushed_at:
            return False
        line = self._tail.prefix[-WINDOW:].rpartition("\n")[2]
        return is_doubtful(line, self._tail.last_visible)
