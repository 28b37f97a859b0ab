r"""The XML elements that are open in the answer. A tag inside an open element is no
call.

Prose mentions tags, too, so only an opening tag alone on its line opens an element.
Lines are judged when they are complete, so cuts do not matter. Example: after
``<soap:Body>\n`` the tag ``<search>`` is no call of the tool ``search`` (text rule
11.16).
"""

from __future__ import annotations

from stream_sidecar import patterns
from stream_sidecar.markdown.code import BLANKS
from stream_sidecar.records import evolve, hot

MOST_OPEN = 64
"""At most this many open elements are remembered."""

LONGEST_LINE = 256
"""Of a line, only this many code points after its first ``<`` are looked at."""

_OPENING = patterns.compile(r"<([A-Za-z_][\w:.-]*+)(?:\s[^<>]*?)?(/?)>[ \t\r]*+")
_CLOSING = patterns.compile(r"</([A-Za-z_][\w:.-]*+)\s*+>")
_VOID = patterns.compile(
    r"(?i:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)"
    r"|(?:[\w-]*:)?(?:tool_calls?|function_calls?|tools?|invoke|calls)"
)
"""Elements that never have content, and wrappers of calls."""


@hot
class OpenElements:
    """The ``names`` of the open elements, outermost first, and the current line.

    ``line``: the current line from its first ``<`` on. ``is_alone``: nothing visible
    stands before this ``<``.
    """

    names: tuple[str, ...] = ()
    is_alone: bool = True
    line: str = ""

    def after_text(self, text: str) -> OpenElements:
        """The open elements after ``text`` was shown (text rule 11.16)."""
        if not self.line and "<" not in text:
            _, sign, last_line = text.rpartition("\n")
            is_alone = (self.is_alone or bool(sign)) and not last_line.strip(BLANKS)
            is_same = is_alone == self.is_alone
            return self if is_same else evolve(self, is_alone=is_alone)
        names, (first_line, *further_lines) = [*self.names], text.split("\n")
        is_alone, line = _continue_line(self.is_alone, self.line, first_line)
        if further_lines:
            _apply_tags(names, line, is_alone=is_alone)
            for further_line in further_lines[:-1]:
                if "</" in further_line or further_line.lstrip(BLANKS).startswith("<"):
                    is_alone, line = _continue_line(True, "", further_line)
                    _apply_tags(names, line, is_alone=is_alone)
            is_alone, line = _continue_line(True, "", further_lines[-1])
        return OpenElements(tuple(names), is_alone, line)


NO_ELEMENTS = OpenElements()


def _continue_line(is_alone: bool, line: str, text: str) -> tuple[bool, str]:
    """The new ``is_alone`` and ``line`` if ``text`` continues the line."""
    if not line:
        head, sign, tail = text.partition("<")
        is_alone, line, text = is_alone and not head.strip(BLANKS), sign, tail
    return is_alone, (line + text[:LONGEST_LINE])[:LONGEST_LINE]


def _apply_tags(names: list[str], line: str, *, is_alone: bool) -> None:
    """Opens and closes elements in ``names`` by the tags of ``line``."""
    opening = _OPENING.fullmatch(line) if is_alone else None
    if opening is None:
        for name in _CLOSING.findall(line):
            if name in names:
                del names[len(names) - 1 - names[::-1].index(name) :]
    elif not (opening[2] or len(names) == MOST_OPEN or _VOID.fullmatch(opening[1])):
        names.append(opening[1])
