"""What the writers of requests share: the turn at hand, and its parts that cannot go.

Not a wire: a helper of every ``request``. A `Rendering` has the blocks that the host
wants to send, the rule of their provider, and the list of what is lost on the way.
Content that tools answered is text, or parts as MCP and most providers spell them
(``{"type": "text", "text": "4"}``), or any other value, which goes as its JSON text
where a wire takes text alone.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.records import define, field, frozen
from stream_sidecar.values.abridge import is_long
from stream_sidecar.values.jsontext import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from stream_sidecar.message.turn import TurnBlock, TurnCitation, TurnResult
    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.request_rules import Rule

Reasoning: TypeAlias = Literal["auto", "all", "none"]
"""What of the reasoning a host wants to send back: what the provider's rule says, all
that it does not refuse, or none."""

What: TypeAlias = Literal[
    "text",
    "reasoning",
    "state",
    "tool-call",
    "tool-call-id",
    "name",
    "arguments",
    "tool-result",
]

BlockWriters: TypeAlias = (
    "Mapping[str, Callable[[Rendering, TurnBlock], JsonObject | None]]"
)
"""Type of a block -> its writer, on a wire of content blocks."""

WrittenBlock: TypeAlias = "tuple[TurnBlock, JsonObject]"
"""A block with what is written of it."""

RequestWriter: TypeAlias = "Callable[[Rendering], list[JsonObject]]"
"""Writes a turn as the messages (items, contents) of one wire."""


@frozen
class Lost:
    """What of the message is not in the request, or not as it came, and why.

    ``block`` is absent where it is the host's own: a result.
    """

    block: int | None
    what: What
    why: str


@frozen
class LostPart:
    """What of a request is not in it any more, at ``path`` of its body, and why."""

    path: str
    what: str
    why: str


@define
class Rendering:
    """A turn on its way into a request. ``blocks`` are in the order of the message,
    ``answers`` the host's results with their calls, ``approvals`` its answers to those
    of the server's calls that wait for one. ``goes_on``: the provider ends the
    calls of its own tools in the next response."""

    blocks: tuple[TurnBlock, ...]
    citations: tuple[TurnCitation, ...]
    rule: Rule
    reasoning: Reasoning = "auto"
    goes_on: bool = False
    answers: list[tuple[TurnBlock, TurnResult]] = field(factory=list)
    approvals: list[tuple[TurnBlock, TurnResult]] = field(factory=list)
    lost: list[Lost] = field(factory=list)

    def lose(self, block: TurnBlock | None, what: What, why: str) -> None:
        """``block`` is None for what is the host's own; of a block the first reason
        counts."""
        number = None if block is None else block.block
        reported = any(each.block == number and each.what == what for each in self.lost)
        if block is None or not reported:
            self.lost.append(Lost(number, what, why))

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
        """The ids of all calls, those of the server's tools, too."""
        calls = (block for block in self.blocks if block.type == "tool-call")
        return {call.tool_call_id for call in calls}

    def lose_server_tools(self) -> None:
        """For a wire that has no place for what a server's tools did."""
        why = "this wire has no place for a server's tools"
        for block in self.blocks:
            if block.type == "tool-result":
                self.lose(block, "tool-result", why)
            elif block.type == "tool-call" and block.executor == "server":
                self.lose(block, "tool-call", why)

    def thinks(self, block: TurnBlock) -> bool:
        """Does this reasoning go back? What the provider does not want is lost."""
        if self.reasoning == "none":
            return False
        wanted = self.rule.reasoning
        if wanted == "never":
            self.lose(block, "reasoning", "this provider refuses to be sent reasoning")
        elif wanted == "calls" and self.reasoning == "auto" and not self.calls:
            self.lose(block, "reasoning", "this provider wants it with calls only")
        else:
            return True
        return False

    def signs(self, block: TurnBlock) -> bool:
        """Has this reasoning a signature that can be one of its provider's?"""
        if not block.signature or not self.rule.one_model or is_base64(block.signature):
            return bool(block.signature)
        self.lose(block, "state", "its signature is no base64")
        return False

    def thoughts(self) -> list[TurnBlock]:
        """The reasoning that goes back, where the wire does not care for its place."""
        return [
            block
            for block in self.blocks
            if block.type == "reasoning" and self.thinks(block)
        ]

    def text(self, *, refusal: bool | None = None) -> str:
        """The whole answer; with ``refusal`` what is or is not one."""
        kinds = (True, False) if refusal is None else (refusal,)
        texts = (block for block in self.blocks if block.type == "text")
        return "".join(each.text for each in texts if bool(each.refusal) in kinds)

    def arguments(self, call: TurnBlock) -> str:
        """The raw arguments; ``{}`` for those that the provider could not read."""
        is_text = call.arguments_format == "text" or self.rule.raw_arguments
        if is_text or object_of(call) is not None:
            return call.arguments
        self.lose(call, "arguments", _NO_OBJECT)
        return "{}"

    def input(self, call: TurnBlock) -> JsonObject:
        """The arguments as an object; an empty one where they are none."""
        value = object_of(call)
        if value is None:
            self.lose(call, "arguments", _NO_OBJECT)
        return value or {}

    def cited(self, block: TurnBlock) -> list[JsonObject]:
        """The provider's citations of a block, each whole."""
        return [] if block.block is None else self._cited[block.block]

    @cached_property
    def _cited(self) -> defaultdict[int, list[JsonObject]]:
        """What is long of a source comes with its first citation only
        (protocol.md, "citation")."""
        found: defaultdict[int, list[JsonObject]] = defaultdict(list)
        whole: dict[int, JsonObject] = {}
        for citation in self.citations:
            if isinstance(citation.raw, dict):
                first = whole.setdefault(citation.source, _long(citation.raw))
                for number in citation.blocks:
                    found[number].append(first | citation.raw)
        return found

    def says(self, result: TurnResult) -> str:
        """What a tool answered, for a wire that takes text alone."""
        parts = parts_of(result.content)
        if parts is None:
            return text_of(result.content)
        texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
        if len(texts) < len(parts):
            self.lose(None, "tool-result", "of its parts only text can go")
        return "\n".join(texts)


