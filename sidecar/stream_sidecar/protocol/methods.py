"""The methods: their names, params, results, and how all of that is spelled in JSON.

`METHODS` is the table: a new method is one row here, its params and result classes in
``params`` and one function. What a class alone cannot say of its fields is in
`CHECKS`, of options in `reading_options`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from stream_sidecar.dialects.profiles import Profile
from stream_sidecar.options import Emit
from stream_sidecar.protocol.announced import FRAMING_NAMES, WIRE_NAMES
from stream_sidecar.protocol.converter import (
    CHECKS,
    SHARED,
    Invalid,
    structure,
    unstructure,
)
from stream_sidecar.protocol.params import (
    ClassifyParams,
    ClassifyResult,
    CloseParams,
    HistoryParams,
    InspectResult,
    NoParams,
    NormalizeErrorParams,
    NormalizeErrorResult,
    NormalizeParams,
    OpenParams,
    PrepareParams,
    PrepareResult,
    PushParams,
    RenderParams,
    RenderResult,
    RepairResult,
    SnapshotParams,
)
from stream_sidecar.protocol.reading_options import Check, not_empty, one_of
from stream_sidecar.protocol.sessions import Sessions
from stream_sidecar.records import frozen
from stream_sidecar.values.absent import ABSENT
from stream_sidecar.values.jsontext import encode
from stream_sidecar.wires import REQUESTS, WRITERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.protocol.batches import BatchWatch


@frozen
class Method:
    """``handler`` takes the open streams and ``params``, and gives an attrs instance.

    ``notifies``: sent as a notification, the method is answered with this one.
    ``quick`` does the commonest calls without the converter and gives their result as
    JSON text, or None. A ``batch`` may take long: its handler is told, third, whom to
    tell how far it is.
    """

    name: str
    params: type[Any]
    handler: Callable[..., Any]
    notifies: str | None = None
    quick: Callable[[Sessions, Any], bytes | None] | None = None
    batch: bool = False

    def run(self, sessions: Sessions, params: Any, *watch: BatchWatch) -> Any:
        """Reads JSON ``params`` and gives what the handler does."""
        read = structure({} if params is None else params, self.params, "params")
        return self.handler(sessions, read, *watch)

    def call(self, sessions: Sessions, params: Any, *watch: BatchWatch) -> Any:
        """Gives the JSON result."""
        return unstructure(self.run(sessions, params, *watch))

    def write(self, sessions: Sessions, params: Any) -> bytes:
        """The result as JSON text."""
        text = None if self.quick is None else self.quick(sessions, params)
        return encode(self.call(sessions, params)) if text is None else text


def _in(module: str, name: str, result: type[Any]) -> Callable[..., Any]:
    """The handler ``name`` in a module of this room, which gives a ``result``. No
    stream needs that module, so it is imported for the first request."""

    def handler(*given: Any) -> Any:
        return getattr(import_module(f"stream_sidecar.protocol.{module}"), name)(*given)

    handler.__annotations__["return"] = result.__name__
    return handler


_INSPECT, _REPAIR = (
    _in("batches", "inspect_messages", InspectResult),
    _in("batches", "repair_messages", RepairResult),
)

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("stream/open", OpenParams, Sessions.open),
        Method(
            "stream/push",
            PushParams,
            Sessions.push,
            notifies="stream/events",
            quick=Sessions.push_one,
        ),
        Method("stream/close", CloseParams, Sessions.close),
        Method("stream/snapshot", SnapshotParams, Sessions.snapshot),
        Method("stream/list", NoParams, Sessions.list),
        Method("message/normalize", NormalizeParams, Sessions.normalize),
        Method(
            "message/render",
            RenderParams,
            _in("lookups", "render_message", RenderResult),
        ),
        Method(
            "request/prepare",
            PrepareParams,
            _in("requests", "prepare_request", PrepareResult),
        ),
        Method("message/inspect", HistoryParams, _INSPECT, batch=True),
        Method("message/repair", HistoryParams, _REPAIR, batch=True),
        Method(
            "tool/classify",
            ClassifyParams,
            _in("lookups", "classify_calls", ClassifyResult),
        ),
        Method(
            "error/normalize",
            NormalizeErrorParams,
            _in("lookups", "normalize_http_error", NormalizeErrorResult),
        ),
        Method("sidecar/stats", NoParams, Sessions.stats),
    )
}


def _chunk_or_chunks(params: PushParams) -> None:
    """``chunk: null`` is a chunk, but beside ``chunks`` it is an absent one."""
    if params.chunks is None:
        if params.chunk is ABSENT:
            raise Invalid("is missing", ".chunk")
    elif params.chunk is not ABSENT and params.chunk is not None:
        raise Invalid("must not be given together with chunk", ".chunks")


_CHUNK_OR_CHUNKS: dict[str, Any] = {
    "anyOf": [
        {"required": ["chunk"], "properties": {"chunks": {"type": "null"}}},
        {
            "required": ["chunks"],
            "properties": {"chunk": {"type": "null"}, "chunks": {"type": "array"}},
        },
    ]
}


def _textual(params: OpenParams | NormalizeParams) -> None:
    pair = {params.wire, params.framing}
    if "text" in pair and not pair <= {"text", "auto"}:
        raise Invalid('must be "text" where wire is, and only there', ".framing")


SHARED.add(Profile)
CHECKS.update(
    {
        (OpenParams, "stream_id"): not_empty,
        (NormalizeParams, "stream_id"): not_empty,
        (OpenParams, ""): _textual,
        (NormalizeParams, ""): _textual,
        (PushParams, ""): Check(_chunk_or_chunks, _CHUNK_OR_CHUNKS),
        (ClassifyParams, "wire"): one_of(WIRE_NAMES),
        (Emit, "wire"): one_of(WRITERS),
        (RenderParams, "wire"): one_of(REQUESTS),
        (PrepareParams, "wire"): one_of(REQUESTS),
    }
)
for _kind in (OpenParams, NormalizeParams):
    CHECKS[_kind, "wire"] = one_of(WIRE_NAMES)
    CHECKS[_kind, "framing"] = one_of(FRAMING_NAMES)
