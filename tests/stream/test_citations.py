"""Citations: positions in the answer as it was sent -> positions in what was shown.

A line of ``data/citations.jsonl`` is a way through one choice's answer, as steps that
are methods of `Answer`, and the citations that come out of it: ``[url, blocks, text,
exact]``. What one points at is written as the text it must cover: that is cut out of
the joined text of its blocks, by code points and by UTF-16 units. The property test
compares with a slow count of single characters.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import TESTS

from stream_sidecar.channel.text_map import TextMap
from stream_sidecar.events import Citation
from stream_sidecar.parts import CitationPart
from stream_sidecar.stream.citations import CitationResolver
from stream_sidecar.values import abridge
from stream_sidecar.values.abridge import light, without
from stream_sidecar.values.jsontext import dumps


class Answer:
    """One choice: what was said, what of it was shown, and what is cited."""

    def __init__(self, most: int | None = None) -> None:
        self.map = TextMap(most)
        self.resolver = CitationResolver(self.map)
        self.texts: dict[int, str] = {}
        self.given: list[dict[str, Any]] = []
        self.gone: tuple[int, ...] | None = None

    def say(self, text: str, block: int = 0) -> None:
        start = self.map.length
        self.map.raw(text)
        self.map.visible(start, self.map.length, block)
        self.texts[block] = self.texts.get(block, "") + text
        self.given += self.resolver.ready()

    def blocks(self, count: int) -> None:
        for block in range(count):
            self.say("a", block)

    def hide(self, text: str) -> None:
        self.map.raw(text)

    def cite(self, url: str | None, fields: dict[str, Any], raw: Any = None) -> None:
        self.resolver.push(CitationPart("url", raw, url=url, **fields))
        self.given += self.resolver.ready()

    def end_block(self) -> None:
        self.resolver.end_block()
        self.given += self.resolver.ready()

    def close(self, *gone: int) -> None:
        self.gone = gone
        live = {block: self.texts[block] for block in self.texts if block not in gone}
        self.given += self.resolver.close(live.get)

    def pointed(self) -> list[list[Any]]:
        """``[url, blocks, text, exact]`` of all citations, in their order."""
        if self.gone is None:
            self.close()
        return [self._pointed(citation) for citation in self.given]

    def _pointed(self, citation: dict[str, Any]) -> list[Any]:
        """What it points at, which must be the same counted in UTF-16 units."""
        Citation(seq=1, choice=0, **citation)
        blocks, text = citation["blocks"], None
        if blocks is not None:
            joined = "".join(self.texts[block] for block in blocks)
            text = joined[citation["start"] : citation["end"]]
            wide = joined.encode("utf-16-le")
            cut = wide[2 * citation["start_utf16"] : 2 * citation["end_utf16"]]
            assert cut.decode("utf-16-le") == text
        return [citation["url"], blocks and list(blocks), text, citation["exact"]]


CASES = TESTS / "data" / "citations.jsonl"
ROWS = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=[row["case"] for row in ROWS])
def test_places(row: dict[str, Any]) -> None:
    answer = Answer()
    for verb, *arguments in row["steps"]:
        getattr(answer, verb)(*arguments)
    assert answer.pointed() == row["citations"]


def test_early_where_certain() -> None:
    """A span is given as soon as the text up to its end is decided, not before."""
    answer = Answer()
    answer.cite("a", {"anchor": "offsets", "start": 1, "end": 3})
    answer.say("ab")
    assert answer.given == []
    answer.say("cd")
    assert [citation["url"] for citation in answer.given] == ["a"]


def test_equal_however_deeply_nested() -> None:
    def deep() -> list[Any]:
        value: list[Any] = []
        for _ in range(5_000):
            value = [value]
        return value

    answer = Answer()
    for raw in (deep(), deep(), [deep()]):
        answer.cite("a", {}, raw)
    assert len(answer.pointed()) == 2


PIECES = st.lists(
    st.tuples(
        st.sampled_from(["a", " b", "é", "€x", "😀", "ab" * 200, "é" * 300]),
        st.sampled_from(["show", "show", "hide", "next"]),
    ),
    min_size=1,
    max_size=12,
)
UNITS = {
    "code-point": ("utf-32-le", 4),
    "byte": ("utf-8", 1),
    "utf16": ("utf-16-le", 2),
}


@given(PIECES, st.sampled_from(sorted(UNITS)), st.data())
def test_against_single_characters(
    pieces: list[tuple[str, str]], unit: str, data: st.DataObject
) -> None:
    answer, block, shown = Answer(), 0, []
    for text, way in pieces:
        block += way == "next"
        if way == "hide":
            answer.hide(text)
        else:
            first = answer.map.length
            shown += [(first + place, block) for place in range(len(text))]
            answer.say(text, block)
    raw = "".join(text for text, _ in pieces)
    start = data.draw(st.integers(0, len(raw) - 1))
    end = data.draw(st.integers(start + 1, len(raw)))
    encoding, size = UNITS[unit]
    offsets = [len(raw[:place].encode(encoding)) // size for place in (start, end)]
    place = dict(zip(("start", "end"), offsets, strict=True))
    answer.cite("a", {"anchor": "offsets", "unit": unit, **place})
    inside = [(place, of) for place, of in shown if start <= place < end]
    blocks = sorted({of for _, of in inside}) or None
    text = "".join(raw[place] for place, _ in inside) if inside else None
    assert answer.pointed() == [["a", blocks, text, True]]


# --- A map that may forget ------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("size", [1, 3, 40])
@pytest.mark.parametrize("unit", ["code-point", "byte", "utf16"])
def test_what_is_forgotten_has_no_place_and_the_rest_has_its_own(
    unit: str, size: int
) -> None:
    """With a bound a citation has the place that it has without one, or none."""
    lost = {_same_places(Random(seed), unit, size) for seed in range(20)}
    assert len(lost) > 1


def _same_places(random: Random, unit: str, size: int) -> int:
    """How many of 120 citations have lost their place."""
    all_of_it, recent = Answer(), Answer(most=3)
    for step in range(120):
        text = "".join(random.choice("ab é😀") for _ in range(random.randint(1, 400)))
        is_hidden = random.random() < 0.3
        start = random.randrange(200) if step % 2 else 190 * step
        fields = {"unit": unit, "anchor": "offsets", "start": start, "end": start + 9}
        for answer in (all_of_it, recent):
            answer.hide(text) if is_hidden else answer.say(text, step // size)
            answer.cite(f"u{step}", fields)
    for answer in (all_of_it, recent):
        answer.close()
    known = {each["url"]: each for each in all_of_it.given}
    placed = [each for each in recent.given if each["blocks"] is not None]
    for citation in placed:
        assert citation == known[citation["url"]]
    return len(recent.given) - len(placed)


def test_a_bounded_map_has_bounded_room() -> None:
    bounded = TextMap(8)
    for step in range(1000):
        start = bounded.length
        bounded.raw("é" * 300)
        bounded.visible(start + 1, start + 300, step)
    rooms = ("_segments", "_texts", "_starts", "_order", "_ranks", "_tails")
    assert max(len(getattr(bounded, name)) for name in rooms) <= 17


# --- Sources, and what of them has been told ------------------------------------------

LONG = "u" * 300


def test_a_long_address_comes_once() -> None:
    """In ``raw``, too; what is a citation's own always comes."""
    answer = Answer()
    answer.say("abc")
    raw = {"url": LONG, "in": [LONG, {"url": LONG}], "index": 1, "text": "q" * 300}
    for at in range(3):
        raw = {**raw, "index": at}
        place = {"anchor": "offsets", "start": at, "end": at + 1, "title": "t"}
        answer.cite(LONG, {**place, "cited_text": "q" * 300}, raw)
    first, *others = answer.given
    assert (first["url"], first["raw"]["in"]) == (LONG, [LONG, {"url": LONG}])
    for at, other in enumerate(others, 1):
        assert (other["url"], other["title"], other["source"]) == (None, "t", 0)
        left = {"in": [None, {}], "index": at, "text": "q" * 300}
        assert (other["raw"], other["cited_text"]) == (left, "q" * 300)


