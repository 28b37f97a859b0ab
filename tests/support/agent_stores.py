"""Stores of agents, as each keeps its sessions: what was asked, and what a model said.

`STORES` names a function for each: it writes the store into an empty folder, with the
model's ``answer`` in every place where the agent keeps one and the user's ``question``
in the others, and gives how many messages of a model there are.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

Store = Callable[[Path, str, str], int]


def _lines(*documents: Any) -> str:
    return "".join(json.dumps(each) + "\n" for each in documents)


def _claude_code(folder: Path, question: str, answer: str) -> int:
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    said = {
        "role": "assistant",
        "model": "claude-x",
        "content": [thinking, text(answer)],
    }
    (folder / "0f3.jsonl").write_text(
        _lines(
            {"type": "summary", "summary": "A talk"},
            {"type": "user", "message": {"role": "user", "content": question}},
            {"type": "assistant", "uuid": "u", "message": said},
        ),
        encoding="utf-8",
    )
    return 1


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def _codex(folder: Path, question: str, answer: str) -> int:
    def item(role: str, kind: str, words: str) -> dict[str, Any]:
        content = [{"type": kind, "text": words}]
        return {
            "type": "response_item",
            "payload": {"type": "message", "role": role, "content": content},
        }

    def event(kind: str, words: str) -> dict[str, Any]:
        return {"type": "event_msg", "payload": {"type": kind, "message": words}}

    def done(who: str, kind: str, words: str) -> dict[str, Any]:
        said = {"type": who, "id": "1", "content": [{"type": kind, "text": words}]}
        payload = {"type": "item_completed", "thread_id": "1", "item": said}
        return {"type": "event_msg", "payload": payload}

    task = {"type": "task_complete", "turn_id": "1", "last_agent_message": answer}
    ended = {"type": "event_msg", "payload": task}
    (folder / "rollout-1.jsonl").write_text(
        _lines(
            {"type": "session_meta", "payload": {"id": "1"}},
            item("user", "input_text", question),
            event("user_message", question),
            event("agent_message", answer),
            item("assistant", "output_text", answer),
            done("UserMessage", "text", question),
            done("AgentMessage", "Text", answer),
            ended,
        ),
        encoding="utf-8",
    )
    base = {"thread_id": "1", "end_ordinal_exclusive": 2, "end_byte_offset": 60}
    fork = {"id": "2", "forked_from_id": "1", "history_base": base}
    (folder / "rollout-2.jsonl").write_text(
        _lines({"type": "session_meta", "payload": fork}), encoding="utf-8"
    )
    return 4


def _codex_app(folder: Path, question: str, answer: str) -> int:
    """What the app shows of its sessions."""
    asked = {"type": "userMessage", "content": [text(question)]}
    thought = {"type": "reasoning", "summary": [question], "content": []}
    with database(folder / "thread_history_1.sqlite") as db:
        db.execute(
            "CREATE TABLE thread_items (thread_id TEXT, rollout_byte_offset INTEGER, "
            "item_json TEXT, PRIMARY KEY (thread_id, item_json))"
        )
        db.execute("CREATE INDEX i ON thread_items(json_extract(item_json, '$.id'))")
        for item in (asked, thought, {"type": "agentMessage", "text": answer}):
            row = (json.dumps(item),)
            db.execute("INSERT INTO thread_items VALUES ('t', 7, ?)", row)
    return 1


def _codex_packed(folder: Path, question: str, answer: str) -> int:
    """After a week it compresses a session."""
    count = _codex(folder, question, answer)
    plain = folder / "rollout-1.jsonl"
    packed = compressed(plain.read_bytes())
    plain.with_suffix(".jsonl.zst").write_bytes(packed)
    plain.unlink()
    return count


def _gemini_cli(folder: Path, question: str, answer: str) -> int:
    messages = [
        {"id": "1", "type": "user", "content": question},
        {"id": "2", "type": "gemini", "content": answer, "thoughts": []},
        {"id": "3", "type": "gemini", "content": [{"text": answer}]},
    ]
    session = {"sessionId": "s", "messages": messages}
    (folder / "session-1.json").write_text(
        json.dumps(session, indent=2), encoding="utf-8"
    )
    (folder / "session-2.jsonl").write_text(_lines(*messages), encoding="utf-8")
    thought = {"text": question, "thought": True}
    checkpoint = [
        {"role": "user", "parts": [{"text": question}]},
        {"role": "model", "parts": [thought, {"text": answer}]},
    ]
    (folder / "checkpoint-a.json").write_text(json.dumps(checkpoint), encoding="utf-8")
    return 5


def _qwen_code(folder: Path, question: str, answer: str) -> int:
    thought = {"text": "Hm.", "thought": True}
    answered = {"event.name": "qwen-code.api_response", "response_text": answer}
    asked = {"event.name": "qwen-code.user_prompt", "prompt": question}
    (folder / "1.jsonl").write_text(
        _lines(
            {"type": "system", "systemPayload": {"uiEvent": asked}},
            {"type": "system", "systemPayload": {"uiEvent": answered}},
            {
                "type": "user",
                "message": {"role": "user", "parts": [{"text": question}]},
            },
            {
                "type": "assistant",
                "message": {"role": "model", "parts": [thought, {"text": answer}]},
            },
        ),
        encoding="utf-8",
    )
    return 2


def _opencode(folder: Path, question: str, answer: str) -> int:
    def write(name: str, document: Any) -> None:
        path = folder / "storage" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document, indent=2), encoding="utf-8")

    write("session/p/ses_1", {"id": "ses_1", "projectID": "p", "directory": "/x"})
    for role, message, words in (
        ("user", "msg_1", question),
        ("assistant", "msg_2", answer),
    ):
        message_row = {"id": message, "sessionID": "ses_1", "role": role}
        write(f"message/ses_1/{message}", message_row)
        part = {"id": f"prt_{message}", "messageID": message, "sessionID": "ses_1"}
        write(f"part/{message}/prt_{message}", {**part, **text(words)})
        step = {**part, "id": f"stp_{message}", "type": "step-start"}
        write(f"part/{message}/stp_{message}", step)
    return 1


def _opencode_export(folder: Path, question: str, answer: str) -> int:
    messages = [
        {"info": {"id": "1", "role": "user"}, "parts": [text(question)]},
        {
            "info": {"id": "2", "role": "assistant"},
            "parts": [{"type": "step-start"}, text(answer)],
        },
    ]
    export = {"info": {"id": "ses_1"}, "messages": messages}
    (folder / "export.json").write_text(json.dumps(export), encoding="utf-8")
    return 1


def _opencode_database(folder: Path, question: str, answer: str) -> int:
    with database(folder / "opencode.db") as db:
        db.execute("CREATE TABLE message (id TEXT, session_id TEXT, data TEXT)")
        db.execute(
            "CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT)"
        )
        for role, words in (("user", question), ("assistant", answer)):
            data = json.dumps({"role": role})
            db.execute("INSERT INTO message VALUES (?, 's', ?)", (role, data))
            for part in ({"type": "step-start"}, text(words)):
                row = ("p", role, json.dumps(part))
                db.execute("INSERT INTO part VALUES (?, ?, 's', ?)", row)
        db.execute("INSERT INTO message VALUES ('odd', 's', 'no json')")
        part = json.dumps(text(question))
        db.execute("INSERT INTO part VALUES ('p', 'odd', 's', ?)", (part,))
        _opencode_events(db, question, answer)
        _opencode_messages(db, question, answer)
    return 3


def _opencode_messages(db: sqlite3.Connection, question: str, answer: str) -> None:
    """Whole messages, of newer versions."""
    db.execute(
        "CREATE TABLE session_message (id TEXT, session_id TEXT, type TEXT, seq INTEGER"
        ", data TEXT)"
    )
    thought = {"type": "reasoning", "text": question}
    state = {"status": "completed", "input": {"q": question}, "content": [text("four")]}
    tool = {"type": "tool", "id": "c", "name": "f", "state": state}
    for number, (type, data) in enumerate(
        (
            ("user", {"text": question}),
            ("assistant", {"agent": "a", "content": [thought, text(answer), tool]}),
            ("idle", {"outcome": "succeeded"}),
        )
    ):
        row = ("m", "s", type, number, json.dumps(data))
        db.execute("INSERT INTO session_message VALUES (?, ?, ?, ?, ?)", row)


def _opencode_events(db: sqlite3.Connection, question: str, answer: str) -> None:
    """The same parts again, as they came."""
    db.execute("CREATE TABLE event (id TEXT, aggregate_id TEXT, type TEXT, data TEXT)")
    for kind, message, part in (
        ("part.updated.1", "user", text(question)),
        ("part.updated.1", "assistant", {"type": "reasoning", "text": question}),
        ("part.updated.1", "assistant", text(answer)),
        ("part.updated.1", "odd", text(question)),
        ("removed.1", "assistant", text(question)),
    ):
        data = json.dumps({"sessionID": "s", "part": {"messageID": message, **part}})
        row = (f"message.{kind}", data)
        db.execute("INSERT INTO event VALUES ('e', 's', ?, ?)", row)
    db.execute("INSERT INTO event VALUES ('e', 's', 'message.part.updated.1', 'odd')")


class database:  # noqa: N801 - used like a function
    """A new database: its rows are written at the end."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path)

    def __enter__(self) -> sqlite3.Connection:
        return self._connection

    def __exit__(self, *_: object) -> None:
        with closing(self._connection), self._connection:
            pass


