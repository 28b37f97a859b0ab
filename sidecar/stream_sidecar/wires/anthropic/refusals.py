"""What providers of Messages refuse in a single message: the wire's cleaner."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from stream_sidecar.wires.anthropic.blocks import SERVER_IDS
from stream_sidecar.wires.shared.block_cleaning import BlockCleaner, is_blank_text
from stream_sidecar.wires.shared.fields import first_text, type_of
from stream_sidecar.wires.shared.item_cleaning import without_nulls
from stream_sidecar.wires.shared.request_shapes import changed, same

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.item_cleaning import Cleaning

_MAY_BE_NULL = frozenset(("citations", "cache_control", "toolset_name", "page_age"))
"""Members of blocks that may be null (anthropic, types/*_block_param.py)."""

_INNER_MAY_BE_NULL = {"citations": frozenset(("title", "document_title"))}
"""A member of a block with objects -> their members that may be null."""

_SERVERS_CALLS = ("server_tool_use", "mcp_tool_use")

BROKEN_OFF = "a server's call and its result go together, or not at all"


class AnthropicCleaner(BlockCleaner):
    """Cleans the messages of one request. ``_paired``: ids of the server's calls
    that may be sent. They have a result in their turn, which may go on in the model's
    next one after a pause. Or the turn has a call of the client's, so that the result
    comes later."""

    def __init__(self, cleaning: Cleaning) -> None:
        super().__init__(cleaning)
        self._ends_of_runs = list(_ends_of_runs(cleaning))
        self._paired: set[str] = set()

    def clean(self, message: JsonObject) -> JsonObject:
        shape, is_closed = self.cleaning.shape, self.cleaning.rule.is_closed
        message = shape.change_answers(message, _without_blanks) or message
        if is_closed and shape.role(message) == "model":
            message = self.cleaning.with_members(message, ("role", "content"))
        content = message.get("content")
        if is_closed and isinstance(content, list):
            self._pair(content)
            bare = [_without_nulls(block) for block in content]
            message = changed(message, {"content": same(content, bare)})
        return self._thinking_first(super().clean(message))

    def why_not(self, block: JsonObject) -> tuple[str, str]:
        if self.cleaning.rule.is_closed and not is_blank_text(block):
            if type_of(block) in _SERVERS_CALLS:
                is_lost = first_text(block, ("id",)) not in self._paired
                return ("tool-call", BROKEN_OFF) if is_lost else ("", "")
            if _is_servers_end(block):
                is_lost = first_text(block, ("tool_use_id",)) not in self._paired
                return ("tool-result", BROKEN_OFF) if is_lost else ("", "")
        return super().why_not(block)

    def _pair(self, content: list[Json]) -> None:
        blocks = [block for block in content if isinstance(block, dict)]
        uses = {first_text(b, ("id",)) for b in blocks if type_of(b) in _SERVERS_CALLS}
        ends = {first_text(b, ("tool_use_id",)) for b in blocks if _is_servers_end(b)}
        ends |= uses & self._ends_of_runs[self.cleaning.number]
        if any(type_of(block) == "tool_use" for block in blocks):
            ends |= uses
        ids = (id for id in uses & ends if id)
        self._paired |= {id for id in ids if SERVER_IDS.fullmatch(id)}

    def _thinking_first(self, message: JsonObject) -> JsonObject:
        """Adds an empty block of thinking before calls without one, if required."""
        content, cleaning = message.get("content"), self.cleaning
        is_due = cleaning.rule.required and cleaning.reasoning != "none"
        if not is_due or not cleaning.shape.calls(message):
            return message
        assert isinstance(content, list)
        if any(isinstance(b, dict) and type_of(b) == "thinking" for b in content):
            return message
        return {**message, "content": [{"type": "thinking", "thinking": ""}, *content]}


def _ends_of_runs(cleaning: Cleaning) -> Iterator[frozenset[str | None]]:
    """For each item, the ids of the server's calls that have a result in its run of
    turns of the model. Each item of a run has the same set."""
    role = cleaning.shape.role
    for author, run in groupby(cleaning.items, role):
        turns = list(run)
        contents = [item.get("content") for item in turns if isinstance(item, dict)]
        lists = [content for content in contents if isinstance(content, list)]
        blocks = [block for blocks in lists for block in blocks if author == "model"]
        results = [b for b in blocks if isinstance(b, dict) and _is_servers_end(b)]
        ids = frozenset(first_text(end, ("tool_use_id",)) for end in results)
        yield from (ids for _ in turns)


def _without_nulls(block: Json) -> Json:
    is_block = isinstance(block, dict)
    return without_nulls(block, _MAY_BE_NULL, _INNER_MAY_BE_NULL) if is_block else block


def _is_servers_end(block: JsonObject) -> bool:
    return type_of(block).endswith("_tool_result") and "tool_use_id" in block


def _without_blanks(answer: JsonObject) -> JsonObject:
    """A tool's answer without its blank texts, which are refused."""
    content = answer.get("content")
    if not isinstance(content, list):
        return answer
    texts = [part for part in content if not is_blank_text(part)]
    return changed(answer, {"content": same(content, texts)})
