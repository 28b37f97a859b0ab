"""Servers that refuse a request because of what its history holds.

`SERVERS` has for each provider what it refuses: names of the functions below, which say
whether they object to a body. They read a body on their own, with nothing of the
package. `data/refusals.jsonl` has the histories, each with the public sources of its
refusal (`test_refusals.py`).
"""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from attrs import frozen

Json = Any

LISTS = {"gemini": "contents", "openai-responses": "input"}
_INNER = {
    "anthropic": ("id", "tool_use_id"),
    "bedrock-converse": ("toolUseId", "toolUseId"),
    "gemini": ("id", "id"),
}


@frozen
class Call:
    """A call, or with ``arguments`` None the answer to a call."""

    id: str | None
    name: str | None
    arguments: Json = None


@frozen
class Turn:
    """An item of a history: ``role`` is ``user``, ``model``, ``system`` or ``tool``."""

    role: str
    item: Json
    parts: list[Json]
    calls: list[Call]
    answers: list[Call]


def turns(wire: str, body: Json) -> list[Turn]:
    return [_turn(wire, item) for item in body.get(LISTS.get(wire, "messages"), [])]


def _turn(wire: str, item: Json) -> Turn:
    name = "parts" if wire == "gemini" else "content"
    content = item.get(name)
    parts = [each for each in content if each] if isinstance(content, list) else []
    if wire == "openai-responses":
        return _item(item, parts)
    if wire in _INNER:
        calls = [call for part in parts for call in _calls(wire, part)]
        answers = [answer for part in parts for answer in _answers(wire, part)]
        roles = {"assistant": "model"}
        role = item.get("role", "user")
        role = roles.get(role, role)
        return Turn(role, item, parts, calls, answers if role != "model" else [])
    calls = [_chat_call(call) for call in item.get("tool_calls") or ()]
    is_tool = item["role"] == "tool"
    answered = [Call(item.get("tool_call_id"), item.get("name"))] if is_tool else []
    role = {"assistant": "model", "developer": "system"}.get(item["role"], item["role"])
    return Turn(role, item, parts, calls, answered)


def _item(item: Json, parts: list[Json]) -> Turn:
    kind, id = item.get("type", "message"), item.get("call_id")
    if kind.endswith(("_call_output", "search_output")) and id:
        return Turn("tool", item, parts, [], [Call(id, None)])
    if kind.endswith("_call"):
        arguments = str(item.get("arguments", "{}"))
        calls = [Call(id, item.get("name", "x"), arguments)]
        return Turn("model", item, parts, calls if id else [], [])
    role = item.get("role", "assistant")
    return Turn({"assistant": "model"}.get(role, role), item, parts, [], [])


def _calls(wire: str, part: Json) -> Iterator[Call]:
    word = {"gemini": "functionCall", "bedrock-converse": "toolUse"}.get(wire)
    call = part.get(word) if word else part if part.get("type") == "tool_use" else None
    if call is not None and call.get("type") != "server_tool_use":
        arguments = call.get("args" if wire == "gemini" else "input")
        yield Call(call.get(_INNER[wire][0]), call.get("name"), arguments)


def _answers(wire: str, part: Json) -> Iterator[Call]:
    word = {"gemini": "functionResponse", "bedrock-converse": "toolResult"}.get(wire)
    is_result = part.get("type") == "tool_result"
    result = part.get(word) if word else part if is_result else None
    if result is not None:
        yield Call(result.get(_INNER[wire][1]), result.get("name"))


def _chat_call(call: Json) -> Call:
    function = call.get("function") or call.get("custom") or {}
    return Call(call.get("id"), function.get("name"), function.get("arguments"))


# --- Objections -----------------------------------------------------------------------

Check = Callable[[str, Json], bool]
CHECKS: dict[str, Check] = {}


def check(objects: Check) -> Check:
    CHECKS[objects.__name__.strip("_").replace("_", "-")] = objects
    return objects


def _groups(wire: str, body: Json) -> Iterator[tuple[list[Call], list[Call]]]:
    """Calls of a turn with the answers right after them; items are all one group,
    wherever they are."""
    if wire == "openai-responses":
        all = turns(wire, body)
        yield [c for t in all for c in t.calls], [a for t in all for a in t.answers]
        return
    calls: list[Call] = []
    answers: list[Call] = []
    was = ""
    for turn in turns(wire, body):
        is_next = bool(turn.answers) and (wire not in _INNER or was == "model")
        if not is_next:
            yield calls, answers
            calls, answers = [], []
        calls = calls + turn.calls
        answers = answers + (turn.answers if is_next or not calls else [])
        if turn.answers and not is_next:
            yield [], turn.answers
        was = turn.role
    yield calls, answers