def _cline(folder: Path, question: str, answer: str) -> int:
    api = [
        {"role": "user", "content": [text(f"<task>{question}</task>")]},
        {"role": "assistant", "content": [text(answer)]},
    ]
    (folder / "api_conversation_history.json").write_text(
        json.dumps(api), encoding="utf-8"
    )
    ui = [
        {"ts": 1, "type": "say", "say": "text", "text": question},
        {"ts": 2, "type": "say", "say": "user_feedback", "text": question},
        {"ts": 3, "type": "say", "say": "reasoning", "text": question},
        {"ts": 4, "type": "say", "say": "text", "text": answer},
        {"ts": 5, "type": "ask", "ask": "followup", "text": question},
        {"ts": 6, "type": "say", "say": "completion_result", "text": answer},
    ]
    (folder / "ui_messages.json").write_text(json.dumps(ui), encoding="utf-8")
    return 3


def _continue(folder: Path, question: str, answer: str) -> int:
    history = [
        {"message": {"role": "user", "content": question}, "contextItems": []},
        {"message": {"role": "assistant", "content": answer}, "contextItems": []},
    ]
    (folder / "1.json").write_text(
        json.dumps({"sessionId": "1", "history": history}), encoding="utf-8"
    )
    entry = {"sessionId": "1", "title": question, "dateCreated": "1"}
    (folder / "sessions.json").write_text(
        json.dumps([{**entry, "workspaceDirectory": "/x"}], indent=2), encoding="utf-8"
    )
    return 1


