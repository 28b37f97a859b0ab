"""The hard cases beside the project (`test_cases`), as stored messages.

A stored message keeps the text that a stream would show, unless nothing would be left.
Only what is expected is removed.
"""

from __future__ import annotations

from typing import Any

import pytest
from corpus import CASES, cases_in
from stored_messages import assistant, check

from stream_sidecar.options import EchoPolicy, Policy, ReasoningPolicy, Tool

pytestmark = pytest.mark.skipif(
    not CASES.exists(),
    reason="no cases beside the project (SIDECAR_CORPUS): they were not run",
)

CLASSES = ("stored", "echo", "keep", "think", "whitespace", "unicode")


def _is_text(case: dict[str, Any]) -> bool:
    return case["wire"] in ("text", "stored") and case["class"].startswith(CLASSES)


def _options(case: dict[str, Any]) -> dict[str, Any]:
    given, reasoning = case["options"], {}
    if "reasoning_tags" in given:
        reasoning["tags"] = tuple(given["reasoning_tags"])
    if "reasoning_starts_open" in given:
        is_open = given["reasoning_starts_open"]
        reasoning["starts_open"] = "open" if is_open else "closed"
    if "unclosed_reasoning" in given:
        unclosed = given["unclosed_reasoning"]
        reasoning["unclosed"] = {"visible": "text"}.get(unclosed, unclosed)
    echo = EchoPolicy(
        tuple(given.get("echo_markers", ())), tuple(given.get("echo_prefixes", ()))
    )
    policy = Policy(reasoning=ReasoningPolicy(**reasoning), echo=echo)
    tools = case["declared_tools"]
    if tools is not None:
        tools = tuple(Tool(tool["name"]) for tool in tools)
    return {"policy": policy, "tools": tools}


def _known(case: dict[str, Any]) -> list[Any]:
    """The results that the host passed to the model, as messages of the session."""
    known = case["options"].get("recent_tool_results", ())
    return [{"role": "tool", "content": each} for each in known]


def _text_of(message: Any) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def test_cases_as_stored_messages() -> None:
    cases = [
        case
        for case in cases_in("leaks.jsonl")
        if _is_text(case) and not case["ambiguous"]
    ]
    assert len(cases) > 40
    wrong = []
    for case in cases:
        chunks, expected = case["chunks"], case["expected"]
        message = chunks[0] if case["wire"] == "stored" else assistant("".join(chunks))
        result = check(message, *_known(case), **_options(case))
        text, visible = _text_of(result.message), expected["visible"]
        if case["compare"] != "exact":
            text, visible = text.strip(), visible.strip()
        if case["compare"] == "collapse":
            text, visible = (" ".join(each.split()) for each in (text, visible))
        right = text == visible or (result.blocked and not visible.strip())
        if "changed" in expected:
            right &= result.changed is expected["changed"]
        if right and result.changed and case["wire"] == "stored":
            right &= (result.reasoning or "").strip() == expected["reasoning"].strip()
        if not right:
            wrong.append((case["id"], text, visible, result.removed))
    assert not wrong
