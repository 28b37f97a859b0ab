"""Runs the checks of the project, in an environment of its own: the test command.

``python3 tests/run.py``
    The checks of a day's work: ruff, mypy and the tests, inputs cut at few places.
``python3 tests/run.py all``
    These, with the coverage of the core, and all that takes long or a toolchain: every
    cut, the clients in other languages, binaries, and what matters without orjson.
``python3 tests/run.py windows [ROOM ...]``
    The rooms under Windows' own CPython, as far as Wine is a Windows (`windows`).
``python3 tests/run.py ROOM ...``
    The tests of a room (``text``, ``wires``, ``house`` ...), or those of a file. An
    option and what stands behind it are pytest's: ``text -k unclosed``.
``python3 tests/run.py update [ROOM ...]``
    Writes goldens, schema and the clients' generated files anew, to be read as a diff.
"""

from __future__ import annotations

import sys
from itertools import takewhile
from pathlib import Path

import windows
from beside import Commands, run, run_beside
from environment import ROOT, ensure

TESTS = ROOT / "tests"
ROOMS = sorted({path.parent.name for path in TESTS.glob("*/test_*.py")})

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
    "tests/house/test_binary.py",
)
"""What takes a toolchain of its own; one behind the other, because they share it."""

PLAIN = (
    "tests/values/test_jsontext.py",
    "tests/wires/test_wires.py",
    "tests/protocol/test_protocol.py",
)
"""What is run again on the standard library's JSON."""

OF_THE_STREAM = tuple(
    f"tests/{room}" for room in ("text", "wires", "whole", "dialects", "explain")
)
"""The rooms whose tests are about half of the work."""

LINT: Commands = {
    "ruff check": ("-m", "ruff", "check", "."),
    "ruff format": ("-m", "ruff", "format", "--check", "."),
}

CHECKS: Commands = {
    "types": ("-m", "mypy"),
    "tests of the stream": (*_TESTS, *_USUAL, *OF_THE_STREAM),
    "all other tests": (*_TESTS, *_USUAL, *(f"--ignore={p}" for p in OF_THE_STREAM)),
}

COVERED: Commands = {
    name: (*_COVERED, *command) if "pytest" in command else command
    for name, command in CHECKS.items()
}

THOROUGH: Commands = {
    "clients": (*_TESTS, "-m", "thorough", *CLIENTS),
    "every cut": (*_TESTS, "-p", "tests.support.every_cut", *CUT),
    "whole inputs and processes": (
        *(*_TESTS, "-m", "thorough"),
        *(f"--ignore={path}" for path in CLIENTS),
    ),
    "interpreters": ("tests/interpreters.py",),
    "without orjson": (*_TESTS, "-p", "tests.support.without_orjson", *PLAIN),
}
"""Two at a time, as all of these tables; the longest stands first."""

FIRST = "tests/protocol/test_announced.py"
"""Its golden is a module, which the process that writes the others loads."""


def main(words: list[str]) -> int:
    if words[:1] == ["windows"]:
        return windows.main(words[1:])
    if words[:1] not in (["all"], ["update"]):
        wanted = _pytest_words(words)
        python = ensure("test", "lint", "sdks")
        return run(python, "-m", "pytest", *wanted) if words else _told(_checks(python))
    if words[1:]:
        sys.exit(f"`{words[0]}` stands alone, without {' '.join(words[1:])}")
    python = ensure("test", "lint", "sdks")
    return _update(python) if words == ["update"] else _told(_all(python))


def _pytest_words(words: list[str]) -> list[str]:
    """Rooms and files as pytest takes them, and its options."""
    named = [*takewhile(lambda word: not word.startswith("-"), words)]
    unknown = [word for word in named if word not in ROOMS and not _is_file(word)]
    if unknown:
        sys.exit(
            f"{unknown[0]!r} is no verb (all, update, windows), no room and no file;\n"
            f"rooms: {' '.join(ROOMS)}"
        )
    usual = _USUAL if {*named} <= {*ROOMS} else ()
    paths = [f"tests/{word}" if word in ROOMS else word for word in named]
    return [*usual, *paths, *words[len(named) :]]


def _is_file(word: str) -> bool:
    return (ROOT / word.partition("::")[0]).exists()


def _checks(python: Path, commands: Commands = CHECKS) -> list[str]:
    """What failed."""
    failed = [name for name, command in LINT.items() if run(python, *command)]
    return failed + run_beside(python, commands)


def _all(python: Path) -> list[str]:
    run(python, "-m", "coverage", "erase")
    failed = _checks(python, COVERED)
    run(python, "-m", "coverage", "combine", "--quiet")
    failed += ["coverage"] if run(python, "-m", "coverage", "report") else []
    return failed + run_beside(python, THOROUGH)


def _told(failed: list[str]) -> int:
    """Says at the end what became of all."""
    print(f"failed: {', '.join(failed)}" if failed else "everything passed", flush=True)
    return bool(failed)


def _update(python: Path) -> int:
    """Each step that fails is told; the others are made all the same."""
    golden = ("-m", "pytest", "-q", "-m", "golden")
    steps = ((*golden, FIRST), golden, ("tests/support/generated.py",))
    return max([run(python, *step, UPDATE="1") for step in steps])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
