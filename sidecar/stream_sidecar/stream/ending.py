"""How a stream ended: the reason of each choice's ``finish``, and what is missing.

The provider's raw reason is kept beside the derived reason. The derived reason says
what a host must do next (protocol.md, "Events"): it is ``tool-calls`` only if a
structured call waits for the client.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.parts import ErrorPart
from stream_sidecar.records import define

if TYPE_CHECKING:
    from stream_sidecar.events import ToolCall
    from stream_sidecar.parts import FinishPart

_ERROR_REASONS = {
    "refusal": "refusal",
    "content-filter": "content-filter",
    "context-length": "context-length",
    "cancelled": "cancelled",
}

_CLOSED_BY_HOST = {"cancelled": "cancelled", "error": "error"}


@define
class Ending:
    """What is known about the end of a stream.

    ``done``: the provider said that the stream is over. ``reason``: the host's reason
    of stream/close. ``implicit``: the end of the text is the stream's regular end (wire
    ``text``). ``error``: the provider's last error, unless the stream recovered from
    it.
    """

    done: bool = False
    reason: str = "eof"
    implicit: bool = False
    error: ErrorPart | None = None

    @property
    def is_explained(self) -> bool:
        """Whether nothing is missing, or it is known why something is."""
        return self.is_ended or self.reason != "eof"

    @property
    def is_ended(self) -> bool:
        """Whether the provider or the user ended the stream, and not the transport."""
        is_broken_off = self.error is not None or self.reason == "cancelled"
        return self.done or self.implicit or is_broken_off

    def derive(self, last: FinishPart | None, calls: list[ToolCall]) -> str:
        """The reason of a choice. ``last``: its last finish chunk, if one came."""
        if self.reason in _CLOSED_BY_HOST:
            return _CLOSED_BY_HOST[self.reason]
        if self.error is not None:
            words = (self.error.provider_type or "", self.error.kind)
            reasons = (_ERROR_REASONS.get(word) for word in words)
            return next(filter(None, reasons), "error")
        default = "stop" if self.implicit else "unknown"
        reason = default if last is None else last.reason
        if reason in ("stop", "tool-calls"):
            return "tool-calls" if waits_for_client(calls) else "stop"
        if reason == "unknown" and last is None and self.done:
            return "tool-calls" if waits_for_client(calls) else "unknown"
        return reason

    def complete(self, last: FinishPart | None) -> bool:
        """Whether the provider ended the choice before the transport ended. ``last``:
        its last finish chunk; None if none came."""
        if self.reason in _CLOSED_BY_HOST:
            return False
        return self.done or self.implicit or last is not None


def failed_finish(raw: str | None, choice: int) -> ErrorPart:
    """The error of a finish ``raw`` that is a failure and came without an error."""
    kind = "network" if raw == "network_error" else "server"
    message = f"The provider ended the answer with the finish reason {raw}"
    return ErrorPart(kind, message, True, raw, choice=choice)


def waits_for_client(calls: list[ToolCall]) -> bool:
    """Whether a structured call waits for the client's result or approval."""
    return any(
        call.origin != "text" and call.awaits.startswith("client") for call in calls
    )
