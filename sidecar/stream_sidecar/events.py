"""The events that leave the core, with the reference of their fields.

``seq`` counts 1, 2, 3 ... in one stream; ``choice`` is the provider's choice index.
Positions and lengths are Unicode code points unless a name says ``utf16``. ``None``
means absent. JSON spelling is the business of ``stream_sidecar.protocol`` alone. Source
of every field: protocol.md, "Events".
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias, get_args

from stream_sidecar.parts import Refusal
from stream_sidecar.records import PublicRecord, frozen, hot

ChannelName: TypeAlias = Literal["text", "reasoning"]
FinishReason: TypeAlias = Literal[
    "stop",
    "tool-calls",
    "length",
    "context-length",
    "content-filter",
    "refusal",
    "pause",
    "malformed",
    "error",
    "cancelled",
    "unknown",
]
ErrorKind: TypeAlias = Literal[
    "auth",
    "permission",
    "billing",
    "rate-limit",
    "overloaded",
    "context-length",
    "content-filter",
    "invalid-request",
    "not-found",
    "timeout",
    "server",
    "network",
    "cancelled",
    "unknown",
]
ToolKind: TypeAlias = Literal[
    "read",
    "edit",
    "delete",
    "move",
    "search",
    "execute",
    "think",
    "fetch",
    "switch-mode",
    "other",
]
Severity: TypeAlias = Literal["info", "warning"]
Span: TypeAlias = tuple[int, int]
"""``(start, end)``: positions in the answer, or in a reasoning field, as the provider
sent it (code points, before anything was removed)."""


@hot
class Metadata(PublicRecord):
    """What the provider says about the response, and the ``wire`` and ``framing`` that
    were detected. In a message, ``host_provider`` is the provider that the host
    named, and ``model`` the host's if the response names none."""

    type: ClassVar[Literal["metadata"]] = "metadata"
    seq: int
    choice: int = 0
    id: str | None = None
    model: str | None = None
    provider: str | None = None
    created: int | None = None
    wire: str | None = None
    framing: str | None = None
    host_provider: str | None = None


@hot
class TextDelta(PublicRecord):
    """A piece of the visible answer. ``refusal``: the provider marked it as the model's
    refusal to answer."""

    type: ClassVar[Literal["text-delta"]] = "text-delta"
    seq: int
    choice: int
    block: int
    text: str
    span: Span | None = None
    refusal: bool | None = None


@hot
class ReasoningDelta(PublicRecord):
    """A piece of reasoning. ``source``: it came in a field of the provider
    (``native``), or was marked in the text (``tag``)."""

    type: ClassVar[Literal["reasoning-delta"]] = "reasoning-delta"
    seq: int
    choice: int
    block: int
    text: str
    source: Literal["native", "tag"]
    span: Span | None = None


@hot
class BlockEnd(PublicRecord):
    """The end of a block of text or reasoning.

    ``signature`` and ``opaque`` are provider state that must go back unchanged in the
    next turn; ``raw_text`` is the original when signed reasoning was cleaned.
    ``fields`` names the provider's fields in which native reasoning came, and in which
    it goes back. ``seal_broken``: the state is bound to text before it that was
    changed, so it must not go back. The event may come without deltas, and a second
    time: then the later fields count.
    """

    type: ClassVar[Literal["block-end"]] = "block-end"
    seq: int
    choice: int
    block: int
    channel: ChannelName
    signature: str | None = None
    opaque: Any = None
    raw_text: str | None = None
    fields: tuple[str, ...] | None = None
    seal_broken: bool | None = None


@frozen
class Reclassify(PublicRecord):
    """Moves ``blocks``, whose deltas were already sent, to the channel ``to``."""

    type: ClassVar[Literal["reclassify"]] = "reclassify"
    seq: int
    choice: int
    blocks: tuple[int, ...]
    to: ChannelName


@frozen
class Retract(PublicRecord):
    """Removes ``blocks`` (text, reasoning or calls) that were already sent: the
    provider sent the same content in a better form, or the text at ``span`` follows
    again, read as the answer."""

    type: ClassVar[Literal["retract"]] = "retract"
    seq: int
    choice: int
    blocks: tuple[int, ...]
    reason: Literal["duplicate-of-native", "duplicate-of-structured", "read-as-text"]
    span: Span | None = None


@hot
class ToolCallDelta(PublicRecord):
    """A fragment of the arguments of a structured call. It is sent once the name of the
    call is known. Only the first delta of a block has the id and the name, because they
    may be long."""

    type: ClassVar[Literal["tool-call-delta"]] = "tool-call-delta"
    seq: int
    choice: int
    block: int
    arguments_delta: str
    tool_call_id: str | None = None
    name: str | None = None


