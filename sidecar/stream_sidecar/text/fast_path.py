r"""Patterns that prove a slice of text plain, so that no step has to read it.

A pattern's search finds anything that may matter: the beginning of a literal, half a
character, an opener at a line's start, the beginning of a fence. It also finds an end
of the slice that more text could turn into one of these: blanks at a line's start, a
list mark. The beginning of a line before the slice, as far as it is undecided, is read
together with the slice: this is its gate. Line breaks pass. So do backticks inside a
line, because only a later literal makes it matter whether they are code. Example:
``hello\n`` passes, and ``a <`` does not.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.forms.literals import UndecidedError, beginnings
from stream_sidecar.markdown import slices
from stream_sidecar.markdown.code import BLANKS
from stream_sidecar.markdown.slices import INDENT
from stream_sidecar.values.surrogates import HALVES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from stream_sidecar.forms.literals import Literals, Openers

Search: TypeAlias = "Callable[..., re.Match[str] | None]"

Passage: TypeAlias = "tuple[Gates, Gate]"  # for what comes next
Passed: TypeAlias = "tuple[int, Gates, Gate]"

Gate: TypeAlias = str
"""What stands before a slice: a line break with the undecided beginning of a line, or
nothing."""

NOTHING = patterns.compile(r"(?!)").match
_BREAK = patterns.compile(r"(?=\n)").match
_INDENTS = ("", " ", "  ", "   ")
"""A line that begins with other blanks may be code."""

AT_ONCE = 1024
"""Longer text is read in slices of this size. Then one place that matters costs the
slow reading of one slice only, and each step copies the rest of one slice only."""

INSIDE: Gate = ""

ROOM = INDENT + 1  # for blanks that begin a line, which wait


def in_slices(text: str) -> Iterator[str]:
    """``text`` in slices of at most `AT_ONCE` characters."""
    for at in range(0, len(text), AT_ONCE):
        yield text[at : at + AT_ONCE]


def on(start: str) -> Gate:
    """The gate inside a line that begins with ``start``."""
    return "\n" + start


class Gates(NamedTuple):
    """How slices are read in one kind of text.

    ``pattern`` finds whatever may matter; it is compiled on first use. Its group is
    ``head`` for a possible opener at a line's start. It is ``last`` if the slice may
    end with the beginning of a line, which passes. ``certain`` returns where an
    incomplete literal at a slice's end begins. ``heads``: the openers that count at a
    line's start, by first character. ``waits``: parts of openers that wait at a slice's
    end; with ``lines``, blanks wait there as well. Where ``border`` matches, ``behind``
    gives the gates for the text after the match.
    """

    pattern: re.Pattern[str]
    lines: bool = False
    certain: Callable[[str], int] = len
    heads: Mapping[str, Openers] = {}  # nobody writes into it
    waits: frozenset[str] = frozenset()
    border: Search = NOTHING
    behind: Callable[[Gates, str], Gates] = lambda gates, _: gates

    def __hash__(self) -> int:
        return id(self)

    def _find(self, text: str) -> re.Match[str] | None:
        """The first match in ``text`` that matters, or the beginning of its last
        line."""
        search = self.pattern.search
        match = search(text)
        while match is not None and match.lastgroup == "head":
            at = match.start("head")
            openers = self.heads[text[at]]
            if openers.at(text, at) or openers.goes_on(text[at : at + openers.longest]):
                return match
            match = search(text, match.start() + 1)
        return match

    def read(
        self, gate: Gate, text: str, fails: Callable[[str], bool]
    ) -> Passed | None:
        """How much of ``text`` after ``gate`` may pass, and the gates and the gate for
        the text after that. The end of ``text`` may wait. None: something before the
        end matters. ``fails(text)``: whether ``text`` at a line's start begins no form.
        """
        gates, done, rest = self, -len(gate), gate + text
        while (match := gates._find(rest)) and match.lastgroup != "last":
            end, border = match.start() + 1, gates.border(rest, match.start())
            if border is None:
                return gates._cut(rest, gates._passes(gate, rest), done, match.start())
            try:
                if rest[end : end + 1] in gates.heads and not fails(rest[end:]):
                    return None
            except UndecidedError:
                return gates._cut(rest, end, done, end - 1)
            done, rest = done + border.end(), rest[border.end() :]
            gates, gate = gates.behind(gates, border[0]), INSIDE
        return done + len(rest), gates, rest[match.start() :] if match else INSIDE

    def behind_all(self, gate: Gate, text: str) -> Passage | None:
        """The passage after ``text``; None if anything in it matters or has to wait."""
        read = self.read(gate, text, lambda _: False)
        return None if read is None or read[0] < len(text) else read[1:]

    def _cut(self, text: str, end: int, done: int, first: int) -> Passed | None:
        """The passage if everything from ``end`` on waits. ``first``: the place of the
        first match that matters."""
        match = self._find(text[:end])
        if match and match.lastgroup != "last":
            if first < end or text[match.start()] == "\n":
                return None
            end = match.start()  # of ``<<`` the second reading (`Rereading`) holds one
            match = self._find(text[:end])
        begun = match.start() if match and match.lastgroup == "last" else end
        return done + end, self, text[begun:end]

    def _passes(self, gate: Gate, text: str) -> int:
        """How much of ``text``, which includes its ``gate``, may pass while its end
        waits: the beginning of a literal, or the beginning of a line."""
        end = self.certain(text)
        start = text.rfind("\n", 0, end) + 1
        if not self.lines or not start or start < len(gate) or end - start > INDENT:
            return end
        begun = text[start:end].lstrip(BLANKS)
        if begun and (begun not in self.waits or end < len(text)):
            return end
        is_code = begun and text[start : end - len(begun)] not in _INDENTS
        return end if is_code else start


@lru_cache(maxsize=64)
def _search(literals: frozenset[str], line: str | None = None) -> re.Pattern[str]:
    """A pattern for beginnings of ``literals``, halves of characters, and what may
    matter after a line break (``line``). It begins with a character set, so that a
    search skips most text quickly."""
    tails: dict[str, list[str]] = {}
    for literal in literals:
        tails.setdefault(literal[0], []).append(literal[1:])
    ways = {first: _tails(rest) for first, rest in sorted(tails.items())}
    if line is not None:  # first, since most of what is found are line breaks
        line = "|".join([line, *filter(None, [ways.pop("\n", None)])])
        ways = {"\n": line, **ways}
    firsts = "".join(map(re.escape, ways))
    behind = [f"(?<={re.escape(first)})(?:{way})" for first, way in ways.items()]
    found = "|".join([*behind, f"(?<=[{HALVES}])"])
    return patterns.compile(f"[{firsts}{HALVES}](?:{found})")


def _tails(literals: Iterable[str]) -> str:
    """A pattern for the rest of one of ``literals``, complete or cut off by the text's
    end. An empty literal always matches."""
    return "" if "" in literals else rf"\Z|{beginnings(literals)}"


@lru_cache(maxsize=64)
def anywhere(literals: Literals) -> Gates:
    """Gates for text in which lines do not count."""
    return Gates(_search(literals.literals), certain=literals.certain)


@lru_cache(maxsize=2 + INDENT)
def in_code(indent: int) -> Gates:
    """Gates for a fence inside list items that are ``indent`` wide: a line with a
    smaller indent may end it. -1: for other code, which any line may end."""
    line = slices.line_of_code(indent)
    return Gates(_search(frozenset(), line), lines=indent > 0)


@lru_cache(maxsize=64)
def in_fence(fence: str, outside: Gates) -> Gates:
    """Gates for a ``fence`` that stands in no other block; ``outside`` are the gates
    after it."""
    search = _search(frozenset(), slices.line_of_fence(fence))
    border = patterns.compile(slices.end_of_fence(fence)).match
    return Gates(search, border=border, behind=lambda *_: outside)


@lru_cache(maxsize=64)
def in_info(literals: Literals, code: Gates) -> Gates:
    """Gates for the rest of a line after backticks that begin a fence; ``code`` are the
    gates inside the fence. One more backtick in this line would make it text, and a
    literal has to wait for the line's end."""
    search = _search(literals.literals | {"`", "\n"})
    return Gates(search, border=_BREAK, behind=lambda *_: code)


