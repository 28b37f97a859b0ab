"""The events: the alphabet that leaves the core, and the reference of their fields.

Frozen, small, complete. ``seq`` counts 1, 2, 3 ... in one stream; ``choice`` is the
provider's choice index. Positions and lengths are Unicode code points unless a name
says ``utf16``. ``None`` means absent. JSON spelling is the business of
``stream_sidecar.protocol`` alone. Source of every field: protocol.md, "Events".
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias, get_args

from stream_sidecar.records import frozen, hot

ChannelName: TypeAlias = Literal["text", "reasoning"]
Severity: TypeAlias = Literal["info", "warning"]
Span: TypeAlias = tuple[int, int]
"""``(start, end)`` in the wire's channel (code points, removals included)."""


@hot
class Metadata:
    """What the provider, or the detection of wire and framing, said of the response;
    in a message also whom the host asked (``host_provider``)."""

    type: ClassVar[str] = "metadata"
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
class TextDelta:
    """A piece of the visible answer. ``refusal``: the provider marked it as the model's
    refusal to answer."""

    type: ClassVar[str] = "text-delta"
    seq: int
    choice: int
    block: int
    text: str
    span: Span | None = None
    refusal: bool | None = None


@hot
class ReasoningDelta:
    """A piece of reasoning; ``source``: from a provider's field, or from tagged
    text."""

    type: ClassVar[str] = "reasoning-delta"
    seq: int
    choice: int
    block: int
    text: str
    source: Literal["native", "tag"]
    span: Span | None = None


@hot
class BlockEnd:
    """A block of text or reasoning is over.

    ``signature`` and ``opaque`` are provider state that must go back unchanged in the
    next turn; ``raw_text`` is the original when signed reasoning was cleaned.
    ``fields`` are the provider's own in which native reasoning came, and goes back. May
    come without deltas, and again (later fields win).
    """

    type: ClassVar[str] = "block-end"
    seq: int
    choice: int
    block: int
    channel: ChannelName
    signature: str | None = None
    opaque: Any = None
    raw_text: str | None = None
    fields: tuple[str, ...] | None = None


@frozen
class Reclassify:
    """Deltas already sent of ``blocks`` belong to the other channel."""

    type: ClassVar[str] = "reclassify"
    seq: int
    choice: int
    blocks: tuple[int, ...]
    to: ChannelName


@frozen
class Retract:
    """Forget ``blocks`` (text, reasoning or calls): the same content came better, or
    what stands at ``span`` comes again, read as the answer."""

    type: ClassVar[str] = "retract"
    seq: int
    choice: int
    blocks: tuple[int, ...]
    reason: Literal["duplicate-of-native", "duplicate-of-structured", "read-as-text"]
    span: Span | None = None


@hot
class ToolCallDelta:
    """A fragment of the arguments of a structured call. It is sent once the name of the
    call is known. Only the first delta of a block has id and name, which may be
    long."""

    type: ClassVar[str] = "tool-call-delta"
    seq: int
    choice: int
    block: int
    arguments_delta: str
    tool_call_id: str | None = None
    name: str | None = None


@hot
class ToolCall:
    """One call, exactly once, complete or marked as not complete.

    ``arguments`` is the raw text, ``input`` its parsed value or None. ``block`` is the
    call's key in the stream (None in tool/classify). A call with ``origin`` ``text`` is
    a claim of the model and never ``executable``.
    """

    type: ClassVar[str] = "tool-call"
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
    kind: str
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
class ToolResult:
    """A result in the model's output: of a server's tool, or an echo in the text."""

    type: ClassVar[str] = "tool-result"
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
class Citation:
    """A source; ``start`` and ``end`` lie in the joined text of ``blocks``.

    ``exact`` is False when the end had to be guessed. ``source`` counts the choice's
    sources from 0: equal URLs, else ids of documents, else titles. A ``url`` or
    ``title`` of more than 256 code points is complete only in the first citation of its
    source, in ``raw`` too.
    """

    type: ClassVar[str] = "citation"
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
class ProviderError:
    """The remote side failed. ``retry_after_ms`` is in milliseconds.

    ``partial`` is True when visible text, reasoning or calls had been sent before.
    """

    type: ClassVar[str] = "error"
    seq: int
    choice: int
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


@hot
class Usage:
    """Token totals so far: each event replaces the one before, nothing is added up.

    ``input_tokens`` includes cached tokens, ``output_tokens`` includes reasoning.
    """

    type: ClassVar[str] = "usage"
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
class Diagnostic:
    """Something was odd. ``raw`` has what was taken out of the stream."""

    type: ClassVar[str] = "diagnostic"
    seq: int
    choice: int
    code: str
    severity: Severity
    message: str
    raw: Any = None
    span: Span | None = None


@hot
class Finish:
    """The end of one choice, always last; ``raw`` is the provider's own reason.

    ``complete`` is False when the transport ended before the provider did.
    """

    type: ClassVar[str] = "finish"
    seq: int
    choice: int
    reason: str
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
