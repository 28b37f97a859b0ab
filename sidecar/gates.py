"""What a slice of text must not have to pass as it stands.

A gate is a function of a slice, true when anything in it may matter: the beginning of a
literal, half a character, an opener that begins a line, what may begin a fence, and
what waits at the slice's end, since more could make it one of these: blanks at a line's
beginning, a list mark. There are three for each state of the text: where the slice
begins a line, where it goes on with one, and where it stands behind the beginning of a
list, a quote or a code span. A line break itself passes, and so do backticks within a
line: whether they make code is only asked where a literal stands.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from sidecar.markdown import BLANKS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

HALVES = "\ud800-\udfff"
"""Halves of a character of two UTF-16 units: they wait for each other."""

INDENT = 24
"""So many blanks at a line's beginning pass at most; more must be able to wait."""

_ORDINARY = rf"[^\n{BLANKS}>*+\-~`\d]"
"""What begins no quote, list or fence (`sidecar.markdown`)."""

_PREFIX = rf"(?:[*+\-][ \t]|\d{{1,9}}[.)][ \t]|[>{BLANKS}]){{0,12}}+"
"""Quotes and list marks, behind which a fence may begin."""

_GOES_ON = rf"{_ORDINARY}|\n|[*+\-][^ \t]|`{{1,2}}[^`]|\d{{1,9}}(?:[^\d.)]|[.)][^ \t])"
"""What ends the prefix, so that no fence begins on the line."""

_LINE = rf"\Z|[{BLANKS}]{{0,{INDENT}}}+(?![{BLANKS}]){_PREFIX}(?:{_GOES_ON})"
_MARKED = rf"(?![.)]){_ORDINARY}"
"""A line, and the rest of one behind a prefix or a part of it, that may pass."""


class Gates(NamedTuple):
    """``begins``: for a slice that begins a line; ``inside``: for one that goes on;
    ``marked``: for one behind what may be a part of a list mark, a quote or a span."""

    begins: Callable[[str], object]
    inside: Callable[[str], object]
    marked: Callable[[str], object]


@lru_cache(maxsize=64)
def anywhere(literal: str) -> Gates:
    """Gates where lines do not count; ``literal``: a pattern of how one may begin."""
    search = re.compile(f"{literal}|[{HALVES}]").search
    return Gates(search, search, search)


IN_FENCE = anywhere("[`~]")
"""In fenced code only the line counts that closes it."""


def line_gates(literal: str, heads: Mapping[str, Sequence[str]]) -> Gates:
    """Gates of the answer outside fences; ``heads``: the openers that begin lines, by
    their first character."""
    begins, inside, marked = _patterns(literal, "".join(sorted(heads)))
    return Gates(
        _gate(begins, inside, heads),
        _gate(inside, inside, heads),
        _gate(marked, inside, heads),
    )


def _gate(
    pattern: re.Pattern[str],
    inside: re.Pattern[str],
    heads: Mapping[str, Sequence[str]],
) -> Callable[[str], bool]:
    search, go_on = pattern.search, inside.search
    longest = max((len(each) for some in heads.values() for each in some), default=0)

    def matters(text: str) -> bool:
        match = search(text)
        while match is not None:
            if match.lastgroup is None:
                return True
            at = match.start("head")
            rest = text[at : at + longest]
            for opener in heads[text[at]]:
                if rest.startswith(opener) or opener.startswith(rest):
                    return True
            match = go_on(text, at)  # a literal may begin there
        return False

    return matters


@lru_cache(maxsize=64)
def _patterns(literal: str, heads: str) -> tuple[re.Pattern[str], ...]:
    """For the beginning of a line, its inside, and behind a mark; ``head`` may begin an
    opener."""
    head = f"[{BLANKS}]*+(?P<head>[{re.escape(heads)}])" if heads else r"(?!)"
    line = f"(?:(?!{_LINE})|{head})"
    rest = f"{literal}|[{HALVES}]"
    return (
        re.compile(rf"(?:\A|\n){line}|{rest}"),
        re.compile(rf"\n{line}|{rest}"),
        re.compile(rf"\A(?!{_MARKED})|\n{line}|{rest}"),
    )
