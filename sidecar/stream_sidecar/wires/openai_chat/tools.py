"""Readers of tool calls and server-run tools on chat.completions.

Not a wire: a part of ``reader``. Fragments are given as they come; ``tools.assemble``
puts them together (wires/README.md, "Fragments of calls"). What a server ran is
recognised by its place (wires/README.md, "Who runs a call"); lists of such items are
resent, so an item is given again only when it is new or has changed. The call and the
result of one server-run item share their ``key``, which links them where the provider
has no ids.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.parts import CallPart, ResultPart
from stream_sidecar.wires.shared.fields import is_failed

if TYPE_CHECKING:
    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.fields import ChoiceState

CALL_STATE = ("extra_content", "provider_specific_fields", "thought_signature")
"""Keys of a call that must go back with it unchanged (Gemini's thought signatures)."""

_OUTPUTS = ("output", "code_results", "browser_results", "search_results")
"""Where Groq's ``executed_tools`` put what came out, best first."""


_RESULT = "_tool_result"
_NAMELESS = ("mcp_tool_result", "tool_search_tool_result")
"""Results whose type does not name the tool; the call with their id does."""


def tool_calls(choice: ChoiceState, value: Json, name: str) -> None:
    """``tool_calls``: fragments, or whole calls in a message."""
    for item in choice.objects(value, name):
        body = _body(choice, item)
        is_custom = "custom" in item or item.get("type") == "custom"
        arguments = body.get("input" if is_custom else "arguments")
        choice.parts.append(
            CallPart(
                choice=choice.index,
                index=choice.number(item, "index"),
                id=choice.text(item, "id"),
                name=choice.text(body, "name"),
                arguments=_arguments(choice, arguments, name),
                type=choice.text(item, "type"),
                format="text" if is_custom else "json",
                caller=item.get("caller"),
                opaque=_opaque(choice, item),
                whole=choice.whole,
            )
        )


def function_call(choice: ChoiceState, value: Json, name: str) -> None:
    """The legacy field: one call a message, no id. A server that knows no calls may
    send it empty."""
    if not isinstance(value, dict):
        choice.malformed(name, value)
        return
    if not any(value.values()):
        return
    arguments = value.get("arguments")
    choice.parts.append(
        CallPart(
            choice=choice.index,
            key=name,
            name=choice.text(value, "name"),
            arguments=_arguments(choice, arguments, name),
            whole=choice.whole,
        )
    )


def flat_call(choice: ChoiceState, value: Json, name: str) -> None:
    """Snowflake's call in the delta itself: ``{type: tool_use, tool_use_id, name}``."""
    delta = choice.delta
    if delta.get("type") == "tool_use":
        id, tool = choice.text(delta, name), choice.text(delta, "name")
        choice.parts.append(CallPart(choice.index, id=id, name=tool))


def flat_input(choice: ChoiceState, value: Json, name: str) -> None:
    """A fragment of its arguments."""
    if choice.delta.get("type") == "tool_use":
        arguments = _arguments(choice, value, name)
        choice.parts.append(CallPart(choice.index, arguments=arguments))


def executed_tools(choice: ChoiceState, value: Json, name: str) -> None:
    """Groq: resent by index, first without and then with what came out. An id is
    `writer`'s addition."""
    for item in choice.objects(value, name):
        kind, id = choice.text(item, "type"), choice.text(item, "id")
        arguments = _arguments(choice, item.get("arguments"), name)
        text = arguments if isinstance(arguments, str) else None
        key = f"{name}:{choice.number(item, 'index')}:{kind}:{text}"
        server_call(choice, key, item, name=kind, id=id, arguments=arguments)
        output = next((of for of in _OUTPUTS if _is_filled(item.get(of))), None)
        if output is not None:
            server_result(choice, key, item[output], item, name=kind, id=id)


def server_tool_call(choice: ChoiceState, item: JsonObject, name: str) -> None:
    """An item of OpenRouter's ``reasoning_details`` that is a tool and its result."""
    id, tool = choice.text(item, "tool_call_id"), choice.text(item, "tool_name")
    key = f"{name}:{id or choice.number(item, 'index')}"
    arguments = _arguments(choice, item.get("arguments"), name)
    kind = choice.text(item, "type")
    server_call(choice, key, item, id=id, name=tool, arguments=arguments, type=kind)
    if item.get("result") is not None:
        server_result(choice, key, item["result"], item, id=id, name=tool)


def invocations(choice: ChoiceState, value: Json, name: str) -> None:
    """LiteLLM's ``server_side_tool_invocations``: Gemini's tools, call and response."""
    for position, item in enumerate(choice.objects(value, name)):
        id, tool = choice.text(item, "id"), choice.text(item, "tool_type")
        key, opaque = f"{name}:{id or position}", _opaque(choice, item)
        if "args" in item:
            arguments = _arguments(choice, item["args"], name)
            reported = {"id": id, "name": tool, "opaque": opaque}
            server_call(choice, key, item, arguments=arguments, **reported)
        if "response" in item:
            server_result(choice, key, item["response"], item, id=id, name=tool)


def result_blocks(choice: ChoiceState, value: Json, name: str) -> None:
    """LiteLLM's cumulative lists of Anthropic's ``*_tool_result`` blocks."""
    for position, item in enumerate(choice.objects(value, name)):
        id, kind = choice.text(item, "tool_use_id"), choice.text(item, "type") or ""
        server_result(
            choice,
            f"{name}:{id or position}",
            item.get("content"),
            item,
            id=id,
            name=None if kind in _NAMELESS else kind.removesuffix(_RESULT) or None,
            is_error=is_failed(item),
        )


def code_results(choice: ChoiceState, value: Json, name: str) -> None:
    """LiteLLM's second telling of code execution, unless ``tool_results`` had it."""
    reported = name.replace("code_interpreter_results", "tool_results")
    for position, item in enumerate(choice.objects(value, name)):
        id = choice.text(item, "id")
        if item.get("outputs") is not None and f"{reported}:{id}" not in choice.given:
            key = f"{name}:{id or position}"
            outputs = item["outputs"]
            server_result(choice, key, outputs, item, id=id, name="code_interpreter")


def server_call(
    choice: ChoiceState, key: str, raw: JsonObject, **reported: Json
) -> None:
    """A call that the server ran; given once for ``key``."""
    if choice.changed(f"call:{key}", True):
        part = CallPart(
            choice.index, key, executor="server", raw=raw, whole=True, **reported
        )
        choice.parts.append(part)


def server_result(
    choice: ChoiceState, key: str, content: Json, raw: JsonObject, **reported: Json
) -> None:
    """The result of a tool that the server ran; again only when it has changed."""
    if choice.changed(key, raw):
        part = ResultPart(content, raw, choice.index, key=key, **reported)
        choice.parts.append(part)


def _body(choice: ChoiceState, item: JsonObject) -> JsonObject:
    """The object with name and arguments; flat calls have them in the item itself."""
    for name in ("function", "custom"):
        body = item.get(name)
        if isinstance(body, dict):
            return body
        if body is not None:
            choice.malformed(f"tool_calls.{name}", body)
    return item


def _arguments(choice: ChoiceState, arguments: Json, name: str) -> Json:
    """Arguments, right or wrong: a call may not lose wrong ones."""
    if not isinstance(arguments, str | dict | None):
        choice.malformed(f"{name}.arguments", arguments)
    return arguments


def _opaque(choice: ChoiceState, item: JsonObject) -> JsonObject | None:
    opaque = {name: item[name] for name in CALL_STATE if item.get(name) is not None}
    for holder in (item, item.get("provider_specific_fields")):
        signature = holder.get("thought_signature") if isinstance(holder, dict) else 0
        if isinstance(signature, str):
            choice.reasoning.bound.add(signature)
    return opaque or None


def _is_filled(value: Json) -> bool:
    """Something came out: an empty string is an output, an empty list is not yet."""
    if isinstance(value, dict):
        return any(value.values())
    return isinstance(value, str) or bool(value)
