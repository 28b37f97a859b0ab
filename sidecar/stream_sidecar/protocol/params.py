"""The params and the result of each method: the reference of protocol.md, "Methods".

Names are Python's; the JSON spelling is in ``converter``. A field with a default may be
absent, and None means that it is absent. A field of type ``Any`` holds any JSON value,
passed on unchanged; there null is a value like any other.
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
from stream_sidecar.parts import Chunk, Refusal
from stream_sidecar.protocol.reading_options import PolicyPatch, ResponseTemplate
from stream_sidecar.records import PublicRecord, define, frozen
from stream_sidecar.values.absent import ABSENT
from stream_sidecar.wires.shared.rendering import Lost, LostPart


@frozen
class OpenParams:
    """Params of ``stream/open``; stream/list returns ``metadata`` unchanged."""

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
class OpenResult(PublicRecord):
    """The stream as it was opened; ``wire`` and ``framing`` are ``auto`` until they are
    detected. ``ignored``: the paths of members of the params that this version does not
    know."""

    stream_id: str
    wire: str
    framing: str
    profile: Profile
    policy: Policy
    limits: Limits
    emit: Emit | None = None
    ignored: tuple[str, ...] | None = None


# Not frozen: one of these is made for every chunk, and freezing doubles the time.
@define
class PushParams:
    """Params of ``stream/push``: either ``chunk`` or ``chunks``. ``push_seq`` is the
    number of this push in its stream, from 1."""

    stream_id: str
    chunk: Any = ABSENT
    chunks: list[Any] | None = None
    push_seq: int | None = None


@define
class PushResult(PublicRecord):
    """The events of one push. ``pushes`` counts the pushes of the stream so far, this
    push included; ``chunks`` are documents of the wire that ``emit`` names.
    ``last_seqs`` of a push of ``chunks``: the ``seq`` of the stream's last event after
    each chunk."""

    stream_id: str
    events: list[Event]
    last_seq: int
    pushes: int
    chunks: list[Chunk] | None = None
    last_seqs: list[int] | None = None


@frozen
class ErrorData:
    """What a program needs to know about an error."""

    kind: str
    retryable: bool


@frozen
class ResponseError:
    """The ``error`` of an answer; ``message`` explains it without the other fields."""

    code: int
    message: str
    data: ErrorData


@frozen
class PushRefusal:
    """Params of ``stream/events`` after a push notification that was refused."""

    stream_id: str | None
    error: ResponseError


@frozen
class FailedResponse:
    """What the host knows about a response that failed: ``status`` is the HTTP status,
    ``body`` is text or a JSON value."""

    status: int | None = None
    headers: dict[str, Any] | None = None
    body: Any = None


@frozen
class CloseParams:
    """Params of ``stream/close``. Without ``reason``, the reason is ``error`` if
    ``error`` is given, and ``eof`` if not."""

    stream_id: str
    reason: Literal["eof", "cancelled", "error"] | None = None
    error: FailedResponse | None = None

    @property
    def why(self) -> str:
        """The reason, as given or by default."""
        return self.reason or ("eof" if self.error is None else "error")

    @property
    def failure(self) -> dict[str, Any] | None:
        """The fields of ``error``, as `Stream.close` expects them."""
        return None if self.error is None else asdict(self.error, recurse=False)


@frozen
class CloseResult(PublicRecord):
    """The last events of the stream, and the message that all its events add up to."""

    stream_id: str
    events: list[Event]
    message: Message
    stats: Stats
    chunks: list[Any] | None = None


@frozen
class SnapshotParams:
    """Params of ``stream/snapshot``."""

    stream_id: str


@frozen
class SnapshotResult(PublicRecord):
    """The message that the events 1 to ``last_seq`` add up to."""

    message: Message
    stats: Stats
    last_seq: int


@frozen
class NoParams:
    """Params of ``stream/list`` and ``sidecar/stats``: an empty object."""


@frozen
class StreamRow:
    """An open stream. ``opened_at`` is ISO 8601 in UTC; ``chars`` counts the code
    points of string chunks."""

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
    """Params of ``message/normalize``: a whole response in ``body``. ``stream_id`` is
    only used to make ids for calls without an id; it refers to no open stream."""

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
class NormalizeResult(PublicRecord):
    """The events and the message of the response. ``body`` is the clean response as one
    document of the wire that ``emit`` names."""

    events: list[Event]
    message: Message
    stats: Stats
    body: Chunk | None = None


@frozen
class RenderParams:
    """Params of ``message/render``: a ``message`` from stream/close, and the
    ``results`` of its calls. ``model`` is by default the model that wrote the
    message."""

    message: Turn
    wire: str
    provider: str | None = None
    model: str | None = None
    results: tuple[TurnResult, ...] = ()
    claims: Literal["drop", "include"] = "drop"
    reasoning: Literal["auto", "all", "none"] = "auto"


@frozen
class RenderResult(PublicRecord):
    """The messages to append to those of the last request; ``lost``: what they lack."""

    messages: list[dict[str, Any]]
    lost: list[Lost]


@frozen
class PrepareParams:
    """Params of ``request/prepare``: the ``body`` of a request that the host is about
    to send. ``model`` and ``tools`` are by default those of the body. ``headers``: the
    request's, as the host will send them."""

    wire: str
    body: dict[str, Any]
    headers: dict[str, Any] | None = None
    provider: str | None = None
    model: str | None = None
    tools: tuple[Tool, ...] | None = None
    policy: PolicyPatch | None = None
    response_template: ResponseTemplate | None = None
    claims: Literal["drop", "include"] = "drop"
    reasoning: Literal["auto", "all", "none"] = "auto"


