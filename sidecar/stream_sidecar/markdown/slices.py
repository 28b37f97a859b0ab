"""Patterns for lines in a slice of Markdown that begin, end or are code.

A slice may end anywhere. So the patterns decide whether the end of a slice may pass at
once, or has to wait for the rest of its line. Example: an end ``- a`` may pass, since
it begins no fence; after ``-`` alone a fence may follow.
"""

from __future__ import annotations

from stream_sidecar import patterns
from stream_sidecar.markdown.code import BLANKS, LONGEST_START

INDENT = 24
"""The most blanks that pass at a line's beginning; a line with more has to wait."""

FIRSTS = rf">*+\-~`\d{BLANKS}"
"""Characters that may begin a quote, a list, a fence or indented code."""

_ORDINARY = rf"[^\n{FIRSTS}]"
"""A character with which none of these begins."""

_ANY_PREFIX = rf"(?:[*+\-][ \t]|\d{{1,9}}[.)][ \t]|[>{BLANKS}]){{0,12}}+"
_PREFIX = rf"(?![>*+\-.)\d{BLANKS}]{{0,64}}?[>*+\-.)][{BLANKS}]{{5}}){_ANY_PREFIX}"
"""Quotes and list marks, after which a fence may begin, but no indented code."""

_WORD = rf"[*+\-][^{BLANKS}]|`{{1,2}}[^`]|\d{{1,9}}(?:[^\d.)]|[.)][^{BLANKS}])"
_PREFIX_END = rf"{_ORDINARY}|\n|{_WORD}"
"""Text that ends the prefix, so that no fence begins on the line."""

_PART = r"[*+\-]|[0-9]{1,9}[.)]?|`{1,2}"
"""A possible part of a list mark, or of a fence."""

_BEGUN = rf"(?=[>*+\-0-9]){_PREFIX}(?:{_PART})?\Z"
"""A prefix at a slice's end, perhaps with a part of a mark."""

_PASSES = (
    rf"[{BLANKS}]{{0,{INDENT}}}+(?![{BLANKS}])(?:{_PREFIX}(?:{_PREFIX_END})|{_BEGUN})"
)

LINE = rf"(?=[{FIRSTS}])(?!{_PASSES})"
"""The beginning of a line that may not pass. A prefix at the slice's end may pass (list
marks, or the digits of a mark), whatever follows it, even backticks."""

BEGUN = rf"(?:[{BLANKS}]*+(?=[>*+\-0-9]){_ANY_PREFIX}(?:{_PART})?)?\Z"
"""The end of a slice, on a line whose kind is still open."""

OPENS = patterns.compile(r"\n`{3,64}+(?!`)")
"""Backticks that begin a fence outside containers, unless another one is on their
line."""


def line_of_code(indent: int) -> str:
    """Return a pattern for the beginning of a line that may end the code of a fence in
    list items of width ``indent``; for other code it fits any line."""
    if 0 < indent <= INDENT:
        passes = rf"\n| {{{indent},{INDENT}}}+[^\n{BLANKS}`~]"
        return rf"(?P<last>\Z)|(?!{passes})"
    return ""


def line_of_fence(fence: str) -> str:
    """A pattern for the beginning of a line that may end the ``fence``."""
    sign, size = fence[0], len(fence)
    cut_line = rf"[ \r]{{0,3}}+{sign}{{0,{size + 60}}}+[ \t\r]{{0,64}}+\Z"
    return rf"(?P<last>{cut_line})|[ \r]{{0,3}}+{sign}{{{size},}}+[ \t\r]*+(?:\n|\Z)"


def end_of_fence(fence: str) -> str:
    """A pattern for a line, without its break, that ends the ``fence``."""
    signs = rf"{fence[0]}{{{len(fence)},}}+[ \t\r]*+"
    return rf"\n(?![^\n]{{{LONGEST_START}}})[ \r]{{0,3}}+{signs}(?=\n)"
