"""Endpoints of providers whose responses can be cleaned: their wire, what a request
says about its model and tools, and how its response streams.

The rows are the same as in the TypeScript client (``adapters/endpoints.ts``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from stream_sidecar import patterns
from stream_sidecar.api.calls import known_members
from stream_sidecar.records import frozen
from stream_sidecar.transports.body_formats import ARRAY, SSE
from stream_sidecar.values.jsontext import decode

if TYPE_CHECKING:
    from stream_sidecar.api import EmitWire
    from stream_sidecar.transports.body_formats import BodyFormat

_ENDPOINTS: tuple[tuple[Any, EmitWire], ...] = (
    (patterns.compile(r"/chat/completions\Z"), "openai-chat"),
    (patterns.compile(r"/responses\Z"), "openai-responses"),
    (patterns.compile(r"/messages\Z"), "anthropic"),
    (
        patterns.compile(r"/models/([^/:]+):(?:streamG|g)enerateContent\Z"),
        "gemini",
    ),
)


@frozen
class Asked:
    """A request to one of the endpoints; ``host`` and ``path`` are parts of its
    address. ``is_signed``: a signature of AWS covers the body, which must not change
    then."""

    wire: EmitWire
    host: str
    path: str
    body: dict[str, Any]
    model: str | None
    tools: list[Any] | None
    is_signed: bool = False

    def format_of(self, media_type: str) -> BodyFormat | None:
        """The format of the response's body if the response streams, else None."""
        if media_type == "text/event-stream":
            return SSE[self.wire]
        is_stream = self.path.endswith(":streamGenerateContent")
        return ARRAY if is_stream else None


def is_endpoint(method: str, url: str) -> bool:
    """Whether the response to such a request is cleaned."""
    return method == "POST" and _row_of(urlsplit(url).path) is not None


def asked_of(method: str, url: str, body: bytes) -> Asked | None:
    """Return the request; None if the address is no known endpoint, the method is not
    POST, or the body is not a JSON object."""
    address = urlsplit(url)
    row = _row_of(address.path) if method == "POST" else None
    if row is None or (request := object_in(body)) is None:
        return None
    found, wire = row
    model = unquote(found[1]) if found.re.groups else request.get("model")
    tools = request.get("tools")
    declared = _declarations(tools) if wire == "gemini" else tools
    return Asked(
        wire,
        address.hostname or "",
        address.path,
        request,
        model if isinstance(model, str) else None,
        [*map(known_members, filter(_is_named, declared))]
        if isinstance(declared, list)
        else None,
    )


def _row_of(path: str) -> tuple[Any, EmitWire] | None:
    """What the path says, and the wire of the endpoint."""
    rows = ((each.search(path), wire) for each, wire in _ENDPOINTS)
    return next((row for row in rows if row[0]), None)


def object_in(body: bytes) -> dict[str, Any] | None:
    """Return ``body`` as a JSON object; None if it is not one."""
    try:
        value = decode(body)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _declarations(tools: Any) -> list[Any] | None:
    """The functions that Gemini's request declares in groups:
    ``[{functionDeclarations: [...]}]``. None if ``tools`` is not a list."""
    if not isinstance(tools, list):
        return None
    groups = (each for each in tools if isinstance(each, dict))
    return [
        {name: spec[name] for name in ("name", "description") if name in spec}
        for group in groups
        for spec in group.get("functionDeclarations") or ()
        if isinstance(spec, dict)
    ]


def _is_named(tool: Any) -> bool:
    """Whether the tool has a name; some tools of providers have none."""
    if not isinstance(tool, dict):
        return False
    called = tool.get("function")
    inner = called.get("name") if isinstance(called, dict) else None
    return isinstance(inner or tool.get("name"), str)