def _goose(folder: Path, question: str, answer: str) -> int:
    messages = [("user", [text(question)]), ("assistant", [text(answer)])]
    (folder / "1.jsonl").write_text(
        _lines(
            {"working_dir": "/x", "description": "A talk"},
            *(
                {"role": role, "created": 1, "content": parts}
                for role, parts in messages
            ),
        ),
        encoding="utf-8",
    )
    with database(folder / "sessions.db") as db:
        db.execute(
            "CREATE TABLE messages (session_id TEXT, role TEXT, content_json TEXT)"
        )
        for role, parts in messages:
            row = (role, json.dumps(parts))
            db.execute("INSERT INTO messages VALUES ('s', ?, ?)", row)
    return 2


def _crush(folder: Path, question: str, answer: str) -> int:
    with database(folder / "crush.db") as db:
        db.execute("CREATE TABLE messages (id TEXT, role TEXT, parts TEXT)")
        thought = {"type": "reasoning", "data": {"thinking": "Hm.", "signature": "s"}}
        for role, words in (("user", question), ("assistant", answer)):
            parts = [{"type": "text", "data": {"text": words}}]
            if role == "assistant":
                parts = [
                    thought,
                    *parts,
                    {"type": "finish", "data": {"reason": "stop"}},
                ]
            row = (role, role, json.dumps(parts))
            db.execute("INSERT INTO messages VALUES (?, ?, ?)", row)
    return 1


def compressed(data: bytes) -> bytes:
    packed: bytes = _zstd().compress(data)
    return packed


def unpacked(data: bytes) -> bytes:
    plain: bytes = _zstd().decompress(data)
    return plain


