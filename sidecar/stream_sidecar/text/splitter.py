"""Decides for each character of a channel: is it answer, reasoning or part of a written
form?

A `Splitter` gets a channel's text in any slices and returns pieces (`pieces`). The text
alone decides where a piece ends: however the text is cut, the pieces say the same.
Example: ``<th``, then ``ink>a</think>b``, gives the opener, ``a`` as reasoning, the
closer, and ``b`` as text.

Its parts: a `Buffer` of undecided text, a `CandidateTracker`, the `Tail` of the answer,
and the steps of `InAnswer` and `InReasoning`. It holds only text that it cannot decide
yet:

- a proper prefix of a literal
- a delimiter after an unmatched run of backticks
- a closer in reasoning that may be quoted
- a candidate for a form
- text that waits in the tail

``passage`` (see `fast_path`) is the fast path: it has the pattern for the next slice.
If the pattern finds nothing, the slice becomes one piece, and no step reads it.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from stream_sidecar.forms.candidate import Failed
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.forms.literals import UndecidedError
from stream_sidecar.markdown.code import AT_BEGINNING
from stream_sidecar.markdown.lines import Line
from stream_sidecar.markdown.slices import INDENT
from stream_sidecar.text.buffer import Buffer
from stream_sidecar.text.candidate_tracker import MOST_HALVINGS, CandidateTracker
from stream_sidecar.text.fast_path import (
    MIN_ROOM,
    NO_GATE,
    SLICE_SIZE,
    code_gates,
    fence_gates,
    gate_of,
    in_slices,
    info_gates,
)
from stream_sidecar.text.in_answer import InAnswer
from stream_sidecar.text.in_reasoning import AFTER, InReasoning
from stream_sidecar.text.tail import Tail

if TYPE_CHECKING:
    import re

    from stream_sidecar.forms.candidate import Taken
    from stream_sidecar.markdown.code import CodeState
    from stream_sidecar.text.fast_path import Passage
    from stream_sidecar.text.lexicon import Rules, Share
    from stream_sidecar.text.pieces import Pieces

State: TypeAlias = tuple[int, dict[str, int], bool, tuple[Any, ...]]
"""A position; how many of each closer are pending (see `CandidateTracker`); whether
something was removed right before the position; and the state of the visible text."""


class Splitter:
    """Splits one channel into pieces: ``push`` and ``flush`` return them (text rule
    1.1)."""

    __slots__ = (
        "_answer",
        "_buffer",
        "_candidates",
        "_rules",
        "_tail",
        "begins_no_form",
        "passage",
        "reasoning",
        "shown",
        "verdicts",
    )

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._buffer = buffer = Buffer()
        #: one entry for each piece of kind CALL, RESULT, CITE, SEEN and FAILED
        self.verdicts = buffer.verdicts
        self._tail = tail = Tail(rules, buffer)
        self.shown = tail.shown
        self._candidates = candidates = CandidateTracker(rules, buffer, tail)
        self.begins_no_form = candidates.begins_no_form
        begins_open = rules.begins_open or rules.native
        closers = rules.lexicon.delimiters.closers  # any may close: no opener is seen
        self.reasoning = reasoning = InReasoning(
            rules=rules,
            buffer=buffer,
            candidates=candidates,
            tail=tail,
            closers=closers,
            depth=int(begins_open),
            has_implicit_opener=begins_open,
        )
        self._answer = InAnswer(rules, buffer, candidates, tail, reasoning)
        reasoning_passage = rules.lexicon.reasoning_gates, NO_GATE
        #: the fast path for the next text; None: it has to be read
        self.passage: Passage | None = reasoning_passage if rules.native else None
        if begins_open and not rules.native:
            buffer.add_mark(PieceKind.ENTER)

    def push(self, text: str) -> Pieces:
        """Adds ``text`` and returns the pieces decided by it."""
        if len(text) > SLICE_SIZE:
            return [piece for part in in_slices(text) for piece in self.push(part)]
        return self.show_passed(text) if self.passes(text) else self.read_slice(text)

    def passes(self, text: str) -> bool:
        """Whether ``text`` may be shown unread."""
        if self._buffer.has_gap and text and self._ignores_border(text):
            self._buffer.has_gap = False
            self._set_passage()
        if self.passage is None:
            return False
        gates, gate = self.passage
        passed_part = gates.read_slice(gate, text, self.begins_no_form)
        return passed_part is not None and passed_part[0] == len(text)

    def read_slice(self, text: str) -> Pieces:
        """Adds ``text`` that may matter; returns the decided pieces."""
        self._buffer.text += text
        self._keep_raw(text)
        self._decide_buffer(final=False)
        return self.take_decided()

    def take_decided(self) -> Pieces:
        """The pieces decided since the last call of this method."""
        self.shown.unread = 0
        return self._buffer.take_pieces()

    def flush(self, *, followed: bool = False, called: bool = False) -> Pieces:
        """Decides all held text as if the text ended here, and returns the pieces. More
        text may come: open reasoning, the fence and the line continue.

        ``followed``: a structured call follows. ``called``: a call written in the text
        follows.
        """
        tail, candidate, buffer = self._tail, self._candidates.candidate, self._buffer
        if candidate is not None:
            candidate.called = called
        self._candidates.halvings_left = MOST_HALVINGS
        if self.holds:
            self._decide_buffer(final=True)
            tail.decide_leading(echo=followed and tail.is_echo())
            self._decide_buffer(final=True)
            tail.end_trailing(followed=False)
            if tail.rejects:
                self._decide_buffer(final=True)
                tail.end_trailing(followed=False)
            if followed:
                self.shown.note_call_after(buffer.pieces)
            self.shown.flush(buffer.pieces)
        buffer.has_gap, self.passage = True, None
        self._answer.flushed_at = buffer.place
        return self.take_decided()

    def read_again(self) -> Pieces:
        """Reads the open reasoning again as the answer, in which openers open nothing.
        Returns the pieces. Call this only while nothing is held."""
        self._restart_as_answer(self._buffer.place)
        return self.flush()

    def show_passed(self, text: str) -> Pieces:
        """Shows ``text`` unread: nothing in it matters, and nothing is held."""
        if not text:
            return []
        start = self._buffer.base
        self._buffer.base = end = start + len(text)
        thinks = self.reasoning.depth > 0
        self._keep_raw(text)
        (self.reasoning.note_text if thinks else self.shown.note_passed)(text)
        self._set_passage()
        return [(PieceKind.REASONING if thinks else PieceKind.TEXT, text, start, end)]

    # For the other readers of the channel

    def reopen(self) -> Pieces:
        """Turns the text since the last call into reasoning (text rule 9.2)."""
        self.shown.begin_answer(self._buffer.pieces)
        return self.take_decided()

    # How text is read from here on

    @property
    def holds(self) -> bool:
        """Whether anything is undecided, so that a `flush` may return pieces."""
        buffer, tail = self._buffer, self._tail
        in_tail = tail.trailing or tail.leading or self.shown.holds
        return bool(
            buffer.text or buffer.pieces or self._candidates.candidate or in_tail
        )

    @property
    def held(self) -> int:
        """The number of characters that are held."""
        held, candidate = len(self._buffer.text), self._candidates.candidate
        if candidate is not None:
            held += candidate.size
        return held + self._tail.held

    def share(self) -> Share:
        """The `Share`; the beginning of a literal does not count."""
        size, candidate = len(self._buffer.text), self._candidates.candidate
        uncounted = size if size <= self._rules.lexicon.literals.longest else 0
        call_size = self._tail.call_size
        if candidate is not None and candidate.may_be_call:
            call_size += candidate.size
        return call_size, self.held - uncounted - call_size

    def undeciding_patterns(self) -> tuple[tuple[re.Pattern[str], ...], int]:
        """Patterns, and a number of code points. Text that all patterns match in full,
        of at most so many code points, decides nothing, so it may be read later."""
        candidate = self._candidates.candidate
        patterns = candidate.stays if candidate and not self._buffer.text else ()
        if not candidate or not patterns:
            return (), 0
        limit = candidate.size + SLICE_SIZE
        room = self._tail.room(limit, calls=candidate.may_be_call)
        return patterns, min(room, limit) - candidate.size

    def state(self) -> State:
        """The state on which the reading of further text depends. Call this only while
        nothing is held."""
        buffer, pending = self._buffer, dict(self._candidates.due_closers[False])
        return buffer.base, pending, buffer.has_gap, self.shown.state()

    def settled_state(self) -> State | None:
        """The `state` before the held text; None if some of the held text must not be
        read again."""
        candidate, state = self._candidates.candidate, self.state()
        if candidate is not None:
            state = candidate.start, *state[1:]
        return None if self._tail.held or self._candidates.free_at > state[0] else state

    def resume(self, state: State, size: int) -> None:
        """Continues from ``state``, which the other splitter returned. ``size``: how
        many code points that splitter has shown since this one was last awake (see
        `Rereading`)."""
        _, pending, self._buffer.has_gap, shown = state
        self._buffer.base += size
        self._candidates.due_closers[False].clear()
        self._candidates.due_closers[False].update(pending)
        self.shown.resume(shown)
        self._set_passage()

    def _set_passage(self) -> None:
        buffer, tail = self._buffer, self._tail
        needs_steps = (
            buffer.text or buffer.has_gap or self._candidates.candidate or tail.trailing
        )
        passage = None if needs_steps else self._next_passage()
        self.passage = passage if passage and tail.room(MIN_ROOM) >= MIN_ROOM else None

    def _ignores_border(self, text: str) -> bool:
        """Whether a removal before ``text`` makes no difference."""
        return not (
            self.holds or self.reasoning.depth or self._answer.may_complete(text)
        )

    def _next_passage(self) -> Passage | None:
        """The `Passage` (fast path) for the next text; None if the steps have to read
        it. Call this only while nothing is held."""
        lexicon, shown = self._rules.lexicon, self.shown
        if self.reasoning.depth:
            is_after = self.reasoning.line_place in AFTER
            return None if is_after else (lexicon.reasoning_gates, NO_GATE)
        if shown.holds:
            return None
        code = shown.code
        if shown.fences_pass and (code.fence or code.line is Line.CODE):
            is_whole_line = code.fills_line or code.line is Line.INFO
            if is_whole_line or 0 < code.indent <= INDENT:
                return self._passage_of_code(code)
        gates = lexicon.gates_of(fences_pass=shown.fences_pass)
        if shown.begins_line and code.at_beginning:
            return gates, gate_of("")
        if shown.line_shown and code.line is not Line.INFO:
            line_beginning = code.line in AT_BEGINNING and code.undecided
            return gates, gate_of(line_beginning) if line_beginning else NO_GATE
        return None

    def _passage_of_code(self, code: CodeState) -> Passage | None:
        """The `Passage` in fenced or indented code, or None."""
        shown, lexicon, indent = self.shown, self._rules.lexicon, code.indent
        gates = code_gates(indent) if indent else fence_gates(code.fence, lexicon.gates)
        if code.line is Line.INFO:
            return info_gates(lexicon.literals, gates), NO_GATE
        if code.line is Line.CODE:
            return gates, NO_GATE
        fence_lasts = not indent or (shown.begins_line and code.at_beginning)
        # Otherwise the fence may end at this line.
        return (gates, gate_of(code.undecided)) if fence_lasts else None

    # Steps

    def _decide_buffer(self, *, final: bool) -> None:
        """Decides the buffer's text as far as possible, and drops the decided part."""
        with suppress(UndecidedError):
            self._run_steps(final)
        self._buffer.drop_decided()
        self._set_passage()

    def _run_steps(self, final: bool) -> None:
        """Runs steps until the buffer is empty, or one raises `UndecidedError`."""
        buffer, tail, candidates = self._buffer, self._tail, self._candidates
        while tail.rejects or candidates.candidate or buffer.index < len(buffer.text):
            depth = self.reasoning.depth
            if tail.rejects:
                self._reread_refused()
                continue
            if candidates.candidate:
                self._read_candidate(final)
            else:
                (self.reasoning if depth else self._answer).decide_next(final=final)
            if depth and not self.reasoning.depth:
                self.shown.note_removal()
            if self.reasoning.must_read_again:
                self._restart_as_answer(buffer.place)

    def _keep_raw(self, text: str) -> None:
        """Keeps the raw ``text`` if reasoning may have to be read again."""
        if self.reasoning.doubt is not None:
            self.reasoning.doubt.keep_text(text)

    def _restart_as_answer(self, end: int) -> None:
        """Puts the doubtful reasoning's raw text back into the buffer, to be read again
        as the answer (text rule 7.4). No opener before position ``end`` opens
        reasoning.

        Exception: if a closer stands in a fence that never closes, without an opener in
        that fence, the text up to this closer stays reasoning.
        """
        reasoning, buffer = self.reasoning, self._buffer
        doubt, reasoning.doubt, reasoning.must_read_again = reasoning.doubt, None, False
        assert doubt is not None  # the caller looked
        reasoning.depth, self._answer.opens_from = 0, end
        self._candidates.free_at, buffer.has_gap = 0, True
        buffer.pieces.append((PieceKind.AGAIN, "", doubt.start, end))
        buffer.put_back("".join(doubt.text_parts), doubt.start)
        if doubt.closer is not None:
            closer_start, closer_end = doubt.closer
            buffer.add_mark(PieceKind.ENTER)
            buffer.cut_piece(PieceKind.REASONING, closer_start - doubt.start)
            buffer.cut_piece(PieceKind.DELIMITER, closer_end - closer_start)
            buffer.add_mark(PieceKind.EXIT)
        self._answer.restart(buffer.place)

    def _read_candidate(self, final: bool) -> None:
        """Passes all the buffer's text to the candidate, and handles its verdict."""
        verdict = self._candidates.read_candidate(final=final)
        if not isinstance(verdict, Failed):
            self._take_form(verdict)
            return
        if verdict.full and self._tail.leading is not None:
            self._tail.decide_leading(echo=False)  # as at the end
            self._reread_refused()
        self._candidates.forget_if_reopened()
        self._candidates.drop_candidate(verdict, in_reasoning=self.reasoning.depth > 0)
        if not self.reasoning.depth:
            self._answer.decide_failed_opener(final=final)

    def _take_form(self, form: Taken) -> None:
        """Takes out a form that is not quoted or left by the policy."""
        buffer = self._buffer
        if self.reasoning.depth and self.reasoning.open_quotation(form):
            return
        is_seen = form.kind is PieceKind.CALL and self._rules.context.calls == "report"
        if is_seen and not form.waits:
            buffer.report_call(form, buffer.peek(form.end), buffer.base)
            self._candidates.free_at = buffer.base + form.end
        elif self.reasoning.depth:
            self.reasoning.take_out_form(form)
        else:
            self._answer.take_out_form(form)

    def _reread_refused(self) -> None:
        """Reads text again that waited in the tail and turned out to be text. No
        candidate may begin in it. Removed reasoning may stand between its parts, and
        stop tokens after it."""
        buffer, tail = self._buffer, self._tail
        rejects, tail.rejects = tail.rejects, []
        saved_state = buffer.text, buffer.base, buffer.index, buffer.has_gap
        trailing, tail.trailing, buffer.has_gap = tail.trailing, None, False
        for text, start, _ in rejects:
            self._keep_raw(text)
            if not text:
                (tail.trailing or tail.shown).note_removal()
            buffer.put_back(text, start)
            self._candidates.free_at = start + len(text)
            self._answer.restart(start)
            self._run_steps(final=True)
        tail.trailing = tail.trailing or trailing
        buffer.text, buffer.base, buffer.index, buffer.has_gap = saved_state
        self._keep_raw(buffer.text[buffer.index :])
        self._answer.restart(buffer.place)
