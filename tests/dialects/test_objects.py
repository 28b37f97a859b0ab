"""One reader of objects serves every form: how a form writes an object never matters.

`NAMED` and `UNNAMED` have one text for each form with an object, with ``OBJECT`` in the
place of the object: the arguments of a call of ``f``, or the name and the arguments.
Each text is made with each spelling of an object (`SPELLINGS`), and each text of
`UNNAMED` also with each name that the arguments may have (text rules 11.21, 11.22).
"""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from checking import feed

from stream_sidecar.dialects import DIALECTS
from stream_sidecar.forms.call_bodies import ARGUMENT_KEYS, NAME_KEYS

NAMED = {
    "kimi-k2": "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>OBJECT"
    "<|tool_call_end|>",
    "kimi-eaten": "functions.f:0<|tool_call_argument_begin|>OBJECT<|tool_call_end|>",
    "deepseek-v3": "<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\nOBJECT\n```"
    "<｜tool▁call▁end｜>",
    "deepseek-v31": "<｜tool▁call▁begin｜>f<｜tool▁sep｜>OBJECT<｜tool▁call▁end｜>",
    "mistral": "[TOOL_CALLS]f[ARGS]OBJECT",
    "mistral without tokens": "[TOOL_CALLS]fOBJECT",
    "harmony": "<|channel|>commentary to=functions.f <|constrain|>json<|message|>OBJECT"
    "<|call|>",
    "harmony at the start": "to=functions.f<|channel|>commentary<|message|>OBJECT",
    "harmony-eaten": "to=functions.f commentary json OBJECT",
    "qwen3-xml": "<tool_call>\n<function=f>\nOBJECT\n</function>\n</tool_call>",
    "seed-oss": "<seed:tool_call><function=f>OBJECT</function></seed:tool_call>",
    "functionary": "<function=f>OBJECT</function>",
    "functionary header": ">>>f\nOBJECT",
    "hermes attributes": '<tool_call name="f">OBJECT</tool_call>',
    "glm": "<tool_call>f\nOBJECT</tool_call>",
    "longcat": "<longcat_tool_call>f\nOBJECT</longcat_tool_call>",
    "solar": "<|tool_call:begin|>i<|tool_call:name|>f<|tool_call:args|>OBJECT"
    "<|tool_call:end|>",
    "plamo": "<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>f"
    "<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|>OBJECT"
    "<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>",
    "inkling": "<|message_model|>f<|content_invoke_tool_json|>OBJECT<|end_message|>",
    "cwm": "<tool: f>\nOBJECT\n</tool>",
    "step-audio": "<tool_call>function\nf\nOBJECT</tool_call>",
    "anthropic-xml": '<invoke name="f">OBJECT</invoke>',
    "deepseek-dsml": '<｜DSML｜invoke name="f">OBJECT</｜DSML｜invoke>',
    "deepseek-dsml fence": "<｜DSML｜toolcall>\nf\n```json\nOBJECT\n```\n"
    "</｜DSML｜toolcall>",
    "deepseek-dsml by names": "<｜DSML｜f>OBJECT</｜DSML｜f>",
    "grok card": "<xai:tool_usage_card><xai:tool_name>f</xai:tool_name>"
    "<xai:tool_args>OBJECT</xai:tool_args></xai:tool_usage_card>",
    "minimax-m2": '[TOOL_CALL]\n{tool => "f", args => OBJECT}\n[/TOOL_CALL]',
    "named-tags": "<f>OBJECT</f>",
    "llama3-json": "f(OBJECT)",
    "gemma4": "<|tool_call>call:fOBJECT<tool_call|>",
    "functiongemma": "<start_function_call>call:fOBJECT<end_function_call>",
    "gemini-call": "call:fOBJECT",
    "gemini-call bare": "fOBJECT",
    "tool-code": "[tool_code:fOBJECT]",
    "transcript": '[Called function "f" with args: OBJECT]',
    "transcript list": "Tool calls requested:\n- f(OBJECT) [id: i]",
    "transcript bracket": "[Calling tool: f(OBJECT)]",
    "transcript lines": "name: f\ninput: OBJECT",
    "transcript ReAct": "Action: f\nAction Input: OBJECT",
}
"""Forms whose name stands outside the object."""

