"""Describes a family as a response template that other software can read.

`family_template` makes the template for the dialects of a model: the reasoning from
the dialect's pairs, the calls from `_CALLS`. It reports what a template cannot express:
a form without a marker, a value with a type, several calls with nothing between
them. Example: Mistral's
``[TOOL_CALLS]f{..}`` has no end, so a second call would be part of the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.records import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stream_sidecar.forms.form import Dialect


class InexpressibleError(ValueError):
    """A response template cannot express this; the message says what, and why."""


def _field(open: str, close: str, **more: Any) -> dict[str, Any]:
    """The field of calls whose opener contains the name; the body is the arguments."""
    shape = {"name": "{name}", "arguments": "{content}"}
    return _calls({"open_pattern": open}, close, shape, **more)


def _listed(
    open: str,
    close: str,
    name: str = "name",
    arguments: str = "arguments",
    id: str = "",
) -> dict[str, Any]:
    shape = {"name": f"{{{name}}}", "arguments": f"{{{arguments}}}"}
    return _calls({"open": open}, close, shape, id, transform_each=True)


def _call_field(open: str, close: str) -> dict[str, Any]:
    """The field of calls whose body is an object with name and arguments."""
    return _calls({"open": open}, close, "{content}")


def _calls(
    open: dict[str, Any], close: str, shape: Any, id: str = "", **more: Any
) -> dict[str, Any]:
    side = "close_pattern" if "(?:" in close else "close"
    transform = {"type": "function", "function": shape}
    return {
        **open,
        **({side: close} if close else {}),
        "repeats": True,
        "content": "json",
        **more,
        "transform": {"id": id, **transform} if id else transform,
    }


def _tagged(pattern: str) -> dict[str, Any]:
    """The members for a body of tags; the tool's schema has the types."""
    return {"content": "xml-inline", "content_args": {"tag_pattern": pattern}}


def _marked(mark: str) -> dict[str, Any]:
    """The members for a body with bare keys and with strings between ``mark``."""
    args = {"unquoted_keys": True, "string_delims": [[mark, mark]]}
    return {"content_args": args}


_WORD = r"(?P<name>[\w.:/-]+)"
_PARAMETER = r"<parameter=(?P<key>[^<>\n]+)>\n?(?P<value>.*?)\n?</parameter>"
_ARGUMENT = (
    r"<arg_key>(?P<key>[^<>]+)</arg_key>\s*<arg_value>(?P<value>.*?)</arg_value>"
)
_INVOKED = r'<parameter name="(?P<key>[^"<>]+)">(?P<value>.*?)</parameter>'

_INKLING = r"(?:<\|message_model\|>)?[^<]*"

