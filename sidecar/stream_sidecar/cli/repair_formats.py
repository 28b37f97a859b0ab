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
from stream_sidecar.cli.repair_page import RepairPage, short, staying
from stream_sidecar.cli.terminal import Terminal
from stream_sidecar.editor.wording import WORDINGS
from stream_sidecar.history.bound import BOUND
from stream_sidecar.history.repair_counts import RepairCounts
from stream_sidecar.values.jsontext import encode, loads

if TYPE_CHECKING:
    from stream_sidecar.session_files.reports import FileReport
    from stream_sidecar.session_files.skipped_files import SkippedFiles

WORDS: dict[str, str] = {
    **{kind: wording.name for kind, wording in WORDINGS.items()},
    "blocked": "The message would be left empty",
}
"""The title of each kind of finding."""

_SKIPPED = "not looked at"
_PLACE = ("line", "column", "endLine", "endColumn")


def place_of(record: dict[str, Any]) -> str:
    """The place of a finding in its file, beside its lines."""
    names = (f"{name} {record[name]}" for name in ("table", "row") if name in record)
    return " ".join((*names, f"{record['message']}{record.get('path', '')}"))


def _region(record: dict[str, Any], *names: str) -> dict[str, int]:
    """The known lines and columns of a finding, under these names."""
    pairs = zip(names, _PLACE, strict=True)
    return {ours: record[name] for ours, name in pairs if name in record}


def sentence_of(record: dict[str, Any]) -> str:
    """The finding in a sentence."""
    words = WORDS.get(record["kind"], record["kind"])
    text = f": {short(record['text'])}" if record["text"] else ""
    stays = f"; bound: {BOUND}" if record.get("bound") else ""
    return f"{words}{text} ({place_of(record)}){stays}"


def reasons_of(report: FileReport) -> list[str]:
    """Why a file is not known to be clean, or could not be repaired."""
    reasons = [f"left alone: {report.error}"] if report.error else []
    reasons += staying(report)
    reasons += [f"{number} not read: {why}" for why, number in report.left.items()]
    if report.unrecognised:
        reasons.append("no message of a model recognised")
    return reasons


class JsonDocument:
    """One document: ``findings`` as in a report, ``files``, ``summary``."""

    def __init__(self, *, write: bool) -> None:
        self._terminal = Terminal()
        self._files: list[dict[str, Any]] = []
        self._counts = RepairCounts()
        self._repaired = self._bound = self._unsealed = 0
        self._begun = False

    def show(self, line: bytes) -> None:
        self._terminal.body(", " if self._begun else '{"version": 1, "findings": [')
        self._begun = True
        self._terminal.json(line.rstrip(b"\n"))

    def add(self, report: FileReport) -> None:
        for each in report.models:
            self._counts.add(each)
        if report.written:
            self._repaired += report.repairable
        self._bound += report.bound
        self._unsealed += report.unsealed
        counts = ("messages", "changed", "blocked", "bound", "unsealed", "unreadable")
        names = ("path", "format", *counts)
        values = {
            name: getattr(report, name) for name in (*names, "removed", "written")
        }
        more = {"backup": report.backup, "error": report.error, "notRead": report.left}
        recognised = {"kept": report.kept, "recognised": not report.unrecognised}
        self._files.append({**values, **more, **recognised})

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
            "removed": total.removed,
            "unrecognised": sum(not each["recognised"] for each in self._files),
            "stopped": len(self._files) < files,
            "notLookedAt": {**skipped.sealed, **skipped.others},
        }
        head = "" if self._begun else '{"version": 1, "findings": ['
        self._terminal.body(f'{head}], "files": ')
        self._terminal.json(encode(self._files))
        self._terminal.body(', "summary": ')
        self._terminal.json(encode(summary))
        self._terminal.body("}\n")


class GithubAnnotations:
    """A warning for each finding, and an error for each file that was left alone."""

    _ESCAPES: ClassVar = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
    _IN_PROPERTY: ClassVar = str.maketrans({":": "%3A", ",": "%2C"})

    def __init__(self, *, write: bool) -> None:
        self._terminal = Terminal()

    def show(self, line: bytes) -> None:
        record = loads(line.decode())
        where = _region(record, "line", "col", "endLine", "endColumn")
        title = WORDS.get(record["kind"], record["kind"])
        where = {"file": record["file"], **where, "title": title}
        self._say("warning", where, sentence_of(record))

    def add(self, report: FileReport) -> None:
        level = "error" if report.error else "warning"
        for reason in reasons_of(report):
            self._say(level, {"file": report.path}, reason)

    def summary(self, files: int, skipped: SkippedFiles) -> None:
        """Prints what was not looked at; there is no other summary."""
        if words := skipped.words():
            level = "warning" if skipped.sealed else "notice"
            self._say(level, {"title": _SKIPPED}, ", ".join(words))

    def _say(self, level: str, properties: dict[str, Any], words: str) -> None:
        property_list = ",".join(
            f"{name}={self._escaped(str(value)).translate(self._IN_PROPERTY)}"
            for name, value in properties.items()
        )
        self._terminal.line(f"::{level} {property_list}::{self._escaped(words)}")

    def _escaped(self, text: str) -> str:
        return text.translate(self._ESCAPES)


class SarifLog:
    """A log of one run, with the kinds of findings as its rules."""

    def __init__(self, *, write: bool) -> None:
        self._terminal = Terminal()
        self._results: list[dict[str, Any]] = []
        self._notes: list[dict[str, Any]] = []

    def show(self, line: bytes) -> None:
        record = loads(line.decode())
        region = _region(record, "startLine", "startColumn", "endLine", "endColumn")
        location = self._location(record["file"], region)
        location["logicalLocations"] = [{"fullyQualifiedName": place_of(record)}]
        self._results.append(
            {
                "ruleId": record["kind"],
                "level": "warning",
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
            for kind, words in WORDS.items()
        ]
        driver = {"name": "stream-sidecar", "version": __version__, "rules": rules}
        if words := skipped.words():
            level, text = ("warning" if skipped.sealed else "note"), ", ".join(words)
            note = {"level": level, "message": {"text": f"{_SKIPPED}: {text}"}}
            self._notes.append(note)
        failed = any(each["level"] == "error" for each in self._notes)
        run = {
            "tool": {"driver": driver},
            "columnKind": "unicodeCodePoints",
            "invocations": [
                {
                    "executionSuccessful": not failed,
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