def _ids(calls: list[Call]) -> list[str]:
    return sorted(str(call.id or call.name) for call in calls)


@check
def _call_without_result(wire: str, body: Json) -> bool:
    return any(set(_ids(c)) - set(_ids(a)) for c, a in _groups(wire, body))


@check
def _result_without_call(wire: str, body: Json) -> bool:
    return any(set(_ids(a)) - set(_ids(c)) for c, a in _groups(wire, body))


@check
def _other_number_of_results(wire: str, body: Json) -> bool:
    return any(len(c) != len(a) for c, a in _groups(wire, body))


@check
def _result_twice(wire: str, body: Json) -> bool:
    groups = (_ids(answers) for _, answers in _groups(wire, body))
    return any(len(ids) != len(set(ids)) for ids in groups)


@check
def _id_twice(wire: str, body: Json) -> bool:
    ids = [call.id for turn in turns(wire, body) for call in turn.calls]
    return len(ids) != len(set(ids))


@check
def _id_twice_in_a_turn(wire: str, body: Json) -> bool:
    ids = [_ids(turn.calls) for turn in turns(wire, body)]
    return any(len(each) != len(set(each)) for each in ids)


def _named(pattern: str, of: str) -> Check:
    """Objects to names, or ids, that the pattern does not fit."""
    fits = re.compile(pattern)

    def objects(wire: str, body: Json) -> bool:
        every = [c for turn in turns(wire, body) for c in turn.calls + turn.answers]
        values = [c.id if of == "id" else c.name for c in every]
        return any(v is not None and not fits.fullmatch(v) for v in values)

    return objects


CHECKS["id-of-40"] = _named(r"(?s).{1,40}", "id")
CHECKS["id-of-64"] = _named(r"(?s).{1,64}", "id")
CHECKS["id-of-9"] = _named(r"[a-zA-Z0-9]{9}", "id")
CHECKS["id-of-claude"] = _named(r"[a-zA-Z0-9_-]+", "id")
CHECKS["id-of-bedrock"] = _named(r"[a-zA-Z0-9_.:-]{1,64}", "id")
CHECKS["name-of-letters"] = _named(r"[a-zA-Z0-9_-]+", "name")
CHECKS["name-of-64"] = _named(r"[a-zA-Z0-9_-]{1,64}", "name")


@check
def _no_name(wire: str, body: Json) -> bool:
    calls = [call for turn in turns(wire, body) for call in turn.calls]
    calls += [c for t in turns(wire, body) for c in t.answers if wire == "gemini"]
    return any(not call.name for call in calls)


@check
def _arguments(wire: str, body: Json) -> bool:
    """They are no JSON object, or no text of one."""
    is_object = wire in _INNER or wire == "ollama"
    calls = (call for turn in turns(wire, body) for call in turn.calls)
    for call in (call for call in calls if call.arguments is not None):
        value = call.arguments
        if not is_object:
            try:
                value = json.loads(value)
            except ValueError:
                return True
        if not isinstance(value, dict):
            return True
    return False


@check
def _long_key(wire: str, body: Json) -> bool:
    calls = [call for turn in turns(wire, body) for call in turn.calls]
    keys = [re.findall('"([^"]*)":', call.arguments) for call in calls]
    return any(len(key) > 256 for each in keys for key in each)


@check
def _empty_turn(wire: str, body: Json) -> bool:
    final = turns(wire, body)[-1:]
    return any(
        not turn.parts and not turn.item.get("content") and not turn.calls
        for turn in turns(wire, body)
        if turn.role in ("model", "user") and turn not in final
    )


@check
def _no_data(wire: str, body: Json) -> bool:
    contents = body["contents"]
    return any(part == {} for content in contents for part in content["parts"])


