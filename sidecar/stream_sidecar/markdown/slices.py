"""Which lines of Markdown begin, end or are code, as patterns for a slice of text.

A slice may end anywhere, so a pattern says what may pass although more of the line may
come, and what has to wait. Example: a slice may end with ``- a``, which begins no
fence; what ``-`` alone begins is not known yet.
"""

from __future__ import annotations

from stream_sidecar import patterns
from stream_sidecar.markdown.code import BLANKS, LONGEST_START

INDENT = 24
"""So many blanks at a line's beginning pass at most; more must be able to wait."""

FIRSTS = rf">*+\-~`\d{BLANKS}"
"""What may begin a quote, a list, a fence or indented code (`code`)."""

_ORDINARY = rf"[^\n{FIRSTS}]"
"""What begins none."""

_ANY_PREFIX = rf"(?:[*+\-][ \t]|\d{{1,9}}[.)][ \t]|[>{BLANKS}]){{0,12}}+"
_PREFIX = rf"(?![>*+\-.)\d{BLANKS}]{{0,64}}?[>*+\-.)][{BLANKS}]{{5}}){_ANY_PREFIX}"
"""Quotes and list marks, behind which a fence may begin, but no indented code does."""

_WORD = rf"[*+\-][^{BLANKS}]|`{{1,2}}[^`]|\d{{1,9}}(?:[^\d.)]|[.)][^{BLANKS}])"
_GOES_ON = rf"{_ORDINARY}|\n|{_WORD}"
"""What ends the prefix, so that no fence begins on the line."""

_PART = r"[*+\-]|[0-9]{1,9}[.)]?|`{1,2}"
"""What may be a part of a list mark, or of a fence."""

_BEGUN = rf"(?=[>*+\-0-9]){_PREFIX}(?:{_PART})?\Z"
"""A prefix at a slice's end, perhaps with such a part."""

_PASSES = (
    rf"[{BLANKS}]{{0,{INDENT}}}+(?![{BLANKS}])(?:{_PREFIX}(?:{_GOES_ON})|{_BEGUN})"
)

LINE = rf"(?=[{FIRSTS}])(?!{_PASSES})"
"""A line that may not pass; a prefix of one may, with list marks or the digits of one,
behind which it is open what comes, be it backticks."""

BEGUN = rf"(?:[{BLANKS}]*+(?=[>*+\-0-9]){_ANY_PREFIX}(?:{_PART})?)?\Z"
"""The end of a slice, on a line whose kind is still open."""

OPENS = patterns.compile(r"\n`{3,64}+(?!`)")
"""Backticks that begin a fence in nothing else, unless one more is on their line."""


def line_of_code(indent: int) -> str:
    """What of a line may end the code of a fence in items that are ``indent`` wide; of
    other code any line may."""
    if 0 < indent <= INDENT:
        passes = rf"\n| {{{indent},{INDENT}}}+[^\n{BLANKS}`~]"
        return rf"(?P<last>\Z)|(?!{passes})"
    return ""


def line_of_fence(fence: str) -> str:
    """What of a line may end the ``fence``, which is in nothing else."""
    sign, size = fence[0], len(fence)
    begun = rf"[ \r]{{0,3}}+{sign}{{0,{size + 60}}}+[ \t\r]{{0,64}}+\Z"
    return rf"(?P<last>{begun})|[ \r]{{0,3}}+{sign}{{{size},}}+[ \t\r]*+(?:\n|\Z)"


def end_of_fence(fence: str) -> str:
    """A line that ends the ``fence``, which is in nothing else; not its break."""
    signs = rf"{fence[0]}{{{len(fence)},}}+[ \t\r]*+"
    return rf"\n(?![^\n]{{{LONGEST_START}}})[ \r]{{0,3}}+{signs}(?=\n)"
