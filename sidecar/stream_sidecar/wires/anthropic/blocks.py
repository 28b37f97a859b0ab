"""Anthropic's objects that become one part unchanged: citations and results.

A value of a wrong type counts as missing; ``raw`` has the whole object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.parts import CitationPart, JsonObject, ResultPart
from stream_sidecar.wires.shared.citations import LOCATIONS
from stream_sidecar.wires.shared.fields import (
    document_id,
    first_text,
    is_failed,
    type_of,
)
from stream_sidecar.wires.shared.request_shapes import RequestShape

if TYPE_CHECKING:
    from collections.abc import Mapping


RESULT = "_tool_result"
"""The end of the types of results."""

THINKING, REDACTED = "thinking", "redacted_thinking"
"""Types of blocks that are reasoning. `REDACTED` is also one of `STATES`."""

STATES = (REDACTED, "compaction", "container_upload", "mcp_tool_listing", "fallback")
"""Types of blocks that show nothing and must go back unchanged."""

SERVER_IDS = patterns.compile(r"(?:srv|mcp)toolu_[a-zA-Z0-9_]+")
"""Messages on server_tool_use.id: "String should match pattern"
(ding113/claude-code-hub#470)."""

CALL_MEMBERS = (
    "type",
    "id",
    "name",
    "input",
    "caller",
    "server_name",
    "toolset_name",
    "cache_control",
)
"""All members that a call of Messages may have."""

SHAPE = RequestShape(
    parts="content",
    call="tool_use",
    answer="tool_result",
    answered="tool_use_id",
    input="input",
    is_parsed=True,
    call_members=CALL_MEMBERS,
    answers_first=True,
)

_NAMELESS = ("mcp", "tool_search")
"""Types of results without the tool's name; the call with the same id has it."""


def is_location(item: JsonObject) -> bool:
    """Whether a citation is one of Anthropic's, which may go back."""
    return type_of(item) in LOCATIONS


def citation(item: JsonObject) -> CitationPart:
    """The part for a citation of its whole block; its offsets count in the source."""
    return CitationPart(
        kind=LOCATIONS.get(type_of(item), "other"),
        raw=item,
        role="block",
        anchor="block",
        url=first_text(item, ("url", "source")),
        title=first_text(item, ("title", "document_title")),
        cited_text=first_text(item, ("cited_text",)),
        document=document_id(item),
    )


def result(item: JsonObject, tools: Mapping[str, str]) -> ResultPart:
    """The part for a server's result. ``tools``: id of a call -> its tool's name."""
    id, kind = first_text(item, ("tool_use_id",)), type_of(item).removesuffix(RESULT)
    return ResultPart(
        content=item.get("content"),
        raw=item,
        id=id,
        name=tools.get(id or "") or (None if kind in _NAMELESS else kind),
        is_error=is_failed(item),
    )
