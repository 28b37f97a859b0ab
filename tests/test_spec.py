"""The rules of the text and the pages under ``spec``: what a stream means, by cases.

How a case is written is told at the top of ``spec/reasoning-tags.md``. ``UPDATE=1
pytest`` writes the expected lines anew; they are read as a diff, never typed.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from checking import check, feed

TESTS = Path(__file__).parent
RULES = TESTS.parent / "sidecar" / "text" / "README.md"
PAGES = [RULES, *sorted(TESTS.joinpath("spec").glob("*.md"))]

_FENCE = "`" * 32
_CASE = re.compile(
    rf"^(?:#+ (?P<name>[^\n]*)\n+(?P<why>(?:(?!#|`{{32}}).*\n)*))?"
    rf"{_FENCE} example(?P<params>[^\n]*)\n"
    rf"(?P<input>(?:(?!`{{32}}).*\n)*?)\.\n"
    rf"(?P<expected>(?:(?!`{{32}}).*\n)*?){_FENCE}$",
    re.MULTILINE,
)
_CODE_POINT = re.compile("‹([0-9A-F]+)›")
_SIGNS = str.maketrans({"→": "\t", "␍": "\r", "␠": " ", "␤": "\n"})
_DELTA = re.compile(r"(?:(\d+) )?delta (\{.*\})(?: (\w+))?")


@frozen
class Case:
    """One example; ``span`` is where its expected lines stand in its page."""

    name: str
    why: str
    params: dict[str, Any]
    close: dict[str, Any]
    chunks: list[Any]
    expected: list[str]
    span: tuple[int, int]


def cases_of(page: str) -> list[Case]:
    """The cases of a page's text, in order."""
    cases = []
    for match in _CASE.finditer(page):
        params = {"wire": "text", **json.loads(match["params"] or "{}")}
        close = params.pop("close", {})
        chunks = chunks_of(match["input"].removesuffix("\n"), params)
        expected = match["expected"].splitlines()
        name, why = match["name"] or "", match["why"] or ""
        cases.append(
            Case(name, why, params, close, chunks, expected, match.span("expected"))
        )
    return cases


def chunks_of(written: str, params: dict[str, Any]) -> list[Any]:
    """The chunks of an input: documents, one a line, or text."""
    if params["wire"] != "text" and "framing" not in params:
        return [_document(line) for line in written.splitlines()]
    return [_text(chunk) for chunk in written.split("¦")]


def _text(written: str) -> str:
    text = written.translate(_SIGNS)
    return _CODE_POINT.sub(lambda match: chr(int(match[1], 16)), text)


def _document(line: str) -> Any:
    delta = _DELTA.fullmatch(line)
    if delta is None:
        return json.loads(line)
    index, body, reason = delta.groups()
    choice = {"index": int(index or 0), "delta": json.loads(body)}
    return {"choices": [{**choice, "finish_reason": reason}]}


def update(path: Path) -> None:
    """Writes the expected lines of a page as they come out now."""
    text = path.read_text(encoding="utf-8")
    for case in reversed(cases_of(text)):
        start, end = case.span
        lines = feed(case.params, case.chunks, close=case.close).lines
        text = text[:start] + "".join(f"{line}\n" for line in lines) + text[end:]
    path.write_text(text, encoding="utf-8")


if os.environ.get("UPDATE"):
    for _page in PAGES:
        update(_page)

_ALL = [
    pytest.param(case, id=f"{path.stem}: {case.name}")
    for path in PAGES
    for case in cases_of(path.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("case", _ALL)
def test_example(case: Case) -> None:
    check(case.params, case.chunks, case.expected, close=case.close)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_page_is_read_whole(path: Path) -> None:
    """Every example has a name of its own and says why it is there."""
    text = path.read_text(encoding="utf-8")
    cases = cases_of(text)
    assert len(cases) == text.count(f"\n{_FENCE} example")
    assert len({case.name for case in cases}) == len(cases)
    assert not [case.name for case in cases if not case.why.strip()]


def test_every_rule_has_a_number_and_an_example() -> None:
    """Code cites a rule by its number: ``text rule 3.2`` is ``### 3.2 ...`` there."""
    text = RULES.read_text(encoding="utf-8")
    rules = re.findall(r"^### (.+)$", text, re.MULTILINE)
    assert [case.name for case in cases_of(text)] == rules
    groups = re.findall(r"^## (\d+) ", text, re.MULTILINE)
    assert groups == [str(number) for number in range(1, len(groups) + 1)]
    for group in groups:
        numbers = [rule.split()[0] for rule in rules if rule.startswith(f"{group}.")]
        assert numbers == [f"{group}.{at}" for at in range(1, len(numbers) + 1)]