@check
def _blank_text(wire: str, body: Json) -> bool:
    parts = [part for turn in turns(wire, body) for part in turn.parts]
    inner = [
        p.get("content", (p.get("toolResult") or {}).get("content")) for p in parts
    ]
    parts += [p for each in inner if isinstance(each, list) for p in each]
    is_bedrock = wire == "bedrock-converse"
    texts = [p["text"] for p in parts if isinstance(p.get("text"), str)]
    return any(not (text.strip() if is_bedrock else text) for text in texts)


@check
def _white_space_at_the_end(wire: str, body: Json) -> bool:
    content = body["messages"][-1]["content"]
    text = content if isinstance(content, str) else content[-1].get("text", "")
    is_model = body["messages"][-1]["role"] == "assistant"
    return bool(is_model and text != text.rstrip())


@check
def _models_turn_last(wire: str, body: Json) -> bool:
    last = turns(wire, body)[-1]
    return last.role == "model" and not last.item.get("prefix")


@check
def _two_models_turns_last(wire: str, body: Json) -> bool:
    return [turn.role for turn in turns(wire, body)[-2:]] == ["model", "model"]


@check
def _same_role(wire: str, body: Json) -> bool:
    roles = [t.role for t in turns(wire, body) if t.role not in ("system", "tool")]
    roles = roles if wire in _INNER else [t.role for t in turns(wire, body)]
    pairs = pairwise(roles)
    return any(one == next and one not in ("system", "tool") for one, next in pairs)


@check
def _call_behind_a_models_turn(wire: str, body: Json) -> bool:
    all = turns(wire, body)
    before = ["model", *(turn.role for turn in all)]
    return any(t.calls and b == "model" for t, b in zip(all, before, strict=False))


@check
def _user_after_results(wire: str, body: Json) -> bool:
    roles = [turn.role for turn in turns(wire, body)]
    pairs = set(pairwise(roles))
    return bool({("tool", "user"), ("user", "tool")} & pairs)


@check
def _text_beside_results(wire: str, body: Json) -> bool:
    all = turns(wire, body)
    return any(t.answers and len(t.parts) != len(t.answers) for t in all)


@check
def _no_user(wire: str, body: Json) -> bool:
    return all(turn.role != "user" or turn.answers for turn in turns(wire, body))


@check
def _system_first(wire: str, body: Json) -> bool:
    return bool(turns(wire, body)[0].role == "system")


@check
def _system_later(wire: str, body: Json) -> bool:
    return any(turn.role == "system" for turn in turns(wire, body)[1:])


@check
def _role(wire: str, body: Json) -> bool:
    return any(turn.role not in ("user", "model") for turn in turns(wire, body))


# Reasoning


def _thoughts(wire: str, body: Json) -> list[Json]:
    parts = [part for turn in turns(wire, body) for part in turn.parts]
    if wire == "bedrock-converse":
        inner = [part.get("reasoningContent") for part in parts]
        return [each.get("reasoningText", each) for each in inner if each]
    return [part for part in parts if part.get("type") == "thinking"]


@check
def _no_signature(wire: str, body: Json) -> bool:
    thoughts = _thoughts(wire, body)
    return any("signature" not in t and "redactedContent" not in t for t in thoughts)


@check
def _signature(wire: str, body: Json) -> bool:
    signatures = [thought.get("signature") for thought in _thoughts(wire, body)]
    parts = [part for turn in turns(wire, body) for part in turn.parts]
    signatures += [part.get("thoughtSignature") for part in parts]
    made = (None, "skip_thought_signature_validator")
    fits = re.compile("[A-Za-z0-9+/_-]+={0,2}")
    return any(s not in made and not fits.fullmatch(s) for s in signatures)


@check
def _no_thinking_before_calls(wire: str, body: Json) -> bool:
    if (body.get("thinking") or {}).get("type") != "enabled":
        return False
    all = turns(wire, body)
    users = [n for n, t in enumerate(all) if t.role == "user" and not t.answers]
    loop = [t for t in all[users[-1] + 1 :] if t.role == "model"]
    kinds = [t.parts[0].get("type", "") for t in loop if t.parts]
    return bool(loop and loop[0].calls and "thinking" not in kinds[0])


@check
def _thinking_late(wire: str, body: Json) -> bool:
    """It comes after something else in its turn, while thinking is on."""
    is_on = (body.get("thinking") or {}).get("type") == "enabled"
    kinds = [[str(p.get("type")) for p in t.parts] for t in turns(wire, body)]
    late = [each for each in kinds if any("thinking" in kind for kind in each[1:])]
    return is_on and any("thinking" not in each[0] for each in late)


