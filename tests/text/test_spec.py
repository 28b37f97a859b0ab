"""The rules of the text and the pages under ``spec``: what a stream means, by cases.

How a case is written stands at the top of ``spec/reasoning-tags.md``. The expected
lines are golden: they are read as a diff, never typed.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from checking import check, feed
from goldens import assert_golden
from spec_pages import _FENCE, PAGES, RULES, Case, cases_of


def renewed(text: str) -> str:
    """A page with the expected lines as they come out now."""
    for case in reversed(cases_of(text)):
        start, end = case.span
        lines = feed(case.params, case.chunks, close=case.close).lines
        text = text[:start] + "".join(f"{line}\n" for line in lines) + text[end:]
    return text


_ALL = [
    pytest.param(case, id=f"{path.stem}: {case.name}")
    for path in PAGES
    for case in cases_of(path.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("case", _ALL)
def test_example(case: Case) -> None:
    check(case.params, case.chunks, case.expected, close=case.close)


@pytest.mark.golden
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_page_is_read_whole(path: Path) -> None:
    """Every example has a name of its own and says why it is there."""
    text = path.read_text(encoding="utf-8")
    assert_golden(path, renewed(text))
    cases = cases_of(text)
    assert len(cases) == text.count(f"\n{_FENCE} example")
    assert len({case.name for case in cases}) == len(cases)
    assert not [case.name for case in cases if not case.why.strip()]


def test_every_rule_has_a_number_and_an_example() -> None:
    """Code cites a rule by its number: ``text rule 3.2`` is ``### 3.2 ...`` there."""
    text = RULES.read_text(encoding="utf-8")
    rules = re.findall(r"^### (.+)$", text, re.MULTILINE)
    why = 'text/README.md, "Where each rule stands", step 1'
    assert [case.name for case in cases_of(text)] == rules, why
    groups = re.findall(r"^## (\d+) ", text, re.MULTILINE)
    assert groups == [str(number) for number in range(1, len(groups) + 1)]
    for group in groups:
        numbers = [rule.split()[0] for rule in rules if rule.startswith(f"{group}.")]
        assert numbers == [f"{group}.{at}" for at in range(1, len(numbers) + 1)], why
