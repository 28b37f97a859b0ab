"""The regular expressions of the project, with their places and uses.

No list is kept by hand. ``made()`` runs this file in a separate process, and watches
``patterns.compile`` while every module is imported and the examples of the pages and
recordings are read. So each call is known with its patterns, including patterns made at
run time. ``calls()`` finds the same calls in the source, with literal patterns. A call
without a literal that was never seen fails the test, so no pattern can hide.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from attrs import frozen

SUPPORT = Path(__file__).resolve().parent
TESTS = SUPPORT.parent
PACKAGE = TESTS.parent / "sidecar" / "stream_sidecar"


@frozen
class Made:
    """A pattern, and the places in the source (``file.py:line``) that make it.

    ``searches``: the pattern may be searched for; False if the source only checks
    whether it matches at a place (``match``, ``fullmatch``).
    """

    pattern: re.Pattern[Any]
    places: tuple[str, ...]
    searches: bool


@cache
def made() -> tuple[Made, ...]:
    """Every pattern that the package makes, each once."""
    command = [sys.executable, str(Path(__file__).resolve())]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    places: dict[tuple[Any, int], set[str]] = defaultdict(set)
    for place, written, is_bytes, flags in json.loads(run.stdout):
        source = written.encode("latin-1") if is_bytes else written
        places[source, flags].add(place)
    found = calls()
    seen = set().union(*places.values())
    for place, call in found.items():
        if call.literal is not None and place not in seen:
            places[call.literal, 0].add(place)
    return tuple(
        Made(
            re.compile(source, flags),
            tuple(sorted(where)),
            any(found[place].searches for place in where),
        )
        for (source, flags), where in places.items()
    )


@frozen
class Call:
    """A call of ``patterns.compile``; ``literal`` is None for a computed pattern."""

    literal: Any
    searches: bool


_ANCHORED = {"match", "fullmatch"}
_SEARCHING = {"search", "findall", "finditer", "sub", "subn"}


def calls() -> dict[str, Call]:
    """The calls of ``patterns.compile`` in the source, by place."""
    return {
        place: call
        for path in sorted(PACKAGE.rglob("*.py"))
        for place, call in _calls_of(path, ast.parse(path.read_text("utf-8")))
    }


def _calls_of(path: Path, tree: ast.Module) -> Iterator[tuple[str, Call]]:
    nodes = list(ast.walk(tree))
    assert not any(map(_hides, nodes)), f"{path.name} hides where it compiles"
    called = {node.func: node for node in nodes if isinstance(node, ast.Call)}
    names = {
        statement.value: statement.targets[0].id
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        and isinstance(statement.targets[0], ast.Name)
    }
    for node in nodes:
        if isinstance(node, ast.Attribute) and _is_maker(node):
            call = called[node]
            uses = _uses(call, names, nodes)
            pattern = call.args[0]
            literal = pattern.value if isinstance(pattern, ast.Constant) else None
            where = f"{path.relative_to(PACKAGE)}:{node.lineno}"
            yield where, Call(literal, searches=not uses <= _ANCHORED)


def _hides(node: ast.AST) -> bool:
    """Whether ``patterns`` goes by another name."""
    if not isinstance(node, ast.ImportFrom):
        return False
    renamed = any(name.name == "patterns" and name.asname for name in node.names)
    return renamed or node.module == "stream_sidecar.patterns"


def _is_maker(node: ast.Attribute) -> bool:
    owner = node.value
    is_ours = isinstance(owner, ast.Name) and owner.id == "patterns"
    return is_ours and node.attr == "compile"


def _uses(call: ast.Call, names: dict[Any, str], nodes: list[ast.AST]) -> set[str]:
    """The methods that are used of a compiled pattern. One that is handed on may meet
    those that its file uses of what is no pattern of a name."""
    methods = {
        node.value: node.attr for node in nodes if isinstance(node, ast.Attribute)
    }
    if call in methods:
        return {methods[call]}
    loads = [node for node in nodes if _is_loaded(node, names.get(call))]
    uses = {methods.get(node, "") for node in loads}
    if not loads or "" in uses:
        known = set(names.values())
        uses |= {
            method
            for owner, method in methods.items()
            if method in _SEARCHING
            and not (isinstance(owner, ast.Name) and owner.id in known)
        }
    return uses - {""}


def _is_loaded(node: ast.AST, name: str | None) -> bool:
    is_name = isinstance(node, ast.Name) and node.id == name
    return is_name and isinstance(node.ctx, ast.Load)


# --- In the process that is watched ---------------------------------------------------


def _watch(seen: set[tuple[str, Any, int]]) -> None:
    from stream_sidecar import patterns

    def call(pattern: Any, flags: int = 0) -> Any:
        assert isinstance(pattern, str | bytes), "a compiled pattern has methods"
        caller = sys._getframe(1)
        path = Path(caller.f_code.co_filename)
        place = f"{path.relative_to(PACKAGE)}:{caller.f_lineno}"
        seen.add((place, pattern, int(flags)))
        return re.compile(pattern, flags)

    patterns.compile = call


def _exercise() -> None:
    """Makes what is made at run time only: by streams, and by the commands."""
    from checking import feed
    from spec_pages import PAGES, cases_of
    from strategies import recordings

    from stream_sidecar.protocol.schema import schema

    for page in PAGES:
        for case in cases_of(page.read_text(encoding="utf-8")):
            feed(case.params, case.chunks, close=case.close)
    for params, chunks in recordings():
        feed(params, chunks)
    schema()


def _main() -> None:
    from package_modules import import_all

    seen: set[tuple[str, Any, int]] = set()
    _watch(seen)
    import_all()
    _exercise()
    rows = [
        (place, pattern, False, flags)
        if isinstance(pattern, str)
        else (place, pattern.decode("latin-1"), True, flags)
        for place, pattern, flags in seen
    ]
    sys.stdout.write(json.dumps(sorted(rows)))


if __name__ == "__main__":
    sys.path[:0] = [str(SUPPORT), str(TESTS), str(PACKAGE.parent)]
    _main()
