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
_NEXT = patterns.compile(r'[^"{}\[\]]*+(["{}\[\]]?)')
_STRING = patterns.compile(r'[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+(["\n]?)')


@frozen
class JsonPlace:
    """A place in an answer. ``begun``: the text so far while it only may become JSON;
    None once it is JSON. ``depth``: how many brackets are open. ``in_string``: a string
    is open. ``rest``: a backslash at the end of the text so far, else ""."""

    begun: str | None = ""
    depth: int = 0
    in_string: bool = False
    rest: str = ""

    def after(self, text: str) -> JsonPlace | None:
        """The place after ``text``, which comes next; None if the answer is no JSON or
        its value has ended (text rule 4.11)."""
        if self.begun is None:
            return _read(self.depth, self.rest + text, in_string=self.in_string)
        begun = self.begun + text
        if _BEGINNING.match(begun):
            return _read(0, begun, in_string=False)
        may_begin = _MAY_BEGIN.fullmatch(begun)
        return JsonPlace(begun.strip()) if may_begin else None


JSON_BEGINS = JsonPlace()


def _read(depth: int, text: str, *, in_string: bool) -> JsonPlace | None:
    at = 0
    while at < len(text):
        match = (_STRING if in_string else _NEXT).match(text, at)
        assert match is not None  # both match nothing, too
        at, sign = match.end(), match[1]
        if in_string:
            if sign != '"':
                return None if sign else JsonPlace(None, depth, True, text[at:])
            in_string = False
        elif sign == '"':
            in_string = True
        elif sign:
            depth += 1 if sign in "{[" else -1
            if depth == 0:
                return None
    return JsonPlace(None, depth, in_string)
