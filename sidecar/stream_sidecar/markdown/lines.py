"""The kind of a line of Markdown: text, a heading, code, or the beginning of a fence.

`read_line` gets the beginning of a line and the state before it, and returns the state
after it by the rules of CommonMark 0.31: which quotes and list items continue, whether
a fence begins or ends, whether the line is indented code. HTML, tables and definitions
of links count as text. Example: in the list item ``- a``, after a blank line,
``      b`` is code, and ``    b`` is text of the item.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from stream_sidecar import patterns

if TYPE_CHECKING:
    import re

DEEPEST = 12
"""The deepest nesting of quotes and list items; the next mark is text."""

SIGNS = r"[ \t\r>*+\-_=#~`0-9.)]"
"""A line's kind is not known while the line has only these characters."""

OTHER = "x"
"""Stands for any character that is not one of `SIGNS`."""


class Line(Enum):
    """The kind of a place in a text."""

    __hash__ = object.__hash__  # faster than an enum's, which is not C code

    OPEN = 1  # at a line's beginning, after anything but a paragraph
    PARAGRAPH = 2  # at a line's beginning, after a line of a paragraph
    TEXT = 3  # in a line of a paragraph
    HEADING = 4  # in any other line of text
    INFO = 5  # after backticks that begin a fence, unless more follow on their line
    CODE = 6  # in a line of code


class Known(NamedTuple):
    """The state at a place.

    ``containers``, from the outside in: 0 is a quote; any other number is a list item
    and the indentation of its lines, negative while the item is empty. ``fence``: the
    signs that began the fence around the place, or ``""``.
    """

    line: Line
    containers: tuple[int, ...]
    fence: str


_MARK = patterns.compile(
    r" {0,3}(?:(?P<quote>> ?)|(?:[-+*]|(?P<number>[0-9]{1,9})[.)])"
    r"(?:(?P<empty>(?= *$))| {1,4}(?! )| (?= {4})))"
)
"""The mark of a quote or a list item; five blanks after the mark begin code."""

_QUOTE = patterns.compile(" {0,3}> ?")
_RULE = patterns.compile(r" {0,3}(?:(?:\* *+){3,}+|(?:- *+){3,}+|(?:_ *+){3,}+)$")
_UNDERLINE = patterns.compile(" {0,3}(?:=++|-++) *+$")
_HEADING = patterns.compile(" {0,3}#{1,6}(?: |$)")
_FENCE = patterns.compile(" {0,3}(`{3,}+(?=[^`]*+$)|~{3,}+)")
_CODE = " " * 4


@lru_cache(maxsize=256)  # most lines begin like earlier ones
def read_line(start: str, before: Line, within: tuple[int, ...], fence: str) -> Known:
    """Return the state after ``start``, the beginning of a line (text rules 4.3 and
    4.4). ``before``, ``within`` and ``fence`` are the fields of the state before it.

    ``start`` is the whole line, or ends with `OTHER` for a character that is no sign.
    """
    count, text = _continued(start.replace("\r", " ").expandtabs(4), within)
    is_whole = count == len(within)
    if fence and is_whole:
        return Known(Line.CODE, within, "" if _ends_fence(text, fence) else fence)
    paragraph = before is Line.PARAGRAPH
    inner, containers = _read_marks(text, within[:count], paragraph and is_whole)
    if not inner.strip(" "):
        return Known(Line.OPEN, containers, "")
    continues = paragraph and len(containers) == count
    line, fence_signs = _content(inner, continues=continues, whole=is_whole)
    if continues and line is Line.TEXT:  # even if a container does not continue
        containers = within
    return Known(line, tuple(map(abs, containers)), fence_signs)


def _continued(text: str, containers: tuple[int, ...]) -> tuple[int, str]:
    """How many ``containers`` continue, and the line after their marks."""
    for number, width in enumerate(containers):
        if not width:
            quote = _QUOTE.match(text)
            if quote is None:
                return number, text
            text = text[quote.end() :]
        elif not text.strip(" "):
            if width < 0:  # an item that begins with two blank lines is over
                return number, text
        elif text.startswith(" " * abs(width)):
            text = text[abs(width) :]
        else:
            return number, text
    return len(containers), text


def _ends_fence(text: str, fence: str) -> bool:
    """Whether ``text``, a line inside a fence without containers' marks, ends it."""
    signs = text.strip(" ")
    is_fence = len(signs) >= len(fence) and not signs.strip(fence[0])
    return is_fence and not text.startswith(_CODE)


def _read_marks(
    text: str, containers: tuple[int, ...], in_paragraph: bool
) -> tuple[str, tuple[int, ...]]:
    """Reads marks of new containers; the line's rest, and all containers."""
    while len(containers) < DEEPEST and not _RULE.match(text):
        mark = _MARK.match(text)
        if mark is None or (in_paragraph and not _interrupts(mark)):
            break
        in_paragraph = False
        width = 0 if mark["quote"] else mark.end()
        containers += (width if mark["empty"] is None else -width - 1,)
        text = text[mark.end() :]
    return text, containers


def _interrupts(mark: re.Match[str]) -> bool:
    """Whether the mark can begin a container in the middle of a paragraph."""
    if mark["quote"]:
        return True
    return mark["empty"] is None and int(mark["number"] or 1) == 1


def _content(inner: str, *, continues: bool, whole: bool) -> tuple[Line, str]:
    """The kind of a line's content, and the signs of the fence that it begins.

    ``continues``: the line may continue a paragraph; ``whole``: all containers
    continue.
    """
    if inner.startswith(_CODE):
        return (Line.TEXT if continues else Line.CODE), ""
    if fence := _FENCE.match(inner):
        return (Line.INFO if fence[1][0] == "`" else Line.CODE), fence[1]
    if _RULE.match(inner) or _HEADING.match(inner):
        return Line.HEADING, ""
    if continues and whole and _UNDERLINE.match(inner):
        return Line.HEADING, ""
    return Line.TEXT, ""
