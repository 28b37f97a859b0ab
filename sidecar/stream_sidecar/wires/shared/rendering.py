"""What the writers of requests share: the turn at hand, and what of it cannot go.

Not a wire: a helper of every ``request``. A `Rendering` has the blocks that the host
wants to send, the rule of their provider, and the list of what is lost on the way.
Content that tools answered is text, or parts as MCP and most providers spell them
(``{"type": "text", "text": "4"}``), or any other value, which goes as its JSON text
where a wire takes text alone.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal, TypeAlias

from stream_sidecar.records import define, field, frozen
from stream_sidecar.values.abridge import is_long
from stream_sidecar.values.jsontext import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from stream_sidecar.message.turn import TurnBlock, TurnCitation, TurnResult
    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.request_rules import Rule

Reasoning: TypeAlias = Literal["auto", "all", "none"]
"""What of the reasoning a host wants to send back: what the provider's rule says, all
that it does not refuse, or none."""

What: TypeAlias = Literal[
    "text", "reasoning", "tool-call", "tool-call-id", "arguments", "tool-result"
]

BlockWriters: TypeAlias = (
    "Mapping[str, Callable[[Rendering, TurnBlock], JsonObject | None]]"
)
"""Type of a block -> its writer, on a wire of content blocks."""

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


@define
class Rendering:
    """A turn on its way into a request. ``blocks`` are in the order of the message."""

    blocks: tuple[TurnBlock, ...]
    results: tuple[TurnResult, ...]
    citations: tuple[TurnCitation, ...]
    rule: Rule
    reasoning: Reasoning = "auto"
    lost: list[Lost] = field(factory=list)

    def lose(self, block: TurnBlock | None, what: What, why: str) -> None:
        """``block`` is None for what is the host's own."""
        self.lost.append(Lost(None if block is None else block.block, what, why))

    @cached_property
    def calls(self) -> list[TurnBlock]:
        """The calls that the client answers."""
        return [
            block
            for block in self.blocks
            if block.type == "tool-call" and block.executor != "server"
        ]

    @cached_property
    def ids(self) -> dict[str, str]:
        """Ids of calls as they go. One that the provider refuses is replaced by what is
        made of it, so that it is the same in every request."""
        ids = {}
        for call in self.calls:
            id = sent = call.tool_call_id or ""
            if self.rule.no_ids.search(id):
                sent = blake2b(id.encode("utf-8", "surrogatepass")).hexdigest()[:_ID]
                self.lose(call, "tool-call-id", "this provider takes other ids")
            ids[id] = sent
        return ids

    def id_of(self, call: TurnBlock) -> str:
        return self.ids[call.tool_call_id or ""]

    def answered(self) -> Iterator[tuple[TurnBlock, TurnResult]]:
        """The host's results with their calls; one without a call would be refused."""
        calls = {call.tool_call_id: call for call in self.calls}
        for result in self.results:
            call = calls.get(result.tool_call_id)
            if call is None:
                why = f"no call of this turn has the id {result.tool_call_id}"
                self.lose(None, "tool-result", why)
            else:
                yield call, result

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
_ID = 9
"""Characters of an id that is made; Mistral takes no other number."""

_DIRECT = {"type": "direct"}
"""The caller that is meant where none is named."""


def _long(first: JsonObject) -> JsonObject:
    """What later citations of a source leave out."""
    return {name: value for name, value in first.items() if is_long(value)}


def caller_of(call: TurnBlock) -> JsonObject:
    """Who called, where that is a program that the provider runs."""
    return {} if call.caller in (None, _DIRECT) else {"caller": call.caller}


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
    written = [blocks[block.type](turn, block) for block in turn.blocks]
    answers = [answer(turn, call, result) for call, result in turn.answered()]
    content = {"assistant": [each for each in written if each], "user": answers}
    return [
        {"role": role, "content": content[role]} for role in content if content[role]
    ]
