"""Reads the items of a Responses stream that are tools: calls, results, who ran them.

`ITEM_SHAPES` has, for each type of item, the members with a call's arguments and with
its result. An item of another type is a server's tool if it looks like one. The item's
type decides who runs a call (wires/README.md, "Who runs a call").
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING, Literal

from stream_sidecar.parts import CallEndPart, CallPart, ResultPart
from stream_sidecar.records import define, evolve, field, frozen
from stream_sidecar.wires.shared.fields import type_of

if TYPE_CHECKING:
    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.openai_responses.items import OutputItem
    from stream_sidecar.wires.shared.document_wire import DocumentWire


@frozen
class Shape:
    """A type of items that are calls. ``name``: the tool's name, if the item has none.
    ``named``: the member with the tool's name.
    ``arguments``: the members that make up the arguments of an item without
    ``arguments``; if there is one and it is an object, it is the arguments.
    ``results``: members that may have the result; the first that is not empty counts.
    None: the result is another item, or comes from the client."""

    name: str = ""
    arguments: tuple[str, ...] = ()
    results: tuple[str, ...] | None = None
    named: str = "name"
    #: its arguments come in fragments, so the call is reported as soon as it begins
    streams: bool = False


ITEM_SHAPES: dict[str, Shape] = {
    "function_call": Shape(streams=True),
    "custom_tool_call": Shape(streams=True),
    "mcp_call": Shape(results=("output", "error"), streams=True),
    "mcp_approval_request": Shape(),
    "mcp_list_tools": Shape("mcp_list_tools", ("server_label",), ("tools", "error")),
    "local_shell_call": Shape("local_shell", ("action",)),
    "shell_call": Shape("shell", ("action",)),
    "apply_patch_call": Shape("apply_patch", ("operation",)),
    "computer_call": Shape("computer", ("action", "actions")),
    "tool_search_call": Shape("tool_search"),
    "program": Shape("program", ("code",)),
    "multi_agent_call": Shape("multi_agent", named="action"),
    "web_search_call": Shape("web_search", ("action",), ("results", "action.sources")),
    "file_search_call": Shape("file_search", ("queries",), ("results",)),
    "code_interpreter_call": Shape(
        "code_interpreter", ("code", "container_id"), ("outputs",)
    ),
    "image_generation_call": Shape(
        "image_generation",
        ("prompt", "revised_prompt", "action", "size", "quality", "background"),
        ("result", "error"),
    ),
}

_TEXT = "custom_tool_call"
_OWN = ("function_call", _TEXT)
"""Types of calls that are written without their raw item, from its other members."""

_META = ("type", "status", "call_id", "name", "arguments", "input", "caller")
_RESULTS = ("output", "outputs", "result", "results", "contents", "tools", "error")
"""Members that may have the result in items of other types; the first one counts."""

CALL, OUTPUT = "_call", "_output"
_SERVER_TYPES = ("openrouter:", "sandbox_")
_SERVER_ITEMS = (
    "search_results",
    "fetch_url_results",
    "share_file",
    "skill_loaded",
    "advisor_result",
)
"""Perplexity's items, each with a call of a server's tool and its result."""

_WITHOUT_STATUS = (
    "mcp_call",
    "mcp_approval_request",
    "mcp_list_tools",
    "program",
    "multi_agent_call",
    *_SERVER_ITEMS,
)
"""Types of items that may lack ``status``; all other calls have it."""

_SERVER_IDS = ("xs_call_",)
"""Prefixes of ids of xAI's own calls, like custom ones; no item has their results."""

_ENDED = ("completed", "failed", "incomplete")


def is_tool_item(body: JsonObject) -> bool:
    """Whether an object is a tool item of a Responses server. Calls of other wires may
    have the same types (Gemini's ``file_search_call``), but they have no status."""
    type = type_of(body)
    if type.endswith(OUTPUT) or type in _WITHOUT_STATUS:
        return True
    is_known = type in ITEM_SHAPES or _guess(type, body) is not None
    return is_known and "status" in body


