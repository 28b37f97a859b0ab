"""A token alone is no form: what opens one, in prose, is text to its last character.

Every opener that no other text has is put alone and into sentences, in which nothing
stands that its grammar could read (text rule 2.1).
"""

from __future__ import annotations

from typing import Any

import pytest
from checking import feed

from stream_sidecar.dialects import DIALECTS

ENDS = {
    opener
    for dialect in DIALECTS.values()
    for form in dialect.forms
    for opener in form.openers
    if form.place == "end"
}
"""What may also end a turn, and goes at the end of a text."""

OPENERS = sorted(
    {
        (name, opener)
        for name, dialect in DIALECTS.items()
        for form in dialect.forms
        for opener in form.openers
        if form.about == "calls" and not form.vague and opener not in ENDS
    }
)

SENTENCES = (
    "{}",
    "{} is a token.",
    "Use {} here. More.",
    "A model writes {} first. Then the name.",
    "It is called {}",
    "Then comes {} first",
    "Of the tokens, {}: the first.\n\nMore of it.",
    "{}, and nothing else\n",
)


@pytest.mark.thorough
@pytest.mark.parametrize("sentence", SENTENCES)
def test_it_stays(sentence: str) -> None:
    """Whether or not the family is named, and whether or not tools are declared."""
    wrong = [
        (name, text, lines)
        for name, opener in OPENERS
        for params in _params(name)
        if (lines := _changed(params, text := sentence.format(opener)))
    ]
    assert not wrong


def _params(name: str) -> list[dict[str, Any]]:
    named = {"policy": {"dialects": [name]}}
    return [
        {"wire": "text"},
        {"wire": "text", **named},
        {"wire": "text", **named, "tools": [{"name": "first"}]},
    ]


def _changed(params: dict[str, Any], text: str) -> list[str]:
    """What came of it where it did not stay."""
    message = (fed := feed(params, [text])).message
    found = (message.reasoning, message.tool_calls, message.tool_results)
    return [] if message.text == text and not any(found) else fed.lines
