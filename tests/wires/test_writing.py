"""What writers do with events that no recording has."""

from __future__ import annotations

import json
from typing import Any

import pytest
from emitting import emitted

from stream_sidecar.api import Wire, normalize
from stream_sidecar.events import (
    BlockEnd,
    Citation,
    Finish,
    Metadata,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
)
from stream_sidecar.message.outlet import Origin
from stream_sidecar.wires import WIRES, WRITERS
from stream_sidecar.wires.shared.item_ids import is_made
from stream_sidecar.wires.shared.writing import LONGEST_REPEATED, TextPlaces

ANSWER = "It is 4.<|im_end|>"
LEAKED = {"content": ANSWER}
FINISH = Finish(9, 0, "stop", False, True)


def _write(wire: str, *events: Any, origins: dict[int, Origin] | None = None) -> Any:
    writer = WIRES[wire].make_writer(wire, origins or {})
    return writer.push(events) + writer.close([FINISH])


def _cited(*blocks: int, start: int | None, end: int | None) -> Citation:
    place = {"blocks": blocks, "start": start, "end": end}
    return Citation(
        1, 0, "url", "claim", True, None, 0, url="https://a.example", **place
    )


@pytest.mark.parametrize(
    ("citation", "place"),
    [
        (_cited(1, start=1, end=3), (1, 3)),
        (_cited(3, start=0, end=2), (4, 6)),
        (_cited(1, 3, start=2, end=6), (2, 6)),
        (_cited(1, start=4, end=4), (4, 4)),
        (_cited(1, 2, start=1, end=6), None),
        (_cited(start=1, end=2), None),
        (_cited(1, start=None, end=None), None),
    ],
)
def test_places_of_claims(citation: Citation, place: tuple[int, int] | None) -> None:
    """Blocks 1 and 3 are text, 2 was emitted as something else."""
    places = TextPlaces()
    for block, text in ((1, "fo"), (1, "ur"), (3, "five.")):
        places.push(TextDelta(1, 0, block, text))
    assert places.find(citation) == place


@pytest.mark.parametrize("wire", ["openai-chat", "gemini"])
def test_long_names_are_reported_once(wire: str) -> None:
    model = "m" * (LONGEST_REPEATED + 1)
    said = [TextDelta(seq, 0, 0, "word") for seq in range(3)]
    chunks = _write(wire, Metadata(0, id="i", model=model), *said)
    assert sum(model in str(chunk) for chunk in chunks) == 1


@pytest.mark.parametrize("wire", WRITERS)
def test_a_long_address_stands_in_its_first_citation(wire: str) -> None:
    """As in events (protocol.md, "citation"), so that the output is in proportion."""
    url = f"https://a.example/{'x' * 300}"
    text = TextDelta(1, 0, 0, "One. Two.")
    where = [{"blocks": (0,), "start": at, "end": at + 4} for at in (0, 5)]
    first = Citation(2, 0, "url", "claim", True, None, 0, url=url, **where[0])
    again = Citation(3, 0, "url", "claim", True, None, 0, **where[1])
    once = str(_write(wire, text, first)).count(url)
    assert str(_write(wire, text, first, again)).count(url) == once > 0


@pytest.mark.parametrize("wire", WRITERS)
def test_a_long_title_stands_in_its_first_citation(wire: str) -> None:
    title, url = "t" * 300, "https://a.example/"
    text = TextDelta(1, 0, 0, "One. Two.")
    where = [{"blocks": (0,), "start": at, "end": at + 4} for at in (0, 5)]
    citations = [
        Citation(seq, 0, "url", "claim", True, None, 0, url=url, title=title, **place)
        for seq, place in enumerate(where, 2)
    ]
    once = str(_write(wire, text, citations[0])).count(title)
    chunks = str(_write(wire, text, *citations))
    assert chunks.count(title) == once > 0
    assert wire == "gemini" or chunks.count(url) > str(chunks).count(title)


