"""The turn that a writer of requests gets, and the reports of what gets lost.

The content of a tool's result is text, or parts as MCP and most providers write them
(``{"type": "text", "text": "4"}``), or any other value. For wires that accept only
text, other values become JSON text.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.records import PublicRecord, define, field, frozen
from stream_sidecar.values.abridge import is_long
from stream_sidecar.values.jsontext import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from stream_sidecar.message.turn import TurnBlock, TurnCitation, TurnResult
    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.request_rules import Rule

Reasoning: TypeAlias = Literal["auto", "all", "none"]
"""Which reasoning a host wants to send back. ``auto``: as the provider's rule says.
``all``: everything that the provider does not refuse."""

What: TypeAlias = Literal[
    "text",
    "reasoning",
    "state",
    "tool-call",
    "tool-call-id",
    "name",
    "arguments",
    "tool-result",
    "unknown",
]

BlockWriters: TypeAlias = (
    "Mapping[str, Callable[[Rendering, TurnBlock], JsonObject | None]]"
)
"""Type of a block -> its writer, on a wire of content blocks."""

WrittenBlock: TypeAlias = "tuple[TurnBlock, JsonObject]"
"""A block, and what was written for it."""

RequestWriter: TypeAlias = "Callable[[Rendering], list[JsonObject]]"
"""Writes a turn as the messages (or items, or contents) of one wire."""


@frozen
class Lost(PublicRecord):
    """A report of what is missing in the request, or changed, and why. ``block``: the
    number of the block; None for something from the host, such as a result."""

    block: int | None
    what: What
    why: str


@frozen
class LostPart(PublicRecord):
    """A report of what was removed or changed at ``path`` of a request, and why."""

    path: str
    what: str
    why: str


@define
class Rendering:
    """A turn that is written into a request.

    ``blocks``: what the host wants to send, in the order of the message. ``answers``:
    the host's results, with their calls. ``approvals``: the host's answers to calls of
    the server that wait for an approval. ``continues``: results of the server's tools
    may come in the next response, so calls without a result stay.
    """

    blocks: tuple[TurnBlock, ...]
    citations: tuple[TurnCitation, ...]
    rule: Rule
    reasoning: Reasoning = "auto"
    continues: bool = False
    answers: list[tuple[TurnBlock, TurnResult]] = field(factory=list)
    approvals: list[tuple[TurnBlock, TurnResult]] = field(factory=list)
    lost: list[Lost] = field(factory=list)

    def lose(self, block: TurnBlock | None, what: What, reason: str) -> None:
        """Reports a loss: of a block the first reason, of the host (None) each."""
        number = None if block is None else block.block
        was_lost = any(one.block == number and one.what == what for one in self.lost)
        if block is None or not was_lost:
            self.lost.append(Lost(number, what, reason))

    @cached_property
    def calls(self) -> list[TurnBlock]:
        """The calls that the client answers."""
        return [
            block
            for block in self.blocks
            if block.type == "tool-call" and block.executor != "server"
        ]

    @cached_property
    def call_ids(self) -> set[str | None]:
        """The ids of all calls, including those of the server's tools."""
        calls = (block for block in self.blocks if block.type == "tool-call")
        return {call.tool_call_id for call in calls}

    def lose_server_tools(self) -> None:
        """Reports a server's tools as lost, for a wire without a place for them."""
        reason = "this wire has no place for a server's tools"
        for block in self.blocks:
            if block.type == "tool-result":
                self.lose(block, "tool-result", reason)
            elif block.type == "tool-call" and block.executor == "server":
                self.lose(block, "tool-call", reason)

    @property
    def must_think(self) -> bool:
        """Whether the message must have its field of reasoning, even if it is empty."""
        required = self.rule.required
        return required == "turns" or bool(required and self.calls)

    def thinks(self, block: TurnBlock) -> bool:
        """Whether the reasoning in ``block`` goes back; else reports it as lost."""
        if self.reasoning == "none":
            return False
        policy = self.rule.reasoning
        if policy == "never":
            self.lose(block, "reasoning", "this provider refuses to be sent reasoning")
        elif policy == "calls" and self.reasoning == "auto" and not self.calls:
            self.lose(block, "reasoning", "this provider wants it with calls only")
        else:
            return True
        return False

    def signs(self, block: TurnBlock) -> bool:
        """Whether ``block`` has a signature that the next provider may have written."""
        if not block.signature or not self.rule.one_model or is_base64(block.signature):
            return bool(block.signature)
        self.lose(block, "state", "its signature is no base64")
        return False

    def thoughts(self) -> list[TurnBlock]:
        """The blocks of reasoning that go back, where their place does not matter."""
        return [
            block
            for block in self.blocks
            if block.type == "reasoning" and self.thinks(block)
        ]

    def text(self, *, refusal: bool | None = None) -> str:
        """The answer's text: of its refusals, of the rest, or of both (None)."""
        kinds = (True, False) if refusal is None else (refusal,)
        texts = (block for block in self.blocks if block.type == "text")
        return "".join(text.text for text in texts if bool(text.refusal) in kinds)

    def arguments(self, call: TurnBlock) -> str:
        """The raw arguments of a call; ``{}`` if the provider would refuse them."""
        is_text = call.arguments_format == "text" or self.rule.raw_arguments
        if is_text or object_of(call.arguments) is not None:
            return call.arguments
        self.lose(call, "arguments", _NO_OBJECT)
        return "{}"

    def input(self, call: TurnBlock) -> JsonObject:
        """The arguments of a call as an object; an empty one if they are no object."""
        value = object_of(call.arguments)
        if value is None:
            self.lose(call, "arguments", _NO_OBJECT)
        return value or {}

    def cited(self, block: TurnBlock) -> list[JsonObject]:
        """The provider's citations of a block, with all their values."""
        return [] if block.block is None else self._cited[block.block]

    @cached_property
    def _cited(self) -> defaultdict[int, list[JsonObject]]:
        """Block -> its citations, completed: long values come only with the first
        citation of a source (protocol.md, "citation")."""
        citations: defaultdict[int, list[JsonObject]] = defaultdict(list)
        long_values: dict[int, JsonObject] = {}
        for citation in self.citations:
            raw = citation.raw
            if isinstance(raw, dict):
                values = {name: raw[name] for name in raw if is_long(raw[name])}
                values = long_values.setdefault(citation.source, values)
                for number in citation.blocks:
                    citations[number].append(values | raw)
        return citations

    def says(self, result: TurnResult) -> str:
        """A tool's result as text, for a wire that accepts nothing else."""
        parts = parts_of(result.content)
        if parts is None:
            return text_of(result.content)
        texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
        if len(texts) < len(parts):
            self.lose(None, "tool-result", "of its parts only text can go")
        return "\n".join(texts)


