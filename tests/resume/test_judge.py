"""What is refused of a conversation: the rule, the place and the mend.

Every history of ``data/refusals.jsonl`` that its server objects to has a finding, and
every other has none. ``_REQUESTS`` are the objections that are about the request, or
about members that no store has: an agent writes them anew for each request.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from places import TESTS
from refusing import objections

from stream_sidecar.resume.conversation import (
    ResumedConversation,
    SentItem,
    StoredPlace,
)
from stream_sidecar.resume.findings import ResumeFinding
from stream_sidecar.resume.images import StoredImage
from stream_sidecar.resume.judge import refusals_of
from stream_sidecar.resume.records import StoredRecord
from stream_sidecar.wires import WIRES

Json = Any

_REQUESTS = {
    *("models-turn-last", "two-models-turns-last", "white-space-at-the-end"),
    *("no-thinking-before-calls", "thinking-late", "thinking-last", "no-container"),
    *("unknown-tool", "many-marks", "no-tools", "response-not-stored", "no-user"),
    *("members-of-messages", "members-of-calls", "members-of-chat", "null-caller"),
    *("members-of-cerebras", "members-of-fireworks", "no-reasoning-with-calls"),
    *("item-without-its-reasoning", "models-input", "no-summary", "no-queries"),
    *("no-call-signature", "call-behind-a-models-turn", "no-data", "role"),
    *("null-in-an-item", "null-in-a-message", "failure-without-content"),
    *("json-no-object",),
}
_UNFINISHED = ("the last turn is a call", "the last item is a call", "reasoning last")

ROWS = [
    json.loads(line)
    for line in (TESTS / "data" / "refusals.jsonl").read_text("utf-8").splitlines()
]


def _conversation(wire: str, items: list[Json], **names: Any) -> ResumedConversation:
    records = [StoredRecord(n, item, {"line": n + 1}) for n, item in enumerate(items)]
    sent = (SentItem(record.value, StoredPlace(record, ())) for record in records)
    return ResumedConversation(wire, items=tuple(sent), **names)


def _of_row(row: Json) -> list[ResumeFinding]:
    name = WIRES[row["wire"]].shape.items
    settings = {key: value for key, value in row["body"].items() if key != name}
    return list(
        refusals_of(
            _conversation(
                row["wire"],
                row["body"][name],
                provider=row["provider"] or "",
                model=row["model"] or "",
                settings=settings,
            ),
            {},
        )
    )


@pytest.mark.parametrize("row", ROWS, ids=[f"{r['server']}: {r['case']}" for r in ROWS])
def test_a_finding_is_an_objection(row: Json) -> None:
    said = objections(row["server"], row["wire"], row["body"])
    found = [each.rule for each in _of_row(row)]
    if not said:
        assert set(found) <= {"foreign-encrypted-content"}  # seals there are made up
    elif not (_REQUESTS & {*said} or row["case"] in _UNFINISHED or _ends_open(row)):
        assert found


def _ends_open(row: Json) -> bool:
    """Whether calls of the last turn wait for results: a session that is running."""
    shape = WIRES[row["wire"]].shape
    items = row["body"][shape.items]
    return bool(shape.answers(items[-1])) and row["says"] == "other-number-of-results"


# --- Single rules ---------------------------------------------------------------------

HI = {"role": "user", "content": "Hi"}
BACK = {"role": "assistant", "content": "Hello."}


def _use(id: str = "toolu_1", name: str = "look") -> Json:
    return {"type": "tool_use", "id": id, "name": name, "input": {}}


def _result(id: str = "toolu_1") -> Json:
    return {"type": "tool_result", "tool_use_id": id, "content": "4"}


def _claude(*contents: Json) -> list[ResumeFinding]:
    items = [HI]
    for number, content in enumerate(contents):
        items.append(
            {"role": "user" if number % 2 else "assistant", "content": content}
        )
    names = {"provider": "anthropic", "model": "claude-opus-4-8"}
    return list(refusals_of(_conversation("anthropic", items, **names), {}))


def _edits(finding: ResumeFinding) -> list[Json]:
    return [(e.source.record.number, e.source.path, e.new) for e in finding.edits]


def test_a_blank_text_goes() -> None:
    blank = {"type": "text", "text": ""}
    (found,) = _claude([blank, _use()], [_result()], "ok")

    assert (found.kind, found.rule, found.number, found.remedy) == (
        "refused",
        "blank-text",
        8,
        "file",
    )
    assert "non-empty" in found.says
    assert _edits(found) == [(1, ("content", 0), None)]


def test_an_empty_signature_goes() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": ""}
    (found,) = _claude([thought, {"type": "text", "text": "ok"}])

    assert (found.rule, found.number) == ("signature-missing", 15)
    assert _edits(found) == [(1, ("content", 0), None)]


def test_a_signature_stays() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "U0lH"}
    assert _claude([thought, _use()], [_result()], "ok") == []


def test_a_call_without_a_result_is_told() -> None:
    (found,) = _claude([_use()], "go on", "ok")

    assert (found.rule, found.number, found.remedy) == (
        "call-without-result",
        1,
        "request",
    )
    assert (found.source.record.number, found.source.path) == (1, ("content", 0))
    assert found.edits == ()


def test_a_call_at_the_end_is_pending() -> None:
    assert _claude([_use()]) == []
    assert _claude([_use("a"), _use("b")], [_result("a")]) == []


def test_what_the_agent_heals_is_left_out() -> None:
    items = [HI, {"role": "assistant", "content": [_use()]}, HI, BACK]
    conversation = _conversation("anthropic", items, provider="anthropic")
    heals = {"call-without-result": "the agent drops it"}
    (found,) = refusals_of(conversation, heals)

    assert found.kind == "left-out"
    assert found.message == "A call has no result: the agent drops it"


def test_a_repeated_id_gets_its_own_in_call_and_result() -> None:
    (found,) = _claude([_use()], [_result()], [_use()], [_result()], "ok")

    assert found.rule == "repeated-id"
    (call, answer) = _edits(found)
    assert call[:2] == (3, ("content", 0, "id"))
    assert answer[:2] == (4, ("content", 0, "tool_use_id"))
    assert call[2] == answer[2]


def test_half_of_a_character_is_replaced() -> None:
    found = _claude("a\ud83d", HI["content"], "ok")[0]

    assert found.rule == "half-surrogate"
    assert json.loads(_edits(found)[0][2]) == "a\ufffd"


def _codex(*items: Json) -> list[ResumeFinding]:
    records = [
        StoredRecord(n, {"type": "response_item", "payload": item}, {"line": n + 1})
        for n, item in enumerate(items)
    ]
    sent = tuple(
        SentItem(record.value["payload"], StoredPlace(record, ("payload",)))
        for record in records
    )
    conversation = ResumedConversation(
        "openai-responses", "openai", "gpt-5.5", sent, (), {"store": False}
    )
    return list(refusals_of(conversation, {}))


USER = {"type": "message", "role": "user", "content": "Hi"}
ANSWER = {"type": "message", "role": "assistant", "content": "ok"}


def _thought(seal: str) -> Json:
    return {"type": "reasoning", "summary": [], "encrypted_content": seal}


def test_sealed_reasoning_of_another_issuer_goes() -> None:
    (found,) = _codex(USER, _thought("xai-sealed"), ANSWER, USER)

    assert found.rule == "foreign-encrypted-content"
    assert _edits(found) == [(1, (), None)]
    assert _codex(USER, _thought("gAAAAAB"), ANSWER, USER) == []


def test_lonely_reasoning_goes() -> None:
    (found,) = _codex(USER, _thought("gAAAA"), USER, ANSWER)

    assert (found.rule, found.number) == ("lonely-reasoning", 85)
    assert _edits(found) == [(1, (), None)]


def test_a_name_with_nul_is_mended() -> None:
    call = {"type": "function_call", "call_id": "a", "name": "sh\0", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "a", "output": "4"}
    (found,) = _codex(USER, call, output, ANSWER)

    assert found.rule == "name-characters"
    assert _edits(found) == [(1, ("payload", "name"), '"sh_"')]


def test_a_chat_of_nobody_refuses_broken_pairs() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    turn = {"role": "assistant", "content": "I look.", "tool_calls": [call]}
    found = list(refusals_of(_conversation("openai-chat", [HI, turn, HI, BACK]), {}))

    assert [each.rule for each in found] == ["call-without-result"]
    assert found[0].source.path == ("tool_calls", 0)


# --- Images ---------------------------------------------------------------------------


def _with_images(
    *sizes: tuple[int, int], declared: str = "image/png"
) -> ResumedConversation:
    images = tuple(
        StoredImage(("content", number), declared, "image/png", *size, 100)
        for number, size in enumerate(sizes)
    )
    record = StoredRecord(0, HI, {"line": 1}, images=images)
    sent = (SentItem(HI, StoredPlace(record, ())),)
    return ResumedConversation("anthropic", "anthropic", "claude-opus-4-8", sent)


def test_a_large_image_among_many() -> None:
    few = [*refusals_of(_with_images(*[(8, 8)] * 19, (3000, 8)), {})]
    many = [*refusals_of(_with_images(*[(8, 8)] * 20, (3000, 8)), {})]

    assert few == []
    assert [each.rule for each in many] == ["image-too-large-among-many"]
    ((_, path, new),) = _edits(many[0])
    assert path == ("content", 20)
    assert json.loads(new)["text"].startswith("[image removed: ")


def test_other_faults_of_images() -> None:
    (huge,) = refusals_of(_with_images((8, 9000)), {})
    (other,) = refusals_of(_with_images((8, 8), declared="image/jpeg"), {})
    crowd = [*refusals_of(_with_images(*[(8, 8)] * 102), {})]

    assert (huge.rule, other.rule) == ("image-too-large", "image-broken")
    assert [each.source.path for each in crowd] == [("content", 0), ("content", 1)]


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ({"type": "image"}, {"type": "text", "text": "T"}),
        ({"type": "input_image"}, {"type": "input_text", "text": "T"}),
        ({"inlineData": {}}, {"text": "T"}),
        ({"type": "binary", "data": {}}, {"type": "text", "data": {"text": "T"}}),
        (
            {"type": "file", "id": "p", "messageID": "m", "mime": "image/png"},
            {"type": "text", "id": "p", "messageID": "m", "text": "T"},
        ),
    ],
)
def test_the_text_in_place_of_an_image_has_its_form(part: Any, text: Any) -> None:
    image = StoredImage(("content", 0), "image/png", "image/png", 9000, 8, 100)
    record = StoredRecord(0, {**HI, "content": [part]}, images=(image,))
    sent = SentItem(HI, StoredPlace(record, ()))
    (found,) = refusals_of(ResumedConversation("anthropic", items=(sent,)), {})
    (edit,) = found.edits
    said = json.dumps(text).replace("T", edit_text(edit.new))
    assert json.loads(edit.new or "") == json.loads(said)


def edit_text(new: str | None) -> str:
    """The text in a new part."""
    part = json.loads(new or "")
    text = part.get("data", part)["text"]
    assert text.startswith("[image removed: the image has 9000x8 pixels")
    return str(text)


def test_an_attached_image_goes() -> None:
    at = ("data", "state", "attachments", 0)
    image = StoredImage(at, "image/png", "image/png", 9000, 8, 100)
    record = StoredRecord(0, HI, images=(image,))
    sent = SentItem(HI, StoredPlace(record, ()))
    (found,) = refusals_of(ResumedConversation("anthropic", items=(sent,)), {})
    assert [(edit.source.path, edit.new) for edit in found.edits] == [(at, None)]