def test_an_empty_object_that_continues_is_written() -> None:
    deltas = [ToolCallDelta(1, 0, 0, "{}", "c", "f"), ToolCallDelta(2, 0, 0, "{")]
    chunks = _write("openai-chat", *deltas)
    calls = [
        call["function"]["arguments"]
        for chunk in chunks
        for call in chunk["choices"][0]["delta"].get("tool_calls", ())
    ]
    assert calls == ["", "{}{"]


def test_blocks_of_one_message_stay_in_it() -> None:
    origins = {block: Origin("msg_1", kind="message") for block in (0, 1)}
    said = [TextDelta(1, 0, 0, "One. "), TextDelta(2, 0, 1, "Two.")]
    (*_, last) = _write("openai-responses", *said, origins=origins)
    (item,) = last["response"]["output"]
    assert item["id"] == "msg_1"
    assert item["content"][0]["text"] == "One. Two."


def test_parts_of_one_thought_stay_in_it() -> None:
    origins = {block: Origin("rs_1", kind="reasoning") for block in (0, 1)}
    thought = [ReasoningDelta(n, 0, n, text, "native") for n, text in enumerate("ab")]
    (*_, last) = _write("openai-responses", *thought, origins=origins)
    (item,) = last["response"]["output"]
    assert [part["text"] for part in item["summary"]] == ["a", "b"]


def test_an_id_that_is_too_long_for_every_event_is_replaced() -> None:
    origins = {0: Origin("m" * 2000, kind="message")}
    chunks = _write("openai-responses", TextDelta(1, 0, 0, "One."), origins=origins)
    ids = {chunk["item_id"] for chunk in chunks if "item_id" in chunk}
    assert len(ids) == 1
    assert all(map(is_made, ids))


def _numbered(response: str, *items: tuple[str, str]) -> list[Any]:
    """A stream whose messages and calls have the ids of a server that counts them."""
    chunks: list[Any] = [{"type": "response.created", "response": {"id": response}}]
    for place, (id, text) in enumerate(items):
        item: Any = {"id": id, "type": "message", "content": []}
        part = {"type": "output_text", "text": text}
        if id.startswith("fc_"):
            item = {"id": id, "type": "function_call", "call_id": id, "name": "f"}
            done = item | {"arguments": text}
        else:
            done = item | {"content": [part]}
        where = {"output_index": place}
        chunks.append({"type": "response.output_item.added", "item": item} | where)
        chunks.append({"type": "response.output_item.done", "item": done} | where)
    output = [chunk["item"] for chunk in chunks[2::2]]
    response_ = {"id": response, "status": "completed", "output": output}
    return [*chunks, {"type": "response.completed", "response": response_}]


def _ids(response: str, *items: tuple[str, str]) -> list[str]:
    params = {"wire": "openai-responses", "model": "qwen3"}
    trip = emitted(params, _numbered(response, *items), "openai-responses")
    return [item["id"] for item in trip.chunks[-1]["response"]["output"]]


def test_a_made_id_meets_none_of_the_servers() -> None:
    """OpenAI's ``responses.stream()`` stops at a second item with an id."""
    leak = "One.<think>Hm.</think>Two."
    items = (("msg_2", leak), ("fc_1", "{}"), ("msg_3", "<think>Hm.</think>"))
    ids = _ids("resp_1", *items)

    assert [id for id in ids if not is_made(id)] == ["msg_2", "fc_1"]
    assert len(set(ids)) == len(ids) == 5
    assert ids == _ids("resp_1", *items)
    others = _ids("resp_2", *items)
    assert {id for id in ids if is_made(id)}.isdisjoint(others)


