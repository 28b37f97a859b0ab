"""Who owns the next character of a channel: answer, reasoning or a written form.

`Splitter` takes a channel's text in any slices and gives pieces (``pieces``),
each decided at a position of the text, never at a slice's border: the same text gives
the same pieces however it was cut (contract 7.1). Rules: contract 7.3 and 7.5 to 7.7.

It holds back only what cannot be decided yet: a proper prefix of a literal, a delimiter
behind an unmatched backtick run, a closer in reasoning that may be quoted, a candidate
for a call or a result, leading results, and the white space of ``shown_text``.
``flush`` decides what is held as at the end of the text; the states of reasoning, fence
and line go on. While ``gate`` is set, text in which nothing matters is one piece.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sidecar.forms.grammar import Context
from sidecar.forms.kinds import PieceKind
from sidecar.text.code import Line
from sidecar.text.fast_path import IN_FENCE, INDENT
from sidecar.text.in_answer import AnswerScanner
from sidecar.text.in_reasoning import Rules

if TYPE_CHECKING:
    from sidecar.text.fast_path import Gate
    from sidecar.text.in_reasoning import Scope
    from sidecar.text.lexicon import Lexicon
    from sidecar.text.pieces import Pieces

State: TypeAlias = tuple[int, dict[str, int], tuple[Any, ...]]
"""A position, the closers that are text, and what is known of what was shown."""

_STEP = 2048
"""Code points that are taken into the buffer at once."""


class Splitter(AnswerScanner):
    """Splits one channel: ``push(text)``, ``flush()``; both give pieces.

    ``native`` is for a provider's own reasoning field: all of it is reasoning, and
    delimiters are only removed; so they are where it ``thinks`` not, and nothing is
    reasoning.
    """

    def __init__(
        self,
        lexicon: Lexicon,
        context: Context | None = None,
        *,
        scope: Scope = "outside-code",
        starts_open: Literal["auto", "open", "closed"] = "auto",
        likely_open: bool = False,
        max_held: int = 65_536,
        max_call: int = 1_048_576,
        native: bool = False,
        thinks: bool = True,
    ) -> None:
        context = context or Context()
        super().__init__(Rules(lexicon, context, scope, max_held, max_call, native))
        self.reopens = starts_open == "auto"
        self.likely_open = likely_open
        self.thinks = thinks
        self.depth = 1 if native or starts_open == "open" else 0
        self.implicit = self.depth == 1
        self.gates = lexicon.gates  # for plain text from here on
        self.gate: Gate | None = None
        if self.depth and not native:
            self.out.append((PieceKind.ENTER, "", 0, 0))

    def push(self, text: str) -> Pieces:
        if self.gate is not None and not self.gates.matters(self.gate, text):
            return self.passed(text)
        # In bounded steps, because each step through the buffer copies its rest.
        for at in range(0, len(text), _STEP):
            self.buffer += text[at : at + _STEP]
            self._take(final=False)
        return self._give()

    def flush(self, *, followed: bool = False, cuts: bool = True) -> Pieces:
        """Decides what is held as at the end of the text.

        ``followed``: something visible follows that is not text; ``cuts``: a call that
        breaks off here is one.
        """
        self.cuts = cuts
        self._take(final=True)
        self.cuts = True
        if (results := self._results) is not None:
            self._decide(followed and results.is_echo())
            self._take(final=True)
        self._end_trailing(followed=False)
        self.visible.flush(self.out)
        self.border, self.gate = True, None
        return self._give()

    def call(self) -> None:
        """A structured call stands here; text before it is never reclassified."""
        self.visible.call()
        self.orphans = 0

    def reopen(self) -> Pieces:
        """What was shown since the last call is reasoning: a new answer starts here."""
        self.visible.begin(self.out)
        return self._give()

    def native_begins(self) -> None:
        """Native reasoning has come: no closer makes visible text reasoning any more,
        and a block that only the template would have opened is not there."""
        self.reopens = False
        if self.implicit and self.out:  # the template's opener, not given yet
            self.depth, self.implicit = 0, False
            self.out.clear()
            self._watch()

    def state(self) -> State:
        """By what text is read from here on, where nothing is held."""
        return self.base, dict(self._owed[0]), self.visible.state()

    def resume(self, state: State, size: int) -> None:
        """Goes on from ``state``, as if it had shown ``size`` code points more."""
        _, owed, visible = state
        self.base += size
        self._owed[0].clear()
        self._owed[0].update(owed)
        self.visible.resume(visible)
        self._watch()

    def reads_like(self, other: Splitter) -> bool:
        """Whether both read text alike from here on, until something is taken out of
        it; never while something is held."""
        if self.depth or other.depth or self.border or other.border:
            return False
        if self.holds or other.holds or self._owed[0] != other._owed[0]:
            return False
        return self.visible.state() == other.visible.state()

    def _watch(self) -> None:
        """Sets what to look for in text that may pass untouched (the fast path)."""
        self.gate = None
        if self.buffer or self.border or self.candidate or self.trailing:
            return
        if self.visible.limit <= INDENT:  # blanks that pass may have to wait
            return
        if self.depth:
            self.gates = self.lexicon.thought
            self.gate = None if self.skip_break else self.gates.inside
            return
        code = self.visible.code
        if code.in_code_line and self.visible.fences_pass:
            self.gates = IN_FENCE
            begins = code.line is Line.FENCED_PREFIX
            gate = IN_FENCE.begins if begins else IN_FENCE.inside
            self.gate = None if self.visible.waits else gate
            return
        self.gates = self.lexicon.gates
        if self.visible.begins_line and code.begins_line:
            self.gate = self.gates.begins
        elif self.visible.goes_on:
            self.gate = self.gates.on(code.line)

    def passed(self, text: str) -> Pieces:
        """Nothing in ``text`` matters and nothing is held: it goes as it came."""
        if not text:
            return []
        start = self.base
        self.base = end = start + len(text)
        self.gate = self.gates.after(text, self.gate)
        if self.depth:
            self._note(text)
            return [(PieceKind.REASONING, text, start, end)]
        self.visible.passed(text)
        return [(PieceKind.TEXT, text, start, end)]

    def _give(self) -> Pieces:
        out, self.out = self.out, []
        return out

    def _take(self, *, final: bool) -> None:
        while self._step(final):
            pass
        self.base += self.at
        self.buffer, self.at = self.buffer[self.at :], 0
        self._watch()

    @property
    def holds(self) -> bool:
        """Whether anything is held back."""
        if self.buffer or self.visible.held or self.trailing or self.candidate:
            return True
        return self.chain is not None and bool(self.chain.items)

    @property
    def held(self) -> int:
        """How many characters are held back."""
        held = len(self.buffer) + self.visible.held + self.trailing.held
        if self.candidate is not None:
            held += self.candidate.size
        return held if self.chain is None else held + self.chain.held
