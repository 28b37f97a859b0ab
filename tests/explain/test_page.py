"""The page: nothing of it comes from the stream but its data, and these are text."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import operator
import re
from html.parser import HTMLParser
from itertools import combinations
from typing import Any

import pytest
from explaining import explained
from hostile_stream import CHUNKS, MARKUP, POISON, SIGNS
from hypothesis import given, settings
from recordings import PATHS, own
from rpc_client import ROOT
from strategies import TEXTS, recorded

from stream_sidecar.explain.explanation import OWNERS
from stream_sidecar.explain.page import document, page
from stream_sidecar.explain.rules import rules, wire_links
from stream_sidecar.wires import WIRES


class Reader(HTMLParser):
    """The elements of a page with their attributes, and the texts by element."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Any] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[Any]) -> None:
        self.elements.append((tag, attrs))

    def handle_endtag(self, tag: str) -> None:
        self.elements.append(("end", tag))

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(str(self.elements[-1:]), []).append(data)

    def handle_comment(self, data: str) -> None:
        self.elements.append(("comment", data))

    def handle_decl(self, decl: str) -> None:
        self.elements.append(("declaration", decl))

    def unknown_decl(self, data: str) -> None:
        self.elements.append(("unknown", data))

    def text(self, element: str) -> str:
        return next("".join(text) for key, text in self.texts.items() if element in key)


DATA = "application/json"
PLAIN = Reader(page(explained({"wire": "text"}, ["Hi"])))
STARTS = [each for each in PLAIN.elements if isinstance(each[1], list)]


def assert_inert(chunks: list[Any], params: Any) -> str:
    """The page of a stream has the elements and attributes of any other's, and its data
    are what was to be shown."""
    explanation = explained(params, chunks)
    text = page(explanation)
    read = Reader(text)
    assert read.elements == PLAIN.elements
    data = read.text(DATA)
    assert data.isascii()
    assert not set(data) & set("<>&\n")
    assert not re.search("[^\n -~↵⇥·◀▶]", text)
    shown = json.loads(data)
    assert json.dumps(shown) == json.dumps(document(explanation))
    rest = text.replace(data, "")
    assert rest == page(explained({"wire": "text"}, ["Hi"])).replace(
        PLAIN.text(DATA), ""
    )
    return data


def test_a_hostile_stream() -> None:
    data = assert_inert(CHUNKS, {})
    assert (
        json.dumps(POISON)[1:-1].translate(
            {60: "\\u003c", 62: "\\u003e", 38: "\\u0026"}
        )
        in data
    )
    texts = json.dumps(json.loads(data), ensure_ascii=False)
    assert json.dumps(MARKUP)[1:-1] in texts
    assert all(sign in texts for sign in SIGNS if sign.isprintable())


@settings(max_examples=60)
@given(TEXTS)
def test_any_text(text: str) -> None:
    assert_inert([text], {"wire": "text"})


@settings(max_examples=60)
@given(recorded())
def test_any_recording(stream: Any) -> None:
    params, chunks = stream
    assert_inert(chunks, params)


def test_script_and_style_are_those_of_the_policy() -> None:
    """By hash: whoever changes one of them in the page makes it useless, not unsafe."""
    [policy] = [
        dict(attributes)["content"]
        for tag, attributes in STARTS
        if tag == "meta" and ("http-equiv", "Content-Security-Policy") in attributes
    ]
    script, style = PLAIN.text("('script', [])"), PLAIN.text("('style', [])")
    hashes = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (script, style)
    ]
    assert policy.split("; ") == [
        "default-src 'none'",
        f"script-src 'sha256-{hashes[0]}'",
        f"style-src 'sha256-{hashes[1]}'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|eval", script
    )


def test_nothing_comes_from_elsewhere() -> None:
    asks = {"src", "href", "srcset", "action", "data", "poster", "background", "style"}
    names = {name for _, attributes in STARTS for name, _ in attributes}
    assert not names & asks
    assert not {name for name in names if name.startswith("on")}
    assert not re.search(r"url\(|@import", PLAIN.text("('style', [])"))


