"""Who runs a call, as its structural type or its id say: tables.

Sources: wires/README.md, "Who runs a call" and "Ids of calls". A type beats an id:
xAI's ``web_search_call`` may carry an ``fc_`` id.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from stream_sidecar.records import frozen

Runner: TypeAlias = Literal["client", "server"]


@frozen
class TypeRow:
    """A structural item type and who runs it; ``field`` must be ``value`` where given.

    ``value`` of None: the field is there. Rows of one type are tried in order.
    """

    type: str
    executor: Runner
    field: tuple[str, ...] = ()
    value: str | None = None


@frozen
class PrefixRow:
    """An id prefix, case-sensitive; ``wires`` of None: on every wire."""

    prefix: str
    executor: Runner
    wires: tuple[str | None, ...] | None = None


TYPES: tuple[TypeRow, ...] = (
    # Anthropic Messages, Bedrock Converse
    TypeRow("tool_use", "client"),
    TypeRow("server_tool_use", "server"),
    TypeRow("mcp_tool_use", "server"),
    # OpenAI Responses. custom_tool_call says nothing: xAI's server runs some.
    TypeRow("function_call", "client"),
    TypeRow("local_shell_call", "client"),
    TypeRow("apply_patch_call", "client"),
    TypeRow("shell_call", "client", ("environment", "type"), "local"),
    TypeRow("shell_call", "server", ("environment", "type")),
    TypeRow("computer_call", "client", ("call_id",)),
    TypeRow("computer_call", "server"),
    TypeRow("tool_search_call", "client", ("execution",), "client"),
    TypeRow("tool_search_call", "server"),
    TypeRow("mcp_approval_request", "server"),
    TypeRow("mcp_call", "server"),
    TypeRow("mcp_list_tools", "server"),
    TypeRow("web_search_call", "server"),
    TypeRow("file_search_call", "server"),
    TypeRow("code_interpreter_call", "server"),
    TypeRow("image_generation_call", "server"),
    TypeRow("program", "server"),
    # xAI Responses and gRPC
    TypeRow("x_search_call", "server"),
    TypeRow("code_execution_call", "server"),
    TypeRow("view_image_call", "server"),
    TypeRow("view_x_video_call", "server"),
    TypeRow("CLIENT_SIDE_TOOL", "client"),
    TypeRow("WEB_SEARCH_TOOL", "server"),
    TypeRow("X_SEARCH_TOOL", "server"),
    TypeRow("CODE_EXECUTION_TOOL", "server"),
    TypeRow("COLLECTIONS_SEARCH_TOOL", "server"),
    TypeRow("MCP_TOOL", "server"),
    TypeRow("ATTACHMENT_SEARCH_TOOL", "server"),
    TypeRow("IMAGE_GENERATION_TOOL", "server"),
    # Gemini generateContent and Interactions
    TypeRow("functionCall", "client"),
    TypeRow("toolCall", "server"),
    TypeRow("executableCode", "server"),
    TypeRow("GOOGLE_SEARCH_WEB", "server"),
    TypeRow("GOOGLE_SEARCH_IMAGE", "server"),
    TypeRow("URL_CONTEXT", "server"),
    TypeRow("GOOGLE_MAPS", "server"),
    TypeRow("FILE_SEARCH", "server"),
    TypeRow("MEDIA_PROCESSING", "server"),
    TypeRow("google_search_call", "server"),
    TypeRow("url_context_call", "server"),
    TypeRow("google_maps_call", "server"),
    TypeRow("retrieval_call", "server"),
    TypeRow("mcp_server_tool_call", "server"),
    TypeRow("processing_call", "server"),
    # Perplexity, OpenRouter chat
    TypeRow("search_results", "server"),
    TypeRow("fetch_url_results", "server"),
    TypeRow("share_file", "server"),
    TypeRow("skill_loaded", "server"),
    TypeRow("advisor_result", "server"),
    TypeRow("reasoning.server_tool_call", "server"),
)
"""``function`` and ``custom`` of chat.completions say nothing, so they have no row."""

TYPE_PREFIXES: tuple[PrefixRow, ...] = (
    PrefixRow("openrouter:", "server"),
    PrefixRow("sandbox_", "server"),
    # Mistral conversations: entries, and events with what happened behind the dot
    PrefixRow("tool.execution", "server"),
    PrefixRow("function.call", "client"),
)

# Item ids of the Responses API; elsewhere ids may begin with the tool's own name
# (Cohere: ``<name>_<12 characters>``), so these count only where they can occur.
_RESPONSES = ("openai-responses", "openai-chat", None)

ID_PREFIXES: tuple[PrefixRow, ...] = (
    PrefixRow("srvtoolu_", "server"),
    PrefixRow("mcptoolu_", "server"),
    PrefixRow("xs_call_", "server"),
    PrefixRow("ws_", "server", _RESPONSES),
    PrefixRow("fs_", "server", _RESPONSES),
    PrefixRow("ci_", "server", _RESPONSES),
    PrefixRow("ig_", "server", _RESPONSES),
    PrefixRow("mcp_", "server", _RESPONSES),
    PrefixRow("mcpl_", "server", _RESPONSES),
    PrefixRow("mcpr_", "server", _RESPONSES),
)

_TYPE_HEADS = tuple(row.prefix for row in TYPE_PREFIXES)
_ID_HEADS = tuple(row.prefix for row in ID_PREFIXES)

APPROVAL_TYPES = ("mcp_approval_request",)
APPROVAL_PREFIXES = ("mcpr_",)
"""Server-run calls that wait for the user's approval."""

_CALL = "_call"
_NAMELESS = ("function_call", "mcp_call", "mcp_server_tool_call")
"""Types of calls whose tool is in their ``name`` alone."""

_ROWS: dict[str, tuple[TypeRow, ...]] = {
    row.type: tuple(other for other in TYPES if other.type == row.type) for row in TYPES
}


def runner_by_type(type: str, item: Any) -> Runner | None:
    """Who runs an item of this type; ``item`` is the provider's own, or None."""
    for row in _ROWS.get(type, ()):
        if not row.field or _has(item, row.field, row.value):
            return row.executor
    is_known = type.startswith(_TYPE_HEADS)
    return _by_prefix(type, TYPE_PREFIXES, None) if is_known else None


def tool_of_type(type: str) -> str:
    """The tool that an item's type names (``web_search_call``), "" for none."""
    tool = type.removesuffix(_CALL)
    return tool if tool != type and type in _ROWS and type not in _NAMELESS else ""


def runner_by_id(id: str, wire: str | None) -> Runner | None:
    """Who runs a call with this id on ``wire`` (None: not known which)."""
    return _by_prefix(id, ID_PREFIXES, wire) if id.startswith(_ID_HEADS) else None


def _has(item: Any, path: tuple[str, ...], value: str | None) -> bool:
    """The field at ``path`` is ``value``, or there and not empty where that is None."""
    for name in path:
        item = item.get(name) if isinstance(item, dict) else None
    return bool(item) if value is None else item == value


def _by_prefix(id: str, rows: tuple[PrefixRow, ...], wire: str | None) -> Runner | None:
    for row in rows:
        if id.startswith(row.prefix) and (row.wires is None or wire in row.wires):
            return row.executor
    return None
