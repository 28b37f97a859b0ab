"""Halves of characters in a request: U+FFFD takes their place.

Providers refuse a body with a half of a surrogate pair, and it is nothing that anybody
can read. Never raises for any JSON value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.values.jsontext import MAX_DEPTH
from stream_sidecar.values.surrogates import SurrogateJoiner, has_half
from stream_sidecar.wires.shared.rendering import LostPart

if TYPE_CHECKING:
    from stream_sidecar.parts import Json

HALF = "half a character is refused; U+FFFD stands in its place"


def without_halves(value: Json, lost: list[LostPart], path: str = "") -> Json:
    """``value`` without halves of characters; the same object if it has none. ``path``:
    its place in the request, for reports. Deeper than JSON is written, all stays."""
    if isinstance(value, str):
        return _healed(value, lost, path)
    if isinstance(value, list | dict) and path.count("/") >= MAX_DEPTH:
        return value
    if isinstance(value, list):
        items = [
            without_halves(item, lost, f"{path}/{number}")
            for number, item in enumerate(value)
        ]
        return items if any(map(_differ, items, value)) else value
    if isinstance(value, dict):
        members = [
            (_healed(name, lost, path), without_halves(item, lost, path + _step(name)))
            for name, item in value.items()
        ]
        is_new = any(
            one is not name or item is not old
            for (one, item), (name, old) in zip(members, value.items(), strict=True)
        )
        return dict(members) if is_new else value
    return value


def _healed(text: str, lost: list[LostPart], path: str) -> str:
    if not has_half(text):
        return text
    joiner = SurrogateJoiner()
    healed = joiner.push(text) + joiner.close()
    if joiner.repaired:
        lost.append(LostPart(path, "text", HALF))
    return healed


def _step(name: str) -> str:
    """A member's ``name`` as a step of a JSON Pointer."""
    return "/" + name.replace("~", "~0").replace("/", "~1")


def _differ(one: Json, other: Json) -> bool:
    return one is not other
