"""A token of tier A may be missing where another one says the same.

`CALLS` has one call of ``f`` for each family of tier A, token by token; what begins
with a blank is no token. Each token is left out alone, at the answer's start and behind
text (text rule 11.23).
"""

from __future__ import annotations

from itertools import chain

import pytest
from checking import feed

from stream_sidecar.dialects import DIALECTS

_OBJECT = ' {"a": 1}'
_NAMED = ' [{"name": "f", "arguments": {"a": 1}}]'


def _plamo(name: str) -> str:
    return f"<|plamo:{name}:plamo|>"


CALLS: dict[str, tuple[str, ...]] = {
    "kimi-k2": (
        *("<|tool_calls_section_begin|>", "<|tool_call_begin|>", " functions.f:0"),
        *("<|tool_call_argument_begin|>", _OBJECT, "<|tool_call_end|>"),
        "<|tool_calls_section_end|>",
    ),
    "deepseek-v3": (
        *("<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", " function"),
        *("<｜tool▁sep｜>", " f\n", "```json\n", _OBJECT, "\n```"),
        *("<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>"),
    ),
    "deepseek-v31": (
        *("<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", " f", "<｜tool▁sep｜>"),
        *(_OBJECT, "<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>"),
    ),
    "mistral": ("[TOOL_CALLS]", " f", "[ARGS]", _OBJECT),
    "harmony": (
        *("<|start|>", " assistant", "<|channel|>", " commentary to=functions.f "),
        *("<|constrain|>", " json", "<|message|>", _OBJECT, "<|call|>"),
    ),
    "kimi-k3": (
        *("<|open|>tools<|sep|>", "<|open|>call", ' tool="f" index="1"', "<|sep|>"),
        *("<|open|>argument", ' key="a" type="number"', "<|sep|>", " 1"),
        *("<|close|>argument<|sep|>", "<|close|>call<|sep|>"),
        "<|close|>tools<|sep|>",
    ),
    "solar": (
        *("<|tool_calls|>", "<|tool_call:begin|>", " i", "<|tool_call:name|>", " f"),
        *("<|tool_call:args|>", _OBJECT, "<|tool_call:end|>", "<|calls|>"),
    ),
    "plamo": (
        *(_plamo("begin_tool_requests"), _plamo("begin_tool_request")),
        *(_plamo("begin_tool_name"), " f", _plamo("end_tool_name")),
        *(_plamo("begin_tool_arguments"), "<|plamo:constrain|>json", "<|plamo:msg|>"),
        *(_OBJECT, _plamo("end_tool_arguments"), _plamo("end_tool_request")),
        _plamo("end_tool_requests"),
    ),
    "inkling": (
        *("<|message_model|>", " f", "<|content_invoke_tool_json|>"),
        *(' {"name": "f", "args": {"a": 1}}', "<|end_message|>"),
    ),
    "sarashina": ("<|tool_calls|>", _NAMED),
    "lfm2": ("<|tool_call_start|>", " [f(a=1)]", "<|tool_call_end|>"),
    "grok": (
        *("<|tool_calls_begin|>", "<|tool_call_begin|>", " f\n", "<|tool_sep|>"),
        *(" a\n1\n", "<|tool_call_end|>", "<|tool_calls_end|>"),
    ),
    "gemma4": ("<|tool_call>", " call:f{a:1}", "<tool_call|>"),
    "functiongemma": ("<start_function_call>", " call:f{a:1}", "<end_function_call>"),
    "llama3-json": ("<|python_tag|>", ' {"name": "f", "parameters": {"a": 1}}'),
    "granite": ("<|tool_call|>", _NAMED),
    "phi4-json": ("<|tool_call|>", _NAMED, "<|/tool_call|>"),
    "internlm2": (
        *("<|action_start|>", "<|plugin|>", ' {"name": "f", "parameters": {"a": 1}}'),
        "<|action_end|>",
    ),
    "gigachat": ("<|function_call|>", ' {"name": "f", "arguments": {"a": 1}}'),
    "cohere": (
        "<|START_ACTION|>",
        ' [{"tool_name": "f", "parameters": {"a": 1}}]',
        "<|END_ACTION|>",
    ),
    "cohere tags": (
        *("<cofl:tool_calls>", '<cofl:tool_call name="f">'),
        *('<cofl:value name="a" type="json">', " 1", "</cofl:value>"),
        *("</cofl:tool_call>", "</cofl:tool_calls>"),
    ),
    "apertus": ("<|tools_prefix|>", ' [{"f": {"a": 1}}]', "<|tools_suffix|>"),
    "pythonic": ("<|python_start|>", " [f(a=1)]", "<|python_end|>"),
    "step3": (
        *("<｜tool_calls_begin｜>", "<｜tool_call_begin｜>", " function"),
        *("<｜tool_sep｜>", ' <steptml:invoke name="f">'),
        ' <steptml:parameter name="a">1</steptml:parameter></steptml:invoke>',
        *("<｜tool_call_end｜>", "<｜tool_calls_end｜>"),
    ),
    "k2-horizon": (
        *("<ifm|tool_calls>", "<ifm|tool_call>", " f", "<ifm|arg_key>", " a"),
        *("</ifm|arg_key>", "<ifm|arg_value>", " 1", "</ifm|arg_value>"),
        *("</ifm|tool_call>", "</ifm|tool_calls>"),
    ),
    "deepseek-dsml": (
        *("<｜DSML｜function_calls>", '<｜DSML｜invoke name="f">'),
        *('<｜DSML｜parameter name="a" string="false">', " 1"),
        *("</｜DSML｜parameter>", "</｜DSML｜invoke>", "</｜DSML｜function_calls>"),
    ),
}