def test_the_policy_stands_before_what_it_allows() -> None:
    tags = [tag for tag, _ in STARTS]
    assert tags.index("meta") < tags.index("style") < tags.index("script")


def test_every_owner_has_a_colour() -> None:
    style = PLAIN.text("('style', [])")
    for owner in (*OWNERS, "held"):
        assert re.search(rf"--{owner}: light-dark\(#\w+, #\w+\);", style)
        assert f".{owner} {{ background: var(--{owner});" in style


SEEN = {
    "all colours": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red": (
        *((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216)),
        (-0.003882, -0.048116, 1.051998),
    ),
    "no green": (
        *((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413)),
        (-0.011820, 0.042940, 0.968881),
    ),
    "no blue": (
        *((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602)),
        (0.004733, 0.691367, 0.303900),
    ),
}
"""Who sees which colours -> linear RGB as they see it (Machado and others, 2009)."""

XYZ = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
WHITE = (0.95047, 1.0, 1.08883)
"""Linear RGB to XYZ, and the white of D65 in it (IEC 61966-2-1)."""

BAR = 11
"""A distance in CIE Lab: some 2 can just be seen, this is seen at a glance."""


def times(matrix: Any, vector: Any) -> list[float]:
    return [sum(map(operator.mul, row, vector)) for row in matrix]


def lab(colour: str, seen: Any) -> tuple[float, float, float]:
    """A colour in CIE Lab, in which a distance is how different two look."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts
    ]
    rgb = [min(1, max(0, each)) for each in times(seen, linear)]
    ratios = map(operator.truediv, times(XYZ, rgb), WHITE)
    x, y, z = (
        t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116 for t in ratios
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("seen", SEEN.values(), ids=SEEN)
@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_fills_can_be_reported_apart(seen: Any, scheme: int) -> None:
    """Also by who is colour-blind."""
    style = PLAIN.text("('style', [])")
    fills = {
        owner: lab(match[scheme + 1], seen)
        for owner in (*OWNERS, "held")
        if (match := re.search(rf"--{owner}: light-dark\((#\w+), (#\w+)\)", style))
    }
    assert len(fills) == len(OWNERS) + 1
    distances = {
        pair: math.dist(fills[pair[0]], fills[pair[1]])
        for pair in combinations(fills, 2)
    }
    assert {pair: each for pair, each in distances.items() if each < BAR} == {}


def test_every_wire_has_a_heading() -> None:
    """test_pages.py follows links in pages; these are made."""
    page = (ROOT / "sidecar" / "stream_sidecar" / "wires" / "README.md").read_text(
        encoding="utf-8"
    )
    headings = re.findall("^## (.*)$", page, re.MULTILINE)
    titles = {name: row.title for name, row in WIRES.items() if name != "text"}
    assert {*titles.values()} <= {*headings}
    assert wire_links().keys() == titles.keys()
    assert all(link.split("#")[0].endswith(".md") for link in wire_links().values())


def test_rules_are_read_from_their_page() -> None:
    """With a link to the heading, and without examples and marks of links."""
    rule = rules()["8.6"]
    assert rule.title == "8.6 Reasoning in several fields is reported once"
    assert rule.link.endswith(
        "sidecar/stream_sidecar/text/README.md#86-reasoning-in-several-fields-is-reported-once"
    )
    assert rule.text.startswith("Some providers say the same in `reasoning`")
    assert rules()["6"].title == "6 White space"
    assert not any(
        mark in each.text for each in rules().values() for mark in ("](", "~~~~")
    )


@pytest.mark.parametrize("path", PATHS[::9], ids=lambda path: path.stem)
def test_recordings(path: Any) -> None:
    each = own(path)
    assert_inert(each.chunks, each.params)
