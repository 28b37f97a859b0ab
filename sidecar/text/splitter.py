"""Who owns the next character of a channel: answer, reasoning or a written form.

`Splitter` takes a channel's text in any slices and gives pieces (`pieces`), each
decided at a position of the text, never at a slice's border: the same text gives the
same pieces however it was cut. Example: ``<th``, then ``ink>a</think>b``, gives the
opener, ``a`` as reasoning, the closer, and ``b`` as text.

It has a `Buffer` of what is not decided yet, `Attempts` at forms, the `Tail` of the
answer, and the steps `InAnswer` and `InReasoning`. It holds back only what cannot be
decided yet: a proper prefix of a literal, a delimiter behind an unmatched backtick run,
a closer in reasoning that may be quoted, a candidate for a form, and what waits in the
tail. While ``gate`` is set, and at first, text in which nothing matters is one piece.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from sidecar.forms.candidate import Failed
from sidecar.forms.kinds import PieceKind
from sidecar.markdown.code import AT_BEGINNING
from sidecar.markdown.lines import Line
from sidecar.markdown.slices import INDENT
from sidecar.text.attempts import Attempts
from sidecar.text.buffer import Buffer
from sidecar.text.fast_path import INSIDE, in_code, in_fence, in_info, on
from sidecar.text.in_answer import InAnswer
from sidecar.text.in_reasoning import InReasoning
from sidecar.text.tail import Tail

if TYPE_CHECKING:
    from collections import deque

    from sidecar.forms.candidate import Taken
    from sidecar.markdown.code import CodeState
    from sidecar.text.fast_path import Gate
    from sidecar.text.lexicon import Rules, Share
    from sidecar.text.pieces import Pieces

State: TypeAlias = tuple[int, dict[str, int], bool, tuple[Any, ...]]
"""A position, the closers that are text, whether something was taken out right before,
and what is known of what was shown."""

_STEP = 2048
"""Code points that are taken into the buffer at once."""


class Splitter:
    """Splits one channel: ``push(text)``, ``flush()``; both give pieces."""

    __slots__ = (
        *("_answer", "_attempts", "_buffer", "_reasoning", "_rules", "_tail"),
        *("fails", "gate", "gates"),
    )

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._buffer = buffer = Buffer()
        self._tail = tail = Tail(rules, buffer)
        self._attempts = attempts = Attempts(rules, buffer, tail)
        self.fails = attempts.fails  # of what may begin a line
        opened = rules.opened or rules.native
        closers = rules.lexicon.delimiters.closers  # of an opener that nobody sees
        self._reasoning = reasoning = InReasoning(
            *(rules, buffer, attempts, tail, closers), int(opened), implicit=opened
        )
        self._answer = InAnswer(rules, buffer, attempts, tail, reasoning)
        #: for plain text from here on
        self.gates = rules.lexicon.gates_of(fences_pass=tail.shown.fences_pass)
        self.gate: Gate | None = None
        if opened and not rules.native:
            buffer.mark(PieceKind.ENTER)

    def push(self, text: str) -> Pieces:
        """The pieces that ``text`` decides."""
        gate = self._first_gate(text) if self.gate is None else self.gate
        read = None if gate is None else self.gates.read(gate, text, self.fails)
        if read is not None and read[0] == len(text):
            return self.passed(text)
        # In bounded steps, because each step through the buffer copies its rest.
        for at in range(0, len(text), _STEP):
            self._buffer.text += text[at : at + _STEP]
            self._read(final=False)
        return self.given()

    def given(self) -> Pieces:
        """The pieces since this was last asked."""
        self._tail.shown.unread = 0
        return self._buffer.give()

    def flush(self, *, followed: bool = False, called: bool = False) -> Pieces:
        """Decides what is held as at the end of the text; the states of reasoning,
        fence and line go on.

        ``followed``: something visible follows that is not text; ``called``: a call.
        """
        tail, candidate = self._tail, self._attempts.candidate
        if candidate is not None:
            candidate.called = called
        self._read(final=True)
        tail.decide(echo=followed and tail.is_echo())
        self._read(final=True)
        tail.end_trailing(followed=False)
        if tail.refused:
            self._read(final=True)
            tail.end_trailing(followed=False)
        if followed:
            tail.shown.followed(self._buffer.pieces)
        tail.shown.flush(self._buffer.pieces)
        self._buffer.border, self.gate = True, None
        return self.given()

    def passed(self, text: str) -> Pieces:
        """Nothing in ``text`` matters and nothing is held: it goes as it came."""
        if not text:
            return []
        start = self._buffer.base
        self._buffer.base = end = start + len(text)
        thinks = self._reasoning.depth > 0
        (self._reasoning.note if thinks else self._tail.shown.passed)(text)
        self._watch()
        return [(PieceKind.REASONING if thinks else PieceKind.TEXT, text, start, end)]

    # What others know of the channel

    def call(self) -> None:
        """A structured call stands here; text before it is never reclassified."""
        self._tail.shown.call()

    def reopen(self) -> Pieces:
        """What was shown since the last call is reasoning: a new answer starts here."""
        self._tail.shown.begin(self._buffer.pieces)
        return self.given()

    # How text is read from here on

    @property
    def taken(self) -> deque[Taken | Failed]:
        """For each piece of kind CALL, RESULT, CITE, SEEN and FAILED, in order, what is
        known of it."""
        return self._buffer.taken

    @property
    def depth(self) -> int:
        """How many openers of reasoning are open; 0: what comes is the answer."""
        return self._reasoning.depth

    @property
    def has_mentions(self) -> bool:
        """Whether a delimiter was left in reasoning as text."""
        return self._reasoning.mentions

    @property
    def has_begun(self) -> bool:
        """Whether the answer has a visible character that is not blank."""
        return not self._tail.shown.start

    @property
    def held(self) -> int:
        """How many characters are held back."""
        held, candidate = len(self._buffer.text), self._attempts.candidate
        if candidate is not None:
            held += candidate.size
        return held + self._tail.held

    def share(self) -> Share:
        """What of the limits is used up; the beginning of a literal is free."""
        begun, candidate = len(self._buffer.text), self._attempts.candidate
        free = begun if begun <= self._rules.lexicon.literals.longest else 0
        calls = self._tail.called
        if candidate is not None and candidate.may_be_call:
            calls += candidate.size
        return calls, self.held - free - calls

    def state(self) -> State:
        """By what text is read from here on, where nothing is held, until something is
        taken out of it."""
        buffer, owed = self._buffer, dict(self._attempts.owed[False])
        return buffer.base, owed, buffer.border, self._tail.shown.state()

    def standing(self) -> State | None:
        """The same where something is held, if all of it may be read again."""
        candidate, state = self._attempts.candidate, self.state()
        if candidate is not None:
            state = candidate.start, *state[1:]
        return None if self._tail.held or self._attempts.free > state[0] else state

    def resume(self, state: State, size: int) -> None:
        """Goes on from ``state``, as if it had shown ``size`` code points more."""
        _, owed, self._buffer.border, shown = state
        self._buffer.base += size
        self._attempts.owed[False].clear()
        self._attempts.owed[False].update(owed)
        self._tail.shown.resume(shown)
        self._watch()

    def _watch(self) -> None:
        """Sets what to look for in text that may pass untouched (the fast path)."""
        tail, attempts = self._tail, self._attempts
        self.gate = None
        if self._buffer.text or self._buffer.border or attempts.candidate:
            return
        gate = None if tail.trailing else self._next_gate()
        if gate is not None and tail.room(INDENT + 1) > INDENT:
            self.gate = gate  # there is room for the blanks that may have to wait

    def _first_gate(self, text: str) -> Gate | None:
        """The gate for the first ``text`` of the channel, if that begins as most do."""
        buffer, first = self._buffer, text[:1]
        if buffer.text or buffer.place or buffer.border or self._reasoning.depth:
            return None
        odd = not first or first.isspace() or self._rules.lexicon.may_begin(first)
        return None if odd or self._tail.room(INDENT + 1) <= INDENT else on("")

    def _next_gate(self) -> Gate | None:
        """The gate for what comes next, where nothing is held."""
        lexicon, shown = self._rules.lexicon, self._tail.shown
        if self._reasoning.depth:
            self.gates = lexicon.thought
            return None if self._reasoning.skip_break else INSIDE
        code = shown.code
        if shown.fences_pass and (code.fence or code.line is Line.CODE):
            fills = code.fills_line or code.line is Line.INFO
            if fills or 0 < code.indent <= INDENT:
                return self._gate_of_code(code)
        self.gates = lexicon.gates_of(fences_pass=shown.fences_pass)
        if shown.begins_line and code.at_beginning:
            return on("")
        if shown.goes_on and code.line is not Line.INFO:
            begun = code.line in AT_BEGINNING and code.undecided
            return on(begun) if begun else INSIDE
        return None

    def _gate_of_code(self, code: CodeState) -> Gate | None:
        """The same in fenced or indented code."""
        shown, lexicon = self._tail.shown, self._rules.lexicon
        indent, outside = code.indent, lexicon.gates
        self.gates = in_code(indent) if indent else in_fence(code.fence, outside)
        if shown.waits:
            return None
        if code.line is Line.INFO:
            self.gates = in_info(lexicon.literals, self.gates)
        if code.line is Line.INFO or code.line is Line.CODE:
            return INSIDE
        known = not indent or (shown.begins_line and code.at_beginning)
        return on(code.undecided) if known else None  # else it may end at this line

    # Steps

    def _read(self, *, final: bool) -> None:
        while self._step(final):
            pass
        self._buffer.forget()
        self._watch()

    def _step(self, final: bool) -> bool:
        """One step; False when nothing more can be done with what is there."""
        depth = self._reasoning.depth
        if self._tail.refused:
            self._reread()
            return True
        if self._attempts.candidate is not None:
            went = self._read_candidate(final)
        elif self._buffer.at == len(self._buffer.text):
            return False
        else:
            went = (self._reasoning if depth else self._answer).step(final=final)
        if depth and not self._reasoning.depth:
            self._tail.shown.removed()
        return went

    def _read_candidate(self, final: bool) -> bool:
        """Gives the candidate all there is; False when it stays open."""
        verdict = self._attempts.read(final=final)
        if not isinstance(verdict, Failed):
            if verdict is not None:
                self._take_out(verdict)
            return verdict is not None
        if verdict.full and self._tail.leading is not None:
            self._tail.decide(echo=False)  # as at the end
            self._reread()
        self._attempts.renew()
        self._attempts.fail(verdict, inside=self._reasoning.depth > 0)
        if not self._reasoning.depth:
            self._answer.leave(final=final)
        return True

    def _take_out(self, taken: Taken) -> None:
        buffer = self._buffer
        seen = taken.kind is PieceKind.CALL and self._rules.context.calls == "report"
        if seen and not taken.waits:
            buffer.see(taken, buffer.ahead(taken.end), buffer.base)
            self._attempts.free = buffer.base + taken.end
        elif self._reasoning.depth:
            self._reasoning.take_out(taken)
        else:
            self._answer.take_out(taken)

    def _reread(self) -> None:
        """What waited is text: it is read again, and none of it begins a candidate;
        reasoning may stand between, and tokens behind it."""
        buffer, tail = self._buffer, self._tail
        refused, tail.refused = tail.refused, []
        before = buffer.text, buffer.base, buffer.at, buffer.border
        trailing, tail.trailing, buffer.border = tail.trailing, None, False
        self._attempts.freed_inside = False
        for text, start, _ in refused:
            if not text:
                (tail.trailing or tail.shown).removed()
            buffer.put_back(text, start)
            self._attempts.free = start + len(text)
            self._answer.restart(start)
            while self._step(final=True):
                pass
        tail.trailing = tail.trailing or trailing
        buffer.text, buffer.base, buffer.at, buffer.border = before
        self._answer.restart(buffer.place)
