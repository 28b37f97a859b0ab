"""Text that no row of `shapes` reads, though a model may have written it.

`messages_in` notes the strings of a document that are at a name for text and that no
row reads. `may_be_said` looks at the names and records around a string, from the inside
out: the first word for an author decides. Example: ``{"type": "user_message",
"message": "Hi"}`` is the user's; ``{"type": "turn", "text": "Hi"}`` does not say whose
it is. Knows nothing of delimiters. Pure.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.history.paths import at
from stream_sidecar.history.shapes import ASSISTANT
from stream_sidecar.records import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.parts import Json
    from stream_sidecar.values.json_places import Path

_TEXT_NAME = patterns.compile(
    r"(?:answer|completion|content|markdown|message|parts|reply|response|text|value)$",
    re.IGNORECASE,
)
"""How the names of members end that hold text."""

_SAID = frozenset(
    (
        *ASSISTANT,
        "answer",
        "bot",
        "completion",
        "gemini",
        "llm",
        "reply",
        "response",
    )
)
"""Words for a model as the author."""

_NOT_SAID = frozenset(
    (
        "ask",
        "attachment",
        "code",
        "command",
        "developer",
        "diff",
        "edit",
        "exec",
        "execution",
        "feedback",
        "file",
        "followup",
        "function",
        "hook",
        "human",
        "input",
        "instruction",
        "instructions",
        "patch",
        "prompt",
        "query",
        "question",
        "queue",
        "reason",
        "reasoning",
        "request",
        "requests",
        "snapshot",
        "summary",
        "system",
        "think",
        "thinking",
        "thought",
        "thoughts",
        "title",
        "tool",
        "tools",
        "user",
    )
)
"""Words for everything else that is stored as text: what others wrote, the input of a
tool, reasoning in a place of its own."""

_LABELS = (
    "ask",
    "author",
    "content_type",
    "from",
    "kind",
    "part_kind",
    "role",
    "say",
    "sender",
    "sessionUpdate",
    "source",
    "speaker",
    "subtype",
    "type",
)
"""Names of members that say who wrote a record, or what it is."""

_PLACES = (("author", "role"), ("info", "role"), ("id", -1))
_WORD = patterns.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


@frozen
class UnreadText:
    """``text`` at ``path`` of its document. ``state``: the place in its session of the
    value that the document sets, if the document is an operation of a log."""

    path: Path
    text: str
    state: Path = ()


@lru_cache(maxsize=4096)
def is_text_name(name: str | int) -> bool:
    """Whether a member of that name, or its items, hold text."""
    return isinstance(name, str) and _TEXT_NAME.search(name) is not None


def may_be_said(document: Json, unread: UnreadText) -> bool:
    """Whether a model may have written the text, as far as the document says."""
    for words in _words_around(document, unread):
        if not words.isdisjoint(_NOT_SAID):
            return False
        if not words.isdisjoint(_SAID):
            return True
    return True


def _words_around(document: Json, unread: UnreadText) -> Iterator[set[str]]:
    """The words of each name and record around a text, from the inside out."""
    holders = [at(document, unread.path[:end]) for end in range(len(unread.path))]
    for step, holder in zip(unread.path[::-1], holders[::-1], strict=True):
        yield _words(step)
        yield from _label_words(holder)
    for step in unread.state[::-1]:
        yield _words(step)


def _label_words(holder: Json) -> Iterator[set[str]]:
    """The words of a record about itself."""
    if not isinstance(holder, dict):
        return
    if holder.get("isCreatedByUser") is True:
        yield {"user"}
    values = [holder.get(name) for name in _LABELS]
    values += [at(holder, place) for place in _PLACES]
    yield {word for value in values for word in _words(value)}


def _words(value: Json) -> set[str]:
    """The words of a name: ``user`` and ``message`` of ``user_message``."""
    words = _WORD.findall(value) if isinstance(value, str) else ()
    return {word.lower() for word in words}