@hot
class ToolCall(PublicRecord):
    """A tool call. Each call is sent exactly once; ``state`` says whether it is
    complete.

    ``arguments`` is the raw text, ``input`` its parsed value or None. ``block``
    identifies the call in the stream (None in the result of tool/classify). A call with
    ``origin`` ``text`` is a claim of the model and never ``executable``.
    """

    type: ClassVar[Literal["tool-call"]] = "tool-call"
    seq: int
    choice: int
    block: int | None
    tool_call_id: str
    id_synthetic: bool
    name: str
    arguments: str
    arguments_format: Literal["json", "text"]
    input: dict[str, Any] | None
    state: Literal["complete", "truncated", "invalid"]
    executor: Literal["client", "server", "unknown"]
    origin: Literal["structured", "text", "finish-message"]
    channel: ChannelName
    declared: bool | None
    kind: ToolKind
    kind_source: Literal["declared", "table", "annotation", "name", "default"]
    mutating: bool | None
    awaits: Literal["client-result", "client-approval", "server-result", "none"]
    executable: bool
    dialect: str | None = None
    caller: Any = None
    opaque: Any = None
    raw: Any = None
    span: Span | None = None


@frozen
class ToolResult(PublicRecord):
    """A tool result in the model's output: of a tool that the provider ran
    (``server``), or written by the model into its text (``echo``)."""

    type: ClassVar[Literal["tool-result"]] = "tool-result"
    seq: int
    choice: int
    block: int
    content: Any
    source: Literal["server", "echo"]
    executed: bool | None
    raw: Any
    tool_call_id: str | None = None
    name: str | None = None
    is_error: bool | None = None
    span: Span | None = None


@frozen
class Citation(PublicRecord):
    """A citation of a source. ``start`` and ``end`` are positions in the joined text of
    ``blocks``.

    ``exact`` is False if the end had to be guessed. ``source`` numbers the choice's
    sources from 0: citations with the same URL, else the same document id, else the
    same title, have the same number. A ``url`` or ``title`` of more than 256 code
    points is complete only in the first citation of its source, in ``raw`` too.
    """

    type: ClassVar[Literal["citation"]] = "citation"
    seq: int
    choice: int
    kind: Literal["url", "document", "file", "search-result", "other"]
    role: Literal["claim", "marker", "insertion", "block"]
    exact: bool
    raw: Any
    source: int
    url: str | None = None
    title: str | None = None
    cited_text: str | None = None
    blocks: tuple[int, ...] | None = None
    start: int | None = None
    end: int | None = None
    start_utf16: int | None = None
    end_utf16: int | None = None


@frozen
class ProviderError(PublicRecord):
    """The provider, or the connection to it, failed. ``retry_after_ms`` is in
    milliseconds.

    ``partial`` is True if visible text, reasoning or calls were sent before the error.
    ``refusal``: what the provider refuses of the conversation, if the error is about
    it.
    """

    type: ClassVar[Literal["error"]] = "error"
    seq: int
    choice: int
    kind: ErrorKind
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


@hot
class Usage(PublicRecord):
    """Token totals so far. Each event replaces the one before; totals are not added up.

    ``input_tokens`` includes cached tokens, ``output_tokens`` includes reasoning.
    """

    type: ClassVar[Literal["usage"]] = "usage"
    seq: int
    choice: int
    raw: Any
    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


@frozen
class Diagnostic(PublicRecord):
    """A problem in the stream, or a note about it: ``code`` says which. ``raw`` is the
    input that the diagnostic is about."""

    type: ClassVar[Literal["diagnostic"]] = "diagnostic"
    seq: int
    choice: int
    code: str
    severity: Severity
    message: str
    raw: Any = None
    span: Span | None = None


@hot
class Finish(PublicRecord):
    """The end of one choice, always last; ``raw`` is the provider's own reason.

    ``complete`` is False when the transport ended before the provider did.
    """

    type: ClassVar[Literal["finish"]] = "finish"
    seq: int
    choice: int
    reason: FinishReason
    empty_answer: bool
    complete: bool
    raw: str | None = None


Event: TypeAlias = (
    Metadata
    | TextDelta
    | ReasoningDelta
    | BlockEnd
    | Reclassify
    | Retract
    | ToolCallDelta
    | ToolCall
    | ToolResult
    | Citation
    | ProviderError
    | Usage
    | Diagnostic
    | Finish
)

EVENTS: tuple[type, ...] = get_args(Event)
"""Every event class, in the order of protocol.md."""
