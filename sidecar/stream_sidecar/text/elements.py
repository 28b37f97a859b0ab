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

MOST = 64
"""At most this many open elements are remembered."""

LONGEST = 256
"""Of a line, only this many code points after its first ``<`` are looked at."""

_OPENING = patterns.compile(r"<([A-Za-z_][\w:.-]*+)(?:\s[^<>]*?)?(/?)>[ \t\r]*+")
_CLOSING = patterns.compile(r"</([A-Za-z_][\w:.-]*+)\s*+>")
_EMPTY = patterns.compile(
    r"(?i:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)"
    r"|(?:[\w-]*:)?(?:tool_calls?|function_calls?|tools?|invoke|calls)"
)
"""Elements that never have content, and wrappers of calls."""


@hot
class OpenElements:
    """The ``names`` of the open elements, outermost first, and the current line.

    ``line``: the current line from its first ``<`` on. ``alone``: nothing visible
    stands before this ``<``.
    """

    names: tuple[str, ...] = ()
    alone: bool = True
    line: str = ""

    def after(self, text: str) -> OpenElements:
        """The open elements after ``text`` was shown (text rule 11.16)."""
        if not self.line and "<" not in text:
            _, broken, last = text.rpartition("\n")
            alone = (self.alone or bool(broken)) and not last.strip(BLANKS)
            return self if alone == self.alone else evolve(self, alone=alone)
        names, (first, *lines) = [*self.names], text.split("\n")
        alone, line = _continued(self.alone, self.line, first)
        if lines:
            _read(names, line, alone=alone)
            for each in lines[:-1]:
                if "</" in each or each.lstrip(BLANKS).startswith("<"):
                    alone, line = _continued(True, "", each)
                    _read(names, line, alone=alone)
            alone, line = _continued(True, "", lines[-1])
        return OpenElements(tuple(names), alone, line)


NO_ELEMENTS = OpenElements()


def _continued(alone: bool, line: str, more: str) -> tuple[bool, str]:
    """The new ``alone`` and ``line`` of `OpenElements` if the text ``more`` continues
    the line."""
    if not line:
        before, sign, rest = more.partition("<")
        alone, line, more = alone and not before.strip(BLANKS), sign, rest
    return alone, (line + more[:LONGEST])[:LONGEST]


def _read(names: list[str], line: str, *, alone: bool) -> None:
    """Opens and closes elements in ``names`` by the tags of ``line``, which is
    complete."""
    opening = _OPENING.fullmatch(line) if alone else None
    if opening is None:
        for name in _CLOSING.findall(line):
            if name in names:
                del names[len(names) - 1 - names[::-1].index(name) :]
    elif not (opening[2] or len(names) == MOST or _EMPTY.fullmatch(opening[1])):
        names.append(opening[1])
