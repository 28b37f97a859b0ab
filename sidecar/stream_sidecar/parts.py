"""The parts: what a wire reads out of one provider document, and nothing more.

A wire knows field names; it does not know blocks, sequence numbers, tags or policies.
It gives parts in the order in which they count: within a document metadata, reasoning,
text, calls, results, citations, finish, usage, error. So native fields go first, and a
chunk with ``choices`` and ``error`` gives its delta first.

``push(document) -> list[Part]`` and ``close() -> list[Part]`` are a wire's only verbs.
``choice`` is the provider's choice index throughout.
"""

from __future__ import annotations

from typing import Any, Literal, NewType, Protocol, TypeAlias

from stream_sidecar.records import frozen, hot

Json: TypeAlias = Any
"""A decoded JSON value; its objects are `JsonObject`."""

JsonObject: TypeAlias = dict[str, Any]

CitationKind: TypeAlias = Literal["url", "document", "file", "search-result", "other"]


@hot
class MetadataPart:
    """Identity of the response; None where the document says nothing.

    ``wire`` and ``framing`` are what ``auto`` decided, not a wire's to give.
    """

    id: str | None = None
    model: str | None = None
    provider: str | None = None
    created: int | None = None
    wire: str | None = None
    framing: str | None = None


@hot
class TextPart:
    """A piece of the answer channel, exactly as sent. May be empty."""

    text: str
    choice: int = 0


@hot
class RefusalPart:
    """A piece of what the model says instead of an answer, in a field of its own."""

    text: str
    choice: int = 0


@hot
class ReasoningPart:
    """A piece of a provider's own reasoning field.

    ``field`` names that field: providers that mirror one reasoning in several fields
    are read once, and that is decided by the stream, not by the wire.
    ``block`` keys a provider's own block where the wire has blocks (None: the wire has
    none); a change of it ends the reasoning block.
    """

    text: str
    field: str
    choice: int = 0
    block: int | str | None = None


@frozen
class ReasoningStatePart:
    """Provider state of the current reasoning block, to go back unchanged next turn.

    ``field`` is the field that a signature signs: reasoning that is not shown has no
    text from which to know it.
    """

    choice: int = 0
    signature: str | None = None
    opaque: Json = None
    block: int | str | None = None
    field: str | None = None


@hot
class BlockEndPart:
    """The wire ends its current text or reasoning block: held text is decided.

    ``opaque`` is provider state of a text block, to go back unchanged next turn.
    """

    choice: int = 0
    block: int | str | None = None
    opaque: Json = None


@hot
class CallPart:
    """A fragment of a structured call; every field but ``choice`` may be missing.

    ``arguments`` is a fragment of raw text, or the whole arguments as another JSON
    value (an object as Ollama sends it). Empty strings count as missing for ``id`` and
    ``name``. ``key`` is an identity that the wire guarantees (a content block's index);
    without it index, id and name decide (wires/README.md, "Fragments of calls").
    ``type`` is the item's structural type; ``whole`` says that nothing of this call
    will follow.
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
    """The wire says that the call ``key`` (or ``index``) is finished.

    ``cut``: it never will be (the stream ended, or another message began, in the middle
    of it), so it is truncated even if its arguments happen to parse.
    """

    choice: int = 0
    key: int | str | None = None
    index: int | None = None
    cut: bool = False


@frozen
class CallCancelPart:
    """The provider cancels the calls with these ``ids``: it does not wait for
    results."""

    ids: tuple[str, ...]
    choice: int = 0


@frozen
class ItemPart:
    """An item of the answer begins, which the next request may name by its ``id``.

    ``type`` is the item's. All parts before the next item belong to it. Only writers
    use this part (``stream.emission``).
    """

    id: str
    type: str


@frozen
class ResultPart:
    """A result of a tool that the server has run, with the provider's raw item.

    ``key`` makes a resent result replace itself instead of coming twice.
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
    """A citation before its position is known in our text.

    ``anchor`` says how the provider places it: ``offsets`` (``start``/``end`` into the
    raw answer text of the choice, in ``unit``, end exclusive), ``here`` (at the end of
    the text so far), ``following`` (the text that comes next, until the next citation
    after text or the end of the block), ``block`` (the whole current block), ``marker``
    (every occurrence of ``marker`` in the answer) or ``none``. ``base`` is added to the
    offsets: code points of the raw answer text at which the provider's own count began.
    ``document`` is the source's id where it has one. ``again``: the document refers to
    a source that it has spelled out for another citation; ``raw`` then is `light`.
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
    """Token counts as protocol.md, "usage", has them; None: the provider is silent."""

    raw: Json
    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


@frozen
class ErrorPart:
    """A provider's error, already given a kind (``stream_sidecar.provider_errors``)."""

    kind: str
    message: str
    retryable: bool
    raw: Json
    code: str | int | None = None
    provider_type: str | None = None
    http_status: int | None = None
    retry_after_ms: int | None = None
    choice: int = 0


@hot
class FinishPart:
    """A finish chunk: the raw reason and our word for it. The last one wins."""

    raw: str | None
    reason: str
    choice: int = 0


@frozen
class DonePart:
    """The provider said that the response is over ([DONE], message_stop ...)."""


@frozen
class DiagnosticPart:
    """Something in the document could not be used; ``raw`` is what was left out."""

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
    """One decoded provider document, as framing gives it.

    ``value`` is a JSON value (framing ``text``: the slice of text itself), ``event``
    the name of a server-sent event or of an event-stream frame.
    """

    value: Json
    event: str | None = None


Chunk = NewType("Chunk", dict[str, Any])
"""A document that is written; all of it can be written as JSON."""


class Wire(Protocol):
    """Reads one provider's documents. Never raises for anything that is in them."""

    def push(self, document: Document) -> list[Part]: ...

    def close(self) -> list[Part]: ...
