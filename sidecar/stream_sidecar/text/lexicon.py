"""All that the splitter stops at: reasoning delimiters, marks, openers of forms.

A `Lexicon` is built once for a stream, from its delimiters, its dialects and its
declared tools. It knows the literals that count anywhere, and the openers that count
only where a line (or the answer) begins. It finds both in slices, and decides nothing
that more text could change.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.forms.candidate import Opening, Taken
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.forms.literals import (
    Delimiters,
    Literals,
    Openers,
    UndecidedError,
    beginnings,
    rebuilt,
)
from stream_sidecar.markdown.code import BLANKS
from stream_sidecar.records import evolve, hot
from stream_sidecar.text.fast_path import NOTHING, anywhere, line_gates
from stream_sidecar.text.mentions import LiteralKind
from stream_sidecar.text.shown_text import Orphan

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Collection, Iterable

    from stream_sidecar.forms.form import Dialect
    from stream_sidecar.forms.grammar import Context
    from stream_sidecar.text.fast_path import Gates

Scope: TypeAlias = Literal["outside-code", "everywhere", "boundary"]

Chosen: TypeAlias = "tuple[tuple[Dialect, bool], ...]"
"""Dialects, each with True if the host or the model's profile named it."""

Share: TypeAlias = tuple[int, int]
"""How many code points a reader holds: for calls, and for anything else."""

WHOLE = 4
"""Literals with at least this many characters must not be put together by a removal."""


class Vocabulary:
    """The part of a lexicon that is the same for all tools."""

    def __init__(
        self, delimiters: Delimiters, chosen: Chosen, about: frozenset[str]
    ) -> None:
        self.delimiters = delimiters
        self.about = about
        self.openings: dict[str, list[Opening]] = {}  # anywhere, by opener
        self.lines: dict[str, list[Opening]] = {}  # at a line's start, by opener
        self.per_tool: list[Opening] = []
        self.marks: set[str] = set()
        #: wrappers of the answer: what closes the reasoning that each of them ends
        self.ends: dict[str, frozenset[str]] = {}
        self.closers: dict[str, Taken] = {}  # of calls
        self._begun: dict[tuple[str, bool], tuple[Opening, ...]] = {}
        self._kinds: dict[str, LiteralKind] = {}
        for dialect, named in chosen:
            self._learn(dialect, named)
        for delimiter in delimiters.literals:
            self.ends.pop(delimiter, None)
        self.marks -= self.ends.keys() | delimiters.literals
        known = self.marks, self.ends, self.closers, self.openings
        #: what wraps or divides, and is text in a sentence
        self.borders = frozenset(self.marks | self.ends.keys())
        self.literals = Literals(delimiters.literals.union(*known))
        long = {each for each in self.literals.literals if len(each) >= WHOLE}
        self.whole = Literals(delimiters.literals | long)  # not to be completed

    def _learn(self, dialect: Dialect, named: bool) -> None:
        if "marks" in self.about:
            self.marks.update(dialect.marks)
        own = frozenset(closer for _, closer in dialect.pairs)
        ends = self.delimiters.closers if named else own
        self.ends |= dict.fromkeys(dialect.ends, ends)
        for form in dialect.forms:
            bare = form.tier == "C" and "bare" not in self.about
            if bare or form.about not in self.about:
                continue
            if "marks" in self.about:
                for closer in form.closers:
                    opening = Opening(dialect, form, closer, named)
                    self.closers[closer] = Taken(opening, PieceKind.MARK, len(closer))
            lines = form.place in ("line", "start")
            table = self.lines if lines else self.openings
            for opener in form.openers:
                opening = Opening(dialect, form, opener, named)
                if form.per_tool:
                    self.per_tool.append(opening)
                else:
                    table.setdefault(opener, []).append(opening)

    def kind_of(self, literal: str) -> LiteralKind:
        """The kind of ``literal`` (one of `literals`), as far as it matters for
        mentions."""
        kind = self._kinds.get(literal)
        if kind is None:
            kind = self._kinds[literal] = self._kind_of(literal)
        return kind

    def _kind_of(self, literal: str) -> LiteralKind:
        if literal in self.delimiters.literals:
            return LiteralKind.TAG
        about = {opening.form.about for opening in self.openings_of(literal)}
        if "reserved" in about:
            return LiteralKind.RESERVED
        return LiteralKind.CALL if about & {"calls", "results"} else LiteralKind.TAG

    def openings_of(self, literal: str, *, called: bool = False) -> tuple[Opening, ...]:
        """All forms with an opener at the start of ``literal`` (one of `literals`).
        ``called``: includes forms that stand only after a call."""
        begun = self._begun.get((literal, called))
        if begun is None:
            begun = self._begun[literal, called] = tuple(
                opening
                for end in range(1, len(literal) + 1)
                for opening in self.openings.get(literal[:end], ())
                if called or not opening.form.called
            )
        return begun


