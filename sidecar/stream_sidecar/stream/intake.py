"""From raw chunks to parts: framing, the choice of the wire, and other input.

`Intake.push(chunk)` returns a list of parts for each document, `close()` the rest.
`_State` says how the next document is treated. Input that is not a document of the wire
is kept, up to a limit, because it may be a provider's error in its own words (an HTML
page or plain text under HTTP 200). Text that begins like an exception is an error at
once.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from stream_sidecar import patterns
from stream_sidecar.framing.framer import Framer
from stream_sidecar.framing.frames import LongDocument
from stream_sidecar.parts import (
    BlockEndPart,
    CitationPart,
    DiagnosticPart,
    Document,
    DonePart,
    ErrorPart,
    MetadataPart,
    ReasoningPart,
    RefusalPart,
    TextPart,
)
from stream_sidecar.provider_errors.normalize import find_error, normalize_error
from stream_sidecar.records import define, evolve, field
from stream_sidecar.values.units import text_size
from stream_sidecar.wires import FALLBACK, WIRES, detect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stream_sidecar.framing.framer import Frame
    from stream_sidecar.options import StreamOptions
    from stream_sidecar.parts import Part, Wire
    from stream_sidecar.values.surrogates import SurrogateJoiner

MALFORMED = frozenset({"malformed-chunk", "unknown-chunk", "document-limit"})
"""Codes of diagnostics for input that could not be used; they are counted in
``Stats``."""

_EXCEPTION = patterns.compile(
    r"\s*(?:(?:[a-z_]\w{0,60}\.){0,8}(?:[A-Z]\w{0,60})?(?:Error|Exception)\b"
    r"|(?:error|ERROR): |\[(?:error|ERROR)\])"
)
"""Matches the beginning of an exception written as text:
``litellm.RateLimitError: ``."""

_WORDS = patterns.compile(
    r"\s*+(?!(?:ping|pong|keep-?alive|heartbeat|undefined|ok)\b)"
    r"(?=\S{1,64}\s|[^\W\d]{1,64}+[.!]?\Z|<)"
    r"(?![^\"]{0,4096}\"\s*+[:,}\]])[\w<]",
    re.IGNORECASE,
)
"""Matches text that was written for a reader, but no torn piece of a document."""

_MOST_UNDECIDED = 256
"""At most this many documents wait for a document that fits a wire. Together they have
at most `_MAX_BODY` code points."""

_MOST_SAID = 4096
"""Of text among the documents, at most this many code points are kept. It may be the
stream's last word."""

_MAX_BODY = 65_536
"""Of input that is no stream, at most this many code points are kept, for the error's
message."""


_TEXT = (TextPart, RefusalPart, ReasoningPart, CitationPart)
"""Parts with text, or with positions in it. They are not read from a document above the
limit."""


class _State(Enum):
    """How the next document is treated."""

    #: No document was read yet. It is read if the host named the wire, or if it fits
    #: only one wire. Otherwise it waits, like a few others; an error needs no wire.
    BEFORE = auto()
    #: the next document is read
    READING = auto()
    #: the end mark has come: the next document is reported, and not read
    OVER = auto()


@define(eq=False)
class _Undecided:
    """Documents that fit no wire yet. ``size``: their length in code points."""

    documents: list[Document] = field(factory=list)
    size: int = 0

    def take(self) -> list[Document]:
        documents, self.documents, self.size = self.documents, [], 0
        return documents


