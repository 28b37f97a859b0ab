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
_OPEN_STRING = r'"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+'
_UNTIL_BRACKET = patterns.compile(rf'(?:[^"{{}}\[\]]++|{_OPEN_STRING}")*+([{{}}\[\]]?)')
"""Everything before the next bracket, whole strings included, and the bracket."""

_CUT_STRING = patterns.compile(rf"{_OPEN_STRING}(\\?)")
"""A string that the end of the text cuts off, perhaps after a backslash."""


@frozen
class JsonPlace:
    """A place in an answer. ``beginning``: the text so far while it only may become
    JSON; None once it is JSON. ``depth``: how many brackets are open. ``open_string``:
    if a string is open, a beginning of it: the quote, and a backslash if it is the last
    character."""

    beginning: str | None = ""
    depth: int = 0
    open_string: str = ""

    def after_text(self, text: str) -> JsonPlace | None:
        """The place after ``text``, which comes next; None if the answer is no JSON or
        its value has ended (text rule 4.11)."""
        if self.beginning is None:
            return _read_levels(self.depth, self.open_string + text)
        beginning = self.beginning + text
        if _BEGINNING.match(beginning):
            return _read_levels(0, beginning)
        may_begin = _MAY_BEGIN.fullmatch(beginning)
        return JsonPlace(beginning.strip()) if may_begin else None


JSON_BEGINS = JsonPlace()


def _read_levels(depth: int, text: str) -> JsonPlace | None:
    index = 0
    while match := _UNTIL_BRACKET.match(text, index):
        index = match.end()
        if not match[1]:
            break
        depth += 1 if match[1] in "{[" else -1
        if depth == 0:
            return None
    if index == len(text):
        return JsonPlace(None, depth)
    cut_string = _CUT_STRING.fullmatch(text, index)
    return JsonPlace(None, depth, f'"{cut_string[1]}') if cut_string else None