def test_an_item_with_a_made_id_goes_on() -> None:
    """Blocks of one item are one item, whatever its id is here."""
    origins = {block: Origin("rs_1", kind="reasoning") for block in (0, 2, 3)}
    deltas = [
        ReasoningDelta(1, 0, 0, "a", "native"),
        TextDelta(2, 0, 1, "One."),
        ReasoningDelta(3, 0, 2, "b", "native"),
        ReasoningDelta(4, 0, 3, "c", "native"),
    ]
    (*_, last) = _write("openai-responses", *deltas, origins=origins)
    *_, again = last["response"]["output"]
    assert is_made(again["id"])
    assert [part["text"] for part in again["summary"]] == ["b", "c"]


def test_what_comes_too_late_for_its_item_is_left_out() -> None:
    texts = [TextDelta(1, 0, 0, "One."), TextDelta(2, 0, 1, "Two.")]
    late = _cited(0, start=0, end=4)
    state = BlockEnd(3, 0, 0, "text", opaque={"id": "msg_1", "phase": "final_answer"})
    chunks = _write("openai-responses", *texts, late, state)
    assert not any("annotation" in chunk for chunk in chunks)
    assert "phase" not in str(chunks)


def test_a_refusal_without_words_is_incomplete() -> None:
    stop = {"type": "message_delta", "delta": {"stop_reason": "refusal"}}
    trip = emitted({"wire": "anthropic"}, [stop], "openai-responses")
    response = trip.chunks[-1]["response"]
    assert response["incomplete_details"] == {"reason": "content_filter"}


def test_counts_that_are_no_numbers_are_zero() -> None:
    usage = {"input_tokens": "", "output_tokens": 5, "output_tokens_details": 1}
    body = {"type": "message", "stop_reason": "n", "content": [], "usage": usage}
    trip = emitted({"wire": "anthropic"}, [body], "openai-responses", whole=True)
    written = trip.chunks[0]["usage"]
    assert (written["input_tokens"], written["total_tokens"]) == (0, 5)
    assert written["output_tokens_details"] == {"reasoning_tokens": 0}


def test_counts_that_are_no_numbers_are_zero_on_a_wire_of_the_same_names() -> None:
    usage = {"prompt_tokens": "", "completion_tokens": 5}
    output = [{"type": "message.output", "role": "assistant", "content": "Hi"}]
    body = {"object": "conversation.response", "outputs": output, "usage": usage}
    trip = emitted({"wire": "mistral-conversations"}, [body], "openai-chat", whole=True)
    written = {"prompt_tokens": 0, "completion_tokens": 5, "total_tokens": 5}
    assert trip.chunks[0]["usage"] == written


def test_counts_by_modality_need_words() -> None:
    """Vertex tells enumerations as numbers on request; Google's SDK reads none."""
    counts = {"promptTokenCount": 3, "candidatesTokenCount": 4, "totalTokenCount": 7}
    details = [{"modality": 1, "tokenCount": 3}]
    body = {
        "candidates": [
            {
                "content": {"parts": [{"text": "<think>a</think>Hi"}]},
                "finishReason": "STOP",
            }
        ],
        "usageMetadata": {**counts, "promptTokensDetails": details},
    }
    trip = emitted({"wire": "gemini"}, [body], "gemini", whole=True)
    assert trip.chunks[0]["usageMetadata"] == counts


@pytest.mark.parametrize(
    ("wire", "body"),
    [
        (
            "openai-chat",
            {
                "x_groq": {"id": "req_1"},
                "choices": [{"index": 0, "message": {"role": "assistant", **LEAKED}}],
            },
        ),
        (
            "gemini",
            {
                "promptFeedback": {"safetyRatings": []},
                "candidates": [
                    {
                        "content": {"role": "model", "parts": [{"text": ANSWER}]},
                        "finishReason": "STOP",
                        "finishMessage": "Done.",
                        "index": 0,
                    }
                ],
            },
        ),
    ],
)
def test_what_stands_beside_the_text_stays_after_a_removal(
    wire: Wire, body: dict[str, Any]
) -> None:
    result = normalize(body, wire=wire, emit={"wire": wire})
    written = json.dumps(body).replace("<|im_end|>", "")
    assert result.body == json.loads(written)
