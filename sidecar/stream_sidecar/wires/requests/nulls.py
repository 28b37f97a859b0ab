"""Members of null that a provider refuses, as dumps of SDKs' objects have them.

``model_dump()`` of a response's object writes each member that is not set as null, but
the schema of a request accepts null only in some. A member of null that is refused
counts as absent. What a call or a schema of a tool has inside is data and stays. Never
raises for any JSON value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.wires.shared.fields import type_of
from stream_sidecar.wires.shared.request_shapes import changed, same

if TYPE_CHECKING:
    from collections.abc import Collection

    from stream_sidecar.parts import Json, JsonObject

_ITEMS: dict[str, frozenset[str]] = {
    kind: frozenset(names.split())
    for kind, names in {
        "message": "content phase",
        "reasoning": "encrypted_content",
        "function_call": "caller",
        "function_call_output": "id call_id caller name namespace status",
        "custom_tool_call": "caller",
        "custom_tool_call_output": "caller",
        "web_search_call": "",
        "file_search_call": "results",
        "code_interpreter_call": "code outputs",
        "image_generation_call": (
            "result action background output_format quality revised_prompt size"
        ),
        "computer_call": "",
        "computer_call_output": "id acknowledged_safety_checks status",
        "local_shell_call": "",
        "local_shell_call_output": "status",
        "shell_call": "id caller environment status",
        "shell_call_output": "id caller max_output_length status",
        "apply_patch_call": "id caller",
        "apply_patch_call_output": "id caller output",
        "tool_search_call": "id call_id status",
        "tool_search_output": "id call_id status",
        "mcp_call": "approval_request_id error output",
        "mcp_list_tools": "error",
        "mcp_approval_request": "",
        "mcp_approval_response": "id reason",
    }.items()
}
"""Type of a Responses item -> its members that may be null (openai-python,
types/responses/response_input_item_param.py)."""

_INNER: dict[str, dict[str, frozenset[str]]] = {
    "message": {
        "content": frozenset(
            ("file_id", "file_data", "file_url", "filename", "image_url", "detail")
        )
    },
    "reasoning": {"summary": frozenset(), "content": frozenset()},
    "web_search_call": {"action": frozenset(("url",))},
    "file_search_call": {"results": frozenset(("attributes",))},
}
"""Type of an item -> its members with objects, and what may be null in these."""

_BLOCKS = frozenset(("citations", "cache_control", "toolset_name", "page_age"))
"""Members of Messages' blocks that may be null (anthropic, types/*_block_param.py)."""

_CITED = frozenset(("title", "document_title"))
"""Members of a citation in such a block that may be null."""

_CHAT = frozenset(("content", "refusal", "audio", "function_call"))
"""Members of OpenAI's messages that may be null (openai-python, types/chat/
chat_completion_assistant_message_param.py)."""


def item_without_nulls(item: JsonObject) -> JsonObject:
    """An item of Responses without the members of null that OpenAI refuses. Example:
    "Value is null but should be string", at ``/input/2/status``
    (microsoft/agent-framework#4626)."""
    kind = type_of(item) or "message"
    if kind not in _ITEMS:
        return item
    return _without_inside(_without(item, _ITEMS[kind]), _INNER.get(kind, {}))


def block_without_nulls(block: JsonObject) -> JsonObject:
    """A block of Messages without the members of null that Anthropic refuses."""
    return _without_inside(_without(block, _BLOCKS), {"citations": _CITED})


def message_without_nulls(message: JsonObject, *, has_refusals: bool) -> JsonObject:
    """A message of Chat Completions without the members of null that its provider
    refuses. ``has_refusals``: the provider knows OpenAI's other members."""
    names = _CHAT if has_refusals else frozenset(("content",))
    return _without_inside(_without(message, names), {"tool_calls": frozenset()})


def _without(holder: JsonObject, names: Collection[str]) -> JsonObject:
    """``holder`` without its members of null, except for ``names``."""
    left = {n: v for n, v in holder.items() if v is not None or n in names}
    return holder if len(left) == len(holder) else left


def _without_inside(holder: JsonObject, inner: dict[str, frozenset[str]]) -> JsonObject:
    """``holder``, with the members of null left out in the objects of ``inner``."""
    news: dict[str, Json] = {}
    for name, names in inner.items():
        value = holder.get(name)
        if isinstance(value, dict):
            news[name] = _without(value, names)
        elif isinstance(value, list):
            parts = [_without(v, names) if isinstance(v, dict) else v for v in value]
            news[name] = same(value, parts)
    return changed(holder, news)
