"""Removes from each item of a request what its provider refuses.

`Refusals` removes or replaces the parts that the provider's rule refuses
(wires/README.md, "Requests"). How several items must fit together is decided in
`turn_list`. Everything else of an item stays as it is. An item in which nothing is
refused is returned as the same object. The result for an item never depends on later
items, except on turns of the model right after it, which continue it. Never raises for
any JSON value.
"""

from __future__ import annotations

from functools import cached_property, partial
from itertools import groupby
from typing import TYPE_CHECKING

from stream_sidecar.records import define, field
from stream_sidecar.values.jsontext import loads
from stream_sidecar.wires import WIRES
from stream_sidecar.wires.requests.issuers import readable
from stream_sidecar.wires.requests.nulls import (
    block_without_nulls,
    message_without_nulls,
)
from stream_sidecar.wires.requests.responses_items import NOT_WANTED, ItemRefusals
from stream_sidecar.wires.requests.seals import is_thought, signature_of
from stream_sidecar.wires.shared.fields import type_of
from stream_sidecar.wires.shared.fitting import id_for, name_for
from stream_sidecar.wires.shared.item_ids import BOUND_TO_ID
from stream_sidecar.wires.shared.rendering import (
    LostPart,
    is_base64,
    text_of,
)
from stream_sidecar.wires.shared.request_rules import Names, rule_for, seller
from stream_sidecar.wires.shared.request_shapes import (
    CALL_MEMBERS,
    SERVER_IDS,
    SHAPES,
    changed,
    function_of,
    held,
    name_of,
    same,
    with_function,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.rendering import Reasoning
    from stream_sidecar.wires.shared.request_rules import Rule

_OF_MANY = {"openai-chat", "openai-responses", "anthropic"}
"""Wires of many providers. A provider without a row in the rules is not known to refuse
anything."""

_PLAIN = ("reasoning_content", "reasoning", "reasoning_text", "thinking")
_BLOCKS = "thinking_blocks"
_STATES = ("reasoning_details", _BLOCKS, "reasoning_opaque", "reasoning_items")
_OF_ROUTERS = {"reasoning_details", "reasoning_opaque"}
"""Fields that only routers send, and take back."""
_CHUNKS = "content.thinking"
_LONGEST_KEY = 256
"""A longer name of an argument, in characters, is refused (openai/codex#26402)."""

NEVER = "this provider refuses to be sent reasoning"
UNSIGNED = "thinking without the provider's signature is refused"
BLANK = "blank text is refused"
NO_DATA = "a part without content is refused"
TEXT_ALONE = "this provider accepts only text"
OTHER_IDS = "this provider accepts only other ids"
OTHER_NAMES = "this provider accepts only other names of tools"
LED = "the item that it led to does not go"
NO_NAME = "a call without a name is refused"
NO_OBJECT = "the arguments are no JSON object that this provider accepts"
NO_BASE64 = "its signature is no base64"
NO_MEMBER = "this provider does not know it"
BROKEN_OFF = "a server's call and its result go together, or not at all"


def is_turn(wire: str, item: Json) -> bool:
    """Whether an item of a request on ``wire`` is a turn of the model."""
    return SHAPES[wire].role(item) == "model"


def rule_of(wire: str, provider: str | None, model: str | None) -> Rule | None:
    """The rule of a provider and model; None if it is not known what they refuse."""
    rules = WIRES[wire].rules
    rule = rule_for(rules, Names(provider or "", model or ""))
    is_nobody = rule is rules[-1] and wire in _OF_MANY
    return None if is_nobody or not (provider or model) else rule


def server_ends(wire: str, items: list[Json]) -> Iterator[set[str]]:
    """For each item, the ids of the server's calls that have a result in its run of
    turns of the model. Each item of a run has the same set."""
    for is_models, run in groupby(items, lambda item: is_turn(wire, item)):
        turns = list(run)
        contents = [item.get("content") for item in turns if is_models]
        blocks = [b for each in contents if isinstance(each, list) for b in each]
        ends = (b for b in blocks if isinstance(b, dict) and _is_servers_end(b))
        ids = {_first(end, ("tool_use_id",)) for end in ends}
        yield from (ids for _ in turns)


def leads_to(sent: list[tuple[int, Json]], item: Json) -> bool:
    """Whether the last item that was ``sent`` is the reasoning that led to ``item``, an
    item of Responses that must have an id."""
    last = sent[-1][1] if sent else None
    is_bound = isinstance(item, dict) and type_of(item) in BOUND_TO_ID
    return is_bound and isinstance(last, dict) and type_of(last) == "reasoning"


@define
class Refusals:
    """Cleans the items of one request; call ``clean`` with each, in order. ``stores``:
    the server keeps the items that it sent. ``maker``: whose state the model can read;
    "" fits all. ``lost``: reports of what was removed. ``provider``: the host's."""

    wire: str
    rule: Rule
    model: str
    reasoning: Reasoning
    stores: bool
    maker: str
    lost: list[LostPart] = field(factory=list)
    provider: str = ""
    _path: str = ""
    _item_losses: set[LostPart] = field(factory=set)
    _has_called: bool = False
    _servers: set[str] = field(factory=set)
    _ends: Collection[str] = frozenset()

    def clean(self, item: Json, path: str, ends: Collection[str] = frozenset()) -> Json:
        """The item without what the provider refuses; None if all of it is refused.
        ``path``: its place in the request, for reports. ``ends``: the ids in its run of
        `server_ends`."""
        self._path, self._item_losses, self._ends = path, set(), ends
        if not isinstance(item, dict):
            return item
        shape = SHAPES[self.wire]
        new = readable(item, self.maker, path, self.lost)
        if not isinstance(new, dict):
            self._items.tear()
            return None
        cleaned = shape.change_calls(new, self._call)
        cleaned = cleaned and shape.change_answers(cleaned, self._answer)
        how = _CLEANERS.get(self.wire)
        if cleaned is None or how is None:
            return cleaned
        return how(self, cleaned)

    def end(self, item: JsonObject, path: str) -> Json:
        """The model's turn that ends the request, which may go on after a pause:
        without unsigned thinking; None if nothing else is in it. The rest stays."""
        content = item.get("content")
        is_of_blocks = _CLEANERS.get(self.wire) is Refusals.blocks
        if not is_of_blocks or not isinstance(content, list):
            return item
        self._path, self._item_losses = path, set()
        for number, block in enumerate(content):
            if self._is_unsigned(block):
                self._lose(f"/content/{number}", "reasoning", UNSIGNED)
        kept = [block for block in content if not self._is_unsigned(block)]
        is_left = bool(kept) or not content
        return changed(item, {"content": same(content, kept)}) if is_left else None

    def _is_unsigned(self, block: Json) -> bool:
        return isinstance(block, dict) and self._why_no_thought(block) == UNSIGNED

    def lonely(self, number: int, _thought: Json) -> LostPart:
        """The report of reasoning that goes because the item that it led to goes."""
        self._items.tear()
        return LostPart(f"/{SHAPES[self.wire].items}/{number}", "reasoning", LED)

    def _lose(self, inner: str, what: str, why: str) -> None:
        lost = LostPart(self._path + inner, what, why)
        if lost not in self._item_losses:
            self._item_losses.add(lost)
            self.lost.append(lost)

    # Calls and answers. A new name or id depends on the old one alone, so that a call
    # and its answer get the same.

    def _call(self, call: JsonObject) -> JsonObject | None:
        name = name_of(call)
        is_named = isinstance(name, str) and name_for(self.rule, name)
        is_item = self.wire == "openai-responses" and type_of(call) not in _NAMED
        is_bare = name is None and is_item
        if not is_named and not is_bare:
            self._lose("", "tool-call", NO_NAME)
            return None
        call = self._with_name(self._with_id(call, SHAPES[self.wire].id))
        if self.wire == "anthropic" and self.rule.is_closed:
            call = self._known(call, CALL_MEMBERS)
        return self._with_arguments(call)

    def _answer(self, answer: JsonObject) -> JsonObject:
        answer = self._with_id(answer, SHAPES[self.wire].answered)
        answer = self._with_name(answer)
        how = _ANSWERS.get(self.wire)
        return how(self, answer) if how else answer

    def _with_id(self, holder: JsonObject, name: str) -> JsonObject:
        id = holder.get(name)
        if not isinstance(id, str):
            return holder
        sent = id_for(self.rule, id)
        if sent != id:
            self._lose("", "tool-call-id", OTHER_IDS)
        return changed(holder, {name: id if sent == id else sent})

    def _with_name(self, holder: JsonObject) -> JsonObject:
        name = name_of(holder)
        if not isinstance(name, str) or (sent := name_for(self.rule, name)) == name:
            return holder
        self._lose("", "name", OTHER_NAMES)
        return with_function(holder, name=sent)

    def _with_arguments(self, call: JsonObject) -> JsonObject:
        shape = SHAPES[self.wire]
        value = function_of(call).get(shape.input)
        if shape.is_parsed:
            return self._parsed(call, shape.input, value)
        if not isinstance(value, str):
            return call
        parsed = _object(value)
        is_refused = parsed is None and not self.rule.raw_arguments
        if not is_refused and not self._has_long_key(parsed):
            return call
        self._lose("", "arguments", NO_OBJECT)
        return with_function(call, **{shape.input: "{}"})

    def _parsed(self, call: JsonObject, name: str, value: Json) -> JsonObject:
        if not isinstance(value, str):
            return call
        parsed = _object(value)
        if parsed is None:
            self._lose("", "arguments", NO_OBJECT)
        return with_function(call, **{name: parsed or {}})

    def _has_long_key(self, value: JsonObject | None) -> bool:
        is_asked = self.wire == "openai-responses" and self.rule.is_closed
        return is_asked and any(len(key) > _LONGEST_KEY for key in value or ())

    # By wire

    def chat(self, message: JsonObject) -> JsonObject:
        refuses = self.rule.refuses
        if "nulls" in refuses:
            has_refusals = self.rule.has_refusals
            message = message_without_nulls(message, has_refusals=has_refusals)
        content, is_models = message.get("content"), is_turn(self.wire, message)
        is_refused = "lists" in refuses or ("models-lists" in refuses and is_models)
        if isinstance(content, list) and (
            is_refused or ("empty-lists" in refuses and not content)
        ):
            message = {**message, "content": self._joined(content)}
        is_bare = content is None and not is_models
        is_missing = "missing-content" in refuses and "content" not in message
        if ("null-content" in refuses and is_bare) or is_missing:
            message = {**message, "content": ""}
        if not is_models:
            return message
        message = self._reasoning_fields(self._signed_thinking(message))
        if "empty-calls" in refuses and message.get("tool_calls") == []:
            message = {n: message[n] for n in message if n != "tool_calls"}
        return self._stand_in(self._required(message))

    def _joined(self, content: list[Json]) -> str:
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        said = [text for text in texts if isinstance(text, str)]
        if len(said) < len(content):
            self._lose("/content", "text", TEXT_ALONE)
        return "\n".join(said)

    def _required(self, message: JsonObject) -> JsonObject:
        """Adds an empty field of reasoning to a turn with calls, or to each turn after
        a call, if the rule requires it."""
        rule, has_calls = self.rule, bool(message.get("tool_calls"))
        self._has_called = self._has_called or has_calls
        is_due = has_calls or (rule.required == "turns" and self._has_called)
        is_due = is_due and bool(rule.required) and self.reasoning != "none"
        named = (*_PLAIN, rule.field or "")
        if not is_due or any(message.get(name) is not None for name in named):
            return message
        name = rule.field if rule.field in _PLAIN else _PLAIN[0]
        return {**message, name: ""}

    def _stand_in(self, message: JsonObject) -> JsonObject:
        """Adds the rule's stand-in signature to the first call of a turn, if it has
        none."""
        calls = message.get("tool_calls")
        made = self.rule.stand_in
        if not made or not isinstance(calls, list) or not calls:
            return message
        if not isinstance(calls[0], dict) or calls[0].get("extra_content"):
            return message
        google = {"google": {"thought_signature": made}}
        return {
            **message,
            "tool_calls": [{**calls[0], "extra_content": google}, *calls[1:]],
        }

    def _signed_thinking(self, message: JsonObject) -> JsonObject:
        """A message without blocks of LiteLLM's that Claude refuses unsigned."""
        blocks = message.get(_BLOCKS)
        if not isinstance(blocks, list) or self.maker != "anthropic":
            return message
        kept: list[Json] = []
        for number, block in enumerate(blocks):
            if is_thought(block) and not signature_of(block):
                self._lose(f"/{_BLOCKS}/{number}", "reasoning", UNSIGNED)
            else:
                kept.append(block)
        if not kept:
            return {name: message[name] for name in message if name != _BLOCKS}
        return changed(message, {_BLOCKS: same(blocks, kept)})

    def _reasoning_fields(self, message: JsonObject) -> JsonObject:
        if self._is_of_router and not _OF_ROUTERS.isdisjoint(message):
            return message
        why = self._refusal(bool(message.get("tool_calls")))
        named = [name for name in (*_PLAIN, *_STATES) if name in message]
        if why is not None:
            return self._without(message, named, why)
        rule, text = self.rule, _first(message, _PLAIN)
        if rule.field != _CHUNKS and rule.field not in _PLAIN:
            return message
        gone = [each for each in named if each != rule.field]
        gone = [each for each in gone if rule.is_only or each in _PLAIN]
        if not gone:
            return message
        new = {name: message[name] for name in message if name not in gone}
        if rule.field == _CHUNKS:
            return new | ({"content": _thinking(text, new)} if text else {})
        return new if rule.field in new or not text else new | {rule.field: text}

    @cached_property
    def _is_of_router(self) -> bool:
        """Whether the server may be a router: then the row of the model does not say
        what it refuses."""
        is_known = self.rule.provider.pattern or seller(self.provider)
        return not is_known and self.reasoning != "none"

    def _refusal(self, has_calls: bool) -> str | None:
        """Why no reasoning of a turn may be sent, in any field; None if it may."""
        rule = self.rule
        if self.reasoning == "none":
            return NOT_WANTED
        is_for_calls = rule.reasoning == "calls" and rule.required
        is_refused = is_for_calls and not has_calls and self.reasoning == "auto"
        return NEVER if rule.reasoning == "never" or is_refused else None

    def _without(self, message: JsonObject, named: list[str], why: str) -> JsonObject:
        for name in named:
            if message[name]:
                self._lose(f"/{name}", "reasoning", why)
        if not named:
            return message
        return {name: message[name] for name in message if name not in named}

    def blocks(self, message: JsonObject) -> JsonObject | None:
        """A message of content blocks without the refused ones. If all are refused, the
        content stays, unless a later step removes empty turns."""
        if (
            self.wire == "anthropic"
            and self.rule.is_closed
            and self._is_models(message)
        ):
            message = self._known(message, ("role", "content"))
        given = message.get("content")
        if not isinstance(given, list):
            return message
        content = self._without_nulls(given)
        ends = self._servers_ends(content)
        kept: list[Json] = []
        for number, block in enumerate(content):
            what, why = self._why_not(block, ends)
            if not why:
                kept.append(block)
                continue
            self._lose(f"/content/{number}", what, why)
            mark = block.get("cache_control")
            if mark and kept and isinstance(kept[-1], dict):
                kept[-1] = {"cache_control": mark} | kept[-1]
        if not kept and "empty-turns" not in self.rule.refuses:
            kept = content
        return self._thinking_first(changed(message, {"content": same(given, kept)}))

    def _without_nulls(self, content: list[Json]) -> list[Json]:
        if self.wire != "anthropic" or not self.rule.is_closed:
            return content
        return [
            block_without_nulls(block) if isinstance(block, dict) else block
            for block in content
        ]

    def _is_models(self, message: JsonObject) -> bool:
        return is_turn(self.wire, message)

    def _thinking_first(self, message: JsonObject) -> JsonObject:
        """Adds an empty block of thinking to a message with calls but without thinking,
        if the rule requires one."""
        content = message.get("content")
        is_due = self.rule.required and self.reasoning != "none"
        if not is_due or not SHAPES[self.wire].calls(message):
            return message
        assert isinstance(content, list)
        if any(isinstance(b, dict) and type_of(b) == "thinking" for b in content):
            return message
        return {**message, "content": [{"type": "thinking", "thinking": ""}, *content]}

    def _servers_ends(self, content: list[Json]) -> set[str]:
        """Ids of the server's calls that may be sent. They have a result in their turn,
        which may go on in the model's next one after a pause. Or the turn has a call of
        the client's, so that the result comes later."""
        blocks = [block for block in content if isinstance(block, dict)]
        uses = {_first(b, ("id",)) for b in blocks if type_of(b) in _SERVERS_CALLS}
        ends = {_first(b, ("tool_use_id",)) for b in blocks if _is_servers_end(b)}
        ends |= uses.intersection(self._ends)
        if any(type_of(block) == "tool_use" for block in blocks):
            ends |= uses
        self._servers |= {id for id in uses & ends if SERVER_IDS.fullmatch(id)}
        return self._servers

    def _why_not(self, block: Json, servers: set[str]) -> tuple[str, str]:
        """What kind of loss a refused block is, and why it is refused. The reason is ""
        if the block may be sent."""
        if not isinstance(block, dict):
            return "", ""
        text = block.get("text")
        if isinstance(text, str) and not text.strip():
            return "text", BLANK
        if self.rule.is_closed and type_of(block) in _SERVERS_CALLS:
            is_lost = _first(block, ("id",)) not in servers
            return ("tool-call", BROKEN_OFF) if is_lost else ("", "")
        if self.rule.is_closed and _is_servers_end(block):
            is_lost = _first(block, ("tool_use_id",)) not in servers
            return ("tool-result", BROKEN_OFF) if is_lost else ("", "")
        return "reasoning", self._why_no_thought(block)

    def _why_no_thought(self, block: JsonObject) -> str:
        if type_of(block) == "redacted_thinking" and self.rule.one_model:
            return "" if is_base64(_first(block, ("data",)) or "!") else NO_BASE64
        inner = block.get("reasoningContent")
        if type_of(block) != "thinking" and not isinstance(inner, dict):
            return ""
        if why := self._refusal(has_calls=True):
            return why
        signature = _first(block, ("signature",)) or _signature(inner)
        if self.rule.one_model and signature and not is_base64(signature):
            return NO_BASE64
        return "" if signature or self.rule.unsigned else UNSIGNED

    def _known(self, holder: JsonObject, names: tuple[str, ...]) -> JsonObject:
        odd = [name for name in holder if name not in names]
        for name in odd:
            if holder[name]:
                self._lose("", "state", f"{NO_MEMBER}: {name}")
        return {n: holder[n] for n in holder if n in names} if odd else holder

    def answer_without_blanks(self, answer: JsonObject) -> JsonObject:
        """A tool's answer without its blank texts, which are refused."""
        content = answer.get("content")
        if not isinstance(content, list):
            return answer
        kept = [part for part in content if not _is_blank(part)]
        return changed(answer, {"content": same(content, kept)})

    def answer_for_bedrock(self, answer: JsonObject) -> JsonObject:
        """A tool's answer as Bedrock accepts it: without blank texts, with an empty
        object if nothing is left, and with JSON that is no object as text."""
        content = answer.get("content")
        if not isinstance(content, list):
            return answer
        news = [_as_text(part) for part in content if not _is_blank(part)]
        return changed(answer, {"content": same(content, news or [{"json": {}}])})

    def item(self, item: JsonObject) -> JsonObject | None:
        if SHAPES[self.wire].role(item) == "user":
            self._items.begin(thinks=bool(self.rule.thinks.search(self.model)))
        return self._items.clean(item)

    @cached_property
    def _items(self) -> ItemRefusals:
        how = self.rule, self.reasoning, self.stores
        return ItemRefusals(*how, partial(self._lose, ""))

    def content(self, content: JsonObject) -> JsonObject:
        """A content of Gemini as it may be sent: without empty parts and without
        signatures that are no base64. The first of several calls gets a signature if it
        has none."""
        if content.get("role") == "function":
            content = {**content, "role": "user"}
        parts = content.get("parts")
        if not isinstance(parts, list):
            return content
        kept = [new for part in parts if (new := self._part(part)) != {}]
        if self._is_models(content):
            kept = self._signed(kept)
        is_same = len(kept) == len(parts) and all(map(_is, kept, parts))
        return content if is_same else {**content, "parts": kept}

    def _part(self, part: Json) -> Json:
        names = ("thoughtSignature", "thought_signature")
        signature = _first(part, names) if isinstance(part, dict) else ""
        if not isinstance(part, dict) or not signature or is_base64(signature):
            return part
        self._lose("", "state", NO_BASE64)
        return {name: part[name] for name in part if name not in names}

    def _signed(self, parts: list[Json]) -> list[Json]:
        calls = (i for i, part in enumerate(parts) if held(part, _CALL))
        first, made = next(calls, None), self.rule.stand_in
        if first is None or not made:
            return parts
        call = parts[first]
        assert isinstance(call, dict)
        if _first(call, ("thoughtSignature", "thought_signature")):
            return parts
        signed = {**call, "thoughtSignature": made}
        return [*parts[:first], signed, *parts[first + 1 :]]


_CALL = "functionCall"
_NAMED = ("function_call", "custom_tool_call")
"""Types of a Responses item that must have a name."""

_SERVERS_CALLS = ("server_tool_use", "mcp_tool_use")

_CLEANERS: dict[str, Callable[[Refusals, JsonObject], JsonObject | None]] = {
    "openai-chat": Refusals.chat,
    "openai-responses": Refusals.item,
    "anthropic": Refusals.blocks,
    "bedrock-converse": Refusals.blocks,
    "gemini": Refusals.content,
}

_ANSWERS: dict[str, Callable[[Refusals, JsonObject], JsonObject]] = {
    "anthropic": Refusals.answer_without_blanks,
    "bedrock-converse": Refusals.answer_for_bedrock,
}


def _is(one: Json, other: Json) -> bool:
    return one is other


def _is_servers_end(block: JsonObject) -> bool:
    return type_of(block).endswith("_tool_result") and "tool_use_id" in block


def _is_blank(part: Json) -> bool:
    text = part.get("text") if isinstance(part, dict) else None
    return isinstance(text, str) and not text.strip()


def _as_text(part: Json) -> Json:
    """``part``; if it is JSON but no object, as a text, which Bedrock accepts."""
    if not isinstance(part, dict) or isinstance(part.get("json", {}), dict):
        return part
    return {"text": text_of(part["json"])}


def _first(holder: JsonObject, names: tuple[str, ...]) -> str:
    """The first of the members ``names`` that is a string and not empty, else ""."""
    texts = (holder.get(name) for name in names)
    return next((text for text in texts if isinstance(text, str) and text), "")


def _signature(inner: Json) -> str:
    """The signature in Bedrock's reasoning, or "redacted" for redacted content; "" if
    it has neither."""
    if not isinstance(inner, dict):
        return ""
    thought = inner.get("reasoningText")
    signature = _first(thought, ("signature",)) if isinstance(thought, dict) else ""
    return signature or ("" if inner.get("redactedContent") is None else "redacted")


def _object(arguments: str) -> JsonObject | None:
    """The arguments as an object; None if they are no JSON object."""
    try:
        value: Json = loads(arguments or "{}")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _thinking(text: str, message: JsonObject) -> list[Json]:
    """The content of a message as Mistral has it: a chunk with the reasoning ``text``
    before the chunks of the answer."""
    content = message.get("content")
    said: list[Json] = [{"type": "text", "text": content}] if content else []
    said = content if isinstance(content, list) else said
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": text}]}
    return [thought, *said]
