"""An independent, naive reading of code in whole text: what must stay visible.

Written from the rules alone (text rule 4.1, text rule 4.3, text rule 4.4), with regular
expressions over whole lines and no state, to be compared with what the engine does
character by character:

- a *span* is a backtick run, of at most 32, up to an equal run on the same line, first
  come first;
- a *fence* is a line that starts, after blanks, ``>`` and list marks, with three or
  more backticks or tildes; a line of blanks and ``>`` with at least as many and nothing
  else closes it; unclosed it runs to the end.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_OPENS = re.compile(r"(?:[ \t\r\f\v>]|[-*+](?=[ \t])|\d+[.)](?=[ \t]))*(`{3,}|~{3,})")
_CLOSES = re.compile(r"[ \t\r\f\v>]*(`{3,}|~{3,})[ \t\r\f\v]*")
_RUN = re.compile("`+")


def code_ranges(text: str) -> Iterator[tuple[int, int]]:
    """``(start, end)`` of everything in ``text`` that is code, in order."""
    position, fence = 0, ""
    for line in text.split("\n"):
        end = position + len(line)
        closes = _CLOSES.fullmatch(line)
        opens = _OPENS.match(line)
        if fence:
            yield position, end
            if closes and closes[1].startswith(fence):
                fence = ""
        elif opens:
            fence = opens[1]
            yield position + opens.start(1), end
        else:
            yield from _spans(line, position)
        position = end + 1


def _spans(line: str, position: int) -> Iterator[tuple[int, int]]:
    runs = [run for run in _RUN.finditer(line) if len(run[0]) <= 32]
    while runs:
        first = runs.pop(0)
        partner = next((i for i, run in enumerate(runs) if run[0] == first[0]), None)
        if partner is not None:
            yield position + first.start(), position + runs[partner].end()
            runs = runs[partner + 1 :]


def outside_code(text: str, literals: Iterable[str]) -> list[tuple[int, str]]:
    """Where ``literals`` stand in ``text`` outside code: ``(start, literal)``."""
    longest_first = sorted(literals, key=len, reverse=True)
    any_of = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")
    ranges = list(code_ranges(text))
    return [
        (match.start(), match[0])
        for match in any_of.finditer(text)
        if not any(start <= match.start() < end for start, end in ranges)
    ]


def tiles(raw: str, pieces: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Lays ``pieces`` (start, end, text) over ``raw``; gives the pieces left over.

    AssertionError when they do not cover every character of ``raw`` exactly once.
    """
    rest = sorted(pieces, key=lambda piece: piece[0])
    position = 0
    while position < len(raw):
        piece = next((p for p in rest if _fits(p, raw, position)), None)
        assert piece, f"nothing accounts for {raw[position : position + 40]!r} {rest!r}"
        rest.remove(piece)
        position = piece[1]
    return rest


def _fits(piece: tuple[int, int, str], raw: str, position: int) -> bool:
    start, end, text = piece
    return start == position and end > start and raw[start:end] == text


DEFAULT_DELIMITERS = (
    *("<think>", "</think>", "<thinking>", "</thinking>", "<thought>", "</thought>"),
    *("<mm:think>", "</mm:think>", "<seed:think>", "</seed:think>"),
    *("[THINK]", "[/THINK]", "◁think▷", "◁/think▷"),
)
"""The default tags of protocol.md, "Policy", and their closers, written out."""


def delimiters_of(tags: list[str] | None) -> tuple[str, ...]:
    """The delimiters of ``reasoning.tags``; a profile's are not known here."""
    if tags is None:
        return DEFAULT_DELIMITERS
    bare = [f"<{tag}>" if re.fullmatch(r"[\w:.-]+", tag) else tag for tag in tags]
    return (*bare, *(re.sub(r"(?=\w)", "/", tag, count=1) for tag in bare))


def healed(text: str) -> str:
    """Half characters joined where they meet, U+FFFD where they have no partner."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
