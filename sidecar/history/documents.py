"""Messages in JSON as agents keep it: found anywhere in a document, cut in its text.

`messages_in` finds the messages of a document: a message, a list of them, or an event
or session that holds some at any depth. `cuts_of` turns repairs into cuts in the text
of the document, everything else of which stays as it is: escapes, spaces, odd numbers.
Pure, like ``sidecar.history``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from attrs import frozen

from sidecar.values.json_places import items, locate, offsets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sidecar.history.results import Edit, Repair
    from sidecar.parts import Json
    from sidecar.values.json_places import Path, Place

Cut: TypeAlias = tuple[int, int]
"""``(start, end)`` in code points of a document's text."""

_DEEPEST = 32
"""Messages nested deeper than so many objects and arrays are none of a session."""

_BODIES = ("content", "parts")
_TYPES = frozenset(("ai", "human", "tool", "system"))
_MODELS = ("model", "modelID", "model_name")
_PROVIDERS = ("provider", "providerID", "model_provider")


BY_LINE = ("jsonl", "ndjson", "jsonlines")
"""Endings of files, and editors' names of languages, with a JSON document a line."""

WHOLE = ("json",)
"""The same of one JSON document."""


@frozen
class FoundMessage:
    """A message at ``path`` of a document, and what the document says of its origin."""

    path: Path
    message: dict[str, Json]
    model: str | None = None
    provider: str | None = None


def messages_in(document: Json, path: Path = ()) -> Iterator[FoundMessage]:
    """All messages and results of tools, in the order of the document."""
    return _search(document, path, None, None)


def _search(
    value: Json, path: Path, model: str | None, provider: str | None
) -> Iterator[FoundMessage]:
    if isinstance(value, dict):
        model = _told(value, _MODELS) or model
        provider = _told(value, _PROVIDERS) or provider
        if _is_message(value):
            yield FoundMessage(path, value, model, provider)
            return
    if not isinstance(value, dict | list) or len(path) >= _DEEPEST:
        return
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for name, item in inner:
        if isinstance(item, dict | list):
            yield from _search(item, (*path, name), model, provider)


def _is_message(value: dict[str, Json]) -> bool:
    """A message has a role and content; a result may be an item of its own."""
    kind = value.get("type")
    if not isinstance(kind, str):
        kind = ""
    if kind.endswith("_call_output"):
        return "output" in value
    is_told = isinstance(value.get("role"), str) or kind in _TYPES
    return is_told and any(name in value for name in _BODIES)


def _told(value: dict[str, Json], names: tuple[str, ...]) -> str | None:
    told = (value.get(name) for name in names)
    return next((name for name in told if isinstance(name, str) and name), None)


def value_at(value: Json, path: Path) -> Json:
    """What stands at ``path``."""
    for name in path:
        value = value[name]
    return value


def path_of(pointer: str, message: Json) -> Path:
    """The path that a JSON Pointer into ``message`` means."""
    path: list[str | int] = []
    for name in pointer.split("/")[1:]:
        is_index = isinstance(message, list)
        step = int(name) if is_index else name.replace("~1", "/").replace("~0", "~")
        message = message[step]
        path.append(step)
    return tuple(path)


def cuts_of(text: str, repairs: Iterable[tuple[FoundMessage, Repair]]) -> list[Cut]:
    """Where ``text``, the document of the messages, is to be cut: sorted, apart."""
    strings: dict[Path, list[Edit]] = {}
    dropped: dict[Path, set[int]] = {}
    for found, repair in repairs:
        gone = {path_of(each, found.message) for each in repair.dropped}
        for part in gone:
            dropped.setdefault((*found.path, *part[:-1]), set()).add(int(part[-1]))
        for edit in repair.edits:
            path = path_of(edit.path, found.message)
            if path not in gone and path[:-1] not in gone:
                strings.setdefault((*found.path, *path), []).append(edit)
    places = locate(text, [*strings, *dropped])
    cuts = [
        _cut(text, places[p], edit) for p, edits in strings.items() for edit in edits
    ]
    for path, numbers in dropped.items():
        cuts += _without(items(text, places[path][0]), numbers)
    return sorted(cuts)


def _cut(text: str, place: Place, edit: Edit) -> Cut:
    start, end = offsets(text, place[0], (edit.start, edit.end))
    return start, end


def _without(places: list[Place], numbers: set[int]) -> Iterator[Cut]:
    """The cuts that take items out of an array, each with one of its commas."""
    kept = None
    for number, (start, end) in enumerate(places):
        if number not in numbers:
            kept = number
        elif kept is not None:
            yield places[number - 1][1], end
        elif number + 1 < len(places):
            yield start, places[number + 1][0]
        else:
            yield start, end


def spliced(text: str, cuts: Iterable[Cut]) -> str:
    """``text`` without the cuts."""
    kept, at = [], 0
    for start, end in cuts:
        kept.append(text[at:start])
        at = end
    return "".join([*kept, text[at:]])