@frozen
class PrepareResult(PublicRecord):
    """``body`` is the body to send. If nothing ``changed``, ``body`` is None and the
    host sends its own. ``headers``: those that the host must set."""

    changed: bool
    lost: list[LostPart]
    body: dict[str, Any] | None = None
    headers: dict[str, Any] | None = None


@frozen
class ClassifyParams:
    """Params of ``tool/classify``: whole call items, as the provider spells them."""

    calls: list[dict[str, Any]]
    wire: str = "auto"
    provider: str | None = None
    tools: tuple[Tool, ...] | None = None


@frozen
class ClassifyResult:
    """The calls in the order of the params; without ``block`` and ``seq``."""

    calls: list[ToolCall]


@frozen
class NormalizeErrorParams:
    """Params of ``error/normalize``: a failed HTTP response; ``body`` is text or a JSON
    value."""

    body: Any
    status: int | None = None
    headers: dict[str, Any] | None = None
    provider: str | None = None


@frozen
class NormalizeErrorResult:
    """The fields of an ``error`` event, without ``seq`` and ``choice``."""

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
    refusal: Refusal | None = None


@frozen
class StreamCounts:
    """Numbers of streams: ``open`` now, the others since the connection began."""

    open: int
    opened: int
    closed: int
    expired: int


@define
class Counters:
    """Totals over finished messages: of closed and expired streams, and of
    message/normalize. All fields but ``messages`` add up fields of ``Stats``."""

    messages: int = 0
    chunks: int = 0
    delimiters_stripped: int = 0
    reasoning_extracted: int = 0
    tool_results_stripped: int = 0
    tool_calls_from_text: int = 0
    malformed_chunks: int = 0


@define
class ModelCounters(Counters):
    """Totals of one model. ``provider`` or ``model`` is None if neither the host nor
    the provider named it."""

    provider: str | None = None
    model: str | None = None


@define
class AllCounters(Counters):
    """Totals of all models together; ``by_model`` has the totals of each model."""

    by_model: list[ModelCounters] = Factory(list)


@frozen
class StatsResult:
    """Result of ``sidecar/stats``; ``uptime_ms``: milliseconds since the connection
    began."""

    uptime_ms: int
    streams: StreamCounts
    counters: AllCounters
    repairs: AllRepairCounters


@frozen
class HistoryParams:
    """Params of ``message/inspect`` and ``message/repair``: the messages of one
    session.

    ``work_done_token`` (string or integer): progress is reported under this token.
    """

    messages: list[Any]
    tools: tuple[Tool, ...] | None = None
    model: str | None = None
    provider: str | None = None
    policy: PolicyPatch | None = None
    response_template: ResponseTemplate | None = None
    work_done_token: str | int | None = None


@frozen
class InspectResult(PublicRecord):
    """One result for each of ``messages``, in their order."""

    results: list[Inspection]


@frozen
class RepairResult(PublicRecord):
    """One result for each of ``messages``, in their order."""

    results: list[Repair]
