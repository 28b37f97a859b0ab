"""What each method takes and gives: the reference of protocol.md, "Methods".

Names are Python's; the JSON spelling is the business of ``stream_sidecar.protocol``. A
default means that the field may be absent, None that it is. A field of type ``Any`` is
any JSON value, passed through untouched; there null is a value like any other.
"""

# The converter reads the annotations at run time.
from __future__ import annotations

from typing import Any, Literal

from attrs import Factory, asdict

from stream_sidecar.dialects.profiles import Profile
from stream_sidecar.events import Event, ToolCall
from stream_sidecar.history.repair_counts import AllRepairCounters
from stream_sidecar.history.results import Inspection, Repair
from stream_sidecar.message.message import Message, Stats
from stream_sidecar.message.turn import Turn, TurnResult
from stream_sidecar.options import Emit, Limits, Policy, Tool
from stream_sidecar.parts import Chunk
from stream_sidecar.protocol.reading_options import PolicyPatch, ResponseTemplate
from stream_sidecar.records import define, frozen
from stream_sidecar.values.absent import ABSENT
from stream_sidecar.wires.shared.rendering import Lost, LostPart


@frozen
class OpenParams:
    """``stream/open``; ``metadata`` is the host's own and comes back in stream/list."""

    stream_id: str | None = None
    wire: str = "auto"
    framing: str = "auto"
    encoding: Literal["utf-8", "base64"] = "utf-8"
    provider: str | None = None
    model: str | None = None
    tools: tuple[Tool, ...] | None = None
    policy: PolicyPatch | None = None
    response_template: ResponseTemplate | None = None
    emit: Emit | None = None
    metadata: Any = None


@frozen
class OpenResult:
    """``wire`` and ``framing`` are ``auto`` until they are decided."""

    stream_id: str
    wire: str
    framing: str
    profile: Profile
    policy: Policy
    limits: Limits
    emit: Emit | None = None


# Not frozen: one of these is made for every chunk, and freezing doubles the time.
@define
class PushParams:
    """``stream/push``: ``chunk`` or ``chunks``. ``push_seq`` counts pushes from 1."""

    stream_id: str
    chunk: Any = ABSENT
    chunks: list[Any] | None = None
    push_seq: int | None = None


@define
class PushResult:
    """``pushes`` counts the pushes of the stream, this one included; ``chunks`` are
    documents of the wire that ``emit`` names. ``last_seqs``, of a push of ``chunks``:
    the ``seq`` of the stream's last event after each of them."""

    stream_id: str
    events: list[Event]
    last_seq: int
    pushes: int
    chunks: list[Chunk] | None = None
    last_seqs: list[int] | None = None


@frozen
class ErrorData:
    """What a program wants to know of an error."""

    kind: str
    retryable: bool


@frozen
class ResponseError:
    """The ``error`` of an answer; ``message`` stands alone."""

    code: int
    message: str
    data: ErrorData


@frozen
class PushRefusal:
    """The notification that answers a refused push."""

    stream_id: str | None
    error: ResponseError


@frozen
class FailedResponse:
    """What the host knows of a response that failed; ``status`` is HTTP's, ``body`` is
    text or a JSON value."""

    status: int | None = None
    headers: dict[str, Any] | None = None
    body: Any = None


@frozen
class CloseParams:
    """``stream/close``; without ``reason`` it is ``error`` when ``error`` is given."""

    stream_id: str
    reason: Literal["eof", "cancelled", "error"] | None = None
    error: FailedResponse | None = None

    @property
    def why(self) -> str:
        """The reason, told or not."""
        return self.reason or ("eof" if self.error is None else "error")

    @property
    def failure(self) -> dict[str, Any] | None:
        """The fields of ``error``, as `Stream.close` takes them."""
        return None if self.error is None else asdict(self.error, recurse=False)


@frozen
class CloseResult:
    """The last events, and what all events make."""

    stream_id: str
    events: list[Event]
    message: Message
    stats: Stats
    chunks: list[Any] | None = None


@frozen
class SnapshotParams:
    """``stream/snapshot``."""

    stream_id: str


@frozen
class SnapshotResult:
    """The message as the events 1 to ``last_seq`` make it."""

    message: Message
    stats: Stats
    last_seq: int


@frozen
class NoParams:
    """``stream/list`` and ``sidecar/stats``."""


@frozen
class StreamRow:
    """An open stream. ``opened_at`` is ISO 8601, UTC; ``chars`` are code points."""

    stream_id: str
    wire: str
    opened_at: str
    pushes: int
    chars: int
    last_seq: int
    metadata: Any = None


@frozen
class ListResult:
    """Open streams, oldest first."""

    streams: list[StreamRow]


