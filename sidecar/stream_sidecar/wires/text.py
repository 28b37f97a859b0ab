"""The wire ``text``: slices of model text, without any provider's shape around them."""

from __future__ import annotations

from stream_sidecar.parts import DiagnosticPart, Document, Part, TextPart
from stream_sidecar.wires.shared.row import WireRow


class TextWire:
    """Reads each string as a piece of the answer; all else is an ``unknown-chunk``."""

    def push(self, document: Document) -> list[Part]:
        value = document.value
        if isinstance(value, str):
            return [TextPart(value)]
        message = "the wire text reads only strings"
        return [DiagnosticPart("unknown-chunk", message, "warning", value)]

    def close(self) -> list[Part]:
        return []


ROW = WireRow("text", "", lambda _row, _provider: TextWire())
