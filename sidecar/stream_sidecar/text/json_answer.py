"""Knows whether the end of the answer so far is inside a string of strict JSON.

Text inside such a string is data (text rule 4.11). `JSON_BEGINS` is the place before
any text. ``after(text)`` returns the place after more text, or None if the answer is no
JSON or its value has ended. Example: after ``{"a": "b`` a string is open; after
``{"a": "b"}`` the place is None.
"""

from __future__ import annotations

from stream_sidecar import patterns
from stream_sidecar.records import frozen

_BEGINNING = patterns.compile(r"\s*+(?:\{\s*+[\"}]|\[\s*+(?:[\"0-9]|\{\s*+\"))")
_MAY_BEGIN = patterns.compile(r"\s*+(?:\{|\[\s*+\{?+)?+\s*+")
_OPEN = r'"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+'
_LEVEL = patterns.compile(rf'(?:[^"{{}}\[\]]++|{_OPEN}")*+([{{}}\[\]]?)')
"""Everything before the next bracket, whole strings included, and the bracket."""

_CUT = patterns.compile(rf"{_OPEN}(\\?)")
"""A string that the end of the text cuts off, perhaps after a backslash."""


@frozen
class JsonPlace:
    """A place in an answer. ``begun``: the text so far while it only may become JSON;
    None once it is JSON. ``depth``: how many brackets are open. ``string``: if a string
    is open, a beginning of it: the quote, and a backslash if it is the last
    character."""

    begun: str | None = ""
    depth: int = 0
    string: str = ""

    def after(self, text: str) -> JsonPlace | None:
        """The place after ``text``, which comes next; None if the answer is no JSON or
        its value has ended (text rule 4.11)."""
        if self.begun is None:
            return _read(self.depth, self.string + text)
        begun = self.begun + text
        if _BEGINNING.match(begun):
            return _read(0, begun)
        may_begin = _MAY_BEGIN.fullmatch(begun)
        return JsonPlace(begun.strip()) if may_begin else None


JSON_BEGINS = JsonPlace()


def _read(depth: int, text: str) -> JsonPlace | None:
    at = 0
    while match := _LEVEL.match(text, at):
        at = match.end()
        if not match[1]:
            break
        depth += 1 if match[1] in "{[" else -1
        if depth == 0:
            return None
    if at == len(text):
        return JsonPlace(None, depth)
    cut = _CUT.fullmatch(text, at)
    return JsonPlace(None, depth, f'"{cut[1]}') if cut else None