def _zstd() -> Any:
    try:
        return import_module("compression.zstd")
    except ImportError:
        return pytest.importorskip("backports.zstd", reason="no zstd (the extra zstd)")


def _zed(folder: Path, question: str, answer: str) -> int:
    thought = {"Thinking": {"text": "Hm.", "signature": "s"}}
    thread = {
        "title": "A talk",
        "messages": [
            {"User": {"id": "1", "content": [{"Text": question}]}},
            {"Agent": {"content": [thought, {"Text": answer}], "tool_results": {}}},
        ],
    }
    data = json.dumps(thread)
    with database(folder / "threads.db") as db:
        db.execute("CREATE TABLE threads (id TEXT, data_type TEXT, data BLOB)")
        packed = compressed(data.encode())
        db.execute("INSERT INTO threads VALUES ('1', 'zstd', ?)", (packed,))
        db.execute("INSERT INTO threads VALUES ('2', 'json', ?)", (data.encode(),))
    return 2


def _vs_code(folder: Path, question: str, answer: str) -> int:
    response = [
        {"kind": "thinking", "value": question},
        {"value": answer, "supportThemeIcons": False},
        {"kind": "toolInvocationSerialized", "value": question},
        {"kind": "markdownContent", "content": {"value": " So it is."}},
    ]
    request = {"requestId": "r", "message": {"text": question}, "response": response}
    state = {"version": 3, "requests": [request]}
    (folder / "1.json").write_text(json.dumps(state), encoding="utf-8")
    part = {"value": answer}
    (folder / "2.jsonl").write_text(
        _lines(
            {"kind": 0, "v": state},
            {"kind": 1, "k": ["customTitle"], "v": question},
            {"kind": 2, "k": ["requests"], "v": [{**request, "requestId": "s"}]},
            {"kind": 2, "k": ["requests", 1, "response"], "v": [part]},
            {"kind": 1, "k": ["requests", 1, "message", "text"], "v": question},
            {"kind": 1, "k": ["requests", 1, "response", 1], "v": part},
            {"kind": 1, "k": ["requests", 1, "response", 1, "value"], "v": answer},
        ),
        encoding="utf-8",
    )
    return 6


def _copilot_cli(folder: Path, question: str, answer: str) -> int:
    (folder / "events.jsonl").write_text(
        _lines(
            {"type": "user.message", "data": {"content": question}},
            {"type": "assistant.reasoning", "data": {"content": question}},
            {
                "type": "assistant.message",
                "data": {"messageId": "1", "content": answer},
            },
        ),
        encoding="utf-8",
    )
    return 1


def _copilot_database(folder: Path, question: str, answer: str) -> int:
    """With an index of what was said, for its search."""
    with database(folder / "session-store.db") as db:
        db.execute(
            "CREATE TABLE turns (session_id TEXT, turn_index INTEGER, "
            "user_message TEXT, assistant_response TEXT)"
        )
        db.execute(
            "CREATE VIRTUAL TABLE search_index USING fts5(content, session_id "
            "UNINDEXED, source_type UNINDEXED, source_id UNINDEXED)"
        )
        for number, said in enumerate((answer, question)):
            row = ("s", number, question, said if said == answer else None)
            db.execute("INSERT INTO turns VALUES (?, ?, ?, ?)", row)
            row = (f"{question}\n{said}", "s", "turn", f"s:turn:{number}")
            db.execute("INSERT INTO search_index VALUES (?, ?, ?, ?)", row)
    return 1


def _pi(folder: Path, question: str, answer: str) -> int:
    def entry(role: str, *parts: Any) -> dict[str, Any]:
        return {"type": "message", "message": {"role": role, "content": [*parts]}}

    call = {"type": "toolCall", "id": "c", "name": "f", "arguments": {"q": question}}
    (folder / "1.jsonl").write_text(
        _lines(
            {"type": "session", "version": 3, "id": "s"},
            entry("user", text(question)),
            entry("assistant", text(answer), call),
            entry("toolResult", text(question)),
        ),
        encoding="utf-8",
    )
    return 1


