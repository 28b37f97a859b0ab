"""Which lines of Markdown begin, end or are code, as patterns for a slice of text.

A slice may end anywhere, so a pattern says what may pass although more of the line may
come, and what has to wait. Example: a slice may end with ``- a``, which begins no
fence; what ``-`` alone begins is not known yet.
"""

from __future__ import annotations

import re

from sidecar.markdown.code import BLANKS

INDENT = 24
"""So many blanks at a line's beginning pass at most; more must be able to wait."""

_ORDINARY = rf"[^\n{BLANKS}>*+\-~`\d]"
"""What begins no quote, list or fence (`code`)."""

_ANY_PREFIX = rf"(?:[*+\-][ \t]|\d{{1,9}}[.)][ \t]|[>{BLANKS}]){{0,12}}+"
_PREFIX = rf"(?![>*+\-.)\d{BLANKS}]{{0,64}}?[>*+\-.)][{BLANKS}]{{5}}){_ANY_PREFIX}"
"""Quotes and list marks, behind which a fence may begin, but no indented code does."""

_GOES_ON = rf"{_ORDINARY}|\n|[*+\-][^ \t]|`{{1,2}}[^`]|\d{{1,9}}(?:[^\d.)]|[.)][^ \t])"
"""What ends the prefix, so that no fence begins on the line."""

_MARK = r"[*+\-]|[0-9]{1,9}[.)]?"
_BEGUN = rf"(?=[>*+\-0-9]){_PREFIX}(?:{_MARK})?\Z"
"""A prefix at a slice's end, perhaps with a part of a list mark."""

LAST_LINE = re.compile(
    rf"(?:\A|\n)[{BLANKS}]*+(?=[>*+\-0-9]){_ANY_PREFIX}(?P<mark>{_MARK})?\Z"
)
"""The last line of a slice, if it ends so."""

PREFIXED = rf"{_PREFIX}(?:{_GOES_ON})"
MARKED = rf"[^{BLANKS}\d.)]|[ \t](?![{BLANKS}]){PREFIXED}"
LINE = rf"\Z|[{BLANKS}]{{0,{INDENT}}}+(?![{BLANKS}])(?:{PREFIXED}|{_BEGUN})"
"""What may pass: the rest of a line behind a whole prefix, behind a list mark or its
digits, and a line."""

OPENS = re.compile(r"(?<=\n)`{3,64}+(?!`)")
"""Backticks that begin a fence in nothing else, unless one more is on their line."""

ENDS = re.compile(r"(?<=\n)(?:`{3,64}+|~{3,64}+)[ \t\r]{0,64}+(?=\n|\Z)")
"""What ends a fence in nothing else with no more signs, unless more of its line comes
behind the slice."""


def line_of_code(indent: int) -> str:
    """What of a line may end the code of a fence in items that are ``indent`` wide, or
    in none, 0; of other code, -1, nothing does."""
    if not indent:
        return rf"[>{BLANKS}]*+[`~]"
    if 0 < indent <= INDENT:
        return rf"(?!\n|\Z| {{{indent},{INDENT}}}+[^\n{BLANKS}`~])"
    return ""
