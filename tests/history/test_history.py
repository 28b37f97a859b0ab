"""Stored messages: the findings in them, and the messages without the findings.

What must hold for any message is tested with messages made of the same fragments as the
streams of ``test_properties``. The shapes are tested one by one.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from stored_messages import assistant, check, inspect, repair
from strategies import JUNK, TEXTS, as_read

from stream_sidecar.history.history import History, Readings
from stream_sidecar.history.paths import pointer_to
from stream_sidecar.history.reading import _gaps
from stream_sidecar.history.results import Repair
from stream_sidecar.history.spans import RemovedSpan
from stream_sidecar.options import (
    Policy,
    ReasoningPolicy,
    StreamOptions,
    ToolCallsPolicy,
    ToolResultsPolicy,
)
from stream_sidecar.stream.stream import Stream
from stream_sidecar.values.absent import ABSENT

# --- What holds of any message --------------------------------------------------------

_STATE = st.sampled_from([{}, {}, {}, {"signature": "s"}, {"thoughtSignature": "t"}])
_PARTS = st.lists(
    st.one_of(
        st.builds(lambda t, s: {"type": "text", "text": t, **s}, TEXTS, _STATE),
        st.builds(lambda t: {"text": t}, TEXTS),
        TEXTS,
        st.builds(lambda t: {"type": "thinking", "thinking": t}, TEXTS),
        st.just({"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}}),
        st.just({"type": "image"}),
        JUNK,
    ),
    max_size=4,
)
_MESSAGES = st.builds(
    lambda role, name, value, more: {"role": role, name: value, **more},
    st.sampled_from(["assistant", "assistant", "model", "ai", "user"]),
    st.sampled_from(["content", "content", "parts"]),
    st.one_of(TEXTS, TEXTS, _PARTS, st.none()),
    st.sampled_from([{}, {}, {"reasoning_content": "why"}, {"tool_calls": [{}]}]),
).map(as_read)


@settings(max_examples=600)
@given(_MESSAGES)
def test_any_message(message: Any) -> None:
    """Edits give the new text, a second repair changes nothing, and findings agree with
    both."""
    check(message)


@given(st.lists(st.one_of(_MESSAGES, JUNK), max_size=5).map(as_read))
def test_any_session(messages: list[Any]) -> None:
    """Junk comes back equal, and nothing ever raises."""
    history = History(StreamOptions())
    for message in messages:
        result = history.repair(message)
        assert result.changed or result.message in (message, ABSENT)


@settings(max_examples=400)
@given(st.lists(TEXTS, min_size=1, max_size=4))
@example(["<think>a</think>\n\nb"])
def test_a_message_of_a_stream_has_nothing_to_repair(texts: list[str]) -> None:
    stream = Stream(StreamOptions(wire="text"))
    for text in texts:
        stream.push(text)
    stream.close()

    result = repair(assistant(stream.message().text))

    assert not result.changed, (texts, result.edits)


@given(TEXTS)
def test_others_are_never_touched(text: str) -> None:
    for role in ("user", "system", "tool", "developer", None, 7, ["assistant"]):
        message = {"role": role, "content": text}
        result = repair(message)
        assert not result.changed
        assert not result.blocked
        assert result.message in (message, ABSENT)


@given(TEXTS)
def test_one_string_and_one_part_are_the_same(text: str) -> None:
    whole = repair(assistant(text))
    part = repair(assistant([{"type": "text", "text": text}, {"type": "image"}]))
    if not whole.blocked:
        assert [e.start for e in whole.edits] == [e.start for e in part.edits]


# --- Shapes ---------------------------------------------------------------------------

LEAK = "<think>Hm.</think>Four."

SHAPES = {
    "chat": {"role": "assistant", "content": LEAK},
    "chat parts": assistant([{"type": "text", "text": LEAK}]),
    "plain strings": assistant([LEAK]),
    "anthropic": assistant(
        [
            {"type": "thinking", "thinking": "", "signature": "s"},
            {"type": "text", "text": LEAK},
        ]
    ),
    "gemini": {"role": "model", "parts": [{"text": LEAK}]},
    "bedrock": assistant([{"text": LEAK}]),
    "responses": {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": LEAK, "annotations": []}],
    },
    "langchain": {"type": "ai", "content": LEAK},
    "ai sdk": {"role": "assistant", "parts": [{"type": "text", "text": LEAK}]},
}


@pytest.mark.parametrize("message", SHAPES.values(), ids=SHAPES)
def test_shapes(message: dict[str, Any]) -> None:
    result = check(message)

    assert "Hm." not in json.dumps(result.message)
    assert result.message == json.loads(json.dumps(message).replace(LEAK, "Four."))
    assert [removal.kind for removal in result.removed] == ["reasoning"]


def test_fields_of_the_host_stay() -> None:
    message = assistant(LEAK, id=7, meta={"a": [None]}, name=None)
    assert check(message).message == {**message, "content": "Four."}


def test_text_that_stands_twice() -> None:
    """Some libraries keep the text as a string and as parts."""
    message = assistant(LEAK, parts=[{"type": "text", "text": LEAK}])

    result = check(message)

    assert result.message == assistant(
        "Four.", parts=[{"type": "text", "text": "Four."}]
    )


def test_parts_are_one_message() -> None:
    """Reasoning continues in the next part, a delimiter does not, and a part that
    becomes empty is removed."""
    across = check(assistant(["<think>a", "b", "c</think>d"]))
    assert across.message == assistant(["d"])
    assert across.dropped == ["/content/0", "/content/1"]
    assert across.reasoning == "abc"

    # As in a stream, no border makes a delimiter of visible text.
    assert check(assistant(["<thi", "nk>a"])).message == assistant(["<thi", "a"])


def test_signed_parts_are_never_edited() -> None:
    signed = {"text": "x</think>y", "thoughtSignature": "c2ln"}
    between = {
        "role": "model",
        "parts": [{"text": "<think>a"}, signed, {"text": "b</think>c"}],
    }

    assert not check({"role": "model", "parts": [signed]}).changed
    assert check(between).message == {"role": "model", "parts": [signed, {"text": "c"}]}
    for holder in ({"google": {"thought_signature": "c2ln"}}, {"signature": "c2ln"}):
        assert not check(assistant(LEAK, extra_content=holder)).changed
    assert check(assistant(LEAK, extra_content={"google": {}})).changed


@pytest.mark.parametrize(
    ("holder", "state", "harmless"),
    [
        ("metadata", {"google": {"thoughtSignature": "c2ln"}}, {"cost": {"signed": 1}}),
        ("extras", {"signature": "c2ln"}, {"index": 1}),
        ("provider_details", {"thought_signature": "c2ln"}, {"logprobs": [1]}),
    ],
)
def test_state_in_objects_of_other_libraries(
    holder: str, state: Any, harmless: Any
) -> None:
    """The objects of opencode, LangChain and pydantic-ai hold other data, too."""
    part = {"type": "text", "text": LEAK}
    assert not check(assistant([{**part, holder: state}])).changed
    assert check(assistant([{**part, holder: harmless}])).changed


def test_fences_of_signed_parts_count() -> None:
    signed = {"text": "```\n", "thoughtSignature": "c2ln"}
    assert not check({"role": "model", "parts": [signed, {"text": "<think>"}]}).changed


def test_never_empties_a_message() -> None:
    for content in ("<think>a</think>", ["<think>a</think>"], "</think>\n"):
        assert check(assistant(content)).blocked
        assert check(assistant(content, reasoning_content="x")).blocked
    assert check(assistant("<think>a</think>", tool_calls=[{"id": "c"}])).changed
    call = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    assert check(assistant([{"type": "text", "text": "</think>"}, call])).message == (
        assistant([call])
    )


def test_native_reasoning_comes_first() -> None:
    """Reasoning that the message has in its own field is not reported again."""
    result = check(assistant(LEAK, reasoning_content="Hm."))
    assert result.message == assistant("Four.", reasoning_content="Hm.")
    assert result.reasoning is None
    assert check(assistant(LEAK)).reasoning == "Hm."


def test_a_call_is_a_border() -> None:
    """A closer does not make text before a structured call reasoning."""
    call = {"functionCall": {"name": "f", "args": {}}}
    parts = [{"text": "Plan."}, call, {"text": "</think>\nDone."}]

    result = check({"role": "model", "parts": parts})

    assert result.message["parts"] == [{"text": "Plan."}, call, {"text": "\nDone."}]


def test_the_model_of_a_message_chooses_its_profile() -> None:
    """If the template opens the reasoning, a closer within a line ends it."""
    content = "Plan.</think>Done."
    assert check(assistant(content)).message["content"] == "Plan.Done."
    for message, options in (
        (assistant(content, model="deepseek-r1"), {}),
        (assistant(content), {"model": "deepseek-r1"}),
    ):
        assert check(message, **options).message["content"] == "Done."


def test_policy() -> None:
    policy = Policy(reasoning=ReasoningPolicy(tags=("plan",)))
    assert check(assistant("<plan>a</plan>b"), policy=policy).changed
    assert not check(assistant(LEAK), policy=policy).changed


def test_reasoning_that_the_prompt_opened() -> None:
    """A message without a closer was cleaned before."""
    policy = Policy(reasoning=ReasoningPolicy(starts_open="open"))
    assert check(assistant("a</think>b"), policy=policy).reasoning == "a"
    assert not check(assistant("b"), policy=policy).changed
    assert not check(assistant("b"), policy=policy).blocked


def test_values_that_cannot_be_written_back() -> None:
    """The repair has only edits, because the message would not be the same."""
    for odd in ("\ud83d", {"\udfff": 1}, json.loads("[" * 70 + "]" * 70), 2**70):
        result = repair(assistant(LEAK, odd=odd))
        assert (result.changed, result.message) == (True, ABSENT)
        assert result.edits[0].end == len(LEAK) - len("Four.")


def test_half_characters_keep_their_places() -> None:
    halves = assistant("\ud83d\ude00<think>a</think>\ude00b")
    edit, half = repair(halves).edits
    assert (edit.start, edit.end, edit.start_utf16) == (2, 18, 2)
    assert (half.start, half.end, half.new_text) == (18, 19, "\ufffd")


@pytest.mark.thorough
def test_time_is_linear_in_the_number_of_findings() -> None:
    """The positions of many findings in one text are counted in one pass."""
    text = "é<think>a</think>\n" * 5_000
    result = repair(assistant(text))
    assert len(result.edits) == 5_000
    assert result.edits[-1].start == len(text) - len("<think>a</think>\n")


# --- Odd shapes -----------------------------------------------------------------------


def test_calls_in_every_spelling_keep_a_message_from_being_empty() -> None:
    gone = {"type": "text", "text": "</think>"}
    for more in (
        {"function_call": {"name": "f", "arguments": "{}"}},
        {"tool_calls": [7, {"function": {"name": "f"}}]},
    ):
        assert check(assistant("</think>", **more)).message["content"] == ""
    for part in (
        {"functionCall": {"name": "f", "args": {}}},
        {"toolUse": {"toolUseId": "t", "name": "f", "input": {}}},
        {"type": "tool-call", "toolName": "f", "input": {}},
        {"type": "tool-f", "toolCallId": "c", "input": {}, "output": 1},
        {"type": "image"},
        None,
    ):
        assert check(assistant([gone, part])).message == assistant([part])
    assert check(assistant("</think>", function_call=None, tool_calls={})).blocked


def test_reasoning_parts_in_every_spelling() -> None:
    """They are read first if they come first, and are never edited."""
    for part in (
        {"type": "thinking", "thinking": "Hm.</think>", "signature": "s"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "reasoning", "text": "Hm."},
        {"type": "reasoning", "reasoning": "Hm."},
        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}},
        {"reasoningContent": {"redactedContent": "x"}},
        {"text": "Hm.", "thought": True, "thoughtSignature": "s"},
    ):
        result = check(assistant([part, {"text": LEAK}]))
        assert result.message == assistant([part, {"text": "Four."}])
        assert (result.reasoning is None) is ("Hm." in json.dumps(part))


def test_types_that_are_none() -> None:
    for odd in (7, [], {}, ""):
        message = assistant([{"type": odd, "text": LEAK}])
        assert not check(message).changed
        assert not check({"role": odd, "content": LEAK}).changed
        assert not check(assistant([{"text": odd or 7}])).changed


def test_a_field_that_needs_nothing() -> None:
    message = assistant(LEAK, parts=[{"text": "Five."}])
    assert check(message).message == {**message, "content": "Four."}


def test_what_no_event_tells_of_is_a_mark_of_protocol() -> None:
    shown = [(2, 4, "text"), (6, 7, "reasoning")]
    assert _gaps(shown, 9) == [
        *((0, 2, "marker"), (4, 6, "marker")),
        *((6, 7, "reasoning"), (7, 9, "marker")),
    ]


def test_pointers_are_escaped() -> None:
    assert pointer_to(("a/b", "c~d", 0)) == "/a~1b/c~0d/0"


def test_the_number_of_rounds_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stream_sidecar.history.removals._ROUNDS", 1)
    assert repair(assistant(LEAK)).message["content"] == "Four."


# --- Tool results that were repeated at the answer's start ----------------------------

ECHO = '{success: true, id: "n7", content: "remember {this}"}'
OTHER = '{"type": "note_updated", "success": true}'


def visible(message: Any, *before: Any, **options: Any) -> Any:
    return check(message, *before, **options).message["content"]


def test_removes_a_single_result_before_the_answer() -> None:
    assert visible(assistant(ECHO + "That is noted.")) == "That is noted."


def test_handles_properly_formatted_json() -> None:
    assert visible(assistant('{"success": true, "board_id": 7}Done.')) == "Done."


def test_preserves_content_without_tool_results() -> None:
    assert visible(assistant("An ordinary answer.")) == "An ordinary answer."


def test_preserves_json_that_is_no_tool_result() -> None:
    for text in ('{"colour": "red"} is the body to send.', '{"colour": "red"}Send it.'):
        assert visible(assistant(text)) == text


def test_handles_several_results_in_a_row() -> None:
    result = check(assistant(ECHO + OTHER + "\n" + ECHO + "Both are done."))
    assert result.message["content"] == "Both are done."
    assert [echo.content["success"] for echo in result.tool_results or ()] == [True] * 3


def test_gives_the_original_if_there_is_only_a_result() -> None:
    for text in (ECHO, OTHER, ECHO + OTHER + "\n"):
        result = check(assistant(text))
        assert (result.changed, result.blocked) == (False, False)


def test_handles_blank_content() -> None:
    for content in (None, "", " \n", []):
        assert repair(assistant(content)) == Repair(False, False, assistant(content))


def test_detects_malformed_content() -> None:
    found = inspect(assistant(ECHO + "That is noted."))
    assert found.malformed
    assert [(each.kind, each.text) for each in found.findings] == [
        ("tool-result", ECHO)
    ]


def test_is_not_malformed() -> None:
    """Messages of users, clean messages, and messages that are nothing but a result."""
    for message in (
        {"role": "user", "content": ECHO + "That is noted."},
        assistant("An ordinary answer."),
        assistant(ECHO),
    ):
        assert not inspect(message).malformed


def test_cleans_a_message_and_keeps_the_rest_of_it() -> None:
    message = assistant(ECHO + "That is noted.", id=7, author="m")
    result = check(message)
    assert result.changed
    assert result.message == {**message, "content": "That is noted."}
    assert [removal.text for removal in result.removed] == [ECHO]


def test_says_when_there_is_nothing_to_clean() -> None:
    assert not repair(assistant("Clean.")).changed
    assert not repair(check(assistant(ECHO + "Clean.")).message).changed


RESULT = {"rows": [1, 2], "next": None}
SAID = json.dumps(RESULT)
COPY = '{"next": null, "rows": [1, 2]} So there are two.'


@pytest.mark.parametrize(
    "earlier",
    [
        {"role": "tool", "tool_call_id": "c", "content": SAID},
        {"role": "tool", "content": [{"type": "text", "text": SAID}]},
        {"role": "function", "name": "f", "content": SAID},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t", "content": SAID}],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "content": [{"type": "text", "text": SAID}]}
            ],
        },
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "f", "response": RESULT}}],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "f", "response": {"result": RESULT}}}
            ],
        },
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "t", "content": [{"json": RESULT}]}}
            ],
        },
        {"type": "function_call_output", "call_id": "c", "output": SAID},
        {"type": "function_call_output", "output": [{"type": "text", "text": SAID}]},
        {
            "role": "assistant",
            "parts": [{"type": "tool-f", "toolCallId": "c", "output": RESULT}],
        },
        {
            "role": "tool",
            "content": [
                {"type": "tool-result", "output": {"type": "json", "value": RESULT}}
            ],
        },
        {"type": "tool", "content": SAID},
        {"role": "tool", "content": [SAID]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "response": RESULT}]},
        {
            "step_id": 1,
            "source": "agent",
            "message": "",
            "observation": {"results": [{"source_call_id": "c", "content": SAID}]},
        },
    ],
)
def test_results_of_the_session_are_known(earlier: dict[str, Any]) -> None:
    """A copy of an earlier result needs no indicator; a copy of a later result or in
    another session does."""
    assert visible(assistant(COPY)) == COPY
    assert visible(assistant(COPY), earlier) == "So there are two."
    assert not repair(earlier, assistant(COPY)).changed


def test_results_that_are_none() -> None:
    """Nothing raises, and no result is remembered."""
    long = json.dumps({"rows": [1, 2], "next": None, "more": "x" * 70_000})
    for content in (7, [7, None, {}], "text", long, {"value": 7}):
        assert visible(assistant(COPY), {"role": "tool", "content": content}) == COPY


def test_what_was_known_is_forgotten_in_the_end() -> None:
    others = [{"role": "tool", "content": json.dumps({"n": n})} for n in range(300)]
    earlier = {"role": "tool", "content": SAID}
    assert visible(assistant(COPY), earlier, *others) == COPY
    assert visible(assistant(COPY), *others, earlier) == "So there are two."


# --- Calls that were written as text --------------------------------------------------

CALL = '<tool_call>{"name": "look", "arguments": {"at": 1}}</tool_call>'


def test_calls_written_as_text() -> None:
    result = check(assistant(f"I look.\n{CALL}\nI saw."))
    assert result.message["content"] == "I look.\nI saw."
    (call,) = result.tool_calls or ()
    assert (call.name, call.input, call.executable) == ("look", {"at": 1}, False)
    assert [removal.kind for removal in result.removed] == ["tool-call"]


def test_the_copy_of_a_structured_call() -> None:
    """The copy is removed and not reported, because the message has the call."""
    structured = {"id": "c", "function": {"name": "look", "arguments": '{"at": 1}'}}
    result = check(assistant(f"I look.\n{CALL}", tool_calls=[structured]))
    assert result.message["content"] == "I look.\n"
    assert result.tool_calls is None


def test_a_call_within_reasoning() -> None:
    result = check(assistant(f"<think>a\n{CALL}b</think>c"))
    assert result.message["content"] == "c"
    kinds = [removal.kind for removal in result.removed]
    assert kinds == ["reasoning", "tool-call", "reasoning"]


def test_a_call_in_the_messages_own_reasoning() -> None:
    """The call is not in the answer, whatever text is at the same position there."""
    message = assistant("I look.</think> Yes.", reasoning_content=CALL)
    result = check(message)
    assert result.message["content"] == "I look. Yes."
    assert (result.tool_calls, result.removed[0].kind) == (None, "delimiter")


def test_what_the_policy_only_reports_stays() -> None:
    policy = Policy(
        tool_results=ToolResultsPolicy(mode="report"),
        tool_calls=ToolCallsPolicy(mode="report"),
    )
    for text in (ECHO + "x", f"I look.\n{CALL}\nI saw."):
        assert not check(assistant(text), policy=policy).changed


def test_models_without_end() -> None:
    """Names of models come from strangers; each model is read as its own."""
    readings = Readings(StreamOptions())
    history = History(StreamOptions(), readings=readings)
    for number in range(70):
        message = assistant("</think>a", model=f"m{number}")
        assert history.repair(message).changed
    assert len(readings._of) < 64


def test_what_is_shared_knows_nothing_of_a_session() -> None:
    """A result of one session is no echo in the next."""
    readings, echo = Readings(StreamOptions()), assistant('{"found": 3}Three.')
    one, other = (History(StreamOptions(), readings=readings) for _ in range(2))
    one.learn([{"found": 3}])
    assert one.repair(echo).message == assistant("Three.")
    assert not other.repair(echo).changed


def test_what_is_wanted() -> None:
    """A removal that was refused is not asked about again; the others are made."""
    asked: list[str] = []

    def wants(removal: RemovedSpan) -> bool:
        asked.append(removal.removed)
        return "b" not in removal.removed

    history = History(StreamOptions(), wants)
    repair = history.repair(assistant("<think>a</think>x<think>b</think>y.</s>"))
    assert repair.message == assistant("x<think>b</think>y.")
    assert asked == ["<think>a</think>", "<think>b</think>", "</s>"]
    asked.clear()
    between = "<think>b</think>x<think>a</think>y<think>bc</think>z"
    repair = history.repair(assistant(between))
    assert repair.message == assistant("<think>b</think>xy<think>bc</think>z")
    assert asked == ["<think>b</think>", "<think>a</think>", "<think>bc</think>"]


def test_results_that_came_before() -> None:
    """A part of a session is read as if the rest had come before it."""
    whole, text = History(StreamOptions()), '{"n": 1} it is.'
    whole.learn([{"n": 1}])
    part = History(StreamOptions(), known=whole.known)
    repair = part.repair(assistant(text))
    assert repair.changed
    assert repair == whole.repair(assistant(text))
    assert History(StreamOptions()).known == ()
