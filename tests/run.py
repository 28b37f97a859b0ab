"""Runs the checks of the project, in an environment of its own: the test command.

``python3 tests/run.py``
    The checks of a day's work: ruff, mypy and the tests, inputs cut at few places.
``python3 tests/run.py all``
    These, with the coverage of the core, and all that takes long or a toolchain: cases
    cut at every place, the clients in other languages, binaries, and what matters
    without orjson.
``python3 tests/run.py every-cut``
    The checks with coverage, each case cut at every place, not only a tenth of them and
    those of a change, all Pythons of the machine compared, the clients and what is
    built of them, whatever changed.
``python3 tests/run.py durations``
    Runs the checks and what `all` adds, and records in ``durations.json`` how much
    processor time each file takes, by which the tests are divided into two shares.
``python3 tests/run.py windows [ROOM ...]``
    The rooms under Windows' own CPython, as far as Wine is a Windows (`windows`).
``python3 tests/run.py sdks [SET ...]``
    The room ``sdks`` with the newest and with older SDKs, and with frameworks above
    them, each in an environment of its own (`sdk_versions`).
``python3 tests/run.py try FILE``
    One page or file of cases, by the tests that read it: seconds.
``python3 tests/run.py ROOM ...``
    The tests of a room (``text``, ``wires``, ``house`` ...), or those of a file. An
    option and everything after it are pytest's: ``text -k unclosed``.
``python3 tests/run.py update [ROOM ...]``
    Writes goldens, schema and the clients' generated files anew, to be read as a diff.
"""

from __future__ import annotations

import re
import sys
import time
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

import sdk_versions
import shares
import windows
from beside import Commands, run, run_beside
from changes import changed_files
from environment import ROOT, ensure

TESTS = ROOT / "tests"
VERBS = ("all", "durations", "every-cut", "sdks", "try", "update", "windows")
_PATHS = (*TESTS.glob("*/test_*.py"),)
ROOMS = sorted({path.parent.name for path in _PATHS})

_TESTS = ("-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-p", "tests.progress")
_COVERED = ("-m", "coverage", "run", "--parallel-mode")
_USUAL = ("-m", "not thorough")
"""Without what `all` alone runs (pyproject.toml, "markers")."""

CUT = (
    "tests/text/test_spec.py",
    "tests/dialects/test_dialects.py",
    "tests/wires/test_wires.py",
    "tests/whole/test_properties.py",
)
"""What tries the engine at every cut, or with more examples."""

CLIENTS = (
    "tests/house/test_client_typescript.py",
    "tests/house/test_client_rust.py",
    "tests/house/test_client_vscode.py",
    "tests/sdks/test_javascript.py",
)
"""Tests that need another toolchain. They run one after the other, because each builds
the same packages anew."""

CRATE = ("tests/house/test_crate.py",)
"""What only a change of the Rust client can move."""

PACKAGES = (
    "tests/house/test_binary.py",
    "tests/house/test_installed.py",
    "tests/house/test_release.py",
)
"""What is built for others, in empty projects."""

PLAIN = (
    "tests/values/test_jsontext.py",
    "tests/wires/test_wires.py",
    "tests/protocol/test_protocol.py",
)
"""What is run again on the standard library's JSON."""

INTERPRETERS = "tests/interpreters.py"
"""Compares what every CPython of the machine makes of all inputs."""

LINT: Commands = {
    "ruff check": ("-m", "ruff", "check", "."),
    "ruff format": ("-m", "ruff", "format", "--check", "."),
}

ANY_INPUT = (
    "tests/whole/test_fuzz.py",
    "tests/whole/test_linear.py",
    "tests/whole/test_properties.py",
    "tests/whole/test_pumps.py",
)
"""What reads any input; coverage needs none of it."""

FILES = tuple(sorted(f"tests/{path.parent.name}/{path.name}" for path in _PATHS))
THOROUGH_FILES = tuple(
    file
    for file in FILES
    if file not in (*CLIENTS, *CRATE, *PACKAGES)
    and "mark.thorough" in (ROOT / file).read_text("utf-8")
)


class Lane(NamedTuple):
    """Commands that run two at a time: ``parts``, and ``tests`` with ``files``, which
    `commands_of` divides into two shares."""

    parts: Commands
    tests: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


_TYPES: Commands = {"types": ("-m", "mypy")}
_INTERPRETERS: Commands = {"interpreters": (INTERPRETERS,)}

