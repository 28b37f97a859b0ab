"""Every character of an input has one owner, and together they are the input.

What the input is says the wire alone: its parts, joined by choice and field, without
the engine. Every case of the pages and every recording is explained, whole and cut.
``owners.txt`` has the owners of each rule's example, with the rule that decided.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from cutting import at_random, cuttings
from explaining import explained
from goldens import assert_golden
from hypothesis import assume, given, settings
from open_params import options_of
from recordings import PATHS, Recording, own
from spec_pages import PAGES, RULES, cases_of
from strategies import DOCUMENTS, SEEDS, TEXT_STREAMS, recorded

from stream_sidecar.events import Diagnostic
from stream_sidecar.explain.explanation import OWNERS, Explanation, Lane
from stream_sidecar.explain.placing import Owned, StepEvent, place
from stream_sidecar.explain.reasons import UNREPORTED
from stream_sidecar.explain.received import ReceivedTexts
from stream_sidecar.explain.rules import rules
from stream_sidecar.explain.stored import explain_file
from stream_sidecar.explain.summary import answer, sentences, summary
from stream_sidecar.options import ReasoningPolicy, StreamOptions
from stream_sidecar.parts import ReasoningPart, RefusalPart, TextPart
from stream_sidecar.stream.intake import Intake
from stream_sidecar.values.surrogates import SurrogateJoiner, has_half

GOLDEN = Path(__file__).with_name("owners.txt")
CASES = [
    (page.name, case)
    for page in PAGES
    for case in cases_of(page.read_text(encoding="utf-8"))
]


def said(params: Any, chunks: list[Any]) -> dict[tuple[int, str], str]:
    """What the wire reads: its texts by choice and field."""
    intake = Intake(options_of(params))
    lists = [parts for chunk in chunks for parts in intake.push(chunk)]
    lists += [*intake.close(), intake.end()]
    texts: dict[tuple[int, str], str] = {}
    for part in (part for parts in lists for part in parts):
        if isinstance(part, TextPart | RefusalPart | ReasoningPart) and part.text:
            key = part.choice, getattr(part, "field", "text")
            texts[key] = texts.get(key, "") + part.text
    return texts


def healed(text: str) -> str:
    joiner = SurrogateJoiner()
    return joiner.push(text) + joiner.close()


def check(params: Any, chunks: list[Any], close: Any = None) -> Explanation:
    """Asserts what holds for every stream, and gives its explanation."""
    explanation = explained(params, chunks, close)
    texts = [lane for lane in explanation.lanes if not lane.is_part]
    found = {(lane.choice, lane.title.split(": ")[-1]): joined(lane) for lane in texts}
    wanted = said(params, chunks)
    halves = {key for key, text in wanted.items() if has_half(text)}
    for key, text in wanted.items():
        mine = found.pop(key)
        assert mine == healed(text) or (
            key in halves and _WHOLE.sub("", mine) == _WHOLE.sub("", healed(text))
        )
    assert not any(found.values())
    for lane in explanation.lanes:
        assert_sound(lane, explanation)
    assert_same_characters(explanation)
    return explanation


_WHOLE = re.compile("[\ufffd\U00010000-\U0010ffff]")
"""What halves of characters become: one character, or two where a call is between."""


def joined(lane: Lane) -> str:
    return "".join(piece.text for piece in lane.pieces)


def assert_sound(lane: Lane, explanation: Explanation) -> None:
    """Pieces come in their order, and what is said of them came when it is said."""
    seqs = [{0, *(each.seq for each in step.events)} for step in explanation.steps]
    steps = [piece.step for piece in lane.pieces]
    assert steps == sorted(steps)
    for piece in lane.pieces:
        assert piece.fates
        assert piece.text or lane.is_part
        times = [piece.step, *(fate.step for fate in piece.fates)]
        assert times == sorted(times)
        for fate in piece.fates:
            assert fate.owner in OWNERS
            assert (fate.owner, fate.reason) != UNREPORTED
            assert fate.reason.rule in ("", *rules())
            assert fate.seq in seqs[fate.step]


def assert_same_characters(explanation: Explanation) -> None:
    """The answer's and the reasoning's characters are those of the message."""
    first = explanation.message
    for message in first.choices or (first,):
        pieces = [
            piece
            for lane in explanation.lanes
            if lane.choice == message.choice
            for piece in lane.pieces
        ]
        for owner, text in (("answer", message.text), ("reasoning", message.reasoning)):
            mine = [piece.text for piece in pieces if piece.owner == owner]
            assert text is not None
            assert Counter("".join(mine)) == Counter(text), owner


# --- Everything that is known ---------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("page", sorted({name for name, _ in CASES}))
def test_cases(page: str) -> None:
    """Whole, and cut where text can be."""
    for name, case in CASES:
        if name == page:
            whole = check(case.params, case.chunks, case.close)
            texts = all(isinstance(chunk, str) for chunk in case.chunks)
            if texts and case.params.get("framing") != "json":
                for cut in few(list(cuttings("".join(case.chunks)))):
                    again = check(case.params, cut, case.close)
                    assert owners(again) == owners(whole), cut


def few(cuts: list[Any]) -> list[Any]:
    """By character, at random, and some of those at one place."""
    return [*cuts[:3], *cuts[3 :: len(cuts) // 8 + 1]]


def test_recordings(subtests: pytest.Subtests) -> None:
    for path in PATHS:
        with subtests.test(path.stem):
            _assert_cut_alike(own(path))


def _assert_cut_alike(each: Recording) -> None:
    whole = check(each.params, each.chunks, each.close)
    if all(isinstance(chunk, dict) for chunk in each.chunks):
        body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in each.chunks)
        wire = {**each.params, "framing": "sse"}
        for cut in ([body], at_random(body, 1, 40)):
            assert owners(check(wire, cut, each.close)) == owners(whole)


def owners(explanation: Explanation) -> list[Any]:
    """The texts with their owners and rules, however they came."""
    return [(lane.title, runs(lane)) for lane in explanation.lanes if not lane.is_part]


def runs(lane: Lane) -> list[tuple[str, str, str]]:
    """Owner, rule and text of neighbours that have both in common."""

    def key(piece: Any) -> tuple[str, str]:
        return piece.owner, piece.fates[-1].reason.rule

    found = groupby(lane.pieces, key=key)
    return [(*whose, "".join(p.text for p in pieces)) for whose, pieces in found]


# --- Whatever comes -------------------------------------------------------------------


@pytest.mark.thorough
@settings(max_examples=300)
@given(TEXT_STREAMS, SEEDS)
def test_any_text(stream: Any, seed: int) -> None:
    params, text = stream
    whole = check(params, [text])
    assert owners(check(params, at_random(text, seed))) == owners(whole)


@pytest.mark.thorough
@settings(max_examples=300)
@given(DOCUMENTS)
def test_any_documents(documents: list[Any]) -> None:
    assume(not has_half(json.dumps(documents, ensure_ascii=False)))
    check({"wire": "openai-chat"}, documents)


@pytest.mark.thorough
@settings(max_examples=200)
@given(recorded())
def test_recordings_that_were_spoiled(stream: Any) -> None:
    params, chunks = stream
    assume(not has_half(json.dumps(chunks, ensure_ascii=False)))
    check(params, chunks)


# --- Owners and reasons ---------------------------------------------------------------


@pytest.mark.golden
def test_the_owners_of_each_rule_s_example() -> None:
    lines = []
    for case in cases_of(RULES.read_text(encoding="utf-8")):
        lines.append(f"# {case.name}")
        for lane in explained(case.params, case.chunks, case.close).lanes:
            lines.append(f"{'part' if lane.is_part else 'text'} {lane.title}")
            lines += (
                f"  {owner:<9} {rule:<5} {json.dumps(text, ensure_ascii=False)}"
                for owner, rule, text in runs(lane)
            )
    assert_golden(GOLDEN, "\n".join([*lines, ""]))


def test_text_without_an_event_is_reported() -> None:
    """None ever did; a gap would be shown, and two claims give nothing twice."""
    span, code = (2, 4), ("malformed-tool-text", "info", "odd")
    claims = [Diagnostic(n, 0, *code, "cd", span) for n in (1, 2)]
    happened = [StepEvent(0, claim) for claim in claims]
    received = ReceivedTexts()
    received.text(0, "abcdef")
    placed = place(happened, received.texts(), ReasoningPolicy(), opens=False)[0, False]
    assert [(each.start, each.end) for each in placed] == [(0, 2), (2, 4), (4, 6)]
    assert (placed[0].fates[0].owner, placed[0].fates[0].reason) == UNREPORTED
    assert isinstance(placed[1], Owned)


HALF = "\ud83d"


@pytest.mark.parametrize("field", ["content", "reasoning_content"])
@pytest.mark.parametrize("rest", [[], ["\ude00 b"]])
@pytest.mark.parametrize("first", ["", "a"])
def test_half_a_character_stands_where_it_is_whole(
    field: str, rest: list[str], first: str
) -> None:
    """Or at the end, as what becomes of it; where it is all there is of the native
    reasoning, nothing does (text rule 1.3)."""
    deltas = [{field: first + HALF}, *({field: text} for text in rest)]
    chunks = [{"choices": [{"delta": delta}]} for delta in deltas]
    found = {
        lane.title: joined(lane)
        for lane in explained({"wire": "openai-chat"}, chunks).lanes
    }
    name = "text" if field == "content" else field
    lost = not rest and not first and field != "content"
    assert found[name] == ("" if lost else healed("".join([first, HALF, *rest])))


def test_who_does_not_ask_pays_nothing() -> None:
    """A listener is for explaining: no other stream has one."""
    from stream_sidecar.stream.stream import Stream

    stream = Stream(options_of({"wire": "text"}))
    assert stream._outlet.listener is None


SENTENCES = {
    "nothing": (["Hi"], "Nothing was taken out of the answer."),
    "one": (["Hi</s>\n"], "4 characters of tags were taken out of the answer."),
    "some": (
        ["<think>", "why</think>", "Hi"],
        "3 characters of reasoning and 15 of tags were taken out of the answer.",
    ),
}


@pytest.mark.parametrize(("chunks", "sentence"), SENTENCES.values(), ids=SENTENCES)
def test_what_happened_is_one_sentence(chunks: list[str], sentence: str) -> None:
    assert summary(explained({"wire": "text"}, chunks)) == sentence


def test_what_happened_beside_the_answer() -> None:
    def call(index: int) -> dict[str, Any]:
        function = {"name": "f", "arguments": "{}"}
        return {"index": index, "id": f"c{index}", "function": function}

    chunks = [
        {"choices": [{"delta": {"reasoning_content": "x" * 1500}}]},
        {"choices": [{"delta": {"content": "a "}}]},
        {"choices": [{"delta": {"tool_calls": [call(0), call(1)]}}]},
        {"error": {"message": "overloaded"}},
    ]
    said = summary(explained({"wire": "openai-chat"}, chunks))
    assert said == (
        "The answer is cut off by an error of the provider (overloaded); "
        "nothing was taken out of the answer; 1,500 characters of reasoning came in a "
        "field of its own; 2 calls; 1 error of the provider."
    )


def test_what_was_dropped_is_named_by_why() -> None:
    """With the numbers of the legend; reasoning that says something else is no
    repetition."""
    chunks = [
        {"choices": [{"delta": {"reasoning_content": "because"}}]},
        {"choices": [{"delta": {"content": "<think>why</think>\n\nHi"}}]},
    ]
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    explanation = explained({"wire": "openai-chat"}, [body, "data: undefined\n\n"])
    assert summary(explanation) == (
        "15 characters of tags, 3 of reasoning beside the provider's own and 2 of "
        "white space were taken out of the answer; 7 characters of reasoning came in a "
        "field of its own; 1 chunk was not JSON (9 characters)."
    )
    [lane] = [lane for lane in explanation.lanes if lane.is_part]
    assert lane.title == "dropped: provider's text that is not JSON"
    dropped = [
        piece
        for lane in explanation.lanes
        for piece in lane.pieces
        if piece.owner == "dropped"
    ]
    assert sum(len(piece.text) for piece in dropped) == 3 + 2 + 9
    words = "reasoning in tags: only the provider's own field for it counts"
    assert dropped[0].fates[-1].reason.words == words


def test_there_is_a_sentence_for_every_step() -> None:
    """The last one is that of the whole stream; text that is reasoning after all moves
    from one count to another."""
    chunks = ["I weigh both.\n", "</think>\n\n", "Take the first.<|im_end|>", " So"]
    explanation = explained({"wire": "text"}, chunks)
    said = [*sentences(explanation)]
    stray = "8 characters of tags and 1 of white space were taken out"
    taken = "14 characters of reasoning, 8 of tags and 2 of white space were taken out"
    assert said == [
        (0, "Nothing was taken out of the answer.", ""),
        (1, f"{stray} of the answer.", ""),
        (2, f"{taken} of the answer.", ""),
        (3, f"{taken} of the answer.", "10 characters of stop tokens stay in it."),
    ]
    assert " ".join(said[-1][1:]).replace(". 10", "; 10") == summary(explanation)


def test_the_answer_of_all_choices_is_what_is_left() -> None:
    chunks = [
        {"choices": [{"index": n, "delta": {"content": f"<think>hm</think>{n}"}}]}
        for n in (0, 1)
    ]
    assert answer(explained({"wire": "openai-chat"}, chunks)) == "0\n\n1"


def test_a_stored_session_is_only_looked_at() -> None:
    """Each message is one step, and the sentence says that the file is as it was."""
    texts = ("<think>why</think>Because.", "Clean.")
    messages = [{"role": "assistant", "content": text} for text in texts]
    data = "".join(f"{json.dumps(each)}\n" for each in messages).encode()
    explanation = explain_file("session.jsonl", data, StreamOptions())
    assert summary(explanation) == (
        "3 characters of reasoning and 15 of tags can be taken out of the answers; "
        "the file was not changed."
    )
    assert [step.chunk for step in explanation.steps] == list(texts)
    clean = explain_file("session.jsonl", data.splitlines()[1], StreamOptions())
    assert (
        summary(clean) == "Nothing leaked into the answers; the file was not changed."
    )