def test_equal_ones_of_a_long_address_come_once() -> None:
    answer = Answer()
    for _ in range(3):
        answer.cite(LONG, {}, [LONG])
        answer.cite(LONG, {}, LONG)
    assert [citation["raw"] for citation in answer.given] == [[LONG], None]


def test_a_short_address_comes_always() -> None:
    answer = Answer()
    for number in range(2):
        answer.cite("u" * 256, {}, number)
    assert [citation["url"] for citation in answer.given] == ["u" * 256] * 2


def test_sources_are_numbered() -> None:
    """By URL, else by the document's id, else by title, else by kind."""
    answer = Answer()
    rows: list[tuple[str | None, dict[str, Any]]] = [
        ("a", {"title": "T"}),
        ("b", {"title": "T"}),
        ("a", {"document": "1"}),
        (None, {"document": "1", "title": "T"}),
        (None, {"document": "2", "title": "T"}),
        (None, {"document": "1"}),
        (None, {"title": "T"}),
        (None, {"title": "U"}),
        (None, {}),
        (None, {"title": "T"}),
        (None, {}),
    ]
    for number, (url, fields) in enumerate(rows):
        answer.cite(url, fields, number)
    sources = [citation["source"] for citation in answer.given]
    assert sources == [0, 1, 0, 2, 3, 2, 4, 5, 6, 4, 6]


