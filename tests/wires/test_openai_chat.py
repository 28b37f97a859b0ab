"""The wires ``openai-chat`` and ``text``: errors, and what they take for their own."""

from __future__ import annotations

from typing import Any

import pytest
from wire_tables import read, too_deep

from stream_sidecar.parts import (
    DiagnosticPart,
    Document,
    ErrorPart,
    TextPart,
)
from stream_sidecar.wires import WIRES, detect


def chunk(**delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta}]}


BOOM = {"message": "boom"}
ERRORS: dict[str, tuple[Any, str | None, list[tuple[int, str, int]]]] = {
    "error document": ({"error": BOOM}, None, [(0, "boom", 0)]),
    "error event": (BOOM, "error", [(0, "boom", 0)]),
    "error event with text": ("boom", "error", [(0, "boom", 0)]),
    "array": ([{"error": BOOM}], None, [(0, "boom", 0)]),
    "FastAPI": ({"detail": "boom"}, None, [(0, "boom", 0)]),
    "MiniMax": (
        {"choices": None, "base_resp": {"status_code": 8, "status_msg": "boom"}},
        None,
        [(0, "boom", 0)],
    ),
    "Groq": ({"choices": [], "x_groq": {"error": "boom"}}, None, [(0, "boom", 0)]),
    "after the delta": ({**chunk(content="t"), "error": BOOM}, None, [(1, "boom", 0)]),
    "in choices": (
        {"choices": [{"delta": {}, "error": {"message": m}} for m in ("a", "b")]},
        None,
        [(0, "a", 0), (1, "b", 1)],
    ),
    "null is none": ({**chunk(content="t"), "error": None}, None, []),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(case: str) -> None:
    value, event, expected = ERRORS[case]
    parts = WIRES["openai-chat"].make("openrouter").push(Document(value, event))
    errors = [
        (place, part.message, part.choice)
        for place, part in enumerate(parts)
        if isinstance(part, ErrorPart)
    ]
    assert errors == expected


FITS: list[tuple[Any, bool]] = [
    ({"object": "chat.completion.chunk", "choices": []}, True),
    ({"object": "chat.completion"}, True),
    ({"object": "text_completion"}, True),
    (chunk(content="x"), True),
    ({"choices": [{"text": "x"}]}, True),
    ([chunk(content="x")], True),
    ({"choices": [{}]}, False),
    ({"choices": []}, False),
    ({"choices": [5]}, False),
    ({"usage": {}}, False),
    ({"error": BOOM}, False),
    ({"object": ["chat.completion"]}, False),
    ([], False),
    (None, False),
    ("x", False),
]


@pytest.mark.parametrize(("value", "is_ours"), FITS)
def test_fits(value: Any, is_ours: bool) -> None:
    assert WIRES["openai-chat"].fits(Document(value)) == is_ours
    assert detect(Document(value)) == ("openai-chat" if is_ours else None)


def test_text_wire() -> None:
    wire = WIRES["text"].make(None)
    assert wire.push(Document("Hi")) == [TextPart("Hi")]
    (part,) = wire.push(Document({"content": "Hi"}))
    assert isinstance(part, DiagnosticPart)
    assert (part.code, part.raw) == ("unknown-chunk", {"content": "Hi"})
    assert wire.close() == []


def test_results_nested_too_deep_for_python_are_given_once() -> None:
    def result() -> dict[str, Any]:
        item = {"tool_use_id": "a", "content": too_deep()}
        return chunk(provider_specific_fields={"tool_results": [item]})

    assert len(read("openai-chat", [result(), result()])) == 1
