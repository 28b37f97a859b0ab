"""What a line of Markdown is: text, a heading, code, or what begins a fence.

`read_line` takes the beginning of a line and what is known before it, and gives what is
known behind it, as CommonMark 0.31 has it: which quotes and list items go on, whether a
fence begins or ends, whether it is indented code. HTML, tables and definitions of links
are text to it. Example: behind a blank line in ``- a`` the line ``      b`` is code,
and ``    b`` is text of the list item.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from stream_sidecar import patterns

if TYPE_CHECKING:
    import re

DEEPEST = 12
"""So many quotes and list items stand in one another at most; the next mark is text."""

SIGNS = r"[ \t\r>*+\-_=#~`0-9.)]"
"""While a line has nothing else it is open what it is."""

OTHER = "x"
"""Stands for any other character."""


class Line(Enum):
    """What a place of a text is in."""

    __hash__ = object.__hash__  # that of an enum is no C code, and lines are keys

    OPEN = 1  # at a line's beginning, behind anything but a paragraph
    PARAGRAPH = 2  # at a line's beginning, behind a line of a paragraph
    TEXT = 3  # in a line of a paragraph
    HEADING = 4  # in any other line of text
    INFO = 5  # behind backticks that begin a fence, unless more follow on their line
    CODE = 6  # in a line of code


class Known(NamedTuple):
    """What is known at a place.

    ``containers``, from the outside in: 0 is a quote, any other number a list item and
    how far its lines are indented; it is negative while the item is empty. ``fence``:
    the signs that began the fence in which the place is.
    """

    line: Line
    containers: tuple[int, ...]
    fence: str


_MARK = patterns.compile(
    r" {0,3}(?:(?P<quote>> ?)|(?:[-+*]|(?P<number>[0-9]{1,9})[.)])"
    r"(?:(?P<empty>(?= *$))| {1,4}(?! )| (?= {4})))"
)
"""What begins a quote or a list item; behind five blanks an item has code."""

_QUOTE = patterns.compile(" {0,3}> ?")
_RULE = patterns.compile(r" {0,3}(?:(?:\* *+){3,}+|(?:- *+){3,}+|(?:_ *+){3,}+)$")
_UNDERLINE = patterns.compile(" {0,3}(?:=++|-++) *+$")
_HEADING = patterns.compile(" {0,3}#{1,6}(?: |$)")
_FENCE = patterns.compile(" {0,3}(`{3,}+(?=[^`]*+$)|~{3,}+)")
_CODE = " " * 4


@lru_cache(maxsize=256)  # most lines begin as others did
def read_line(start: str, before: Line, within: tuple[int, ...], fence: str) -> Known:
    """What is known behind ``start``, with which a line begins where ``before`` is
    known, the containers that it may be ``within``, and the ``fence`` (text rules 4.3
    and 4.4).

    That is the whole line, or it ends with `OTHER` for a character that is no sign.
    """
    kept, rest = _continued(start.replace("\r", " ").expandtabs(4), within)
    whole = kept == len(within)
    if fence and whole:
        return Known(Line.CODE, within, "" if _ends(rest, fence) else fence)
    paragraph = before is Line.PARAGRAPH
    inner, containers = _begun(rest, within[:kept], paragraph and whole)
    if not inner.strip(" "):
        return Known(Line.OPEN, containers, "")
    goes_on = paragraph and len(containers) == kept
    line, begun = _content(inner, goes_on=goes_on, whole=whole)
    if goes_on and line is Line.TEXT:  # even where a container does not
        containers = within
    return Known(line, tuple(map(abs, containers)), begun)


def _continued(rest: str, containers: tuple[int, ...]) -> tuple[int, str]:
    """How many of the ``containers`` go on, and what stands in them."""
    for number, width in enumerate(containers):
        if not width:
            quote = _QUOTE.match(rest)
            if quote is None:
                return number, rest
            rest = rest[quote.end() :]
        elif not rest.strip(" "):
            if width < 0:  # it began with a blank line, and has another one
                return number, rest
        elif rest.startswith(" " * abs(width)):
            rest = rest[abs(width) :]
        else:
            return number, rest
    return len(containers), rest


def _ends(rest: str, fence: str) -> bool:
    """Whether a line of a fence ends it."""
    signs = rest.strip(" ")
    whole = len(signs) >= len(fence) and not signs.strip(fence[0])
    return whole and not rest.startswith(_CODE)


def _begun(
    rest: str, containers: tuple[int, ...], in_paragraph: bool
) -> tuple[str, tuple[int, ...]]:
    """What stands in the containers that begin here, and those with them."""
    while len(containers) < DEEPEST and not _RULE.match(rest):
        mark = _MARK.match(rest)
        if mark is None or (in_paragraph and not _interrupts(mark)):
            break
        in_paragraph = False
        width = 0 if mark["quote"] else mark.end()
        containers += (width if mark["empty"] is None else -width - 1,)
        rest = rest[mark.end() :]
    return rest, containers


def _interrupts(mark: re.Match[str]) -> bool:
    """Whether it is more than a sign at the beginning of a paragraph's next line."""
    if mark["quote"]:
        return True
    return mark["empty"] is None and int(mark["number"] or 1) == 1


def _content(inner: str, *, goes_on: bool, whole: bool) -> tuple[Line, str]:
    """What stands in the containers, and the signs of a fence that begins.

    ``goes_on``: it may belong to the paragraph before; ``whole``: in all containers.
    """
    if inner.startswith(_CODE):
        return (Line.TEXT if goes_on else Line.CODE), ""
    if fence := _FENCE.match(inner):
        return (Line.INFO if fence[1][0] == "`" else Line.CODE), fence[1]
    if _RULE.match(inner) or _HEADING.match(inner):
        return Line.HEADING, ""
    if goes_on and whole and _UNDERLINE.match(inner):
        return Line.HEADING, ""
    return Line.TEXT, ""
