"""The benchmark ``peers`` without what it installs and measures: its texts, its table,
its plot, and that tests/README.md shows what was measured last."""

from __future__ import annotations

import hashlib
import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from places import TESTS

# After the tests' own helpers, because some have the names of benchmarks.
sys.path.append(str(TESTS / "bench"))

from peers import rows
from peers.environments import DRIVERS
from peers.plot import draw, spread
from peers.report import (
    COLUMNS,
    PAGE,
    PLOT,
    block,
    cells,
    with_block,
)
from peers.results import FROM_EVENTS, OURS, Found, Results, stored
from peers.table import PEERS
from peers.texts import (
    ALONE,
    CALL,
    CALLED,
    CLOSER,
    COMPARED,
    CUTTINGS,
    GROWING,
    KINDS,
    MORE,
    OPENER,
    deltas,
    leaks,
    recorded,
    timed,
)

SVG = "{http://www.w3.org/2000/svg}"

DIGEST = "bb56b90aa341f7f7"
"""Of what is made up: with other texts old results would compare with nothing."""


def test_the_made_up_texts_are_the_same_everywhere() -> None:
    streams = [deltas(make(3_000)) for make in KINDS.values()]

    assert hashlib.sha256(json.dumps(streams).encode()).hexdigest()[:16] == DIGEST


def test_texts_have_their_size_and_deltas_lose_nothing() -> None:
    for make in KINDS.values():
        text = make(5_000)
        pieces = deltas(text)
        tags = [piece for piece in pieces if "think" in piece]

        assert "".join(pieces) == text
        assert 4_999 <= len(text) <= 5_000
        assert tags in ([], [OPENER, CLOSER])
        assert all(len(piece) <= 6 for piece in pieces if piece not in tags)


def test_recordings_are_one_block_and_the_answers() -> None:
    opener, *stream = recorded(5_000)
    end = stream.index(CLOSER)
    reasoning, answers = "".join(stream[:end]), "".join(stream[end:])

    assert opener == OPENER
    assert stream.count(CLOSER) == 1
    assert 5_000 <= len(reasoning + answers) <= 10_000
    assert all(stream)
    for said in ("Let me compute.", "The user wants 4."):
        assert said in reasoning
        assert said not in answers
    assert "Mexico City." in answers
    assert {name for name, streams in timed().items() if streams} == {*COMPARED, *MORE}


def test_calls_are_whole() -> None:
    for opener, *body, closer in timed()[CALL]:
        call = json.loads("".join(body))

        assert (opener, closer) == ("<tool_call>", "</tool_call>")
        assert call["name"] == CALLED
        assert len(call["arguments"]["content"]) > 1_000


def test_every_cutting_is_a_cutting() -> None:
    for leak in leaks():
        for way in CUTTINGS.values():
            assert {"".join(pieces) for pieces in way(leak.text)} == {leak.text}
    assert sum(leak.expected is not None for leak in leaks()) > 50


def test_the_table_pins_and_its_drivers_are_there() -> None:
    assert len({peer.name for peer in PEERS}) == len(PEERS)
    for peer in PEERS:
        assert peer.version in peer.pinned
        assert (DRIVERS / peer.driver.split()[0]).is_file()


def test_the_page_shows_what_was_measured() -> None:
    results = stored()
    page = PAGE.read_text(encoding="utf-8")
    shown = [(found.name, found.version) for found in results.found]
    own = [(OURS, ""), (FROM_EVENTS, "")]

    assert shown == [*own, *((peer.name, peer.version) for peer in PEERS)]
    assert all(len(cells(each, results)) == len(COLUMNS) for each in results.found)
    assert page == with_block(page, block(results))
    assert PLOT.read_text(encoding="utf-8") == draw(results)


def test_a_page_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="peers: begin"):
        with_block("# A page", "text")


def test_other_software_is_installed_only_when_it_is_named() -> None:
    found = spec_from_file_location("bench_run", DRIVERS.parent.parent / "run.py")
    assert found is not None
    assert found.loader is not None
    command = module_from_spec(found)
    found.loader.exec_module(command)

    assert "peers" in command.WHEN_NAMED
    assert not {*command.WHEN_NAMED} & {*command.BENCHES}
    with pytest.raises(SystemExit):
        command.main(["growth", "--write"])


def _results(
    *costs: dict[str, float | None], kinds: dict[str, float | None] | None = None
) -> Results:
    languages = ("Python", "JavaScript", "Rust")
    found = [
        Found(
            OURS if not at else f"peer <{at}>",
            "1",
            languages[at % 3],
            kinds=kinds or {},
            sizes=sizes,
        )
        for at, sizes in enumerate(costs)
    ]
    return Results(found, 0, {}, "")


def test_the_plot_draws_every_peer_that_has_costs() -> None:
    costs = {"10000": 2e-6, "100000": 2e-6, "1000000": 3e-6}
    results = _results(costs, costs, {**costs, "1000000": None}, {})
    picture = ElementTree.fromstring(draw(results))
    lines = picture.findall(f"{SVG}path[@class]")
    texts = [each.text for each in picture.iter(f"{SVG}text")]

    assert sum(each.get("class", "").startswith("line") for each in lines) == 3
    assert {"stream-sidecar", "peer <1>", "peer <2> (given up beyond)"} <= {*texts}
    assert "peer <3>" not in texts


def test_the_plot_shows_other_texts_beside_prose() -> None:
    kinds = dict.fromkeys(COMPARED, 2e-06)
    results = _results({"10000": 2e-6}, {"10000": 2e-6}, kinds={**kinds, ALONE: 1e-3})
    picture = ElementTree.fromstring(draw(results))
    beside = [
        each.get("d", "").count("L")
        for each in picture.findall(f"{SVG}path[@class]")
        if each.get("class", "").startswith("beside")
    ]
    texts = {each.text for each in picture.iter(f"{SVG}text")}

    assert beside == [len(COMPARED) - 1] * 2
    assert {*COMPARED} - {GROWING} <= texts
    assert ALONE not in texts


def test_the_plot_needs_something_to_show() -> None:
    with pytest.raises(ValueError, match="no peer has a cost"):
        draw(_results({}, {"10000": None}))


@pytest.mark.parametrize(
    "places", [[], [5.0], [5.0] * 7, [0.0, 1.0, 2.0, 90.0, 91.0], [0.0, 50.0, 51.0]]
)
def test_names_stand_apart_in_their_order(places: list[float]) -> None:
    moved = spread(places, 18)

    assert len(moved) == len(places)
    assert all(below - above >= 18 - 0.2 for above, below in pairwise(moved))
    assert sum(moved) == pytest.approx(sum(places), abs=1)


def test_rows_have_a_bar_against_each_python_peer() -> None:
    results = stored()
    given = list(rows(results))
    barred = [row.what for row in given if row.bar]
    in_python = [
        (found.name, kind)
        for found in results.found[2:]
        if found.language == "Python" and not found.missing
        for kind in (*COMPARED, *MORE)
        if kind in found.kinds
    ]

    assert len(barred) == len(in_python) > 0
    for (name, kind), what in zip(in_python, barred, strict=True):
        assert name in what
        assert f"{kind}, against" in what
    assert not any(FROM_EVENTS in what for what in barred)
    assert all(row.value is None or row.value > 0 for row in given)
