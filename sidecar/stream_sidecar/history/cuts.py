"""Repairs in the text of a document: which characters are cut, and nothing else.

`changes_of` turns repairs into changes of the document's text. Everything else in that
text stays as it is: escapes, spaces, odd numbers. Positions are code points of the
text. Pure.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.history.paths import path_of
from stream_sidecar.values.json_places import items, locate, offsets
from stream_sidecar.values.surrogates import without_halves

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stream_sidecar.history.messages import StoredMessage
    from stream_sidecar.history.results import Edit, Finding, Removal, Repair
    from stream_sidecar.values.json_places import JsonSpan, Path, Place

Cut: TypeAlias = "JsonSpan"
"""In code points of a document's text."""

Change: TypeAlias = tuple[int, int, str]
"""A cut, and what comes in its place."""

_HALF_ESCAPE = patterns.compile(r"(\\u)[dD][89a-fA-F][0-9a-fA-F]{2}")


def spans_of(
    text: str, by_message: Iterable[tuple[StoredMessage, list[Finding] | list[Removal]]]
) -> list[list[Cut]]:
    """The places of the findings or removals in ``text``, the document of the messages:
    one list of spans for each message."""
    by_path = [
        [
            (_path_in_document(message, pointer), list(group))
            for pointer, group in groupby(findings, key=lambda finding: finding.path)
        ]
        for message, findings in by_message
    ]
    paths = [path for strings in by_path for path, _ in strings]
    places = locate(text, paths) if paths else {}  # without, it may be no JSON
    return [
        [span for path, group in strings for span in _cuts(places[path], group)]
        for strings in by_path
    ]


def _path_in_document(message: StoredMessage, pointer: str) -> Path:
    return (*message.path, *path_of(pointer, message.message))


def edited_in(message: StoredMessage, repair: Repair) -> list[Path]:
    """The paths, in the document, of the strings that a repair edits."""
    pointers = dict.fromkeys(edit.path for edit in repair.edits)
    return [_path_in_document(message, pointer) for pointer in pointers]


def changes_of(
    text: str, repairs: Iterable[tuple[StoredMessage, Repair]]
) -> list[Change]:
    """The changes of ``text``, the document of the messages, that make the repairs.
    They are sorted and do not overlap."""
    strings: dict[Path, list[Edit]] = {}
    dropped: dict[Path, set[int]] = {}
    for message, repair in repairs:
        parts = {_path_in_document(message, pointer) for pointer in repair.dropped}
        for part in parts:
            dropped.setdefault(part[:-1], set()).add(int(part[-1]))
        for edit in repair.edits:
            path = _path_in_document(message, edit.path)
            if not any(path[:end] in parts for end in range(len(path) + 1)):
                strings.setdefault(path, []).append(edit)
    places = locate(text, [*strings, *dropped])
    changes = [
        (start, end, halves_replaced(text[start:end]) if edit.new_text else "")
        for path, edits in strings.items()
        for edit, (start, end) in zip(edits, _cuts(places[path], edits), strict=True)
    ]
    for path, numbers in dropped.items():
        cuts = _outward(places[path], _without(items(places[path]), numbers))
        changes += [(start, end, "") for start, end in cuts]
    return sorted(changes)


def halves_replaced(written: str) -> str:
    """Halves of characters in JSON text replaced by U+FFFD, escapes by escapes of their
    length, also in a string within a string."""
    return without_halves(_HALF_ESCAPE.sub(r"\1fffd", written))


def _cuts(place: Place, edits: list[Any]) -> Iterator[Cut]:
    """The spans of sorted ``edits`` of the string at ``place``."""
    points = (point for edit in edits for point in (edit.start, edit.end))
    return _paired(place.outward(offsets(place, points)))


def _outward(place: Place, spans: Iterable[JsonSpan]) -> Iterator[Cut]:
    """Sorted spans in the text of ``place``, as spans of the document."""
    return _paired(place.outward(point for span in spans for point in span))


def _paired(points: list[int]) -> Iterator[JsonSpan]:
    return zip(points[::2], points[1::2], strict=True)


def drops_of(text: str, message: StoredMessage, parts: Iterable[str]) -> dict[str, Cut]:
    """For each of ``parts``, the cut of it alone and of one comma."""
    paths = {part: _path_in_document(message, part) for part in parts}
    lists = {path[:-1] for path in paths.values()}
    places = locate(text, lists) if lists else {}
    spans = {path: items(places[path]) for path in lists}
    cuts = {}
    for part, (*path, number) in paths.items():
        cut = _without(spans[tuple(path)], {int(number)}, int(number))
        cuts[part] = next(_outward(places[tuple(path)], cut))
    return cuts


def _without(
    places: list[JsonSpan], numbers: set[int], first: int = 0
) -> Iterator[JsonSpan]:
    """The cuts that remove the items ``numbers`` from an array, each with one of its
    commas. The items before ``first`` stay."""
    kept = first - 1 if first else None
    for number in range(first, len(places)):
        start, end = places[number]
        if number not in numbers:
            kept = number
        elif kept is not None:
            yield places[number - 1][1], end
        elif number + 1 < len(places):
            yield start, places[number + 1][0]
        else:
            yield start, end


def spliced(text: str, changes: Iterable[Change]) -> str:
    parts: list[str] = []
    position = 0
    for start, end, new in changes:
        parts += (text[position:start], new)
        position = end
    return "".join([*parts, text[position:]])
