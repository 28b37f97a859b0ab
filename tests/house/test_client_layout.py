"""The folders of the TypeScript client: imports go one way, and never in a circle."""

from __future__ import annotations

import re
from graphlib import TopologicalSorter
from pathlib import Path

from folder_order import late_uses
from rpc_client import ROOT

SOURCE = ROOT / "clients" / "typescript" / "src"

ORDER = (
    *("protocol.ts", "errors.ts", "timer.ts", "warnings.ts", "checks.ts"),
    *("cancellation.ts", "options.ts"),
    *("connection", "wasm", "process", "stream", "sidecar.ts", "pool.ts"),
    *("adapters", "internal.ts", "index.ts", "wasm.ts"),
)
"""Folders, and files beside them: each may import itself and the entries before it."""

RELATIVE = re.compile(r"""(?:\bfrom|\bimport)\s*\(?\s*["'](\.[^"']*)\.js["']""")

FILES = sorted(SOURCE.rglob("*.ts"))


def _imported(file: Path) -> set[Path]:
    """The files of the client that a file imports, as types or as values."""
    found = RELATIVE.findall(file.read_text(encoding="utf-8"))
    return {(file.parent / f"{each}.ts").resolve() for each in found}


IMPORTS = {file: _imported(file) for file in FILES}


def _folder(file: Path) -> str:
    return file.relative_to(SOURCE).parts[0]


def test_every_import_is_of_a_file() -> None:
    """Otherwise the tests below would compare nothing."""
    assert set().union(*IMPORTS.values()) <= set(FILES)
    assert all(IMPORTS[SOURCE / name] for name in ("index.ts", "sidecar.ts", "wasm.ts"))


def test_a_folder_imports_what_stands_before_it() -> None:
    assert late_uses(IMPORTS, ORDER, _folder) == set()


def test_imports_have_no_circles() -> None:
    tuple(TopologicalSorter(IMPORTS).static_order())
