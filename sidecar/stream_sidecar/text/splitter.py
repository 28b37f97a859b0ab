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
    AT_ONCE,
    INSIDE,
    ROOM,
    in_code,
    in_fence,
    in_info,
    in_slices,
    on,
)
from stream_sidecar.text.in_answer import InAnswer
from stream_sidecar.text.in_reasoning import InReasoning, LinePlace
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
        "fails",
        "passage",
        "reasoning",
        "shown",
        "taken",
    )

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._buffer = buffer = Buffer()
        #: one entry for each piece of kind CALL, RESULT, CITE, SEEN and FAILED
        self.taken = buffer.taken
        self._tail = tail = Tail(rules, buffer)
        self.shown = tail.shown
        self._candidates = candidates = CandidateTracker(rules, buffer, tail)
        self.fails = candidates.fails
        opened = rules.opened or rules.native
        closers = rules.lexicon.delimiters.closers  # any may close: no opener is seen
        self.reasoning = reasoning = InReasoning(
            rules=rules,
            buffer=buffer,
            candidates=candidates,
            tail=tail,
            closers=closers,
            depth=int(opened),
            implicit=opened,
        )
        self._answer = InAnswer(rules, buffer, candidates, tail, reasoning)
        thought = rules.lexicon.thought, INSIDE
        #: the fast path for the next text; None: it has to be read
        self.passage: Passage | None = thought if rules.native else None
        if opened and not rules.native:
            buffer.mark(PieceKind.ENTER)

    def push(self, text: str) -> Pieces:
        """Adds ``text`` and returns the pieces decided by it."""
        if len(text) > AT_ONCE:
            return [piece for part in in_slices(text) for piece in self.push(part)]
        return self.passed(text) if self.passes(text) else self.read(text)

    def passes(self, text: str) -> bool:
        """Whether ``text`` may be shown unread: nothing in it matters, and nothing is
        held."""
        if self._buffer.border and text and self._ignores_border(text):
            self._buffer.border = False
            self._set_passage()
        if self.passage is None:
            return False
        gates, gate = self.passage
        read = gates.read(gate, text, self.fails)
        return read is not None and read[0] == len(text)

    def read(self, text: str) -> Pieces:
        """Adds ``text``, in which something may matter, and returns the pieces decided
        by it."""
        self._buffer.text += text
        self._keep(text)
        self._read(final=False)
        return self.given()

    def given(self) -> Pieces:
        """The pieces decided since the last call of this method."""
        self.shown.unread = 0
        return self._buffer.give()

    def flush(self, *, followed: bool = False, called: bool = False) -> Pieces:
        """Decides all held text as if the text ended here, and returns the pieces. More
        text may come: open reasoning, the fence and the line continue.

        ``followed``: a structured call follows. ``called``: a call written in the text
        follows.
        """
        tail, candidate, buffer = self._tail, self._candidates.candidate, self._buffer
        if candidate is not None:
            candidate.called = called
        self._candidates.halvings = MOST_HALVINGS
        if self.waits:
            self._read(final=True)
            tail.decide(echo=followed and tail.is_echo())
            self._read(final=True)
            tail.end_trailing(followed=False)
            if tail.refused:
                self._read(final=True)
                tail.end_trailing(followed=False)
            if followed:
                self.shown.followed(buffer.pieces)
            self.shown.flush(buffer.pieces)
        buffer.border, self.passage = True, None
        self._answer.flushed = buffer.place
        return self.given()

    def read_again(self) -> Pieces:
        """Reads the open reasoning again as the answer, in which openers open nothing.
        Returns the pieces. Call this only while nothing is held."""
        self._read_again(self._buffer.place)
        return self.flush()

    def passed(self, text: str) -> Pieces:
        """Shows ``text`` unread: nothing in it matters, and nothing is held."""
        if not text:
            return []
        start = self._buffer.base
        self._buffer.base = end = start + len(text)
        thinks = self.reasoning.depth > 0
        self._keep(text)
        (self.reasoning.note if thinks else self.shown.passed)(text)
        self._set_passage()
        return [(PieceKind.REASONING if thinks else PieceKind.TEXT, text, start, end)]

    # For the other readers of the channel

    def reopen(self) -> Pieces:
        """Turns all text that was shown since the last tool call into reasoning: a new
        answer begins here (text rule 9.2). Returns the pieces."""
        self.shown.begin(self._buffer.pieces)
        return self.given()

    # How text is read from here on

    @property
    def waits(self) -> bool:
        """Whether anything is undecided, so that a `flush` may return pieces."""
        buffer, tail = self._buffer, self._tail
        waits = tail.trailing or tail.leading or self.shown.waits
        return bool(buffer.text or buffer.pieces or self._candidates.candidate or waits)

    @property
    def held(self) -> int:
        """The number of characters that are held."""
        held, candidate = len(self._buffer.text), self._candidates.candidate
        if candidate is not None:
            held += candidate.size
        return held + self._tail.held

    def share(self) -> Share:
        """The `Share` of this splitter: the held code points that count against the
        limits. The beginning of a literal does not count."""
        begun, candidate = len(self._buffer.text), self._candidates.candidate
        free = begun if begun <= self._rules.lexicon.literals.longest else 0
        calls = self._tail.called
        if candidate is not None and candidate.may_be_call:
            calls += candidate.size
        return calls, self.held - free - calls

    def stays(self) -> tuple[tuple[re.Pattern[str], ...], int]:
        """Patterns, and a number of code points. Text that all patterns match in full,
        of at most so many code points, decides nothing, so it may be read later."""
        candidate = self._candidates.candidate
        found = candidate.stays if candidate and not self._buffer.text else ()
        if not candidate or not found:
            return (), 0
        most = candidate.size + AT_ONCE
        room = self._tail.room(most, calls=candidate.may_be_call)
        return found, min(room, most) - candidate.size

    def state(self) -> State:
        """The state on which the reading of further text depends. Call this only while
        nothing is held."""
        buffer, pending = self._buffer, dict(self._candidates.pending[False])
        return buffer.base, pending, buffer.border, self.shown.state()

    def settled_state(self) -> State | None:
        """The `state` before the held text; None if some of the held text must not be
        read again."""
        candidate, state = self._candidates.candidate, self.state()
        if candidate is not None:
            state = candidate.start, *state[1:]
        return None if self._tail.held or self._candidates.free > state[0] else state

    def resume(self, state: State, size: int) -> None:
        """Continues from ``state``, which the other splitter returned. ``size``: how
        many code points that splitter has shown since this one was last awake (see
        `Rereading`)."""
        _, pending, self._buffer.border, shown = state
        self._buffer.base += size
        self._candidates.pending[False].clear()
        self._candidates.pending[False].update(pending)
        self.shown.resume(shown)
        self._set_passage()

    def _set_passage(self) -> None:
        """Sets ``passage`` for the text that comes next."""
        buffer, tail = self._buffer, self._tail
        odd = (
            buffer.text or buffer.border or self._candidates.candidate or tail.trailing
        )
        passage = None if odd else self._next_passage()
        self.passage = passage if passage and tail.room(ROOM) >= ROOM else None

    def _ignores_border(self, text: str) -> bool:
        """Whether a removal right before ``text`` makes no difference for reading
        ``text``."""
        return not (self.waits or self.reasoning.depth or self._answer.completes(text))

    def _next_passage(self) -> Passage | None:
        """The `Passage` (fast path) for the next text; None if the steps have to read
        it. Call this only while nothing is held."""
        lexicon, shown = self._rules.lexicon, self.shown
        if self.reasoning.depth:
            after_opener = self.reasoning.place is LinePlace.AFTER_OPENER
            return None if after_opener else (lexicon.thought, INSIDE)
        if shown.waits:
            return None
        code = shown.code
        if shown.fences_pass and (code.fence or code.line is Line.CODE):
            fills = code.fills_line or code.line is Line.INFO
            if fills or 0 < code.indent <= INDENT:
                return self._passage_of_code(code)
        gates = lexicon.gates_of(fences_pass=shown.fences_pass)
        if shown.begins_line and code.at_beginning:
            return gates, on("")
        if shown.line_shown and code.line is not Line.INFO:
            begun = code.line in AT_BEGINNING and code.undecided
            return gates, on(begun) if begun else INSIDE
        return None

    def _passage_of_code(self, code: CodeState) -> Passage | None:
        """The `Passage` (fast path) in fenced or indented code; None if the steps have
        to read the text."""
        shown, lexicon, indent = self.shown, self._rules.lexicon, code.indent
        gates = in_code(indent) if indent else in_fence(code.fence, lexicon.gates)
        if code.line is Line.INFO:
            return in_info(lexicon.literals, gates), INSIDE
        if code.line is Line.CODE:
            return gates, INSIDE
        known = not indent or (shown.begins_line and code.at_beginning)
        # Otherwise the fence may end at this line.
        return (gates, on(code.undecided)) if known else None

    # Steps

    def _read(self, *, final: bool) -> None:
        """Decides the buffer's text as far as possible, and drops the decided part."""
        with suppress(UndecidedError):
            self._decide(final)
        self._buffer.forget()
        self._set_passage()

    def _decide(self, final: bool) -> None:
        """Runs steps until the buffer is empty, or one raises `UndecidedError`."""
        buffer, tail, candidates = self._buffer, self._tail, self._candidates
        while tail.refused or candidates.candidate or buffer.at < len(buffer.text):
            depth = self.reasoning.depth
            if tail.refused:
                self._reread()
                continue
            if candidates.candidate:
                self._read_candidate(final)
            else:
                (self.reasoning if depth else self._answer).step(final=final)
            if depth and not self.reasoning.depth:
                self.shown.removed()
            if self.reasoning.again:
                self._read_again(buffer.place)

    def _keep(self, text: str) -> None:
        """Keeps the raw ``text`` if reasoning may have to be read again."""
        if self.reasoning.doubt is not None:
            self.reasoning.doubt.keep(text)

    def _read_again(self, end: int) -> None:
        """Puts the doubtful reasoning's raw text back into the buffer, to be read again
        as the answer (text rule 7.4). No opener before position ``end`` opens
        reasoning.

        Exception: if a closer stands in a fence that never closes, without an opener in
        that fence, the text up to this closer stays reasoning.
        """
        reasoning, buffer = self.reasoning, self._buffer
        doubt, reasoning.doubt, reasoning.again = reasoning.doubt, None, False
        assert doubt is not None  # the caller looked
        reasoning.depth, self._answer.opens_from = 0, end
        self._candidates.free, buffer.border = 0, True
        buffer.pieces.append((PieceKind.AGAIN, "", doubt.start, end))
        buffer.put_back("".join(doubt.parts), doubt.start)
        if doubt.closer is not None:
            start, end_of_closer = doubt.closer
            buffer.mark(PieceKind.ENTER)
            buffer.cut(PieceKind.REASONING, start - doubt.start)
            buffer.cut(PieceKind.DELIMITER, end_of_closer - start)
            buffer.mark(PieceKind.EXIT)
        self._answer.restart(buffer.place)

    def _read_candidate(self, final: bool) -> None:
        """Passes all the buffer's text to the candidate, and handles its verdict."""
        verdict = self._candidates.read(final=final)
        if not isinstance(verdict, Failed):
            self._take_out(verdict)
            return
        if verdict.full and self._tail.leading is not None:
            self._tail.decide(echo=False)  # as at the end
            self._reread()
        self._candidates.renew()
        self._candidates.fail(verdict, inside=self.reasoning.depth > 0)
        if not self.reasoning.depth:
            self._answer.leave(final=final)

    def _take_out(self, taken: Taken) -> None:
        """Takes out the form ``taken``, unless it may be quoted or the policy leaves
        calls in the text."""
        buffer = self._buffer
        if self.reasoning.depth and self.reasoning.may_quote(taken):
            return
        seen = taken.kind is PieceKind.CALL and self._rules.context.calls == "report"
        if seen and not taken.waits:
            buffer.report_call(taken, buffer.ahead(taken.end), buffer.base)
            self._candidates.free = buffer.base + taken.end
        elif self.reasoning.depth:
            self.reasoning.take_out(taken)
        else:
            self._answer.take_out(taken)

    def _reread(self) -> None:
        """Reads text again that waited in the tail and turned out to be text. No
        candidate may begin in it. Removed reasoning may stand between its parts, and
        stop tokens after it."""
        buffer, tail = self._buffer, self._tail
        refused, tail.refused = tail.refused, []
        before = buffer.text, buffer.base, buffer.at, buffer.border
        trailing, tail.trailing, buffer.border = tail.trailing, None, False
        for text, start, _ in refused:
            self._keep(text)
            if not text:
                (tail.trailing or tail.shown).removed()
            buffer.put_back(text, start)
            self._candidates.free = start + len(text)
            self._answer.restart(start)
            self._decide(final=True)
        tail.trailing = tail.trailing or trailing
        buffer.text, buffer.base, buffer.at, buffer.border = before
        self._keep(buffer.text[buffer.at :])
        self._answer.restart(buffer.place)
