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
from stream_sidecar.text.fast_path import NO_MATCH, gates_anywhere, line_gates
from stream_sidecar.text.mentions import LiteralKind
from stream_sidecar.text.shown_text import Orphan

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Collection, Iterable

    from stream_sidecar.forms.form import Dialect
    from stream_sidecar.forms.grammar import Context
    from stream_sidecar.text.fast_path import Gates

Scope: TypeAlias = Literal["outside-code", "everywhere", "boundary"]

ChosenDialects: TypeAlias = "tuple[tuple[Dialect, bool], ...]"
"""Dialects, each with True if the host or the model's profile named it."""

Share: TypeAlias = tuple[int, int]
"""The number of code points that a reader holds: in calls, and in all other text."""

MIN_GUARDED = 4
"""The size of literals that a removal must not build, as it may by chance."""


class Vocabulary:
    """The part of a lexicon that does not depend on the declared tools.

    ``subjects``: which forms are read; see `Form`. ``openings``: opener -> the forms
    that begin with it anywhere. ``at_line``: opener -> the forms that begin with it
    only where a line or the answer begins. ``tool_openings``: forms whose openers
    contain a tool's name. ``closers``: closer of a call -> the verdict if it comes
    without its call.
    """

    def __init__(
        self, delimiters: Delimiters, dialects: ChosenDialects, subjects: frozenset[str]
    ) -> None:
        self.delimiters = delimiters
        self.subjects = subjects
        self.openings: dict[str, list[Opening]] = {}
        self.at_line: dict[str, list[Opening]] = {}
        self.tool_openings: list[Opening] = []
        self.marks: set[str] = set()
        #: wrapper of the answer -> closers of the reasoning that the wrapper ends
        self.exits: dict[str, frozenset[str]] = {}
        #: closer of reasoning -> wrappers that begin the answer right after it
        self.headers: dict[str, tuple[str, ...]] = {}
        self.closers: dict[str, Taken] = {}
        self._openings_cache: dict[tuple[str, bool], tuple[Opening, ...]] = {}
        self._kind_cache: dict[str, LiteralKind] = {}
        for dialect, is_named in dialects:
            self._add_dialect(dialect, is_named)
        for delimiter in delimiters.literals:
            self.exits.pop(delimiter, None)
        self.marks -= self.exits.keys() | delimiters.literals
        all_literals = self.marks, self.exits, self.closers, self.openings
        #: literals that wrap or divide the answer; in a sentence they are text
        self.borders = frozenset(self.marks | self.exits.keys())
        self.literals = Literals(delimiters.literals.union(*all_literals))
        guarded = {word for word in self.literals.literals if len(word) >= MIN_GUARDED}
        #: literals that a removal must not put together
        self.guarded = Literals(delimiters.literals | guarded)

    def _add_dialect(self, dialect: Dialect, is_named: bool) -> None:
        if "marks" in self.subjects:
            self.marks.update(dialect.marks)
        own_closers = frozenset(closer for _, closer in dialect.pairs)
        ended_closers = self.delimiters.closers if is_named else own_closers
        self.exits |= dict.fromkeys(dialect.ends, ended_closers)
        if dialect.headers:
            self.headers |= dict.fromkeys(own_closers, dialect.headers)
        for form in dialect.forms:
            is_unwanted_bare = form.tier == "C" and "bare" not in self.subjects
            if is_unwanted_bare or form.about not in self.subjects:
                continue
            if "marks" in self.subjects:
                for closer in form.closers:
                    opening = Opening(dialect, form, closer, is_named)
                    self.closers[closer] = Taken(opening, PieceKind.MARK, len(closer))
            at_line_start = form.place in ("line", "start")
            table = self.at_line if at_line_start else self.openings
            for opener in form.openers:
                opening = Opening(dialect, form, opener, is_named)
                if form.per_tool:
                    self.tool_openings.append(opening)
                else:
                    table.setdefault(opener, []).append(opening)

    def kind_of(self, literal: str) -> LiteralKind:
        """The kind of ``literal``: what counts as a mention of it."""
        kind = self._kind_cache.get(literal)
        if kind is None:
            kind = self._kind_cache[literal] = self._judge_kind(literal)
        return kind

    def _judge_kind(self, literal: str) -> LiteralKind:
        if literal in self.delimiters.literals:
            return LiteralKind.TAG
        subjects = {opening.form.about for opening in self.forms_of(literal)}
        if "reserved" in subjects:
            return LiteralKind.RESERVED
        return LiteralKind.CALL if subjects & {"calls", "results"} else LiteralKind.TAG

    def forms_of(
        self, literal: str, *, after_call: bool = False
    ) -> tuple[Opening, ...]:
        """All forms whose opener is ``literal`` or the beginning of it. ``literal``
        must be in `literals`. ``after_call``: includes forms that begin only after a
        call."""
        openings = self._openings_cache.get((literal, after_call))
        if openings is None:
            openings = self._openings_cache[literal, after_call] = tuple(
                opening
                for end in range(1, len(literal) + 1)
                for opening in self.openings.get(literal[:end], ())
                if after_call or not opening.form.called
            )
        return openings


