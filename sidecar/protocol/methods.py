"""The methods: their names, params, results, and how all of that is spelled in JSON.

`METHODS` is the table: a new method is one row here, its params and result classes in
``params`` and one function. What a class alone cannot say of its fields is in
`CHECKS`; other spellings of a tool are in `_tool`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import fields

from sidecar.dialects import DIALECTS
from sidecar.framing.framer import FRAMINGS
from sidecar.options import (
    EchoPolicy,
    Emit,
    Limits,
    Policy,
    ReasoningPolicy,
    Tool,
    ToolResultsPolicy,
)
from sidecar.protocol.batches import inspect_messages, repair_messages
from sidecar.protocol.converter import (
    CHECKS,
    Invalid,
    ValueReader,
    class_reader,
    converter,
    patch_reader,
    structure,
    unstructure,
)
from sidecar.protocol.lookups import (
    classify_calls,
    normalize_http_error,
    render_message,
)
from sidecar.protocol.params import (
    ClassifyParams,
    CloseParams,
    HistoryParams,
    LimitsPatch,
    NoParams,
    NormalizeErrorParams,
    NormalizeParams,
    OpenParams,
    PolicyPatch,
    PushParams,
    PushResult,
    RenderParams,
    SnapshotParams,
)
from sidecar.protocol.plain_answers import written
from sidecar.protocol.sessions import Sessions
from sidecar.records import frozen
from sidecar.values.absent import ABSENT
from sidecar.values.jsontext import encode
from sidecar.wires import REQUESTS, WIRES, WRITERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sidecar.protocol.batches import BatchWatch

WIRE_NAMES = ("auto", *WIRES)
TOOL_KINDS = (
    "read",
    "edit",
    "delete",
    "move",
    "search",
    "execute",
    "think",
    "fetch",
    "switch-mode",
    "other",
)
PATCHES: dict[Any, type] = {PolicyPatch: Policy, LimitsPatch: Limits}
"""Types of params that are some fields of a class."""


@frozen
class Method:
    """``handler`` takes the open streams and ``params``, and gives an attrs instance.

    ``notifies``: sent as a notification, the method is answered with this one.
    ``quick`` does the commonest calls without the converter, or gives None. A
    ``batch`` may take long: its handler is told, third, whom to tell how far it is.
    """

    name: str
    params: type[Any]
    handler: Callable[..., Any]
    notifies: str | None = None
    quick: Callable[[Sessions, Any], Any] | None = None
    batch: bool = False

    def call(self, sessions: Sessions, params: Any, *watch: BatchWatch) -> Any:
        """Reads JSON ``params``, calls the handler, and gives the JSON result."""
        return unstructure(self._result(sessions, params, *watch))

    def write(self, sessions: Sessions, params: Any) -> bytes:
        """The same as JSON text."""
        result = self._result(sessions, params)
        text = written(result) if type(result) is PushResult else None
        return encode(unstructure(result)) if text is None else text

    def _result(self, sessions: Sessions, params: Any, *watch: BatchWatch) -> Any:
        result = None if self.quick is None else self.quick(sessions, params)
        if result is None:
            read = structure({} if params is None else params, self.params, "params")
            result = self.handler(sessions, read, *watch)
        return result


def _push_one(sessions: Sessions, params: Any) -> PushResult | None:
    """``streamId`` and ``chunk``, nothing else: what is sent for every chunk."""
    if type(params) is dict and len(params) == 2 and "chunk" in params:
        stream_id = params.get("streamId")
        if type(stream_id) is str:
            return sessions.push_one(stream_id, params["chunk"])
    return None


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("stream/open", OpenParams, Sessions.open),
        Method("stream/push", PushParams, Sessions.push, "stream/events", _push_one),
        Method("stream/close", CloseParams, Sessions.close),
        Method("stream/snapshot", SnapshotParams, Sessions.snapshot),
        Method("stream/list", NoParams, Sessions.list),
        Method("message/normalize", NormalizeParams, Sessions.normalize),
        Method("message/render", RenderParams, render_message),
        Method("message/inspect", HistoryParams, inspect_messages, batch=True),
        Method("message/repair", HistoryParams, repair_messages, batch=True),
        Method("tool/classify", ClassifyParams, classify_calls),
        Method("error/normalize", NormalizeErrorParams, normalize_http_error),
        Method("sidecar/stats", NoParams, Sessions.stats),
    )
}


@frozen
class Check:
    """A check that JSON Schema can say, too: ``schema`` are the keywords that do."""

    test: Callable[[Any], None]
    schema: dict[str, Any]

    def __call__(self, value: Any) -> None:
        self.test(value)


def _check_not_empty(value: str) -> None:
    if not value:
        raise Invalid("must not be empty")


_not_empty = Check(_check_not_empty, {"minLength": 1})


def _one_of(names: Iterable[str]) -> Check:
    known = tuple(names)

    def check(value: str) -> None:
        if value not in known:
            raise Invalid(f"must be one of {', '.join(known)}")

    return Check(check, {"enum": [*known]})


def _at_least(least: int) -> Check:
    def check(value: int) -> None:
        if value < least:
            raise Invalid(f"must be at least {least}")

    return Check(check, {"minimum": least})


def _tags(tags: tuple[str, ...]) -> None:
    for number, tag in enumerate(tags):
        if not tag or "`" in tag or any(map(str.isspace, tag)):
            raise Invalid(
                "must be a name or an opener without white space and backticks",
                f"[{number}]",
            )


def _no_empty(texts: tuple[str, ...]) -> None:
    for number, text in enumerate(texts):
        if not text:
            raise Invalid("must not be empty", f"[{number}]")


def _dialects(names: str | tuple[str, ...]) -> None:
    for number, name in enumerate(() if isinstance(names, str) else names):
        if name not in DIALECTS:
            raise Invalid(f"must be one of {', '.join(DIALECTS)}", f"[{number}]")


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


CHECKS.update(
    {
        (OpenParams, "stream_id"): _not_empty,
        (OpenParams, ""): _textual,
        (NormalizeParams, ""): _textual,
        (PushParams, ""): Check(_chunk_or_chunks, _CHUNK_OR_CHUNKS),
        (Tool, "name"): _not_empty,
        (Tool, "kind"): _one_of(TOOL_KINDS),
        (ReasoningPolicy, "tags"): _tags,
        (ToolResultsPolicy, "indicators"): _no_empty,
        (EchoPolicy, "markers"): _no_empty,
        (EchoPolicy, "prefixes"): _no_empty,
        (Policy, "dialects"): _dialects,
        (Limits, "idle_timeout_ms"): _at_least(0),
        (ClassifyParams, "wire"): _one_of(WIRE_NAMES),
        (Emit, "wire"): _one_of(WRITERS),
        (RenderParams, "wire"): _one_of(REQUESTS),
    }
)
for _kind in (OpenParams, NormalizeParams):
    CHECKS[_kind, "wire"] = _one_of(WIRE_NAMES)
    CHECKS[_kind, "framing"] = _one_of(FRAMINGS)
for _limit in fields(Limits):
    CHECKS.setdefault((Limits, _limit.name), _at_least(1))


def _tool_reader() -> ValueReader:
    """Reads a tool as MCP, OpenAI or Anthropic spell it."""
    read = class_reader(Tool)
    return lambda value, kind: read(_tool(value), kind)


def _tool(value: Any) -> Any:
    """Our spelling of a declared tool; a provider's own tool is named by its type."""
    if not isinstance(value, dict):
        return value
    inner = value.get("function") or value.get("custom")
    spelled = {**value, **inner} if isinstance(inner, dict) else dict(value)
    if spelled.get("name") is None and value.get("type") not in ("function", "custom"):
        spelled["name"] = value.get("type")
    for other in ("input_schema", "parameters"):
        if spelled.get("inputSchema") is None:
            spelled["inputSchema"] = spelled.get(other)
    return spelled


converter.register_structure_hook(Tool, _tool_reader())
for _part, _whole in PATCHES.items():
    converter.register_structure_hook(_part, patch_reader(_whole))
