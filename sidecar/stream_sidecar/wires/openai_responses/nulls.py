"""Members of items that OpenAI's Responses takes as null; null in others is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.wires.shared.fields import type_of
from stream_sidecar.wires.shared.item_cleaning import without_nulls

if TYPE_CHECKING:
    from stream_sidecar.parts import JsonObject

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


def item_without_nulls(item: JsonObject) -> JsonObject:
    """An item of Responses without the members of null that OpenAI refuses: "Value is
    null but should be string" (microsoft/agent-framework#4626)."""
    kind = type_of(item) or "message"
    if kind not in _ITEMS:
        return item
    return without_nulls(item, _ITEMS[kind], _INNER.get(kind, {}))
