r"""The fast path: patterns prove a slice of text plain, so that no step has to read it.

A pattern's search finds everything that may matter: the beginning of a literal, half a
character, an opener at a line's start, the beginning of a fence. It also finds an end
of the slice that more text could turn into one of these: blanks at a line's start, a
list mark. If it finds nothing, the slice passes. Line breaks pass. So do backticks
inside a line: whether they are code matters only once a literal comes.

A slice may begin inside a line whose beginning is still undecided, such as ``- ``. This
beginning is the slice's gate, and is searched together with the slice. `Gates` has the
pattern for one kind of text. A `Passage` is all that the next slice needs: its `Gates`
and its gate. Example: ``hello\n`` passes, and ``a <`` does not.
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

Passage: TypeAlias = "tuple[Gates, Gate]"  # for the next slice
Passed: TypeAlias = "tuple[int, Gates, Gate]"  # how much passed, then a passage

Gate: TypeAlias = str
"""The text searched before a slice: a line break and the undecided beginning of a line,
or nothing."""

NOTHING = patterns.compile(r"(?!)").match
_BREAK = patterns.compile(r"(?=\n)").match
_INDENTS = ("", " ", "  ", "   ")
"""A line that begins with exactly one of these blanks is certainly no indented code."""

AT_ONCE = 1024
"""Longer text is read in slices of this many code points. So one place that matters
makes one slice slow, not all of the text, and no step copies more than a slice."""

INSIDE: Gate = ""

ROOM = INDENT + 1  # code points that may wait at a line's start: its blanks


def in_slices(text: str) -> Iterator[str]:
    """``text`` in slices of at most `AT_ONCE` characters."""
    for at in range(0, len(text), AT_ONCE):
        yield text[at : at + AT_ONCE]


def on(start: str) -> Gate:
    """The gate inside a line that begins with ``start``."""
    return "\n" + start


class Gates(NamedTuple):
    """How slices are searched in one kind of text: the answer, a fence, reasoning ...

    - ``pattern`` finds what may matter. Its group ``head`` is a possible opener at a
      line's start. Its group ``last`` is the beginning of a line at the slice's end,
      which passes and becomes the next gate.
    - ``lines``: blanks at a line's start wait if they end the slice.
    - ``certain`` returns where an incomplete literal at the slice's end begins.
    - ``heads``: first character -> the openers that count at a line's start.
    - ``waits``: beginnings of openers that wait if they end the slice.
    - ``border`` matches where this kind of text ends. ``after`` returns the gates for
      the text after the match.
    """

    pattern: re.Pattern[str]
    lines: bool = False
    certain: Callable[[str], int] = len
    heads: Mapping[str, Openers] = {}  # nobody writes into it
    waits: frozenset[str] = frozenset()
    border: Search = NOTHING
    after: Callable[[Gates, str], Gates] = lambda gates, _: gates

    def __hash__(self) -> int:
        return id(self)

    def _find(self, text: str) -> re.Match[str] | None:
        """The first match in ``text`` that matters; if there is none, the match of the
        beginning of the last line; else None."""
        search = self.pattern.search
        match = search(text)
        while match is not None and match.lastgroup == "head":
            at = match.start("head")
            openers = self.heads[text[at]]
            if openers.at(text, at) or openers.is_begun(
                text[at : at + openers.longest]
            ):
                return match
            match = search(text, match.start() + 1)
        return match

    def read(
        self, gate: Gate, text: str, fails: Callable[[str], bool]
    ) -> Passed | None:
        """How many characters of ``text`` may pass, and the passage for the text after
        them. If these are not all characters, the rest of ``text`` has to wait. None:
        something before the end of ``text`` matters.

        ``gate``: the gate of ``text``. ``fails(text)``: whether ``text`` at a line's
        start certainly begins no form.
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
            gates, gate = gates.after(gates, border[0]), INSIDE
        return done + len(rest), gates, rest[match.start() :] if match else INSIDE

    def after_all(self, gate: Gate, text: str) -> Passage | None:
        """The passage after ``text``; None if anything in it matters or has to wait."""
        read = self.read(gate, text, lambda _: False)
        return None if read is None or read[0] < len(text) else read[1:]

    def _cut(self, text: str, end: int, done: int, first: int) -> Passed | None:
        """The result of `read` if ``text`` from index ``end`` on has to wait. ``done``:
        how much passed before ``text``. ``first``: where the first match that matters
        begins."""
        match = self._find(text[:end])
        if match and match.lastgroup != "last":
            if first < end or text[match.start()] == "\n":
                return None
            end = match.start()  # of ``<<`` the second reading (`Rereading`) holds one
            match = self._find(text[:end])
        begun = match.start() if match and match.lastgroup == "last" else end
        return done + end, self, text[begun:end]

    def _passes(self, gate: Gate, text: str) -> int:
        """The index in ``text`` from which the text has to wait: where a literal at its
        end begins, or the last line. ``text`` includes its ``gate``."""
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
    """A pattern that finds beginnings of ``literals`` and halves of characters. With
    ``line``, a second pattern, it also finds a line break right before a match of
    ``line``. It begins with a character set, so that a search skips most text
    quickly."""
    tails: dict[str, list[str]] = {}
    for literal in literals:
        tails.setdefault(literal[0], []).append(literal[1:])
    ways = {first: _tails(rest) for first, rest in sorted(tails.items())}
    if line is not None:  # first, since most of what is found are line breaks
        line = "|".join([line, *filter(None, [ways.pop("\n", None)])])
        ways = {"\n": line, **ways}
    firsts = "".join(map(re.escape, ways))
    after = [f"(?<={re.escape(first)})(?:{way})" for first, way in ways.items()]
    found = "|".join([*after, f"(?<=[{HALVES}])"])
    return patterns.compile(f"[{firsts}{HALVES}](?:{found})")