class Lexicon:
    """A vocabulary, with the openers that contain the ``names`` of declared tools."""

    def __init__(self, vocabulary: Vocabulary, names: Collection[str] = ()) -> None:
        self.vocabulary = vocabulary
        self.delimiters = vocabulary.delimiters
        self.literals = vocabulary.literals
        self._at_line = dict(vocabulary.at_line)
        for opening in vocabulary.tool_openings if names else ():
            for opener in map(opening.opener.__mod__, names):
                if opener not in self.literals.literals:
                    variant = evolve(opening, opener=opener)
                    self._at_line[opener] = [*self._at_line.get(opener, ()), variant]
        #: first character -> the openers that count where the answer begins
        self.heads = _by_first_character(self._at_line)
        entries = self._at_line.items()
        self._line_heads = _by_first_character(
            opener for opener, openings in entries if any(map(_any_line, openings))
        )
        self._line_start = _line_start_pattern(beginnings(self._at_line))
        #: the gates of the fast path, for the answer
        self.gates = line_gates(self.literals, self._line_heads)
        self._raw_gates = self.gates._replace(prefixes=frozenset(), match_end=NO_MATCH)
        #: the gates of the fast path, for reasoning
        self.reasoning_gates = gates_anywhere(self.literals)

    def gates_of(self, *, fences_pass: bool) -> Gates:
        """The gates of the fast path for the answer. ``fences_pass``: fenced code
        passes, because nothing is taken out of it (text rule 4.8)."""
        return self.gates if fences_pass else self._raw_gates

    def may_begin_form(self, text: str) -> bool:
        """Whether ``text`` begins with white space or perhaps a form."""
        try:
            openings = self.openings_at(text, 0, at_start=True, final=False)
        except UndecidedError:
            return True
        return text[0].isspace() or bool(openings)

    def find_line_opener(
        self, text: str, start: int, end: int, *, with_needs: bool = True
    ) -> int | None:
        """The index of the first opener that may begin a line in ``text`` between
        ``start`` and ``end``, after blanks if the line has some; None if there is none.
        ``with_needs``: whether openers count whose forms need a literal
        (`Form.needs`)."""
        pattern = self._line_start if with_needs else self._free_line_start
        match = pattern.search(text, start, end)
        return match.end() if match else None

    @cached_property
    def needed_literals(self) -> frozenset[str]:
        """The literals that forms at a line's start need (`Form.needs`)."""
        openings = chain.from_iterable(self._at_line.values())
        return frozenset(need for opening in openings for need in opening.form.needs)

    @cached_property
    def _free_line_start(self) -> re.Pattern[str]:
        free_openers = (
            opener
            for opener, openings in self._at_line.items()
            if not all(opening.form.needs for opening in openings)
        )
        return _line_start_pattern(beginnings(free_openers))

    def openings_at(
        self,
        text: str,
        index: int,
        *,
        at_start: bool,
        after_call: bool = False,
        final: bool,
    ) -> list[Opening]:
        """The forms that begin at place ``index``, the start of a line. Raises
        `UndecidedError` if more text could add a form.

        ``at_start``: the answer begins at this place. ``after_call``: a call ends right
        before this place.
        """
        openers = (self.heads if at_start else self._line_heads).get(text[index])
        if openers is None:
            return []
        may_grow = len(text) < index + openers.longest and not final
        if may_grow and openers.is_begun(text[index:]):
            raise UndecidedError
        forms = [
            opening
            for opener in openers.at(text, index)
            for opening in self._at_line[opener]
            if at_start
            or (_any_line(opening) and (after_call or not opening.form.called))
        ]
        if not forms:
            return []
        if not final and self.literals.certain(text, index) == index:
            raise UndecidedError
        match = self.literals.any.match(text, index)
        if match is None:
            return forms
        openings = self.vocabulary.forms_of(match[0])
        if not openings:
            return []  # the literal is a delimiter or a mark
        # a token that the answer's start removes need not wait for the answer's end
        if any((o.opener, o.form.place) == (match[0], "start") for o in forms):
            openings = tuple(o for o in openings if not o.form.place.endswith("end"))
        return forms + [each for each in openings if not _is_shorter(each, forms)]

    def delimiter_at(self, text: str, index: int) -> str:
        """The delimiter at ``index`` with which a longer text begins."""
        match = self.delimiters.any.match(text, index)
        assert match is not None  # the caller knows
        return match[0]

    def overlap_size(self, text: str, index: int, literal: str, *, final: bool) -> int:
        """The number of characters of ``literal`` that are text because a delimiter
        begins after them, inside ``literal``; 0 if no delimiter does. ``index``: where
        ``literal`` begins."""
        size = self.delimiters.size_without(literal)
        if size in (0, len(literal)):
            return 0
        literal_end = index + len(literal)
        text_after = text[literal_end : literal_end + self.literals.longest]
        return size if rebuilt(self.delimiters, literal, text_after, final=final) else 0

    def restart_index(self, failed_text: str, read_size: int) -> int:
        """The first index in ``failed_text``, the text of a failed candidate, at which
        a new candidate may begin. ``read_size``: the number of characters that were
        read.

        The result is the start of the longest suffix of these characters that is an
        opener or the beginning of an opener.
        """
        read_text = failed_text[:read_size]
        index = self.literals.certain(read_text, 1)
        if 1 < index == len(read_text) and read_text[-1] in self.literals.literals:
            index -= 1
        _, line_break, line = read_text.rpartition("\n")
        line_text = line.lstrip(BLANKS)
        may_begin = line_break and (not line_text or self._may_begin_line(line_text))
        return min(index, read_size - len(line_text or line)) if may_begin else index

    def _may_begin_line(self, text: str) -> bool:
        """Whether ``text`` begins an opener of a line's start."""
        openers = self.heads.get(text[0])
        return openers is not None and (text in self._at_line or openers.is_begun(text))


