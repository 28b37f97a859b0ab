"""Endpoints of providers whose responses can be cleaned: their wire, what a request
says about its model and tools, and how its response streams.

The table is ``endpoints.json``, which the clients have, too (``clients/schema``).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from stream_sidecar.api.calls import known_members
from stream_sidecar.records import frozen
from stream_sidecar.transports.body_formats import ARRAY, SSE
from stream_sidecar.values.jsontext import decode

if TYPE_CHECKING:
    from stream_sidecar.api import EmitWire, Framing
    from stream_sidecar.transports.body_formats import BodyFormat


@frozen
class Endpoint:
    """A row of the table, with the table's names."""

    path: str
    wire: EmitWire
    framing: Framing | None = None
    declarations: str | None = None

    def model_in(self, path: str) -> str | None:
        """The model in ``path``, perhaps empty; None: another endpoint."""
        prefix, _, suffix = self.path.partition("{model}")
        if not suffix:
            return "" if path.endswith(prefix) else None
        model = path.removesuffix(suffix).rpartition("/")[2]
        is_name = bool(model) and ":" not in model
        return model if is_name and path.endswith(prefix + model + suffix) else None


@cache
def _endpoints() -> tuple[Endpoint, ...]:
    from pkgutil import get_data  # reads zip files, too; the start does not need it

    data = get_data("stream_sidecar.transports", "endpoints.json")
    assert data is not None, "an importer that cannot read files"
    return tuple(Endpoint(**row) for row in decode(data)["endpoints"])


@frozen
class ModelRequest:
    """A request to one of the endpoints; ``host`` is part of its address.
    ``is_array``: a response without server-sent events is a JSON array.
    ``is_signed``: a signature of AWS covers the body, which must not change then."""

    wire: EmitWire
    host: str
    body: dict[str, Any]
    model: str | None
    tools: list[Any] | None
    is_array: bool = False
    is_signed: bool = False

    def format_of(self, media_type: str) -> BodyFormat | None:
        """The format of the response's body if the response streams, else None."""
        if media_type == "text/event-stream":
            return SSE[self.wire]
        return ARRAY if self.is_array else None


def is_endpoint(method: str, url: str) -> bool:
    """Whether the response to such a request is cleaned."""
    return method == "POST" and _row_of(urlsplit(url).path) is not None


def request_of(method: str, url: str, body: bytes) -> ModelRequest | None:
    """The request; None if it is no POST of an object to a known endpoint."""
    address = urlsplit(url)
    row = _row_of(address.path) if method == "POST" else None
    if row is None or (request := object_in(body)) is None:
        return None
    endpoint, model_name = row
    model = unquote(model_name) or request.get("model")
    tools = request.get("tools")
    if endpoint.declarations:
        tools = _declarations(tools, endpoint.declarations)
    return ModelRequest(
        wire=endpoint.wire,
        host=address.hostname or "",
        body=request,
        model=model if isinstance(model, str) else None,
        tools=[*map(known_members, filter(_is_named, tools))]
        if isinstance(tools, list)
        else None,
        is_array=endpoint.framing == "json-array",
    )


def _row_of(path: str) -> tuple[Endpoint, str] | None:
    """The endpoint of a path, and the model that the path names."""
    rows = ((row, row.model_in(path)) for row in _endpoints())
    return next(((row, model) for row, model in rows if model is not None), None)


def object_in(body: bytes) -> dict[str, Any] | None:
    """Return ``body`` as a JSON object; None if it is not one."""
    try:
        value = decode(body)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _declarations(tools: Any, member: str) -> list[Any] | None:
    """The functions declared in groups (``[{member: [...]}]``), if a list."""
    if not isinstance(tools, list):
        return None
    groups = (tool for tool in tools if isinstance(tool, dict))
    return [
        {name: spec[name] for name in ("name", "description") if name in spec}
        for group in groups
        for spec in group.get(member) or ()
        if isinstance(spec, dict)
    ]


def _is_named(tool: Any) -> bool:
    """Whether the tool has a name; some tools of providers have none."""
    if not isinstance(tool, dict):
        return False
    called = tool.get("function")
    inner = called.get("name") if isinstance(called, dict) else None
    return isinstance(inner or tool.get("name"), str)