_CALLS: dict[str, dict[str, Any]] = {
    "hermes": _call_field("<tool_call>", "</tool_call>"),
    "nemotron-json": _listed("<TOOLCALL>", "</TOOLCALL>"),
    "jamba": _listed("<tool_calls>", "</tool_calls>"),
    "hunyuan": _listed("<tool_calls>", "</tool_calls>"),
    "apriel": _listed("<tool_calls>", "</tool_calls>"),
    "granite": _listed("<|tool_call|>", ""),
    "phi4-json": _listed("<|tool_call|>", "<|/tool_call|>"),
    "cohere": _listed(
        "<|START_ACTION|>",
        "<|END_ACTION|>",
        "tool_name",
        "parameters",
        "{tool_call_id}",
    ),
    "longcat": _call_field("<longcat_tool_call>", "</longcat_tool_call>"),
    "dots": _call_field("<dots_function_call>", "</dots_function_call>"),
    "gigachat": _call_field("<|function_call|>", ""),
    "internlm2": _calls(
        {"open_pattern": r"<\|action_start\|>\s*<\|(?:plugin|interpreter)\|>"},
        "<|action_end|>",
        {"name": "{content.name}", "arguments": "{content.parameters}"},
    ),
    "inkling": _calls(
        {"open_pattern": rf"{_INKLING}<\|content_invoke_tool_json\|>"},
        "<|end_message|>",
        {"name": "{content.name}", "arguments": "{content.args}"},
    ),
    "lfm2": {
        **_listed("<|tool_call_start|>", "<|tool_call_end|>"),
        "content": "python-call-list",
    },
    "qwen3-xml": _field(
        rf"(?:<tool_call>\s*)?<function={_WORD}>",
        r"</function>(?:\s*</tool_call>)?|</tool_call>",
        **_tagged(_PARAMETER),
    ),
    "seed-oss": _field(
        rf"<seed:tool_call>\s*<function={_WORD}>",
        r"(?:</function>\s*)?</seed:tool_call>",
        **_tagged(_PARAMETER),
    ),
    "glm": _field(rf"<tool_call>\s*{_WORD}", "</tool_call>", **_tagged(_ARGUMENT)),
    "minimax-m2": _field(
        rf'(?:<minimax:tool_call>\s*)?<invoke name="{_WORD}">',
        r"</invoke>(?:\s*</minimax:tool_call>)?",
        **_tagged(_INVOKED),
    ),
    "anthropic-xml": _field(
        rf'(?:<function_calls>\s*)?<invoke name="{_WORD}">',
        r"</invoke>(?:\s*</function_calls>)?",
        **_tagged(_INVOKED),
    ),
    "kimi-k2": _field(
        r"(?:<\|tool_calls_section_begin\|>\s*)?<\|tool_call_begin\|>\s*"
        r"(?P<id>(?:functions\.)?(?P<name>[\w.-]+)(?::\d+)?)"
        r"\s*<\|tool_call_argument_begin\|>",
        r"<\|tool_call_end\|>(?:\s*<\|tool_calls_section_end\|>)?",
        id="{id}",
    ),
    "deepseek-v31": _field(
        r"(?:<｜tool▁calls▁begin｜>)?<｜tool▁call▁begin｜>(?P<name>[\w.-]+)<｜tool▁sep｜>",
        r"<｜tool▁call▁end｜>(?:<｜tool▁calls▁end｜>)?",
    ),
    "deepseek-v3": _field(
        r"(?:<｜tool▁calls▁begin｜>)?<｜tool▁call▁begin｜>function<｜tool▁sep｜>"
        r"(?P<name>[\w.-]+)\s*```json\n",
        r"```\s*<｜tool▁call▁end｜>(?:<｜tool▁calls▁end｜>)?",
    ),
    "solar": _field(
        r"(?:<\|tool_calls\|>)?<\|tool_call:begin\|>(?P<id>[^\s<>]*)"
        rf"<\|tool_call:name\|>{_WORD}<\|tool_call:args\|>",
        r"<\|tool_call:end\|>(?:<\|calls\|>)?",
        id="{id}",
    ),
    "harmony": _field(
        r"<\|channel\|>commentary to=functions\.(?P<name>[\w.-]+).*?<\|message\|>",
        "<|call|>",
    ),
    "gemma4": _field(
        r"<\|tool_call>call:(?P<name>[\w.-]+)", "<tool_call|>", **_marked('<|"|>')
    ),
    "functiongemma": _field(
        r"<start_function_call>call:(?P<name>[\w.-]+)",
        "<end_function_call>",
        **_marked("<escape>"),
    ),
}
"""The field ``tool_calls`` of each family."""

_NOT_EXPRESSIBLE = {
    "mistral": "nothing ends a call, so that the next would be part of it",
    "deepseek-dsml": "an attribute of each parameter says whether it is a string",
    "kimi-k3": "an attribute of each argument says its type",
    "apertus": "the name of a call is the key of its arguments",
    "minimax-m1": "several objects stand between one pair of tags",
    "minimax-m3": "the name of a parameter is that of its tags, which may nest",
    "olmo3": "calls in Python stand there without a list around them",
    "pythonic": "nothing opens a call but its own bracket",
    "llama3-json": "nothing opens a call but its own bracket",
    "tool-code": "calls in Python stand in a fence",
    "gemini-call": "nothing opens a call but its own name",
    "functionary": "the next call alone ends one",
    "sarashina": "a call is a dictionary of Python's",
}
"""Why a template cannot express the calls of a family."""

_ANSWERS: dict[str, dict[str, Any]] = {
    "cohere": {"open": "<|START_RESPONSE|>", "close": "<|END_RESPONSE|>"},
    "harmony": {
        "open": "<|channel|>final<|message|>",
        "close": ["<|end|>", "<|return|>"],
    },
    "inkling": {
        "open_pattern": rf"{_INKLING}<\|content_text\|>",
        "close": "<|end_message|>",
    },
}
"""The delimiters around the answers of a family."""

