"""Messages of Kimi's library kosong as items of Chat Completions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.resume.conversation import SentItem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stream_sidecar.parts import Json
    from stream_sidecar.resume.records import StoredPlace
    from stream_sidecar.resume.stored import Stored
    from stream_sidecar.values.json_places import Path


def message_of(message: Stored) -> SentItem:
    """A stored message that has the members of Chat Completions."""
    content, reasoning, places = content_of(message.at("content"))
    item = {**message.members, **reasoning}
    if "content" in item:
        item["content"] = content
    return SentItem(item, message.source, places=places)


def content_of(content: Stored) -> tuple[Json, dict[str, str], dict[Path, StoredPlace]]:
    """The content, its thinking as members of the message, and where its parts are."""
    if not isinstance(content.value, list):
        return content.value, {}, {("content",): content.source}
    return parts_of(content.items())


def parts_of(
    stored: Iterable[Stored],
) -> tuple[Json, dict[str, str], dict[Path, StoredPlace]]:
    """As `content_of`, of the parts of a content; a string is a part of text."""
    parts: list[Json] = []
    thoughts: list[str] = []
    places: dict[Path, StoredPlace] = {}
    for part in stored:
        if part.at("type").value == "think":
            thoughts.append(part.at("think").text)
        elif isinstance(part.value, str):
            places["content", len(parts), "text"] = part.source
            parts.append({"type": "text", "text": part.value})
        else:
            places["content", len(parts)] = part.source
            parts.append(part.value)
    reasoning = {"reasoning_content": "".join(thoughts)} if thoughts else {}
    return parts, reasoning, places
