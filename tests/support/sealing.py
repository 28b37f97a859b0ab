"""A provider that seals: a signature is a hash of all that it is bound to.

`seal` signs a thinking block of an answer, `misfits` says why a request is refused. A
request is read as Messages (Anthropic, Bedrock, Vertex, Foundry), as Bedrock Converse,
or as Chat Completions of a router, whose messages hold the blocks as
``thinking_blocks`` or ``reasoning_details``. Nothing of the package is used.

What a provider normalises is in the hash as one: a text is a list with one block, turns
of one role in a row are one turn, marks of the cache count for nothing. What it refuses
is not in the hash, because it was never sealed: unsigned thinking, blank text, members
of null.

`state` and `foreign` do the same for encrypted state that only its maker can read.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

Json = Any

BETA = "thinking-binding-controls-2026-08-01"
INVALID = "Invalid signature in thinking block. The block is bound to a different"
"""The beginning of the refusal, which goes on with the conversation and a path."""
EXTRA = "thinking.block_binding: Extra inputs are not permitted"
REQUIRED = "thinking.signature: Field required"

_FIELDS = "additionalModelRequestFields"
_STATES = ("thinking_blocks", "reasoning_details")
_SAID_BY_DEFAULT = {"is_error": False, "status": "success"}
_NO_BLOCKS = ("cachePoint",)


def binds(model: str | None) -> bool:
    """Whether the models of this name bind their thinking: Claude from 5.1 on."""
    found = re.search(r"claude-[a-z]+-(\d+)(?:[.-](\d{1,2})(?!\d))?", model or "", re.I)
    if found is None:
        return False
    return (int(found[1]), int(found[2] or 0)) >= (5, 1)


def seal(wire: str, body: Json, before: Iterable[Json] = ()) -> str:
    """The signature of the next thinking block in the answer to ``body``. ``before``:
    the blocks of this answer that come before it, as Messages has them."""
    made = [new for part in before if (new := _block(part)) is not None]
    return _hash(body, _turns(wire, body["messages"]), _in_order(wire, made))


def seal_all(wire: str, body: Json) -> None:
    """Signs each thinking block of a request as if the provider had made it there. On
    Chat Completions each message's blocks come before its text."""
    for messages, states, texts in _answers(wire, body):
        for number, thought in _signed(states):
            before = _blocks(states[:number] + (texts if number else []))
            turns = _turns(wire, messages)
            thought["signature"] = _hash(body, turns, _in_order(wire, before))


def misfits(
    wire: str,
    body: Json,
    headers: Json = None,
    *,
    server: str = "anthropic",
    model: str | None = None,
) -> list[str]:
    """Why the provider refuses the seals of a request; empty if it accepts them.

    ``server`` ``bedrock`` reads the beta from the body, any other from the headers.
    ``model``: the model that the request is for, if its body names none.
    """
    named = model or body.get("model") or body.get("modelId")
    asks = _asks(wire, body, headers or {}, server)
    if asks is None or (asks and not binds(named)):
        return [EXTRA]
    said = [REQUIRED] * (binds(named) and any(_unsigned(wire, body)))
    unfit = [] if asks or not binds(named) else unfit_places(wire, body)
    return said + [f"{INVALID} conversation: {each}" for each in unfit]


def _asks(wire: str, body: Json, headers: Json, server: str) -> bool | None:
    """Whether the server is asked to drop what does not fit; None if it does not know
    the question."""
    fields = body.get(_FIELDS) if wire == "bedrock-converse" else body
    thinking = fields.get("thinking") if isinstance(fields, dict) else None
    binding = thinking.get("block_binding") if isinstance(thinking, dict) else None
    if binding is None:
        return False
    if server == "bedrock" or wire == "bedrock-converse":
        betas = fields.get("anthropic_beta") or []
    else:
        said = [v for n, v in headers.items() if n.lower() == "anthropic-beta"]
        betas = [each.strip() for value in said for each in str(value).split(",")]
    if BETA not in betas or wire == "openai-chat":
        return None
    return bool(binding.get("prefix_mismatch_behavior") == "drop_block")


def unfit_places(wire: str, body: Json) -> list[str]:
    """The places of the signatures that do not fit: ``messages.1.content.0``."""
    return [
        f"messages.{len(messages)}.{'content' if wire != 'openai-chat' else name}.{n}"
        for messages, states, texts in _answers(wire, body)
        for n, thought in _thoughts(states)
        for name in [_name(body["messages"][len(messages)])]
        if not _fits(wire, body, messages, states[:n], texts, thought)
    ]


def seals_of(wire: str, body: Json) -> list[str]:
    """The signatures of a request, in order."""
    answers = _answers(wire, body)
    all = (thought for _, states, _ in answers for _, thought in _thoughts(states))
    return [thought["signature"] for thought in all]


def _fits(
    wire: str, body: Json, messages: Json, states: Json, texts: Json, thought: Json
) -> bool:
    turns = _turns(wire, messages)
    whole = "".join(part["text"] for part in texts)
    ends = range(len(whole) + 1 if states else 1)
    said = ([{"text": whole[:end]}] if end else [] for end in ends)
    fitting = (_hash(body, turns, _in_order(wire, _blocks(states + s))) for s in said)
    return thought["signature"] in fitting


# What is sealed


