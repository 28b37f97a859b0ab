"""What we know of families, written as response templates, and read by them again.

``data/response_templates.json`` is what Hugging Face's own parser reads in the same
texts; ``python3 tests/templates`` writes it.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from attrs import evolve
from checking import check
from feeding import feed
from goldens import assert_golden
from places import TESTS
from spec_pages import PAGES, Case, cases_of
from template_texts import FAMILIES, RULES, read, template, texts

from stream_sidecar.dialects import DIALECTS
from stream_sidecar.dialects.profiles import PROFILES, Profile
from stream_sidecar.templates.family_templates import (
    InexpressibleError,
    family_template,
)
from stream_sidecar.templates.response_template import NAME, template_of

THEIRS = json.loads(TESTS.joinpath("data/response_templates.json").read_text("utf-8"))
UNSAID = TESTS / "data" / "family_templates.txt"

_ALL = [
    pytest.param(family, kind, id=f"{family}: {kind}")
    for family in FAMILIES
    for kind in texts(family)
]


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
def test_a_family_is_said_or_reported_why_not(profile: Profile) -> None:
    try:
        found = family_template([DIALECTS[name] for name in profile.dialects])
    except InexpressibleError as reason:
        answer = str(reason)
    else:
        answer = found.template["start_anchor"]
        assert template_of(found.template).dialect.name == NAME
    assert answer


@pytest.mark.parametrize(("family", "kind"), _ALL)
def test_a_text_is_read_as_theirs_is_or_by_a_rule(family: str, kind: str) -> None:
    ours, known = read(texts(family)[kind], family), THEIRS[family][kind]
    assert ours == known or kind in RULES
    check({"wire": "text", "responseTemplate": template(family)}, [texts(family)[kind]])


def test_each_rule_explains_a_difference() -> None:
    differing = {
        kind
        for family in FAMILIES
        for kind, text in texts(family).items()
        if read(text, family) != THEIRS[family][kind]
    }
    assert differing == {*RULES}
    assert {family: [*texts(family)] for family in FAMILIES} == {
        family: [*found] for family, found in THEIRS.items()
    }


@pytest.mark.golden
def test_a_page_is_read_by_the_template_of_its_family() -> None:
    """The cases of the pages that a template reads in another way: forms that the
    family has beside its first, and what models make of that."""
    lines, same = [_HEAD], 0
    for family in FAMILIES:
        cases = [(page, case) for page, case in _cases_of(family)]
        wrong = [
            f"{page}: {case.name}" for page, case in cases if _differs(family, case)
        ]
        same += len(cases) - len(wrong)
        lines += [f"\n## {family}: {len(cases) - len(wrong)} of {len(cases)} alike\n"]
        lines += [f"- {each}" for each in wrong]
    assert_golden(UNSAID, "\n".join([*lines, f"\n{same} cases are alike.", ""]))


_HEAD = """# Cases that a family's template reads in another way

A template has one form of calls and no repairs; `python3 tests/run.py update` writes
this list."""


def _cases_of(family: str) -> list[tuple[str, Case]]:
    """The cases in which the family's calls are found in text."""
    call = re.compile(rf" text {re.escape(family)}(?: reasoning)?$")
    return [
        (path.stem, case)
        for path in PAGES
        for case in cases_of(path.read_text(encoding="utf-8"))
        if case.params["wire"] == "text" and any(map(call.search, case.expected))
    ]


def _differs(family: str, case: Case) -> bool:
    given: dict[str, Any] = {k: v for k, v in case.params.items() if k != "model"}
    policy = {k: v for k, v in given.get("policy", {}).items() if k != "dialects"}
    given |= {"policy": policy, "responseTemplate": template(family)}
    fed = feed(given, case.chunks, close=case.close)
    events = [
        evolve(each, dialect=family) if getattr(each, "dialect", None) == NAME else each
        for each in fed.events
    ]
    return evolve(fed, events=events).lines != case.expected