@check
def _no_data_in_redacted(wire: str, body: Json) -> bool:
    parts = [part for turn in turns(wire, body) for part in turn.parts]
    redacted = [part for part in parts if part.get("type") == "redacted_thinking"]
    return any("data" not in part for part in redacted)


@check
def _half_surrogate(wire: str, body: Json) -> bool:
    return any("\ud800" <= sign <= "\udfff" for sign in _text_of(body))


def _text_of(body: Json) -> str:
    return json.dumps(body, ensure_ascii=False)


@check
def _response_not_stored(wire: str, body: Json) -> bool:
    return "previous_response_id" in body and body.get("store") is False


@check
def _thinking_last(wire: str, body: Json) -> bool:
    last = turns(wire, body)[-1]
    is_off = (body.get("thinking") or {}).get("type") != "enabled"
    is_thought = bool(last.parts) and last.parts[0].get("type") == "thinking"
    return is_off and last.role == "model" and is_thought


@check
def _no_call_signature(wire: str, body: Json) -> bool:
    for turn in turns(wire, body):
        calls = [part for part in turn.parts if "functionCall" in part]
        calls += turn.item.get("tool_calls") or []
        if calls and not (calls[0].keys() & {"thoughtSignature", "extra_content"}):
            return True
    return False


@check
def _no_reasoning_with_calls(wire: str, body: Json) -> bool:
    if wire == "openai-chat":
        all = turns(wire, body)
        return any(t.calls and "reasoning_content" not in t.item for t in all)
    loops = [turn for turn in turns(wire, body) if turn.calls]
    return any("thinking" not in [p["type"] for p in turn.parts] for turn in loops)


@check
def _reasoning_content(wire: str, body: Json) -> bool:
    return bool(
        [p for t in turns(wire, body) for p in t.parts if "reasoningContent" in p]
    )


# Members


def _only(of: str, *known: str) -> Check:
    """Objects to other members of messages of the model, or of parts of a type."""

    def objects(wire: str, body: Json) -> bool:
        all = turns(wire, body)
        items = [turn.item for turn in all if turn.role == "model"]
        if of != "message":
            items = [p for t in all for p in t.parts if p.get("type") == of]
        return any(item.keys() - {"role", *known} for item in items)

    return objects


_CHAT = ("content", "tool_calls", "refusal", "name", "prefix")
CHECKS["members-of-messages"] = _only("message", "content")
CHECKS["members-of-calls"] = _only(
    "tool_use", "type", "id", "name", "input", "caller", "cache_control"
)
CHECKS["members-of-chat"] = _only("message", *_CHAT)
CHECKS["members-of-cerebras"] = _only("message", *_CHAT, "reasoning")
CHECKS["members-of-fireworks"] = _only("message", *_CHAT, "reasoning_content")


@check
def _no_content(wire: str, body: Json) -> bool:
    roles = ("tool", "user")
    all = [turn for turn in turns(wire, body) if turn.role in roles]
    return any(turn.item.get("content") is None for turn in all)


@check
def _content_is_missing(wire: str, body: Json) -> bool:
    return any("content" not in turn.item for turn in turns(wire, body))


@check
def _neither_content_nor_calls(wire: str, body: Json) -> bool:
    all = [turn for turn in turns(wire, body) if turn.role == "model"]
    return any(t.item.get("content") is None and not t.calls for t in all)


@check
def _content_is_a_list(wire: str, body: Json) -> bool:
    all = turns(wire, body)
    return any(isinstance(turn.item.get("content"), list) for turn in all)


@check
def _models_content_is_a_list(wire: str, body: Json) -> bool:
    all = [turn for turn in turns(wire, body) if turn.role == "model"]
    return any(isinstance(turn.item.get("content"), list) for turn in all)


@check
def _empty_list(wire: str, body: Json) -> bool:
    return any(turn.item.get("content") == [] for turn in turns(wire, body))


@check
def _no_calls_in_the_list(wire: str, body: Json) -> bool:
    return any(turn.item.get("tool_calls") == [] for turn in turns(wire, body))


# Tools of servers


