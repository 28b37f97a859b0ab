"""Where an answer that is strict JSON has its strings: what stands in one is data.

`JSON_BEGINS` is the place before any text; ``behind(text)`` gives the place after it,
or None once the answer is no JSON or its value is over. Example: behind ``{"a": "b`` a
string is open, behind ``{"a": "b"}`` there is no place any more (text rule 4.11).
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
    """A place in an answer. ``begun``: what came while it may still begin as JSON, None
    after that; ``depth``: brackets that are open; ``in_string``: so is a string, and
    ``rest`` a backslash that ends the text so far."""

    begun: str | None = ""
    depth: int = 0
    in_string: bool = False
    rest: str = ""

    def behind(self, text: str) -> JsonPlace | None:
        """The place after ``text``; None: no more JSON, or none (text rule 4.11)."""
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
