"""Invariant 6: ten times the input takes ten times the work, hostile inputs included.

Work is counted, not timed: lines of ours that are executed. What copies inside one line
would cost is not seen by that, so ``SIDECAR_LONG=1`` also measures processor time on
long inputs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from checking import feed
from cutting import LONG
from line_count import in_slices, lines_of

TEXTS: dict[str, Callable[[int], str]] = {
    "words": lambda n: "word " * (n // 5),
    "a span that stays open": lambda n: "`<think>" + "a" * n,
    "beginnings of delimiters": lambda n: "<think" * (n // 6),
    "one character that may begin one": lambda n: "<" * n,
    "one run": lambda n: "`" * n,
    "many runs": lambda n: "` " * (n // 2),
    "runs of all lengths": lambda n: " ".join("`" * (i % 8 + 1) for i in range(n // 6)),
    "delimiters between runs": lambda n: "<think>".join(
        "`" * (i % 5 + 1) for i in range(n // 10)
    ),
    "quoted openers": lambda n: "`<think>" * (n // 8),
    "openers": lambda n: "<think>" * (n // 7),
    "nested openers": lambda n: "<think>\n" * (n // 8),
    "closers": lambda n: "</think>" * (n // 8),
    "closers on lines": lambda n: "</think>\n" * (n // 9),
    "blocks": lambda n: "<think>a</think>b\n" * (n // 18),
    "blocks on lines": lambda n: "<think></think>\n" * (n // 16),
    "blanks": lambda n: " " * n,
    "blank lines": lambda n: "\n" * n,
    "blank lines behind a closer": lambda n: "a\n</think>\n" + " \n" * (n // 2),
    "halves of delimiters": lambda n: "<th<think></think>ink>" * (n // 22),
    "quoted closers": lambda n: "<think>" + "`</think>`" * (n // 10),
    "fences": lambda n: "```\n" * (n // 4),
    "lines in a fence": lambda n: "```\n" + "``\n" * (n // 3),
    "list marks": lambda n: "- " * (n // 2),
    "digits": lambda n: "1" * n,
    "quotation marks": lambda n: ">" * n + "```",
    "an unclosed mention": lambda n: "a <think>" + "<th ink> `" * (n // 10),
    "half characters": lambda n: "\ud83d" * n,
}


def _delta(**delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta}]}


def _call(index: int, arguments: str) -> dict[str, Any]:
    function = {"name": "f", "arguments": arguments}
    call = {"index": index, "id": f"c{index}", "function": function}
    return _delta(tool_calls=[call])


DOCUMENTS: dict[str, Callable[[int], list[Any]]] = {
    "mirrors": lambda n: [_delta(reasoning="ab ", reasoning_content="ab ")] * n,
    "no mirrors": lambda n: [_delta(reasoning="ab ", reasoning_content="ac ")] * n,
    "a late mirror": lambda n: (
        [_delta(reasoning="ab " * n)] + [_delta(reasoning_content="ab ")] * n
    ),
    "a held block": lambda n: (
        [_delta(reasoning="a"), _delta(content="<think>")] + [_delta(content="ab")] * n
    ),
    "copies": lambda n: (
        [_delta(reasoning="ab" * n)] + [_delta(content="<think>ab</think>c")] * n
    ),
    "channels in turn": lambda n: [_delta(reasoning="a"), _delta(content="b")] * n,
    "calls": lambda n: [_call(index, "{}") for index in range(n)],
    "one call": lambda n: [_call(0, '"')] + [_call(0, "ab")] * n + [_call(0, '"')],
    "text and one call": lambda n: [_delta(content="a `"), _call(0, "1")] * n,
    "unknown documents": lambda n: [{"hello": index} for index in range(n)],
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("cut", [lambda text: [text], in_slices], ids=["whole", "cut"])
def test_text_takes_linear_work(name: str, cut: Callable[[str], list[str]]) -> None:
    params = {"wire": "text", "limits": {"maxHeldChars": 10_000}}
    few, many = (
        lines_of(lambda n=n: feed(params, cut(TEXTS[name](n)))) for n in (400, 4_000)
    )
    assert many < 11 * few + 2_000


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_take_linear_work(name: str) -> None:
    params = {"wire": "openai-chat"}
    few, many = (
        lines_of(lambda n=n: feed(params, DOCUMENTS[name](n))) for n in (40, 400)
    )
    assert many < 11 * few + 2_000


@pytest.mark.skipif(not LONG, reason="times are measured with SIDECAR_LONG=1 only")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", TEXTS)
def test_text_takes_linear_time(name: str) -> None:
    """What is copied inside one line of ours costs time as well."""

    def best(size: int) -> float:
        text, times = TEXTS[name](size), []
        for _ in range(3):
            start = time.process_time()
            feed({"wire": "text"}, [text])
            times.append(time.process_time() - start)
        return min(times)

    assert best(500_000) < 20 * best(50_000) + 0.02
