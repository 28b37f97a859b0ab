"""Members of null that a provider refuses, as dumps of SDKs' objects have them.

``model_dump()`` of a response's object writes each member that is not set as null, but
the schema of a request accepts null only in some: each wire has these in a table. A
member of null that is refused counts as absent. What a call or a schema of a tool has
inside is data and stays. Never raises for any JSON value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.wires.shared.request_shapes import changed, same

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from stream_sidecar.parts import Json, JsonObject


def without_nulls(
    holder: JsonObject, names: Collection[str], inner: Mapping[str, Collection[str]]
) -> JsonObject:
    """``holder`` without its members of null, except for ``names``; and without those
    in the objects of its members ``inner``, except for the names there."""
    holder = _without(holder, names)
    news: dict[str, Json] = {}
    for name, kept in inner.items():
        value = holder.get(name)
        if isinstance(value, dict):
            news[name] = _without(value, kept)
        elif isinstance(value, list):
            parts = [_without(v, kept) if isinstance(v, dict) else v for v in value]
            news[name] = same(value, parts)
    return changed(holder, news)


def _without(holder: JsonObject, names: Collection[str]) -> JsonObject:
    left = {n: v for n, v in holder.items() if v is not None or n in names}
    return holder if len(left) == len(holder) else left
