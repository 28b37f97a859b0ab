"""Each row of the tables of dialects has a case on the pages of cases, and a call of
tier A that is cut off is still a call.

These are the steps of ``dialects/README.md``, "Adding a dialect", that are easily left
out: nothing else fails, since the fuzzers make inputs from any literal.
"""

from __future__ import annotations

import re

import pytest
from feeding import feed
from spec_pages import PAGES, Case, cases_of

from stream_sidecar.dialects import DIALECTS

CASES = [case for path in PAGES for case in cases_of(path.read_text(encoding="utf-8"))]
INPUTS = "\n".join("".join(map(str, case.chunks)) for case in CASES)

PAGE = 'dialects/README.md, "Adding a dialect"'
STEP = f"{PAGE}, step 3, asks for a case in tests/spec: "

TIER_A = [
    family
    for family, dialect in DIALECTS.items()
    if any(form.tier == "A" for form in dialect.forms)
]

WITHOUT_PARTS = {"phi4-json", "harmony-eaten"}
"""Families whose grammars set no ``partial``: a call that is cut off stays text."""

LONGEST_REST = 80
"""At most this many characters are cut off from a call."""


def _has_case(literal: str) -> bool:
    """``%s`` stands for the name of a declared tool."""
    return bool(re.search(re.escape(literal).replace("%s", r"[\w.-]+"), INPUTS))


@pytest.mark.parametrize("family", DIALECTS)
def test_each_row_of_a_family_has_a_case(family: str) -> None:
    dialect = DIALECTS[family]
    rows = [form.openers for form in dialect.forms]
    rows += [(opener or closer,) for opener, closer in dialect.pairs]
    rows += [(literal,) for literal in (*dialect.marks, *dialect.ends)]
    missing = [row for row in rows if not any(map(_has_case, row))]
    assert not missing, f"{STEP}no input has the literals of {family}: {missing}"


def _has_call(case: Case, family: str) -> bool:
    pattern = rf"\d+ call .* complete .* {re.escape(family)}"
    is_text = all(isinstance(chunk, str) for chunk in case.chunks)
    return is_text and any(re.fullmatch(pattern, line) for line in case.expected)


def _is_truncated(case: Case, family: str, cut: int) -> bool:
    """Whether the text without its last ``cut`` characters has a truncated call."""
    events = feed(case.params, ["".join(case.chunks)[:-cut]]).events
    calls = [event for event in events if event.type == "tool-call"]
    return any((e.state, e.dialect) == ("truncated", family) for e in calls)


@pytest.mark.parametrize("family", TIER_A)
def test_a_call_of_tier_a_that_is_cut_off_is_truncated(family: str) -> None:
    """Text rule 11.3 holds for a family only if its grammar sets ``partial``."""
    is_truncated = any(
        _is_truncated(case, family, cut)
        for case in CASES
        if _has_call(case, family)
        for cut in range(1, LONGEST_REST)
    )
    assert is_truncated == (family not in WITHOUT_PARTS), f"{PAGE}, step 1: partial"
