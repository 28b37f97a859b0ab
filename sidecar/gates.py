"""What a slice of text must not have to pass as it stands.

A gate is a function of a slice, true when anything in it may matter: the beginning of a
literal, half a character, a line that may begin with an opener, a list, a quote, a
fence or blanks (which wait for what follows them). There are two for each state of the
text: where the slice begins a line, and where it goes on with one. A line break itself
passes, and so do backticks within a line: whether they make code is only asked where a
literal stands.
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

_MARKS = r">*+\-~`\d"
"""What may begin a quote, a list or a fence (`sidecar.markdown`)."""


class Gates(NamedTuple):
    """``begins``: for a slice that begins a line; ``inside``: for one that goes on."""

    begins: Callable[[str], object]
    inside: Callable[[str], object]


@lru_cache(maxsize=64)
def anywhere(literal: str) -> Gates:
    """Gates where lines do not count; ``literal``: a pattern of how one may begin."""
    search = re.compile(f"{literal}|[{HALVES}]").search
    return Gates(search, search)


IN_FENCE = anywhere("[`~]")
"""In fenced code only the line counts that closes it."""


def line_gates(literal: str, heads: Mapping[str, Sequence[str]]) -> Gates:
    """Gates of the answer outside fences; ``heads``: the openers that begin lines, by
    their first character."""
    begins, inside = _patterns(literal, "".join(sorted(heads)))
    return Gates(_gate(begins, inside, heads), _gate(inside, inside, heads))


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
def _patterns(literal: str, heads: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """For the beginning of a line and for its inside; ``head`` may begin an opener."""
    head = f"(?P<head>[{re.escape(heads)}])" if heads else r"(?!)"
    begins = f"(?:[{BLANKS}{_MARKS}]|{head})|{literal}|[{HALVES}]"
    return re.compile(rf"(?:\A|\n){begins}"), re.compile(rf"\n{begins}")
