"""Chats as Markdown: where the model's text is in the log that aider keeps.

A line that begins with ``#### `` is the user's, a line that begins with ``> `` is the
program's, and ``# aider chat started at`` begins a chat. The model's text is between a
line of the user and the next line of one of these kinds. Example: in
``#### hi\\n\\nHello.\\n\\n> Tokens: 2\\n`` it is ``Hello.``. Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.history.messages import StoredMessage, read_message
from stream_sidecar.history.shapes import MESSAGE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.history.cuts import Cut

NAME = ".aider.chat.history.md"

_START = patterns.compile(r"^# aider chat started at ", re.MULTILINE)
_QUESTION = patterns.compile(r"^#### ", re.MULTILINE)
_ENDS = ("#### ", "> ", "# aider chat started at ")


def is_chat_log(name: str, text: str) -> bool:
    """Whether a Markdown text is a log of aider. A text without the line that begins a
    chat needs the ``name`` of the log, because other texts have headings, too."""
    if not name.endswith(".md"):
        return False
    return bool(_START.search(text) or (name.endswith(NAME) and _QUESTION.search(text)))


def answers_in(text: str) -> Iterator[Cut]:
    """The spans of the model's answers, without the blanks around them."""
    position, start, is_answer = 0, 0, False
    for line in text.split("\n"):
        if line.startswith(_ENDS):
            if is_answer:
                yield from _stripped(text, start, position)
            is_answer, start = line.startswith("#### "), position + len(line)
        position += len(line) + 1
    if is_answer:
        yield from _stripped(text, start, len(text))


def _stripped(text: str, start: int, end: int) -> Iterator[Cut]:
    answer = text[start:end]
    start += len(answer) - len(answer.lstrip())
    if start < end:
        yield start, start + len(answer.strip())


def message_of(answer: str) -> StoredMessage:
    """An answer as a message; positions in its ``content`` are those in the answer."""
    message = {"role": "assistant", "content": answer}
    return read_message(message, MESSAGE)
