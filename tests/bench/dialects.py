"""Cost of one delta of a long argument of a call written as text, in every dialect.

A call is begun and its argument fed in deltas of 4 characters; the cost of a delta at
10 kB of it is compared with that at 600 kB (see ``growth``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunks import CODE, repeated, slices
from growth import BAR, Case, measure
from rows import Row, microseconds

from stream_sidecar.options import Limits, Policy, StreamOptions, Tool

if TYPE_CHECKING:
    from collections.abc import Iterator

_JSON = '{"name": "f", "arguments": {"text": "'
_XML = '<parameter name="text">'

HEADS: dict[str, str] = {
    "hermes": f"<tool_call>{_JSON}",
    "qwen3-xml": "<tool_call>\n<function=f>\n<parameter=text>\n",
    "seed-oss": "<seed:tool_call><function=f><parameter=text>",
    "functionary": '<function=f>{"text": "',
    "glm": "<tool_call>f\n<arg_key>text</arg_key>\n<arg_value>",
    "hy3": "<tool_calls><tool_call>f<tool_sep><arg_key>text</arg_key><arg_value>",
    "kimi-k2": '<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"text": "',
    "kimi-k3": '<|open|>call tool="f"<|sep|><|open|>argument key="text"<|sep|>',
    "deepseek-v3": "<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n"
    + '{"text": "',
    "deepseek-v31": '<｜tool▁call▁begin｜>f<｜tool▁sep｜>{"text": "',
    "deepseek-dsml": '<｜DSML｜invoke name="f"><｜DSML｜parameter name="text">',
    "anthropic-xml": f'<invoke name="f">\n{_XML}',
    "minimax-m1": f"<tool_calls>\n{_JSON}",
    "minimax-m2": f'<minimax:tool_call><invoke name="f">{_XML}',
    "minimax-m3": ']<]minimax[>[<invoke name="f">]<]minimax[>[<text>',
    "cohere, tags": '<cofl:tool_call name="f"><cofl:value name="text" type="raw">',
    "step3": f'<｜tool_call_begin｜><steptml:invoke name="f"><steptml:{_XML[1:]}',
    "minicpm": '<function name="f"><param name="text">',
    "call-record": f'<call_record tool="f">{_XML}',
    "mistral": '[TOOL_CALLS]f{"text": "',
    "llama3-json": f"<|python_tag|>{_JSON}",
    "bare JSON": _JSON,
    "pythonic": '[f(text="""',
    "olmo3": '<function_calls>f(text="""',
    "lfm2": '<|tool_call_start|>[f(text="""',
    "tool-code": '```tool_code\nf(text="""',
    "harmony": '<|channel|>commentary to=functions.f<|message|>{"text": "',
    "gemma4": '<|tool_call>call:f{text:<|"|>',
    "functiongemma": "<start_function_call>call:f{text:<escape>",
    "gemini-call": "call:default_api:f{text:<ctrl46>",
    "granite": f"<|tool_call|>[{_JSON}",
    "nemotron-json": f"<TOOLCALL>[{_JSON}",
    "phi4-json": f"functools[{_JSON}",
    "jamba": f"<tool_calls>[{_JSON}",
    "internlm2": f"<|action_start|><|plugin|>{_JSON}",
    "gigachat": f"<|function_call|>{_JSON}",
    "cohere": '<|START_ACTION|>[{"tool_name": "f", "parameters": {"text": "',
    "apertus": '<|tools_prefix|>[{"f": {"text": "',
    "longcat": f"<longcat_tool_call>{_JSON}",
    "dots": f"<dots_function_call>{_JSON}",
    "named-tags": "<f>\n<text>",
    "transcript": '[Called function "f" with args: {"text": "',
    "repeated result": '{"success": true, "text": "',
}
"""A call up to the middle of its argument ``text``."""

# What is in a string of every dialect: no quotes, no line breaks, no backslashes.
_BODY = CODE.replace('"', "'").replace("\n", " ")
_HELD = Limits(max_held_chars=2_000_000, max_call_chars=2_000_000)
_OPTIONS = StreamOptions(wire="text", tools=(Tool("f"),), policy=Policy(), limits=_HELD)


def cases() -> Iterator[Case]:
    """One case a dialect."""
    body = slices(repeated(_BODY, 4 * len(_BODY)), 4)
    for name, head in HEADS.items():
        yield Case(f"argument, {name}", _OPTIONS, [head], body, size=600_000)


def run() -> Iterator[Row]:
    for case in cases():
        small, large, ratio = measure(case)
        measured = f"{microseconds(small)}, {microseconds(large)} a delta"
        yield Row(f"{case.name}, at 10 kB and at 0.6 MB", measured, ratio, BAR)
