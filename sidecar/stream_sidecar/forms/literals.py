"""Literals, prepared for a search in text that comes in slices.

`Literals` returns up to where text is certain: up to a literal, or up to an end that
may be the beginning of one. In ``"so </thi"`` only ``"so "`` is certain. It searches
for all literals at once, the longest match wins, and it decides nothing that more text
could change. `Delimiters` are the delimiters of reasoning, which must never be shown.
`rebuilt` finds text that would complete a literal begun earlier (text rule 5.1).
`UndecidedError` means that more text is needed.
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
"""Opener and closer. An empty opener: only the chat template writes it."""

_NAME = patterns.compile(r"<[\w.-]++>")
"""An opener that is a bare name."""

_TELLING = 4
"""This many characters of a literal are enough to rule it out in most text."""


class UndecidedError(Exception):
    """Deciding takes more text."""


class Literals:
    """A set of literals. ``longest``: the code points of the longest one, at least
    1."""

    def __init__(self, literals: Iterable[str]) -> None:
        self.literals = frozenset(literals)
        self.longest = max(map(len, self.literals), default=1)
        self._sizes = sorted({*map(len, self.literals)}, reverse=True)
        self._lasts = frozenset(text[-1] for text in self.literals)
        self.prefixes = frozenset(
            text[:end] for text in self.literals for end in range(1, len(text))
        )
        #: the characters that may begin a literal, escaped
        self.firsts = "".join(sorted({re.escape(text[0]) for text in self.literals}))
        self.first = patterns.compile(f"[{self.firsts}]" if self.firsts else r"(?!)")
        #: what is behind a beginning in the literals, as it is asked for
        self._needs: dict[str, tuple[str, ...]] = {}

    @cached_property
    def any(self) -> re.Pattern[str]:
        """Finds a literal; at one place, the longest. Compiled on first use, because
        most short streams contain none."""
        return patterns.compile(_alternatives(self.literals) or r"(?!)")

    def certain(self, text: str, at: int = 0) -> int:
        """Up to where ``text`` is certain; a literal may begin after that (text rule
        1.2)."""
        position = max(at, len(text) - self.longest + 1)
        while match := self.first.search(text, position):
            position = match.start()
            if text[position:] in self.prefixes:
                return position
            position += 1
        return len(text)

    def size_at_end(self, text: str) -> int:
        """The length of the longest literal at the end of ``text``, or 0."""
        if text[-1:] not in self._lasts:
            return 0
        return next((n for n in self._sizes if text[-n:] in self.literals), 0)

    def next(self, text: str, at: int, *, final: bool) -> tuple[int, str | None]:
        """Where certain text ends, and the literal there or None (text rule 3.1)."""
        end = len(text) if final else self.certain(text, at)
        match = self.any.search(text, at)
        if match is None or match.start() >= end:
            return end, None
        return match.start(), match[0]

    def needs(self, start: str) -> tuple[str, ...]:
        """The rests that complete ``start``, a prefix, to each of the literals."""
        found = self._needs.get(start)
        if found is None:
            longer = (each for each in self.literals if each != start)
            begun = (each for each in longer if each.startswith(start))
            found = self._needs[start] = tuple(each[len(start) :] for each in begun)
        return found


class Openers:
    """Literals, of which those at the start of a text are looked up. The cost depends
    neither on their number nor on how much of them is the same."""

    def __init__(self, literals: Iterable[str]) -> None:
        self.literals = tuple(literals)
        self.longest = max(map(len, self.literals), default=0)
        self._order = {literal: place for place, literal in enumerate(self.literals)}
        self._sizes = sorted({*map(len, self.literals)})
        self._sorted = sorted(self.literals)

    def at(self, text: str, at: int) -> list[str]:
        """The literals at place ``at`` of ``text``, in the order of the set."""
        rest = text[at : at + self.longest]
        sizes = (size for size in self._sizes if size <= len(rest))
        found = [begun for size in sizes if (begun := rest[:size]) in self._order]
        return sorted(found, key=self._order.__getitem__) if len(found) > 1 else found

    def is_begun(self, begun: str) -> bool:
        """Whether ``begun`` is a proper prefix of a literal."""
        place = bisect_right(self._sorted, begun)
        return place < len(self._sorted) and self._sorted[place].startswith(begun)


def beginnings(literals: Iterable[str]) -> str:
    """A pattern that matches wherever one of the ``literals`` may begin, and at a few
    other places: it looks at the first `_TELLING` characters only."""
    whole = {text[:_TELLING] for text in literals}
    begun = {text[:end] for text in whole for end in range(1, len(text))}
    at_end = f"(?!(?s:.{{{_TELLING}}}))"  # it is soon told that this is not the end
    cut = rf"|{at_end}(?:{_alternatives(begun)})\Z" if begun else ""
    return f"{_alternatives(whole)}{cut}" if whole else r"(?!)"


class Delimiters(Literals):
    """All reasoning delimiters of a stream. ``partners``: for each delimiter, the
    closers of the block that it opens or closes."""

    def __init__(self, pairs: tuple[Pair, ...]) -> None:
        super().__init__({literal for pair in pairs for literal in pair if literal})
        self.closers = frozenset(closer for _, closer in pairs)
        self.partners = _partners(pairs)
        self._before: dict[str, int] = {}

    def size_without(self, literal: str) -> int:
        """How much of another ``literal`` comes before the first place in it where a
        delimiter may begin; 0: a delimiter begins it."""
        size = self._before.get(literal)
        if size is None:
            begins = (at for at in range(len(literal)) if self._may_begin(literal, at))
            size = self._before[literal] = next(begins, len(literal))
        return size

    def _may_begin(self, text: str, at: int) -> bool:
        return self.any.match(text, at) is not None or (
            at > 0 and text[at:] in self.prefixes
        )


def _partners(pairs: tuple[Pair, ...]) -> dict[str, frozenset[str]]:
    """For each opener and closer, all closers of its family (text rule 3.3).

    Models mix up names without a colon (``<think>a</thinking>``), so these are one
    family. Any other opener has the closers of its own pairs.
    """
    families: defaultdict[str, set[str]] = defaultdict(set)
    for opener, closer in pairs:
        families[_family(opener)].add(closer)
    closers = {family: frozenset(each) for family, each in families.items()}
    return {each: closers[_family(pair[0])] for pair in pairs for each in pair}


def _family(opener: str) -> str:
    return "<>" if _NAME.fullmatch(opener) else opener


def completions(literals: Literals, before: str) -> list[str]:
    """The texts that complete a literal begun at the end of ``before``, shortest
    first."""
    needs = {
        need
        for size in range(1, min(literals.longest, len(before) + 1))
        if (start := before[-size:]) in literals.prefixes
        for need in literals.needs(start)
    }
    return sorted(needs, key=lambda need: (len(need), need))


def rebuilt(literals: Literals, before: str, text: str, *, final: bool) -> int:
    """How much of ``text`` completes a literal begun in ``before``, or 0 (text rule
    5.1). Raises UndecidedError if that takes more text."""
    waits = False
    for need in completions(literals, before):
        if text.startswith(need):
            return len(need)
        waits = waits or need.startswith(text)
    if waits and not final:
        raise UndecidedError
    return 0


def _alternatives(literals: Iterable[str]) -> str:
    """One pattern for all literals, built as a tree of their common beginnings; the
    longest match wins."""
    tree: dict[str, Any] = {}
    for literal in literals:
        node = tree
        for character in literal:
            node = node.setdefault(character, {})
        node[""] = {}
    return _branch(tree)


def _branch(node: dict[str, Any]) -> str:
    run = ""
    while len(node) == 1:  # one way on: no recursion
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
