"""Frames: what every framing gives, and how it holds what is not yet whole."""

from __future__ import annotations

from typing import TypeAlias

from stream_sidecar.parts import DiagnosticPart, Document, DonePart
from stream_sidecar.values.jsontext import loads

Frame: TypeAlias = Document | DonePart | DiagnosticPart
"""What framing gives: a document, the provider's end mark, or what was no document."""

HEAD = 256
"""Characters that are shown of an oversize document, and kept of an event's name."""


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
        return Document(loads(text), event)
    except ValueError:
        # An error needs no JSON: its text says what is wrong.
        return Document(text, event) if event == "error" else malformed(text)
