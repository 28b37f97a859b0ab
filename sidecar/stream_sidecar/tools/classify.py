"""Who runs a call, in what state it is, and whether the host may run it.

Pure functions from a call (`OpenCall`) and its surroundings (`CallContext`) to the
event `ToolCall`. The first of these signs decides who runs the call: the structural
type, a result with the same id, the prefix of the id, the provider's own field, the
declared tool. Without any of these signs the client runs the call, or, if the host
declared other tools, it is ``unknown`` (wires/README.md, "Who runs a call").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from stream_sidecar.events import ToolCall
from stream_sidecar.records import evolve, hot
from stream_sidecar.tools import runners
from stream_sidecar.tools.call import OpenCall
from stream_sidecar.tools.judging import ArgumentState, judge
from stream_sidecar.tools.kinds import kind_of
from stream_sidecar.tools.members import is_ambiguous
from stream_sidecar.values.jsontext import dumps
from stream_sidecar.values.made_id import made_id

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from stream_sidecar.events import ToolKind
    from stream_sidecar.options import Tool

Executor: TypeAlias = Literal["client", "server", "unknown"]
Awaits: TypeAlias = Literal["client-result", "client-approval", "server-result", "none"]


@hot
class CallContext:
    """What is known beside the call. ``tools``: the declared tools by name; None if the
    host gave no list of tools.

    ``results``: the ids of the results in the same output; for a result without an id,
    the wire's key. ``finish``: the unified reason; None while it is not known. Both may
    come later than the call: see `settle_call`.
    """

    tools: Mapping[str, Tool] | None = None
    wire: str | None = None
    results: Collection[int | str] = ()
    finish: str | None = None


_FATAL_REASONS = ("malformed", "error", "cancelled")
"""Finish reasons after which nothing is executable."""
_CUT_REASONS = ("length", "context-length")
"""Finish reasons after which a call without arguments may have lost them."""
DECISIVE_REASONS = frozenset((*_FATAL_REASONS, *_CUT_REASONS))
"""Finish reasons that can change a call in `settle_call`; the others cannot."""


def classify(call: OpenCall, context: CallContext, seq: int = 0) -> ToolCall:
    """The event of a call that has ended. The fields ``executor``, ``awaits`` and
    ``executable`` are provisional until `settle_call`. Sets ``call.ambiguous``."""
    tool = (context.tools or {}).get(call.name)
    state, value = _argument_state(call, context)
    call.ambiguous = is_ambiguous(call.arguments, value)
    kind = kind_of(call.name, tool, call.type)
    declared = None if context.tools is None else tool is not None
    executor, awaits, executable = _decide_execution(call, state, declared, context)
    return ToolCall(
        seq=seq,
        choice=call.choice,
        block=call.block,
        tool_call_id=call.id,
        id_synthetic=call.id_synthetic,
        name=call.name,
        arguments=call.arguments,
        arguments_format=call.format,
        input=value,
        state=state,
        executor=executor,
        origin=call.origin,
        channel=call.channel,
        declared=declared,
        kind=cast("ToolKind", kind.kind),
        kind_source=kind.source,
        mutating=kind.mutating,
        awaits=awaits,
        executable=executable,
        dialect=call.dialect,
        caller=call.caller,
        opaque=call.opaque,
        raw=call.raw,
    )


def settle_call(event: ToolCall, call: OpenCall, context: CallContext) -> ToolCall:
    """``event`` with the fields that the context decides now."""
    execution = _decide_execution(call, event.state, event.declared, context)
    if execution == (event.executor, event.awaits, event.executable):
        return event
    executor, awaits, executable = execution
    return evolve(event, executor=executor, awaits=awaits, executable=executable)


def _decide_execution(
    call: OpenCall, state: ArgumentState, declared: bool | None, context: CallContext
) -> tuple[Executor, Awaits, bool]:
    """The fields ``executor``, ``awaits`` and ``executable`` of a call."""
    executor = executor_of(call, context)
    executable = (
        state == "complete"
        and executor == "client"
        and call.origin == "structured"
        and not (call.ambiguous or call.cancelled)
        and declared is not False
        and context.finish not in _FATAL_REASONS
        and not (call.bare and context.finish in _CUT_REASONS)
    )
    return executor, _awaited_by(call, executor, context), executable


def executor_of(call: OpenCall, context: CallContext) -> Executor:
    """Who runs the call, by the first sign in the module's order."""
    by_type = runners.runner_by_type(call.type or "", call.raw)
    if by_type is not None:
        return by_type
    if _has_result(call, context):
        return "server"
    by_id = runners.runner_by_id(call.id, context.wire)
    if by_id is not None:
        return by_id
    if call.executor is not None:
        return call.executor
    if context.tools is None:
        return "client"
    tool = context.tools.get(call.name)
    return "unknown" if tool is None else tool.executor or "client"


