"""What is code in Markdown, compared with a parser of the field."""

from __future__ import annotations

import pytest
from checking import feed
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_texts import Document, document

from stream_sidecar.markdown.code import LONGEST_START, CodeState

DOCUMENTS = 1_000
PLACES = 3
"""So many places of each document are tried, each with a delimiter there alone."""

WORD = "zzz"
CLOSED = {"wire": "text", "policy": {"reasoning": {"startsOpen": "closed"}}}

LINES = st.sampled_from(
    (
        *("```\n", "```py\n", "````\n", "  ```\n", "- ```\n", "> ```\n", "``` \t\n"),
        *("~~~\n", "a``b`\n", "``", "a\n", "# a\n", "- a\n", "  b\n", "    c\n"),
        *("\n", "\n\n", "---\n", " ", "\t", "\r", "\\", "x"),
    )
)

PARSER = MarkdownIt("commonmark", {"html": False})


@pytest.mark.thorough
@pytest.mark.parametrize("ten", range(0, DOCUMENTS, 100))
def test_what_a_parser_calls_code_is_code(ten: int) -> None:
    """And nothing else, but for mentions in quotes."""
    for seed in range(ten, ten + 100):
        made = document(seed)
        kinds = made.kinds
        for number in made.generator.sample(range(len(kinds)), min(PLACES, len(kinds))):
            code = _is_code(_with(made, number, WORD))
            assert code is (kinds[number] == "code"), (seed, number)
            text = _with(made, number, "</think>")
            shown = feed(CLOSED, [text]).message.text or ""
            assert ("</think>" in shown) is (kinds[number] != "prose"), (seed, number)


@pytest.mark.parametrize("before", ["", "a\n", "- a\n\n", "> a\n", "```\n", "- ```\n"])
@pytest.mark.parametrize("blanks", [" ", "\t", "  \v", " \r"])
def test_more_blanks_than_count_change_nothing(before: str, blanks: str) -> None:
    """So what waits need not be read to its end with every slice (text rule 13.5)."""
    state, many = CodeState(), blanks * LONGEST_START
    state.feed(before)
    assert state.after(many).state() == state.after(many[:LONGEST_START]).state()


@given(st.lists(st.lists(LINES, max_size=12).map("".join), max_size=5))
def test_lines_that_are_passed_over_change_nothing(slices: list[str]) -> None:
    """In a slice those before a fence, or before a line that begins anew, are."""
    whole, single = CodeState(), CodeState()
    for each in slices:
        whole.feed(each)
    for character in "".join(slices):
        single.feed(character)
    assert whole.state() == single.state()


def _with(made: Document, number: int, given: str) -> str:
    """The document with ``given`` at one of its places, and words at the others."""
    others = ["x"] * len(made.kinds)
    others[number] = given
    return made.filled(*others)


def _is_code(text: str) -> bool:
    """Whether the parser calls the `WORD` in ``text`` code."""
    return any(map(_has_word, PARSER.parse(text)))


def _has_word(token: Token) -> bool:
    if token.type in ("fence", "code_block", "code_inline"):
        return WORD in token.content + token.info
    return any(map(_has_word, token.children or ()))
