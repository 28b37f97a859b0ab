"""The methods: their names, params and handlers, and how they read and write JSON.

`METHODS` is the table: a new method is one row here, its params and result classes in
``params`` and one function. Conditions that the types of fields cannot express are in
`CHECKS`; `reading_options` has those of options.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from stream_sidecar.dialects.profiles import Profile
from stream_sidecar.message.turn import Turn
from stream_sidecar.options import Emit
from stream_sidecar.protocol.announced import FRAMING_NAMES, WIRE_NAMES
from stream_sidecar.protocol.converter import (
    CHECKS,
    SHARED,
    Invalid,
    class_reader,
    converter,
    structure,
    unstructure,
)
from stream_sidecar.protocol.ignored import TYPES, ignored, refuse_ignored, unwritten
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
    OpenResult,
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
from stream_sidecar.records import evolve, frozen
from stream_sidecar.values.absent import ABSENT
from stream_sidecar.values.jsontext import encode
from stream_sidecar.wires import REQUESTS, WRITERS
from stream_sidecar.wires.shared.rendering import Lost

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.protocol.batches import BatchWatch


@frozen
class Method:
    """``handler(sessions, params)`` returns an attrs instance.

    ``notifies``: the notification that answers the method when it comes as a
    notification. ``quick`` answers the most common calls without the converter: it
    returns the result as JSON text, or None for any other call. A ``batch`` may run for
    long; its handler has a third parameter, to which it reports its progress.
    ``completed`` adds to a result what only the JSON params show: members that nobody
    reads.
    """

    name: str
    params: type[Any]
    handler: Callable[..., Any]
    notifies: str | None = None
    quick: Callable[[Sessions, Any], bytes | None] | None = None
    batch: bool = False
    completed: Callable[[Any, Any], Any] = lambda result, _: result

    def run(self, sessions: Sessions, params: Any, *watch: BatchWatch) -> Any:
        """Reads the JSON ``params`` and returns the handler's result."""
        read = structure({} if params is None else params, self.params, "params")
        return self.completed(self.handler(sessions, read, *watch), params)

    def ignored(self, params: Any) -> tuple[str, ...]:
        """The paths of the members of the JSON ``params``, which fit the method, that
        have no effect because this version does not know them."""
        return ignored(params, self.params)

    def refuse_ignored(self, params: Any) -> None:
        """Raises a `UsageError` if `ignored` finds a member in ``params``."""
        refuse_ignored(params, self.params)

    def call(self, sessions: Sessions, params: Any, *watch: BatchWatch) -> Any:
        """The result as a JSON value."""
        return unstructure(self.run(sessions, params, *watch))

    def write(self, sessions: Sessions, params: Any) -> bytes:
        """The result as JSON text."""
        text = None if self.quick is None else self.quick(sessions, params)
        return encode(self.call(sessions, params)) if text is None else text


def _lazy(
    name: str, params: type[Any], result: type[Any], place: str, **more: Any
) -> Method:
    """A method without a stream, handled by the function ``place`` of this room
    (``lookups.classify_calls``). The first request imports its module."""
    module, function = place.split(".")

    def handler(*arguments: Any) -> Any:
        home = import_module(f"stream_sidecar.protocol.{module}")
        return getattr(home, function)(*arguments)

    handler.__annotations__["return"] = result.__name__
    return Method(name, params, handler, **more)


def _with_ignored(opened: OpenResult, params: Any) -> OpenResult:
    return evolve(opened, ignored=ignored(params, OpenParams) or None)


_PARTS = ("text", "reasoning", "blocks")
_WITHOUT_PARTS = "the message has no parts, as with the policy message.parts: false"


def _with_unwritten(rendered: RenderResult, params: Any) -> RenderResult:
    """``rendered``, which also reports as lost what was given and is not known."""
    paths = (*ignored(params, RenderParams), *unwritten(params))
    lost = [Lost(None, "unknown", f"this version does not know {p}") for p in paths]
    message = params["message"]
    is_bare = message and all(message.get(name) is None for name in _PARTS)
    if is_bare and not rendered.messages:
        lost.append(Lost(None, "text", _WITHOUT_PARTS))
    return evolve(rendered, lost=[*rendered.lost, *lost])


_INSPECT, _REPAIR = "batches.inspect_messages", "batches.repair_messages"
_ROWS = (
    Method("stream/open", OpenParams, Sessions.open, completed=_with_ignored),
    Method(
        "stream/push",
        PushParams,
        Sessions.push,
        notifies="stream/events",
        quick=Sessions.push_plain,
    ),
    Method("stream/close", CloseParams, Sessions.close),
    Method("stream/snapshot", SnapshotParams, Sessions.snapshot),
    Method("stream/list", NoParams, Sessions.list),
    Method("message/normalize", NormalizeParams, Sessions.normalize),
    _lazy(
        "message/render",
        RenderParams,
        RenderResult,
        "lookups.render_message",
        completed=_with_unwritten,
    ),
    _lazy("request/prepare", PrepareParams, PrepareResult, "requests.prepare_request"),
    _lazy("message/inspect", HistoryParams, InspectResult, _INSPECT, batch=True),
    _lazy("message/repair", HistoryParams, RepairResult, _REPAIR, batch=True),
    _lazy("tool/classify", ClassifyParams, ClassifyResult, "lookups.classify_calls"),
    _lazy(
        "error/normalize",
        NormalizeErrorParams,
        NormalizeErrorResult,
        "lookups.normalize_http_error",
    ),
    Method("sidecar/stats", NoParams, Sessions.stats),
)
METHODS: dict[str, Method] = {method.name: method for method in _ROWS}


def _chunk_or_chunks(params: PushParams) -> None:
    """``chunk: null`` is a chunk, but equals absent if there are ``chunks``."""
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
        raise Invalid('must be "text" if wire is "text", and only then', ".framing")


_read_turn = class_reader(Turn)
_CONTENT = ("text", "reasoning", "blocks", "toolCalls", "toolResults")


def _typed(value: Any) -> Any:
    """The message, with a type for each entry of the lists that say what it is:
    `tool/classify` returns calls without one."""
    members = value.items() if type(value) is dict else ()
    typed = {
        name: [{**e, "type": TYPES[name]} if type(e) is dict else e for e in entries]
        for name, entries in members
        if name in TYPES and type(entries) is list
    }
    return value | typed if typed else value


def _turn(value: Any, kind: Any) -> Any:
    """The message to render. A message of another shape has content, too, but under
    names that nobody reads; it would be written as nothing."""
    turn = _read_turn(_typed(value), kind)
    names = [name for name, item in value.items() if item is not None]
    if names and not {*names} & {*_CONTENT}:
        listed = ", ".join(name[:64] for name in names[:8])
        raise Invalid(f"must have one of {', '.join(_CONTENT)}, but has only {listed}")
    return turn


converter.register_structure_hook(Turn, _turn)
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