def _gptme(folder: Path, question: str, answer: str) -> int:
    messages = [
        {"role": "user", "content": question},
        {"role": "assistant", "content": answer, "metadata": {"model": "m"}},
        {"role": "system", "content": question},
    ]
    events = [
        {"seq": number, "type": "message_append", "payload": {"message": message}}
        for number, message in enumerate(messages, 1)
    ]
    for name, lines in (
        ("conversation", messages),
        ("events", events),
        ("branches/b", messages),
        ("branches/b/events", events),
        ("views/v", messages),
    ):
        log = folder / f"{name}.jsonl"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(_lines(*lines), encoding="utf-8")
    return 5


def _cursor(folder: Path, question: str, answer: str) -> int:
    with database(folder / "state.vscdb") as db:
        db.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB)")
        for key, document in (
            ("bubbleId:c:1", {"type": 1, "text": question}),
            ("bubbleId:c:2", {"type": 2, "text": answer}),
            ("composerData:c", {"type": 2, "text": question}),
        ):
            row = (key, json.dumps(document))
            db.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", row)
    return 1


def _open_webui(folder: Path, question: str, answer: str) -> int:
    own = (
        '<details type="reasoning" done="true" duration="2">\n'
        f"<summary>Thought</summary>\n> {question}\n</details>\n"
    )
    messages = {
        "1": {"id": "1", "role": "user", "content": question},
        "2": {"id": "2", "role": "assistant", "content": answer},
        "3": {"id": "3", "role": "assistant", "content": own + answer},
    }
    chat = {"history": {"messages": messages, "currentId": "3"}}
    (folder / "chat-export.json").write_text(
        json.dumps([{"id": "c", "chat": chat}]), encoding="utf-8"
    )
    with database(folder / "webui.db") as db:
        db.execute("CREATE TABLE chat (id TEXT, title TEXT, chat JSON)")
        db.execute("INSERT INTO chat VALUES ('c', 'A talk', ?)", (json.dumps(chat),))
    return 4


def _libre_chat(folder: Path, question: str, answer: str) -> int:
    thought = {"type": "think", "think": question}
    messages = [
        {"sender": "User", "isCreatedByUser": True, "text": question},
        {"sender": "GPT", "isCreatedByUser": False, "text": answer},
        {
            "sender": "GPT",
            "isCreatedByUser": False,
            "text": "",
            "content": [
                thought,
                text(answer),
                {"type": "text", "text": {"value": "."}},
            ],
        },
    ]
    (folder / "talk.json").write_text(
        json.dumps({"messages": messages}), encoding="utf-8"
    )
    return 2


def _chat_gpt(folder: Path, question: str, answer: str) -> int:
    def node(role: str, kind: str, words: str) -> dict[str, Any]:
        content = {"content_type": kind, "parts": [words]}
        return {"message": {"author": {"role": role}, "content": content}}

    mapping = {
        "0": {"message": None},
        "1": node("user", "text", question),
        "2": node("assistant", "code", question),
        "3": node("assistant", "text", answer),
    }
    export = [{"title": "A talk", "mapping": mapping}]
    (folder / "conversations.json").write_text(json.dumps(export), encoding="utf-8")
    return 1


def _pydantic_ai(folder: Path, question: str, answer: str) -> int:
    asked = {"part_kind": "user-prompt", "content": question}
    thought = {"part_kind": "thinking", "content": "Hm."}
    said = {"part_kind": "text", "content": answer}
    messages = [
        {"kind": "request", "parts": [asked]},
        {"kind": "response", "parts": [thought, said], "model_name": "m"},
    ]
    (folder / "talk.json").write_text(json.dumps(messages), encoding="utf-8")
    return 1


def _lang_messages(question: str, answer: str) -> list[Any]:
    def dumped(name: str, words: str) -> dict[str, Any]:
        path = ["langchain", "schema", "messages", name]
        return {
            "lc": 1,
            "type": "constructor",
            "id": path,
            "kwargs": {"content": words},
        }

    return [
        {"type": "human", "data": {"content": question, "type": "human"}},
        {"type": "ai", "data": {"content": answer, "type": "ai"}},
        {"type": "ai", "data": {"content": answer}},
        {"type": "ai", "content": answer},
        dumped("HumanMessage", question),
        dumped("AIMessage", answer),
    ]


