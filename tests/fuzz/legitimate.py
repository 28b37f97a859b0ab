"""The lane of legitimate text: Markdown that speaks of delimiters stays as it was.

A document (`markdown_texts`) has literals of all dialects in its code and mentions, and
in its prose what has to go. So the result is known: the text without the latter.
"""

from __future__ import annotations

from itertools import zip_longest
from random import Random
from typing import Any

from checking import feed
from markdown_texts import document

from fuzz import inputs
from fuzz.fragments import LITERALS

PARAMS = {"wire": "text", "tools": [{"name": "f"}]}

CALLS = (
    *('{"name": "f", "arguments": {}}', "f(a=1)", "[f(a=1)]", "call:f{a:1}"),
    *('<tool_call>{"name": "f"}</tool_call>', '[TOOL_CALLS]f{"a": 1}'),
    *('<invoke name="f"></invoke>', '{"success": true}Done.', "<think>a</think>"),
)


def _is_one(literal: str) -> bool:
    """Whether it is not two others in a row for a stream that does not know its family:
    quotes around two make neither a mention (text rule 4.6)."""
    cuts = range(1, len(literal))
    return not any({literal[:at], literal[at:]} <= _LITERALS for at in cuts)


_LITERALS = frozenset(LITERALS)
QUOTABLE = tuple(
    each
    for each in filter(_is_one, LITERALS)
    if each[0] in "<[◁" and each[-1] in ">]▷" and not set(each) & {"'", '"', "\n"}
)

FILL = {
    "code": (*(each for each in LITERALS if not set(each) & set("`~\n")), *CALLS),
    "mention": (*QUOTABLE, "<function=f>", "<invoke name=f>"),
    "prose": (
        *("<think>why</think>", "<thought>\nwhy</thinking>", "[THINK]why[/THINK]"),
        *("</think>", "<unused7>"),
    ),
}
"""What may stand at a place; all of it goes from prose."""


def draw_legitimate(number: int) -> dict[str, Any]:
    """Which of `FILL` stands at each place of the document of that number."""
    generator = Random(number)
    chosen = [generator.randrange(2**16) for _ in document(number).kinds]
    return {"number": number, "chosen": chosen, "seed": generator.randrange(2**32)}


def check_legitimate(given: dict[str, Any]) -> None:
    made = document(given["number"])
    chosen = zip_longest(made.kinds, given["chosen"][: len(made.kinds)], fillvalue=0)
    at = [(kind, FILL[kind][n % len(FILL[kind])]) for kind, n in chosen]
    text = made.filled(*(literal for _, literal in at))
    if at and text.lstrip().startswith(at[0][1]):
        at[0] = ("code", "x")  # an opener that comes first counts, indented or not
        text = made.filled(*(literal for _, literal in at))
    expected = made.filled(*("" if kind == "prose" else each for kind, each in at))
    thoughts = sum(kind == "prose" and "why" in each for kind, each in at)
    for chunks in ([text], inputs.cut(Random(given["seed"]), text)):
        message = feed(PARAMS, chunks).message
        assert message.text == expected
        assert message.reasoning == "why" * thoughts
        assert not message.tool_calls
        assert not message.tool_results