def _tails(literals: Iterable[str]) -> str:
    """A pattern that matches one of ``literals`` here, complete or cut off by the
    text's end. If one of them is empty, it matches everywhere."""
    return "" if "" in literals else rf"\Z|{beginnings(literals)}"


@lru_cache(maxsize=64)
def anywhere(literals: Literals) -> Gates:
    """The gates for text whose lines do not matter, such as reasoning."""
    return Gates(_search(literals.literals), certain=literals.certain)


@lru_cache(maxsize=2 + INDENT)
def in_code(indent: int) -> Gates:
    """The gates for a fence inside list items that are ``indent`` wide: a line indented
    less may end the fence. With ``indent`` -1, the gates for other code, which any line
    may end."""
    line = slices.line_of_code(indent)
    return Gates(_search(frozenset(), line), lines=indent > 0)


@lru_cache(maxsize=64)
def in_fence(fence: str, outside: Gates) -> Gates:
    """The gates for the inside of a ``fence`` that stands in no quote or list.
    ``outside``: the gates for the text after the fence."""
    search = _search(frozenset(), slices.line_of_fence(fence))
    border = patterns.compile(slices.end_of_fence(fence)).match
    return Gates(search, border=border, after=lambda *_: outside)


@lru_cache(maxsize=64)
def in_info(literals: Literals, code: Gates) -> Gates:
    """The gates for the rest of a line after the backticks that begin a fence.

    A further backtick would make the line text, and a literal has to wait for the
    line's end. ``code``: the gates for the inside of the fence.
    """
    search = _search(literals.literals | {"`", "\n"})
    return Gates(search, border=_BREAK, after=lambda *_: code)


def line_gates(literals: Literals, heads: Mapping[str, Openers]) -> Gates:
    """The gates for the answer outside fences. ``heads``: see `Gates`."""
    openers = tuple(each for openers in heads.values() for each in openers.literals)
    known = _search_in_text(literals.literals, openers), True, literals.certain

    def after(outside: Gates, fence: str) -> Gates:
        return in_info(literals, in_fence(fence[1:], outside))

    ticks = any("`" in each for each in literals.literals)
    border = NOTHING if ticks else slices.OPENS.match
    return Gates(*known, heads, _waits(openers), border, after)


@lru_cache(maxsize=64)
def _waits(openers: tuple[str, ...]) -> frozenset[str]:
    """The proper prefixes of ``openers`` that wait at a slice's end. A line's beginning
    of more than `INDENT` characters never waits, so longer prefixes are left out:
    openers with names of tools may be long."""
    sizes = range(1, INDENT + 1)
    return frozenset(
        each[:size] for each in openers for size in sizes if size < len(each)
    )


@lru_cache(maxsize=64)
def _search_in_text(
    literals: frozenset[str], openers: tuple[str, ...]
) -> re.Pattern[str]:
    firsts = "".join(sorted({re.escape(each[0]) for each in openers}))
    line = rf"{slices.LINE}|[{BLANKS}]*+(?P<head>{beginnings(openers)})"
    line = rf"(?=[{slices.FIRSTS}{firsts}]|\Z)(?:{line}|(?P<last>{slices.BEGUN}))"
    return _search(literals, line)
