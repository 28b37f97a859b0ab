"""Params that the protocol refuses, with the path that the refusal names."""

from __future__ import annotations

BAD_OPENS = [
    ([], ""),
    ({"streamId": ""}, ".streamId"),
    ({"streamId": 5}, ".streamId"),
    ({"wire": "telegraph"}, ".wire"),
    ({"wire": 5}, ".wire"),
    ({"framing": "picture"}, ".framing"),
    ({"wire": "text", "framing": "sse"}, ".framing"),
    ({"wire": "openai-chat", "framing": "text"}, ".framing"),
    ({"encoding": "rot13"}, ".encoding"),
    ({"model": 5}, ".model"),
    ({"tools": {}}, ".tools"),
    ({"tools": ["x"]}, ".tools[0]"),
    ({"tools": [{"name": "a"}, {}]}, ".tools[1].name"),
    ({"tools": [{"name": ""}]}, ".tools[0].name"),
    ({"tools": [{"name": "a", "kind": "dance"}]}, ".tools[0].kind"),
    ({"tools": [{"name": "a", "executor": "me"}]}, ".tools[0].executor"),
    ({"tools": [{"type": "function", "function": {}}]}, ".tools[0].name"),
    ({"responseTemplate": []}, ".responseTemplate"),
    ({"responseTemplate": {}}, ".responseTemplate.fields"),
    ({"responseTemplate": {"fields": {"a": 5}}}, ".responseTemplate.fields.a"),
    ({"policy": []}, ".policy"),
    ({"policy": {"trace": "yes"}}, ".policy.trace"),
    ({"policy": {"reasoning": {"scope": "x"}}}, ".policy.reasoning.scope"),
    ({"policy": {"dialects": "hermes"}}, ".policy.dialects"),
    ({"policy": {"dialects": ["hermes", "x"]}}, ".policy.dialects[1]"),
    ({"policy": {"echo": {"markers": [""]}}}, ".policy.echo.markers[0]"),
    ({"policy": {"echo": {"markers": ["x" * 257]}}}, ".policy.echo.markers[0]"),
    ({"policy": {"echo": {"prefixes": ["x" * 257]}}}, ".policy.echo.prefixes[0]"),
    ({"policy": {"reasoning": {"tags": ["x" * 257]}}}, ".policy.reasoning.tags[0]"),
    (
        {"responseTemplate": {"fields": {"a": {"open": "x" * 257, "close": "y"}}}},
        ".responseTemplate.fields.a.open",
    ),
    ({"policy": {"toolResults": {"mode": "x"}}}, ".policy.toolResults.mode"),
    ({"policy": {"reasoning": {"tags": "think"}}}, ".policy.reasoning.tags"),
    ({"policy": {"reasoning": {"tags": [5]}}}, ".policy.reasoning.tags[0]"),
    ({"policy": {"reasoning": {"tags": ["a", ""]}}}, ".policy.reasoning.tags[1]"),
    ({"policy": {"reasoning": {"tags": ["a b"]}}}, ".policy.reasoning.tags[0]"),
    ({"policy": {"reasoning": {"tags": ["`a`"]}}}, ".policy.reasoning.tags[0]"),
]


BAD_PUSHES = [
    ({}, "chunk"),
    ({"chunks": None}, "chunk"),
    ({"chunks": "x"}, "chunks"),
    ({"chunk": "x", "chunks": ["y"]}, "chunks"),
    ({"chunk": "x", "pushSeq": "1"}, "pushSeq"),
    ({"chunk": "x", "pushSeq": 1.0}, "pushSeq"),
    ({"chunk": "x", "streamId": None}, "streamId"),
]


BAD_CLOSES = [
    ({"reason": "bored"}, "reason"),
    ({"error": "x"}, "error"),
    ({"error": {"status": "429"}}, "error.status"),
    ({"error": {"status": 429.0}}, "error.status"),
    ({"error": {"status": True}}, "error.status"),
    ({"error": {"status": 2**63}}, "error.status"),
    ({"error": {"headers": "x"}}, "error.headers"),
    ({"error": {"headers": [["retry-after", "3"]]}}, "error.headers"),
]
