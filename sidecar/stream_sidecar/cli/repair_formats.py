"""``repair --output-format``: the findings, for programs.

Each format gets the removals as they come (``show``, each a line of JSON), the report
of every file (``add``), and at the end ``summary``, with what was not looked at.
``json`` is one document, ``github`` annotations of a workflow, ``sarif`` a log of SARIF
2.1.0.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote

from stream_sidecar import __version__
from stream_sidecar.cli.repair_findings import Findings, place_in_file
from stream_sidecar.cli.repair_page import RepairPage, not_read, short, staying
from stream_sidecar.cli.terminal import Terminal
from stream_sidecar.editor.wording import WORDINGS
from stream_sidecar.history.bound import BOUND
from stream_sidecar.history.repair_counts import RepairCounts
from stream_sidecar.resume.wording import (
    ERRORS,
    NAMES,
    code_of,
    is_resume_finding,
    rule_of,
    sentences_of,
)
from stream_sidecar.values.jsontext import encode, loads

if TYPE_CHECKING:
    from stream_sidecar.session_files.reports import FileReport
    from stream_sidecar.session_files.skipped_files import SkippedFiles

WORDS: dict[str, str] = {
    **{kind: wording.name for kind, wording in WORDINGS.items()},
    "blocked": "The message would be left empty",
    **NAMES,
}
"""The title of each kind of finding."""

_SKIPPED = "not looked at"
_PLACE = ("line", "column", "endLine", "endColumn")


def place_of(record: dict[str, Any]) -> str:
    """The place of a finding in its file, beside its lines."""
    if is_resume_finding(record):
        return " ".join(place_in_file(record))
    names = (f"{name} {record[name]}" for name in ("table", "row") if name in record)
    return " ".join((*names, f"{record['message']}{record.get('path', '')}"))


def _region(record: dict[str, Any], *names: str) -> dict[str, int]:
    """The known lines and columns of a finding, under these names."""
    pairs = zip(names, _PLACE, strict=True)
    return {label: record[name] for label, name in pairs if name in record}


def sentence_of(record: dict[str, Any]) -> str:
    """The finding in a sentence, or a few."""
    if is_resume_finding(record):
        place = " ".join(filter(None, (rule_of(record), place_of(record))))
        return " ".join((*sentences_of(record), *([f"({place})"] if place else ())))
    words = WORDS.get(record["kind"], record["kind"])
    text = f": {short(record['text'])}" if record["text"] else ""
    seal = f"; bound: {BOUND}" if record.get("bound") else ""
    return f"{words}{text} ({place_of(record)}){seal}"


def level_of(record: dict[str, Any]) -> str:
    return "error" if record["kind"] in ERRORS else "warning"


def reasons_of(report: FileReport) -> list[str]:
    """Why a file is not known to be clean, or could not be repaired."""
    errors = [f"left alone: {report.error}"] if report.error else []
    return errors + staying(report) + not_read(report)


class JsonDocument:
    """One document: ``findings`` as in a report, ``files``, ``summary``."""

    def __init__(self, *, write: bool) -> None:
        self._terminal = Terminal()
        self._files: list[dict[str, Any]] = []
        self._counts, self._findings = RepairCounts(), Findings()
        self._repaired = self._bound = self._unsealed = 0
        self._separator = '{"version": 1, "findings": ['

    def show(self, line: bytes) -> None:
        self._terminal.body(self._separator)
        self._separator = ", "
        self._terminal.json(line.rstrip(b"\n"))

    def add(self, report: FileReport) -> None:
        for counters in report.models:
            self._counts.add(counters)
        if report.written:
            self._repaired += report.repairable
        self._bound += report.bound
        self._unsealed += report.unsealed
        self._findings.add(report)
        counts = ("messages", "changed", "blocked", "bound", "unsealed", "unreadable")
        names = ("path", "format", *counts, "removed", "written", "backup", "error")
        values = {name: getattr(report, name) for name in names}
        recognised = {"kept": report.kept, "recognised": not report.unrecognised}
        found = {
            "refused": report.refused,
            "leftOut": report.left_out,
            "broken": report.broken,
            "mendable": report.mendable,
            "resumes": report.resumes or None,
        }
        file = {**values, "notRead": report.left, **recognised, **found}
        self._files.append(file)

    def summary(self, files: int, skipped: SkippedFiles) -> None:
        total = self._counts.total()
        summary = {
            "files": len(self._files),
            "messages": total.messages,
            "changed": total.changed,
            "blocked": total.blocked,
            "bound": self._bound,
            "unsealed": self._unsealed,
            "repaired": self._repaired,
            "refused": self._findings.counts["refused"],
            "leftOut": self._findings.counts["left_out"],
            "broken": self._findings.counts["broken"],
            "mended": self._findings.mended,
            "removed": total.removed,
            "unrecognised": sum(not file["recognised"] for file in self._files),
            "stopped": len(self._files) < files,
            "notLookedAt": {**skipped.sealed, **skipped.others},
        }
        start = "" if self._separator == ", " else self._separator
        self._terminal.body(f'{start}], "files": ')
        self._terminal.json(encode(self._files))
        self._terminal.body(', "summary": ')
        self._terminal.json(encode(summary))
        self._terminal.body("}\n")


class GithubAnnotations:
    """A warning for each leak and for what is left out; an error for what is refused or
    broken, and for each file that was left alone."""

    _ESCAPES: ClassVar = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
    _IN_PROPERTY: ClassVar = str.maketrans({":": "%3A", ",": "%2C"})

    def __init__(self, *, write: bool) -> None:
        self._terminal = Terminal()

    def show(self, line: bytes) -> None:
        record = loads(line.decode())
        region = _region(record, "line", "col", "endLine", "endColumn")
        title = WORDS.get(record["kind"], record["kind"])
        properties = {"file": record["file"], **region, "title": title}
        self._print(level_of(record), properties, sentence_of(record))

    def add(self, report: FileReport) -> None:
        level = "error" if report.error else "warning"
        for reason in reasons_of(report):
            self._print(level, {"file": report.path}, reason)

    def summary(self, files: int, skipped: SkippedFiles) -> None:
        """Prints what was not looked at; there is no other summary."""
        if words := skipped.words():
            level = "warning" if skipped.sealed else "notice"
            self._print(level, {"title": _SKIPPED}, ", ".join(words))

    def _print(self, level: str, properties: dict[str, Any], words: str) -> None:
        property_list = ",".join(
            f"{name}={self._escaped(str(value)).translate(self._IN_PROPERTY)}"
            for name, value in properties.items()
        )
        self._terminal.line(f"::{level} {property_list}::{self._escaped(words)}")

    def _escaped(self, text: str) -> str:
        return text.translate(self._ESCAPES)


class SarifLog:
    """A log of one run. Its rules are the kinds of findings, and the rules of providers
    that are broken in it."""

    def __init__(self, *, write: bool) -> None:
        self._terminal = Terminal()
        self._results: list[dict[str, Any]] = []
        self._notes: list[dict[str, Any]] = []
        self._rules = dict(WORDS)

    def show(self, line: bytes) -> None:
        record = loads(line.decode())
        region = _region(record, "startLine", "startColumn", "endLine", "endColumn")
        location = self._location(record["file"], region)
        location["logicalLocations"] = [{"fullyQualifiedName": place_of(record)}]
        code = code_of(record)
        self._rules.setdefault(code, record.get("says") or record.get("message", ""))
        self._results.append(
            {
                "ruleId": code,
                "level": level_of(record),
                "message": {"text": sentence_of(record)},
                "locations": [location],
            }
        )

    def add(self, report: FileReport) -> None:
        self._notes += [
            {
                "level": "error" if report.error else "warning",
                "message": {"text": reason},
                "locations": [self._location(report.path, {})],
            }
            for reason in reasons_of(report)
        ]

    def _location(self, path: str, region: dict[str, int]) -> dict[str, Any]:
        file = Path(path)
        uri = file.as_uri() if file.is_absolute() else quote(file.as_posix())
        physical: dict[str, Any] = {"artifactLocation": {"uri": uri}}
        if region:
            physical["region"] = region
        return {"physicalLocation": physical}

    def summary(self, files: int, skipped: SkippedFiles) -> None:
        rules = [
            {"id": kind, "shortDescription": {"text": words}}
            for kind, words in self._rules.items()
        ]
        driver = {"name": "stream-sidecar", "version": __version__, "rules": rules}
        if words := skipped.words():
            level, text = ("warning" if skipped.sealed else "note"), ", ".join(words)
            note = {"level": level, "message": {"text": f"{_SKIPPED}: {text}"}}
            self._notes.append(note)
        has_errors = any(note["level"] == "error" for note in self._notes)
        run = {
            "tool": {"driver": driver},
            "columnKind": "unicodeCodePoints",
            "invocations": [
                {
                    "executionSuccessful": not has_errors,
                    "toolExecutionNotifications": self._notes,
                }
            ],
            "results": self._results,
        }
        schema = "https://json.schemastore.org/sarif-2.1.0.json"
        log = {"$schema": schema, "version": "2.1.0", "runs": [run]}
        self._terminal.json(encode(log))


FORMATS: dict[str, Any] = {
    "text": RepairPage,
    "json": JsonDocument,
    "github": GithubAnnotations,
    "sarif": SarifLog,
}
"""Name -> class; ``text`` is for people."""
