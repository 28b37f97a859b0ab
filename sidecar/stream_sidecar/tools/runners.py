"""Who runs a call, by its structural type or its id: tables.

Sources: wires/README.md, "Who runs a call" and "Ids of calls". A type has precedence
over an id: xAI's ``web_search_call`` may have an ``fc_`` id.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from stream_sidecar.records import frozen

Runner: TypeAlias = Literal["client", "server"]


@frozen
class TypeRow:
    """A structural item type and who runs it. If ``field`` is given, the item's field
    must have ``value``; if ``value`` is None, any value that is not empty.

    Rows of one type are tried in order.
    """

    type: str
    executor: Runner
    field: tuple[str, ...] = ()
    value: str | None = None


def _rows(executor: Runner, *types: str) -> tuple[TypeRow, ...]:
    return tuple(TypeRow(type, executor) for type in types)


ROWS: tuple[TypeRow, ...] = (
    # Anthropic Messages, Bedrock Converse
    *_rows("client", "tool_use"),
    *_rows("server", "server_tool_use", "mcp_tool_use"),
    # OpenAI Responses; no custom_tool_call, because xAI's server runs some of them.
    *_rows("client", "function_call", "local_shell_call", "apply_patch_call"),
    TypeRow("shell_call", "client", ("environment", "type"), "local"),
    TypeRow("shell_call", "server", ("environment", "type")),
    TypeRow("computer_call", "client", ("call_id",)),
    TypeRow("tool_search_call", "client", ("execution",), "client"),
    *_rows("server", "computer_call", "tool_search_call", "mcp_approval_request"),
    *_rows("server", "mcp_call", "mcp_list_tools", "web_search_call"),
    *_rows("server", "file_search_call", "code_interpreter_call"),
    *_rows("server", "image_generation_call", "program", "multi_agent_call"),
    # xAI Responses and gRPC
    *_rows("server", "x_search_call", "code_execution_call", "view_image_call"),
    *_rows("server", "view_x_video_call", "WEB_SEARCH_TOOL", "X_SEARCH_TOOL"),
    *_rows("server", "CODE_EXECUTION_TOOL", "COLLECTIONS_SEARCH_TOOL", "MCP_TOOL"),
    *_rows("server", "ATTACHMENT_SEARCH_TOOL", "IMAGE_GENERATION_TOOL"),
    *_rows("client", "CLIENT_SIDE_TOOL"),
    # Gemini generateContent and Interactions
    *_rows("client", "functionCall"),
    *_rows("server", "toolCall", "executableCode", "GOOGLE_SEARCH_WEB"),
    *_rows("server", "GOOGLE_SEARCH_IMAGE", "URL_CONTEXT", "GOOGLE_MAPS"),
    *_rows("server", "FILE_SEARCH", "MEDIA_PROCESSING", "google_search_call"),
    *_rows("server", "url_context_call", "google_maps_call", "retrieval_call"),
    *_rows("server", "mcp_server_tool_call", "processing_call"),
    # Perplexity, OpenRouter chat
    *_rows("server", "search_results", "fetch_url_results", "share_file"),
    *_rows("server", "skill_loaded", "advisor_result", "reasoning.server_tool_call"),
)
"""``function`` and ``custom`` of chat.completions have no row: either side may run
them."""

TYPE_PREFIXES: dict[str, Runner] = {
    "openrouter:": "server",
    "sandbox_": "server",
    # Mistral conversations: entries, and events, which add a dot and a verb
    "tool.execution": "server",
    "function.call": "client",
}

_SERVER_IDS = ("srvtoolu_", "mcptoolu_", "xs_call_")
"""Beginnings of the ids of calls that a server runs, case-sensitive."""

_SERVER_ITEMS = ("ws_", "fs_", "ci_", "ig_", "mcp_", "mcpl_", "mcpr_")
"""Further beginnings of these ids, used only in the Responses API. On other wires an id
may begin with the tool's name (Cohere: ``<name>_<12 characters>``), so these beginnings
count only on `_ITEM_WIRES`."""

_ITEM_WIRES = ("openai-responses", "openai-chat", None)

APPROVAL_TYPES = ("mcp_approval_request",)
APPROVAL_PREFIXES = ("mcpr_",)
"""Types, and beginnings of ids, of server-run calls that the user has to approve."""

_CALL_SUFFIX = "_call"
_NAMELESS = ("function_call", "mcp_call", "mcp_server_tool_call")
"""Types that do not say which tool is called; only ``name`` does."""

_ROWS_OF: dict[str, tuple[TypeRow, ...]] = {
    row.type: tuple(other for other in ROWS if other.type == row.type) for row in ROWS
}


def runner_by_type(type: str, item: Any) -> Runner | None:
    """Who runs an item of this type; None if the type does not say. ``item``: the
    provider's own item, or None."""
    if not type:  # most calls
        return None
    for row in _ROWS_OF.get(type, ()):
        if not row.field or _has_field(item, row.field, row.value):
            return row.executor
    runners = (
        runner for start, runner in TYPE_PREFIXES.items() if type.startswith(start)
    )
    return next(runners, None)


def tool_of_type(type: str) -> str:
    """The tool that a type names: ``web_search`` for ``web_search_call``, or ""."""
    tool = type.removesuffix(_CALL_SUFFIX)
    return tool if tool != type and type in _ROWS_OF and type not in _NAMELESS else ""


def runner_by_id(id: str, wire: str | None) -> Runner | None:
    """Who runs a call with this id on ``wire``; None if the id does not say. ``wire``
    None: the wire is not known."""
    may_be_item = wire in _ITEM_WIRES and id.startswith(_SERVER_ITEMS)
    return "server" if may_be_item or id.startswith(_SERVER_IDS) else None


def _has_field(item: Any, path: tuple[str, ...], value: str | None) -> bool:
    """Whether the field at ``path`` in ``item`` equals ``value``; if ``value`` is None,
    whether the field is not empty."""
    for name in path:
        item = item.get(name) if isinstance(item, dict) else None
    return bool(item) if value is None else item == value
