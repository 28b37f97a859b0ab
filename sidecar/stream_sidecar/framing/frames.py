"""Frames: what every framing gives, and how it holds what is not yet whole."""

from __future__ import annotations

from itertools import islice
from typing import TypeAlias

from stream_sidecar import patterns
from stream_sidecar.parts import DiagnosticPart, Document, DonePart
from stream_sidecar.values.jsontext import loads

Frame: TypeAlias = Document | DonePart | DiagnosticPart
"""What framing gives: a document, the provider's end mark, or what was no document."""

HEAD = 256
"""Characters that are shown of an oversize document, and kept of an event's name."""

_QUOTED = patterns.compile(r"\s*+(?:data: ?)?+([{\[][\s\S]*+)")
"""A document that a proxy wrote as a JSON string, with its field's name or without."""

_INSIDE = patterns.compile(
    r'data: ?+(?=[{\[])|(?!^)\{\s*+(?="(?:error"|type"\s*+:\s*+"error"))'
)
"""Where a document begins in the middle of another; without ``data:`` only an error."""

_MOST_INSIDE = 4
"""Such places that are looked at: each may end at each of those after it."""


class Held:
    """Text that waits for its end; of more than ``limit`` characters only the head.

    ``pieces`` is empty until something, even an empty text, was added. ``size`` counts
    what was added, kept or not.
    """

    __slots__ = ("head", "limit", "pieces", "size")

    def __init__(self, limit: int, head: int = HEAD) -> None:
        self.limit = limit
        self.head = head
        self.pieces: list[str] = []
        self.size = 0

    def add(self, text: str) -> None:
        self.size += len(text)
        self.pieces.append(text)
        if self.size > self.limit:
            self.pieces[-1] = text[: self.head]
            self.pieces = ["".join(self.pieces)[: self.head]]

    def peek(self) -> str | DiagnosticPart:
        """All that was added, or the diagnostic that says that it was too much."""
        text = self.pieces[0] if len(self.pieces) == 1 else "".join(self.pieces)
        if self.size <= self.limit:
            return text
        return DiagnosticPart(
            "document-limit",
            f"A document of {self.size} characters was left out; {self.limit} are"
            " allowed. raw is its beginning.",
            raw=text[:HEAD],
        )

    def take(self) -> str | DiagnosticPart:
        """`peek`, and everything is forgotten."""
        taken = self.peek()
        self.pieces, self.size = [], 0
        return taken


def malformed(raw: str, problem: str = "Input that is not JSON") -> DiagnosticPart:
    return DiagnosticPart("malformed-chunk", f"{problem} was left out.", raw=raw)


def take_junk(held: Held, problem: str) -> list[DiagnosticPart]:
    """What is held and is no document, if anything is."""
    if not held.pieces:
        return []
    text = held.take()
    return [malformed(text, problem) if isinstance(text, str) else text]


def frame_of(text: str | DiagnosticPart, event: str | None = None) -> Frame:
    """The frame of one document's text; a diagnostic in its place is passed on."""
    if isinstance(text, DiagnosticPart):
        return text
    if text.strip() == "[DONE]":
        return DonePart()
    try:
        value = loads(text)
    except ValueError:
        return _otherwise(text, event)
    if type(value) is str and (inner := _QUOTED.fullmatch(value)):
        frame = frame_of(inner[1], event)
        return Document(value, event) if isinstance(frame, DiagnosticPart) else frame
    return Document(value, event)


def _otherwise(text: str, event: str | None) -> Frame:
    """Text that is no JSON: an end mark in other letters, an error in words, a document
    with a comma behind it."""
    bare = text.strip()
    if bare.upper() in ("[DONE]", "DONE"):
        return DonePart()
    if event == "error":
        return Document(text, event)
    found = frame_of(bare[:-1], event) if bare.endswith("},") else None
    return found if isinstance(found, Document) else malformed(text)


def frames_of(text: str | DiagnosticPart, event: str | None = None) -> list[Frame]:
    """The frames of a text without line breaks: mostly one document.

    Where the transport lost something, a whole document may follow the half of one:
    ``{"id": "1", "choicdata: {"id": "2"}``. Its name is known where nothing precedes
    it (``data: data: {}``).
    """
    whole = frame_of(text, event)
    if isinstance(text, DiagnosticPart) or not isinstance(whole, DiagnosticPart):
        return [whole]
    starts = [each.start() for each in islice(_INSIDE.finditer(text), _MOST_INSIDE)]
    ends = [*starts[1:], len(text)]
    frames: list[Frame] = []
    at = 0
    for number, start in enumerate(starts):
        name = None if text[:start].strip() else event
        for end in ends[number:] if start >= at else ():
            found = frame_of(text[start:end].removeprefix("data:"), name)
            if not isinstance(found, DiagnosticPart):
                frames += _left_out(text[at:start])
                frames.append(found)
                at = end
                break
    return frames + _left_out(text[at:]) if frames else [whole]


def _left_out(text: str) -> list[Frame]:
    return [malformed(text)] if text.strip() else []
