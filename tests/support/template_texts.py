"""Texts that models of a family write, and what a message of them says, in plain data.

Both the command that asks Hugging Face's parser (``tests/templates``) and the tests
that compare with its answers have the texts from here.
"""

from __future__ import annotations

import json
from typing import Any

from feeding import feed

from stream_sidecar.dialects import DIALECTS
from stream_sidecar.templates.family_templates import family_template

_CALLS: dict[str, tuple[str, str]] = {
    "hermes": ('<tool_call>\n{"name": "NAME", "arguments": ARGS}\n</tool_call>', ""),
    "nemotron-json": ('<TOOLCALL>[{"name": "NAME", "arguments": ARGS}]</TOOLCALL>', ""),
    "granite": ('<|tool_call|>[{"name": "NAME", "arguments": ARGS}]', ""),
    "cohere": (
        '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "NAME",'
        ' "parameters": ARGS}]<|END_ACTION|>',
        "",
    ),
    "internlm2": (
        '<|action_start|><|plugin|>{"name": "NAME", "parameters": ARGS}<|action_end|>',
        "",
    ),
    "inkling": (
        "<|message_model|>NAME<|content_invoke_tool_json|>"
        '{"name": "NAME", "args": ARGS}<|end_message|>',
        "",
    ),
    "lfm2": ("<|tool_call_start|>[NAME(PARAMS)]<|tool_call_end|>", 'KEY="VALUE"'),
    "qwen3-xml": (
        "<tool_call>\n<function=NAME>\nPARAMS</function>\n</tool_call>",
        "<parameter=KEY>\nVALUE\n</parameter>\n",
    ),
    "seed-oss": (
        "<seed:tool_call><function=NAME>PARAMS</function></seed:tool_call>",
        "<parameter=KEY>VALUE</parameter>",
    ),
    "glm": (
        "<tool_call>NAME\nPARAMS</tool_call>",
        "<arg_key>KEY</arg_key>\n<arg_value>VALUE</arg_value>\n",
    ),
    "minimax-m2": (
        '<minimax:tool_call>\n<invoke name="NAME">\nPARAMS</invoke>\n'
        "</minimax:tool_call>",
        '<parameter name="KEY">VALUE</parameter>\n',
    ),
    "kimi-k2": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.NAME:0"
        "<|tool_call_argument_begin|>ARGS<|tool_call_end|><|tool_calls_section_end|>",
        "",
    ),
    "deepseek-v3": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>NAME\n"
        "```json\nARGS\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "",
    ),
    "deepseek-v31": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>NAME<｜tool▁sep｜>ARGS"
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "",
    ),
    "solar": (
        "<|tool_call:begin|>a1<|tool_call:name|>NAME<|tool_call:args|>ARGS"
        "<|tool_call:end|>",
        "",
    ),
    "harmony": (
        "<|start|>assistant<|channel|>commentary to=functions.NAME "
        "<|constrain|>json<|message|>ARGS<|call|>",
        "",
    ),
    "gemma4": ("<|tool_call>call:NAME{PARAMS}<tool_call|>", 'KEY:<|"|>VALUE<|"|>'),
    "functiongemma": (
        "<start_function_call>call:NAME{PARAMS}<end_function_call>",
        "KEY:<escape>VALUE<escape>",
    ),
}
"""By family: a call, and where its arguments are no JSON, one of them."""

_ANSWERS = {
    "cohere": "<|START_RESPONSE|>{}<|END_RESPONSE|>",
    "harmony": "<|start|>assistant<|channel|>final<|message|>{}<|end|>",
    "inkling": "<|message_model|><|content_text|>{}<|end_message|>",
}
_HEADED = {"inkling": "<|message_model|><|content_thinking|>"}

FAMILIES = tuple(_CALLS)

RULES = {
    "in a fence": "4.1",
    "a mention": "4.6",
    "a call in reasoning": "11.10",
    "a closer in a string": "11.8",
    "cut off": "11.3",
    "behind the call": "2.1",
}
"""Kinds of texts that Hugging Face's parser may read differently, with our rule of the
text for each."""


def template(family: str) -> dict[str, Any]:
    return family_template([DIALECTS[family]]).template


def texts(family: str) -> dict[str, str]:
    """Texts by their kind."""
    thinking = template(family)["fields"].get("thinking")
    call, wrapper = _call(family, "f", "Oslo"), _ANSWERS.get(family, "{}")
    answer = wrapper.format
    found = {
        "answer": answer("Five is < 6."),
        "a call": call,
        "answer and call": answer("I look.\n") + call,
        "in a fence": answer(f"So:\n```\n{call}\n```\nDone."),
        "a closer in a string": _call(family, "f", f"a {_closer(family)} b"),
        "cut off": call[: call.index("slo")],
        "behind the call": f"{call}\n" + answer("Done."),
    }
    if family != "granite":  # nothing closes its calls
        found["two calls"] = f"{call}\n" + _call(family, "g", "Rome, <b>")
    if thinking:
        opener = _HEADED.get(family) or _first(thinking["open"])
        closer = _first(thinking["close"])
        thought = f"{opener}It asks.{closer}"
        found |= {
            "reasoning": thought + answer("Four."),
            "reasoning and call": thought + answer("So.\n") + call,
            "reasoning that is cut off": f"{opener}It asks",
            "a call in reasoning": f"{opener}I may {call} so.{closer}" + answer("No."),
            "a mention": answer(f'It ends with "{closer}" there.'),
        }
    return found


def _first(given: str | list[str]) -> str:
    return given if isinstance(given, str) else given[0]


def _call(family: str, name: str, city: str) -> str:
    form, each = _CALLS[family]
    given = {"city": city, "note": "x, y"}
    shown = [each.replace("KEY", k).replace("VALUE", v) for k, v in given.items()]
    between = "" if each.startswith("<") else ", " if "=" in each else ","
    parameters = between.join(shown)
    arguments = json.dumps(given)
    return (
        form.replace("NAME", name)
        .replace("ARGS", arguments)
        .replace("PARAMS", parameters)
    )


def _closer(family: str) -> str:
    """The last token of a call."""
    form = _CALLS[family][0].strip()
    return form[form.rindex("<") :] if form.endswith(">") else "<|end_of_text|>"


def read(text: str, family: str) -> dict[str, Any]:
    """What we read, by the family's template."""
    return read_by(text, template(family))


def read_by(text: str | list[str], template: dict[str, Any]) -> dict[str, Any]:
    params = {"wire": "text", "responseTemplate": template}
    message = feed(params, [text] if isinstance(text, str) else text).message
    calls = [[call.name, call.input] for call in message.tool_calls]
    return plain(message.reasoning, message.text, calls)


def plain(thinking: Any, content: Any, calls: Any) -> dict[str, Any]:
    """Compared modulo the white space around it."""
    return {
        "thinking": str(thinking or "").strip(),
        "content": str(content or "").strip(),
        "tool_calls": calls or [],
    }