LANES: dict[str, Lane] = {
    "checks": Lane(_TYPES, tests=(*_TESTS, *_USUAL), files=FILES),
    "covered": Lane(
        {"any input": (*_TESTS, *_USUAL, *ANY_INPUT), **_TYPES},
        tests=(*_COVERED, *_TESTS, *_USUAL),
        files=tuple(file for file in FILES if file not in ANY_INPUT),
    ),
    "thorough": Lane(
        {
            "clients": (*_TESTS, "-m", "thorough", *CLIENTS, *CRATE, *PACKAGES),
            "some cuts": (*_TESTS, "-p", "tests.support.some_cuts", *CUT),
            "without orjson": (*_TESTS, "-p", "tests.support.without_orjson", *PLAIN),
            **_INTERPRETERS,
        },
        tests=(*_TESTS, "-m", "thorough"),
        files=THOROUGH_FILES,
    ),
    "every cut": Lane(
        {
            "every cut": (*_TESTS, "-p", "tests.support.every_cut", *CUT),
            "clients": (*_TESTS, "-m", "thorough", *CLIENTS, *CRATE, *PACKAGES),
            **_INTERPRETERS,
        }
    ),
}

RECORDED = {"covered": "checks", "every cut": "thorough"}
"""A lane -> the one whose recorded durations divide it, where they are not its own."""

MOVED_BY = {
    "coverage": re.compile(
        r"sidecar/.*\.(py|csv)|tests/(?!agents/|bench/|README)|pyproject\.toml"
    ),
    "interpreters": re.compile(r"sidecar/.*\.(py|csv)|tests/(spec|wires|support)/"),
    "crate": re.compile(r"clients/rust/|tests/house/test_crate\.py"),
    "packages": re.compile(
        r"clients/(bundle/|.*\.(json|mjs)$|rust/Cargo\.)|pyproject\.toml|LICENSE"
        r"|sidecar/.*(?<!\.py)$|tests/(house/test_(binary|installed|release)|installed)"
    ),
}
"""Matches the files that may change what it gives; without them `all` leaves it out."""

LEFT_OUT_FILES = {"crate": CRATE, "packages": PACKAGES}
"""What stands for files of tests in `MOVED_BY`; all else there names a part."""

FIRST = "tests/protocol/test_announced.py"
"""Its golden is a module, which the process that writes the others loads."""

GENERATED = ("tests/support/generated.py",)

READERS = {
    "tests/spec/*.md": "tests/text/test_spec.py",
    "sidecar/stream_sidecar/text/README.md": "tests/text/test_spec.py",
    "tests/wires/*/*.jsonl": "tests/wires/test_wires.py",
    "tests/transcripts/*.jsonl": "tests/protocol/test_transcripts.py",
}
"""Which test reads a file of cases, where the test has one case or more for each file.
A file in ``tests/data`` is read by the tests that name it."""


def main(words: list[str]) -> int:
    if {"-h", "--help"} & {*words[:1]}:
        print(__doc__)
        return 0
    verb, named = (words[0], words[1:]) if {*words[:1]} & {*VERBS} else ("", words)
    if verb == "windows":
        return windows.main(named)
    if verb == "sdks":
        return sdk_versions.main(named)
    if verb in RUNS and verb and named:
        sys.exit(f"`{verb}` stands alone, without {' '.join(named)}")
    wanted = _tests_that_read(named) if verb == "try" else _pytest_words(named)
    python = ensure("test", "lint", "sdks", "standards")
    if verb == "update":
        return _update(python, wanted)
    if wanted:
        return run(python, "-m", "pytest", *wanted)
    begun = time.monotonic()
    failed = RUNS[verb](python)
    return _print_outcome(failed, (time.monotonic() - begun) / 60)


def _pytest_words(words: list[str]) -> list[str]:
    """Rooms and files as pytest takes them, and its options."""
    named = [*takewhile(lambda word: not word.startswith("-"), words)]
    unknown = [word for word in named if word not in ROOMS and not _is_file(word)]
    if unknown:
        sys.exit(
            f"{unknown[0]!r} is no verb, no room and no file of tests\n"
            f"verbs: {' '.join(VERBS)}\nrooms: {' '.join(ROOMS)}"
        )
    usual = _USUAL if words and {*named} <= {*ROOMS} else ()
    paths = [f"tests/{word}" if word in ROOMS else word for word in named]
    return [*usual, *paths, *words[len(named) :]]