class Lexicon:
    """A vocabulary, and the openers that are named after declared tools."""

    def __init__(self, vocabulary: Vocabulary, names: Collection[str] = ()) -> None:
        self.vocabulary = vocabulary
        self.delimiters = vocabulary.delimiters
        self.literals = vocabulary.literals
        self._lines = dict(vocabulary.lines)
        for opening in vocabulary.per_tool if names else ():
            for opener in map(opening.opener.__mod__, names):
                if opener not in self.literals.literals:
                    named = evolve(opening, opener=opener)
                    self._lines[opener] = [*self._lines.get(opener, ()), named]
        #: the openers that count where the answer begins, by their first character
        self.heads = _by_first(self._lines)
        lines = self._lines.items()
        self._heads_inside = _by_first(
            opener for opener, openings in lines if any(map(_is_inside, openings))
        )
        self._line_start = _line_starts(beginnings(self._lines))
        #: what text of the answer, and of reasoning, must not have to pass
        self.gates = line_gates(self.literals, self._heads_inside)
        self._gates_everywhere = self.gates._replace(waits=frozenset(), border=NOTHING)
        self.thought = anywhere(self.literals)

    def gates_of(self, *, fences_pass: bool) -> Gates:
        """The gates of the answer. ``fences_pass``: nothing is taken out of fenced code
        (text rule 4.8)."""
        return self.gates if fences_pass else self._gates_everywhere

    def begins(self, text: str) -> bool:
        """Whether ``text`` at the start of the answer begins with a blank, or may begin
        a form."""
        try:
            openings = self.at_line(text, 0, start=True, final=False)
        except UndecidedError:
            return True
        return text[0].isspace() or bool(openings)

    def line_start(self, text: str, at: int, end: int) -> int | None:
        """The first place before ``end`` where an opener may begin a line."""
        match = self._line_start.search(text, at, end)
        return match.end() if match else None

    def at_line(
        self,
        text: str,
        at: int,
        *,
        start: bool,
        called: bool = False,
        final: bool,
    ) -> list[Opening]:
        """The forms that begin at ``at``, where a line begins. Raises `UndecidedError`
        if more text could add one.

        ``start``: the answer begins there. ``called``: it is right after a call.
        """
        openers = (self.heads if start else self._heads_inside).get(text[at])
        if openers is None:
            return []
        more = len(text) < at + openers.longest and not final
        if more and openers.goes_on(text[at:]):
            raise UndecidedError
        found = [
            opening
            for opener in openers.at(text, at)
            for opening in self._lines[opener]
            if start or (_is_inside(opening) and (called or not opening.form.called))
        ]
        if not found:
            return []
        if not final and self.literals.certain(text, at) == at:
            raise UndecidedError
        match = self.literals.any.match(text, at)
        if match is None:
            return found
        openings = self.vocabulary.openings_of(match[0])
        if not openings:
            return []  # a delimiter or a mark
        return found + [each for each in openings if not _is_outdone(each, found)]

    def delimiter_at(self, text: str, at: int) -> str:
        """The delimiter at the start of a longer literal that is itself text here."""
        match = self.delimiters.any.match(text, at)
        assert match is not None  # the caller knows
        return match[0]

    def overlap(self, text: str, at: int, literal: str, *, final: bool) -> int:
        """How much of ``literal`` at ``at`` is text because a delimiter begins in the
        rest of it; 0: no delimiter begins inside it."""
        size = self.delimiters.size_without(literal)
        if size in (0, len(literal)):
            return 0
        after = at + len(literal)
        rest = text[after : after + self.literals.longest]
        return size if rebuilt(self.delimiters, literal, rest, final=final) else 0

    def restart(self, raw: str, position: int) -> int:
        """Where candidates may begin again in ``raw``, which failed at ``position``: at
        the longest suffix of the text read so far that is an opener or a prefix of one.
        """
        head = raw[:position]
        found = self.literals.certain(head, 1)
        if 1 < found == len(head) and head[-1] in self.literals.literals:
            found -= 1
        _, broken, line = head.rpartition("\n")
        rest = line.lstrip(BLANKS)
        begins = broken and (not rest or self._may_begin_line(rest))
        return min(found, position - len(rest or line)) if begins else found

    def _may_begin_line(self, text: str) -> bool:
        """Whether ``text`` is an opener of a line's start, or a prefix of one."""
        openers = self.heads.get(text[0])
        return openers is not None and (text in self._lines or openers.goes_on(text))


def _by_first(openers: Iterable[str]) -> dict[str, Openers]:
    """Openers by their first character."""
    found: dict[str, list[str]] = {}
    for opener in openers:
        found.setdefault(opener[0], []).append(opener)
    return {first: Openers(each) for first, each in found.items()}


def total(*shares: Share) -> Share:
    """The sum of what readers hold; without readers, nothing."""
    calls = held = 0
    for of_calls, of_others in shares:
        calls, held = calls + of_calls, held + of_others
    return calls, held


@hot
class Rules:
    """How a channel is read. ``max_held`` and ``max_call`` are limits in code points.

    ``others`` returns how many code points the rest of the choice holds. ``settle`` has
    every part of the choice read all pieces so far, so that this number is exact (text
    rule 8.8). ``keeps``: reasoning that never closes may be text, whatever its opener.
    ``native``: the whole channel is reasoning, and only its delimiters are removed.
    ``opened``: the channel begins in reasoning. ``thinks``: an opener begins reasoning;
    False: the opener is only removed. ``orphan``: the effect of a first closer without
    an opener.
    """

    lexicon: Lexicon
    context: Context
    scope: Scope
    max_held: int
    max_call: int
    others: Callable[[], Share] = total
    native: bool = False
    opened: bool = False
    thinks: bool = True
    keeps: bool = False
    orphan: Orphan = Orphan.NONE
    settle: Callable[[], object] = total


def _is_inside(opening: Opening) -> bool:
    return opening.form.place == "line"  # of the answer, be it the first or not


def _is_outdone(opening: Opening, found: list[Opening]) -> bool:
    """Whether a form with a longer opener stands at the same place."""
    short = opening.opener
    return any(short != each.opener and each.opener.startswith(short) for each in found)


@lru_cache(maxsize=64)
def _line_starts(openers: str) -> re.Pattern[str]:
    """A pattern for places where a line may begin with one of ``openers``, itself a
    pattern."""
    return patterns.compile(rf"\n[{BLANKS}]*+(?={openers})")