def _lang_chain(folder: Path, question: str, answer: str) -> int:
    messages = _lang_messages(question, answer)
    (folder / "talk.json").write_text(json.dumps(messages), encoding="utf-8")
    with database(folder / "memory.db") as db:
        db.execute("CREATE TABLE message_store (session_id TEXT, message TEXT)")
        for message in messages:
            db.execute(
                "INSERT INTO message_store VALUES ('s', ?)", (json.dumps(message),)
            )
    return 8


def _lang_graph(folder: Path, question: str, answer: str) -> int:
    messages = _lang_messages(question, answer)
    state = json.dumps({"v": 1, "channel_values": {"messages": messages}}).encode()
    with database(folder / "checkpoints.sqlite") as db:
        db.execute(
            "CREATE TABLE checkpoints (thread_id TEXT, type TEXT, checkpoint BLOB)"
        )
        db.execute("INSERT INTO checkpoints VALUES ('t', 'json', ?)", (state,))
        db.execute("CREATE TABLE writes (thread_id TEXT, type TEXT, value BLOB)")
        write = json.dumps(messages).encode()
        db.execute("INSERT INTO writes VALUES ('t', 'json', ?)", (write,))
    return 8


def _ai_sdk(folder: Path, question: str, answer: str) -> int:
    messages = [
        {"id": "1", "role": "user", "parts": [text(question)]},
        {
            "id": "2",
            "role": "assistant",
            "parts": [{"type": "step-start"}, text(answer)],
        },
    ]
    (folder / "chat.json").write_text(json.dumps(messages), encoding="utf-8")
    return 1


def _openai_agents(folder: Path, question: str, answer: str) -> int:
    with database(folder / "agents.db") as db:
        db.execute("CREATE TABLE agent_messages (session_id TEXT, message_data TEXT)")
        for message in (
            {"role": "user", "content": question},
            {"role": "assistant", "content": [{"type": "output_text", "text": answer}]},
        ):
            row = (json.dumps(message),)
            db.execute("INSERT INTO agent_messages VALUES ('s', ?)", row)
    return 1


def _llm(folder: Path, question: str, answer: str) -> int:
    with database(folder / "logs.db") as db:
        db.execute("CREATE TABLE responses (prompt TEXT, response TEXT)")
        db.execute("INSERT INTO responses VALUES (?, ?)", (question, answer))
    return 1


def _aider(folder: Path, question: str, answer: str) -> int:
    (folder / ".aider.chat.history.md").write_text(
        "\n# aider chat started at 2026-11-01 10:00:00\n\n"
        f"> Aider v1\n> Added a.py, {question}\n\n"
        f"#### {question}\n#### And why?\n\n{answer}\n\n"
        f"> Tokens: 2 sent\n\n#### {question}\n\n{answer}\n",
        encoding="utf-8",
    )
    return 2


def _cursor_cli(folder: Path, question: str, answer: str) -> int:
    def said(role: str, *content: Any) -> dict[str, Any]:
        return {"role": role, "message": {"content": [*content]}}

    use = {"type": "tool_use", "name": "Read", "input": {"path": question}}
    lines = _lines(said("user", text(question)), said("assistant", text(answer), use))
    (folder / "0f3.jsonl").write_text(lines, encoding="utf-8")
    return 1


def _kimi_code(folder: Path, question: str, answer: str) -> int:
    """The parts of its loop are what it sends; a copy is what it shows."""

    def looped(**event: Any) -> dict[str, Any]:
        return {"type": "context.append_loop_event", "agentId": "main", "event": event}

    def said(role: str, words: str) -> dict[str, Any]:
        return {"role": role, "content": [text(words)], "toolCalls": []}

    thought = {"type": "think", "think": question}
    shown = {"message": {"message": said("assistant", answer), "meta": {}}}
    (folder / "wire.jsonl").write_text(
        _lines(
            {"type": "metadata", "protocol_version": "1.5"},
            {"type": "turn.prompt", "input": [text(question)]},
            {"type": "context.append_message", "message": said("user", question)},
            looped(type="step.begin", turnId="0"),
            looped(type="content.part", turnId="0", part=thought),
            looped(type="content.part", turnId="0", part=text(answer)),
            looped(type="tool.call", toolCallId="c", name="Read", args={"q": question}),
            looped(type="tool.result", toolCallId="c", result={"output": question}),
            {**shown, "type": "agent.message.appended", "kind": "event"},
        ),
        encoding="utf-8",
    )
    return 2


