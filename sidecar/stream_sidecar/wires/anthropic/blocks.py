"""Anthropic's objects that become one part as they are: citations, results.

Not a wire: a helper of ``anthropic``. A value of a wrong type counts as missing; all of
the object is in ``raw``. Shapes: wires/README.md, "Messages" and "Citations".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.parts import CitationPart, JsonObject, ResultPart
from stream_sidecar.wires.shared.citations import LOCATIONS
from stream_sidecar.wires.shared.fields import document_id, first, is_failed, type_of

if TYPE_CHECKING:
    from collections.abc import Mapping


RESULT = "_tool_result"
"""How the types of results end."""

THINKING, REDACTED = "thinking", "redacted_thinking"
"""Types of blocks that are reasoning; the second one is such a state."""

STATES = (
    *(REDACTED, "compaction", "container_upload", "mcp_tool_listing"),
    "fallback",
)
"""Types of blocks that say nothing to a reader and go back as they came."""

_NAMELESS = ("mcp", "tool_search")
"""Types of results that do not name the tool; the call with their id does."""


def is_location(item: JsonObject) -> bool:
    """A citation that is Anthropic's own, so that it may go back."""
    return type_of(item) in LOCATIONS


def citation(item: JsonObject) -> CitationPart:
    """A citation is for its whole block; offsets that it has lie in the source."""
    return CitationPart(
        kind=LOCATIONS.get(type_of(item), "other"),
        raw=item,
        role="block",
        anchor="block",
        url=first(item, ("url", "source")),
        title=first(item, ("title", "document_title")),
        cited_text=first(item, ("cited_text",)),
        document=document_id(item),
    )


def result(item: JsonObject, tools: Mapping[str, str]) -> ResultPart:
    """A server's result; ``tools`` has the names of the calls so far by their ids."""
    id, kind = first(item, ("tool_use_id",)), type_of(item).removesuffix(RESULT)
    return ResultPart(
        content=item.get("content"),
        raw=item,
        id=id,
        name=tools.get(id or "") or (None if kind in _NAMELESS else kind),
        is_error=is_failed(item),
    )
