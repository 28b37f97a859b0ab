"""Reasoning delimiters, ready to be looked for in text that comes in slices.

`Delimiters` answers where certain text ends: at a delimiter, or where the end of the
text so far may be the beginning of one. All names at once, the longest match wins,
nothing is decided that more text could change.
"""

from __future__ import annotations

import re
from typing import TypeAlias

Pair: TypeAlias = tuple[str, str]
"""Opener and closer."""


class Delimiters:
    """All reasoning delimiters of a stream, ready to be looked for."""

    def __init__(self, pairs: tuple[Pair, ...]) -> None:
        self.closers = frozenset(closer for _, closer in pairs)
        literals = {literal for pair in pairs for literal in pair}
        self.literals = sorted(literals, key=lambda text: (-len(text), text))
        self.longest = len(self.literals[0]) if literals else 1
        self.prefixes = frozenset(
            text[:end] for text in literals for end in range(1, len(text))
        )
        first = "".join(sorted({re.escape(text[0]) for text in literals}))
        #: the characters that may begin a delimiter
        self.first = re.compile(f"[{first}]" if first else r"(?!)")
        #: the same, and what may change the state of code or white space
        self.special = re.compile(f"[{first}`\n]")
        self.any = re.compile("|".join(map(re.escape, self.literals)) or r"(?!)")

    def certain(self, text: str, at: int) -> int:
        """Where a proper prefix of a delimiter at the end of ``text`` begins."""
        position = max(at, len(text) - self.longest + 1)
        while match := self.first.search(text, position):
            position = match.start()
            if text[position:] in self.prefixes:
                return position
            position += 1
        return len(text)

    def completions(self, before: str) -> list[str]:
        """What completes a delimiter begun at the end of ``before``, shortest first."""
        needs = {
            literal[size:]
            for size in range(1, min(self.longest, len(before) + 1))
            if (start := before[-size:]) in self.prefixes
            for literal in self.literals
            if literal.startswith(start)
        }
        return sorted(needs, key=lambda need: (len(need), need))

    def next(self, text: str, at: int, *, final: bool) -> tuple[int, str | None]:
        """Where certain text ends, and the delimiter there (None: none, or wait)."""
        end = len(text) if final else self.certain(text, at)
        match = self.any.search(text, at)
        if match is None or match.start() >= end:
            return end, None
        return match.start(), match[0]

    def rebuilt(self, before: str, text: str, *, final: bool) -> int | None:
        """How many characters of ``text`` complete a delimiter begun in ``before``.

        0: none do, None: it takes more text to know.
        """
        waits = False
        for need in self.completions(before):
            if text.startswith(need):
                return len(need)
            waits = waits or need.startswith(text)
        return None if waits and not final else 0
