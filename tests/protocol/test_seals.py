"""Signed thinking that is bound to the conversation before it.

The server seals each thinking block with a hash of what stands before it, and refuses a
request in which a signature does not fit, as `sealing.misfits` says.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from sealing import foreign, misfits, seal_all, state

from stream_sidecar.api import Stream, as_json, normalize, prepare, render, repair
from stream_sidecar.wires.anthropic.writer import AnthropicWriter
from stream_sidecar.wires.requests.seals import BETA, binding_of

Json = Any

LEAK = "<think>So.</think>Four."


@pytest.mark.parametrize(
    ("model", "is_bound"),
    [
        ("claude-opus-5-5", True),
        ("anthropic/claude-fable-5.1", True),
        ("us.anthropic.claude-sonnet-5-5-20260901-v1:0", True),
        ("claude-haiku-5-5@20260901", True),
        ("claude-mythos-6", True),
        ("Claude-Opus-5.5:beta", True),
        ("claude-opus-5-20260901", False),
        ("claude-opus-5-1m", False),
        ("claude-opus-5.5-200k", True),
        ("claude-sonnet-4-5-20250929", False),
        ("claude-3-7-sonnet-latest", False),
        ("gpt-6", False),
        ("", False),
        (None, False),
    ],
)
def test_a_model_binds_from_a_version_on(model: str | None, is_bound: bool) -> None:
    assert (binding_of(model) is not None) == is_bound


def _body(texts: list[list[str]]) -> Json:
    messages: list[Json] = []
    for turn in texts:
        messages.append({"role": "user", "content": "2 + 2?"})
        blocks: list[Json] = []
        for text in turn:
            blocks.append({"type": "thinking", "thinking": "Hm", "signature": ""})
            blocks.append({"type": "text", "text": text})
        messages.append({"role": "assistant", "content": blocks})
    messages.append({"role": "user", "content": "Sure?"})
    body = {
        "model": "claude-opus-5-5",
        "max_tokens": 9,
        "thinking": {"type": "adaptive"},
        "messages": messages,
    }
    seal_all("anthropic", body)
    return body


TURNS = some.lists(
    some.lists(some.sampled_from([LEAK, "Four."]), min_size=1, max_size=2),
    min_size=1,
    max_size=6,
)


@given(TURNS, some.booleans())
def test_no_edit_makes_a_provider_refuse(turns: list[list[str]], given: bool) -> None:
    body = _body(turns)
    was = copy.deepcopy(body)
    headers = {"Anthropic-Beta": "mine"} if given else None
    result = prepare(body, "anthropic", provider="anthropic", headers=headers)

    assert body == was
    assert not misfits("anthropic", body, headers or {})
    now = result.body or body
    assert not misfits("anthropic", now, {**(headers or {}), **(result.headers or {})})
    if LEAK not in [text for turn in turns for text in turn]:
        assert (result.changed, result.lost, result.headers) == (False, [], None)


@pytest.mark.parametrize(
    "provider", ["anthropic", "api.anthropic.com", "google-vertex", "Azure"]
)
def test_the_beta_is_added_to_the_hosts_own(provider: str) -> None:
    headers = {"Anthropic-Beta": "mine"}
    body = _body([[LEAK], ["Four."]])
    result = prepare(body, "anthropic", provider=provider, headers=headers)

    assert result.headers == {"Anthropic-Beta": f"mine,{BETA}"}
    assert result.lost == []


@pytest.mark.parametrize(
    "provider", ["bedrock", "Amazon-Bedrock", "bedrock-runtime.us-east-1.amazonaws.com"]
)
def test_on_bedrock_the_beta_stands_in_the_body(provider: str) -> None:
    body = _body([[LEAK], ["Four."]])
    body["anthropic_beta"] = ["mine"]
    result = prepare(body, "anthropic", provider=provider)

    assert result.headers is None
    assert (result.body or {})["anthropic_beta"] == ["mine", BETA]


def test_another_value_of_the_host_stays() -> None:
    body = _body([[LEAK], ["Four."]])
    behavior = {"prefix_mismatch_behavior": "error"}
    body["thinking"]["block_binding"] = behavior
    result = prepare(body, "anthropic", provider="anthropic", headers={})

    assert (result.body or {})["thinking"]["block_binding"] == behavior
    assert [each.path for each in result.lost] == ["/messages/3/content/0"]


def test_thinking_that_the_body_demands_is_bound() -> None:
    body = _body([[LEAK], ["Four."]])
    body["thinking"] = {"type": "enabled", "budget_tokens": 1024}
    call = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}
    body["messages"][3]["content"].append(call)
    answer = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}
    body["messages"][4]["content"] = [answer]
    result = prepare(body, "anthropic", provider="anthropic")

    assert (result.changed, [each.what for each in result.lost]) == (False, ["bound"])


@pytest.mark.parametrize("wire", ["bedrock-converse", "openai-chat"])
def test_an_open_loop_demands_its_thinking_on_every_wire(wire: str) -> None:
    """Where the provider cannot be asked, because it is to refuse, or has no field."""
    thinking = {"type": "enabled", "block_binding": {"prefix_mismatch_behavior": "x"}}
    body: Json = {"model": "claude-opus-5-5", "messages": []}
    call: Json = {"id": "a", "type": "function", "function": {"name": "f"}}
    thought: Json = {"type": "thinking", "thinking": "Hm", "signature": "c2ln"}
    turn: Json = {"thinking_blocks": [thought], "content": None, "tool_calls": [call]}
    answer: Json = {"role": "tool", "tool_call_id": "a", "content": "x"}
    leak: Json = LEAK
    if wire == "openai-chat":
        body["thinking"] = thinking
    else:
        body["additionalModelRequestFields"] = {"thinking": thinking}
        text = {"text": "Hm", "signature": "c2ln"}
        call = {"toolUseId": "a", "name": "f", "input": {}}
        said: Json = {"reasoningContent": {"reasoningText": text}}
        turn = {"content": [said, {"toolUse": call}]}
        result = {"toolUseId": "a", "content": [{"text": "x"}]}
        answer = {"role": "user", "content": [{"toolResult": result}]}
        leak = [{"text": LEAK}]
    user = {"role": "user", "content": [{"text": "Go."}]}
    said = {"role": "assistant", "content": leak}
    turn |= {"role": "assistant"}
    body["messages"] = [user, said, user, turn, answer]
    result = prepare(body, wire, provider="bedrock")
    assert (result.changed, [each.what for each in result.lost]) == (False, ["bound"])

    body["messages"] = [user, said, user, turn, answer, turn, user]
    assert prepare(body, wire, provider="bedrock").changed


@pytest.mark.parametrize("thinking", [None, {"type": "disabled"}, 7, {}, {"type": 7}])
@pytest.mark.parametrize("binding", [None, 7, [], {}, {"prefix_mismatch_behavior": 7}])
def test_nothing_is_asked_where_the_body_has_no_thinking(
    thinking: Json, binding: Json
) -> None:
    body = _body([[LEAK], ["Four."]])
    given = isinstance(thinking, dict) and binding is not None
    body["thinking"] = {**thinking, "block_binding": binding} if given else thinking
    is_on = isinstance(thinking, dict) and thinking.get("type") == 7
    is_asked = is_on and not (binding or {} if isinstance(binding, dict) else binding)
    result = prepare(body, "anthropic", provider="anthropic", headers={})
    new = result.body or {}

    assert (result.headers is not None) == is_asked
    assert bool(result.lost) != is_asked
    assert len(new["messages"][3]["content"]) == 1 + is_asked
    assert is_asked or new["thinking"] == body["thinking"]


def test_a_signature_that_is_no_base64_breaks_nothing() -> None:
    body = _body([["Four."], ["Four."]])
    body["messages"][1]["content"][0]["signature"] = "no base64!"
    result = prepare(body, "anthropic", provider="anthropic", headers={})

    assert (result.headers, len(result.lost)) == (None, 1)
    assert (result.body or {})["messages"][3] == body["messages"][3]


def test_text_that_only_the_request_shows_to_be_a_result_stays() -> None:
    """``emit`` did not know the result, so what came later was sealed with the text."""
    said = '{"degrees": 21, "city": "Bonn"}'
    body = _body([[said + "Warm."], ["Four."]])
    call = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": said}
    user = body["messages"][0]
    loop = [{"role": "assistant", "content": [call]}, {"role": "user"}]
    loop[1]["content"] = [result]
    body["messages"][:0] = [user, *loop]
    about: Json = {"provider": "anthropic", "headers": {}}
    assert not prepare(body, "anthropic", **about).changed

    policy: Json = {"toolResults": {"known": [json.loads(said)]}}
    assert prepare(body, "anthropic", **about, policy=policy).headers
    assert prepare(body, "anthropic", **about, model="claude-opus-4-6").changed


@pytest.mark.parametrize("value", [["a", "b"], None, 7, ""])
def test_odd_headers_raise_nothing(value: Json) -> None:
    body = _body([[LEAK], ["Four."]])
    headers = {"ANTHROPIC-BETA": value}
    result = prepare(body, "anthropic", provider="anthropic", headers=headers)

    assert (result.headers or {})["ANTHROPIC-BETA"].endswith(BETA)


def test_a_model_that_binds_nothing_keeps_its_seals() -> None:
    body = _body([[LEAK], ["Four."]]) | {"model": "claude-opus-5-20260901"}
    result = prepare(body, "anthropic", provider="anthropic", headers={})

    assert (result.lost, result.headers) == ([], None)
    assert (result.body or {})["messages"][3] == body["messages"][3]


def test_a_repair_leaves_text_that_a_seal_is_bound_to() -> None:
    body = _body([[LEAK], ["Four.", LEAK]])
    messages = body["messages"]
    results = repair(messages, model=body["model"]).results

    assert [bool(each.bound) for each in results] == [i == 1 for i in range(5)]
    assert [each.changed for each in results] == [False, False, False, True, False]
    free = repair(messages, model="claude-opus-5").results
    assert [each.changed for each in free] == [False, True, False, True, False]


@pytest.mark.parametrize(
    "named",
    [
        {"model": "claude-opus-5-5"},
        {"modelID": "claude-opus-5-5"},
        {"metadata": {"model": "claude-opus-5-5"}},
        {"response_metadata": {"model_name": "claude-opus-5-5"}},
    ],
)
def test_a_message_names_its_model_in_the_spelling_of_its_store(named: Json) -> None:
    messages = [each | named for each in _body([[LEAK], ["Four."]])["messages"]]
    results = repair(messages).results

    assert [bool(each.bound) for each in results] == [i == 1 for i in range(5)]


def _signed(body: Json, answer: Json) -> Json:
    """The answer to a request, as the provider signs it."""
    whole = copy.deepcopy(body)
    whole["messages"].append({"role": "assistant", "content": answer["content"]})
    seal_all("anthropic", whole)
    return {**answer, "content": whole["messages"][-1]["content"]}


def _answer(texts: list[str]) -> Json:
    content: list[Json] = []
    for number, text in enumerate(texts):
        thought = {"type": "thinking", "thinking": f"Hm {number}", "signature": ""}
        content += [thought, {"type": "text", "text": text}]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5-5",
        "content": content,
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _documents(answer: Json) -> list[Json]:
    """The answer as a stream."""
    documents = [{"type": "message_start", "message": {**answer, "content": []}}]
    for index, block in enumerate(answer["content"]):
        field = block["type"]
        start = {"type": field, field: ""}
        deltas = [{"type": f"{field}_delta", field: block[field]}]
        if field == "thinking":
            start["signature"] = ""
            sign = {"type": "signature_delta", "signature": block["signature"]}
            deltas.append(sign)
        at = {"index": index}
        documents += [
            {"type": "content_block_start", **at, "content_block": start},
            *({"type": "content_block_delta", **at, "delta": each} for each in deltas),
            {"type": "content_block_stop", **at},
        ]
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    usage = {"input_tokens": 1, "output_tokens": 1}
    return [
        *documents,
        {"type": "message_delta", "delta": end, "usage": usage},
        {"type": "message_stop"},
    ]


def _streamed(answer: Json, emit: Json) -> Json:
    """The content of the answer, which came and is emitted as a stream."""
    stream = Stream(wire="anthropic", provider="anthropic", emit=emit)
    chunks = [c for each in _documents(answer) for c in stream.push(each).chunks or ()]
    chunks += stream.close().chunks or []
    return AnthropicWriter.fold(chunks)["content"]


def _whole(answer: Json, emit: Json) -> Json:
    """The content of the answer, which came and is emitted as one document."""
    clean = normalize(answer, wire="anthropic", provider="anthropic", emit=emit)
    return (clean.body or {})["content"]


def _seals_of(content: Json) -> list[str]:
    return [block["signature"] for block in content if block.get("signature")]


@given(
    TURNS,
    some.sampled_from(["include", "auto"]),
    some.sampled_from([_whole, _streamed]),
)
def test_a_conversation_that_goes_through_us_is_never_refused(
    turns: list[list[str]], reasoning: str, way: Json
) -> None:
    body = _body([])
    for texts in turns:
        result = prepare(body, "anthropic", provider="anthropic", headers={})
        assert result.headers is None
        sent = result.body or body
        assert "block_binding" not in sent["thinking"]
        assert not misfits("anthropic", sent, {})
        answer = _signed(sent, _answer(texts))
        emit = {"wire": "anthropic", "reasoning": reasoning}
        content = way(answer, emit)
        leaks = [n for n, text in enumerate(texts) if text == LEAK]
        whole = leaks[0] + 1 if leaks else len(texts)
        assert _seals_of(content) == _seals_of(answer["content"])[:whole]
        body["messages"] += [
            {"role": "assistant", "content": content},
            {"role": "user", "content": "Sure?"},
        ]


@pytest.mark.parametrize("reasoning", ["include", "drop"])
def test_text_that_becomes_reasoning_breaks_the_seals_behind_it(reasoning: str) -> None:
    """A closer without an opener moves texts that stood between two thinkings."""
    answer = _signed(_body([]), _answer(["Hm.", "So.\n</think>\nFour."]))
    emit: Json = {"wire": "anthropic", "reasoning": reasoning}
    about: Json = {"wire": "anthropic", "provider": "anthropic"}
    whole = normalize(answer, **about, emit=emit)
    first = [answer["content"][0]["signature"]]
    assert _seals_of((whole.body or {})["content"]) == first

    stream = Stream(**about)
    list(stream.pipe(_documents(answer)))
    for message in (whole.message, stream.message):
        (turn,) = render(message, "anthropic", provider="anthropic").messages
        assert _seals_of(turn["content"]) == first
    # What was sent stays where it is, so as it was sent it is whole.
    assert len(_seals_of(_streamed(answer, emit))) == 2


@pytest.mark.parametrize("left", [[], [{"type": "text", "text": "Four."}]])
@pytest.mark.parametrize("wire", ["anthropic", "bedrock-converse"])
def test_unsigned_thinking_does_not_go_in_a_turn_that_paused(
    wire: str, left: Json
) -> None:
    """``emit`` took its signature, or found it in the text."""
    thought: Json = {"type": "thinking", "thinking": "Hm", "signature": ""}
    if wire != "anthropic":
        thought = {"reasoningContent": {"reasoningText": {"text": "Hm"}}}
    body = _body([])
    user = body["messages"]
    body["messages"] = [*user, {"role": "assistant", "content": [thought, *left]}]
    result = prepare(body, wire, provider="anthropic")

    turn = [{"role": "assistant", "content": left}] if left else []
    assert (result.body or {})["messages"] == user + turn
    assert result.lost[0].path == "/messages/1/content/0"


def test_a_call_in_text_is_not_promoted_where_the_model_pauses() -> None:
    """The host sends the turn back as it is, without a result of a call."""
    text = '<|tool_call>call:read{path:"a"}<tool_call|>'
    answer = _answer(["Four." + text])
    emit: Json = {"wire": "anthropic", "claims": "promote"}
    for stop, count in (("pause_turn", 0), ("end_turn", 1)):
        content = _whole(answer | {"stop_reason": stop}, emit)
        assert [b["type"] for b in content].count("tool_use") == count


def test_a_seal_behind_a_removal_is_broken_and_is_not_rendered() -> None:
    answer = _signed(_body([]), _answer([LEAK, "Four.", "Yes."]))
    message = normalize(answer, wire="anthropic").message
    blocks = [b for b in message.blocks or () if getattr(b, "signature", None)]
    assert [getattr(b, "seal_broken", 0) for b in blocks] == [None, True, True]

    rendered = render(
        json.loads(json.dumps(as_json(message))), "anthropic", provider="anthropic"
    )
    assert _seals_of(rendered.messages[0]["content"]) == [blocks[0].signature]
    lost = [(each.block, each.what) for each in rendered.lost]
    assert [(each.block, "reasoning") for each in blocks[1:]] == lost[-2:]


@pytest.mark.parametrize("field", ["thinking_blocks", "reasoning_details"])
@pytest.mark.parametrize("reasoning", ["include", "auto"])
def test_no_wire_emits_a_broken_seal(field: str, reasoning: str) -> None:
    def thought(number: int) -> Json:
        text, sign = f"Hm {number}", f"c2ln{number}AAA"
        if field == "thinking_blocks":
            block = {"type": "thinking", "thinking": text, "signature": sign}
        else:
            block = {"type": "reasoning.text", "text": text, "signature": sign}
            block |= {"format": "anthropic-claude-v1", "index": number}
        return {"reasoning_content": text, field: [block]}

    deltas = [thought(0), {"content": LEAK}, thought(1), {"content": "Sure."}]
    chunks: list[Json] = [
        {
            "id": "gen-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "anthropic/claude-opus-5.5",
            "choices": [{"index": 0, "delta": delta, "finish_reason": None}],
        }
        for delta in deltas
    ]
    emit = {"wire": "openai-chat", "reasoning": reasoning}
    stream = Stream(wire="openai-chat", emit=emit)
    sent = [each for chunk in chunks for each in stream.push(chunk).chunks or ()]
    sent += stream.close().chunks or []

    assert "c2ln0AAA" in str(sent)
    assert "c2ln1AAA" not in str(sent)
    assert ("Hm 1" in str(sent)) == (reasoning == "include")


@pytest.mark.parametrize(
    ("field", "inner"),
    [
        ("thinking_blocks", False),
        ("thinking_blocks", True),
        ("reasoning_details", False),
    ],
)
def test_state_passes_once_and_where_it_came(field: str, inner: bool) -> None:
    """After a removal, too; ``inner``: as LiteLLM's copy, in one chunk with text."""

    def chunk(number: int, **more: Json) -> Json:
        text, sign = f"Hm {number}", f"c2ln{number}AAA"
        block = {"type": "thinking", "thinking": text, "signature": sign}
        if field == "reasoning_details":
            block = {"type": "reasoning.text", "text": text, "signature": sign}
        state: Json = {field: [{**block, "index": number}]}
        delta = {"provider_specific_fields": state} if inner else state
        return _chat_chunk({**delta, **more})

    encrypted = {"type": "reasoning.encrypted", "data": "eA==", "index": 3}
    chunks = [
        *(chunk(0), _chat_chunk({"content": "Well. "})),
        *(chunk(1, content=LEAK), chunk(2, content="Sure.")),
        *(_chat_chunk({"reasoning_details": [encrypted]}), _chat_chunk({}, "stop")),
    ]
    emit = {"wire": "openai-chat", "reasoning": "include"}
    stream = Stream(wire="openai-chat", emit=emit)
    sent = [each for chunk in chunks for each in stream.push(chunk).chunks or ()]
    sent += stream.close().chunks or []

    counts = [str(sent).count(f"c2ln{number}AAA") for number in range(3)]
    assert counts == [1, 1, 0]
    assert str(sent).count("eA==") == 1
    order = [str(sent).index(each) for each in ("c2ln0AAA", "Well. ", "c2ln1AAA")]
    assert order == sorted(order)


