"""The sessions of kimi-cli as requests: messages in their order, and marks of its own.

kimi-cli sends the messages as they are, and mends nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.resume.conversation import ResumedConversation
from stream_sidecar.resume.kimi_messages import message_of
from stream_sidecar.resume.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stream_sidecar.parts import Json
    from stream_sidecar.resume.records import StoredRecord

_MARKS = ("_checkpoint", "_usage", "_system_prompt")


def fits(value: Json) -> bool:
    return isinstance(value, dict) and value.get("role") in _MARKS


def conversations(records: Sequence[StoredRecord]) -> Iterator[ResumedConversation]:
    stored = [Stored.of(record) for record in records]
    roles = ("system", "user", "assistant", "tool")
    sent = [message_of(each) for each in stored if each.at("role").value in roles]
    yield ResumedConversation(wire="openai-chat", items=tuple(sent))
