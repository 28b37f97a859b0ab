"""Tokens of turns, of every family and mixed: they go at both ends of an answer, and
stay in a sentence (text rules 12.1 and 12.7). The texts are made from the table.
"""

from __future__ import annotations

import json
from itertools import product

import pytest
from checking import check

from stream_sidecar.dialects.turns import TURNS, WORDS, TurnTokens


def _headers(turn: TurnTokens) -> tuple[str, ...]:
    end = turn.after_role or "\n"
    roles = ("user", "assistant") if turn.header else ()
    return (*turn.roles, *(f"{turn.header}{role}{end}" for role in roles))


HEADERS = [header for turn in TURNS.values() for header in _headers(turn)]
BEGINS = [token for turn in TURNS.values() for token in turn.begins]
ENDS = [token for turn in TURNS.values() for token in turn.ends]


def _assert_shown(text: str, visible: str) -> None:
    shown = json.dumps(visible, ensure_ascii=False)
    check({"wire": "text"}, [text], [f"0 text {shown}", "finish stop"])


@pytest.mark.parametrize("family", TURNS)
def test_they_go_at_both_ends(family: str) -> None:
    turn = TURNS[family]
    headers = _headers(turn) or ("",)
    for begin, header in product((*turn.begins, ""), headers):
        _assert_shown(f"{begin}{header}It is so.", "It is so.")
    for end, gap, header in product(turn.ends or ("",), ("", "\n"), headers):
        row = gap.join(filter(None, (end, header.rstrip())))
        _assert_shown(f"It is so.{row}", "It is so.")


def test_tokens_of_several_families_go_in_a_row() -> None:
    row = "\n".join([*ENDS, *BEGINS, *HEADERS]).rstrip()
    _assert_shown(f"It is so.{row}", "It is so.")
    _assert_shown("".join([*BEGINS, *HEADERS, "It is so."]), "It is so.")


def test_they_stay_in_a_sentence() -> None:
    for token in dict.fromkeys((*ENDS, *BEGINS, *map(str.strip, HEADERS))):
        sentence = f"A turn may have {token} in it."
        _assert_shown(sentence, sentence)


@pytest.mark.parametrize("token", WORDS)
def test_words_need_the_end_of_a_sentence(token: str) -> None:
    _assert_shown(f"It begins with {token}", f"It begins with {token}")
    _assert_shown(f"It is so. {token}", "It is so. ")
    _assert_shown(f"It is so.\n{token}\n", "It is so.\n")
