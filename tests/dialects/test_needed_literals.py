"""Forms with the same opener are read in turn, which is only quicker than side by side.

A form begins to read when it could be complete: its row names the literals that it
needs. The pages of cases are read with all forms side by side.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from feeding import feed
from spec_pages import PAGES, cases_of

from stream_sidecar.forms.candidate import Candidate

_accept = Candidate._accept


def _checked(candidate: Candidate, reader: Any, found: Any) -> Any:
    """Accepts a form; it has one of the literals that it needs."""
    needs, text = reader.opening.form.needs, candidate.raw[1:]
    assert not needs or any(need in text for need in needs), (needs, text)
    return _accept(candidate, reader, found)


@pytest.mark.thorough
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_forms_side_by_side_find_the_same(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Candidate, "_accept", _checked)
    module = "stream_sidecar.forms.candidate"
    monkeypatch.setattr(f"{module}._in_turn", lambda openings: (openings, None))
    for case in cases_of(path.read_text(encoding="utf-8")):
        fed = feed(case.params, case.chunks, close=case.close)
        assert fed.lines == case.expected, case.name