class Intake:
    """Reads chunks.

    ``documents``: how many documents came. ``lists``: how many lists of parts were
    returned (see `NativeText`). ``done``: an end mark came. ``used``: a
    document said something. ``document``: the document of the last parts; None if they
    came from no document. ``is_unread``: the document is above the limit, and it has
    text that was not read.
    """

    def __init__(self, options: StreamOptions) -> None:
        self.options = options
        self.wire = options.wire
        self.documents = self.lists = 0
        self.used = False
        self._framer = Framer(
            "text" if options.wire == "text" else options.framing,
            options.encoding,
            limit=options.limits.max_document_chars,
            kept=options.limits.max_message_bytes,
        )
        self.document: Document | None = None
        self.is_unread = False
        self._state = _State.BEFORE
        self._reader: Wire | None = None
        self._undecided = _Undecided()
        self._body = ""  # texts of diagnostics, up to a limit
        self._strays: list[str] = []  # text that no diagnostic has yet
        self._latest: list[DiagnosticPart] = []  # text since the last document
        self._room = options.limits.max_document_chars
        if options.wire != "auto":
            self._reader = WIRES[options.wire].make(options.provider)

    @property
    def framing(self) -> str:
        """The framing's name, ``auto`` until it is decided."""
        return self._framer.framing

    @property
    def text_joiner(self) -> SurrogateJoiner | None:
        """What joins the halves of characters, on the wire ``text`` alone. While it
        holds nothing, a chunk without half characters would become one `TextPart`."""
        return self._framer.joiner if self.options.wire == "text" else None

    @property
    def done(self) -> bool:
        return self._state is _State.OVER

    @property
    def held(self) -> int:
        """At most this many code points are not passed on yet."""
        strays = self.options.limits.max_document_chars - max(self._room, 0)
        latest = sum(len(part.raw) for part in self._latest)
        return self._framer.held + self._undecided.size + strays + latest

    def push(self, chunk: object) -> Iterable[list[Part]]:
        frames = self._framer.push(chunk)
        if len(frames) == 1 and self._state is _State.READING and not self._latest:
            (frame,) = frames
            if isinstance(frame, Document):
                self.documents += 1
                return (self._read(frame),)
        return self._frames(frames)

    def close(self) -> Iterator[list[Part]]:
        """The parts of what is left in the framing, and of undecided documents."""
        yield from self._frames(self._framer.close())
        if self._reader is None and self._undecided.documents:
            yield from self._begin(FALLBACK)

    def end(self) -> list[Part]:
        """The wire's last parts, which come after all held text."""
        self.lists += 1
        return [] if self._reader is None else self._reader.close()

    def last_words(self, *, is_over: bool) -> list[Part]:
        """The parts for text after the last document. If the stream has no end (not
        ``is_over``), this text is the error that ended it."""
        parts, self._latest = self._latest, []
        if is_over or not parts:
            return self._noted([*parts])
        self.used = True
        text = "\n".join(part.raw for part in parts)
        return [normalize_error(text, provider=self.options.provider)]

    def strays(self) -> list[Part]:
        """Diagnostics for text between documents, which no reader could use."""
        if not self._strays:
            return []
        message = "text that is no document of the wire"
        text = "".join(self._strays)
        parts = [DiagnosticPart("malformed-chunk", message, raw=text)] if text else []
        return [*parts, *self._lost()]

    def _lost(self) -> list[Part]:
        """Reports how many characters between documents exceeded the limit."""
        if self._room >= 0:
            return []
        message = f"{-self._room} characters that are no document were left out"
        return [DiagnosticPart("document-limit", message)]

    @property
    def silent(self) -> bool:
        """Whether nothing usable came, and the reason may be reported."""
        unread = self._body or self._strays or not self.documents
        return not self.used and bool(unread)

    def silence(self) -> list[Part]:
        """Reports why nothing usable came, if possible in the words of the input."""
        body = "".join(self._strays)[:_MAX_BODY] or self._body
        if body:
            error = normalize_error(body, provider=self.options.provider)
            return [*self._lost(), error]
        message = "the stream ended before anything came"
        parts: list[Part] = [DiagnosticPart("empty-stream", message)]
        if self.wire != "text":
            parts.append(ErrorPart("network", message, retryable=True, raw=None))
        return parts

    def _frames(self, frames: Iterable[Frame]) -> Iterator[list[Part]]:
        for frame in frames:
            self.document = None
            self.is_unread = False
            if isinstance(frame, Document | LongDocument):
                if self._latest:
                    yield self.last_words(is_over=True)
                self.documents += 1
                yield from self._document(frame)
            elif isinstance(frame, DonePart):
                self._state = _State.OVER
            else:
                yield self._noted(self._parts_for_diagnostic(frame))

    def _parts_for_diagnostic(self, frame: DiagnosticPart) -> list[Part]:
        """The parts to report for ``frame``, which came in place of a document. An
        exception that a proxy wrote is an error. Other words of a proxy wait for the
        end."""
        raw = frame.raw
        if not isinstance(raw, str) or frame.code != "malformed-chunk":
            return [frame]
        if _EXCEPTION.match(raw):
            return [normalize_error(raw, provider=self.options.provider)]
        if not _WORDS.match(raw):
            return [frame]
        room = _MOST_SAID - sum(len(part.raw) for part in self._latest)
        if head := raw[:room]:
            self._latest.append(evolve(frame, raw=head))
        return [evolve(frame, raw=raw[room:])] if raw[room:] else []

    def _document(self, document: Document | LongDocument) -> Iterator[list[Part]]:
        if isinstance(document, LongDocument):
            yield from self._long(document)
        elif self._state is _State.OVER:
            message = "a document after the end mark"
            yield [DiagnosticPart("data-after-done", message, raw=document.value)]
        elif self._state is _State.READING:
            yield self._read(document)
        elif name := self._wire_of(document):
            self._state = _State.READING
            yield from self._begin(name)
            yield self._read(document)
        elif (body := find_error(document.value, document.event)) is not None:
            self.used = True
            yield [normalize_error(body, provider=self.options.provider)]
        else:
            yield from self._wait(document)

    def _long(self, frame: LongDocument) -> Iterator[list[Part]]:
        """The parts of a document above the limit, without its text. Held text is
        decided before it, because nobody knows what follows that text. The document is
        left out if it fits no wire, or comes after the end mark."""
        document = frame.document
        name = None if self._state is _State.OVER else self._wire_of(document)
        if name is None:
            yield self._noted([frame.diagnostic])
            return
        if self._state is _State.BEFORE:
            self._state = _State.READING
            yield from self._begin(name)
        parts = self._read(document)
        unread = {part.choice for part in parts if isinstance(part, _TEXT)}
        self.is_unread = bool(unread)
        self.document = None
        ends = [BlockEndPart(choice) for choice in sorted(unread)]
        severity: Any = "warning" if unread else "info"
        yield self._noted([evolve(frame.diagnostic, severity=severity), *ends])
        self.document = document
        yield [p for p in parts if not isinstance(p, (*_TEXT, DiagnosticPart))]

    def _wire_of(self, document: Document) -> str | None:
        if self._reader is not None:
            return self.wire
        is_text = self.framing == "text" and isinstance(document.value, str)
        return "text" if is_text else detect(document)

    def _wait(self, document: Document) -> Iterator[list[Part]]:
        """Keeps a document that fits no wire. If there are too many, none of them waits
        any longer, and a later document can still decide the wire."""
        undecided = self._undecided
        undecided.documents.append(document)
        undecided.size += text_size(document.value)
        if len(undecided.documents) <= _MOST_UNDECIDED and undecided.size <= _MAX_BODY:
            return
        for waiting in undecided.take():
            if isinstance(waiting.value, str):
                self._stray(waiting.value)
            else:
                message = "the document fits no wire"
                part = DiagnosticPart("unknown-chunk", message, raw=waiting.value)
                yield self._noted([part])

    def _begin(self, wire: str) -> Iterator[list[Part]]:
        """Reports what ``auto`` decided, and reads the documents that waited."""
        if self._reader is None:
            self._reader, self.wire = WIRES[wire].make(self.options.provider), wire
        yield self._decided()
        for document in self._undecided.take():
            yield self._read(document)

    def _decided(self) -> list[Part]:
        """The wire and framing that ``auto`` found. A decoded object has no framing."""
        options = self.options
        wire = self.wire if options.wire == "auto" else None
        is_framed = options.framing == "auto" != self.framing and options.wire != "text"
        framing = self.framing if is_framed else None
        return [MetadataPart(wire=wire, framing=framing)] if wire or framing else []

    def _read(self, document: Document) -> list[Part]:
        is_text = type(document.value) is str and self.wire != "text"
        if is_text and document.event != "error":
            self._stray(document.value)
            return []
        assert self._reader is not None  # it is chosen by now
        self.document = document
        return self._noted(self._reader.push(document))

    def _noted(self, parts: list[Part]) -> list[Part]:
        self.lists += 1
        for part in parts:
            if type(part) is not DiagnosticPart:
                self.used = True
            elif part.code in MALFORMED:
                self._keep(part.raw)
        return parts

    def _stray(self, text: str) -> None:
        if self._room > 0:
            self._strays.append(text[: self._room])
        self._room -= len(text)

    def _keep(self, text: Any) -> None:
        room = _MAX_BODY - len(self._body)
        if type(text) is str and room > 0:
            self._body += text[:room]
