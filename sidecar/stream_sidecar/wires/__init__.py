"""The table of wires: name -> how to make one, how ``auto`` knows it; and the table of
the writers of their requests.

Order is meaning: ``auto`` takes the first row whose ``fits`` is true for a document
that fits one row only. A new wire is one file, one row here and one recording under
``tests/wires`` (wires/README.md, "Adding a wire").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.wires import text
from stream_sidecar.wires.anthropic import reader as anthropic
from stream_sidecar.wires.anthropic import request as to_anthropic
from stream_sidecar.wires.anthropic.writer import AnthropicWriter
from stream_sidecar.wires.bedrock_converse import reader as bedrock_converse
from stream_sidecar.wires.bedrock_converse import request as to_bedrock_converse
from stream_sidecar.wires.cohere import reader as cohere
from stream_sidecar.wires.cohere import request as to_cohere
from stream_sidecar.wires.gemini import reader as gemini
from stream_sidecar.wires.gemini import request as to_gemini
from stream_sidecar.wires.gemini.writer import GeminiWriter
from stream_sidecar.wires.ollama import reader as ollama
from stream_sidecar.wires.ollama import request as to_ollama
from stream_sidecar.wires.openai_chat import reader as openai_chat
from stream_sidecar.wires.openai_chat import request as to_openai_chat
from stream_sidecar.wires.openai_chat.writer import OpenAIChatWriter
from stream_sidecar.wires.openai_responses import reader as openai_responses
from stream_sidecar.wires.openai_responses import request as to_openai_responses
from stream_sidecar.wires.openai_responses.writer import OpenAIResponsesWriter

if TYPE_CHECKING:
    from stream_sidecar.parts import Document, WireRow
    from stream_sidecar.wires.shared.rendering import RequestWriter
    from stream_sidecar.wires.shared.writing import ChunkWriter

WIRES: dict[str, WireRow] = {
    row.name: row
    for row in (
        openai_chat.ROW,
        openai_responses.ROW,
        anthropic.ROW,
        gemini.ROW,
        ollama.ROW,
        bedrock_converse.ROW,
        cohere.ROW,
        text.ROW,
    )
}

WRITERS: dict[str, type[ChunkWriter]] = {
    writer.name: writer
    for writer in (
        OpenAIChatWriter,
        OpenAIResponsesWriter,
        AnthropicWriter,
        GeminiWriter,
    )
}
"""What events are written as: wire -> its writer, beside its reader."""

REQUESTS: dict[str, RequestWriter] = {
    "openai-chat": to_openai_chat.write,
    "openai-responses": to_openai_responses.write,
    "anthropic": to_anthropic.write,
    "gemini": to_gemini.write,
    "ollama": to_ollama.write,
    "bedrock-converse": to_bedrock_converse.write,
    "cohere": to_cohere.write,
}
"""Name of a wire -> what writes a turn for it (wires/README.md, "Requests")."""

FALLBACK = "openai-chat"
"""What reads a stream whose documents fit no wire, so that each is reported."""


def detect(document: Document) -> str | None:
    """The only wire that ``document`` fits, or None."""
    names = [row.name for row in WIRES.values() if row.fits(document)]
    return names[0] if len(names) == 1 else None