def _chat_chunk(delta: Json, reason: str | None = None) -> Json:
    return {
        "id": "gen-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "anthropic/claude-opus-5.5",
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
    }


def test_a_whole_completion_keeps_its_first_thinking_after_a_removal() -> None:
    """It does not say which part of its text came before the second thinking."""
    blocks = [
        {"type": "thinking", "thinking": f"Hm {sign}", "signature": sign}
        for sign in ("c2ln", "c2lo")
    ]
    redacted = {"type": "redacted_thinking", "data": "eA=="}
    message = {"role": "assistant", "content": LEAK}
    message |= {"thinking_blocks": [blocks[0], redacted, blocks[1]]}
    body = {
        "object": "chat.completion",
        "model": "anthropic/claude-opus-5.5",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }
    emit = {"wire": "openai-chat", "reasoning": "include"}
    for model, left in (("claude-opus-5-5", 1), ("claude-opus-4-6", 2)):
        clean = normalize({**body, "model": model}, wire="openai-chat", emit=emit)
        new = (clean.body or {})["choices"][0]["message"]
        assert new["thinking_blocks"] == [blocks[0], redacted, blocks[1]][: left + 1]


def test_unsigned_thinking_blocks_do_not_go_to_claude() -> None:
    blocks: Json = [{"type": "thinking", "thinking": "Hm"}]
    signed = {"type": "thinking", "thinking": "Hm", "signature": "c2ln"}
    user = {"role": "user", "content": "2 + 2?"}
    for kept in ([], [signed]):
        turn = {"role": "assistant", "content": "4", "thinking_blocks": blocks + kept}
        body = {"model": "claude-opus-5-5", "messages": [user, turn, user]}
        result = prepare(body, "openai-chat", provider="litellm")
        now = (result.body or {})["messages"][1]
        assert now.get("thinking_blocks", []) == kept
        assert [each.path for each in result.lost] == ["/messages/1/thinking_blocks/0"]


