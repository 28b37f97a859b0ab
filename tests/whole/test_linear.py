"""Ten times the input takes ten times the work, hostile inputs included.

That is text rule 13.5, and it holds for the other stages alike.

Work is counted, not timed: lines of ours that are executed. What copies inside one line
would cost is not seen by that, so ``SIDECAR_LONG=1`` also measures processor time on
long inputs. What regular expressions cost is counted by ``test_pumps.py``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from checking import feed
from cutting import LONG
from line_count import in_slices, is_linear, lines_of

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
    "blanks of two kinds": lambda n: "  \v" * (n // 3),
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
    "openers of calls": lambda n: "<tool_call>" * (n // 11),
    "openers of calls on lines": lambda n: "<tool_call>\n" * (n // 12),
    "closers of calls": lambda n: "</tool_call>" * (n // 12),
    "calls": lambda n: '<tool_call>{"name":"f"}</tool_call>' * (n // 35),
    "calls that fail": lambda n: '<tool_call>{"name":"f"}</tool_cal>' * (n // 34),
    "calls that nobody declared": lambda n: "<function=g></function>" * (n // 23),
    "a call that never ends": lambda n: '<tool_call>{"name":"f","a":"' + "a" * n,
    "a sentinel that never ends": lambda n: '[TOOL_CALLS]f{"a":"' + "a" * n,
    "sentinels": lambda n: "[TOOL_CALLS]" * (n // 12),
    "calls in a list": lambda n: "[TOOL_CALLS][" + '{"name":"f"},' * (n // 13),
    "nested wrappers": lambda n: '<function_calls><invoke name="f">' * (n // 33),
    "calls in reasoning": lambda n: "<think>" + "[TOOL_CALLS]f{}" * (n // 15),
    "ends of values": lambda n: (
        "<function=f><parameter=k>" + "</parameter>x" * (n // 13)
    ),
    "ends of other values": lambda n: (
        "<tool_call>f<arg_key>k</arg_key><arg_value>" + "</arg_value> " * (n // 13)
    ),
    "parameters": lambda n: "<function=f>" + "<parameter=k></parameter>" * (n // 25),
    "values of other keys": lambda n: (
        "<tool_call>\n<function=f>\n<parameter=a>\n"
        + "\n<parameter=k>" * (n // 14)
        + "\n</parameter>\n</function>\n</tool_call>"
    ),
    "named tags": lambda n: "<f>" * (n // 3),
    "named tags on lines": lambda n: "<f>\n" * (n // 4),
    "tag trees": lambda n: (
        ']<]minimax[>[<invoke name="f">' + "]<]minimax[>[<a>" * (n // 16)
    ),
    "trees without a tag": lambda n: "]<]minimax[>[" * (n // 13),
    "a tag without an end in a tree": lambda n: (
        ']<]minimax[>[<invoke name="f">]<]minimax[>[<'
        + "!" * n
        + "]<]minimax[>[</invoke>"
    ),
    "bars": lambda n: "<｜DSML｜" * (n // 7),
    "sections": lambda n: "<|tool_calls_section_begin|>" * (n // 28),
    "braces": lambda n: "{" * n,
    "braces on lines": lambda n: "{\n" * (n // 2),
    "brackets": lambda n: "[" * n,
    "brackets on lines": lambda n: "[\n" * (n // 2),
    "nested objects": lambda n: '{"a":' * (n // 5),
    "objects": lambda n: '{"a":1}' * (n // 7),
    "objects on lines": lambda n: '{"name":"f"}\n' * (n // 13),
    "beginnings of objects": lambda n: '{"name":\n' * (n // 9),
    "results": lambda n: '{"success":1}' * (n // 13),
    "results and blanks": lambda n: '{"type":1} ' * (n // 11),
    "results and text": lambda n: '{"success":1}' * (n // 13) + "Hi",
    "results and reasoning": lambda n: (
        '{"success":1}' + "<think>a</think>\n" * (n // 17)
    ),
    "a result that never ends": lambda n: '{"success":"' + "a" * n,
    "tails of results": lambda n: "<ctrl46>,a\n" * (n // 11),
    "fences of calls": lambda n: "```tool_code\nf()\n```\n" * (n // 21),
    "a fence of calls": lambda n: "```tool_code\n" + "f()\n" * (n // 4) + "```\n",
    "a fence that never ends": lambda n: "```tool_code\n" + "```x\n" * (n // 5),
    "lists of calls": lambda n: "[f(a=1),\n" * (n // 9),
    "assignments": lambda n: "tool_code = f(\n" * (n // 15),
    "leaks": lambda n: "call:f{a:1\n" * (n // 11),
    "leaks in brackets": lambda n: "call:f(\n" * (n // 8),
    "a leak in brackets": lambda n: "call:f(" + "a" * n + ")",
    "brackets behind a list": lambda n: (
        "<tool_call>[{'name':'f'}" + "]" * n + "</tool_call>"
    ),
    "leaks of one tool": lambda n: "f{" * (n // 2),
    "requested calls": lambda n: "Tool calls requested:\n" + "- f({})\n" * (n // 8),
    "headers": lambda n: "<|channel|>" * (n // 11),
    "messages": lambda n: "<|channel|>analysis<|message|>" * (n // 30),
    "ends of messages": lambda n: "<|end|>" * (n // 7),
    "stop tokens": lambda n: "<|im_end|>" * (n // 10),
    "stop tokens and text": lambda n: "<|im_end|>\n" * (n // 11) + "a",
    "reserved tokens": lambda n: "<unused1>" * (n // 9),
    "beginnings of reserved tokens": lambda n: "<unused" * (n // 7),
    "citation markers": lambda n: "a\ue200cite\ue202b\ue201" * (n // 9),
    "beginnings of citation markers": lambda n: "\ue200cite" * (n // 5),
    "reasoning in a torn call": lambda n: (
        '<｜DSML｜invoke</think> name="f"><｜DSML｜parameter name="a">'
        + "<think>y</think> " * (n // 17)
    ),
    "marker blocks": lambda n: "[host]\n" * (n // 7),
}

PARAMS: dict[str, Any] = {
    "wire": "text",
    "model": "gpt-oss-20b",
    "tools": [{"name": "f", "inputSchema": {"properties": {"a": {}}}}],
    "policy": {"echo": {"markers": ["[host]"], "prefixes": ["timestamp"]}},
}
"""All forms are read: those of declared tools and of the host, too."""


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


@pytest.mark.thorough
@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("cut", [lambda text: [text], in_slices], ids=["whole", "cut"])
def test_text_takes_linear_work(name: str, cut: Callable[[str], list[str]]) -> None:
    params = {**PARAMS, "limits": {"maxHeldChars": 2_000}}
    assert is_linear(lambda size: feed(params, cut(TEXTS[name](size))))


def _named(n: int) -> list[str]:
    """Names with a long beginning in common."""
    return [f"{'long_name_' * 5}{number}" for number in range(n // 10)]


def _known(n: int, *keys: str) -> list[Any]:
    return [{**dict.fromkeys(keys, "x"), "a": number} for number in range(n // 10)]


def _objects(n: int, text: str) -> str:
    return "".join(text % number for number in range(n // len(text)))


def _tools(n: int, *parameters: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {key: {} for key in parameters}}
    return {"tools": [{"name": name, "inputSchema": schema} for name in _named(n)]}


def _results(**policy: Any) -> dict[str, Any]:
    return {"policy": {"toolResults": policy}}


PRODUCTS: dict[str, tuple[Callable[[int], dict[str, Any]], Callable[[int], str]]] = {
    "known results and copies": (
        lambda n: _results(known=_known(n)),
        lambda n: _objects(n, '{"a":%d}') + "Hi",
    ),
    "known results and others": (
        lambda n: _results(known=_known(n, "success")),
        lambda n: _objects(n, '{"a":%d,"success":1}') + "Hi",
    ),
    "known results and blanks": (
        lambda n: _results(known=_known(n, "type")),
        lambda n: _objects(n, '{"a":%d,"type":1}\n') + "Hi",
    ),
    "known results and long beginnings": (
        lambda n: _results(known=[{f"k{i}": 1, "b": 1} for i in range(n // 10)]),
        lambda n: ('{"success":{},"b":"%s"}' % ("x" * 260)) * (n // 280) + "Hi",
    ),
    "indicators and results": (
        lambda n: _results(indicators=[f"k{i}" for i in range(n // 10)]),
        lambda n: _objects(n, '{"k%d":1}\n') + "Hi",
    ),
    "tools and lines that begin as their names do": (
        lambda n: _tools(n),
        lambda n: f"{'long_name_' * 5}\n" * (n // 50),
    ),
    "tools and lines that begin with a name": (
        lambda n: _tools(n),
        lambda n: f"{'long_name_' * 5}1{{\n" * (n // 50),
    ),
    "tools and calls by number": (
        lambda n: {**_tools(n, "a", "b"), "model": "kimi-k2"},
        lambda n: (
            '<|tool_call_begin|>0<|tool_call_argument_begin|>{"a":1}<|tool_call_end|>'
            * (n // 70)
        ),
    ),
    "tools and names without an end": (
        lambda n: {**_tools(n), "model": "glm-4.6"},
        lambda n: (
            "<tool_call>long_name_k</arg_key>v</arg_value></tool_call>" * (n // 56)
        ),
    ),
    "tools and broken calls": (
        lambda n: _tools(n),
        lambda n: '{"name": "long_name_1", "arguments": {x}}\n' * (n // 42),
    ),
    "markers and lines": (
        lambda n: {
            "policy": {"echo": {"markers": [f"[{each}]" for each in _named(n)]}}
        },
        lambda n: f"[{'long_name_' * 5}]\n" * (n // 53),
    ),
    "tags and openers": (
        lambda n: {"policy": {"reasoning": {"tags": _named(n)}}},
        lambda n: f"<{'long_name_' * 5}1>x\n" * (n // 55),
    ),
}
"""What grows together with the text, and a text that has to do with all of it."""


@pytest.mark.parametrize("name", PRODUCTS)
def test_no_product_of_two_sizes(name: str) -> None:
    params, text = PRODUCTS[name]
    assert is_linear(lambda n: feed({"wire": "text", **params(n)}, [text(n)]))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_take_linear_work(name: str) -> None:
    params = {"wire": "openai-chat"}
    few, many = (
        lines_of(lambda n=n: feed(params, DOCUMENTS[name](n))) for n in (40, 400)
    )
    assert many < 11 * few + 2_000


@pytest.mark.skipif(not LONG, reason="times are measured with SIDECAR_LONG=1 only")
@pytest.mark.parametrize("name", TEXTS)
def test_text_takes_linear_time(name: str) -> None:
    """What is copied inside one line of ours costs time as well."""

    def best(size: int) -> float:
        text, times = TEXTS[name](size), []
        for _ in range(3):
            start = time.process_time()
            feed(PARAMS, [text])
            times.append(time.process_time() - start)
        return min(times)

    assert best(500_000) < 20 * best(50_000) + 0.02
