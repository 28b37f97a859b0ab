"""The parts: what a wire reads from one document of a provider.

A wire knows field names; it does not know blocks, sequence numbers, tags or policies.
The parts of a document are in this order: metadata, reasoning, text, calls, results,
citations, finish, usage, error. So a field for reasoning comes before the text, and in
a chunk with ``choices`` and ``error`` the delta comes before the error.

``push(document) -> list[Part]`` and ``close() -> list[Part]`` are a wire's only
methods. ``choice`` is always the provider's choice index.
"""

from __future__ import annotations

from typing import Any, Literal, NewType, Protocol, TypeAlias

from stream_sidecar.records import PublicRecord, frozen, hot

Json: TypeAlias = Any
"""A decoded JSON value; objects are `JsonObject`."""

JsonObject: TypeAlias = dict[str, Any]

CitationKind: TypeAlias = Literal["url", "document", "file", "search-result", "other"]


@hot
class MetadataPart:
    """The identity of the response. A field is None if the document does not have it.

    ``wire`` and ``framing`` are what ``auto`` has detected; a wire never sets them.
    """

    id: str | None = None
    model: str | None = None
    provider: str | None = None
    created: int | None = None
    wire: str | None = None
    framing: str | None = None


@hot
class TextPart:
    """A piece of the answer, exactly as sent; may be empty."""

    text: str
    choice: int = 0


@hot
class RefusalPart:
    """A piece of the model's refusal to answer, from the provider's field for it."""

    text: str
    choice: int = 0


@hot
class ReasoningPart:
    """A piece of reasoning from a field of the provider.

    ``field`` is the name of that field. Some providers send the same reasoning in
    several fields; the stream, not the wire, notices this and reads the reasoning once.
    ``block`` is the key of the provider's block, None if the wire has no blocks. A part
    with another key begins a new reasoning block. ``is_signed``: its signature came
    with it, so it may be the whole block, which came in pieces before.
    """

    text: str
    field: str
    choice: int = 0
    block: int | str | None = None
    is_signed: bool = False


@frozen
class ReasoningStatePart:
    """Provider state of the current reasoning block, to send back unchanged next turn.

    ``field`` is the field whose reasoning the signature signs. It is needed because
    hidden reasoning has no text, and so no `ReasoningPart` that names the field.
    """

    choice: int = 0
    signature: str | None = None
    opaque: Json = None
    block: int | str | None = None
    field: str | None = None


@hot
class BlockEndPart:
    """The end of the current text or reasoning block. Text held back in it is now shown
    or removed.

    ``opaque`` is provider state of a text block, to send back unchanged next turn.
    """

    choice: int = 0
    block: int | str | None = None
    opaque: Json = None


@hot
class CallPart:
    """A fragment of a structured call; every field except ``choice`` may be missing.

    ``arguments`` is a fragment of raw text, or the whole arguments as another JSON
    value (Ollama sends an object). An empty ``id`` or ``name`` counts as missing.
    ``key`` identifies the call if the wire guarantees it (the index of a content
    block); without a key, index, id and name decide (wires/README.md, "Fragments of
    calls"). ``type`` is the type of the provider's item. ``whole``: no more fragments
    of this call will follow. The other fields mean the same as in
    `stream_sidecar.events.ToolCall`.
    """

    choice: int = 0
    key: int | str | None = None
    index: int | None = None
    id: str | None = None
    name: str | None = None
    arguments: Json = None
    type: str | None = None
    format: Literal["json", "text"] = "json"
    executor: Literal["client", "server"] | None = None
    origin: Literal["structured", "finish-message"] = "structured"
    caller: Json = None
    opaque: Json = None
    raw: Json = None
    whole: bool = False


@hot
class CallEndPart:
    """The end of the call ``key`` (or ``index``).

    ``cut``: the stream ended, or another message began, in the middle of the call. The
    call is then truncated, even if its arguments happen to parse.
    """

    choice: int = 0
    key: int | str | None = None
    index: int | None = None
    cut: bool = False


@frozen
class CallCancelPart:
    """The provider cancels the calls with these ``ids`` and does not wait for their
    results."""

    ids: tuple[str, ...]
    choice: int = 0