REDACTED = {"type": "redacted_thinking", "data": "eA=="}
SPELLED = {
    "anthropic": REDACTED,
    "bedrock-converse": {"reasoningContent": {"redactedContent": "eA=="}},
    "openai-chat": REDACTED,
}


@pytest.mark.parametrize("to", SPELLED)
@pytest.mark.parametrize("source", SPELLED)
def test_redacted_thinking_goes_to_every_wire(source: str, to: str) -> None:
    """Left out, it breaks what is sealed after it."""
    content: Json = [SPELLED[source], {"text": "Four.", "type": "text"}]
    body: Json = {"type": "message", "model": "claude-opus-5-5", "content": content}
    if source == "bedrock-converse":
        content[1] = {"text": "Four."}
        body = {"output": {"message": {"role": "assistant", "content": content}}}
    elif source == "openai-chat":
        turn = {"content": "Four.", "thinking_blocks": [REDACTED]}
        body = {"model": "claude-opus-5-5", "choices": [{"index": 0, "message": turn}]}
    emit = {"wire": to} if to != "bedrock-converse" else None
    read = normalize(body, wire=source, model="claude-opus-5-5", emit=emit)
    assert emit is None or str(REDACTED["data"]) in str(read.body)

    message = json.loads(json.dumps(as_json(read.message)))
    server = "litellm" if to == "openai-chat" else "bedrock"
    rendered = render(message, to, provider=server, model="claude-opus-5-5")
    assert (str(SPELLED[to]) in str(rendered.messages), rendered.lost) == (True, [])


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_half_a_character_is_replaced_and_breaks_no_seal(role: str) -> None:
    body = _body([["Four."], ["Four."]])
    number = 0 if role == "user" else 1
    body["messages"][number] = {"role": role, "content": "4\ud83d"}
    body["metadata"] = {"a~/\ud83d": "\ud83d\ude00"}
    result = prepare(body, "anthropic", provider="anthropic", headers={})
    new = result.body or {}

    assert new["messages"][number]["content"] == "4\ufffd"
    assert new["metadata"] == {"a~/\ufffd": "\U0001f600"}
    assert new["messages"][3] == body["messages"][3]
    assert result.headers is None
    assert {each.path for each in result.lost} == {
        *(f"/messages/{number}/content", "/metadata", "/metadata/a~0~1\ud83d")
    }


