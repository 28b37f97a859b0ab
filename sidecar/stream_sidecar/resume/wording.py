"""What stands in the way of a resumed session, in words: the same in a report, in its
formats, and in an editor.

A finding is here an object as in a report (session_files/README.md, "For programs"),
with ``kind``, ``message`` and ``mend``, and where known ``rule``, ``number`` and
``says``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from stream_sidecar.history.paths import pointer_to
from stream_sidecar.resume.findings import ResumeKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stream_sidecar.resume.findings import ResumeFinding

NAMES: dict[str, str] = {
    "refused": "Refused when resumed",
    "left-out": "Left out when resumed",
    "broken": "A broken line",
}
"""Kind -> its title."""

MENDS: dict[str, str] = {
    "file": "`stream-sidecar repair --write` mends it.",
    "request": "The file stays: the gateway mends the request.",
    "none": "Nothing mends it: what a model or a tool wrote is never invented.",
}
"""Remedy -> what a user can do."""

ERRORS = ("refused", "broken")
"""Kinds that are errors; the others are warnings."""


def record_of(finding: ResumeFinding) -> dict[str, Any]:
    """A finding as an object of a report, without its file and its place there."""
    record = {
        "kind": finding.kind,
        "path": pointer_to(finding.source.path),
        "rule": finding.rule,
        "number": finding.number,
        "message": finding.message,
        "says": finding.says,
    }
    return {
        **{name: value for name, value in record.items() if value},
        "mend": finding.remedy,
    }


def is_resume_finding(record: Mapping[str, Any]) -> bool:
    """Whether an object of a report is such a finding, and not a leak."""
    return record["kind"] in get_args(ResumeKind)


def code_of(record: Mapping[str, Any]) -> str:
    """The rule that is broken, or the kind: ``call-without-result``, ``left-out``."""
    return str(record.get("rule") or record["kind"])


def rule_of(record: Mapping[str, Any]) -> str:
    """The rule with its number: ``call-without-result (1)``; "" if there is none."""
    rule, number = record.get("rule", ""), record.get("number")
    return f"{rule} ({number})" if rule and number else rule


def sentences_of(record: Mapping[str, Any]) -> list[str]:
    """What is wrong, what the provider says, and what mends it."""
    says = record.get("says")
    quote = [f"The provider says: {says}"] if says else []
    return [record["message"], *quote, MENDS[record["mend"]]]