@define
class Tools:
    """Reads items that are tools into the parts of ``wire``."""

    wire: DocumentWire
    #: type of a result's item -> keys of calls without a result, in order
    _awaited: defaultdict[str, deque[str]] = field(factory=lambda: defaultdict(deque))

    def begin(self, item: OutputItem) -> None:
        """Reads an item that begins. A call with fragments is reported now."""
        shape = ITEM_SHAPES.get(item.type)
        if shape is not None and shape.streams:
            self.wire.parts.append(self._call(item, item.body, shape, None))

    def waits(self, item: OutputItem, body: JsonObject) -> bool:
        """Whether ``body`` is a finished call for the client without arguments. It has
        to wait for the finished response, which may have them."""
        is_bare = _arguments(body, ITEM_SHAPES[_OWN[0]]) is None
        return type_of(body) in _OWN and is_bare and not item.text("arguments").length

    def fragment(self, item: OutputItem, text: str) -> None:
        format = _format_of(item.type)
        self.wire.parts.append(CallPart(key=item.key, arguments=text, format=format))

    def read(self, item: OutputItem, body: JsonObject, *, cut: bool) -> bool:
        """Reads an item that is done, or was ``cut`` off. False: it is no tool."""
        type = type_of(body)
        shape = ITEM_SHAPES.get(type) or _guess(type, body)
        if type.endswith(OUTPUT):
            if not cut:
                self._output(item, body, type)
        elif shape is not None:
            self._finish(item, body, shape, cut or body.get("status") == "incomplete")
            self._result(item, body, shape, cut)
        return shape is not None or type.endswith(OUTPUT)

    def _finish(
        self, item: OutputItem, body: JsonObject, shape: Shape, cut: bool
    ) -> None:
        """Ends a call. Its arguments replace the fragments; cut ones add to them."""
        arguments = _arguments(body, shape)
        if cut and isinstance(arguments, str | None):
            arguments = item.text("arguments").finish_all(arguments or "") or None
        part = self._call(item, body, shape, arguments)
        self.wire.parts.append(part if cut else evolve(part, whole=True))
        if cut:
            self.wire.parts.append(CallEndPart(key=item.key, cut=True))
        elif shape.results is None and not self.wire.text(body, "call_id"):
            self._awaited[item.type.removesuffix(CALL) + OUTPUT].append(item.key)

    def _call(
        self, item: OutputItem, body: JsonObject, shape: Shape, arguments: Json
    ) -> CallPart:
        type, id = type_of(body), self.wire.text(body, "call_id")
        is_own, members = type in _OWN, body.items()
        others = {n: v for n, v in members if v is not None and n not in _META}
        raw = {n: v for n, v in members if n not in (shape.results or ())}
        return CallPart(
            key=item.key,
            id=id or self.wire.text(body, "id"),
            name=_name_of(body, shape),
            arguments=arguments,
            type=type,
            format=_format_of(type),
            executor=None if id or type in ITEM_SHAPES else "server",
            caller=body.get("caller"),
            opaque=(others or None) if is_own else None,
            raw=None if is_own else raw,
        )

    def _result(
        self, item: OutputItem, body: JsonObject, shape: Shape, cut: bool
    ) -> None:
        """Adds the result in the item of a server's call, or at least its status."""
        id, status = self.wire.text(body, "call_id"), self.wire.text(body, "status")
        if not (status or cut) and type_of(body) in _SERVER_ITEMS:
            status = "completed"
        names = () if id.startswith(_SERVER_IDS) else shape.results
        if names is None:
            return
        name, content = _found(body, names)
        if name or status in _ENDED:
            is_error = True if name == "error" or status == "failed" else None
            content = content if name else {"status": status}
            call_id = id or self.wire.text(body, "id") or None
            tool = _name_of(body, shape) or None
            part = ResultPart(content, body, 0, call_id, tool, is_error, item.key)
            self.wire.parts.append(part)

    def _output(self, item: OutputItem, body: JsonObject, type: str) -> None:
        """Reads a result of the call with its ``call_id``, or that waits longest."""
        id, awaited = self.wire.text(body, "call_id"), self._awaited[type]
        key = awaited.popleft() if awaited and not id else item.key
        name, content = _found(body, _RESULTS)
        if not name:
            content = {"status": body.get("status")}
        is_error = True if body.get("status") == "failed" else None
        call = type.removesuffix(OUTPUT)
        shape = ITEM_SHAPES.get(call) or Shape(call.removesuffix(CALL))
        tool = _name_of(body, shape) or None
        part = ResultPart(content, body, 0, id or None, tool, is_error, key)
        self.wire.parts.append(part)


def _format_of(type: str) -> Literal["json", "text"]:
    return "text" if type == _TEXT else "json"


def _name_of(body: JsonObject, shape: Shape) -> str:
    name = body.get(shape.named)
    return name if isinstance(name, str) and name else shape.name


def _guess(type: str, body: JsonObject) -> Shape | None:
    """The shape of a call whose type is not in the table; None if it is no call. A call
    with a ``call_id`` is for the client, so it contains no result."""
    is_call = type.endswith(CALL) or type.startswith(_SERVER_TYPES)
    if not is_call and type not in _SERVER_ITEMS:
        return None
    no_arguments = ("id", *_META, *_RESULTS)
    fields = tuple(name for name in body if name not in no_arguments)
    results = None if body.get("call_id") else _RESULTS
    return Shape(type.removesuffix(CALL), fields, results)


def _arguments(body: JsonObject, shape: Shape) -> Json:
    """The arguments of a call: text, an object, or None if there are none."""
    for name in ("arguments", "input"):
        value = body.get(name)
        if value is not None and value != "":
            return value
    fields = {n: body[n] for n in shape.arguments if body.get(n) is not None}
    single = next(iter(fields.values())) if len(fields) == 1 else None
    if isinstance(single, dict):
        return {name: single[name] for name in single if name != "sources"}
    return fields or None


def _found(body: JsonObject, paths: tuple[str, ...]) -> tuple[str, Json]:
    """The first of ``paths`` at which ``body`` has a value, and the value; ("", None)
    if there is none. An empty list counts at a path with one step (``results``), but
    not below (``action.sources``, xAI)."""
    for path in paths:
        value: Json = body
        for name in path.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        if value or (value is not None and path in body):
            return path, value
    return "", None