DETAILS = [
    {"type": "reasoning.encrypted", "data": "eA==", "format": "xai-responses-v1"},
    {"type": "reasoning.text", "text": "Hm", "format": "google-gemini-v1"},
    {"type": "reasoning.summary", "summary": "Hm", "format": "unknown"},
    {"type": "reasoning.summary", "summary": "Hm"},
]


@pytest.mark.parametrize(
    ("model", "foreign"),
    [
        ("google/gemini-3-pro", [0]),
        ("x-ai/grok-4.5", [1]),
        ("anthropic/claude-opus-4.5", [0, 1]),
        ("openrouter/auto", []),
    ],
)
def test_state_of_another_maker_does_not_go(model: str, foreign: list[int]) -> None:
    turn = {"role": "assistant", "content": "4", "reasoning_details": DETAILS}
    user = {"role": "user", "content": "2 + 2?"}
    body = {"model": model, "messages": [user, turn, user]}
    result = prepare(body, "openai-chat", provider="openrouter")
    left = [each for n, each in enumerate(DETAILS) if n not in foreign]

    new = (result.body or body)["messages"][1]
    assert new["reasoning_details"] == left
    assert result.changed == bool(foreign)
    paths = [f"/messages/1/reasoning_details/{n}" for n in foreign]
    assert [each.path for each in result.lost] == paths

    opaque = {"reasoning_details": DETAILS}
    fields = ["reasoning_details"]
    thought = {"type": "reasoning", "block": 0, "text": "Hm", "source": "native"}
    message = {
        "blocks": [
            {**thought, "opaque": opaque, "fields": fields},
            {"type": "text", "block": 1, "text": "4"},
        ]
    }
    options = {"provider": "openrouter", "model": model}
    rendered = render(message, "openai-chat", **options)
    assert rendered.messages[0]["reasoning_details"] == left
    assert [each.block for each in rendered.lost] == [0] * bool(foreign)