@check
def _servers_call(wire: str, body: Json) -> bool:
    parts = [part for turn in turns(wire, body) for part in turn.parts]
    ids = [p["id"] for p in parts if p.get("type") == "server_tool_use"]
    return any(not re.fullmatch("srvtoolu_[a-zA-Z0-9_]+", id) for id in ids)


def _servers(wire: str, body: Json) -> tuple[set[str], set[str]]:
    parts = [part for turn in turns(wire, body) for part in turn.parts]
    kinds = ("server_tool_use", "mcp_tool_use")
    calls = {p["id"] for p in parts if p.get("type") in kinds}
    ends = [p for p in parts if str(p.get("type")).endswith("_tool_result")]
    return calls, {part["tool_use_id"] for part in ends}


@check
def _servers_call_without_result(wire: str, body: Json) -> bool:
    calls, results = _servers(wire, body)
    return bool(calls - results)


@check
def _servers_result_without_call(wire: str, body: Json) -> bool:
    calls, results = _servers(wire, body)
    return bool(results - calls)


@check
def _no_container(wire: str, body: Json) -> bool:
    parts = [part for turn in turns(wire, body) for part in turn.parts]
    callers = [p["caller"] for p in parts if isinstance(p.get("caller"), dict)]
    return any("tool_id" in c for c in callers) and "container" not in body


@check
def _unknown_tool(wire: str, body: Json) -> bool:
    named = {tool.get("name") for tool in body.get("tools", [])}
    found = set(re.findall(r'"tool_name": "([a-z]+)"', json.dumps(body)))
    return bool(found - named)


@check
def _no_tools(wire: str, body: Json) -> bool:
    is_used = any(turn.calls or turn.answers for turn in turns(wire, body))
    return is_used and "toolConfig" not in body


@check
def _many_marks(wire: str, body: Json) -> bool:
    return json.dumps(body).count('"cache_control"') > 4


@check
def _mark_on_empty_text(wire: str, body: Json) -> bool:
    parts = [part for turn in turns(wire, body) for part in turn.parts]
    return any("cache_control" in p and p.get("text") == "" for p in parts)


# Bedrock's results


@check
def _failure_without_content(wire: str, body: Json) -> bool:
    parts = [part for turn in turns(wire, body) for part in turn.parts]
    results = [p["toolResult"] for p in parts if "toolResult" in p]
    return any(t.get("status") == "error" and not t.get("content") for t in results)


@check
def _json_no_object(wire: str, body: Json) -> bool:
    parts = [part for turn in turns(wire, body) for part in turn.parts]
    contents = [p["toolResult"].get("content", []) for p in parts if "toolResult" in p]
    values = [p["json"] for each in contents for p in each if "json" in p]
    return any(not isinstance(value, dict) for value in values)


# Items


def _thought_items(body: Json) -> list[Json]:
    return [item for item in body["input"] if item.get("type") == "reasoning"]


@check
def _reasoning_is_followed_by_nothing(wire: str, body: Json) -> bool:
    all = [*turns(wire, body), Turn("user", {}, [], [], [])]
    pairs = pairwise(all)
    return any(
        turn.item.get("type") == "reasoning" and following.role != "model"
        for turn, following in pairs
    )


@check
def _item_without_its_reasoning(wire: str, body: Json) -> bool:
    """Of the model's items: Codex gives a user's messages ids of its own."""
    is_after = False
    for item in body["input"]:
        kinds = ("reasoning", "item_reference")
        is_after = is_after or item.get("type") in kinds
        is_models = item.get("role", "assistant") == "assistant"
        is_issued = str(item.get("id", "")).startswith(("fc_", "msg_"))
        if is_models and is_issued and not is_after:
            return True
    return False


@check
def _item_not_stored(wire: str, body: Json) -> bool:
    is_gone = body.get("store") is False
    return is_gone and any("encrypted_content" not in i for i in _thought_items(body))


@check
def _item_id_of_64(wire: str, body: Json) -> bool:
    return any(len(item.get("id") or "") > 64 for item in body["input"])


@check
def _item_twice(wire: str, body: Json) -> bool:
    ids = [item["id"] for item in body["input"] if item.get("id")]
    return len(ids) != len(set(ids))


_PREFIXES = {"message": "msg", "reasoning": "rs", "function_call": "fc"}
_PREFIXES |= {"custom_tool_call": "ctc", "web_search_call": "ws"}


