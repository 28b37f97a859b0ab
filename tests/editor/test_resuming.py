"""What stands in the way of a session, in an editor: where, how grave, and the fix."""

from __future__ import annotations

import json
from typing import Any

import pytest
from lsprotocol import types

from stream_sidecar.editor import resuming
from stream_sidecar.editor.features import MEND_ALL_TITLE, View
from stream_sidecar.editor.session import LINES, WHOLE, SessionDocument
from stream_sidecar.editor.text import DocumentText
from stream_sidecar.history.cuts import spliced
from stream_sidecar.options import StreamOptions
from stream_sidecar.resume.conversation import StoredPlace
from stream_sidecar.resume.findings import FileEdit, ResumeFinding

GOOD = json.dumps({"role": "assistant", "content": "😀 Hi"})
BLANK = json.dumps({"role": "user", "content": [{"type": "text", "text": ""}]})


@pytest.fixture(autouse=True)
def judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blank blocks are refused, as a judge says it."""

    def findings_in(records: Any) -> Any:
        for record in records:
            content = record.value.get("content")
            if isinstance(content, list):
                source = StoredPlace(record, ("content", 0))
                yield ResumeFinding(
                    "refused",
                    source,
                    "A block of text is empty.",
                    rule="blank-text",
                    says="text content blocks must be non-empty",
                    remedy="file",
                    edits=(FileEdit(source),),
                )

    monkeypatch.setattr(resuming, "findings_in", findings_in)


def view(text: str, reading: str = LINES, kinds: Any = None) -> View:
    session = SessionDocument(StreamOptions(), reading, kinds=kinds)
    document = DocumentText(text, "utf16")
    for _ in session.read(document):
        pass
    return View("file:///a", 1, 1, document, session.units, session.problems)


def everything(shown: View) -> types.Range:
    return types.Range(types.Position(0, 0), types.Position(shown.text.lines, 0))


def test_a_finding_is_a_diagnostic_on_its_line() -> None:
    (found,) = view(f"{GOOD}\n{BLANK}\n").diagnostics()
    assert (found.range.start.line, found.range.end.line) == (1, 1)
    start, end = (found.range.start.character, found.range.end.character)
    assert BLANK[start:end] == '{"type": "text", "text": ""}'
    assert found.severity is types.DiagnosticSeverity.Error
    assert found.code == "blank-text"
    assert "The provider says: text content blocks must be non-empty" in found.message


def test_a_broken_line_of_a_session_is_an_error() -> None:
    (found,) = view(f'{GOOD}\n{{"role": "us\n').diagnostics()
    assert (found.code, found.range.start.line) == ("broken", 1)
    assert found.range.end == types.Position(1, 12)
    assert view('{"a": 1}\n{broken\n').diagnostics() == []  # it is no session
    assert view('{"messages": [', WHOLE).diagnostics() == []  # it is being written


def test_the_fix_is_the_mend_of_the_file() -> None:
    text = f"{GOOD}\n{BLANK}\n{BLANK}\n"
    shown = view(text)
    (_, changes), _, (every, all_changes) = shown.mends(everything(shown))
    left = BLANK.replace('{"type": "text", "text": ""}', "")
    assert spliced(text, changes) == f"{GOOD}\n{left}\n{BLANK}\n"
    assert every.title == MEND_ALL_TITLE
    assert spliced(text, all_changes) == f"{GOOD}\n{left}\n{left}\n"
    start = types.Position(0, 0)
    assert shown.mends(types.Range(start, start)) == []


def test_half_a_character_is_shown_in_what_is_sent() -> None:
    """That in the answer is a leak, and has a diagnostic of its own."""
    ask, say = (
        json.dumps({"role": role, "content": f"half \ud83c {role}"})
        for role in ("user", "assistant")
    )
    text = f"{ask}\n{say}\n"
    shown = view(text)
    (leak, found) = shown.diagnostics()
    assert (found.code, found.range.start.line) == ("half-surrogate", 0)
    assert (leak.code, leak.range.start.line) == ("surrogate", 1)
    (_, changes) = shown.mends(everything(shown))[0]
    assert spliced(text, changes).startswith(ask.replace(r"\ud83c", r"\ufffd"))


def test_a_whole_document_is_one_record() -> None:
    (found,) = view(BLANK, WHOLE).diagnostics()
    assert found.code == "blank-text"


@pytest.mark.parametrize(
    ("kinds", "codes"), [({"broken"}, ["broken"]), ({"reasoning"}, [])]
)
def test_kinds_can_be_chosen(kinds: Any, codes: list[str]) -> None:
    shown = view(f"{GOOD}\n{BLANK}\n{{\n", kinds=frozenset(kinds))
    assert [each.code for each in shown.diagnostics()] == codes


def test_unchanged_lines_are_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    session, read = SessionDocument(StreamOptions(), LINES), []
    monkeypatch.setattr(resuming, "outline", lambda value: read.append(value) or value)
    for text in (f"{GOOD}\n{BLANK}\n", f"{GOOD}\n{BLANK}\n{BLANK}\r\n"):
        for _ in session.read(DocumentText(text, "utf16")):
            pass
    assert len(read) == 3