def _kimi_cli(folder: Path, question: str, answer: str) -> int:
    """Its context is what it sends; its events are what it shows again."""
    said = [{"type": "think", "think": question}, text(answer)]
    context = _lines(
        {"role": "_system_prompt", "content": question},
        {"role": "_checkpoint", "id": 0},
        {"role": "user", "content": question},
        {"role": "assistant", "content": said},
        {"role": "_usage", "token_count": 9},
    )
    (folder / "context.jsonl").write_text(context, encoding="utf-8")
    events = (
        ("TurnBegin", {"user_input": question}),
        ("ContentPart", said[0]),
        ("ContentPart", said[1]),
        ("TurnEnd", {}),
    )
    shown = _lines(
        {"type": "metadata", "protocol_version": "1.9"},
        *(
            {"timestamp": 1.5, "message": {"type": type, "payload": payload}}
            for type, payload in events
        ),
    )
    (folder / "wire.jsonl").write_text(shown, encoding="utf-8")
    return 2


def _mistral_vibe(folder: Path, question: str, answer: str) -> int:
    """A log of messages in a folder; in older versions one document."""
    arguments = json.dumps({"q": question})
    call = {"id": "c", "function": {"name": "f", "arguments": arguments}, "index": 0}
    messages = [
        {"role": "user", "content": question, "message_id": "1"},
        {"role": "assistant", "content": answer, "tool_calls": [call]},
        {"role": "tool", "content": question, "name": "f", "tool_call_id": "c"},
    ]
    (folder / "session_2").mkdir()
    log = folder / "session_2" / "messages.jsonl"
    log.write_text(_lines(*messages), encoding="utf-8")
    document = {"metadata": {"session_id": "1"}, "messages": messages}
    (folder / "session_1.json").write_text(json.dumps(document), encoding="utf-8")
    return 2


def _atif(folder: Path, question: str, answer: str) -> int:
    """A trajectory, with one of another agent within."""

    def step(number: int, source: str, message: Any, **more: Any) -> dict[str, Any]:
        return {"step_id": number, "source": source, "message": message, **more}

    call = {"tool_call_id": "c", "function_name": "read", "arguments": {"q": question}}
    seen = {"results": [{"source_call_id": "c", "content": question}]}
    agent = {"name": "a", "version": "1", "model_name": "m"}
    steps = [
        step(1, "system", question),
        step(2, "user", question),
        step(3, "agent", answer, reasoning_content="Hm.", tool_calls=[call]),
        step(4, "agent", [text(answer)], tool_calls=[call], observation=seen),
    ]
    within = {"trajectory_id": "t", "agent": agent, "steps": [step(1, "agent", answer)]}
    shared = {"schema_version": "ATIF-v1.8"}
    whole = {**shared, "session_id": "s", "agent": agent, "steps": steps}
    whole["subagent_trajectories"] = [{**shared, **within}]
    (folder / "trajectory.json").write_text(
        json.dumps(whole, indent=2), encoding="utf-8"
    )
    return 3


def _opentelemetry(folder: Path, question: str, answer: str) -> int:
    """GenAI, what was sent and what came: events, and spans with messages as a string
    of JSON, as OTLP, the console and Jaeger have them."""

    def said(role: str, *parts: Any) -> dict[str, Any]:
        return {"role": role, "parts": [*parts]}

    def part(kind: str, words: str) -> dict[str, str]:
        return {"type": kind, "content": words}

    call = {"type": "tool_call", "id": "c", "name": "read", "arguments": {"q": "x"}}
    result = {"type": "tool_call_response", "id": "c", "response": question}
    sent = [
        said("user", part("text", question)),
        said("assistant", part("reasoning", "Hm."), part("text", answer), call),
        said("tool", result),
    ]
    came = {**said("assistant", part("text", answer)), "finish_reason": "stop"}
    attributes = {"gen_ai.input.messages": sent, "gen_ai.output.messages": [came]}
    (folder / "events.jsonl").write_text(
        _lines({"event_name": "gen_ai.client.inference", "attributes": attributes}),
        encoding="utf-8",
    )
    in_text = {name: json.dumps(each) for name, each in attributes.items()}
    (folder / "console.json").write_text(
        json.dumps({"name": "chat", "attributes": in_text}, indent=4), encoding="utf-8"
    )
    keyed = [
        {"key": name, "value": {"stringValue": json.dumps(each, ensure_ascii=False)}}
        for name, each in attributes.items()
    ]
    spans = [{"name": "chat", "attributes": keyed}]
    (folder / "otlp.jsonl").write_text(
        _lines({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}),
        encoding="utf-8",
    )
    tags = [
        {"key": each["key"], "type": "string", "value": each["value"]["stringValue"]}
        for each in keyed
    ]
    (folder / "jaeger.json").write_text(
        json.dumps({"data": [{"spans": [{"tags": tags}]}]}, ensure_ascii=False),
        encoding="utf-8",
    )
    return 8