@frozen
class NormalizeParams:
    """``message/normalize``: a whole response in ``body``. ``stream_id`` is for the ids
    of calls that have none, and names no open stream."""

    body: Any
    wire: str = "auto"
    framing: str = "auto"
    encoding: Literal["utf-8", "base64"] = "utf-8"
    provider: str | None = None
    model: str | None = None
    tools: tuple[Tool, ...] | None = None
    policy: PolicyPatch | None = None
    response_template: ResponseTemplate | None = None
    emit: Emit | None = None
    stream_id: str | None = None


@frozen
class NormalizeResult:
    """What push and close of ``body`` give; ``body`` is the clean response as one
    document of the wire that ``emit`` names."""

    events: list[Event]
    message: Message
    stats: Stats
    body: Chunk | None = None


@frozen
class RenderParams:
    """``message/render``: ``message`` as stream/close gave it, and what its calls were
    answered. ``model`` is by default the one that gave it."""

    message: Turn
    wire: str
    provider: str | None = None
    model: str | None = None
    results: tuple[TurnResult, ...] = ()
    claims: Literal["drop", "include"] = "drop"
    reasoning: Literal["auto", "all", "none"] = "auto"


@frozen
class RenderResult:
    """What goes behind the messages of the last request, and what could not go."""

    messages: list[dict[str, Any]]
    lost: list[Lost]


@frozen
class PrepareParams:
    """``request/prepare``: a request's ``body``, as the host is about to send it.
    ``model`` and ``tools`` are by default the body's own."""

    wire: str
    body: dict[str, Any]
    provider: str | None = None
    model: str | None = None
    tools: tuple[Tool, ...] | None = None
    policy: PolicyPatch | None = None
    response_template: ResponseTemplate | None = None
    claims: Literal["drop", "include"] = "drop"
    reasoning: Literal["auto", "all", "none"] = "auto"


@frozen
class PrepareResult:
    """``body`` is what is to be sent; where it has not ``changed`` there is none, and
    the host sends its own."""

    changed: bool
    lost: list[LostPart]
    body: dict[str, Any] | None = None


@frozen
class ClassifyParams:
    """``tool/classify``: a provider's call items, whole, in their own spelling."""

    calls: list[dict[str, Any]]
    wire: str = "auto"
    provider: str | None = None
    tools: tuple[Tool, ...] | None = None


@frozen
class ClassifyResult:
    """The calls in the order of ``calls``; without a block and a number."""

    calls: list[ToolCall]


@frozen
class NormalizeErrorParams:
    """``error/normalize``: a failed HTTP response; ``body`` is text or a JSON value."""

    body: Any
    status: int | None = None
    headers: dict[str, Any] | None = None
    provider: str | None = None


@frozen
class NormalizeErrorResult:
    """The fields of an ``error`` event; see ``stream_sidecar.events.ProviderError``."""

    kind: str
    message: str
    retryable: bool
    phase: Literal["before-stream", "mid-stream"]
    partial: bool
    raw: Any
    code: str | int | None = None
    provider_type: str | None = None
    http_status: int | None = None
    retry_after_ms: int | None = None


@frozen
class StreamCounts:
    """Numbers of streams; ``opened`` since the start of the process."""

    open: int
    opened: int
    closed: int
    expired: int


@define
class Counters:
    """Totals over messages that have ended: closed and expired streams, and those of
    message/normalize. Fields beside ``messages`` are those of ``Stats``."""

    messages: int = 0
    chunks: int = 0
    delimiters_stripped: int = 0
    reasoning_extracted: int = 0
    tool_results_stripped: int = 0
    tool_calls_from_text: int = 0
    malformed_chunks: int = 0


@define
class ModelCounters(Counters):
    """Totals of one model; None: neither the host nor the provider has named it."""

    provider: str | None = None
    model: str | None = None


@define
class AllCounters(Counters):
    """Totals of all models together, and of each."""

    by_model: list[ModelCounters] = Factory(list)


@frozen
class StatsResult:
    """``sidecar/stats``; milliseconds since the start of the connection."""

    uptime_ms: int
    streams: StreamCounts
    counters: AllCounters
    repairs: AllRepairCounters


@frozen
class HistoryParams:
    """``message/inspect`` and ``message/repair``: the messages of one session.

    ``work_done_token`` (string or integer): progress is reported under it.
    """

    messages: list[Any]
    tools: tuple[Tool, ...] | None = None
    model: str | None = None
    provider: str | None = None
    policy: PolicyPatch | None = None
    response_template: ResponseTemplate | None = None
    work_done_token: str | int | None = None


@frozen
class InspectResult:
    """One for each of ``messages``, in their order."""

    results: list[Inspection]


@frozen
class RepairResult:
    """One for each of ``messages``, in their order."""

    results: list[Repair]