UNNAMED = {
    "hermes": "<tool_call>OBJECT</tool_call>",
    "hermes tools": "<tools>OBJECT</tools>",
    "llama3-json": "<|python_tag|>OBJECT",
    "llama3-json bare": "OBJECT",
    "granite": "<|tool_call|>[OBJECT]",
    "granite tag": "<function_call>OBJECT",
    "nemotron-json": "<TOOLCALL>[OBJECT]</TOOLCALL>",
    "phi4-json": "functools[OBJECT]",
    "phi4-json tokens": "<|tool_call|>[OBJECT]<|/tool_call|>",
    "jamba": "<tool_calls>[OBJECT]</tool_calls>",
    "internlm2": "<|action_start|><|plugin|>OBJECT<|action_end|>",
    "gigachat": "<|function_call|>OBJECT",
    "gigachat role": "<|message_sep|>function call<|role_sep|>OBJECT",
    "cohere": "<|START_ACTION|>[OBJECT]<|END_ACTION|>",
    "longcat": "<longcat_tool_call>OBJECT</longcat_tool_call>",
    "longcat list": "<function_calls>OBJECT</function_calls>",
    "dots": "<dots_function_call>OBJECT</dots_function_call>",
    "minimax-m2": "[TOOL_CALL]OBJECT[/TOOL_CALL]",
    "mistral": "[TOOL_CALLS][OBJECT]",
    "glm": "<tool_call>OBJECT</tool_call>",
    "inkling": "<|message_model|>f<|content_invoke_tool_json|>OBJECT<|end_message|>",
    "sarashina": "<|tool_calls|>[OBJECT]",
    "lfm2": "<|tool_call_start|>[OBJECT]<|tool_call_end|>",
    "pangu": "[unused11][OBJECT][unused12]",
    "hyperclova": "<|im_start|>assistant -> tool/function_call\n[OBJECT]",
    "rwkv": "**Tool Call:**\n```json\nOBJECT\n```",
    "tool-code": "```tool_code\nOBJECT\n```",
}
"""Forms whose name stands in the object."""

VALUE: dict[str, Any] = {"a": "x y", "n": [1, -2.5, True, None, {"k": "v"}], "o": {}}
SPELLINGS = {
    "strict": '{"a": "x y", "n": [1, -2.5, true, null, {"k": "v"}], "o": {}}',
    "spaced": '{\n  "a": "x y",\n  "n": [ 1, -2.5, true, null, { "k": "v" } ],\n'
    '  "o": { }\n}',
    "single": "{'a': 'x y', 'n': [1, -2.5, true, null, {'k': 'v'}], 'o': {}}",
    "bare": '{a: "x y", n: [1, -2.5, true, null, {k: "v"}], o: {}}',
    "comma": '{"a": "x y", "n": [1, -2.5, true, null, {"k": "v",},], "o": {},}',
    "Python": "{'a': 'x y', 'n': [1, -2.5, True, None, {'k': 'v'}], 'o': {}}",
}
EMPTY = ("{}", "{ }", "{\n}")

SCHEMA = {"properties": {"a": {"type": "string"}, "n": {}, "o": {}}}


def _wrong(
    texts: dict[str, str], value: dict[str, Any], *, schema: bool = False
) -> list[Any]:
    """The texts that do not come out as one complete call of ``f`` and nothing else."""
    tool = {"name": "f", **({"inputSchema": SCHEMA} if schema else {})}
    wrong = []
    for name, text in texts.items():
        family = name.partition(" ")[0]
        policy = {} if DIALECTS[family].safe else {"dialects": [family]}
        params = {"wire": "text", "tools": [tool], "policy": policy}
        (fed, *_) = feedings = [feed(params, cut) for cut in ([text], list(text))]
        calls = [(call.name, call.input) for call in fed.message.tool_calls]
        if calls != [("f", value)] or fed.message.text.strip():
            wrong.append((name, text, fed.lines))
        assert feedings[0].lines == feedings[1].lines, text
    return wrong