def _awaited_by(call: OpenCall, executor: Executor, context: CallContext) -> Awaits:
    """What the conversation waits for; nothing after a call written as text."""
    if call.origin != "structured" or call.cancelled:
        return "none"
    if executor != "server":
        return "client-result"
    is_asking = call.type in runners.APPROVAL_TYPES
    if is_asking or call.id.startswith(runners.APPROVAL_PREFIXES):
        return "client-approval"
    return "none" if _has_result(call, context) else "server-result"


def _has_result(call: OpenCall, context: CallContext) -> bool:
    if not context.results:
        return False
    keys = (call.key, None if call.id_synthetic else call.id)
    return any(key not in (None, "") and key in context.results for key in keys)


def _argument_state(call: OpenCall, context: CallContext) -> tuple[ArgumentState, Any]:
    """The state of the arguments, and the parsed input. Only complete JSON arguments
    have an input; else it is None."""
    if call.cut or (call.bare and context.finish == "length"):
        # The reason ``length`` means that the model was cut off before the arguments.
        return "truncated", None
    if not call.name or call.unclear:
        return "invalid", None
    if call.format == "text":
        return "complete", None
    state, value = judge(call.arguments)
    # Arguments are an object on every wire, so any other value is invalid.
    if state == "complete" and not isinstance(value, dict):
        return "invalid", None
    return state, value


_ID_FIELDS = ("id", "call_id", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId")
_NAME_FIELDS = ("name", "toolName", "tool_name", "function_name", "toolType")
_ARGUMENT_FIELDS = ("arguments", "input", "args", "action", "operation")
_TEXT_TYPES = ("custom", "custom_tool_call")
_INNER = {
    "function": None,
    "custom": None,
    "functionCall": "functionCall",
    "toolCall": "toolCall",
    "toolUse": "tool_use",
}
"""Key of the inner object that is the call -> the structural type that the key means;
None if it means none."""


def from_item(item: Mapping[str, Any], number: int) -> OpenCall:
    """Makes a call from a provider's whole item (tool/classify). ``number`` is used for
    the id if the item has none.

    Some items hold the call in an inner object: ``function`` or ``custom`` of chat,
    ``functionCall`` of a Gemini part, ``toolUse`` of a Bedrock block. An item's
    ``call_id`` has precedence over its ``id``, because results must repeat it.
    """
    inner = next((name for name in _INNER if isinstance(item.get(name), dict)), "")
    body = item[inner] if inner else item
    kind = _string(item, ("type",)) or _string(body, ("type",)) or _INNER.get(inner)
    id = _string(item, ("call_id", *_ID_FIELDS)) or _string(body, _ID_FIELDS)
    executor = item.get("executor", item.get("execution"))
    value = next(
        (body[field] for field in _ARGUMENT_FIELDS if body.get(field) is not None), None
    )
    is_text = isinstance(value, str) and (kind in _TEXT_TYPES or "custom" in item)
    text = value if isinstance(value, str) else "" if value is None else dumps(value)
    return OpenCall(
        name=_string(body, _NAME_FIELDS) or runners.tool_of_type(kind or ""),
        id=id or made_id(str(number)),
        id_synthetic=not id,
        arguments=text if is_text or text.strip() else "{}",
        type=kind,
        format="text" if is_text else "json",
        executor=executor if executor in ("client", "server") else None,
        caller=item.get("caller"),
        raw=item,
        ended=True,
    )


def _string(item: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """The first non-empty string among the fields ``names``, or ""."""
    for name in names:
        if isinstance(item.get(name), str) and item[name]:
            return str(item[name])
    return ""
