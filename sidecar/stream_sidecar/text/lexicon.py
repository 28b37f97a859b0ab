"""The literals at which a splitter stops: delimiters, marks, openers and closers of
forms.

A `Lexicon` is built once for a stream, from its delimiters, its dialects and its
declared tools. It knows the literals that count anywhere, and the openers that count
only where a line (or the answer) begins. It finds both in text that comes in slices,
and raises `UndecidedError` where more text could change the result.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from itertools import chain
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
"""The number of code points that a reader holds: in calls, and in all other text."""

WHOLE = 4
"""A removal must not put together a delimiter, or another literal of at least this many
characters. A shorter literal may come together by chance."""


class Vocabulary:
    """The part of a lexicon that does not depend on the declared tools.

    ``about``: which forms are read; see `Form`. ``openings``: opener -> the forms that
    begin with it anywhere. ``lines``: opener -> the forms that begin with it only where
    a line or the answer begins. ``per_tool``: forms whose openers contain a tool's
    name. ``closers``: closer of a call -> the verdict if it comes without its call.
    """

    def __init__(
        self, delimiters: Delimiters, chosen: Chosen, about: frozenset[str]
    ) -> None:
        self.delimiters = delimiters
        self.about = about
        self.openings: dict[str, list[Opening]] = {}
        self.lines: dict[str, list[Opening]] = {}
        self.per_tool: list[Opening] = []
        self.marks: set[str] = set()
        #: wrapper of the answer -> closers of the reasoning that the wrapper ends
        self.ends: dict[str, frozenset[str]] = {}
        self.closers: dict[str, Taken] = {}
        self._begun: dict[tuple[str, bool], tuple[Opening, ...]] = {}
        self._kinds: dict[str, LiteralKind] = {}
        for dialect, named in chosen:
            self._learn(dialect, named)
        for delimiter in delimiters.literals:
            self.ends.pop(delimiter, None)
        self.marks -= self.ends.keys() | delimiters.literals
        known = self.marks, self.ends, self.closers, self.openings
        #: literals that wrap or divide the answer; in a sentence they are text
        self.borders = frozenset(self.marks | self.ends.keys())
        self.literals = Literals(delimiters.literals.union(*known))
        long = {each for each in self.literals.literals if len(each) >= WHOLE}
        #: literals that a removal must not put together
        self.whole = Literals(delimiters.literals | long)

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
        """The kind of ``literal``, which decides what counts as a mention of it.
        ``literal`` must be in `literals`."""
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
        """All forms whose opener is ``literal`` or the beginning of it. ``literal``
        must be in `literals`. ``called``: includes forms that begin only after a
        call."""
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
    """A vocabulary, with the openers that contain the ``names`` of declared tools."""

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
        #: first character -> the openers that count where the answer begins
        self.heads = _by_first(self._lines)
        lines = self._lines.items()
        self._heads_inside = _by_first(
            opener for opener, openings in lines if any(map(_is_inside, openings))
        )
        self._line_start = _line_starts(beginnings(self._lines))
        #: the gates of the fast path, for the answer
        self.gates = line_gates(self.literals, self._heads_inside)
        self._gates_everywhere = self.gates._replace(waits=frozenset(), border=NOTHING)
        #: the gates of the fast path, for reasoning
        self.thought = anywhere(self.literals)

    def gates_of(self, *, fences_pass: bool) -> Gates:
        """The gates of the fast path for the answer. ``fences_pass``: fenced code
        passes, because nothing is taken out of it (text rule 4.8)."""
        return self.gates if fences_pass else self._gates_everywhere

    def begins(self, text: str) -> bool:
        """Whether an answer that begins with ``text`` begins with white space or
        perhaps with a form."""
        try:
            openings = self.at_line(text, 0, start=True, final=False)
        except UndecidedError:
            return True
        return text[0].isspace() or bool(openings)

    def line_start(
        self, text: str, at: int, end: int, *, needs: bool = True
    ) -> int | None:
        """The index of the first opener that may begin a line in ``text`` between
        ``at`` and ``end``, after blanks if the line has some; None if there is none.
        ``needs``: whether openers count whose forms need a literal (`Form.needs`)."""
        pattern = self._line_start if needs else self._free_line_start
        match = pattern.search(text, at, end)
        return match.end() if match else None

    @cached_property
    def line_needs(self) -> frozenset[str]:
        """The literals that forms at a line's start need (`Form.needs`)."""
        openings = chain.from_iterable(self._lines.values())
        return frozenset(need for each in openings for need in each.form.needs)

    @cached_property
    def _free_line_start(self) -> re.Pattern[str]:
        free = (
            opener
            for opener, openings in self._lines.items()
            if not all(each.form.needs for each in openings)
        )
        return _line_starts(beginnings(free))

    def at_line(
        self,
        text: str,
        at: int,
        *,
        start: bool,
        called: bool = False,
        final: bool,
    ) -> list[Opening]:
        """The forms that begin at place ``at``, the start of a line. Raises
        `UndecidedError` if more text could add a form.

        ``start``: the answer begins at this place. ``called``: a call ends right before
        this place.
        """
        openers = (self.heads if start else self._heads_inside).get(text[at])
        if openers is None:
            return []
        more = len(text) < at + openers.longest and not final
        if more and openers.is_begun(text[at:]):
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
            return []  # the literal is a delimiter or a mark
        return found + [each for each in openings if not _is_outdone(each, found)]

    def delimiter_at(self, text: str, at: int) -> str:
        """The delimiter at place ``at``. A longer literal begins with this delimiter,
        but is text here."""
        match = self.delimiters.any.match(text, at)
        assert match is not None  # the caller knows
        return match[0]

    def overlap(self, text: str, at: int, literal: str, *, final: bool) -> int:
        """The number of characters of ``literal`` that are text because a delimiter
        begins after them, inside ``literal``; 0 if no delimiter does. ``at``: where
        ``literal`` begins."""
        size = self.delimiters.size_without(literal)
        if size in (0, len(literal)):
            return 0
        after = at + len(literal)
        rest = text[after : after + self.literals.longest]
        return size if rebuilt(self.delimiters, literal, rest, final=final) else 0

    def restart(self, raw: str, position: int) -> int:
        """The first index in ``raw``, the text of a failed candidate, at which a new
        candidate may begin. ``position``: the number of characters that were read.

        The result is the start of the longest suffix of these characters that is an
        opener or the beginning of an opener.
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
        """Whether ``text`` is an opener that counts at a line's start, or a prefix of
        such an opener."""
        openers = self.heads.get(text[0])
        return openers is not None and (text in self._lines or openers.is_begun(text))


def _by_first(openers: Iterable[str]) -> dict[str, Openers]:
    """First character -> the ``openers`` that begin with it."""
    found: dict[str, list[str]] = {}
    for opener in openers:
        found.setdefault(opener[0], []).append(opener)
    return {first: Openers(each) for first, each in found.items()}


def total(*shares: Share) -> Share:
    """The sum of ``shares``; (0, 0) without any."""
    calls = held = 0
    for of_calls, of_others in shares:
        calls, held = calls + of_calls, held + of_others
    return calls, held


@hot
class Rules:
    """How a splitter reads its channel.

    - ``max_held`` and ``max_call``: limits in code points (text rules 13.1 and 13.2).
    - ``others`` returns the `Share` of the other readers of the choice.
    - ``settle`` makes the other readers read all pieces so far, so that the result of
      ``others`` is exact.
    - ``native``: the whole channel is reasoning, and delimiters have no effect (text
      rule 8.8).
    - ``opened``: the channel begins in reasoning.
    - ``thinks``: an opener begins reasoning. False: an opener is only removed.
    - ``keeps``: reasoning that never closes may become text, whatever its opener.
    - ``orphan``: the effect of the first closer without an opener.
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
    return opening.form.place == "line"  # any line of the answer, not only the first


def _is_outdone(opening: Opening, found: list[Opening]) -> bool:
    """Whether an opener in ``found``, at the same place, is longer and begins with the
    opener of ``opening``."""
    short = opening.opener
    return any(short != each.opener and each.opener.startswith(short) for each in found)


@lru_cache(maxsize=64)
def _line_starts(openers: str) -> re.Pattern[str]:
    """A pattern for the line break and the blanks before one of ``openers``.
    ``openers`` is a pattern, too."""
    return patterns.compile(rf"\n[{BLANKS}]*+(?={openers})")
