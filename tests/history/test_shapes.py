"""Records of agents: which are a model's, where their text is, and which only look
so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_stores import STORES

from stream_sidecar.history.chat_logs import NAME, answers_in, is_chat_log, message_of
from stream_sidecar.history.cuts import drops_of, spans_of
from stream_sidecar.history.documents import messages_in
from stream_sidecar.history.history import History
from stream_sidecar.history.messages import role_of
from stream_sidecar.history.reading import engine_text
from stream_sidecar.history.results import Repair
from stream_sidecar.history.shapes import is_piece, shape_of
from stream_sidecar.options import StreamOptions
from stream_sidecar.session_files.datasets import replaced

LEAK, CLEAN, QUESTION = "<think>Hm.</think>Four.", "Four.", "Why </think>?"


def of_model(record: dict[str, Any]) -> str:
    """Stands for another file that says so."""
    return "assistant"


@pytest.mark.parametrize("name", STORES)
def test_records_of_an_agent(name: str, tmp_path: Path) -> None:
    """The findings are where the text is, and the repaired record is the clean twin."""
    leaking, clean = tmp_path / "leaking", tmp_path / "clean"
    for folder, words in ((leaking, LEAK), (clean, CLEAN)):
        folder.mkdir()
        STORES[name](folder, QUESTION, words)
    for path in (each for each in leaking.rglob("*.json*") if each.suffix != ".zst"):
        twin = (clean / path.relative_to(leaking)).read_text(encoding="utf-8")
        text = path.read_text(encoding="utf-8")
        for old, new in zip(
            _documents(path, text), _documents(path, twin), strict=True
        ):
            assert _repaired(old, path) == json.loads(new)


def _documents(path: Path, text: str) -> list[str]:
    return text.splitlines() if path.suffix == ".jsonl" else [text]


def _repaired(text: str, path: Path) -> Any:
    document = json.loads(text)
    role = None if "msg_1" in str(path) else of_model
    history = History(StreamOptions())
    for found in messages_in(document, role):
        repair = history.examine(found).repair()
        (spans,) = spans_of(text, [(found, repair.removed)])
        found_texts = [json.loads(f'"{text[s:e]}"') for s, e in spans]
        if found_texts != [each.text for each in repair.removed]:  # in a string of JSON
            found_texts = [json.loads(f'"{each}"') for each in found_texts]
        assert found_texts == [each.text for each in repair.removed]
        document = replaced(document, [(found, repair)])
    return document


NONE = (
    None,
    "text",
    {"type": "gemini"},
    {"type": "gemini", "content": 7},
    {"type": "agent_message", "message": None},
    {"type": "say", "say": "tool", "text": LEAK},
    {"type": "ask", "say": "text", "text": LEAK},
    {"type": "text", "text": LEAK},
    {"id": [], "kwargs": {"content": LEAK}},
    {"id": ["x", "HumanMessage"], "kwargs": {"content": LEAK}},
    {"Agent": LEAK},
    {"type": 2, "text": LEAK},
    {"key": [], "text": LEAK},
    {"role": "user", "isCreatedByUser": False, "text": LEAK},
    {"response": [{"value": LEAK}]},
    {"kind": 1, "k": "requests", "v": [{"value": LEAK}]},
    {"kind": 9, "k": ["requests", 0, "response"], "v": [{"value": LEAK}]},
)


@pytest.mark.parametrize("document", NONE)
def test_what_is_no_models(document: Any) -> None:
    assert [each for each in messages_in(document) if each.shape is not None] == []
    assert shape_of(document) is None


def test_pieces_of_a_store() -> None:
    """A role without text and parts whose role is known are pieces; nothing else is."""
    assert is_piece({"role": "user", "id": "1", "sessionID": "2"}, None)
    assert not is_piece({"role": "user", "id": "1"}, None)
    assert is_piece({"type": "tool"}, of_model)
    assert is_piece({"id": "p", "worktree": "/"}, None)
    assert is_piece([], None)
    assert is_piece([{"file": "a", "additions": 1, "deletions": 0}], None)
    assert not is_piece({"type": "tool"}, None)
    assert not is_piece({"type": "tool"}, lambda _record: None)
    assert not is_piece({"role": "user", "content": ""}, None)
    assert not is_piece(["role"], None)


def test_a_part_that_is_the_whole_record_stays() -> None:
    """An object in place of a list of parts cannot be removed."""
    message = {
        "type": "gemini",
        "content": {"text": "<think>a</think>"},
        "tool_calls": [{}],
    }
    repair = History(StreamOptions()).repair(message)
    assert repair.dropped == []
    assert repair.message["content"] == {"text": ""}


_LANG = {"id": "1", "name": "f", "args": {"a": 1}, "type": "tool_call"}
_CHAT = {"id": "1", "type": "function"}
_CHAT["function"] = {"name": "f", "arguments": '{"a": 1}'}
_BESIDE = {
    "LangChain": lambda said: {"type": "ai", **said(tool_calls=[_LANG])},
    "LangChain, sent along": lambda said: {
        "type": "ai",
        **said(additional_kwargs={"tool_calls": [_CHAT]}),
    },
    "LangChain, dicts": lambda said: {"type": "ai", "data": said(tool_calls=[_LANG])},
    "LangChain, dumps": lambda said: {
        "id": ["x", "AIMessage"],
        "kwargs": said(tool_calls=[_LANG]),
    },
    "Continue": lambda said: {"role": "assistant", **said(toolCalls=[_CHAT])},
    "Gemini CLI": lambda said: {"type": "gemini", **said(toolCalls=[_LANG])},
    "ATIF": lambda said: {
        "step_id": 1,
        "source": "agent",
        "message": said()["content"],
        "tool_calls": [
            {"tool_call_id": "1", "function_name": "f", "arguments": {"a": 1}}
        ],
    },
    "Copilot CLI": lambda said: {
        "type": "assistant.message",
        "data": said(
            toolRequests=[{"toolCallId": "1", "name": "f", "arguments": {"a": 1}}]
        ),
    },
}
"""Records with a call beside their text."""


@pytest.mark.parametrize("name", _BESIDE)
def test_a_call_beside_the_text_of_an_agent(name: str) -> None:
    """The call stays if the text is removed, it ends reasoning that the prompt opened,
    and the same call as text is its copy."""

    def of(content: str) -> Repair:
        record = _BESIDE[name](lambda **more: {"content": content, **more})
        return History(StreamOptions(model="deepseek-r1")).repair(record)

    assert of("<think>Hm.</think>").changed
    assert of("Plan.\n</think>\n").reasoning == "Plan.\n"
    call = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
    copy = of(f"</think>I look.\n{call}")
    assert [each.kind for each in copy.removed] == ["delimiter", "tool-call"]
    assert copy.tool_calls is None


@pytest.mark.parametrize(
    "record",
    [
        {"type": "ai", "data": {"content": LEAK, "reasoning_content": "Hm."}},
        {
            "type": "ai",
            "content": LEAK,
            "additional_kwargs": {"reasoning_content": "Hm."},
        },
        {
            "type": "assistant.message",
            "data": {"content": LEAK, "reasoningText": "Hm."},
        },
    ],
)
def test_reasoning_beside_the_text_of_an_agent(record: dict[str, Any]) -> None:
    """Text that repeats this reasoning is not reported again, and reasoning alone is
    not content."""
    repair = History(StreamOptions()).repair(record)
    assert (repair.changed, repair.reasoning) == (True, None)
    text = json.dumps(record).replace(LEAK, "<think>Hm.</think>")
    assert History(StreamOptions()).repair(json.loads(text)).blocked


def test_two_fields_of_an_agent_and_a_part_that_goes() -> None:
    message = {
        "isCreatedByUser": False,
        "text": LEAK,
        "content": ["<think>", "b</think>", {"type": "text", "text": {"value": "c"}}],
    }
    found = next(messages_in([message]))
    repair = History(StreamOptions()).repair(message)
    assert repair.message == {
        "isCreatedByUser": False,
        "text": "Four.",
        "content": [{"type": "text", "text": {"value": "c"}}],
    }
    text = json.dumps([message])
    cuts = drops_of(text, found, repair.dropped)
    for part, wanted in (("/content/0", '"b</think>"'), ("/content/1", '"<think>"')):
        start, end = cuts[part]
        left = json.loads(text[:start] + text[end:])[0]["content"]
        assert json.dumps(left[0]) == wanted
        assert len(left) == 2
    assert drops_of(text, found, ()) == {}


def test_roles() -> None:
    assert role_of({"role": "user", "type": "ai"}) == "user"
    assert role_of({"type": "ai"}) == "ai"
    assert role_of({"type": "gemini"}) is None
    assert role_of({"role": 7}) is None


def test_a_block_of_the_program_is_read_without_meaning() -> None:
    own = '<details type="reasoning" done="true">\n> a </think>\n</details>'
    assert engine_text(f"{own}b") == "\ufffc" * len(own) + "b"
    assert engine_text(f"a{own}{own}b") == "a" + "\ufffc" * 2 * len(own) + "b"
    open_end = '<details type="reasoning">a'
    assert engine_text(open_end) == open_end


def test_answers_of_a_chat_log() -> None:
    log = (
        "#### hi\n#### there\n\n A\u2028\n> B \n> C\nD\n"
        "#### e\n# aider chat started at 2\nF\n"
    )
    assert [log[start:end] for start, end in answers_in(log)] == ["A"]
    assert [*answers_in("#### hi\n\nend")] == [(9, 12)]
    assert [*answers_in("#### hi\n \n")] == []
    assert message_of("x").message == {"role": "assistant", "content": "x"}
    assert is_chat_log("a.md", "# aider chat started at 1")
    assert is_chat_log(f"x{NAME}", "\n#### hi")
    assert not is_chat_log("a.md", "#### hi")
    assert not is_chat_log(NAME + ".bak", "#### hi")
