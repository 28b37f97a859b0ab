"""LiteLLM: the reader of Ollama's chat chunks, where it splits tags in a stream.

Its other providers read fields for reasoning, or parse tags of whole messages only.
Pushed are decoded chunks; what it gives is a chunk of its own model.
"""

from __future__ import annotations

from typing import Any

from harness import Splitter, drive
from litellm.llms.ollama.chat.transformation import (
    OllamaChatCompletionResponseIterator,
)


def chunk(text: str) -> dict[str, Any]:
    return {
        "model": "a-model",
        "created_at": "2026-01-01T00:00:00.000000Z",
        "message": {"role": "assistant", "content": text},
        "done": False,
    }


def start() -> Splitter:
    reader = OllamaChatCompletionResponseIterator(iter(()), sync_stream=True)

    def read(given: list[Any]) -> tuple[str, str]:
        deltas = [made.choices[0].delta for made in given if made is not None]
        thoughts = [getattr(delta, "reasoning_content", None) for delta in deltas]
        answer = "".join(delta.content or "" for delta in deltas)
        return answer, "".join(thought or "" for thought in thoughts)

    return Splitter(reader.chunk_parser, lambda: None, read)


drive(start, chunk)
