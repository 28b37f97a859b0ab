"""Two lanes of marks: what is spoken of between them stays, what leaks there goes.

A sentence of `SPOKEN` has one delimiter as a mention (text rules 4.6 and 4.10 to 4.12)
and comes out as it was written. A text of `LEAKED` has reasoning that begins and ends
with the same marks, or a call between such texts: nothing of it is shown, and nothing
else is lost. So both results are known.
"""

from __future__ import annotations

from random import Random
from typing import Any

from checking import feed

from fuzz import inputs
from fuzz.legitimate import QUOTABLE

TOOLS = [{"name": "f"}]
MODELS = (None, "deepseek-r1", "qwen/qwen3-32b", "zai-org/GLM-4.6", "gpt-oss-120b")

MARKS = (
    *("“ ”", "„ “", "‘ ’", "« »", "‹ ›", "「 」", "『 』", '" "', "' '"),
    *("( )", "[ ]", "《 》", "（ ）", "** **", "* *", "__ __", "` `"),
)
"""Marks of a pair that may stand around a mention."""

PAIRS = (("<think>", "</think>"), ("[THINK]", "[/THINK]"), ("<thought>", "</thought>"))
BETWEEN = ("...", "…", "/", " and ", " or ", " und ", ", ", " 和 ", ".*?")

SPOKEN = (
    "The tag {mark} is one.\n",
    "It is {mark}, and so is {mark}: both stay.\n",
    "- {mark}\n- then {mark}\n",
    "| a | b |\n|---|---|\n| {tag} | x |\n| y | {tag} |\n",
    'x = "a {opener} b"\n',
    "x = f'{opener}{{a}}{closer}'\n",
    're.sub(r"{opener}.*?{closer}", "", text)\n',
    "  key: '{opener}'  # its name\n",
    '{{"a": "{opener} and {closer}", "b": ["{tag}"]}}',
    '["{opener}", "so {closer}"]',
    "Write {opener}{between}{closer} there.\n",
    "So \\{tag} is text.\n",
    "See `{tag}` or\n```\n{opener}\n{closer}\n```\nas code.\n",
)

WHY = (
    "**Plan**",
    '"Hi"',
    "'so'",
    "(a)",
    "[b]",
    "«c»",
    "“d”",
    "*e*",
    "`f`",
    "it's",
    "g",
)
SAID = (
    "Hello.",
    "**Hello**",
    '"Hi" it is.',
    "(So.)",
    "It's sunny.",
    "`x` is.",
    "«Oui»",
)
CALL = '<tool_call>{"name": "f", "arguments": {"a": "it\'s \\"so\\""}}</tool_call>'


def draw_mentions(number: int) -> dict[str, Any]:
    """A few sentences of `SPOKEN`, each with marks and delimiters of its own."""
    generator = Random(number)
    text = ""
    for _ in range(generator.randrange(1, 4)):
        text += _sentence(generator, begins=not text)
        if text[0] in '{["':
            break
    return {"text": text, "model": generator.choice(MODELS), "seed": number}


def _sentence(generator: Random, *, begins: bool) -> str:
    """What is JSON is so at the answer's start only."""
    some = [each for each in SPOKEN if begins or each[0] not in '{["']
    opener, closer = generator.choice(PAIRS)
    left, right = generator.choice(MARKS).split()
    tag = generator.choice(QUOTABLE)
    between = generator.choice(BETWEEN)
    return generator.choice(some).format(
        opener=opener,
        closer=closer,
        between=between,
        tag=tag,
        mark=f"{left}{tag}{right}",
    )


def check_mentions(given: dict[str, Any]) -> None:
    params = {"wire": "text", "tools": TOOLS, "model": given["model"]}
    text = given["text"]
    for chunks in ([text], inputs.cut(Random(given["seed"]), text)):
        message = feed(params, chunks).message
        assert message.text == text
        assert not message.reasoning
        assert not message.tool_calls
        assert not message.tool_results


def draw_leaks(number: int) -> dict[str, Any]:
    """Reasoning and calls whose neighbours are marks."""
    generator = Random(number)
    parts = [generator.choice(WHY) for _ in range(generator.randrange(1, 4))]
    return {
        "why": generator.choice((" ", "\n", "")).join(parts),
        "said": [generator.choice(SAID) for _ in range(2)],
        "called": generator.randrange(3) == 0,
        "pair": generator.choice(PAIRS[:2]),
        "seed": number,
    }


def check_leaks(given: dict[str, Any]) -> None:
    (opener, closer), (first, last) = given["pair"], given["said"]
    call = f"\n{CALL}\n" if given["called"] else " "
    text = f"{opener}{given['why']}{closer}{first}{call}{last}"
    for chunks in ([text], inputs.cut(Random(given["seed"]), text)):
        message = feed({"wire": "text", "tools": TOOLS}, chunks).message
        assert message.reasoning == given["why"]
        assert message.text == f"{first}{call.replace(CALL, '')[:1]}{last}"
        assert len(message.tool_calls) == given["called"]
