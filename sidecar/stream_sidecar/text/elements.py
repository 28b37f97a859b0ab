r"""The XML elements open in the answer: a tag inside one is part of it, and no call.

Prose has tags, too, so only an opening tag alone on its line opens an element. Text is
judged by whole lines, however it is cut. Example: after ``<soap:Body>\n`` an element
``<search>`` is no call of a tool with that name (text rule 11.16).
"""

from __future__ import annotations

from stream_sidecar import patterns
from stream_sidecar.markdown.code import BLANKS
from stream_sidecar.records import evolve, hot

MOST = 64
"""At most this many open elements are remembered."""

LONGEST = 256
"""Tags are looked for in this many code points of a line."""

_OPENING = patterns.compile(r"<([A-Za-z_][\w:.-]*+)(?:\s[^<>]*?)?(/?)>[ \t\r]*+")
_CLOSING = patterns.compile(r"</([A-Za-z_][\w:.-]*+)\s*+>")
_EMPTY = patterns.compile(
    r"(?i:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)"
    r"|(?:[\w-]*:)?(?:tool_calls?|function_calls?|tools?|invoke|calls)"
)
"""Elements that never have content, and wrappers of calls."""


@hot
class OpenElements:
    """``names``: the open elements, the outermost first. ``line``: the current line
    from its first ``<`` on. ``alone``: nothing visible stands before that."""

    names: tuple[str, ...] = ()
    alone: bool = True
    line: str = ""

    def behind(self, text: str) -> OpenElements:
        """The open elements after ``text`` was shown (text rule 11.16)."""
        if not self.line and "<" not in text:
            _, broken, last = text.rpartition("\n")
            alone = (self.alone or bool(broken)) and not last.strip(BLANKS)
            return self if alone == self.alone else evolve(self, alone=alone)
        names, (first, *lines) = [*self.names], text.split("\n")
        alone, line = _on(self.alone, self.line, first)
        for each in lines:
            _read(names, line, alone=alone)
            alone, line = _on(True, "", each)
        return OpenElements(tuple(names), alone, line)


NO_ELEMENTS = OpenElements()


def _on(alone: bool, line: str, more: str) -> tuple[bool, str]:
    """``alone`` and ``line`` of `OpenElements` after ``more`` of the same line."""
    if not line:
        before, sign, rest = more.partition("<")
        alone, line, more = alone and not before.strip(BLANKS), sign, rest
    return alone, (line + more[:LONGEST])[:LONGEST]


def _read(names: list[str], line: str, *, alone: bool) -> None:
    """Updates ``names`` by what ``line``, now complete, opens or closes."""
    opening = _OPENING.fullmatch(line) if alone else None
    if opening is None:
        for name in _CLOSING.findall(line):
            if name in names:
                del names[len(names) - 1 - names[::-1].index(name) :]
    elif not (opening[2] or len(names) == MOST or _EMPTY.fullmatch(opening[1])):
        names.append(opening[1])
