"""Each row of the tables of dialects has a case on the pages of cases.

A row without one is the step of ``dialects/README.md``, "Adding a dialect", that is
easily left out: nothing else fails, since the fuzzers make inputs from any literal.
"""

from __future__ import annotations

import re

import pytest
from spec_pages import PAGES, cases_of

from stream_sidecar.dialects import DIALECTS

INPUTS = "\n".join(
    "".join(map(str, case.chunks))
    for path in PAGES
    for case in cases_of(path.read_text(encoding="utf-8"))
)

STEP = 'dialects/README.md, "Adding a dialect", step 3, asks for a case in tests/spec: '


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
