"""What message/inspect and message/repair take and give.

The same rules as in ``params``; what they say of one message is in
``sidecar.history``.
"""

# The converter reads the annotations at run time.
from __future__ import annotations

from typing import Any

from attrs import frozen

from sidecar.history.results import Inspection, Repair
from sidecar.options import Tool
from sidecar.protocol.params import PolicyPatch


@frozen
class HistoryParams:
    """``message/inspect`` and ``message/repair``: the messages of one session.

    ``work_done_token`` (string or integer): progress is told under it.
    """

    messages: list[Any]
    tools: tuple[Tool, ...] | None = None
    model: str | None = None
    provider: str | None = None
    policy: PolicyPatch | None = None
    work_done_token: str | int | None = None


@frozen
class InspectResult:
    """One for each of ``messages``, in their order."""

    results: list[Inspection]


@frozen
class RepairResult:
    """One for each of ``messages``, in their order."""

    results: list[Repair]