_NO_OBJECT = "the arguments are no JSON object"


def _long(first: JsonObject) -> JsonObject:
    """What later citations of a source leave out."""
    return {name: value for name, value in first.items() if is_long(value)}


def caller_of(turn: Rendering, call: TurnBlock, key: str) -> JsonObject:
    """Who called, where that is a program that this provider runs: the ``key`` names
    it. Where none is named the model is meant."""
    caller = call.caller if isinstance(call.caller, dict) else {}
    if key in caller:
        return {"caller": caller}
    if caller.keys() - {"type"}:
        turn.lose(call, "state", "it was called by a program of another provider")
    return {}


def object_of(call: TurnBlock) -> JsonObject | None:
    """The arguments of a call, None where they are no JSON object."""
    try:
        value: Json = loads(call.arguments or "{}")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def parts_of(content: Json) -> list[JsonObject] | None:
    """The typed parts that ``content`` consists of, None where it is something else."""
    items = content if isinstance(content, list) else []
    parts = [part for part in items if isinstance(part, dict) and part.get("type")]
    return parts if parts and len(parts) == len(items) else None


LONGEST_ITEM_ID = 64
"""Code points of the id of an item of Responses."""

_BASE64 = patterns.compile("[A-Za-z0-9+/_-]*={0,2}")


def is_base64(signature: str) -> bool:
    """One that was cut, or joined of two, is none and would be refused
    (openclaw/openclaw#82995)."""
    return _BASE64.fullmatch(signature) is not None


def is_blank(part: JsonObject) -> bool:
    """A part of text that has none, which Claude refuses."""
    return part["type"] == "text" and not str(part.get("text", "")).strip()


def text_of(content: Json) -> str:
    """``content`` as text: JSON text, where it is none."""
    if content is None or isinstance(content, str):
        return content or ""
    return dumps(content)


def in_blocks(
    turn: Rendering,
    blocks: BlockWriters,
    answer: Callable[[Rendering, TurnBlock, TurnResult], JsonObject],
) -> list[JsonObject]:
    """A message of content blocks, and behind it the user's with what tools answered;
    neither without content, which would be refused."""
    pairs = [(block, blocks[block.type](turn, block)) for block in turn.blocks]
    written = _closed(turn, [(block, item) for block, item in pairs if item])
    content = {
        "assistant": without_last_thoughts(turn, written),
        "user": [answer(turn, call, result) for call, result in turn.answers],
    }
    return [
        {"role": role, "content": content[role]} for role in content if content[role]
    ]


def _closed(turn: Rendering, written: list[WrittenBlock]) -> list[WrittenBlock]:
    """Without a server's calls that have no result, and without results that have no
    call; both would be refused. Calls that go on stay."""
    calls, results = (
        {block.tool_call_id for block, _ in written if block.type == kind}
        for kind in ("tool-call", "tool-result")
    )
    left = []
    for block, item in written:
        id, is_result = block.tool_call_id, block.type == "tool-result"
        is_server = block.type == "tool-call" and block.executor == "server"
        if is_result and id not in calls:
            turn.lose(block, "tool-result", "its call is not in this turn")
        elif is_server and id not in results and not turn.goes_on:
            turn.lose(block, "tool-call", "it broke off: it has no result")
        else:
            left.append((block, item))
    return left


def without_last_thoughts(
    turn: Rendering, written: list[WrittenBlock]
) -> list[JsonObject]:
    """What is written of blocks; reasoning that nothing follows would be refused.

    Other state of a provider's counts as something."""
    while written and is_thought(*written[-1]):
        turn.lose(written.pop()[0], "reasoning", "nothing follows it, so it is refused")
    return [item for _, item in written]


_THOUGHTS = ("thinking", "redacted_thinking", "reasoning", "reasoningContent")
"""Types, or the only members, of items that are reasoning."""


def is_thought(block: TurnBlock, item: JsonObject) -> bool:
    kind = item.get("type") or next(iter(item), None)
    return block.type == "reasoning" and kind in _THOUGHTS
