"""The test command: its words, and that no room is left out."""

from __future__ import annotations

import pytest
from changes import changed_files
from places import ROOT
from run import (
    CLIENTS,
    CRATE,
    CUT,
    FILES,
    FIRST,
    INTERPRETERS,
    LANES,
    LEFT_OUT_FILES,
    MOVED_BY,
    PACKAGES,
    PLAIN,
    READERS,
    commands_of,
    main,
)
from run import _pytest_words as pytest_words
from run import _tests_that_read as readers_of
from shares import in_order, shares
from some_cuts import is_taken, stems_of

USUAL = ["-m", "not thorough"]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ([], []),
        (["text"], [*USUAL, "tests/text"]),
        (["text", "wires"], [*USUAL, "tests/text", "tests/wires"]),
        (["text", "-k", "unclosed"], [*USUAL, "tests/text", "-k", "unclosed"]),
        (["-k", "unclosed"], [*USUAL, "-k", "unclosed"]),
        (["tests/house/test_run.py"], ["tests/house/test_run.py"]),
        (["tests/house/test_run.py::x", "-s"], ["tests/house/test_run.py::x", "-s"]),
    ],
)
def test_words_for_pytest(words: list[str], wanted: list[str]) -> None:
    """A file that is named runs whole."""
    assert pytest_words(words) == wanted


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["txet"], "'txet' is no verb, no room and no file"),
        (["text", "nowhere.py"], "'nowhere.py' is no verb"),
        (["update", "txet"], "'txet' is no verb"),
        (["all", "text"], "`all` stands alone, without text"),
        (["durations", "text"], "`durations` stands alone, without text"),
        (["every-cut", "text"], "`every-cut` stands alone, without text"),
        (["try"], "`try` takes one file"),
        (["try", "/etc/hostname"], "`try` takes one file"),
        (["try", "tests/run.py"], "no test reads tests/run.py"),
    ],
)
def test_words_that_mean_nothing(words: list[str], complaint: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert str(ended.value.code).startswith(complaint)


@pytest.mark.parametrize(
    ("file", "wanted"),
    [
        ("tests/spec/harmony.md", ["tests/text/test_spec.py", "-k", "harmony"]),
        (
            "tests/wires/openai-chat/array-of-chunks.chunks.jsonl",
            ["tests/wires/test_wires.py", "-k", "openai-chat and array-of-chunks"],
        ),
        (
            "tests/transcripts/anthropic.jsonl",
            ["tests/protocol/test_transcripts.py", "-k", "transcripts and anthropic"],
        ),
    ],
)
def test_one_file_of_cases(file: str, wanted: list[str]) -> None:
    assert readers_of([str(ROOT / file)]) == wanted


def test_a_table_is_tried_by_the_tests_that_name_it() -> None:
    table = ROOT / "tests" / "data" / "provider_errors.jsonl"
    named = readers_of([str(table)])
    assert "tests/provider_errors/test_provider_errors.py" in named


def test_some_cases_are_cut_at_every_place() -> None:
    """Those of changed pages and modules, any input, and a tenth of the others."""
    stems = stems_of(frozenset({"sidecar/stream_sidecar/dialects/tag_trees.py"}))
    assert stems == {"tag-trees"}
    case = "tests/text/test_spec.py::test_example[tag-trees: A call]"
    assert is_taken(case, stems, "a")
    assert is_taken("tests/whole/test_properties.py::test_nothing", frozenset(), "a")
    ids = [f"tests/text/test_spec.py::test_example[harmony: {n}]" for n in range(1000)]
    for seed in "ab":
        taken = {id for id in ids if is_taken(id, stems, seed)}
        assert 60 < len(taken) < 140
        assert taken != {id for id in ids if is_taken(id, stems, seed + "c")}


def test_a_change_begins_where_the_variable_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SIDECAR_BASE", "HEAD")
    assert changed_files() is not None
    monkeypatch.setenv("SIDECAR_BASE", "no-such-commit")
    assert changed_files() is None


@pytest.mark.parametrize("lane", ["checks", "covered"])
def test_every_file_is_run_once(lane: str) -> None:
    words = [word for command in commands_of(lane).values() for word in command]
    assert sorted(word for word in words if word.startswith("tests/")) == [*FILES]


def test_two_shares_end_together() -> None:
    """The core that has the shorter parts gets the first share, which is larger. A file
    without a duration counts as the median."""
    known = {"types": 10.0, "any input": 4.0, "a": 9.0, "b": 8.0, "c": 1.0}
    first, second = shares(["types", "any input"], ["a", "b", "c", "new"], known)
    assert (first, second) == (["a", "new"], ["b", "c"])
    assert in_order(["c", "new", "types"], known) == ["types", "new", "c"]


def test_what_no_change_can_move_is_left_out() -> None:
    moved = {
        "sidecar/stream_sidecar/text/tail.py": {"coverage", "interpreters"},
        "tests/spec/harmony.md": {"coverage", "interpreters"},
        "tests/text/test_rules.py": {"coverage"},
        "tests/README.md": set(),
        "clients/rust/src/lib.rs": {"crate"},
        "clients/rust/Cargo.lock": {"crate", "packages"},
        "clients/gateway/package.json": {"packages"},
        "clients/gateway/src/bin.ts": set(),
    }
    for file, names in moved.items():
        assert {name for name in MOVED_BY if MOVED_BY[name].match(file)} == names, file
    without = commands_of("thorough", frozenset({"interpreters", "crate"}))
    assert "interpreters" not in without
    assert {*CLIENTS, *PACKAGES} < {*without["clients"]}
    assert not {*CRATE} & {*without["clients"]}
    assert {*MOVED_BY} - {*LANES["thorough"].parts} == {"coverage", *LEFT_OUT_FILES}


def test_what_is_named_is_there() -> None:
    commands = [each for lane in LANES.values() for each in lane.parts.values()]
    named = {word for command in commands for word in command if "tests/" in word}
    assert {*CLIENTS, *CRATE, *PACKAGES, *CUT, *PLAIN, INTERPRETERS} <= named
    for file in (*named, *READERS.values(), FIRST):
        assert (ROOT / file).is_file(), file
