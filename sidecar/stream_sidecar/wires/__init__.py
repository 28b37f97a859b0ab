"""The table of wires: name -> its row, in the order in which they are announced.

A new wire is one file or folder with a ``ROW``, its name here and one recording under
``tests/wires`` (wires/README.md, "Adding a wire").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.wires import (
    anthropic,
    bedrock_converse,
    cohere,
    gemini,
    mistral_conversations,
    ollama,
    openai_chat,
    openai_responses,
    text,
    workers_ai,
)

if TYPE_CHECKING:
    from stream_sidecar.parts import Document
    from stream_sidecar.wires.shared.row import WireRow

WIRES: dict[str, WireRow] = {
    each.ROW.name: each.ROW
    for each in (
        openai_chat,
        openai_responses,
        anthropic,
        gemini,
        ollama,
        bedrock_converse,
        cohere,
        mistral_conversations,
        workers_ai,
        text,
    )
}

WRITERS = {name: row for name, row in WIRES.items() if row.writer}
"""The wires on which events can be written."""

REQUESTS = {name: row for name, row in WIRES.items() if row.request}
"""The wires for which a turn can be rendered."""

FALLBACK = "openai-chat"
"""What reads a stream whose documents fit no wire, so that each is reported."""


def detect(document: Document) -> str | None:
    """The only wire that ``document`` fits, or None."""
    names = [row.name for row in WIRES.values() if row.fits(document)]
    return names[0] if len(names) == 1 else None