def _tests_that_read(words: list[str]) -> list[str]:
    """The tests of one file of cases, as pytest takes them."""
    path = Path(words[0]).resolve() if len(words) == 1 else ROOT
    if not path.is_file() or not path.is_relative_to(ROOT):
        sys.exit("`try` takes one file of cases that is in this repository")
    inside = path.relative_to(ROOT)
    for pattern, test in READERS.items():
        if inside.match(pattern):
            return [test, "-k", _case_of(path)]
    tests = TESTS.glob("*/test_*.py") if path.parent == TESTS / "data" else ()
    named = [each for each in tests if path.name in each.read_text(encoding="utf-8")]
    if not named:
        sys.exit(f"no test reads {inside}; {', '.join(READERS)} are read")
    return sorted(str(each.relative_to(ROOT)) for each in named)


def _case_of(path: Path) -> str:
    """What the names of the file's tests contain: those of a recording have its folder,
    those of a page its name."""
    stem = path.name.partition(".")[0]
    return stem if path.suffix == ".md" else f"{path.parent.name} and {stem}"


def _is_file(word: str) -> bool:
    return (ROOT / word.partition("::")[0]).exists()


def commands_of(name: str, without: frozenset[str] = frozenset()) -> Commands:
    """The commands of a lane, the longest first, then its two shares. ``without``: what
    is left out, by its name in `MOVED_BY`."""
    lane = LANES[name]
    known = _with_parts(lane, shares.recorded(RECORDED.get(name, name)))
    files = {file for each in without for file in LEFT_OUT_FILES.get(each, ())}
    parts = [part for part in lane.parts if part not in without]
    commands = {
        part: tuple(word for word in lane.parts[part] if word not in files)
        for part in shares.in_order(parts, known)
    }
    if lane.files:
        first, second = shares.shares(parts, lane.files, known)
        commands["first share"] = (*lane.tests, *sorted(first))
        commands["second share"] = (*lane.tests, *sorted(second))
    return commands


def _with_parts(lane: Lane, known: shares.Durations) -> shares.Durations:
    """The durations with those of parts that are not recorded: a part takes as long as
    its files of tests."""
    files = {
        part: [known[word] for word in words if word in known]
        for part, words in lane.parts.items()
    }
    return {part: sum(each) for part, each in files.items() if each} | known


def _checks(python: Path, lane: str = "checks") -> list[str]:
    """What failed."""
    failed = [name for name, command in LINT.items() if run(python, *command)]
    return failed + run_beside(python, commands_of(lane))


def _covered(python: Path) -> list[str]:
    run(python, "-m", "coverage", "erase")
    failed = _checks(python, "covered")
    run(python, "-m", "coverage", "combine", "--quiet")
    return failed + (["coverage"] if run(python, "-m", "coverage", "report") else [])


def _all(python: Path) -> list[str]:
    without = _left_out()
    failed = _checks(python) if "coverage" in without else _covered(python)
    return failed + run_beside(python, commands_of("thorough", without))


def _left_out() -> frozenset[str]:
    """What no changed file may change, by its name in `MOVED_BY`; says so."""
    files = changed_files()
    if files is None:
        return frozenset()
    left_out = [name for name in MOVED_BY if not any(map(MOVED_BY[name].match, files))]
    for name in left_out:
        print(f"{name}: left out, no file of it changed; `every-cut` runs it")
    return frozenset(left_out)


def _every_cut(python: Path) -> list[str]:
    return _covered(python) + run_beside(python, commands_of("every cut"))


def _durations(python: Path) -> list[str]:
    """Runs the lanes of `all` and records how long each part and file took, if nothing
    failed."""
    failed = []
    for name in [name for name in LANES if name not in RECORDED]:
        lane, seconds = LANES[name], dict[str, float]()
        failed += run_beside(python, commands_of(name), seconds)
        if not failed:
            known = {*lane.parts, *FILES}  # a share is no part: it changes
            shares.record(name, {part: seconds[part] for part in known & {*seconds}})
    return failed


RUNS = {"": _checks, "all": _all, "every-cut": _every_cut, "durations": _durations}
"""What runs without the name of a room or a file, by verb."""


def _print_outcome(failed: list[str], minutes: float) -> int:
    """Says at the end what became of all."""
    outcome = f"failed: {', '.join(failed)}" if failed else "everything passed"
    print(f"{outcome}, after {minutes:.1f} minutes", flush=True)
    return bool(failed)


def _update(python: Path, wanted: list[str]) -> int:
    """Reports each step that fails, and runs the others all the same."""
    golden = ("-m", "pytest", "-q", *wanted, "-m", "golden")
    steps = [golden] if wanted else [(*golden, FIRST), golden, GENERATED]
    return max([run(python, *step, UPDATE="1") for step in steps])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