def line_gates(literals: Literals, heads: Mapping[str, Openers]) -> Gates:
    """Gates for the answer outside fences."""
    openers = tuple(each for openers in heads.values() for each in openers.literals)
    known = _search_in_text(literals.literals, openers), True, literals.certain

    def behind(outside: Gates, fence: str) -> Gates:
        return in_info(literals, in_fence(fence[1:], outside))

    ticks = any("`" in each for each in literals.literals)
    border = NOTHING if ticks else slices.OPENS.match
    return Gates(*known, heads, _waits(openers), border, behind)


@lru_cache(maxsize=64)
def _waits(openers: tuple[str, ...]) -> frozenset[str]:
    """The proper prefixes of ``openers``, which may wait."""
    return frozenset(each[:size] for each in openers for size in range(1, len(each)))


@lru_cache(maxsize=64)
def _search_in_text(
    literals: frozenset[str], openers: tuple[str, ...]
) -> re.Pattern[str]:
    firsts = "".join(sorted({re.escape(each[0]) for each in openers}))
    line = rf"{slices.LINE}|[{BLANKS}]*+(?P<head>{beginnings(openers)})"
    line = rf"(?=[{slices.FIRSTS}{firsts}]|\Z)(?:{line}|(?P<last>{slices.BEGUN}))"
    return _search(literals, line)
