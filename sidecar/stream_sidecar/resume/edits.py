"""The edits of a finding as changes of a record's JSON text; everything else stays.

Positions are code points of the text. A value inside a string that is JSON itself is
not edited: the string is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.values.json_places import locate
from stream_sidecar.values.jsontext import dumps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stream_sidecar.resume.findings import FileEdit
    from stream_sidecar.values.json_places import JsonSpan

_BLANKS = " \t\r\n"


def text_changes(text: str, edits: Iterable[FileEdit]) -> list[tuple[int, int, str]]:
    """The changes of ``text``, the document of all ``edits``: start, end, new text. A
    member that is not there is added to its object."""
    values = {edit.source.path: edit.new for edit in edits}
    if () in values:
        return [(0, len(text), values[()] or "")]
    places = locate(text, [*values, *(path[:-1] for path in values)])
    spans = {path: place.span for path, place in places.items() if not place.holder}
    changes = [
        (*spans[path], new)
        for path, new in values.items()
        if new is not None and path in spans
    ]
    added = [
        _addition(text, spans[path[:-1]], str(path[-1]), new)
        for path, new in values.items()
        if new is not None and path not in spans and path[:-1] in spans
    ]
    gone = sorted(spans[p] for p, new in values.items() if new is None and p in spans)
    return sorted([*changes, *added, *((*cut, "") for cut in _cuts(text, gone))])


def _addition(text: str, span: JsonSpan, name: str, new: str) -> tuple[int, int, str]:
    """The change that adds a member at the end of the object at ``span``."""
    end = _blanks_before(text, span[1] - 1)
    comma = "" if text[end - 1] == "{" else ","
    return end, end, f"{comma}{dumps(name)}:{new}"


def _cuts(text: str, spans: Iterable[JsonSpan]) -> Iterator[JsonSpan]:
    """The cuts that remove values from their lists and objects, each with one comma:
    the one before it, or behind it if nothing is left before it."""
    last_end = -1
    for value_start, end in spans:
        start = _member_start(text, value_start)
        before = _blanks_before(text, start)
        if start != last_end and text[before - 1] == ",":
            yield before - 1, end
            continue
        after = _blanks_behind(text, end)
        if text[after] == ",":
            end = _blanks_behind(text, after + 1)
        yield start, end
        last_end = end


def _member_start(text: str, start: int) -> int:
    """Where the member begins whose value begins at ``start``: at its name."""
    colon = _blanks_before(text, start) - 1
    if text[colon] != ":":
        return start
    quote = text.rindex('"', 0, colon)
    while True:
        quote = text.rindex('"', 0, quote)
        slashes = quote
        while text[slashes - 1] == "\\":
            slashes -= 1
        if (quote - slashes) % 2 == 0:
            return quote


def _blanks_before(text: str, index: int) -> int:
    while text[index - 1] in _BLANKS:
        index -= 1
    return index


def _blanks_behind(text: str, index: int) -> int:
    while text[index] in _BLANKS:
        index += 1
    return index
