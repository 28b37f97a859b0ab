"""What a provider refuses of the turns in a request, taken out of them.

`items_of` finds the turns in a body; `Refusals` frees an item of what the rule of its
provider refuses (wires/README.md, "Requests"). Everything else of an item stays as it
is, and an item in which nothing is refused is the same object. What becomes of one item
depends on no item behind it. Never raises for any JSON value.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from stream_sidecar.records import define, field, frozen
from stream_sidecar.values.jsontext import loads
from stream_sidecar.wires import REQUESTS
from stream_sidecar.wires.shared.request_rules import Names, rule_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.rendering import Reasoning
    from stream_sidecar.wires.shared.request_rules import Rule

_LISTS = {"gemini": "contents", "openai-responses": "input"}
_OF_MANY = {"openai-chat", "openai-responses", "anthropic"}
"""Wires that many providers speak: what no row names is refused by nobody known."""

_PLAIN = ("reasoning_content", "reasoning", "reasoning_text", "thinking")
_STATES = (
    "reasoning_details",
    "thinking_blocks",
    "reasoning_opaque",
    "reasoning_items",
)
_CHUNKS = "content.thinking"
_SHORTEST_ITEM_ID = 32
"""Characters of ids of items that a server gives, at least; ours are shorter."""

_ID = 9
"""Characters of an id that is made, as `rendering` makes it."""

_ID_NAMES = ("tool_call_id", "tool_use_id", "call_id")
"""Where an answer, or an item, names its call."""

NEVER = "this provider refuses to be sent reasoning"
UNSIGNED = "thinking without the provider's signature is refused"
UNKNOWN_ITEM = "it is no reasoning item, or one neither stored nor encrypted"
BLANK = "blank text is refused"
OTHER_IDS = "this provider takes other ids"
NO_OBJECT = "the arguments are no JSON object"
NOT_WANTED = "the host wants none to go"


@frozen
class LostPart:
    """What of a request is not in it any more, at ``path`` of its body, and why."""

    path: str
    what: str
    why: str


def items_of(wire: str, body: JsonObject) -> tuple[str, list[Json]]:
    """The name of the list of turns, and the list; an empty one where there is none."""
    name = _LISTS.get(wire, "messages")
    items = body.get(name)
    return name, items if isinstance(items, list) else []


def is_turn(wire: str, item: Json) -> bool:
    """Whether an item of that list is the model's."""
    if not isinstance(item, dict):
        return False
    if wire == "gemini":
        return item.get("role") == "model"
    kind = item.get("type")
    is_items = wire == "openai-responses"
    if is_items and isinstance(kind, str) and kind != "message":
        return kind == "reasoning" or kind.endswith("_call")
    return item.get("role") == "assistant"


def rule_of(wire: str, provider: str | None, model: str | None) -> Rule | None:
    """The rule of a provider; None: nobody knows what it refuses."""
    rules = REQUESTS[wire].rules
    rule = rule_for(rules, Names(provider or "", model or ""))
    is_nobody = rule is rules[-1] and wire in _OF_MANY
    return None if is_nobody or not (provider or model) else rule


