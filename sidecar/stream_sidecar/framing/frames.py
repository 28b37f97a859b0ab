"""Frames: the result of every framing, and `Held`, which keeps incomplete documents."""

from __future__ import annotations

from typing import TypeAlias

from stream_sidecar import patterns
from stream_sidecar.parts import DiagnosticPart, Document, DonePart
from stream_sidecar.records import frozen
from stream_sidecar.values.jsontext import loads


@frozen
class LongDocument:
    """A document above the limit, which is passed on. ``diagnostic`` says that its text
    is not read."""

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
"""The most characters that a diagnostic shows of an oversize document, and that are
kept of an event's name."""

_QUOTED = patterns.compile(r"\s*+(?:data: ?)?+([{\[][\s\S]*+)")
"""A document that a proxy wrote as a JSON string, with or without ``data:``."""

_INSIDE = patterns.compile(
    r'data: ?+(?=[{\[])|(?!^)\{\s*+(?="(?:error"|type"\s*+:\s*+"error"))'
)
"""The beginning of a document in the middle of another one. Without ``data:`` only
errors are found."""

_MOST_ENDS = 4
"""The most later beginnings that are tried as the end of one document. The end of the
text is tried, too."""

_MOST_TRIED = 20
"""After so many parts of one text that are no documents the rest is left out. So time
is linear."""


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


def too_long(size: int, limit: int, text: str, what: str) -> DiagnosticPart:
    """The diagnostic for a document of ``size`` characters; ``what`` was done with
    it."""
    message = (
        f"A document of {size} characters was {what}; {limit} are allowed. raw is its"
        " beginning."
    )
    return DiagnosticPart("document-limit", message, raw=text[:HEAD])


def take_junk(held: Held, problem: str) -> list[DiagnosticPart]:
    """Return the held text as one diagnostic, and forget the text. Return an empty list
    if no text is held."""
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
    if type(value) is str and (inner := _QUOTED.fullmatch(value)):
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
    """The frame of text that is not JSON: an end mark in other letters, an error in
    words, a document with a comma after it, or a malformed chunk."""
    bare = text.strip()
    if bare.upper() in ("[DONE]", "DONE"):
        return DonePart()
    if event == "error":
        return Document(text, event)
    found = frame_of(bare[:-1], event) if bare.endswith("},") else None
    return found if isinstance(found, Document) else malformed(text)


def frames_of(text: HeldText, event: str | None = None) -> list[Frame]:
    """Return the frames of a text without line breaks: mostly one document.

    If the transport lost characters, a whole document may follow half of another, or
    all of it: ``{"id": "1", "choicdata: {"id": "2"}``. The later document has the name
    ``event`` only if no text precedes it, as in the line ``data: data: {}``.
    """
    whole = frame_of(text, event)
    if not isinstance(text, str) or not isinstance(whole, DiagnosticPart):
        return [whole]
    starts = (0, *(each.start() for each in _INSIDE.finditer(text) if each.start()))
    frames: list[Frame] = []
    at, left = 0, _MOST_TRIED
    margin = len(text) - len(text.lstrip())
    for number, start in enumerate(starts):
        name = event if start <= margin else None
        later = starts[number + 1 : number + 1 + _MOST_ENDS]
        for end in (*later, len(text)) if start >= at else ():
            found = frame_of(text[start:end].removeprefix("data:"), name)
            if not isinstance(found, DiagnosticPart):
                frames += _left_out(text[at:start])
                frames.append(found)
                at = end
                break
            left -= 1
        if left <= 0:
            break
    return frames + _left_out(text[at:]) if frames else [whole]


def _left_out(text: str) -> list[Frame]:
    return [malformed(text)] if text.strip() else []
