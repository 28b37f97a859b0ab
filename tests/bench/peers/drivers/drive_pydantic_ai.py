"""pydantic-ai: the parts manager that its models for chat APIs hand each text to."""

from __future__ import annotations

from typing import Any

from harness import Splitter, drive
from pydantic_ai._parts_manager import ModelResponsePartsManager
from pydantic_ai.messages import TextPart, ThinkingPart
from pydantic_ai.models import ModelRequestParameters

TAGS = ("<think>", "</think>")


def start() -> Splitter:
    manager = ModelResponsePartsManager(ModelRequestParameters())

    def push(delta: str) -> Any:
        return list(
            manager.handle_text_delta(
                vendor_part_id="content", content=delta, thinking_tags=TAGS
            )
        )

    def read(given: list[Any]) -> tuple[str, str]:
        parts = given[-1]
        answer = "".join(part.content for part in parts if isinstance(part, TextPart))
        thoughts = [part.content for part in parts if isinstance(part, ThinkingPart)]
        return answer, "".join(thoughts)

    return Splitter(push, manager.get_parts, read)


drive(start)
