"""A test whose optional library is missing is skipped, and says which library it is."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from places import ROOT, TESTS

REQUIRED = {
    *("attrs", "cattrs", "click", "lsprotocol", "markdown_it", "pygls", "rich"),
    *("hypothesis", "pytest", "pytest_lsp"),
}
"""What the package requires, with what that requires, and what runs all tests."""

OWN = {
    *(path.stem for path in TESTS.rglob("*.py")),
    *(path.stem for path in (ROOT / "clients" / "bundle").glob("*.py")),
    *("stream_sidecar", "dialects", "fuzz", "house", "peers"),
}
"""Modules of the repository, and packages that tests import from."""


def _roots(node: ast.AST) -> set[str]:
    """The libraries of an import or of an ``importorskip``."""
    names: list[str] = []
    if isinstance(node, ast.Import):
        names = [name.name for name in node.names]
    elif isinstance(node, ast.ImportFrom):
        names = [str(node.module)]
    elif isinstance(node, ast.Call) and isinstance(node.args[0], ast.Constant):
        names = [str(node.args[0].value)]
    return {name.partition(".")[0] for name in names}


def _imports_without_a_skip(path: Path) -> Iterator[str]:
    """Each import of an optional library with no ``importorskip`` above it."""
    skipped: set[str] = set()
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    known = sys.stdlib_module_names | REQUIRED | OWN
    for node in sorted(nodes, key=lambda node: getattr(node, "lineno", 0)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            missing = _roots(node) - known - skipped
            yield from (f"{path.name}:{node.lineno} {name}" for name in missing)
        elif isinstance(node, ast.Call) and "importorskip" in ast.unparse(node.func):
            skipped |= _roots(node)


def test_a_missing_library_skips() -> None:
    files = sorted(TESTS.glob("*/test_*.py"))
    wrong = [each for path in files for each in _imports_without_a_skip(path)]
    assert not wrong, "first `pytest.importorskip(name, reason=...)`"