def _answers(wire: str, body: Json) -> Iterator[tuple[Json, Json, Json]]:
    """Each message of the model: the messages before it, the blocks among which its
    signed ones are, and on Chat Completions its text, which may stand between them."""
    for number, message in enumerate(body["messages"]):
        if message.get("role") != "assistant":
            continue
        before, content = body["messages"][:number], message.get("content")
        if wire == "openai-chat":
            said = [{"text": content}] if isinstance(content, str) else content or []
            yield before, message.get(_name(message)) or [], said
        else:
            yield before, content if isinstance(content, list) else [], []


def _name(message: Json) -> str:
    return next((name for name in _STATES if message.get(name)), _STATES[0])


def _thoughts(blocks: Json) -> Iterable[tuple[int, Json]]:
    """The objects with a signature, each with the place of its block."""
    return ((n, thought) for n, thought in _signed(blocks) if thought["signature"])


def _signed(blocks: Json) -> Iterator[tuple[int, Json]]:
    """As `_thoughts`, also with signatures that are to be made."""
    for number, part in enumerate(blocks):
        thought = _thought(part)
        if thought is not None and "signature" in thought:
            yield number, thought


def _thought(part: Json) -> Json:
    inner = part.get("reasoningContent")
    if inner is not None:
        return inner.get("reasoningText")
    return part if part.get("type") in ("thinking", "reasoning.text") else None


def _unsigned(wire: str, body: Json) -> Iterator[bool]:
    """Whether each thinking block has no signature. Routers leave such
    ``reasoning_details`` out."""
    for _, states, _ in _answers(wire, body):
        for part in states:
            thought = _thought(part)
            if thought is not None and part.get("type") != "reasoning.text":
                yield not thought.get("signature")


def _hash(body: Json, turns: Json, before: Json) -> str:
    config = body.get("toolConfig") or {}
    tools = [_plain(tool) for tool in body.get("tools") or config.get("tools") or []]
    bound = [_blocks(_content(body.get("system"))), tools, turns, before]
    text = json.dumps(bound, sort_keys=True)
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _turns(wire: str, messages: Json) -> Json:
    """The messages as turns of blocks. Neighbours of one role are one turn."""
    said = [(role, part) for m in messages for role, part in _parts(wire, m)]
    return [
        [role, [part for _, part in same]]
        for role, same in groupby(said, lambda each: each[0])
    ]


def _parts(wire: str, message: Json) -> Iterator[tuple[str, Json]]:
    role, content = message["role"], _content(message.get("content"))
    if wire == "openai-chat" and role == "tool":
        answer = {"tool_use_id": message.get("tool_call_id"), "content": content}
        content, role = [{"type": "tool_result", **answer}], "user"
    if wire == "openai-chat" and role == "assistant":
        content = [
            *(message.get(_name(message)) or []),
            *content,
            *(message.get("tool_calls") or []),
        ]
    for block in _blocks(content):
        yield role, block


def _content(content: Json) -> Json:
    return [{"text": content}] if isinstance(content, str) else content or []


def _blocks(parts: Json) -> Json:
    return [new for part in parts if (new := _block(part)) is not None]


def _block(part: Json) -> Json:
    """A block in the spelling that all wires have here; None for one that cannot have
    been sealed."""
    thought = _thought(part)
    if thought is not None:
        if not thought.get("signature"):
            return None
        text = thought.get("thinking", thought.get("text", ""))
        return ["thinking", text, thought["signature"]]
    if isinstance(part.get("text"), str):
        return ["text", part["text"]] if part["text"].strip() else None
    if part.keys() & set(_NO_BLOCKS):
        return None
    inner = part.get("toolUse") or part.get("toolResult") or part
    plain = _plain(inner)
    if "content" in plain:
        plain["content"] = _blocks(_content(plain["content"]))
    return ["other", plain]


def _plain(members: Json) -> Json:
    """The members without marks of the cache, nulls and what is said by default."""
    return {
        name: value
        for name, value in members.items()
        if value is not None
        and name != "cache_control"
        and _SAID_BY_DEFAULT.get(name, ...) != value
    }


def _in_order(wire: str, blocks: Json) -> Json:
    """The earlier blocks of an answer. In Chat Completions thinking comes first, and
    all text is one."""
    if wire != "openai-chat":
        return blocks
    thoughts = [block for block in blocks if block[0] == "thinking"]
    text = "".join(block[1] for block in blocks if block[0] == "text")
    return [*thoughts, ["text", text]] if text else thoughts


# State that only its maker can read


def state(maker: str, of: str) -> str:
    """Encrypted content that ``maker`` issues."""
    return base64.b64encode(f"{maker}:{of}".encode()).decode()


def foreign(maker: str, body: Json) -> list[str]:
    """The encrypted state in a request, wherever it stands, that another maker issued
    than ``maker``, which is asked."""
    return [
        f"The encrypted content for {maker} could not be verified: {issuer}"
        for issuer in _issuers(body)
        if issuer != maker
    ]


def _issuers(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        for name in ("encrypted_content", "data", "signature"):
            if isinstance(value.get(name), str):
                yield from _issuer(value[name])
    inner = value.values() if isinstance(value, dict) else value
    for each in inner if isinstance(value, dict | list) else ():
        yield from _issuers(each)


def _issuer(text: str) -> Iterator[str]:
    try:
        said = base64.b64decode(text, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return
    maker, colon, _ = said.partition(":")
    if colon:
        yield maker