def _by_first_character(openers: Iterable[str]) -> dict[str, Openers]:
    """First character -> the ``openers`` that begin with it."""
    by_character: dict[str, list[str]] = {}
    for opener in openers:
        by_character.setdefault(opener[0], []).append(opener)
    return {character: Openers(group) for character, group in by_character.items()}


def total_share(*shares: Share) -> Share:
    """The sum of ``shares``; (0, 0) without any."""
    calls = other_text = 0
    for call_share, other_share in shares:
        calls, other_text = calls + call_share, other_text + other_share
    return calls, other_text


@hot
class Rules:
    """How a splitter reads its channel.

    - ``max_held`` and ``max_call``: limits in code points (text rules 13.1 and 13.2).
    - ``others_share`` returns the `Share` of the other readers of the choice.
    - ``settle_others`` makes the other readers read all pieces so far, so that the
      result of ``others_share`` is exact.
    - ``native``: the whole channel is reasoning, and delimiters have no effect (text
      rule 8.8).
    - ``begins_open``: the channel begins in reasoning.
    - ``opens_reasoning``: an opener begins reasoning. False: an opener is only removed.
    - ``keeps_reasoning``: reasoning that never closes may become text, whatever its
      opener.
    - ``orphan``: the effect of the first closer without an opener.
    """

    lexicon: Lexicon
    context: Context
    scope: Scope
    max_held: int
    max_call: int
    others_share: Callable[[], Share] = total_share
    native: bool = False
    begins_open: bool = False
    opens_reasoning: bool = True
    keeps_reasoning: bool = False
    orphan: Orphan = Orphan.NONE
    settle_others: Callable[[], object] = total_share


def _any_line(opening: Opening) -> bool:
    return opening.form.place == "line"  # any line of the answer, not only the first


def _is_shorter(opening: Opening, forms: list[Opening]) -> bool:
    """Whether a longer opener in ``forms`` begins with this one."""
    text = opening.opener
    return any(text != form.opener and form.opener.startswith(text) for form in forms)


@lru_cache(maxsize=64)
def _line_start_pattern(openers_pattern: str) -> re.Pattern[str]:
    """The line break and blanks before a match of this pattern."""
    return patterns.compile(rf"\n[{BLANKS}]*+(?={openers_pattern})")