MEANT = {
    ("harmony", "<|start|>"),
    ("kimi-k3", "<|open|>call"),
    ("kimi-k3", "<|open|>argument"),
    ("kimi-k3", "<|sep|>"),
    ("solar", "<|tool_call:name|>"),
    ("grok", "<|tool_sep|>"),
    ("apertus", "<|tools_prefix|>"),
    ("cohere tags", '<cofl:tool_call name="f">'),
    ("cohere tags", '<cofl:value name="a" type="json">'),
    ("cohere tags", "</cofl:value>"),
    ("deepseek-dsml", '<｜DSML｜invoke name="f">'),
    ("deepseek-dsml", '<｜DSML｜parameter name="a" string="false">'),
}
"""Tokens that no other token implies: what they alone say is missing then."""

BARE = {
    *("sarashina", "lfm2", "llama3-json", "granite", "phi4-json", "gigachat"),
    *("cohere", "apertus", "gemma4", "functiongemma", "pythonic"),
}
"""Families whose opener alone says that text follows a call: without it, the call may
be an example in the answer (text rule 11.6)."""

TOOLS = [{"name": "f", "inputSchema": {"properties": {"a": {"type": "integer"}}}}]
FAMILIES = {family.partition(" ")[0] for family in CALLS}
OTHERWISE = {"harmony-eaten", "hyperclova", "muse", "minimax-m3", "kimi-eaten"}
"""Families that must be named, and MiniMax-M3's, whose tags all have one token."""


def test_each_family_of_tier_a_has_a_call() -> None:
    sure = {
        name
        for name, dialect in DIALECTS.items()
        if any(form.tier == "A" and form.about != "leftovers" for form in dialect.forms)
    }
    assert sure == FAMILIES | OTHERWISE


def _text(pieces: tuple[str, ...], left_out: int = -1) -> str:
    kept = (piece for index, piece in enumerate(pieces) if index != left_out)
    return "".join(piece.removeprefix(" ") for piece in kept)


def _is_right(text: str, lead: str, tail: str) -> bool:
    params = {"wire": "text", "tools": TOOLS}
    feedings = [feed(params, cut) for cut in ([text], list(text))]
    assert feedings[0].lines == feedings[1].lines, text
    message = feedings[0].message
    calls = [(call.name, call.input) for call in message.tool_calls]
    visible = "".join(message.text.split())
    return calls == [("f", {"a": 1})] and visible == "".join((lead + tail).split())


@pytest.mark.parametrize("lead", ["", "Hi.\n"])
@pytest.mark.parametrize("tail", ["", "\nBye."])
@pytest.mark.parametrize("family", CALLS)
def test_each_token_left_out(family: str, lead: str, tail: str) -> None:
    pieces = CALLS[family]
    assert _is_right(lead + _text(pieces) + tail, lead, tail)
    wrong = {
        (family, piece)
        for index, piece in enumerate(pieces)
        if not piece.startswith(" ")
        and not _is_right(lead + _text(pieces, index) + tail, lead, tail)
    }
    meant = {(name, token) for name, token in MEANT if name == family}
    meant |= {(name, CALLS[name][0]) for name in BARE if name == family and tail}
    assert wrong == meant


SECTIONS = {
    *("kimi-k2", "deepseek-v3", "deepseek-v31", "solar", "plamo", "grok", "step3"),
    *("k2-horizon", "deepseek-dsml"),
}


@pytest.mark.parametrize("family", sorted(SECTIONS))
def test_an_empty_section(family: str) -> None:
    """It goes, but not out of a sentence that names its tokens."""
    section = CALLS[family][0] + "{}" + CALLS[family][-1]
    for gap in ("", "\n"):
        fed = feed(
            {"wire": "text", "tools": TOOLS}, [f"Hi.{section.format(gap)}\nBye."]
        )
        assert fed.message.text == "Hi.\nBye."
        assert not fed.message.tool_calls
    if family != "deepseek-dsml":  # its borders go wherever they stand
        text = f"The tokens {section.format('')} divide calls."
        assert feed({"wire": "text", "tools": TOOLS}, [text]).message.text == text


def test_exceptions_are_tokens() -> None:
    tokens = set(chain.from_iterable(CALLS.values()))
    assert all(token in tokens for _, token in MEANT)