MAKERS = {
    "anthropic": ("anthropic/claude-opus-5.5", "anthropic-claude-v1"),
    "openai": ("openai/gpt-5", "openai-responses-v1"),
    "google": ("google/gemini-3-pro", "google-gemini-v1"),
    "xai": ("x-ai/grok-4.5", "xai-responses-v1"),
}


@pytest.mark.parametrize("maker", MAKERS)
@given(some.lists(some.sampled_from(list(MAKERS)), min_size=1, max_size=6))
def test_a_session_that_changes_its_model_is_never_refused(
    maker: str, makers: list[str]
) -> None:
    user = {"role": "user", "content": "2 + 2?"}
    messages: list[Json] = [user]
    for number, each in enumerate(makers):
        item = {"type": "reasoning.encrypted", "format": MAKERS[each][1]}
        details = [{**item, "data": state(each, str(number))}]
        turn = {"role": "assistant", "content": "4", "reasoning_details": details}
        messages += [turn, user]
    body = {"model": MAKERS[maker][0], "messages": messages}
    result = prepare(body, "openai-chat", provider="openrouter")
    others = [each for each in makers if each != maker]

    assert len(foreign(maker, body)) == len(others) == len(result.lost)
    assert foreign(maker, result.body or body) == []
    kept = str(result.body or body).count("reasoning.encrypted")
    assert kept == len(makers) - len(others)