@check
def _id_of_another_kind(wire: str, body: Json) -> bool:
    """It does not begin as the ids of such items do, or has other characters."""
    for item in body["input"]:
        id, prefix = item.get("id"), _PREFIXES.get(item.get("type"), "")
        is_given = isinstance(id, str)
        is_odd = is_given and not re.fullmatch("[a-zA-Z0-9_-]+", id)
        if is_odd or (is_given and not id.startswith(prefix)):
            return True
    return False


_NULLABLE = (
    *("content", "encrypted_content", "phase", "caller", "call_id"),
    *("approval_request_id", "output", "error"),
)


@check
def _null_in_an_item(wire: str, body: Json) -> bool:
    parts = [p for i in body["input"] for p in (i, i.get("action"), *_content(i))]
    holders = [part for part in parts if isinstance(part, dict)]
    return any(v is None and n not in _NULLABLE for h in holders for n, v in h.items())


def _content(item: Json) -> list[Json]:
    content = item.get("content")
    return content if isinstance(content, list) else []


@check
def _null_in_a_message(wire: str, body: Json) -> bool:
    members = ("name", "tool_calls", "tool_call_id", "annotations")
    return any(m.get(n, 0) is None for m in body["messages"] for n in members)


@check
def _any_null_in_a_message(wire: str, body: Json) -> bool:
    members = [(n, v) for m in body["messages"] for n, v in m.items()]
    return any(value is None and name != "content" for name, value in members)


@check
def _id_of_null(wire: str, body: Json) -> bool:
    calls = [call for m in body["messages"] for call in m.get("tool_calls") or ()]
    ids = [each.get("id", "") for each in calls]
    ids += [m.get("tool_call_id", "") for m in body["messages"]]
    return None in ids


@check
def _null_caller(wire: str, body: Json) -> bool:
    parts = [part for turn in turns(wire, body) for part in turn.parts]
    return any(part.get("caller", 0) is None for part in parts)


@check
def _no_queries(wire: str, body: Json) -> bool:
    actions = [item.get("action") or {} for item in body["input"]]
    return any(a.get("type") == "search" and "queries" not in a for a in actions)


@check
def _empty_reasoning(wire: str, body: Json) -> bool:
    return any(not item.get("content") for item in _thought_items(body))


@check
def _content_of_reasoning(wire: str, body: Json) -> bool:
    return any(item.get("content") for item in _thought_items(body))


@check
def _no_summary(wire: str, body: Json) -> bool:
    return any("summary" not in item for item in _thought_items(body))


@check
def _models_input(wire: str, body: Json) -> bool:
    all = [turn for turn in turns(wire, body) if turn.role == "model"]
    return any(p.get("type") == "input_text" for turn in all for p in turn.parts)


@check
def _null_content(wire: str, body: Json) -> bool:
    turns = (item for item in body["input"] if item.get("type", "message") == "message")
    items = [item for item in turns if item.get("role")]
    return any(item.get("content") is None for item in items)


_HOSTED = (
    *("web_search_call", "file_search_call", "code_interpreter_call"),
    *("image_generation_call", "mcp_call", "mcp_list_tools", "mcp_approval_request"),
    "computer_call",
)


@check
def _hosted_item_without_id(wire: str, body: Json) -> bool:
    """The schema of a server's item requires its ``id``."""
    hosted = [item for item in body["input"] if item.get("type") in _HOSTED]
    return any(not item.get("id") for item in hosted)


@check
def _image(wire: str, body: Json) -> bool:
    """Images on Anthropic's wire: more than 100, a side of more than 8000 pixels, or
    2000 in a request with more than 20, or another kind than a PNG's head says."""
    images = [*_images_in(body)]
    sides: list[int] = []
    for source in images:
        data = base64.b64decode(source["data"])
        if data.startswith(b"\x89PNG"):
            sides += struct.unpack(">II", data[16:24])
        if data.startswith(b"\x89PNG") != (source["media_type"] == "image/png"):
            return True
    longest = 2000 if len(images) > 20 else 8000
    return len(images) > 100 or any(side > longest for side in sides)


@check
def _seal_of_another_issuer(wire: str, body: Json) -> bool:
    """OpenAI's encrypted content is a Fernet token."""
    items = body["input"] if wire == "openai-responses" else []
    seals = (item.get("encrypted_content") for item in items)
    return any(seal and not seal.startswith("gAAAA") for seal in seals)