def _inner(arguments: str, *, name: str = "name", key: str = "arguments") -> str:
    return f'{{"{name}": "f", "{key}": {arguments}}}'


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_spellings_of_arguments(spelling: str) -> None:
    written = SPELLINGS[spelling]
    texts = {name: text.replace("OBJECT", written) for name, text in NAMED.items()}
    assert not _wrong(texts, VALUE)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_spellings_of_a_whole_call(spelling: str) -> None:
    """The name and the key of the arguments are spelled like the rest."""
    mark = {"single": "'", "Python": "'", "bare": ""}.get(spelling, '"')
    quote = mark or '"'
    written = f"{{{mark}name{mark}: {quote}f{quote}, {mark}arguments{mark}: "
    written += SPELLINGS[spelling] + ("}" if spelling != "comma" else ",}")
    texts = {name: text.replace("OBJECT", written) for name, text in UNNAMED.items()}
    assert not _wrong(texts, VALUE)


@pytest.mark.parametrize("empty", EMPTY)
def test_arguments_that_are_empty(empty: str) -> None:
    texts = {name: text.replace("OBJECT", empty) for name, text in NAMED.items()}
    assert not _wrong(texts, {})
    texts = {n: text.replace("OBJECT", _inner(empty)) for n, text in UNNAMED.items()}
    assert not _wrong(texts, {})


KEYS = [*product(NAME_KEYS, ("arguments",)), *product(("name",), ARGUMENT_KEYS)]


@pytest.mark.parametrize(("name", "key"), KEYS)
def test_names_of_the_name_and_of_the_arguments(name: str, key: str) -> None:
    written = _inner('{"a": "x"}', name=name, key=key)
    texts = {form: text.replace("OBJECT", written) for form, text in UNNAMED.items()}
    if name == "action":  # an answer in JSON must stream (text rule 11.6)
        del texts["llama3-json bare"]
    assert not _wrong(texts, {"a": "x"})


OTHERS = {
    "one object": '"payload": {"a": "x"}',
    "one object and words about the call": '"id": "i", "reason": "r", "p": {"a": "x"}',
    "flat": '"a": "x", "thought": "t"',
}


@pytest.mark.parametrize("members", OTHERS.values(), ids=OTHERS)
def test_arguments_under_no_usual_name(members: str) -> None:
    """The schema says that they are the arguments."""
    written = f'{{"name": "f", {members}}}'
    texts = {form: text.replace("OBJECT", written) for form, text in UNNAMED.items()}
    del texts["inkling"]  # there, the object itself may be the arguments
    assert not _wrong(texts, {"a": "x"}, schema=True)


UNCLEAR = {
    "two objects": '"p": {"a": "x"}, "q": {"a": "y"}',
    "an object and a text": '"p": {"a": "x"}, "q": "y"',
    "a text": '"p": "x"',
    "a parameter and a text": '"a": "x", "p": "y"',
    "arguments that are a text": '"arguments": "x"',
    "arguments that are a list": '"arguments": ["x"]',
    "a result": '"result": {"a": "x"}',
    "an indicator": '"content": {"a": "x"}',
}


@pytest.mark.parametrize("members", UNCLEAR.values(), ids=UNCLEAR)
@pytest.mark.parametrize("schema", [True, False])
def test_a_call_is_never_complete_with_less(members: str, *, schema: bool) -> None:
    """A call of tier A is invalid, all other text stays."""
    tool = {"name": "f", **({"inputSchema": SCHEMA} if schema else {})}
    for form, text in UNNAMED.items():
        if form == "inkling":
            continue
        family = form.partition(" ")[0]
        policy = {} if DIALECTS[family].safe else {"dialects": [family]}
        params = {"wire": "text", "tools": [tool], "policy": policy}
        written = text.replace("OBJECT", f'{{"name": "f", {members}}}')
        message = (fed := feed(params, [written])).message
        states = [call.state for call in message.tool_calls]
        assert states == ["invalid"] or message.text == written, fed.lines
        assert states != ["invalid"] or not message.text.strip(), fed.lines