_NO_OBJECT = "the arguments are no JSON object"


def caller_of(turn: Rendering, call: TurnBlock, key: str) -> JsonObject:
    """A call's ``caller``, with ``key``, if a program of this provider made it."""
    caller = call.caller if isinstance(call.caller, dict) else {}
    if key in caller:
        return {"caller": caller}
    if caller.keys() - {"type"}:
        turn.lose(call, "state", "it was called by a program of another provider")
    return {}


def object_of(arguments: str) -> JsonObject | None:
    """The arguments of a call; None if they are no JSON object."""
    try:
        value: Json = loads(arguments or "{}")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def parts_of(content: Json) -> list[JsonObject] | None:
    """The typed parts that make up ``content``; None if it is anything else."""
    items = content if isinstance(content, list) else []
    parts = [part for part in items if isinstance(part, dict) and part.get("type")]
    return parts if parts and len(parts) == len(items) else None


_BASE64 = patterns.compile("[A-Za-z0-9+/_-]*={0,2}")


def is_base64(signature: str) -> bool:
    """Whether a signature is base64. A signature that was cut, or joined from two, is
    not, and would be refused (openclaw/openclaw#82995)."""
    return _BASE64.fullmatch(signature) is not None


def is_blank(part: JsonObject) -> bool:
    """Whether a text part is blank; Claude refuses these."""
    return part["type"] == "text" and not str(part.get("text", "")).strip()


def text_of(content: Json) -> str:
    """``content`` if it is text, "" for null, any other value as JSON text."""
    if content is None or isinstance(content, str):
        return content or ""
    return dumps(content)


def in_blocks(
    turn: Rendering,
    blocks: BlockWriters,
    answer: Callable[[Rendering, TurnBlock, TurnResult], JsonObject],
) -> list[JsonObject]:
    """A message of content blocks, followed by the user's message with the results. A
    message without content is left out, because it would be refused."""
    pairs = [(block, blocks[block.type](turn, block)) for block in turn.blocks]
    pairs_written = _closed(turn, [(block, item) for block, item in pairs if item])
    content = {
        "assistant": without_last_thoughts(turn, pairs_written),
        "user": [answer(turn, call, result) for call, result in turn.answers],
    }
    return [
        {"role": role, "content": content[role]} for role in content if content[role]
    ]


def _closed(turn: Rendering, written: list[WrittenBlock]) -> list[WrittenBlock]:
    """``written`` without a server's calls whose result neither came nor may come, and
    its results that have no call: both would be refused."""
    calls, results = (
        {block.tool_call_id for block, _ in written if block.type == kind}
        for kind in ("tool-call", "tool-result")
    )
    paired = []
    for block, item in written:
        id, is_result = block.tool_call_id, block.type == "tool-result"
        is_server = block.type == "tool-call" and block.executor == "server"
        if is_result and id not in calls:
            turn.lose(block, "tool-result", "its call is not in this turn")
        elif is_server and id not in results and not turn.continues:
            turn.lose(block, "tool-call", "it broke off: it has no result")
        else:
            paired.append((block, item))
    return paired


def without_last_thoughts(
    turn: Rendering, written: list[WrittenBlock]
) -> list[JsonObject]:
    """The items of ``written`` without the reasoning at their end, which is refused
    because nothing follows it. Other state of a provider counts as content."""
    while written and is_thought(*written[-1]):
        turn.lose(written.pop()[0], "reasoning", "nothing follows it, so it is refused")
    return [item for _, item in written]


_THOUGHTS = ("thinking", "redacted_thinking", "reasoning", "reasoningContent")
"""Items of these types, or with one of these as their only member, are reasoning."""


def is_thought(block: TurnBlock, item: JsonObject) -> bool:
    kind = item.get("type") or next(iter(item), None)
    return block.type == "reasoning" and kind in _THOUGHTS