@frozen
class ItemPart:
    """The beginning of an item of the answer; the next request may refer to its ``id``.

    All parts before the next item belong to it. Only writers use this part
    (``stream.emission``).
    """

    id: str
    type: str


@frozen
class ResultPart:
    """The result of a tool that the server has run, with the provider's raw item.

    If a result is sent again with the same ``key``, it replaces the earlier one.
    """

    content: Json
    raw: Json
    choice: int = 0
    id: str | None = None
    name: str | None = None
    is_error: bool | None = None
    key: str | None = None


@frozen
class CitationPart:
    """A citation whose position in our text is not known yet.

    ``anchor`` says how the provider places it: ``offsets`` (``start``/``end`` into the
    raw answer text of the choice, in ``unit``, end exclusive), ``here`` (at the end of
    the text so far), ``following`` (the text after it, until the next citation after
    text or the end of the block), ``block`` (the whole current block), ``marker``
    (every occurrence of ``marker`` in the answer) or ``none``. ``base`` is added to the
    offsets: the code point of the raw answer text at which the provider's count began.
    ``document`` is the id of the source, if it has one. ``again``: another citation of
    the same document has the whole source; ``raw`` is then shortened (`light`).
    """

    kind: CitationKind
    raw: Json
    choice: int = 0
    role: Literal["claim", "marker", "insertion", "block"] = "claim"
    anchor: Literal["offsets", "here", "following", "block", "marker", "none"] = "none"
    start: int | None = None
    end: int | None = None
    unit: Literal["code-point", "byte", "utf16"] = "code-point"
    marker: str | None = None
    url: str | None = None
    title: str | None = None
    cited_text: str | None = None
    base: int = 0
    document: str | None = None
    again: bool = False


@hot
class UsagePart:
    """Token counts, as in protocol.md, "usage". A count is None if the provider does
    not report it."""

    raw: Json
    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


@frozen
class Refusal(PublicRecord):
    """What the provider refuses of the conversation: the name of the ``rule``, the JSON
    Pointer ``path`` of the place in the request's body, and the call, as far as the
    provider's words name them."""

    rule: str
    path: str | None = None
    tool_call_id: str | None = None


@frozen
class ErrorPart:
    """A provider's error with its kind (``stream_sidecar.provider_errors``)."""

    kind: str
    message: str
    retryable: bool
    raw: Json
    code: str | int | None = None
    provider_type: str | None = None
    http_status: int | None = None
    retry_after_ms: int | None = None
    refusal: Refusal | None = None
    choice: int = 0


@hot
class FinishPart:
    """The end of a choice: the provider's ``raw`` reason, and the ``reason`` that the
    event has. If a choice has several such parts, the last one counts."""

    raw: str | None
    reason: str
    choice: int = 0


@frozen
class DonePart:
    """The provider's mark for the end of the response ([DONE], message_stop ...)."""


@frozen
class DiagnosticPart:
    """Input that could not be used; ``raw`` is what was left out."""

    code: str
    message: str
    severity: Literal["info", "warning"] = "warning"
    raw: Json = None
    choice: int = 0


Part: TypeAlias = (
    MetadataPart
    | TextPart
    | RefusalPart
    | ReasoningPart
    | ReasoningStatePart
    | BlockEndPart
    | CallPart
    | CallEndPart
    | CallCancelPart
    | ItemPart
    | ResultPart
    | CitationPart
    | UsagePart
    | ErrorPart
    | FinishPart
    | DonePart
    | DiagnosticPart
)


@hot
class Document:
    """One decoded document of a provider, as framing returns it.

    ``value`` is a JSON value, or with framing ``text`` the slice of text. ``event`` is
    the name of a server-sent event or of an event-stream frame.
    """

    value: Json
    event: str | None = None


Chunk = NewType("Chunk", dict[str, Any])
"""A document to be written; all its values can be written as JSON."""


class Wire(Protocol):
    """Reads the documents of one provider's format. No content of a document raises an
    error."""

    def push(self, document: Document) -> list[Part]: ...

    def close(self) -> list[Part]: ...
