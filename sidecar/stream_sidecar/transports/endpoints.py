"""Endpoints of providers whose responses can be made clean: which wire they speak, what
a request says of itself, and how its answer streams.

The rows are those of the TypeScript client (``adapters/endpoints.ts``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from stream_sidecar import patterns
from stream_sidecar.records import frozen
from stream_sidecar.transports.body_formats import ARRAY, SSE
from stream_sidecar.values.jsontext import decode

if TYPE_CHECKING:
    from stream_sidecar.transports.body_formats import BodyFormat

_ENDPOINTS = (
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
    """What a request asks; ``host`` and ``path`` are its address's."""

    wire: str
    host: str
    path: str
    body: dict[str, Any]
    model: str | None
    tools: list[Any] | None

    def format_of(self, content_type: str) -> BodyFormat | None:
        """How the response streams; None: it is one document, or nothing of ours."""
        if content_type.startswith("text/event-stream"):
            return SSE[self.wire]
        is_stream = self.path.endswith(":streamGenerateContent")
        return ARRAY if is_stream else None


def asked_of(method: str, url: str, body: bytes) -> Asked | None:
    """What is asked; None: it is no endpoint of ours, or no request to be read."""
    address = urlsplit(url)
    rows = ((each.search(address.path), wire) for each, wire in _ENDPOINTS)
    found, wire = next(((found, wire) for found, wire in rows if found), (None, ""))
    reported = object_in(body) if method == "POST" and found else None
    if reported is None or found is None:
        return None
    model = unquote(found[1]) if found.re.groups else reported.get("model")
    tools = reported.get("tools")
    declared = _declarations(tools) if wire == "gemini" else tools
    return Asked(
        wire,
        address.hostname or "",
        address.path,
        reported,
        model if isinstance(model, str) else None,
        [*filter(_is_named, declared)] if isinstance(declared, list) else None,
    )


def object_in(body: bytes) -> dict[str, Any] | None:
    """The JSON object that ``body`` is; None: it is none."""
    try:
        value = decode(body)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _declarations(tools: Any) -> list[Any] | None:
    """Gemini declares functions in groups: ``[{functionDeclarations: [...]}]``."""
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
    """Tools of the provider that have no name are not declared to us."""
    if not isinstance(tool, dict):
        return False
    called = tool.get("function")
    inner = called.get("name") if isinstance(called, dict) else None
    return isinstance(inner or tool.get("name"), str)
