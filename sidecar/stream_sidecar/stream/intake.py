"""From raw chunks to parts: framing, the choice of the wire, and what is no document.

`Intake.push(chunk)` gives the parts of each document in a list of its own, `close()`
the rest. ``auto`` decides on the first document that fits one wire only; documents
before it wait, a few, and are told as unknown when there are more; an error needs no
wire. Input that is no document of the wire is
kept, bounded, because it may be a provider's error in its own words (an HTML page or
plain text under HTTP 200); what begins as an exception does is one at once.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

from stream_sidecar.framing.framer import Framer
from stream_sidecar.parts import (
    DiagnosticPart,
    Document,
    DonePart,
    ErrorPart,
    MetadataPart,
)
from stream_sidecar.provider_errors.normalize import find_error, normalize_error
from stream_sidecar.records import define, field
from stream_sidecar.values.text_size import text_size
from stream_sidecar.wires import FALLBACK, WIRES, detect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stream_sidecar.framing.framer import Frame
    from stream_sidecar.options import StreamOptions
    from stream_sidecar.parts import Part, Wire

MALFORMED = frozenset({"malformed-chunk", "unknown-chunk", "document-limit"})
"""Diagnostics of input that could not be used; counted in ``Stats``."""

_EXCEPTION = re.compile(
    r"\s*(?:[a-z_]\w{0,60}\.){0,8}(?:[A-Z]\w{0,60})?(?:Error|Exception)\b"
)
"""How an exception begins that is written out as text: ``litellm.RateLimitError: ``."""

_MOST_UNDECIDED = 256
"""Documents that wait for one that fits a wire; `_MAX_BODY` is their length at most."""

_MAX_BODY = 65_536
"""Code points kept of a body that is not what it should be, to tell its error."""


@define(eq=False)
class _Undecided:
    """Documents that fit no wire yet; ``size``: code points of them."""

    documents: list[Document] = field(factory=list)
    size: int = 0

    def push(self, document: Document) -> bool:
        """Keeps a document; False: it is one too many, or they are too long."""
        self.documents.append(document)
        self.size += text_size(document.value)
        return len(self.documents) <= _MOST_UNDECIDED and self.size <= _MAX_BODY

    def take(self) -> list[Document]:
        """All of them, of which nothing is kept."""
        documents, self.documents, self.size = self.documents, [], 0
        return documents


class Intake:
    """``push`` chunks, ``close``; then ``silence`` says why nothing came.

    ``documents`` counts, ``done`` is True after an end mark, ``used`` as soon as a
    document said something.
    """

    def __init__(self, options: StreamOptions) -> None:
        is_text = options.wire == "text"
        self.options = options
        self.wire = options.wire
        self.documents = 0
        self.done = False
        self.used = False
        self._framer = Framer(
            "text" if is_text else options.framing,
            options.encoding,
            limit=options.limits.max_document_chars,
        )
        self._announces = not is_text and "auto" in (options.wire, options.framing)
        self._reader: Wire | None = None
        #: wire and framing are decided: a document needs nothing but its reader
        self._settled = "auto" not in (options.wire, options.framing)
        self._kind: type = dict  # of the values that the reader takes
        self._body = ""  # what diagnostics carried, bounded
        self._strays: list[str] = []  # what nothing has carried yet
        self._room = options.limits.max_document_chars
        if options.wire != "auto":
            self._reader = WIRES[options.wire].make(options.provider)

    @property
    def framing(self) -> str:
        """The framing's name, ``auto`` until it is decided."""
        return self._framer.framing

    @cached_property
    def _undecided(self) -> _Undecided:
        return _Undecided()

    @property
    def held(self) -> int:
        """Code points that nothing has been said of, at most."""
        strays = self.options.limits.max_document_chars - max(self._room, 0)
        waiting = self._undecided.size if "_undecided" in vars(self) else 0
        return self._framer.held + waiting + strays

    def push(self, chunk: object) -> Iterable[list[Part]]:
        frames = self._framer.push(chunk)
        if len(frames) == 1 and self._settled:
            frame = frames[0]
            if isinstance(frame, Document) and type(frame.value) is self._kind:
                assert self._reader is not None  # it has read a document before
                self.documents += 1
                return (self._seen(self._reader.push(frame)),)
        return self._frames(frames)

    def close(self) -> Iterator[list[Part]]:
        """What is left in the framing, and documents that fitted no wire."""
        yield from self._frames(self._framer.close())
        if self._reader is None and self._undecided.documents:
            yield from self._choose(FALLBACK)

    def end(self) -> list[Part]:
        """The wire's last parts, which belong behind all held text."""
        return [] if self._reader is None else self._reader.close()

    def strays(self) -> list[Part]:
        """Text between documents, which no reader could use."""
        if not self._strays:
            return []
        message = "text that is no document of the wire"
        text = "".join(self._strays)
        parts = self._lost()
        if text:
            parts.insert(0, DiagnosticPart("malformed-chunk", message, raw=text))
        return parts

    def _lost(self) -> list[Part]:
        """A report of how much more such text there was than a document may have."""
        if self._room >= 0:
            return []
        message = f"{-self._room} characters that are no document were left out"
        return [DiagnosticPart("document-limit", message)]

    @property
    def silent(self) -> bool:
        """True when nothing usable came, and it may be told why."""
        unread = self._body or self._strays or not self.documents
        return not self.used and bool(unread)

    def silence(self) -> list[Part]:
        """Why nothing usable came; what came may tell it in its own words."""
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
            if isinstance(frame, Document):
                yield from self._document(frame)
            elif isinstance(frame, DonePart):
                self.done = True
                self._settled = False
            else:
                yield self._seen([self._told(frame)])

    def _told(self, frame: DiagnosticPart) -> Part:
        """In place of a document a proxy may write the exception that stopped it."""
        if isinstance(frame.raw, str) and _EXCEPTION.match(frame.raw):
            return normalize_error(frame.raw, provider=self.options.provider)
        return frame

    def _document(self, document: Document) -> Iterator[list[Part]]:
        self.documents += 1
        if self.done:
            message = "a document after the end mark"
            yield [DiagnosticPart("data-after-done", message, raw=document.value)]
        elif self._reader is not None:
            yield self._read(document)
        else:
            yield from self._decide(document)

    def _decide(self, document: Document) -> Iterator[list[Part]]:
        is_text = self.framing == "text" and isinstance(document.value, str)
        name = "text" if is_text else detect(document)
        if name is not None:
            yield from self._choose(name)
            yield self._read(document)
            return
        body = find_error(document.value, document.event)
        if body is None:
            yield from self._wait(document)
        else:
            self.used = True
            yield [normalize_error(body, provider=self.options.provider)]

    def _wait(self, document: Document) -> Iterator[list[Part]]:
        """Keeps a document that fits no wire; when it is one too many, none waits any
        longer, and a later one still decides."""
        if self._undecided.push(document):
            return
        for each in self._undecided.take():
            if isinstance(each.value, str):
                self._stray(each.value)
            else:
                message = "the document fits no wire"
                part = DiagnosticPart("unknown-chunk", message, raw=each.value)
                yield self._seen([part])

    def _choose(self, name: str) -> Iterator[list[Part]]:
        self._reader = WIRES[name].make(self.options.provider)
        self.wire = name
        for document in self._undecided.take():
            yield self._read(document)

    def _read(self, document: Document) -> list[Part]:
        assert self._reader is not None
        announced = self._announce() if self._announces else []
        self._settled = not self.done
        self._kind = str if self.wire == "text" else dict
        is_text = isinstance(document.value, str) and document.event != "error"
        if is_text and self.wire != "text":
            self._stray(document.value)
            return announced
        return announced + self._seen(self._reader.push(document))

    def _announce(self) -> list[Part]:
        """What ``auto`` decided, once."""
        self._announces = False
        wire = self.wire if self.options.wire == "auto" else None
        framing = self.framing if self.options.framing == "auto" else "auto"
        decided = None if framing == "auto" else framing
        return [MetadataPart(wire=wire, framing=decided)] if wire or decided else []

    def _seen(self, parts: list[Part]) -> list[Part]:
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
