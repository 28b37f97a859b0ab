"""The ids of Responses items: which of them OpenAI accepts, and those of the sidecar.

OpenAI checks the ids of the items in a request; only some types require one. An id that
the sidecar made has a mark, `_MADE`, that no provider uses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.values.made_id import made_id

if TYPE_CHECKING:
    from stream_sidecar.parts import Json

LONGEST_ITEM_ID = 64
"""The id of an item has at most this many code points (github/app#499)."""

PREFIXES = {
    "message": "msg",
    "reasoning": "rs",
    "function_call": "fc",
    "custom_tool_call": "ctc",
    "function_call_output": "fc",
    "web_search_call": "ws",
    "file_search_call": "fs",
    "code_interpreter_call": "ci",
    "image_generation_call": "ig",
    "computer_call": "cu",
    "local_shell_call": "lsh",
    "shell_call": "sh",
    "apply_patch_call": "apc",
    "tool_search_call": "tsc",
    "mcp_call": "mcp",
    "mcp_list_tools": "mcpl",
    "mcp_approval_request": "mcpr",
}
"""Type of an item -> how the ids begin that OpenAI gives to such items."""

_CHECKED = tuple(PREFIXES)[:5]
"""Types whose prefix OpenAI is known to check: "Expected an ID that begins with 'fc'"
(nodetool-ai/nodetool#4252), 'msg' (openai/codex#33176), 'rs'
(jlcodes99/cockpit-tools#2090), 'ctc' (can1357/oh-my-pi#977)."""

BOUND_TO_ID = {
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "computer_call",
    "local_shell_call",
    "mcp_call",
    "mcp_list_tools",
    "mcp_approval_request",
    "program",
    "program_output",
}
"""Types that must have an id (openai-python, types/responses/
response_input_item_param.py). Such an item cannot go without it."""

_ACCEPTED = patterns.compile("[a-zA-Z0-9_-]+")
"""Matches the ids that OpenAI accepts (langchain-ai/langchainjs#11044)."""

_PREFIX = patterns.compile("(?!call_|item_)[a-z]{1,8}_")
"""Matches the beginning of ids that OpenAI gives to items of other types. ``call_`` is
an id of a call, ``item_`` one of a part of an item."""

_MADE = "sidecar_"


def is_accepted(kind: str, id: str) -> bool:
    """Whether OpenAI accepts ``id`` for an item of the type ``kind``."""
    if len(id) > LONGEST_ITEM_ID or not _ACCEPTED.fullmatch(id):
        return False
    if kind in _CHECKED:
        return id.startswith(PREFIXES[kind])
    return kind not in PREFIXES or _PREFIX.match(id) is not None


def made_item_id(kind: str, *seeds: str) -> str:
    """An id for an item of the type ``kind`` that depends only on ``seeds``."""
    return f"{PREFIXES.get(kind, 'item')}_{_MADE}{made_id(*seeds)}"


def is_made(id: Json) -> bool:
    """Whether the sidecar made an id of an item."""
    return isinstance(id, str) and id.partition("_")[2].startswith(_MADE)
