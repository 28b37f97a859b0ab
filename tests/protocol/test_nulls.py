"""Nulls of dumped SDK objects: ``model_dump()`` of a response's objects, sent back."""

from __future__ import annotations

from typing import Any

import pytest

from stream_sidecar.options import Limits, Policy
from stream_sidecar.protocol.methods import METHODS
from stream_sidecar.protocol.sessions import Sessions
from stream_sidecar.wires import WIRES

Json = Any

USER = {"role": "user", "content": "Hi"}
MODELS = {"openai-responses": "gpt-4.1", "anthropic": "claude-opus-4-5"}

_FUNCTION = {"arguments": "{}", "call_id": "c", "name": "f", "type": "function_call"}
_ANSWER = {"call_id": "c", "type": "function_call_output", "output": "4"}
_SEARCH = {"id": "ws_1", "status": "completed", "type": "web_search_call"}
_FOUND = {"id": "fs_1", "queries": ["a"], "status": "completed"}
_CODE = {"id": "ci_1", "container_id": "x", "status": "completed"}
_CLICK = {"button": "left", "type": "click", "x": 1, "y": 2, "keys": None}
_SCREEN = {"id": "cu_1", "call_id": "c", "status": "completed", "action": _CLICK}
_SHOT = {"call_id": "c", "type": "computer_call_output", "output": {}}
_SAID = {"id": "msg_1", "role": "assistant", "status": "completed", "type": "message"}
_PART = {"annotations": [], "text": "a", "type": "output_text"}
_CALLED = {"id": "c", "function": {"arguments": "{}", "name": "f"}, "type": "function"}
_CHAT = {"role": "assistant", "content": None, "tool_calls": [_CALLED]}
_TOOL = {"role": "tool", "tool_call_id": "c", "content": "4"}
_USE = {"id": "t", "input": {"a": None}, "name": "f", "type": "tool_use"}
_RESULT = {"type": "tool_result", "tool_use_id": "t", "content": "4"}
_WEB = {
    "id": "srvtoolu_1",
    "input": {},
    "name": "web_search",
    "type": "server_tool_use",
}
_PAGE = {"title": "b", "type": "web_search_result", "url": "c", "page_age": None}
_CITED = {"type": "char_location", "cited_text": "a", "document_title": None}


def _blocks(*content: Json, role: str = "assistant") -> Json:
    return {"role": role, "content": list(content)}


