"""Patterns that prove a slice of text plain: where none matches, nobody has to read it.

The search of such a pattern finds anything that may matter: the beginning of a literal,
half a character, an opener that begins a line, what may begin a fence, and what waits
at the slice's end, since more could make it one of these: blanks at a line's beginning,
a list mark. What stands before the slice on a line that is not known yet is read with
it: its gate. A line break itself passes, and so do backticks within a line: whether
they make code is only asked where a literal stands. Example: ``hello\n`` passes, and
``a <`` does not.
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
"""What stands before a slice: a line break and the beginning of a line that may become
anything, else nothing."""

NOTHING = patterns.compile(r"(?!)").match
_BREAK = patterns.compile(r"(?=\n)").match
_INDENTS = ("", " ", "  ", "   ")
"""A line that begins with other blanks may be code."""

AT_ONCE = 1024
"""Longer text is read in slices: one place that matters costs the slow reading of its
slice and no more, and each step copies the rest of one."""

INSIDE: Gate = ""

ROOM = INDENT + 1  # for blanks that begin a line, which wait


def in_slices(text: str) -> Iterator[str]:
    """``text`` in slices that are read at once."""
    for at in range(0, len(text), AT_ONCE):
        yield text[at : at + AT_ONCE]


def on(start: str) -> Gate:
    """The gate in a line that begins with ``start``."""
    return "\n" + start


class Gates(NamedTuple):
    """How slices are read in one kind of text.

    ``pattern`` finds whatever may matter. It is compiled when it is first used. Its
    group is ``head`` where that may be an opener that begins a line, and ``last`` where
    the slice may end with the beginning of a line, which passes. ``certain`` gives
    where the beginning of a literal at a slice's end begins. ``heads`` are the openers
    that begin lines, by their first character. ``waits`` are parts of openers that wait
    at a slice's end, as blanks do there if ``lines`` count. Where ``border`` matches,
    the gates are those ``behind`` it.
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
        """What matters first in ``text``, or begins its last line."""
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
        """How much of ``text`` behind ``gate`` may pass, where its end may wait, and
        gates and gate behind that; None: something else in it matters. ``fails`` tells
        whether no form begins a line so."""
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
        """The passage behind ``text``, if nothing in it matters or has to wait."""
        read = self.read(gate, text, lambda _: False)
        return None if read is None or read[0] < len(text) else read[1:]

    def _cut(self, text: str, end: int, done: int, first: int) -> Passed | None:
        """The passage if all from ``end`` on waits; at ``first`` something matters."""
        match = self._find(text[:end])
        if match and match.lastgroup != "last":
            if first < end or text[match.start()] == "\n":
                return None
            end = match.start()  # of ``<<`` the second reading (`Rereading`) holds one
            match = self._find(text[:end])
        begun = match.start() if match and match.lastgroup == "last" else end
        return done + end, self, text[begun:end]

    def _passes(self, gate: Gate, text: str) -> int:
        """How much of ``text``, with which its ``gate`` is, may pass where its end
        waits, as the beginning of a literal does, and what begins a line."""
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
    """What finds beginnings of ``literals``, half a character, and what may matter of a
    ``line``, behind its break. It begins with a set, so most text is soon looked at."""
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
    """What goes on as one of the ``literals``, or may; an empty one always does."""
    return "" if "" in literals else rf"\Z|{beginnings(literals)}"


@lru_cache(maxsize=64)
def anywhere(literals: Literals) -> Gates:
    """Gates where lines do not count."""
    return Gates(_search(literals.literals), certain=literals.certain)


@lru_cache(maxsize=2 + INDENT)
def in_code(indent: int) -> Gates:
    """In a fence in items that are ``indent`` wide, where a line with less may end it;
    in other code, -1, any may."""
    line = slices.line_of_code(indent)
    return Gates(_search(frozenset(), line), lines=indent > 0)


@lru_cache(maxsize=64)
def in_fence(fence: str, outside: Gates) -> Gates:
    """In a ``fence`` in nothing else, where it is known what is ``outside``."""
    search = _search(frozenset(), slices.line_of_fence(fence))
    border = patterns.compile(slices.end_of_fence(fence)).match
    return Gates(search, border=border, behind=lambda *_: outside)


@lru_cache(maxsize=64)
def in_info(literals: Literals, code: Gates) -> Gates:
    """Behind backticks that begin a fence, in which ``code`` are the gates: one more in
    their line would make it text, and a literal has to wait for its end."""
    search = _search(literals.literals | {"`", "\n"})
    return Gates(search, border=_BREAK, behind=lambda *_: code)


def line_gates(literals: Literals, heads: Mapping[str, Openers]) -> Gates:
    """Gates of the answer outside fences."""
    openers = tuple(each for openers in heads.values() for each in openers.literals)
    known = _search_in_text(literals.literals, openers), True, literals.certain

    def behind(outside: Gates, fence: str) -> Gates:
        return in_info(literals, in_fence(fence[1:], outside))

    ticks = any("`" in each for each in literals.literals)
    border = NOTHING if ticks else slices.OPENS.match
    return Gates(*known, heads, _waits(openers), border, behind)


@lru_cache(maxsize=64)
def _waits(openers: tuple[str, ...]) -> frozenset[str]:
    """The parts of ``openers``, which may wait."""
    return frozenset(each[:size] for each in openers for size in range(1, len(each)))


@lru_cache(maxsize=64)
def _search_in_text(
    literals: frozenset[str], openers: tuple[str, ...]
) -> re.Pattern[str]:
    firsts = "".join(sorted({re.escape(each[0]) for each in openers}))
    line = rf"{slices.LINE}|[{BLANKS}]*+(?P<head>{beginnings(openers)})"
    line = rf"(?=[{slices.FIRSTS}{firsts}]|\Z)(?:{line}|(?P<last>{slices.BEGUN}))"
    return _search(literals, line)
