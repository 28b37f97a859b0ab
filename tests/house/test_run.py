"""The test command: its words, and that no room is left out."""

from __future__ import annotations

import pytest
from changes import changed_files
from places import ROOT
from run import (
    ANY_INPUT,
    CHECKS,
    CLIENTS,
    COVERED,
    CUT,
    EVERY_CUT,
    FIRST,
    INTERPRETERS,
    PLAIN,
    READERS,
    ROOMS,
    THOROUGH,
    main,
)
from run import _pytest_words as pytest_words
from run import _tests_that_read as readers_of
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


def test_every_room_is_run_once() -> None:
    """But for files of one that stand for themselves."""
    for parts in (CHECKS, COVERED):
        words = [word for command in parts.values() for word in command]
        paths = sorted(word for word in words if word.startswith("tests/"))
        assert paths == sorted([*ANY_INPUT, *(f"tests/{room}" for room in ROOMS)])
        ignored = {word.partition("--ignore=")[2] for word in words} - {""}
        assert ignored == {*ANY_INPUT}


def test_what_is_named_is_there() -> None:
    commands = (*THOROUGH.values(), *EVERY_CUT.values())
    named = {word for command in commands for word in command}
    files = {word.partition("=")[2] or word for word in named if "tests/" in word}
    assert files == {*CLIENTS, *CUT, *PLAIN, INTERPRETERS}
    for file in (*files, *READERS.values(), FIRST):
        assert (ROOT / file).is_file(), file