def _images_in(value: Json) -> Iterator[Json]:
    if isinstance(value, dict) and value.get("type") == "image":
        yield value["source"]
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _images_in(inner)


# --- Servers --------------------------------------------------------------------------

_PAIRS = ("call-without-result", "result-without-call", "result-twice")
_CLAUDE = (
    *(*_PAIRS, "id-twice", "id-of-claude", "blank-text", "empty-turn", "arguments"),
    *("white-space-at-the-end", "no-signature", "signature", "name-of-letters"),
)
_OPENAI = (
    *(*_PAIRS, "no-name", "name-of-64", "no-calls-in-the-list", "no-content"),
    "null-in-a-message",
)
_LOCAL = ("models-turn-last", "two-models-turns-last")
_ITEMS = (
    *(*_PAIRS, "reasoning-is-followed-by-nothing", "item-without-its-reasoning"),
    *("item-not-stored", "item-id-of-64", "id-of-64", "content-of-reasoning"),
    *("no-name", "name-of-letters", "models-input", "null-content", "no-summary"),
    *("item-twice", "long-key", "response-not-stored"),
    *("id-of-another-kind", "null-in-an-item"),
)
_BEDROCK = (
    *(*_PAIRS, "id-twice", "id-of-bedrock", "blank-text", "empty-turn"),
    *("failure-without-content", "json-no-object", "no-tools", "same-role"),
)

SERVERS: dict[str, tuple[str, ...]] = {
    "anthropic": (
        *(*_CLAUDE, "models-turn-last", "system-first", "no-thinking-before-calls"),
        *("thinking-last", "members-of-messages", "members-of-calls", "servers-call"),
        *("servers-call-without-result", "servers-result-without-call"),
        *("thinking-late", "no-data-in-redacted", "half-surrogate"),
        *("no-container", "unknown-tool", "many-marks", "mark-on-empty-text"),
        "null-caller",
    ),
    "bedrock-messages": (*_CLAUDE, "same-role"),
    "deepseek-messages": ("no-reasoning-with-calls",),
    "openai": (*_OPENAI, "id-of-40"),
    "deepseek": (
        *(*_PAIRS, "content-is-missing", "content-is-a-list"),
        *("no-reasoning-with-calls",),
    ),
    "dashscope": (*_PAIRS, "arguments"),
    "kimi": (*_PAIRS, "no-reasoning-with-calls", "empty-turn"),
    "minimax": (*_PAIRS, "arguments"),
    "zai": ("no-user",),
    "mistral": (
        *("result-without-call", "other-number-of-results", "id-twice-in-a-turn"),
        *("id-of-9", "name-of-64", "user-after-results", "models-turn-last"),
        "members-of-chat",
    ),
    "groq": ("members-of-chat", "models-content-is-a-list", "any-null-in-a-message"),
    "cerebras": ("members-of-cerebras",),
    "fireworks": ("members-of-fireworks",),
    "xai": ("empty-list",),
    "perplexity": ("same-role",),
    "gemini-chat": ("no-call-signature",),
    "litellm-gemini": ("result-without-call",),
    "llama.cpp": (*_LOCAL, "neither-content-nor-calls", "arguments", "id-of-null"),
    "lm-studio-qwen": ("no-user", "system-later"),
    "vllm-gemma": ("same-role",),
    "sglang": ("arguments",),
    "ollama": ("arguments",),
    "responses": _ITEMS,
    "azure-responses": _ITEMS,
    "xai-responses": ("no-summary",),
    "deepseek-responses": ("call-without-result", "no-queries"),
    "llama.cpp-responses": ("empty-reasoning",),
    "gemini": (
        *("no-call-signature", "signature", "other-number-of-results", "no-name"),
        *("call-behind-a-models-turn", "result-without-call", "models-turn-last"),
        *("empty-turn", "no-data", "role"),
    ),
    "bedrock": (*_BEDROCK, "no-signature", "signature"),
    "bedrock-nova": (*_BEDROCK, "text-beside-results"),
    "bedrock-deepseek": (*_BEDROCK, "reasoning-content"),
}
"""A server -> what it refuses."""


def objections(server: str, wire: str, body: Json) -> list[str]:
    """The parts of a body that this server refuses."""
    return [name for name in SERVERS[server] if CHECKS[name](wire, body)]