_THOUGHTS: dict[str, dict[str, Any]] = {
    "harmony": {"open": "<|channel|>analysis<|message|>", "close": "<|end|>"},
    "inkling": {
        "open_pattern": rf"{_INKLING}<\|content_thinking\|>",
        "close": "<|end_message|>",
    },
    "gemma4": {"open": "<|channel>thought\n", "close": "<channel|>"},
    "kimi-k2": {"open": "<think>", "close": "</think>"},
    "solar": {"open": "<|think:start|>", "close": "<|think:end|>"},
}
"""The reasoning of families whose first pair in `PAIRS` would be the wrong one."""

_CHAT_ML = ("<|im_start|>assistant\n", "<|im_end|>")
_BORDERS: dict[str, tuple[str | list[str], str]] = {
    **dict.fromkeys(("hermes", "qwen3-xml", "lfm2", "internlm2"), _CHAT_ML),
    "granite": ("<|start_of_role|>assistant<|end_of_role|>", "<|end_of_text|>"),
    "cohere": ("<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>", "<|END_OF_TURN_TOKEN|>"),
    "glm": ("<|assistant|>", "<|observation|>"),
    "kimi-k2": ("<|im_assistant|>assistant<|im_middle|>", "<|im_end|>"),
    **dict.fromkeys(
        ("deepseek-v3", "deepseek-v31"), ("<｜Assistant｜>", "<｜end▁of▁sentence｜>")
    ),
    "minimax-m2": ("]~b]ai\n", "[e~["),
    "seed-oss": ("<seed:bos>assistant\n", "<seed:eos>"),
    "harmony": ("<|start|>assistant", "<|return|>"),
    "gemma4": (["<|turn>model\n", "<tool_response|>"], "<turn|>"),
    "functiongemma": ("<start_of_turn>model\n", "<end_of_turn>"),
    "inkling": ("<|message_model|>", "<|content_model_end_sampling|>"),
    "solar": ("<|begin|>assistant", "<|end|>"),
    "nemotron-json": ("<SPECIAL_11>Assistant\n", "<SPECIAL_12>"),
    "phi4-json": ("<|assistant|>", "<|end|>"),
}
"""Family -> the texts around its turn in a prompt; ChatML's for all others."""


@frozen
class FamilyTemplate:
    """A template, and messages about what it does not express."""

    template: dict[str, Any]
    not_expressed: tuple[str, ...] = ()


def family_template(dialects: Sequence[Dialect]) -> FamilyTemplate:
    """The template of the first of ``dialects`` that can be expressed."""
    not_expressed = [
        f"{each.name}: "
        + _NOT_EXPRESSIBLE.get(each.name, "its calls are not written here so")
        for each in dialects
        if each.name not in _CALLS and _has_calls(each)
    ]
    thinking = (each for each in dialects if not _has_calls(each))
    calling = (each for each in dialects if each.name in _CALLS)
    dialect = next(calling, None) or next(thinking, None)
    if dialect is None:
        reasons = "; ".join(not_expressed) or "how it writes is not known"
        raise InexpressibleError(reasons)
    family = dialect.name
    anchor, end = _BORDERS.get(family, _CHAT_ML)
    fields = {"thinking": _thoughts(dialect), "tool_calls": _CALLS.get(family)}
    answer = {**_ANSWERS.get(family, {"close": end}), "content": "text"}
    others = [
        f"{each.name}: a template has one form of calls"
        for each in dialects
        if each.name in _CALLS and each is not dialect
    ]
    return FamilyTemplate(
        {
            "defaults": {"role": "assistant"},
            "start_anchor": anchor,
            "fields": {
                **{name: each for name, each in fields.items() if each},
                "content": answer,
            },
        },
        (*not_expressed, *others),
    )


def _has_calls(dialect: Dialect) -> bool:
    return any(form.may_be_call for form in dialect.forms)


def _thoughts(dialect: Dialect) -> dict[str, Any]:
    """The field for reasoning: `_THOUGHTS`, else the first pair, if any."""
    field = _THOUGHTS.get(dialect.name)
    pairs = [pair for pair in dialect.pairs if pair[0]]
    if field is None and pairs:
        field = dict(zip(("open", "close"), pairs[0], strict=True))
    return {**field, "content": "text"} if field else {}
