"""Sets of literals, prepared for a search in text that comes in slices.

`Literals` searches for all its literals at once; the longest match wins. It reports
only what more text cannot change: text is certain up to the next literal, or up to an
end that may be the beginning of a literal. In ``"so </thi"`` only ``"so "`` is certain.
`Delimiters` are the delimiters of reasoning, which must never be shown. `rebuilt` finds
text that would complete a literal begun earlier (text rule 5.1). `UndecidedError` means
that more text is needed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from stream_sidecar import patterns

if TYPE_CHECKING:
    from collections.abc import Iterable

Pair: TypeAlias = tuple[str, str]
"""An opener and its closer. The opener is empty if only the chat template writes it."""

_NAME = patterns.compile(r"<[\w.-]++>")
"""Matches an opener that is a bare name, such as ``<think>``."""

_COMPARED = 4
"""`beginnings` compares so many characters of a literal, enough for most text."""


class UndecidedError(Exception):
    """More text is needed for a decision."""


class Literals:
    """A set of literals. ``longest``: code points of the longest, at least 1."""

    def __init__(self, literals: Iterable[str]) -> None:
        self.literals = frozenset(literals)
        self.longest = max(map(len, self.literals), default=1)
        self._lasts = frozenset(text[-1] for text in self.literals)
        self.prefixes = frozenset(
            text[:end] for text in self.literals for end in range(1, len(text))
        )
        #: the characters with which literals begin, escaped for a pattern
        self.firsts = "".join(sorted({re.escape(text[0]) for text in self.literals}))
        self.first = patterns.compile(f"[{self.firsts}]" if self.firsts else r"(?!)")
        #: results of `needs`
        self._needs: dict[str, tuple[str, ...]] = {}

    @cached_property
    def any(self) -> re.Pattern[str]:
        """A pattern that matches the longest literal at a place. It is compiled on
        first use, because most short streams contain no literal."""
        return patterns.compile(_alternatives(self.literals) or r"(?!)")

    @cached_property
    def _ended(self) -> re.Pattern[str]:
        """Matches, in reversed text, all literals in a row at its start."""
        backwards = _alternatives(text[::-1] for text in self.literals)
        return patterns.compile(f"(?:{backwards})++")

    @cached_property
    def others(self) -> re.Pattern[str]:
        """A pattern for text in which no literal begins, not even at the end."""
        starts = beginnings(self.literals)
        run = f"[^{self.firsts}]++|" if self.firsts else ""
        return patterns.compile(f"(?:{run}(?!{starts})(?s:.))*+")

    def certain(self, text: str, index: int = 0) -> int:
        """The number of characters of ``text`` that more text cannot change: up to the
        beginning of a literal that the text's end may cut off, else all of them (text
        rule 1.2). ``index``: where to begin the search."""
        position = max(index, len(text) - self.longest + 1)
        while match := self.first.search(text, position):
            position = match.start()
            if text[position:] in self.prefixes:
                return position
            position += 1
        return len(text)

    def without_end(self, text: str) -> str:
        """``text`` without the literals at its end, the longest first."""
        if text[-1:] not in self._lasts:
            return text
        ended = self._ended.match(text[::-1])
        return text[: len(text) - ended.end()] if ended else text

    def next(self, text: str, index: int, *, final: bool) -> tuple[int, str | None]:
        """The index of the next literal, and the literal (text rule 3.1). If there is
        none, the number of certain characters (see `certain`), and None."""
        end = len(text) if final else self.certain(text, index)
        match = self.any.search(text, index)
        if match is None or match.start() >= end:
            return end, None
        return match.start(), match[0]

    def needs(self, start: str) -> tuple[str, ...]:
        """The texts that complete ``start`` to a literal."""
        endings = self._needs.get(start)
        if endings is None:
            size = len(start)
            words = (word for word in self.literals if word.startswith(start))
            endings = tuple(word[size:] for word in words if len(word) > size)
            self._needs[start] = endings
        return endings


class Openers:
    """Literals, found in a time that neither their number nor their length changes."""

    def __init__(self, literals: Iterable[str]) -> None:
        self.literals = tuple(literals)
        self.longest = max(map(len, self.literals), default=0)
        self._order = {literal: place for place, literal in enumerate(self.literals)}
        self._sizes = sorted({*map(len, self.literals)})
        self._sorted = sorted(self.literals)

    def at(self, text: str, index: int) -> list[str]:
        """All literals that begin at ``index`` in ``text``, in their given order."""
        ahead = text[index : index + self.longest]
        sizes = (size for size in self._sizes if size <= len(ahead))
        openers = [opener for size in sizes if (opener := ahead[:size]) in self._order]
        return (
            sorted(openers, key=self._order.__getitem__)
            if len(openers) > 1
            else openers
        )

    def is_begun(self, begun: str) -> bool:
        """Whether ``begun`` is a proper prefix of a literal."""
        place = bisect_right(self._sorted, begun)
        return place < len(self._sorted) and self._sorted[place].startswith(begun)


def beginnings(literals: Iterable[str]) -> str:
    """A pattern that matches wherever one of ``literals``, or a literal cut off by the
    text's end, may begin. It compares only `_COMPARED` characters, so it matches at a
    few other places, too."""
    heads = {text[:_COMPARED] for text in literals}
    prefixes = {text[:end] for text in heads for end in range(1, len(text))}
    at_end = f"(?!(?s:.{{{_COMPARED}}}))"  # quick: is the text's end near?
    cut_pattern = rf"|{at_end}(?:{_alternatives(prefixes)})\Z" if prefixes else ""
    return f"{_alternatives(heads)}{cut_pattern}" if heads else r"(?!)"


class Delimiters(Literals):
    """All reasoning delimiters of a stream. ``closers``: the delimiters that close a
    block. ``partners``: delimiter -> the closers of the block that it opens or
    closes."""

    def __init__(self, pairs: tuple[Pair, ...]) -> None:
        super().__init__({literal for pair in pairs for literal in pair if literal})
        self.closers = frozenset(closer for _, closer in pairs)
        self.partners = _partners(pairs)
        self._before: dict[str, int] = {}

    def size_without(self, literal: str) -> int:
        """The number of characters in ``literal`` before the first place where a
        delimiter may begin; 0 if one begins at its start. ``literal`` itself is no
        delimiter."""
        size = self._before.get(literal)
        if size is None:
            begins = (
                index
                for index in range(len(literal))
                if self.any.match(literal, index)
                or (index > 0 and literal[index:] in self.prefixes)
            )
            size = self._before[literal] = next(begins, len(literal))
        return size


def _partners(pairs: tuple[Pair, ...]) -> dict[str, frozenset[str]]:
    """For each delimiter, all closers of its family (text rule 3.3). All bare names
    without a colon are one, because models mix them up: ``<think>a</thinking>``."""
    families: defaultdict[str, set[str]] = defaultdict(set)
    for opener, closer in pairs:
        families[_family(opener)].add(closer)
    closers = {family: frozenset(delimiter) for family, delimiter in families.items()}
    return {
        delimiter: closers[_family(pair[0])] for pair in pairs for delimiter in pair
    }


def _family(opener: str) -> str:
    return "<>" if _NAME.fullmatch(opener) else opener


def completions(literals: Literals, text_before: str) -> list[str]:
    """The texts that complete a literal begun in ``text_before``, shortest first."""
    needs = {
        need
        for size in range(1, min(literals.longest, len(text_before) + 1))
        if (start := text_before[-size:]) in literals.prefixes
        for need in literals.needs(start)
    }
    return sorted(needs, key=lambda need: (len(need), need))


def rebuilt(literals: Literals, text_before: str, text: str, *, final: bool) -> int:
    """The number of characters at the start of ``text`` that complete a literal begun
    at the end of ``text_before``; 0 if they complete none (text rule 5.1). Example:
    ``</thi`` and ``nk>`` give 3. Raises UndecidedError if more text is needed."""
    is_undecided = False
    for need in completions(literals, text_before):
        if text.startswith(need):
            return len(need)
        is_undecided = is_undecided or need.startswith(text)
    if is_undecided and not final:
        raise UndecidedError
    return 0


def _alternatives(literals: Iterable[str]) -> str:
    """One pattern for all literals as a tree of beginnings; the longest wins."""
    tree: dict[str, Any] = {}
    for literal in literals:
        node = tree
        for character in literal:
            node = node.setdefault(character, {})
        node[""] = {}
    return _branch(tree)


def _branch(node: dict[str, Any]) -> str:
    run = ""
    while len(node) == 1:  # a single branch needs no recursion
        ((character, node),) = node.items()
        run += re.escape(character)
    ways = [
        re.escape(character) + _branch(below)
        for character, below in sorted(node.items())
        if character
    ]
    if not ways:
        return run
    return f"{run}(?:{'|'.join(ways)}){'?' if '' in node else ''}"