@pytest.mark.parametrize(
    ("wire", "provider", "dumped", "sent"),
    [
        (
            "openai-responses",
            "openai",
            [
                _FUNCTION
                | dict.fromkeys(("id", "async_", "caller", "namespace", "status")),
                _ANSWER | dict.fromkeys(("id", "caller", "status")),
            ],
            [
                _FUNCTION | {"caller": None},
                _ANSWER | dict.fromkeys(("id", "caller", "status")),
            ],
        ),
        (
            "openai-responses",
            "azure",
            [
                _SEARCH
                | {"action": {"type": "search", "query": None, "queries": ["a"]}},
                _SEARCH | {"id": "ws_2", "action": {"type": "open_page", "url": None}},
                _SEARCH | {"id": "ws_3", "action": None},
                _FOUND
                | {"type": "file_search_call"}
                | {"results": [{"file_id": "a", "attributes": None, "score": None}, 5]},
            ],
            [
                _SEARCH | {"action": {"type": "search", "queries": ["a"]}},
                _SEARCH | {"id": "ws_2", "action": {"type": "open_page", "url": None}},
                _SEARCH | {"id": "ws_3"},
                _FOUND
                | {"type": "file_search_call"}
                | {"results": [{"file_id": "a", "attributes": None}, 5]},
            ],
        ),
        (
            "openai-responses",
            "openai",
            [
                {"id": "rs_1", "summary": [], "type": "reasoning"}
                | dict.fromkeys(("content", "encrypted_content", "status")),
                {"id": "rs_2", "summary": None, "type": "reasoning"},
                _SAID | {"phase": None, "content": [_PART | {"logprobs": None}]},
            ],
            [
                {"id": "rs_1", "summary": [], "type": "reasoning"}
                | {"encrypted_content": None},
                {"id": "rs_2", "summary": [], "type": "reasoning"},
                _SAID | {"phase": None, "content": [_PART]},
            ],
        ),
        (
            "openai-responses",
            "openai",
            [
                _CODE
                | {"type": "code_interpreter_call", "code": None, "outputs": None},
                _SCREEN | {"type": "computer_call", "actions": None},
                _SHOT | {"acknowledged_safety_checks": None},
                {"type": "x_call", "y": None},
            ],
            [
                _CODE
                | {"type": "code_interpreter_call", "code": None, "outputs": None},
                _SCREEN | {"type": "computer_call"},
                _SHOT | {"acknowledged_safety_checks": None},
                {"type": "x_call", "y": None},
            ],
        ),
        (
            "openai-chat",
            "openai",
            [
                _CHAT
                | dict.fromkeys(("refusal", "annotations", "audio", "function_call")),
                _TOOL | {"name": None},
                _CHAT
                | {"content": "a"}
                | dict.fromkeys(("tool_calls", "tool_call_id", "name")),
            ],
            [
                _CHAT | dict.fromkeys(("refusal", "audio", "function_call")),
                _TOOL,
                {"role": "assistant", "content": "a"},
            ],
        ),
        (
            "openai-chat",
            "groq",
            [
                _CHAT
                | {"tool_calls": [_CALLED | {"index": None}], "refusal": None}
                | dict.fromkeys(("annotations", "audio", "function_call")),
                _TOOL,
            ],
            [_CHAT, _TOOL],
        ),
        (
            "anthropic",
            "anthropic",
            [
                _blocks(
                    _WEB | {"caller": None},
                    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1"}
                    | {"content": [_PAGE], "caller": None},
                    {"type": "text", "text": "a", "citations": None},
                    {"type": "text", "text": "b"}
                    | {"citations": [_CITED | {"file_id": None}]},
                    _USE | {"caller": None, "toolset_name": None},
                ),
                _blocks(_RESULT | {"is_error": None}, role="user"),
            ],
            [
                _blocks(
                    _WEB,
                    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1"}
                    | {"content": [_PAGE]},
                    {"type": "text", "text": "a", "citations": None},
                    {"type": "text", "text": "b", "citations": [_CITED]},
                    _USE | {"toolset_name": None},
                ),
                _blocks(_RESULT, role="user"),
            ],
        ),
    ],
)
def test_a_null_that_is_refused_is_left_out(
    wire: str, provider: str, dumped: Json, sent: Json
) -> None:
    """One that the schema of requests allows stays, and nothing is lost."""
    name, model = WIRES[wire].shape.items, MODELS.get(wire, "gpt-4.1")
    params = {"wire": wire, "provider": provider, "model": model}

    def prepare(items: Json) -> Json:
        body = {"model": model, name: [USER, *items, USER]}
        sessions = Sessions(Policy(), Limits())
        return METHODS["request/prepare"].call(sessions, {**params, "body": body})

    result = prepare(dumped)
    assert result["body"][name][1:-1] == sent
    assert result["lost"] == []
    assert prepare(sent) == {"changed": False, "lost": []}


def test_a_null_stays_where_nobody_refuses_it() -> None:
    turn = _CHAT | {"refusal": None, "name": None}
    body = {"model": "m", "messages": [USER, turn, _TOOL | {"name": None}, USER]}
    for provider in ("vllm", "deepseek", "", "somebody"):
        params = {"wire": "openai-chat", "body": body, "provider": provider}
        sessions = Sessions(Policy(), Limits())
        result = METHODS["request/prepare"].call(sessions, params)
        assert result == {"changed": False, "lost": []}, provider
