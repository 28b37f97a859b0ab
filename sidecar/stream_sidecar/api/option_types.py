"""The types of options and chunks, for type checkers and editors.

They name the values that `Stream`, the functions and the transports accept. Members of
dictionaries have the protocol's names. ``tests/api/test_types.py`` compares them
with the classes that read the options.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol, TypeAlias, TypedDict

from stream_sidecar.wires import EmitWire as EmitWire
from stream_sidecar.wires import RequestWire as RequestWire
from stream_sidecar.wires import WireName

Wire: TypeAlias = Literal["auto", WireName]
Framing: TypeAlias = Literal[
    "auto", "json", "sse", "ndjson", "json-array", "aws-eventstream", "text"
]
Encoding: TypeAlias = Literal["utf-8", "base64"]
CloseReason: TypeAlias = Literal["eof", "cancelled", "error"]
EmitClaims: TypeAlias = Literal["drop", "text", "promote"]
RequestClaims: TypeAlias = Literal["drop", "include"]
RequestReasoning: TypeAlias = Literal["auto", "all", "none"]
Texts: TypeAlias = list[str] | tuple[str, ...]


class ReasoningOptions(TypedDict, total=False):
    """``policy.reasoning``."""

    tags: Texts
    scope: Literal["outside-code", "everywhere", "boundary"]
    precedence: Literal["native-first", "merge"]
    startsOpen: Literal["auto", "open", "closed"]
    unclosed: Literal["auto", "reasoning", "text"]
    asAnswer: Literal["never", "when-empty"]


class ToolResultsOptions(TypedDict, total=False):
    """``policy.toolResults``."""

    mode: Literal["strip", "report", "keep"]
    indicators: Texts
    known: list[Any] | tuple[Any, ...]


class ToolCallsOptions(TypedDict, total=False):
    """``policy.toolCalls``."""

    mode: Literal["extract", "report", "off"]


class EchoOptions(TypedDict, total=False):
    """``policy.echo``."""

    markers: Texts
    prefixes: Texts


class MessageOptions(TypedDict, total=False):
    """``policy.message``."""

    parts: bool


class PolicyOptions(TypedDict, total=False):
    """``policy``; what is not given keeps its default."""

    reasoning: ReasoningOptions
    toolResults: ToolResultsOptions
    toolCalls: ToolCallsOptions
    dialects: Literal["auto"] | Texts
    echo: EchoOptions
    message: MessageOptions
    trace: bool


class _EmitRequired(TypedDict):
    wire: EmitWire


class EmitOptions(_EmitRequired, total=False):
    """``emit``."""

    claims: EmitClaims
    rewrite: bool
    reasoning: Literal["auto", "drop", "include"]


class _FoundResult(TypedDict):
    toolCallId: str
    content: Any


class CallResult(_FoundResult, total=False):
    """A member of ``results``: what a tool of the host returned."""

    isError: bool


class FailedResponse(TypedDict, total=False):
    """``error`` of `Stream.close`: a response that failed."""

    status: int
    headers: Mapping[str, str]
    body: Any


class HasModelDump(Protocol):
    """A pydantic object, for example a chunk of openai's, Anthropic's or Google's
    SDK."""

    def model_dump(self) -> Any: ...


class HasToDict(Protocol):
    """An object of an SDK that gives itself as a dictionary."""

    def to_dict(self) -> Any: ...


JsonObject: TypeAlias = Mapping[str, Any]
"""A document, message or tool in any provider's spelling, ``TypedDict`` or not."""

Tools: TypeAlias = list[Any] | tuple[Any, ...]
"""Declared tools in the spelling of OpenAI, Anthropic or MCP, or objects of SDKs."""

Chunk: TypeAlias = (
    str | bytes | bytearray | memoryview | JsonObject | HasModelDump | HasToDict
)
"""What `Stream.push` reads: a slice of the body, cut anywhere, or a decoded
document."""