def _a2a(folder: Path, question: str, answer: str) -> int:
    """A task of version 1.0, and a message of 0.3."""

    def said(role: str, number: str, words: str) -> dict[str, Any]:
        return {"messageId": number, "role": role, "parts": [{"text": words}]}

    task = {
        "id": "t",
        "contextId": "c",
        "status": {
            "state": "TASK_STATE_COMPLETED",
            "message": said("ROLE_AGENT", "3", answer),
        },
        "artifacts": [{"artifactId": "a", "parts": [{"text": answer}]}],
        "history": [
            said("ROLE_USER", "1", question),
            said("ROLE_AGENT", "2", answer),
        ],
    }
    older = {"kind": "message", "messageId": "4"}
    parts = [{"kind": "text", "text": answer}, {"kind": "data", "data": {"n": 1}}]
    (folder / "task.json").write_text(json.dumps(task), encoding="utf-8")
    (folder / "older.json").write_text(
        json.dumps(
            [
                {**older, "role": "user", "parts": [{"text": question}]},
                {**older, "role": "agent", "parts": parts},
            ]
        ),
        encoding="utf-8",
    )
    return 4


def _acp(folder: Path, question: str, answer: str) -> int:
    """Updates of a session, of version 2."""

    def update(kind: str, **more: Any) -> dict[str, Any]:
        params = {"sessionId": "s", "update": {"sessionUpdate": kind, **more}}
        return {"jsonrpc": "2.0", "method": "session/update", "params": params}

    def said(kind: str, words: str) -> dict[str, Any]:
        return update(kind, messageId=kind, content=[text(words)])

    answered = [{"type": "content", "content": text(question)}]
    (folder / "updates.jsonl").write_text(
        _lines(
            said("user_message", question),
            said("agent_thought", question),
            update("tool_call_update", toolCallId="c", title="x", content=answered),
            said("agent_message", answer),
        ),
        encoding="utf-8",
    )
    return 1


STANDARDS: dict[str, Store] = {
    "atif": _atif,
    "opentelemetry": _opentelemetry,
    "a2a": _a2a,
    "acp": _acp,
}
"""What is no agent's own, but many write it."""

STORES: dict[str, Store] = {
    **STANDARDS,
    "claude-code": _claude_code,
    "codex": _codex,
    "codex-packed": _codex_packed,
    "codex-app": _codex_app,
    "gemini-cli": _gemini_cli,
    "qwen-code": _qwen_code,
    "mistral-vibe": _mistral_vibe,
    "opencode": _opencode,
    "opencode-export": _opencode_export,
    "opencode-database": _opencode_database,
    "kimi-code": _kimi_code,
    "kimi-cli": _kimi_cli,
    "cline": _cline,
    "continue": _continue,
    "goose": _goose,
    "crush": _crush,
    "zed": _zed,
    "vs-code": _vs_code,
    "copilot-cli": _copilot_cli,
    "copilot-database": _copilot_database,
    "pi": _pi,
    "gptme": _gptme,
    "cursor": _cursor,
    "cursor-cli": _cursor_cli,
    "open-webui": _open_webui,
    "libre-chat": _libre_chat,
    "chatgpt": _chat_gpt,
    "pydantic-ai": _pydantic_ai,
    "langchain": _lang_chain,
    "langgraph": _lang_graph,
    "ai-sdk": _ai_sdk,
    "openai-agents": _openai_agents,
    "llm": _llm,
    "aider": _aider,
}
