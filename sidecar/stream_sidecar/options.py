"""What a host may choose for a stream: policy, limits, declared tools.

Plain frozen classes; keys, values and defaults are those of protocol.md, "Policy" and
"Limits". JSON spelling and validation messages belong to ``stream_sidecar.protocol``.
"""

from __future__ import annotations

from typing import Any, Literal

from stream_sidecar.records import field, frozen

DEFAULT_TAGS: tuple[str, ...] = (
    "think",
    "thinking",
    "thought",
    "mm:think",
    "seed:think",
    "[THINK]",
    "◁think▷",
)

DEFAULT_INDICATORS: tuple[str, ...] = (
    "success",
    "error",
    "type",
    "memory_type",
    "content",
    "expires_around",
    "board_id",
    "board_created",
    "board_updated",
    "board_deleted",
    "query",
    "results",
    "total_results",
    "fetched_page",
    "redirect",
    "allowed_actions",
    "required_param",
)


@frozen
class ReasoningPolicy:
    """How reasoning in the text is found, and which channel gets it.

    ``tags``: None means the default tags and those of the profile. ``scope``: where a
    delimiter counts; with ``boundary``, an opener counts only at the start, at a line's
    start or right after closing punctuation. ``as_answer``: whether the last block of
    reasoning becomes the answer of a message that has no other.
    """

    tags: tuple[str, ...] | None = None
    scope: Literal["outside-code", "everywhere", "boundary"] = "outside-code"
    precedence: Literal["native-first", "merge"] = "native-first"
    starts_open: Literal["auto", "open", "closed"] = "auto"
    unclosed: Literal["auto", "reasoning", "text"] = "auto"
    as_answer: Literal["never", "when-empty"] = "never"


@frozen
class ToolResultsPolicy:
    """Tool results that the model repeats at the start of the answer.

    ``strip`` takes them out, ``report`` leaves them and emits a diagnostic, ``keep``
    does nothing. ``known``: results the host passed to the model this turn, as strings
    or JSON.
    """

    mode: Literal["strip", "report", "keep"] = "strip"
    indicators: tuple[str, ...] = DEFAULT_INDICATORS
    known: tuple[Any, ...] = ()


@frozen
class ToolCallsPolicy:
    """What happens to calls written as text: ``extract`` sends them and removes their
    text, ``report`` sends them and leaves their text, ``off`` does neither."""

    mode: Literal["extract", "report", "off"] = "extract"


@frozen
class EchoPolicy:
    """Formats that the host itself writes into prompts, and models imitate.

    Each is a literal that stands at a line's start, or the word ``timestamp``. Of a
    marker the line, or the block up to its end, is removed. A prefix is removed only at
    the answer's start, without the rest of its line.
    """

    markers: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()


@frozen
class MessagePolicy:
    """If ``parts`` is False, the messages of close and snapshot have no text, reasoning
    and blocks."""

    parts: bool = True


@frozen
class Policy:
    """Everything a host may decide about one stream.

    ``dialects``: ``auto`` means those of the profile and those that are safe for any
    model. ``trace``: events made from text have a span, and every removal is a
    diagnostic.
    """

    reasoning: ReasoningPolicy = ReasoningPolicy()
    tool_results: ToolResultsPolicy = ToolResultsPolicy()
    tool_calls: ToolCallsPolicy = ToolCallsPolicy()
    dialects: Literal["auto"] | tuple[str, ...] = "auto"
    echo: EchoPolicy = EchoPolicy()
    message: MessagePolicy = MessagePolicy()
    trace: bool = False


@frozen
class Limits:
    """Bounds of a connection and of each stream. Names have the unit at the end:
    ``ms``, ``bytes``, ``chars`` (code points).

    ``max_held_bytes`` is for all streams of a connection together. ``idle_timeout_ms``
    of 0 means that streams never expire.
    """

    max_streams: int = 4096
    max_message_bytes: int = 33_554_432
    max_document_chars: int = 8_388_608
    max_held_chars: int = 65_536
    max_call_chars: int = 1_048_576
    max_held_bytes: int = 1_073_741_824
    idle_timeout_ms: int = 0


@frozen
class Tool:
    """A tool that the host declared to the model; ``annotations`` are MCP's hints."""

    name: str
    description: str | None = None
    input_schema: Any = None
    annotations: Any = None
    executor: Literal["client", "server"] | None = None
    kind: str | None = None


@frozen
class Emit:
    """Writes the clean stream as documents of ``wire``, too.

    ``claims``: calls found in the text are left out (``drop``), stay in the text where
    they stood (``text``), or become ordinary calls at the end (``promote``).
    ``reasoning``: text between tags is left out (``drop``), goes to the wire's field
    for reasoning (``include``), or goes there only if the provider accepts it in the
    next request (``auto``). ``rewrite``: documents of the stream's own wire that the
    wire's official SDKs cannot read are written from the events, too.
    """

    wire: str
    claims: Literal["drop", "text", "promote"] = "drop"
    reasoning: Literal["auto", "drop", "include"] = "auto"
    rewrite: bool = False


@frozen
class StreamOptions:
    """What ``stream/open`` asks for. ``tools``: None if the host does not say which
    tools it declared. ``response_template``: JSON that says how the model writes, in
    place of its profile. ``stream_id``: the host's id; a call without an id gets one
    made from it."""

    wire: str = "auto"
    framing: str = "auto"
    encoding: Literal["utf-8", "base64"] = "utf-8"
    provider: str | None = None
    model: str | None = None
    tools: tuple[Tool, ...] | None = None
    policy: Policy = field(factory=Policy)
    limits: Limits = field(factory=Limits)
    response_template: Any = None
    emit: Emit | None = None
    stream_id: str | None = None
