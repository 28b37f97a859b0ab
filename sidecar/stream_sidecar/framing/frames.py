"""Frames: the result of every framing, and `Held`, which keeps incomplete documents."""

from __future__ import annotations

from typing import TypeAlias

from stream_sidecar import patterns
from stream_sidecar.parts import DiagnosticPart, Document, DonePart
from stream_sidecar.records import frozen
from stream_sidecar.values.jsontext import loads


@frozen
class LongDocument:
    """A document above the limit, passed on unread; ``diagnostic`` says so."""

    document: Document
    diagnostic: DiagnosticPart


Frame: TypeAlias = Document | DonePart | DiagnosticPart | LongDocument
"""A document, the provider's end mark, or a diagnostic for input that is neither."""


@frozen
class LongText:
    """The text of a document above the limit, and the diagnostic for it."""

    text: str
    diagnostic: DiagnosticPart


HeldText: TypeAlias = str | DiagnosticPart | LongText
"""The text of a document. A diagnostic: the text was too long to be kept."""

PASSED_ON = "passed on, its text unread"

HEAD = 256
"""The most characters kept of an oversize document or an event's name."""

_QUOTED_DOCUMENT = patterns.compile(r"\s*+(?:data: ?)?+([{\[][\s\S]*+)")
"""A document that a proxy wrote as a JSON string, with or without ``data:``."""

_INNER = patterns.compile(
    r'data: ?+(?=[{\[])|(?!^)\{\s*+(?="(?:error"|type"\s*+:\s*+"error"))'
)
"""The beginning of a document within another; without ``data:`` only errors."""

_MOST_ENDS = 4
"""The most later beginnings, besides the end, that are tried as one's end."""

_MOST_TRIED = 20
"""After so many parts that are no documents the rest is left out: linear time."""


class Held:
    """Text that waits for its end. If it exceeds ``kept`` characters, only its head is
    kept. Text of more than ``limit`` characters is a `LongText`.

    ``pieces`` is empty until a text, even an empty one, is added. ``size`` counts all
    characters that were added, kept or not.
    """

    __slots__ = ("head", "kept", "limit", "pieces", "size")

    def __init__(self, limit: int, kept: int = 0, head: int = HEAD) -> None:
        self.limit = limit
        self.kept = max(limit, kept)
        self.head = head
        self.pieces: list[str] = []
        self.size = 0

    def add(self, text: str) -> None:
        self.size += len(text)
        self.pieces.append(text)
        if self.size > self.kept:
            self.pieces[-1] = text[: self.head]
            self.pieces = ["".join(self.pieces)[: self.head]]

    def peek(self) -> HeldText:
        """The text; only a ``document-limit`` diagnostic if it was too long."""
        text = self.pieces[0] if len(self.pieces) == 1 else "".join(self.pieces)
        if self.size <= self.limit:
            return text
        if self.size <= self.kept:
            return LongText(text, too_long(self.size, self.limit, text, PASSED_ON))
        return too_long(self.size, self.limit, text, "left out")

    def take(self) -> HeldText:
        """Returns the same as `peek`, and forgets the text."""
        text = self.peek()
        self.pieces, self.size = [], 0
        return text


def malformed(raw: str, problem: str = "Input that is not JSON") -> DiagnosticPart:
    return DiagnosticPart("malformed-chunk", f"{problem} was left out.", raw=raw)


def too_long(size: int, limit: int, text: str, action: str) -> DiagnosticPart:
    """The diagnostic for a document of ``size``; ``action``: what was done."""
    message = (
        f"A document of {size} characters was {action}; {limit} are allowed. raw is its"
        " beginning."
    )
    return DiagnosticPart("document-limit", message, raw=text[:HEAD])


def take_junk(held: Held, problem: str) -> list[DiagnosticPart]:
    """Return the held text as a diagnostic, if any, and forget it."""
    if not held.pieces:
        return []
    return [diagnostic_of(held.take(), problem)]


def diagnostic_of(text: HeldText, problem: str) -> DiagnosticPart:
    """The diagnostic for text that is no document."""
    if isinstance(text, str):
        return malformed(text, problem)
    return text.diagnostic if isinstance(text, LongText) else text


def frame_of(text: HeldText, event: str | None = None) -> Frame:
    """Return the frame of one document's text; a diagnostic is returned unchanged."""
    if isinstance(text, DiagnosticPart):
        return text
    if isinstance(text, LongText):
        return _frame_of_long(text, event)
    if text.strip() == "[DONE]":
        return DonePart()
    try:
        value = loads(text)
    except ValueError:
        return _frame_of_no_json(text, event)
    if type(value) is str and (inner := _QUOTED_DOCUMENT.fullmatch(value)):
        frame = frame_of(inner[1], event)
        return Document(value, event) if isinstance(frame, DiagnosticPart) else frame
    return Document(value, event)


def _frame_of_long(long: LongText, event: str | None) -> Frame:
    """Only an object is passed on."""
    try:
        value = loads(long.text)
    except ValueError:
        return long.diagnostic
    if type(value) is not dict:
        return long.diagnostic
    return LongDocument(Document(value, event), long.diagnostic)


def _frame_of_no_json(text: str, event: str | None) -> Frame:
    """The frame of an end mark, an error in words, or no document."""
    stripped = text.strip()
    if stripped.upper() in ("[DONE]", "DONE"):
        return DonePart()
    if event == "error":
        return Document(text, event)
    frame = frame_of(stripped[:-1], event) if stripped.endswith("},") else None
    return frame if isinstance(frame, Document) else malformed(text)


def frames_of(text: HeldText, event: str | None = None) -> list[Frame]:
    """Return the frames of a text without line breaks: mostly one document.

    If the transport lost characters, a whole document may follow half of another, or
    all of it: ``{"id": "1", "choicdata: {"id": "2"}``. The later document has the name
    ``event`` only if no text precedes it, as in the line ``data: data: {}``.
    """
    whole_frame = frame_of(text, event)
    if not isinstance(text, str) or not isinstance(whole_frame, DiagnosticPart):
        return [whole_frame]
    starts = (0, *(match.start() for match in _INNER.finditer(text) if match.start()))
    frames: list[Frame] = []
    read_end, tries_left = 0, _MOST_TRIED
    margin = len(text) - len(text.lstrip())
    for index, start in enumerate(starts):
        name = event if start <= margin else None
        later_starts = starts[index + 1 : index + 1 + _MOST_ENDS]
        for end in (*later_starts, len(text)) if start >= read_end else ():
            frame = frame_of(text[start:end].removeprefix("data:"), name)
            if not isinstance(frame, DiagnosticPart):
                frames += _malformed_rest(text[read_end:start])
                frames.append(frame)
                read_end = end
                break
            tries_left -= 1
        if tries_left <= 0:
            break
    return frames + _malformed_rest(text[read_end:]) if frames else [whole_frame]


def _malformed_rest(text: str) -> list[Frame]:
    return [malformed(text)] if text.strip() else []
