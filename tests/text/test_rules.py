"""The page of the rules: what it says of the engine, and of where each rule stands.

A rule stands where a docstring of a function, a class or a constant cites it, and its
cases are those of ``spec`` that cite it (``text rule 3.2``, ``text rules 7.1 and
7.5``). The table of them on the page is golden.
"""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterator

import pytest
from goldens import assert_golden
from open_params import options_of
from spec_pages import PAGES, RULES

from stream_sidecar.channel.setup import surroundings
from stream_sidecar.message.outlet import Outlet
from stream_sidecar.text.pieces import Pieces, merged

PACKAGE = RULES.parent.parent
TABLE = re.compile("(?<=<!-- rules: begin -->\n).*?(?=<!-- rules: end -->)", re.DOTALL)
CITATION = re.compile(r"text rules? (\d+\.\d+(?:(?:, | and )\d+\.\d+)*)")

STEPS = 'text/README.md, "Where each rule stands", step'

NO_CODE = {"13.3": "Nothing decides: what is no text does not reach the engine."}
"""Rules that no code has, and why."""


@pytest.mark.golden
def test_each_rule_has_its_code_and_its_cases() -> None:
    page = RULES.read_text(encoding="utf-8")
    code, cases = _code(), _cases()
    rules = re.findall(r"^### (\d+\.\d+) ", page, re.MULTILINE)
    rows = [
        f"| {rule} | {NO_CODE.get(rule) or _listed(code[rule])} "
        f"| {_listed(cases[rule])} |"
        for rule in rules
    ]
    table = "\n".join(["| rule | code | cases |", "|---|---|---|", *rows, ""])
    no_code = {rule for rule in rules if not code[rule]} ^ NO_CODE.keys()
    assert no_code == set(), f"no code cites them: {STEPS} 2"
    no_cases = {rule for rule in rules if not cases[rule]}
    assert no_cases == set(), f"no cases cite them: {STEPS} 3"
    assert_golden(RULES, TABLE.sub(lambda _: table, page))


def _listed(found: list[str]) -> str:
    return ", ".join(dict.fromkeys(found))


def _cited(text: str | None) -> Iterator[str]:
    for numbers in CITATION.findall(" ".join((text or "").split())):
        yield from re.findall(r"[\d.]+", numbers)


def _cases() -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for page in PAGES[1:]:
        for rule in _cited(page.read_text(encoding="utf-8")):
            found[rule].append(f"[{page.stem}](../../../tests/spec/{page.name})")
    return found


def _code() -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        module = path.relative_to(PACKAGE).with_suffix("").as_posix()
        for name, said in _said(ast.parse(path.read_text(encoding="utf-8"))):
            for rule in _cited(said):
                found[rule].append(f"`{module}: {name}`")
    return found


def _said(holder: ast.AST, within: str = "") -> Iterator[tuple[str, str | None]]:
    """The docstrings of functions, classes and constants, with their names."""
    before: ast.AST | None = None
    for node in ast.iter_child_nodes(holder):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield within + node.name, ast.get_docstring(node)
            yield from _said(node, f"{within}{node.name}.")
        elif isinstance(before, ast.Assign | ast.AnnAssign):
            target = getattr(before, "target", None) or before.targets[0]
            yield within + ast.unparse(target), _string(node)
        before = node


def _string(node: ast.AST) -> str:
    """What a statement says that is nothing but a string."""
    said = node.value if isinstance(node, ast.Expr) else None
    return str(said.value) if isinstance(said, ast.Constant) else ""


def test_the_example_of_the_engine() -> None:
    """Each row of the table under "How the engine works" is true."""
    section = RULES.read_text(encoding="utf-8").partition("\n## 1 ")[0]
    rows = re.findall(r"^\| (`\".*\"`|end) \| (?:`(.*)` )?\| .* \|$", section, re.M)
    options = options_of({"wire": "text", "tools": [{"name": "f"}]})
    reader = surroundings(options, Outlet(parts=True, trace=False)).answer()
    assert rows[-1][0] == "end"
    for given, pieces in rows:
        text = given.strip("`").replace("\\|", "|")
        found = reader.flush() if text == "end" else reader.push(json.loads(text))
        assert _written(found) == pieces.replace("\\|", "|")


def _written(pieces: Pieces) -> str:
    return " ".join(
        f"{kind.name} {json.dumps(text)}" if text else kind.name
        for kind, text, *_ in merged(pieces)
    )
