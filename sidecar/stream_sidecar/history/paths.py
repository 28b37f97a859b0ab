"""Places in a JSON value: paths, and the JSON Pointers (RFC 6901) that results have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stream_sidecar.parts import Json
    from stream_sidecar.values.json_places import Path

_NOTHING: Any = object()


def at(value: Json, path: Path) -> Json:
    """The value at ``path``; if there is none, an object that equals nothing else."""
    for name in path:
        if isinstance(value, dict):
            value = value.get(name, _NOTHING)
        elif isinstance(value, list) and isinstance(name, int) and value:
            value = value[name]
        else:
            return _NOTHING
    return value


def list_at(value: Json, path: Path) -> list[Json]:
    """The list at ``path``, [] if there is none."""
    items = at(value, path)
    return items if isinstance(items, list) else []


def part_number(path: Path) -> int:
    """The number of the message's part with ``path``; 0 for text without parts."""
    return next((step for step in path if isinstance(step, int)), 0)


def pointer_to(path: Path) -> str:
    names = (str(name).replace("~", "~0").replace("/", "~1") for name in path)
    return "".join(f"/{name}" for name in names)


def path_of(pointer: str, value: Json) -> Path:
    """The path of a JSON Pointer into ``value``; members need not be there."""
    path: list[str | int] = []
    for name in pointer.split("/")[1:]:
        is_index = isinstance(value, list)
        step = int(name) if is_index else name.replace("~1", "/").replace("~0", "~")
        value = at(value, (step,))
        path.append(step)
    return tuple(path)
