"""How long an object at the answer's start may wait (text rule 10.6).

An answer that is JSON has to stream, so what has only such keys as answers have waits
for 2,048 characters at most; cases of that size are made here.
"""

from __future__ import annotations

import pytest
from checking import check, feed

LONG = "0123456789" * 205
HALF = "0123456789" * 110
GENERIC = f'{{"type": "x", "content": "{LONG}"}}'
TWO = f'{{"type": "{HALF}"}}\n{{"type": "{HALF}"}}'


@pytest.mark.parametrize("text", [GENERIC, TWO], ids=["one", "two"])
def test_an_answer_streams(text: str) -> None:
    """It comes out as it went in, and no more of it waits."""
    params = {"wire": "text"}
    check(params, [f"{text}Hi"])
    fed = feed(params, list(f"{text}Hi"))
    assert fed.message.text == f"{text}Hi"
    assert fed.stats.held_peak < 2300


@pytest.mark.parametrize("tools", [[], [{"name": "f"}]], ids=["none", "one"])
@pytest.mark.parametrize("key", ["files", "arguments"])
def test_other_objects_stream(key: str, tools: list[dict[str, str]]) -> None:
    """An object without an indicator waits for 256 characters, whatever is declared; so
    does one that calls what is not."""
    text = f'{{"name": "package", "{key}": {{"a": "{LONG}"}}}}'
    params = {"wire": "text", "tools": tools}
    check(params, [text])
    fed = feed(params, list(text))
    assert fed.message.text == text
    assert fed.stats.held_peak < 300


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (None, GENERIC.replace('"x"', '"x", "success": true')),
        ("gemini-2.5-pro", GENERIC),
        ("gemini-2.5-pro", TWO),
    ],
)
def test_a_result_may_be_long(model: str | None, text: str) -> None:
    """Another indicator proves it, and Gemini repeats long ones without."""
    params = {"wire": "text", **({"model": model} if model else {})}
    check(params, [f"{text}Hi"])
    fed = feed(params, [f"{text}Hi"])
    assert fed.message.text == "Hi"
    assert fed.message.tool_results


KNOWN = {"toolResults": {"known": [{"city": "Oslo", "success": True}]}}
REPORT = f'{{"success": true, "report": "{LONG}"}}'


@pytest.mark.parametrize(
    "settings",
    [
        {"policy": KNOWN},
        {"policy": {"toolResults": {"known": ["plain"]}}},
        {"policy": {"toolResults": {"mode": "report"}}},
        {"policy": {"toolResults": {"mode": "keep"}}},
        {"tools": []},
    ],
)
def test_an_answer_with_an_indicator_streams(settings: dict[str, object]) -> None:
    """The host's settings show that it repeats no result."""
    params = {"wire": "text", **settings}
    check(params, [REPORT])
    fed = feed(params, list(REPORT))
    assert fed.message.text == REPORT
    assert fed.stats.held_peak < 300


def test_a_known_result_waits() -> None:
    """However long it is, as long as its keys fit."""
    params = {"wire": "text", "policy": KNOWN}
    lines = check(params, [f'{{"success": true, "city": "{LONG}"}}Hi'])
    assert lines[-2] == '1 text "Hi"'
