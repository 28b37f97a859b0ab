"""Conversations with a provider that seals (`sealing`), on every wire that can.

An answer is a list of blocks as Messages has them. `documents` streams it on the wire
on which a provider sends it, `body_of` sends it whole, `turn_of` is the turn that a
host stores of it, `folded` the turn that a host makes of emitted documents.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from attrs import frozen
from sealing import seal

Json = Any

CITY = '{"city": "Bonn", "degrees": 21}'
"""What the tool says."""


@frozen
class Lane:
    """How a host reaches a model: ``wire`` is that of its requests, ``source`` that of
    the answers; ``states`` the field of Chat Completions with the blocks; ``server``
    says where a beta is read (`sealing.misfits`)."""

    name: str
    wire: str
    provider: str
    model: str
    source: str
    server: str = "anthropic"
    states: str = "thinking_blocks"


_SONNET = "us.anthropic.claude-sonnet-5-5-20260901-v1:0"
_OPUS = "anthropic/claude-opus-5.5"
_CHAT, _CONVERSE = "openai-chat", "bedrock-converse"

LANES = [
    Lane("anthropic", "anthropic", "anthropic", "claude-opus-5-5", "anthropic"),
    Lane("vertex", "anthropic", "vertex", "claude-fable-5-1@20260901", "anthropic"),
    Lane("foundry", "anthropic", "azure", "claude-haiku-5-5", "anthropic"),
    Lane("bedrock", "anthropic", "amazon-bedrock", _SONNET, "anthropic", "bedrock"),
    Lane("mixed", "anthropic", "bedrock", _SONNET, _CONVERSE, "bedrock"),
    Lane("converse", _CONVERSE, "bedrock", _SONNET, _CONVERSE, "bedrock"),
    Lane("litellm", _CHAT, "litellm", _OPUS, _CHAT),
    Lane("openrouter", _CHAT, "openrouter", _OPUS, _CHAT, states="reasoning_details"),
    Lane("proxied", _CHAT, "litellm", _SONNET, _CONVERSE),
]


def body_before(lane: Lane, messages: list[Json], **more: Json) -> Json:
    """A request of a host with these messages."""
    thinking = {"type": "adaptive"}
    if lane.wire == _CONVERSE:
        specs = [{"toolSpec": {"name": "weather", "inputSchema": {"json": {}}}}]
        fields = {"thinking": thinking} | more
        return {
            "modelId": lane.model,
            "system": [{"text": "Be brief."}],
            "toolConfig": {"tools": specs},
            "messages": messages,
            "additionalModelRequestFields": fields,
        }
    body = {"model": lane.model, "max_tokens": 9, "messages": messages}
    if lane.wire == _CHAT:
        function = {"name": "weather", "parameters": {"type": "object"}}
        tools = [{"type": "function", "function": function}]
        return body | {"tools": tools} | more
    tools = [{"name": "weather", "input_schema": {"type": "object"}}]
    return body | {"system": "Be brief.", "tools": tools, "thinking": thinking} | more


def answered(lane: Lane, sent: Json, blocks: list[Json]) -> list[Json]:
    """The blocks of the answer to ``sent``, as the provider seals them."""
    done: list[Json] = []
    for block in blocks:
        new = dict(block)
        if block["type"] == "thinking":
            new["signature"] = seal(lane.wire, sent, done)
        done.append(new)
    return done


def user_of(lane: Lane, text: str) -> Json:
    is_parts = lane.wire == _CONVERSE
    return {"role": "user", "content": [{"text": text}] if is_parts else text}


def results_of(lane: Lane, turn: Json) -> list[Json]:
    """The results of the calls of a turn, as messages."""
    ids = [*_called(lane, turn)]
    if not ids:
        return []
    if lane.wire == _CHAT:
        return [{"role": "tool", "tool_call_id": i, "content": CITY} for i in ids]
    if lane.wire == _CONVERSE:
        said = [{"text": CITY}]
        content = [{"toolResult": {"toolUseId": i, "content": said}} for i in ids]
    else:
        name = "tool_result"
        content = [{"type": name, "tool_use_id": i, "content": CITY} for i in ids]
    return [{"role": "user", "content": content}]


def _called(lane: Lane, turn: Json) -> Iterator[str]:
    """The ids of the calls of a turn."""
    if lane.wire == _CHAT:
        yield from (call["id"] for call in turn.get("tool_calls", ()))
        return
    for block in turn["content"]:
        call = block.get("toolUse", block)
        if "toolUseId" in call or block.get("type") == "tool_use":
            yield call.get("toolUseId") or call["id"]


# As a host stores it


def turn_of(lane: Lane, blocks: list[Json]) -> Json:
    if lane.wire == _CONVERSE:
        content = [_converse_block(block) for block in blocks]
        return {"role": "assistant", "content": content}
    if lane.wire != _CHAT:
        return {"role": "assistant", "content": blocks}
    texts = [block["text"] for block in blocks if block["type"] == "text"]
    turn: Json = {"role": "assistant", "content": "".join(texts) or None}
    states = [new for block in blocks for new in _states(lane, block)]
    calls = [_chat_call(block) for block in blocks if block["type"] == "tool_use"]
    turn |= {lane.states: states} if states else {}
    return turn | ({"tool_calls": calls} if calls else {})


def _converse_block(block: Json) -> Json:
    if block["type"] == "text":
        return {"text": block["text"]}
    if block["type"] == "tool_use":
        call = {"toolUseId": block["id"], "name": block["name"]}
        return {"toolUse": call | {"input": block["input"]}}
    if block["type"] == "redacted_thinking":
        return {"reasoningContent": {"redactedContent": block["data"]}}
    text = {"text": block["thinking"], "signature": block["signature"]}
    return {"reasoningContent": {"reasoningText": text}}


def _states(lane: Lane, block: Json) -> Iterator[Json]:
    if block["type"] not in ("thinking", "redacted_thinking"):
        return
    if lane.states == "thinking_blocks":
        yield block
    elif block["type"] == "thinking":
        state = {"type": "reasoning.text", "text": block["thinking"]}
        state |= {"signature": block["signature"], "format": "anthropic-claude-v1"}
        yield state
    else:
        kind = {"type": "reasoning.encrypted", "format": "anthropic-claude-v1"}
        yield kind | {"data": block["data"]}


def _chat_call(block: Json) -> Json:
    function = {"name": block["name"], "arguments": json.dumps(block["input"])}
    return {"id": block["id"], "type": "function", "function": function}


# As a provider sends it


def documents(lane: Lane, blocks: list[Json], pieces: int = 2) -> list[Json]:
    """The answer as a stream whose texts come in slices of ``pieces`` characters."""
    return [*_STREAMED[lane.source](lane, blocks, pieces)]


def _messages(lane: Lane, blocks: list[Json], pieces: int) -> Iterator[Json]:
    yield {"type": "message_start", "message": {**_envelope(lane), "content": []}}
    for index, block in enumerate(blocks):
        kind, at = block["type"], {"index": index}
        start, deltas = dict(block), []
        if kind == "tool_use":
            start["input"] = {}
            said = json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": said}]
        elif kind in ("text", "thinking"):
            start |= {kind: "", "signature": ""} if kind == "thinking" else {kind: ""}
            deltas = [
                {"type": f"{kind}_delta", kind: each}
                for each in _cut(block[kind], pieces)
            ]
        if kind == "thinking":
            sign = {"type": "signature_delta", "signature": block["signature"]}
            deltas.append(sign)
        yield {"type": "content_block_start", **at, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", **at, "delta": delta}
        yield {"type": "content_block_stop", **at}
    end = {"stop_reason": _stop(blocks), "stop_sequence": None}
    usage = {"input_tokens": 1, "output_tokens": 1}
    yield {"type": "message_delta", "delta": end, "usage": usage}
    yield {"type": "message_stop"}


def _converse(lane: Lane, blocks: list[Json], pieces: int) -> Iterator[Json]:
    yield {"messageStart": {"role": "assistant"}}
    for index, block in enumerate(blocks):
        whole, at = _converse_block(block), {"contentBlockIndex": index}
        deltas: list[Json] = [whole]
        if block["type"] == "text":
            deltas = [{"text": each} for each in _cut(block["text"], pieces)]
        elif block["type"] == "thinking":
            said = _cut(block["thinking"], pieces)
            deltas = [{"reasoningContent": {"text": each}} for each in said]
            sign = {"signature": block["signature"]}
            deltas.append({"reasoningContent": sign})
        elif block["type"] == "tool_use":
            call = {"toolUseId": block["id"], "name": block["name"]}
            yield {"contentBlockStart": {**at, "start": {"toolUse": call}}}
            deltas = [{"toolUse": {"input": json.dumps(block["input"])}}]
        for delta in deltas:
            yield {"contentBlockDelta": {**at, "delta": delta}}
        yield {"contentBlockStop": at}
    yield {"messageStop": {"stopReason": _stop(blocks)}}
    yield {"metadata": {"usage": {"inputTokens": 1, "outputTokens": 1}}}


def _chunks(lane: Lane, blocks: list[Json], pieces: int) -> Iterator[Json]:
    yield _chunk(lane, {"role": "assistant", "content": ""})
    calls = 0
    for place, block in enumerate(blocks):
        if block["type"] == "text":
            for each in _cut(block["text"], pieces):
                yield _chunk(lane, {"content": each})
        elif block["type"] == "tool_use":
            call = {"index": calls, **_chat_call(block)}
            calls += 1
            yield _chunk(lane, {"tool_calls": [call]})
        for state in _states(lane, block):
            text = block.get("thinking", "")
            delta = {"reasoning_content": text} if text else {}
            yield _chunk(lane, {**delta, lane.states: [{"index": place, **state}]})
    reason = "tool_calls" if calls else "stop"
    yield _chunk(lane, {}, reason)


_STREAMED = {"anthropic": _messages, _CONVERSE: _converse, _CHAT: _chunks}


def body_of(lane: Lane, blocks: list[Json]) -> Json:
    """The answer as one document."""
    if lane.source == "anthropic":
        return {**_envelope(lane), "content": blocks, "stop_reason": _stop(blocks)}
    as_source = Lane("", lane.source, "", lane.model, lane.source, states=lane.states)
    turn = turn_of(as_source, blocks)
    if lane.source == _CONVERSE:
        usage = {"inputTokens": 1, "outputTokens": 1}
        output = {"output": {"message": turn}, "usage": usage}
        return output | {"stopReason": _stop(blocks)}
    reason = "tool_calls" if "tool_calls" in turn else "stop"
    choice = {"index": 0, "message": turn, "finish_reason": reason}
    return {**_head(lane), "object": "chat.completion", "choices": [choice]}


def _cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def _stop(blocks: list[Json]) -> str:
    return "tool_use" if blocks[-1]["type"] == "tool_use" else "end_turn"


def _envelope(lane: Lane) -> Json:
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": lane.model}
    usage = {"input_tokens": 1, "output_tokens": 1}
    return {**head, "stop_reason": None, "stop_sequence": None, "usage": usage}


def _head(lane: Lane) -> Json:
    return {"id": "gen-1", "created": 1, "model": lane.model}


def _chunk(lane: Lane, delta: Json, reason: str | None = None) -> Json:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {**_head(lane), "object": "chat.completion.chunk", "choices": [choice]}


# As a host reads what was emitted


def folded(lane: Lane, chunks: list[Json]) -> Json:
    """The turn of the documents of a stream, as SDKs make it."""
    return (_chat_turn if lane.wire == _CHAT else _blocks_turn)(chunks)


def turn_in(lane: Lane, body: Json) -> Json:
    """The turn in a whole document."""
    if lane.wire != _CHAT:
        return {"role": "assistant", "content": body["content"]}
    message = body["choices"][0]["message"]
    return {name: value for name, value in message.items() if name != "refusal"}


def _blocks_turn(chunks: list[Json]) -> Json:
    blocks: list[Json] = []
    said: dict[int, str] = {}
    for chunk in chunks:
        delta = chunk.get("delta", {})
        if chunk["type"] == "content_block_start":
            assert chunk["index"] == len(blocks)
            blocks.append(dict(chunk["content_block"]))
        elif delta.get("type") == "input_json_delta":
            index = chunk["index"]
            said[index] = said.get(index, "") + delta["partial_json"]
            blocks[index]["input"] = json.loads(said[index] or "{}")
        elif chunk["type"] == "content_block_delta":
            (name,) = delta.keys() - {"type"}
            block = blocks[chunk["index"]]
            block[name] = block.get(name, "") + delta[name]
    for block in blocks:
        if block.get("signature") == "":
            del block["signature"]
    return {"role": "assistant", "content": blocks}


def _chat_turn(chunks: list[Json]) -> Json:
    turn: Json = {"role": "assistant", "content": None}
    calls: dict[int, Json] = {}
    for chunk in (each for each in chunks if each != "[DONE]"):
        for delta in (choice["delta"] for choice in chunk["choices"]):
            for name in ("content", "reasoning_content"):
                if delta.get(name):
                    turn[name] = (turn.get(name) or "") + delta[name]
            for name in ("thinking_blocks", "reasoning_details"):
                states = [_unnumbered(each) for each in delta.get(name) or ()]
                if states:
                    turn[name] = turn.get(name, []) + states
            for call in delta.get("tool_calls") or ():
                _add_call(calls, call)
    return turn | ({"tool_calls": [*calls.values()]} if calls else {})


def _unnumbered(state: Json) -> Json:
    return {name: value for name, value in state.items() if name != "index"}


def _add_call(calls: dict[int, Json], call: Json) -> None:
    known = calls.get(call["index"])
    if known is None:
        calls[call["index"]] = _unnumbered(call)
    else:
        said = known["function"]["arguments"] + call["function"]["arguments"]
        known["function"] = {**known["function"], "arguments": said}