@pytest.mark.parametrize("odd", [None, 7, "x", [7], [{"format": 7}], {"a": 1}])
def test_odd_marks_raise_nothing(odd: Json) -> None:
    turn = {"role": "assistant", "content": "4", "reasoning_details": odd}
    user = {"role": "user", "content": "2 + 2?"}
    body = {"model": "x-ai/grok-4", "messages": [user, turn, user]}

    assert prepare(body, "openai-chat", provider="openrouter").lost == []


def test_thinking_blocks_go_to_claude_alone() -> None:
    block = {"type": "thinking", "thinking": "Hm", "signature": "c2ln"}
    turn = {"role": "assistant", "content": "4", "thinking_blocks": [block]}
    user = {"role": "user", "content": "2 + 2?"}
    for model, goes in (("claude-opus-4-5", True), ("gemini-3-pro", False)):
        body = {"model": model, "messages": [user, turn, user]}
        result = prepare(body, "openai-chat", provider="litellm")
        assert ("thinking_blocks" in (result.body or body)["messages"][1]) == goes


def test_what_stays_is_said_and_half_a_character_is_mended() -> None:
    body = _body([[LEAK], ["Four."]])
    body["messages"][1]["content"][1]["text"] = f"{LEAK} \ud83d"
    call = {"type": "tool_use", "id": "t", "name": "f", "input": {"a": "\udc00"}}
    messages = [*body["messages"], {"role": "assistant", "content": [call]}]
    results = repair(messages, model=body["model"]).results

    assert [bool(each.bound) for each in results] == [n == 1 for n in range(6)]
    assert [each.changed for each in results] == [n == 1 for n in range(6)]
    (stays,) = results[1].stays or ()
    assert (stays.kind, stays.text) == ("reasoning", "<think>So.</think>")
    (edit,) = results[1].edits
    assert (edit.path, edit.start, edit.new_text) == ("/content/1/text", 24, "\ufffd")
    assert results[1].message["content"][1]["text"] == f"{LEAK} \ufffd"
    again = repair([results[1].message, messages[3]], model=body["model"]).results
    assert [(each.changed, each.bound) for each in again] == [
        (False, True),
        (False, None),
    ]


def test_sealed_text_keeps_half_a_character() -> None:
    """Only text that is not provider state itself is mended."""
    part = {"text": "4 \ud83d", "thoughtSignature": "c2ln"}
    message = {
        "role": "model",
        "parts": [part, {"text": "5 \ud83d\ude00 \ude00\ud83d"}],
    }
    (result,) = repair([message]).results
    assert [(e.path, e.new_text) for e in result.edits] == [
        ("/parts/1/text", "\ufffd\ufffd")
    ]
