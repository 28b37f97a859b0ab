"""What stands in the way of a resumed session, on the command line: every format, the
choice of kinds, the exit codes, and the last line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, get_args

import pytest
from click.testing import CliRunner, Result

from stream_sidecar.cli import main, repair
from stream_sidecar.cli.repair_asking import Asking
from stream_sidecar.cli.repair_formats import WORDS
from stream_sidecar.history.results import CHOICES
from stream_sidecar.resume.findings import Remedy, ResumeKind
from stream_sidecar.resume.wording import MENDS
from stream_sidecar.session_files.files import Job
from stream_sidecar.session_files.reports import FileReport, record_writer

CALL: dict[str, Any] = {
    "line": 3,
    "kind": "refused",
    "path": "/message/content/0",
    "rule": "call-without-result",
    "number": 1,
    "message": "The call toolu_1 has no result.",
    "says": "messages.N: `tool_use` ids were found without `tool_result` blocks",
    "mend": "request",
}
LEFT = {
    "line": 7,
    "kind": "left-out",
    "path": "",
    "message": "Its parent is in no record.",
    "mend": "file",
}
CUT = {
    "line": 9,
    "column": 40,
    "kind": "broken",
    "path": "",
    "message": "The line is cut off.",
    "mend": "none",
}
RESUMES = "claude --resume 0199"


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[Path, Result]]:
    """Runs ``repair`` on a session in which the given findings would be found."""
    path = tmp_path / "0199.jsonl"
    path.write_text('{"role": "assistant", "content": "Hi"}\n', encoding="utf-8")

    def run(*arguments: str, found: Any = (), **facts: Any) -> tuple[Path, Result]:
        def repair_files(
            paths: list[Path],
            job: Job,
            advance: Any,
            records: IO[bytes] | None,
            *_: Any,
        ) -> Iterator[FileReport]:
            report = FileReport(
                str(path), **{"messages": 1, "resumes": RESUMES, **facts}
            )
            write = record_writer(records)
            for record in found:
                report.find(record["kind"], record["mend"])
                if write is not None:
                    write({"file": str(path), **record})
            report.written = job.write and bool(report.mendable)
            yield report

        monkeypatch.setattr(repair, "repair_files", repair_files)
        runner = CliRunner(env={"COLUMNS": "500"})
        return path, runner.invoke(main, ["repair", str(path), *arguments])

    return run


def test_a_table_never_says_that_nothing_is_to_repair(run: Any) -> None:
    path, result = run(found=[CALL, LEFT, CUT])
    head, row, summary, last = result.output.splitlines()
    names = ["messages", "leaking", "refused", "left", "out", "broken", "file"]
    assert head.split() == names
    assert row.split(maxsplit=5) == ["1", "0", "1", "1", "1", f"{path}  1 to mend"]
    counts = "1 refused, 1 left out, 1 broken, 1 to mend"
    assert summary.endswith(f" of a model: {counts}; nothing was changed")
    gateway = f"stream-sidecar-gateway run -- {RESUMES}"
    assert last == f"To resume: stream-sidecar repair {path} --write && {gateway}"
    assert result.exit_code == 0


def test_the_last_line_is_the_command_that_resumes(run: Any) -> None:
    _, result = run("--check", found=[CALL])
    gateway = f"To resume: stream-sidecar-gateway run -- {RESUMES}"
    assert result.output.splitlines()[-2:] == ["Findings: exit code 1.", gateway]
    path, result = run("--check", found=[LEFT])
    command = f"To resume: stream-sidecar repair {path} --write"
    assert result.output.splitlines()[-1] == command
    _, result = run("--write", found=[LEFT, CALL])
    assert result.output.splitlines()[-1] == gateway
    assert "1 refused, 1 left out, 1 mended" in result.output
    for other in ("codex resume 1", "pi --session 1"):
        _, result = run("--check", found=[CALL], resumes=other)
        line = f"To resume: stream-sidecar-gateway run -- {other}"
        assert result.output.splitlines()[-1] == line
    for other in ("", "kimi --session 1"):
        _, result = run("--check", found=[CALL], resumes=other)
        assert "To resume" not in result.output


def test_nothing_in_the_way_is_said_as_ever(run: Any) -> None:
    _, result = run("--check")
    assert result.output == "1 file, 0 messages of a model: 0 to repair\n"
    assert result.exit_code == 0


def test_a_diff_says_what_is_wrong_what_is_said_and_what_mends(run: Any) -> None:
    path, result = run("--diff", found=[CALL, LEFT])
    assert result.output.splitlines()[:6] == [
        f"{path}:3 /message/content/0 refused call-without-result (1)",
        f"  {CALL['message']}",
        f"  The provider says: {CALL['says']}",
        f"  {MENDS['request']}",
        f"{path}:7 left-out",
        f"  {LEFT['message']}",
    ]


@pytest.mark.parametrize(
    ("found", "facts", "code"),
    [
        ([CALL], {}, 1),
        ([LEFT], {}, 1),
        ([CUT], {}, 1),
        ([CUT], {"messages": 0}, 1),
        ([], {"unreadable": 1}, 2),
        ([CUT], {"unreadable": 1}, 1),
        ([CALL], {"error": "it is locked"}, 2),
        ([], {"messages": 0}, 2),
    ],
)
def test_exit_codes(run: Any, found: Any, facts: Any, code: int) -> None:
    """2 is only for what could not be looked at."""
    assert run("--check", found=found, **facts)[1].exit_code == code
    assert run("--check", "--output-format", "json", found=found, **facts)[
        1
    ].exit_code == (code)


def test_the_document_for_programs(run: Any) -> None:
    path, result = run("--output-format", "json", found=[CALL, LEFT, CUT])
    document = json.loads(result.output)
    assert document["findings"][0] == {"file": str(path), **CALL}
    (file,) = document["files"]
    counts = {"refused": 1, "leftOut": 1, "broken": 1}
    assert counts.items() <= file.items()
    assert (file["mendable"], file["resumes"]) == (1, RESUMES)
    assert counts.items() <= document["summary"].items()
    assert document["summary"]["mended"] == 0


def test_annotations_and_sarif(run: Any) -> None:
    path, result = run("--output-format", "github", found=[CALL, LEFT])
    error, warning = result.output.splitlines()
    assert error.startswith(f"::error file={path},line=3,title=Refused when resumed::")
    assert error.endswith("(call-without-result (1) /message/content/0)")
    assert warning.startswith(f"::warning file={path},line=7,title=Left out")
    _, result = run("--output-format", "sarif", found=[CALL, LEFT])
    (log,) = json.loads(result.output)["runs"]
    levels = [(each["ruleId"], each["level"]) for each in log["results"]]
    assert levels == [("call-without-result", "error"), ("left-out", "warning")]
    rules = {rule["id"]: rule for rule in log["tool"]["driver"]["rules"]}
    assert {"call-without-result", "left-out", "broken"} <= rules.keys()


def test_kinds_are_known_everywhere() -> None:
    assert {*get_args(ResumeKind), "bound"} <= {*CHOICES}
    assert {*get_args(ResumeKind)} <= WORDS.keys()
    assert MENDS.keys() == {*get_args(Remedy)}


def test_asking_about_a_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(["n", "a"])
    monkeypatch.setattr("click.prompt", lambda *_, **__: next(answers))
    asking, record = Asking(), {"file": "a.jsonl", **LEFT}
    assert [asking.mend(record) for _ in range(3)] == [False, True, True]


SEALED = (
    {"role": "user", "content": "2+2?"},
    {"role": "assistant", "model": "claude-opus-5-1", "content": [LEAK := {
        "type": "text", "text": "<think>Hm.</think>Four."}]},
    {"role": "assistant", "model": "claude-opus-5-1", "content": [
        {"type": "thinking", "thinking": "Hm.", "signature": "EqQB"},
        {"type": "text", "text": "Four.</s>"}]},
)  # fmt: skip
"""A leak that is bound, and one that is not."""


@pytest.mark.parametrize(
    ("chosen", "kinds"),
    [
        ((), {"reasoning": True, "delimiter": False}),
        (("--only", "bound"), {"reasoning": True}),
        (("--except", "bound"), {"delimiter": False}),
        (("--only", "reasoning"), {"reasoning": True}),
        (("--only", "reasoning", "--except", "bound"), {}),
        (("--only", "refused"), {}),
    ],
)
def test_bound_leaks_can_be_chosen(tmp_path: Path, chosen: Any, kinds: Any) -> None:
    path = tmp_path / "session.jsonl"
    text = "".join(json.dumps(record) + "\n" for record in SEALED)
    path.write_text(text, encoding="utf-8")
    arguments = ["repair", str(path), "--output-format", "json", *chosen]
    result = CliRunner().invoke(main, arguments)
    findings = json.loads(result.output)["findings"]
    assert {f["kind"]: f.get("bound", False) for f in findings} == kinds
