"""tool/classify, error/normalize and what message/render refuses: without a stream."""

from __future__ import annotations

import re
from typing import Any

import pytest

from stream_sidecar.errors import InvalidParamsError
from stream_sidecar.options import Limits, Policy
from stream_sidecar.protocol.methods import METHODS
from stream_sidecar.protocol.sessions import Sessions

SESSIONS = Sessions(Policy(), Limits())


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        (
            {"calls": [{"id": "srvtoolu_1", "name": "web_search"}]},
            {"executor": "server", "awaits": "server-result", "executable": False},
        ),
        (
            {
                "calls": [{"id": "a", "name": "read_file", "arguments": "{"}],
                "tools": [],
            },
            {"executor": "unknown", "state": "truncated", "declared": False},
        ),
        (
            {
                "wire": "openai-chat",
                "calls": [{"function": {"name": "f", "arguments": "{}"}}],
                "tools": [{"name": "f", "kind": "fetch"}],
            },
            {"executable": True, "idSynthetic": True, "kind": "fetch"},
        ),
    ],
)
def test_classify(params: dict[str, Any], expected: dict[str, Any]) -> None:
    (call,) = METHODS["tool/classify"].call(SESSIONS, params)["calls"]

    assert expected.items() <= call.items()
    assert not {"seq", "block"} & call.keys()


def test_normalize_error() -> None:
    body = '{"error": {"message": "Slow down", "type": "rate_limit_error"}}'
    params = {"status": 429, "headers": {"retry-after": "2"}, "body": body}

    error = METHODS["error/normalize"].call(SESSIONS, params)

    assert error["kind"] == "rate-limit"
    assert (error["retryAfterMs"], error["retryable"]) == (2000, True)
    assert (error["phase"], error["partial"]) == ("before-stream", False)


# message/render: nothing is passed over

CALL = {"type": "tool-call", "toolCallId": "c", "name": "f", "arguments": "{}"}
OF_A_PROVIDER = {"role": "assistant", "content": "Hi", "tool_calls": []}


def _render(wire: str = "openai-chat", **params: Any) -> Any:
    return METHODS["message/render"].call(SESSIONS, {"wire": wire, **params})


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({"message": OF_A_PROVIDER}, ""),
        ({"message": OF_A_PROVIDER | {"text": None, "blocks": None}}, ""),
        ({"message": {"role": "assistant", "parts": [{"text": "Hi"}]}}, ""),
        ({"message": {}, "results": [{"toolCallId": "c", "output": 4}]}, None),
        ({"message": {}, "results": [{"toolCallId": "c"}]}, None),
    ],
)
def test_other_shapes_are_refused(params: dict[str, Any], path: str | None) -> None:
    where = "params.message" if path == "" else "params.results[0].content"

    with pytest.raises(InvalidParamsError, match=rf"^{re.escape(where)}: ") as refused:
        _render(**params)

    assert refused.value.data["path"] == where


@pytest.mark.parametrize("blocks", [{}, {"blocks": None}, {"blocks": []}])
def test_a_message_without_blocks_is_written(blocks: dict[str, Any]) -> None:
    message = {"text": "Hi", "reasoning": "Hm.", "toolCalls": [CALL], **blocks}
    results = [{"toolCallId": "c", "content": None}]

    rendered = _render(message=message, results=results, provider="deepseek")

    assistant, result = rendered["messages"]
    assert (assistant["content"], assistant["reasoning_content"]) == ("Hi", "Hm.")
    assert [call["id"] for call in assistant["tool_calls"]] == ["c"]
    assert (result["tool_call_id"], result["content"]) == ("c", "")
    assert rendered["lost"] == []


def test_entries_of_the_lists_need_no_type() -> None:
    """As `tool/classify` returns calls."""
    call = {name: CALL[name] for name in CALL if name != "type"}
    message = {"toolCalls": [call], "toolResults": [{"toolCallId": "d", "content": 1}]}

    assert _render(message=message) == _render(
        message={
            "toolCalls": [CALL],
            "toolResults": [{"type": "tool-result", "toolCallId": "d", "content": 1}],
        }
    )
    assert _render(message=message)["messages"][0]["tool_calls"][0]["id"] == "c"


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({"message": {"text": "Hi", "tool_calls": [1]}}, "message.tool_calls"),
        ({"message": {"toolCalls": [{**CALL, "x": 1}]}}, "message.toolCalls[0].x"),
        (
            {"message": {"blocks": [{"type": "text", "content": "Hi"}]}},
            "message.blocks[0].content",
        ),
        (
            {
                "message": {"blocks": [CALL]},
                "results": [{"toolCallId": "c", "content": 1, "output": 4}],
            },
            "results[0].output",
        ),
        ({"message": {"text": "Hi"}, "result": []}, "result"),
    ],
)
def test_unknown_members_are_lost(params: dict[str, Any], path: str) -> None:
    lost = _render(**params)["lost"]

    assert {"what": "unknown", "why": f"this version does not know {path}"} in lost


def test_unknown_blocks_are_lost() -> None:
    blocks = [{"type": "image", "block": 3}, {"type": "text", "text": "Hi"}]

    rendered = _render(message={"blocks": blocks})

    assert rendered["messages"] == [{"role": "assistant", "content": "Hi"}]
    why = 'a block has no type "image"'
    assert rendered["lost"] == [{"block": 3, "what": "unknown", "why": why}]
