"""Readers of tool calls and server-run tools on chat.completions.

``tools.assemble`` joins fragments (wires/README.md, "Fragments of calls"). The field
in which a call comes says whether the server ran it ("Who runs a call"). Lists of such
calls come repeatedly, so an item is reported again only if it has changed. The call and
the result of one item have the same ``key``, because some providers send no ids.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.parts import CallPart, ResultPart
from stream_sidecar.wires.shared.fields import is_failed

if TYPE_CHECKING:
    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.fields import ChoiceState

CALL_STATE = ("extra_content", "provider_specific_fields", "thought_signature")
"""Members of a call that must go back with it unchanged: Gemini's signatures."""

_OUTPUTS = ("output", "code_results", "browser_results", "search_results")
"""Members with the result in Groq's ``executed_tools``; the first one counts."""


_RESULT = "_tool_result"
_NAMELESS = ("mcp_tool_result", "tool_search_tool_result")
"""Types of results without the tool's name; the call with the same id has it."""


def tool_calls(choice: ChoiceState, value: Json, name: str) -> None:
    """Reads ``tool_calls``: fragments, or whole calls in a message."""
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
                whole=choice.is_whole,
            )
        )


def function_call(choice: ChoiceState, value: Json, name: str) -> None:
    """Reads the legacy ``function_call``: one call without an id, perhaps empty."""
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
            whole=choice.is_whole,
        )
    )


def flat_call(choice: ChoiceState, value: Json, name: str) -> None:
    """Reads Snowflake's call in the delta: ``{type: tool_use, tool_use_id, name}``."""
    delta = choice.delta
    if delta.get("type") == "tool_use":
        id, tool = choice.text(delta, name), choice.text(delta, "name")
        choice.parts.append(CallPart(choice.index, id=id, name=tool))


def flat_input(choice: ChoiceState, value: Json, name: str) -> None:
    """Reads ``input``: a fragment of the arguments of Snowflake's call."""
    if choice.delta.get("type") == "tool_use":
        arguments = _arguments(choice, value, name)
        choice.parts.append(CallPart(choice.index, arguments=arguments))


def executed_tools(choice: ChoiceState, value: Json, name: str) -> None:
    """Reads Groq's ``executed_tools``. An item comes twice under its index: first
    without the result, then with it. Only `writer` adds an id."""
    for item in choice.objects(value, name):
        kind, id = choice.text(item, "type"), choice.text(item, "id")
        arguments = _arguments(choice, item.get("arguments"), name)
        text = arguments if isinstance(arguments, str) else None
        key = f"{name}:{choice.number(item, 'index')}:{kind}:{text}"
        server_call(choice, key, item, name=kind, id=id, arguments=arguments)
        output = next((name for name in _OUTPUTS if _is_filled(item.get(name))), None)
        if output is not None:
            server_result(choice, key, item[output], item, name=kind, id=id)


def server_tool_call(choice: ChoiceState, item: JsonObject, name: str) -> None:
    """Reads a call of a server's tool, with its result, of OpenRouter's details."""
    id, tool = choice.text(item, "tool_call_id"), choice.text(item, "tool_name")
    key = f"{name}:{id or choice.number(item, 'index')}"
    arguments = _arguments(choice, item.get("arguments"), name)
    kind = choice.text(item, "type")
    server_call(choice, key, item, id=id, name=tool, arguments=arguments, type=kind)
    if item.get("result") is not None:
        server_result(choice, key, item["result"], item, id=id, name=tool)


def invocations(choice: ChoiceState, value: Json, name: str) -> None:
    """Reads LiteLLM's calls of Gemini's server tools, and their responses."""
    for position, item in enumerate(choice.objects(value, name)):
        id, tool = choice.text(item, "id"), choice.text(item, "tool_type")
        key, opaque = f"{name}:{id or position}", _opaque(choice, item)
        if "args" in item:
            arguments = _arguments(choice, item["args"], name)
            call_fields = {"id": id, "name": tool, "opaque": opaque}
            server_call(choice, key, item, arguments=arguments, **call_fields)
        if "response" in item:
            server_result(choice, key, item["response"], item, id=id, name=tool)


def result_blocks(choice: ChoiceState, value: Json, name: str) -> None:
    """Reads LiteLLM's cumulative lists of Anthropic's ``*_tool_result`` blocks."""
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
    """Reads LiteLLM's ``code_interpreter_results`` that ``tool_results`` lacks."""
    other_list = name.replace("code_interpreter_results", "tool_results")
    for position, item in enumerate(choice.objects(value, name)):
        id = choice.text(item, "id")
        key, outputs = f"{name}:{id or position}", item.get("outputs")
        if outputs is not None and f"{other_list}:{id}" not in choice.latest:
            server_result(choice, key, outputs, item, id=id, name="code_interpreter")


def server_call(choice: ChoiceState, key: str, raw: JsonObject, **fields: Json) -> None:
    """Adds a call that the server ran, once for each ``key``."""
    if choice.changed(f"call:{key}", True):
        part = CallPart(
            choice.index, key, executor="server", raw=raw, whole=True, **fields
        )
        choice.parts.append(part)


def server_result(
    choice: ChoiceState, key: str, content: Json, raw: JsonObject, **fields: Json
) -> None:
    """Adds the result of a tool that the server ran; again only if it has changed."""
    if choice.changed(key, raw):
        part = ResultPart(content, raw, choice.index, key=key, **fields)
        choice.parts.append(part)


def _body(choice: ChoiceState, item: JsonObject) -> JsonObject:
    """The object with a call's name and arguments: ``function``, or the item itself."""
    for name in ("function", "custom"):
        body = item.get(name)
        if isinstance(body, dict):
            return body
        if body is not None:
            choice.malformed(f"tool_calls.{name}", body)
    return item


def _arguments(choice: ChoiceState, arguments: Json, name: str) -> Json:
    """The ``arguments`` unchanged, reported if they are neither text nor an object."""
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
    """Whether a value is a result already: an empty string is, an empty list is not."""
    if isinstance(value, dict):
        return any(value.values())
    return isinstance(value, str) or bool(value)
