"""Which chunks the official SDKs can join to those before them.

The SDKs count the calls of a choice by ``index``, join names and ids as they join text,
leave out documents that are not called ``chat.completion.chunk``, and fail at a choice
that begins without a ``role`` and at a second list of objects without ``index`` in a
delta (openai-python, ``lib/streaming``; openai-node, ``ChatCompletionStream``).
Example: LiteLLM's ``thinking_blocks``.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from stream_sidecar.wires.openai_chat.reasoning import TEXTS
from stream_sidecar.wires.shared.row import SdkRules

if TYPE_CHECKING:
    from stream_sidecar.parts import Json, JsonObject

_TEXTS = ("content", "refusal", *TEXTS)


class ChatSdkRules(SdkRules):
    """Looks at all chunks of one stream, in their order."""

    def __init__(self) -> None:
        self._begun: set[int] = set()  # choices that have a role
        self._calls: dict[int, int] = {}  # choice -> how many calls have begun
        self._are_other = False  # calls have other indexes in what is written
        #: a choice and the names of members -> the objects without index in that list
        self._listed: Counter[tuple[Json, ...]] = Counter()

    def allows(self, chunk: JsonObject) -> bool:
        """Whether the SDKs read from ``chunk`` what it says."""
        if "error" in chunk:
            return True
        choices = chunk.get("choices")
        if type(choices) is not list:
            return False
        if choices and chunk.get("object") != "chat.completion.chunk":
            return False
        allowed = [self._allows_choice(choice) for choice in choices]
        return all(allowed)

    def finished(self, chunk: JsonObject) -> JsonObject:
        """``chunk`` with an ``index`` in all objects of lists in its deltas."""
        choices = chunk.get("choices") or []
        numbered = [
            {**choice, "delta": self._numbered(delta, (choice.get("index"),))}
            if type(delta := choice.get("delta")) is dict
            else choice
            for choice in choices
        ]
        return {**chunk, "choices": numbered} if numbered else chunk

    def _numbered(self, value: Json, path: tuple[Json, ...]) -> Json:
        if type(value) is dict:
            return {
                name: self._numbered(each, (*path, name))
                for name, each in value.items()
            }
        if not _lacks_index(value):
            return value
        first = self._listed[path]
        self._listed[path] += len(value)
        return [{"index": place, **each} for place, each in enumerate(value, first)]

    def _allows_choice(self, choice: Json) -> bool:
        delta = choice.get("delta") if type(choice) is dict else None
        if type(delta) is not dict:
            return False
        index, calls = choice.get("index"), delta.get("tool_calls") or []
        if type(index) is not int or type(calls) is not list or "usage" in choice:
            return False
        allowed = [self._allows_call(index, call) for call in calls]
        self._are_other = self._are_other or not all(allowed)
        if calls and self._are_other:
            return False
        if choice.get("finish_reason") == "stop" and index in self._calls:
            return False
        if index not in self._begun and any(delta.values()):
            self._begun.add(index)
            if not delta.get("role"):
                return False
        if not all(isinstance(delta.get(name), str | None) for name in _TEXTS):
            return False
        return self._can_join(delta, (index,))

    def _can_join(self, value: Json, path: tuple[Json, ...]) -> bool:
        """Whether each list in a delta is the first of its name, or has indexes."""
        if type(value) is dict:
            joined = [
                self._can_join(each, (*path, name)) for name, each in value.items()
            ]
            return all(joined)
        if not _lacks_index(value):
            return True
        is_first = path not in self._listed
        if is_first:
            self._listed[path] = len(value)
        return is_first

    def _allows_call(self, choice: int, call: Json) -> bool:
        """Whether the fragment begins the next call, or goes on with an earlier one."""
        function = call.get("function") if type(call) is dict else None
        if type(function) is not dict:
            return type(call) is dict and "custom" in call
        id, name = call.get("id"), function.get("name")
        index, begun = call.get("index"), self._calls.get(choice, 0)
        if not call.get("type", "function"):
            return False
        if index == begun:
            self._calls[choice] = begun + 1
            return bool(id and name)
        is_known = type(index) is int and 0 <= index < begun
        return is_known and not (id or name)


def _lacks_index(value: Json) -> bool:
    """Whether ``value`` is a list of objects, and one of them has no ``index``."""
    is_list = type(value) is list and all(type(each) is dict for each in value)
    return is_list and not all(type(each.get("index")) is int for each in value)