@define
class Refusals:
    """Frees the items of one request, in their order. ``stores``: the server keeps the
    items that it gave."""

    wire: str
    rule: Rule
    reasoning: Reasoning
    stores: bool
    lost: list[LostPart] = field(factory=list)
    _path: str = ""
    _is_torn: bool = False

    def free(self, item: Json, path: str) -> Json:
        """The item as it may go; None: it may not."""
        self._path = path
        if not isinstance(item, dict):
            return item
        if not is_turn(self.wire, item):
            self._is_torn = False
            return self._with_ids(item)
        how = _FREED.get(self.wire)
        item = self._with_ids(item)
        return item if how is None else how(self, item)

    def _lose(self, inner: str, what: str, why: str) -> None:
        self.lost.append(LostPart(self._path + inner, what, why))

    # Ids: what is made of one depends on it alone, so that call and answer agree

    def _with_ids(self, item: JsonObject) -> JsonObject:
        new = _changed(item, {name: self._id(item, name) for name in _ID_NAMES})
        for name, id in (("tool_calls", "id"), ("content", "id")):
            calls = new.get(name)
            if isinstance(calls, list):
                news = [self._with_id(each, id) for each in calls]
                new = _changed(new, {name: _same(calls, news)})
        return new

    def _with_id(self, part: Json, id: str) -> Json:
        if not isinstance(part, dict):
            return part
        is_call = part.get("type") in ("function", "custom", "tool_use")
        names = (id, *_ID_NAMES) if is_call else _ID_NAMES
        return _changed(part, {name: self._id(part, name) for name in names})

    def _id(self, holder: JsonObject, name: str) -> Json:
        id = holder.get(name)
        if not isinstance(id, str) or not self.rule.no_ids.search(id):
            return id
        self._lose("", "tool-call-id", OTHER_IDS)
        return blake2b(id.encode("utf-8", "surrogatepass")).hexdigest()[:_ID]

    # By wire

    def chat(self, message: JsonObject) -> JsonObject:
        message = self._reasoning_fields(message)
        calls = message.get("tool_calls")
        if self.rule.raw_arguments or not isinstance(calls, list):
            return message
        news = [self._with_arguments(call) for call in calls]
        return _changed(message, {"tool_calls": _same(calls, news)})

    def _reasoning_fields(self, message: JsonObject) -> JsonObject:
        why = self._refusal(bool(message.get("tool_calls")))
        named = [name for name in (*_PLAIN, *_STATES) if name in message]
        if why is not None:
            return self._without(message, named, why)
        rule, text = self.rule, _first(message, _PLAIN)
        if rule.field != _CHUNKS and rule.field not in _PLAIN:
            return message
        is_strict = bool(rule.provider.pattern)
        gone = [each for each in named if each != rule.field]
        gone = [each for each in gone if is_strict or each in _PLAIN]
        if not gone:
            return message
        new = {name: message[name] for name in message if name not in gone}
        if rule.field == _CHUNKS:
            return new | ({"content": _thinking(text, new)} if text else {})
        return new if rule.field in new or not text else new | {rule.field: text}

    def _refusal(self, has_calls: bool) -> str | None:
        """Why no reasoning of a turn may go, in whatever field."""
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

    def _with_arguments(self, call: Json) -> Json:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or _is_object(function.get("arguments")):
            return call
        self._lose("/tool_calls", "arguments", NO_OBJECT)
        return {**call, "function": {**function, "arguments": "{}"}}

    def blocks(self, message: JsonObject) -> JsonObject:
        """A message of content blocks keeps one at least."""
        content = message.get("content")
        if not isinstance(content, list):
            return message
        whys = [self._why_not(block) for block in content]
        kept = [each for each, why in zip(content, whys, strict=True) if why is None]
        for number, why in enumerate(whys):
            if why is not None:
                what = "text" if why == BLANK else "reasoning"
                self._lose(f"/content/{number}", what, why)
        return _changed(message, {"content": _same(content, kept or content)})

    def _why_not(self, block: Json) -> str | None:
        if not isinstance(block, dict):
            return None
        text = block.get("text")
        if isinstance(text, str) and not text.strip() and "cache_control" not in block:
            return BLANK
        inner = block.get("reasoningContent")
        if block.get("type") != "thinking" and not isinstance(inner, dict):
            return None
        if why := self._refusal(has_calls=True):
            return why
        is_signed = _first(block, ("signature",)) or _is_signed(inner)
        return None if is_signed or self.rule.unsigned else UNSIGNED

    def item(self, item: JsonObject) -> JsonObject | None:
        """Where a reasoning item is gone, what it led to has no id any more."""
        id = item.get("id")
        if item.get("type") == "reasoning":
            is_known = self.stores and isinstance(id, str)
            is_made = isinstance(id, str) and len(id) < _SHORTEST_ITEM_ID
            is_taken = item.get("encrypted_content") or (is_known and not is_made)
            if is_taken and self.reasoning != "none":
                return item
            why = NOT_WANTED if self.reasoning == "none" else UNKNOWN_ITEM
            self._lose("", "reasoning", why)
            self._is_torn = self._is_torn or not is_made
            return None
        if not self._is_torn or "id" not in item:
            return item
        return {name: item[name] for name in item if name != "id"}

    def content(self, content: JsonObject) -> JsonObject:
        """Of calls side by side the first has a signature."""
        parts = content.get("parts")
        parts = parts if isinstance(parts, list) else []
        calls = (i for i, p in enumerate(parts) if isinstance(p, dict) and _CALL in p)
        first = next(calls, None)
        if first is None or not self.rule.stand_in:
            return content
        if _first(parts[first], ("thoughtSignature", "thought_signature")):
            return content
        signed = {**parts[first], "thoughtSignature": self.rule.stand_in}
        return {**content, "parts": [*parts[:first], signed, *parts[first + 1 :]]}


_CALL = "functionCall"

_FREED: dict[str, Callable[[Refusals, JsonObject], JsonObject | None]] = {
    "openai-chat": Refusals.chat,
    "openai-responses": Refusals.item,
    "anthropic": Refusals.blocks,
    "bedrock-converse": Refusals.blocks,
    "gemini": Refusals.content,
}


def _changed(holder: JsonObject, news: dict[str, Any]) -> JsonObject:
    """``holder`` with new values; the same object where they are the old ones."""
    told = {name: new for name, new in news.items() if holder.get(name) is not new}
    return holder | told if told else holder


def _same(old: list[Json], new: list[Json]) -> list[Json]:
    """``old`` where ``new`` has the same items."""
    is_same = len(old) == len(new) and all(map(_is, old, new))
    return old if is_same else new


def _is(one: Json, other: Json) -> bool:
    return one is other


def _first(holder: JsonObject, names: tuple[str, ...]) -> str:
    """The first text that says something."""
    texts = (holder.get(name) for name in names)
    return next((text for text in texts if isinstance(text, str) and text), "")


def _is_signed(inner: Json) -> bool:
    """Whether Bedrock's reasoning has state of its provider."""
    if not isinstance(inner, dict):
        return False
    told = inner.get("reasoningText")
    signed = isinstance(told, dict) and _first(told, ("signature",))
    return bool(signed or inner.get("redactedContent"))


def _is_object(arguments: Json) -> bool:
    if not isinstance(arguments, str):
        return True
    try:
        return isinstance(loads(arguments or "{}"), dict)
    except ValueError:
        return False


def _thinking(text: str, message: JsonObject) -> list[Json]:
    """Mistral's content: what was thought before what was said."""
    content = message.get("content")
    said: list[Json] = [{"type": "text", "text": content}] if content else []
    said = content if isinstance(content, list) else said
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": text}]}
    return [thought, *said]