def test_a_reference_is_short() -> None:
    """Where the document has spelled out its source for another citation."""
    answer = Answer()
    fields = {"title": LONG, "cited_text": LONG}
    answer.cite("a", fields, {"text": LONG})
    answer.cite("a", {**fields, "again": True}, {"n": 1})
    _, other = answer.given
    assert (other["url"], other["title"], other["cited_text"]) == ("a", None, None)


def test_there_are_not_more_references_than_the_text_can_have() -> None:
    answer = Answer()
    answer.cite("a", {"anchor": "marker", "marker": "[1]"}, {"url": "a"})
    answer.say("[1]" * 2_000)
    answer.close()
    left_out = answer.resolver.left_out
    assert 300 < len(answer.given) < 1_000
    assert len(answer.given) + left_out == 2_000


def test_what_is_light() -> None:
    deep: Any = "x"
    for _ in range(60):
        deep = {"a": deep}
    given = {
        "n": 1,
        "s": LONG,
        LONG: 2,
        "l": [0] * 17,
        "m": [1, LONG, None, [2]],
        "o": {"t": "x"},
    }
    assert light(given) == {"n": 1, "m": [1, None, [2]], "o": {"t": "x"}}
    assert light(LONG) is None
    assert light([*range(16)]) == [*range(16)]
    assert light({"a": LONG, "o": {"t": LONG}}) == {"o": {}}
    many = {f"{n}": n for n in range(999)}
    assert light(many) == {f"{n}": n for n in range(22)}
    assert light(["x" * 20] * 16) == ["x" * 20] * 10
    assert light([[["x"] * 16] * 16] * 16) == [[["x"] * 16, ["x"] * 16, ["x"] * 15]]
    inner: Any = light(deep)
    for _ in range(28):
        inner = inner["a"]
    assert inner == {}


def test_what_is_light_is_no_more_than_a_long_text() -> None:
    values: list[Any] = [
        {"a": [[]] * 16},
        [[["x"] * 16] * 16] * 16,
        [{}] * 16,
        "x" * 252,
    ]
    for value in (*values, {"k" * 16: values}, [values] * 16):
        assert len(dumps(light(value))) <= abridge.LONG


def test_what_is_without() -> None:
    assert without({"a": "x", "b": ["x", "y"], "c": 1}, {"x"}) == {
        "b": [None, "y"],
        "c": 1,
    }
    nested: Any = ["x"]
    for _ in range(2_000):
        nested = [nested]
    assert without(nested, {"x"}) is not None
