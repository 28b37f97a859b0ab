"""The Rust client: its tests against the real sidecar, its format, its modules.

The tests themselves are in ``clients/rust`` and run by cargo. Where there is no cargo
that can run them they are skipped, which the end of the run says. ``test_crate.py`` has
its lints, its documentation and its package.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from cargo_package import EVERYTHING, HOME, cargo, needs_cargo, skips_without_cargo
from folder_order import late_uses


@needs_cargo
def test_cargo_test() -> None:
    """All of it: transcripts, recordings, kills, memory, README, types in step.

    ``SIDECAR_KILLS`` in the environment is the number of sidecars that are killed or
    freeze in ``clients/rust/tests/kills.rs``; ``pytest -s`` shows the result.
    """
    output = cargo("test", *EVERYTHING, "--locked", "--no-fail-fast")
    summaries = re.findall(r"^\d+ kills: .*", output, re.MULTILINE)
    sys.stdout.write("".join(f"\n{line}\n" for line in summaries))
    assert len(summaries) == (os.name == "posix")
    counts = re.findall(r"ok\. (\d+) passed; 0 failed; (\d+) ignored", output)
    assert sum(int(passed) for passed, _ in counts) > 80
    assert {ignored for _, ignored in counts} == {"0"}


@skips_without_cargo
def test_format() -> None:
    """With the checks of a day's work, because nothing has to be compiled."""
    cargo("fmt", "--all", "--check")


def test_the_lock_names_no_other_registry() -> None:
    lock = (HOME / "Cargo.lock").read_text(encoding="utf-8")
    sources = set(re.findall(r'^source = "(.*)"$', lock, re.MULTILINE))
    assert sources == {"registry+https://github.com/rust-lang/crates.io-index"}


ORDER = (
    *("open", "protocol", "framing", "watching", "error", "warnings", "budget"),
    *("process", "config", "checks", "connection", "stream"),
    *("sidecar", "builder", "pool", "adapters", "lib"),
)
"""Folders, and files beside them: each may use itself and the entries before it."""


@pytest.mark.parametrize("home", ["src", "xtask/src"])
def test_modules_use_each_other_one_way(home: str) -> None:
    """A circle is a CycleError, which names the modules that are on it."""
    uses = _uses_of_all(HOME / home)
    assert sum(len(used) for used in uses.values()) >= len(uses) / 2, "they are found"
    TopologicalSorter(uses).prepare()


def test_a_folder_uses_what_stands_before_it() -> None:
    uses = _uses_of_all(HOME / "src")
    assert late_uses(uses, ORDER, lambda name: name.split("::")[0]) == set()


def _uses_of_all(home: Path) -> dict[str, set[str]]:
    """Each module, ``stream::pipe`` for example -> the modules that it uses."""
    names = {
        "::".join(path.relative_to(home).with_suffix("").parts): path
        for path in home.rglob("*.rs")
    }
    return {name: _uses(name, path, names.keys()) for name, path in names.items()}


def _uses(name: str, path: Path, names: Collection[str]) -> set[str]:
    """The modules that a module names: in its imports, and in paths of its code."""
    code = re.sub(r"//.*", "", path.read_text(encoding="utf-8"))
    above = name.rpartition("::")[0]
    roots = {
        "crate::": "",
        "super::": f"{above}::" if above else "",
        "self::": f"{name}::",
    }
    named = {
        roots[root] + inner
        for root, rest in re.findall(r"\b(crate::|super::|self::)([^;()]*)", code)
        for inner in _paths(rest)
    }
    return {_module(each, names) for each in named} - {"", name}


def _module(path: str, names: Collection[str]) -> str:
    """The module that has an item of this path; empty if it is none of ours."""
    while path and path not in names:
        path = path.rpartition("::")[0]
    return path


def _paths(text: str) -> list[str]:
    """The paths of an import: ``a::{b, c::d}`` has ``a::b`` and ``a::c::d``."""
    before, opening, rest = text.partition("{")
    if not opening or not re.fullmatch(r"[\w:]*", before):
        return re.findall(r"^[\w:]+", text)
    items, depth, start = [], 0, 0
    for at, sign in enumerate(rest):
        depth += (sign == "{") - (sign == "}")
        if depth < 0 or (depth == 0 and sign == ","):
            items.append(rest[start:at].strip())
            start = at + 1
        if depth < 0:
            break
    return [before + inner for item in items for inner in _paths(item)]


def test_files_are_short() -> None:
    """One concept a file; past this length it may be two. Tables and what is generated
    are as long as they are."""
    for path in (
        path
        for home in ("src", "tests", "examples", "xtask")
        for path in (HOME / home).rglob("*.rs")
    ):
        if path.name not in {"protocol.rs", "fields.rs", "fakes.rs"}:
            assert len(path.read_text(encoding="utf-8").splitlines()) <= 450, path
