"""Citations: positions in the answer as it was sent -> positions in what was shown.

A row of the table is a way through one choice's answer and the citations that come out
of it, in their order. What a citation points at is written as the text it must cover:
the test cuts that out of the joined text of its blocks, by code points and by UTF-16
units. The property test compares with a slow count of single characters.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.citations import CitationResolver, TextMap
from sidecar.events import Citation
from sidecar.wires.parts import CitationPart


class Answer:
    """One choice: what was said, what of it was shown, and what is cited."""

    def __init__(self) -> None:
        self.map = TextMap()
        self.resolver = CitationResolver(self.map)
        self.texts: dict[int, str] = {}
        self.early: list[dict[str, Any]] = []

    def say(self, text: str, block: int = 0) -> None:
        start = self.map.length
        self.map.raw(text)
        self.map.visible(start, self.map.length, block)
        self.texts[block] = self.texts.get(block, "") + text
        self.early += self.resolver.ready()

    def hide(self, text: str) -> None:
        self.map.raw(text)

    def cite(self, url: str | None = None, **fields: Any) -> None:
        raw = fields.pop("raw", None)
        self.resolver.push(CitationPart("url", raw, url=url, **fields))
        self.early += self.resolver.ready()

    def end_block(self) -> None:
        self.resolver.end_block()
        self.early += self.resolver.ready()

    def close(self, *gone: int) -> list[dict[str, Any]]:
        live = {block: self.texts[block] for block in self.texts if block not in gone}
        return self.early + self.resolver.close(live.get)

    def pointed(self, citation: dict[str, Any]) -> tuple[Any, ...]:
        """``(url, blocks, text, exact)``, and the text once more by UTF-16 units."""
        Citation(seq=1, choice=0, **citation)
        found = citation["url"], citation["blocks"]
        if citation["blocks"] is None:
            assert citation["start"] is citation["end_utf16"] is None
            return (*found, None, citation["exact"])
        joined = "".join(self.texts[block] for block in citation["blocks"])
        text = joined[citation["start"] : citation["end"]]
        wide = joined.encode("utf-16-le")
        cut = wide[2 * citation["start_utf16"] : 2 * citation["end_utf16"]]
        assert cut.decode("utf-16-le") == text
        return (*found, text, citation["exact"])


def at(start: int | None, end: int | None = None, **fields: Any) -> dict[str, Any]:
    return {"anchor": "offsets", "start": start, "end": end, **fields}


SAY, HIDE, CITE, END, GONE = "say", "hide", "cite", "end_block", "gone"

CASES: dict[str, tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]] = {
    "offsets": (
        [(SAY, "See "), (SAY, "this."), (CITE, "a", at(4, 8))],
        [("a", (0,), "this", True)],
    ),
    "offsets before their text": (
        [(CITE, "a", at(4, 8)), (SAY, "See this.")],
        [("a", (0,), "this", True)],
    ),
    "text was removed before, inside, behind": (
        [
            (HIDE, "<think>"),
            (SAY, "See "),
            (HIDE, "<x>"),
            (SAY, "this", 0),
            (HIDE, "</x>"),
            (SAY, "", 1),
            (CITE, "a", at(9, 20)),
        ],
        [("a", (0,), "e this", True)],
    ),
    "a span that straddles removed text is clipped": (
        [(HIDE, "abc"), (SAY, "def"), (HIDE, "ghi"), (CITE, "a", at(1, 8))],
        [("a", (0,), "def", True)],
    ),
    "a span inside removed text has no place": (
        [(HIDE, "abc"), (SAY, "def"), (CITE, "a", at(0, 2))],
        [("a", None, None, True)],
    ),
    "a span in no text at all": (
        [(HIDE, "abc"), (CITE, "a", at(0, 2)), (CITE, "b", at(0))],
        [("a", None, None, True), ("b", None, None, True)],
    ),
    "a span over blocks": (
        [(SAY, "ab", 0), (SAY, "😀d", 2), (SAY, "ef", 3), (CITE, "a", at(1, 5))],
        [("a", (0, 2, 3), "b😀de", True)],
    ),
    "blocks that are gone": (
        [
            (SAY, "ab", 0),
            (SAY, "cd", 1),
            (SAY, "ef", 2),
            (HIDE, "gh"),
            (CITE, "a", at(1, 8)),
            (CITE, "b", at(3, 7)),
            (CITE, "c", at(2, 3)),
            (GONE, 0, 2),
        ],
        [
            ("c", (1,), "c", True),
            ("a", (1,), "cd", True),
            ("b", (1,), "d", True),
        ],
    ),
    "a span in a block that is gone": (
        [(SAY, "ab"), (CITE, "a", at(1, 4)), (HIDE, "cd"), (GONE, 0)],
        [("a", None, None, True)],
    ),
    "a span over too many blocks": (
        [
            *((SAY, "a", block) for block in range(257)),
            (CITE, "a", at(0, 257)),
            (CITE, "b", at(256, 257)),
        ],
        [("a", None, None, True), ("b", (256,), "a", True)],
    ),
    "UTF-8 bytes": (
        [(SAY, "É "), (SAY, "😀 "), (SAY, "thé"), (CITE, "a", at(8, 12, unit="byte"))],
        [("a", (0,), "thé", True)],
    ),
    "bytes in front of what is not ASCII": (
        [(SAY, "abc"), (SAY, "é"), (CITE, "a", at(1, 2, unit="byte"))],
        [("a", (0,), "b", True)],
    ),
    "bytes long behind it": (
        [
            (SAY, "é" + "a" * 600),
            (SAY, "b"),
            (SAY, "c"),
            (CITE, "a", at(602, 604, unit="byte")),
        ],
        [("a", (0,), "bc", True)],
    ),
    "bytes that are still to come": (
        [(SAY, "é"), (CITE, "a", at(2, 4, unit="byte")), (SAY, "éx")],
        [("a", (0,), "é", True)],
    ),
    "bytes that cut a character": (
        [(SAY, "aéb"), (CITE, "a", at(2, 3, unit="byte"))],
        [("a", (0,), "é", False)],
    ),
    "bytes with a cut end": (
        [(SAY, "aéb"), (CITE, "a", at(0, 2, unit="byte"))],
        [("a", (0,), "aé", False)],
    ),
    "UTF-16 units": (
        [(SAY, "😀 a"), (CITE, "a", at(3, 4, unit="utf16"))],
        [("a", (0,), "a", True)],
    ),
    "offsets from a base": (
        [(SAY, "éa"), (SAY, "bé"), (CITE, "a", at(1, 3, unit="byte", base=2))],
        [("a", (0,), "é", True)],
    ),
    "insertion points": (
        [
            (CITE, "start", at(0)),
            (SAY, "ab", 0),
            (SAY, "cd", 1),
            (CITE, "border", at(2)),
            (HIDE, "ef"),
            (CITE, "hidden", at(5)),
            (SAY, "gh", 1),
            (CITE, "end", at(8)),
            (CITE, "behind", at(99)),
        ],
        [
            ("start", (0,), "", True),
            ("border", (0,), "", True),
            ("hidden", None, None, True),
            ("end", (1,), "", True),
            ("behind", (1,), "", False),
        ],
    ),
    "what lies behind the end is cut off": (
        [(SAY, "abc"), (CITE, "a", at(1, 9)), (CITE, "b", at(7, 9))],
        [("a", (0,), "bc", False), ("b", None, None, True)],
    ),
    "offsets that make no sense": (
        [
            (SAY, "abc"),
            (CITE, "a", at(2, 1)),
            (CITE, "b", at(-1, 2)),
            (CITE, "c", at(None)),
        ],
        [("a", None, None, True), ("b", None, None, True), ("c", None, None, True)],
    ),
    "here": (
        [(SAY, "ab"), (CITE, "a", {"anchor": "here"}), (SAY, "cd")],
        [("a", (0,), "", True)],
    ),
    "following: until the next citation behind text": (
        [
            (SAY, "So "),
            (CITE, "a", {"anchor": "following"}),
            (CITE, "b", {"anchor": "following"}),
            (SAY, "one"),
            (SAY, " and "),
            (CITE, "c", {"anchor": "following"}),
            (SAY, "two."),
        ],
        [
            ("a", (0,), "one and ", False),
            ("b", (0,), "one and ", False),
            ("c", (0,), "two.", False),
        ],
    ),
    "following: until the wire ends its block": (
        [
            (CITE, "a", {"anchor": "following"}),
            (SAY, "one"),
            (END,),
            (SAY, "two", 1),
            (CITE, "b", {"anchor": "following"}),
            (END,),
        ],
        [("a", (0,), "one", True), ("b", None, None, True)],
    ),
    "block: all of the wire's block, text before and behind": (
        [
            (SAY, "one", 0),
            (END,),
            (SAY, "two", 1),
            (CITE, "a", {"anchor": "block", "role": "block"}),
            (SAY, " three", 1),
            (END,),
            (SAY, "four", 2),
            (CITE, "b", {"anchor": "block"}),
        ],
        [("a", (1,), "two three", True), ("b", (2,), "four", True)],
    ),
    "markers: every occurrence in the live text": (
        [
            (CITE, "a", {"anchor": "marker", "marker": "[1]"}),
            (CITE, "b", {"anchor": "marker", "marker": "[2]"}),
            (CITE, "c", {"anchor": "marker", "marker": "[12]"}),
            (SAY, "É😀[1], [12][1]", 0),
            (SAY, "[2]", 1),
            (SAY, "[", 2),
            (GONE, 1),
        ],
        [
            ("a", (0,), "[1]", True),
            ("a", (0,), "[1]", True),
            ("b", None, None, True),
            ("c", (0,), "[12]", True),
        ],
    ),
    "markers that overlap": (
        [
            (CITE, "a", {"anchor": "marker", "marker": "[["}),
            (SAY, "[[["),
        ],
        [("a", (0,), "[[", True)],
    ),
    "a marker means the last source told for it; one without a marker nothing": (
        [
            (CITE, "a", {"anchor": "marker", "marker": "[1]"}),
            (CITE, "b", {"anchor": "marker", "marker": "[1]"}),
            (CITE, "c", {"anchor": "marker"}),
            (SAY, "x[1]"),
        ],
        [("a", None, None, True), ("b", (0,), "[1]", True), ("c", None, None, True)],
    ),
    "only citations without a marker's text": (
        [(CITE, "c", {"anchor": "marker"}), (SAY, "x[1]")],
        [("c", None, None, True)],
    ),
    "without a place": (
        [(CITE, "a", {}), (SAY, "x")],
        [("a", None, None, True)],
    ),
    "equal ones once": (
        [
            (SAY, "abc"),
            (CITE, "a", at(0, 1)),
            (CITE, "a", at(0, 1)),
            (CITE, "a", at(1, 2)),
            (CITE, "a", at(1, 2, raw={"index": 2})),
        ],
        [("a", (0,), "a", True), ("a", (0,), "b", True), ("a", (0,), "b", True)],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_places(case: str) -> None:
    steps, expected = CASES[case]
    answer, gone = Answer(), ()
    for verb, *arguments in steps:
        if verb == GONE:
            gone = tuple(arguments)
        elif verb == CITE:
            answer.cite(arguments[0], **arguments[1])
        else:
            getattr(answer, verb)(*arguments)
    assert [answer.pointed(found) for found in answer.close(*gone)] == expected


def test_early_where_certain() -> None:
    """A span is given as soon as the text up to its end is decided, not before."""
    answer = Answer()
    answer.cite("a", **at(1, 3))
    answer.say("ab")
    assert answer.early == []
    answer.say("cd")
    assert [answer.pointed(found) for found in answer.early] == [
        ("a", (0,), "bc", True)
    ]


def test_equal_however_deeply_nested() -> None:
    def deep() -> list[Any]:
        value: list[Any] = []
        for _ in range(5_000):
            value = [value]
        return value

    answer = Answer()
    for raw in (deep(), deep(), [deep()]):
        answer.cite("a", raw=raw)
    assert len(answer.close()) == 2


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


@settings(derandomize=True, deadline=None, max_examples=300)
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
    answer.cite(
        "a",
        **at(
            len(raw[:start].encode(encoding)) // size,
            len(raw[:end].encode(encoding)) // size,
            unit=unit,
        ),
    )
    ((_, blocks, text, exact),) = [answer.pointed(found) for found in answer.close()]
    inside = [(place, of) for place, of in shown if start <= place < end]
    assert exact
    assert text == ("".join(raw[place] for place, _ in inside) if inside else None)
    assert list(blocks or ()) == sorted({of for _, of in inside})
