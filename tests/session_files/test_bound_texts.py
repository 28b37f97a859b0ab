"""Stored sessions with signed thinking: what the agent sends after a repair fits.

Each signature is a hash of everything before it (`sealing.py`), as a provider makes it.
A repaired session is read as its agent reads it, and the provider judges the request.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from agent_stores import compressed, database
from attrs import frozen
from click.testing import CliRunner, Result
from fixing import WHOLE, fixed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from rpc_client import RpcClient
from sealing import misfits, seal_all

from stream_sidecar.cli import main
from stream_sidecar.options import StreamOptions
from stream_sidecar.session_files.datasets import RowRepair

Json = Any

LEAK = "<think>So.</think>Four."
MODEL = "claude-opus-5-5"


def repair(*arguments: object) -> Result:
    runner = CliRunner(env={"COLUMNS": "500"})
    return runner.invoke(main, ["repair", *map(str, arguments)])


def thinking(sign: str = "") -> Json:
    return {"type": "thinking", "thinking": "Hm", "signature": sign}


def conversation(turns: list[str]) -> list[Json]:
    """The messages of a sealed conversation. A turn is a word of letters: ``t`` signed
    thinking, ``l`` a leak, ``c`` a clean text."""
    blocks = {
        "t": thinking,
        "l": lambda: {"type": "text", "text": LEAK},
        "c": lambda: {"type": "text", "text": "Four."},
    }
    messages: list[Json] = []
    for turn in turns:
        messages.append({"role": "user", "content": "2 + 2?"})
        content = [blocks[letter]() for letter in turn]
        messages.append({"role": "assistant", "model": MODEL, "content": content})
    body = sent(messages)
    seal_all("anthropic", body)
    return messages


def sent(messages: list[Json]) -> Json:
    """The request of an agent: messages without content are left out."""
    return {
        "model": MODEL,
        "system": "Be short.",
        "messages": [
            {"role": each["role"], "content": each["content"]}
            for each in messages
            if each["content"]
        ],
    }


# --- What agents keep -----------------------------------------------------------------


@frozen
class Store:
    """How an agent keeps a conversation, and how it reads it again."""

    name: str
    write: Callable[[Path, list[Json]], None]
    read: Callable[[Path], list[Json]]


def _claude_code_lines(messages: list[Json]) -> list[Json]:
    """Each block is a record of its own; the records of a message have its id."""
    lines: list[Json] = []
    parent = None
    for number, message in enumerate(messages):
        content = message["content"]
        is_list = isinstance(content, list)
        for part in [[each] for each in content] if is_list else [content]:
            said = {**message, "content": part, "id": f"msg_{number}"}
            uuid = f"u{len(lines)}"
            line = {"parentUuid": parent, "isSidechain": False, "type": message["role"]}
            lines.append({**line, "message": said, "uuid": uuid, "sessionId": "s"})
            parent = uuid
    return lines


def _write_lines(path: Path, lines: list[Json]) -> None:
    text = "".join(json.dumps(each) + "\n" for each in lines)
    path.write_text(text, encoding="utf-8")


def _lines_in(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _write_claude_code(path: Path, messages: list[Json]) -> None:
    lines = _claude_code_lines(messages)
    aside = [
        {**each, "isSidechain": True, "uuid": f"a{each['uuid']}"}
        | {"parentUuid": each["parentUuid"] and f"a{each['parentUuid']}"}
        for each in _claude_code_lines(conversation(["cc"]))
    ]
    _write_lines(path, [{"type": "summary", "summary": "A talk"}, *aside, *lines])


def _read_claude_code(path: Path) -> list[Json]:
    messages: list[Json] = []
    for line in _lines_in(path):
        if "message" not in line or line["isSidechain"]:
            continue
        message, last = line["message"], messages[-1] if messages else {}
        if last.get("id") == message["id"]:
            last["content"] += message["content"]
        else:
            messages.append({**message})
    return messages


def _write_whole_records(path: Path, messages: list[Json]) -> None:
    _write_lines(path, [{"type": m["role"], "message": m} for m in messages])


def _parts(message: Json) -> list[Json]:
    """The parts of a message as opencode keeps them."""
    content = message["content"]
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [
        {
            "type": "reasoning",
            "text": each["thinking"],
            "metadata": {"anthropic": {"signature": each["signature"]}},
        }
        if each["type"] == "thinking"
        else each
        for each in content
    ]


def _content(parts: list[Json]) -> list[Json]:
    """What opencode sends of the parts."""
    return [
        {"type": "thinking", "thinking": each["text"], **each["metadata"]["anthropic"]}
        if each["type"] == "reasoning"
        else {"type": "text", "text": each["text"]}
        for each in parts
    ]


def _write_opencode(path: Path, messages: list[Json]) -> None:
    with database(path) as db:
        db.execute("CREATE TABLE message (id TEXT, session_id TEXT, data TEXT)")
        db.execute(
            "CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT)"
        )
        for number, message in enumerate(messages):
            said = {"role": message["role"], "modelID": message.get("model")}
            row = (f"msg_{number}", json.dumps(said))
            db.execute("INSERT INTO message VALUES (?, 's', ?)", row)
            for part in _parts(message):
                cell = (f"msg_{number}", json.dumps(part))
                db.execute("INSERT INTO part VALUES ('p', ?, 's', ?)", cell)
            other = ("other", json.dumps({"type": "text", "text": "Hi"}))
            db.execute("INSERT INTO part VALUES ('p', ?, 'other', ?)", other)


def _read_opencode(path: Path) -> list[Json]:
    with closing(sqlite3.connect(path)) as db:
        messages = db.execute("SELECT id, data FROM message").fetchall()
        rows = db.execute("SELECT message_id, data FROM part ORDER BY rowid").fetchall()
    parts = {id: [json.loads(d) for of, d in rows if of == id] for id, _ in messages}
    return [
        {"role": json.loads(data)["role"], "content": _content(parts[id])}
        for id, data in messages
    ]


def _write_export(path: Path, messages: list[Json]) -> None:
    listed = [
        {
            "info": {"role": each["role"], "modelID": each.get("model")},
            "parts": _parts(each),
        }
        for each in messages
    ]
    path.write_text(
        json.dumps({"info": {"id": "s"}, "messages": listed}), encoding="utf-8"
    )


def _read_export(path: Path) -> list[Json]:
    return [
        {"role": each["info"]["role"], "content": _content(each["parts"])}
        for each in json.loads(path.read_text(encoding="utf-8"))["messages"]
    ]


STORES = [
    Store("claude-code.jsonl", _write_claude_code, _read_claude_code),
    Store(
        "records.jsonl",
        _write_whole_records,
        lambda path: [each["message"] for each in _lines_in(path)],
    ),
    Store(
        "session.json",
        lambda path, messages: (
            path.write_text(json.dumps({"messages": messages}), encoding="utf-8")
            and None
        ),
        lambda path: json.loads(path.read_text(encoding="utf-8"))["messages"],
    ),
    Store("opencode.db", _write_opencode, _read_opencode),
    Store("export.json", _write_export, _read_export),
]


TURNS = some.lists(some.text("tlc", min_size=1, max_size=4), min_size=1, max_size=4)


@pytest.mark.parametrize("store", STORES, ids=lambda each: each.name)
@given(turns=TURNS, unseal=some.booleans())
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_repair_makes_a_provider_refuse(
    tmp_path: Path, store: Store, turns: list[str], unseal: bool
) -> None:
    path = tmp_path / store.name
    for each in tmp_path.iterdir():
        each.unlink()
    store.write(path, conversation(turns))
    assert not misfits("anthropic", sent(store.read(path)))
    was = path.read_bytes()

    arguments = ["--unseal"] if unseal else []
    done = repair(path, "--write", *arguments)
    now = store.read(path)
    assert not misfits("anthropic", sent(now))
    order = "".join(turns)
    has_bound = "l" in order[: order.rfind("t") + 1]
    assert done.exit_code == (2 if has_bound and not unseal else 0), done.output
    assert (" bound: " in done.output) == (has_bound and not unseal)
    if unseal:
        assert LEAK not in str(now)
        kept = order[: order.find("l") if "l" in order else None].count("t")
        assert str(now).count("'thinking', ") == kept
    if path.read_bytes() != was:
        assert repair(path, "--restore").exit_code == 0
        assert path.read_bytes() == was or store.name == "opencode.db"


# --- What is said ---------------------------------------------------------------------


def _bound_log(folder: Path) -> Path:
    path = folder / "a.jsonl"
    _write_whole_records(path, conversation(["l", "ctl"]))
    return path


def test_it_is_reported_as_bound(tmp_path: Path) -> None:
    path = _bound_log(tmp_path)
    report = json.loads(repair(path, "--output-format", "json").output)
    assert [each.get("bound", False) for each in report["findings"]] == [True, False]
    (file,) = report["files"]
    counts = [file[name] for name in ("changed", "bound", "unsealed")]
    assert counts == [2, 1, 0]
    assert file["kept"] == {"a later seal is bound to it": 1}
    assert (report["summary"]["bound"], report["summary"]["unsealed"]) == (1, 0)
    said = repair(path, "--diff").output
    assert "reasoning bound" in said
    assert "1 bound: a later seal is bound to it" in said
    assert "--unseal edits the text" in said
    assert repair(path, "--check").exit_code == 1
    for form in ("github", "sarif"):
        assert "; bound: a later seal" in repair(path, "--output-format", form).output


def test_what_unseal_would_change(tmp_path: Path) -> None:
    path = _bound_log(tmp_path)
    before = path.read_bytes()
    said = repair(path, "--unseal").output
    assert "1 block of signed thinking would be removed" in said
    assert path.read_bytes() == before
    done = repair(path, "--write", "--unseal")
    assert done.exit_code == 0
    assert "1 unsealed" in done.output
    assert "1 block of signed thinking was removed" in done.output
    assert (
        json.loads(path.read_text(encoding="utf-8").splitlines()[3])["message"][
            "content"
        ]
        == [{"type": "text", "text": "Four."}] * 2
    )


def test_asking_leaves_bound_text(tmp_path: Path) -> None:
    path = _bound_log(tmp_path)
    runner = CliRunner()
    done = runner.invoke(main, ["repair", str(path), "--ask"], input="y\n")
    assert done.exit_code == 2
    assert done.output.count("Remove it?") == 1
    _write_whole_records(path, conversation(["l", "ctl"]))
    arguments = ["repair", str(path), "--ask", "--unseal"]
    runner.invoke(main, arguments, input="n\ny\n")
    messages = [each["message"] for each in _lines_in(path)]
    assert not misfits("anthropic", sent(messages))
    assert str(messages).count("signature") == 1
    assert "--unseal cannot" in repair(path, "--restore", "--unseal").output


@pytest.mark.parametrize(
    ("model", "is_bound"),
    [("claude-opus-5", False), ("anthropic/claude-fable-6", True)],
)
def test_the_model_of_the_command_counts_if_none_is_named(
    tmp_path: Path, model: str, is_bound: bool
) -> None:
    messages = conversation(["l", "tc"])
    for each in messages:
        each.pop("model", None)
    path = tmp_path / "a.json"
    path.write_text(json.dumps(messages), encoding="utf-8")
    done = repair(path, "--write", "--model", model)
    assert done.exit_code == (2 if is_bound else 0)
    assert (LEAK in path.read_text(encoding="utf-8")) == is_bound


def test_a_branch_that_a_seal_does_not_continue(tmp_path: Path) -> None:
    """A rewound branch, and a side chain after it, are not bound."""
    lines = _claude_code_lines(conversation(["c", "l", "tc"]))
    branch = {**lines[3], "uuid": "x", "parentUuid": "u2"}
    aside = {**lines[3], "uuid": "y", "parentUuid": None, "isSidechain": True}
    lost = {**lines[3], "uuid": "z", "parentUuid": "nowhere"}
    path = tmp_path / "a.jsonl"
    _write_lines(path, [*lines[:4], branch, aside, *lines[4:], lost])
    assert repair(path, "--write").exit_code == 2
    texts = {e["uuid"]: str(e["message"]["content"]) for e in _lines_in(path)}
    assert [name for name, text in texts.items() if LEAK in text] == ["u3"]

    _write_lines(path, [*lines[:4], branch, *lines[4:]])
    assert repair(path, "--write", "--unseal").exit_code == 0
    assert "signature" not in path.read_text(encoding="utf-8")


def test_a_message_of_thinking_alone_goes_from_its_list(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(conversation(["l", "t", "tc"])), encoding="utf-8")
    assert repair(path, "--write", "--unseal").exit_code == 0
    roles = [each["role"] for each in json.loads(path.read_text(encoding="utf-8"))]
    assert roles == ["user", "assistant", "user", "user", "assistant"]


def test_a_message_of_thinking_alone_goes_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    messages = conversation(["l", "t", "tc"])
    _write_whole_records(path, messages)
    assert repair(path, "--write", "--unseal").exit_code == 0
    roles = [each["type"] for each in _lines_in(path)]
    assert roles == ["user", "assistant", "user", "user", "assistant"]
    _write_lines(path, _claude_code_lines(messages))
    assert repair(path, "--write", "--unseal").exit_code == 0
    contents = [each["message"]["content"] for each in _lines_in(path)]
    assert contents.count([]) == 2


def test_a_message_with_calls_beside_its_content_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    sealed, text = thinking("c2ln"), {"type": "text", "text": "Four."}
    messages = [
        _chat(),
        _chat(content=[sealed], tool_calls=[{"id": "1"}]),
        _chat(content=[text], thinking_blocks=[sealed]),
        _chat(content=None, thinking_blocks=[sealed]),
    ]
    path.write_text(json.dumps(messages), encoding="utf-8")
    assert repair(path, "--write", "--unseal").exit_code == 0
    assert json.loads(path.read_text(encoding="utf-8")) == [
        _chat(content="Four."),
        _chat(content=[], tool_calls=[{"id": "1"}]),
        _chat(content=[text], thinking_blocks=[]),
    ]


def test_calls_at_the_same_time(tmp_path: Path) -> None:
    """Claude Code writes a record for each block of an answer. A result continues the
    record of its call, so that blocks of one answer are on several branches."""

    def line(uuid: str, parent: str | None, answer: str, block: Json) -> Json:
        said = {"role": "assistant", "model": MODEL, "id": answer, "content": [block]}
        return {"uuid": uuid, "parentUuid": parent, "message": said}

    call = {"type": "tool_use", "id": "t", "name": "sh", "input": {}}
    lines = [
        line("a", None, "first", thinking("c2ln")),
        line("b", "a", "first", call),
        line("d", "b", "first", _TEXT),
        {"uuid": "c", "parentUuid": "b", "message": {"role": "user", "content": "4"}},
        line("e", "c", "second", thinking("c2ln")),
        line("f", "d", "first", _TEXT),
        line("g", "e", "third", thinking("c2ln")),
        line("h", "f", "first", _TEXT),
    ]
    path = tmp_path / "a.jsonl"
    _write_lines(path, lines)
    assert repair(path, "--write").exit_code == 2
    said = [LEAK in str(each) for each in _lines_in(path)]
    assert said == [False, False, True, False, False, False, False, False]
    _write_lines(path, [*lines[:5], lines[6], lines[5], lines[7], lines[4]])
    assert repair(path, "--write", "--unseal").exit_code == 0
    kept = ["c2ln" in str(each) for each in _lines_in(path)]
    assert kept == [True] + [False] * 8


def test_a_compressed_log(tmp_path: Path) -> None:
    plain = _bound_log(tmp_path).read_bytes()
    path = tmp_path / "b.jsonl.zst"
    path.write_bytes(compressed(plain))
    assert "1 bound" in repair(path).output
    assert "1 block of signed thinking" in repair(path, "--unseal").output


def test_a_large_log_on_all_cores(tmp_path: Path) -> None:
    path = _bound_log(tmp_path)
    filler = {"type": "user", "message": {"role": "user", "content": "x" * 1_000_000}}
    lines = _lines_in(path)
    _write_lines(path, [*lines[:2], *[filler] * 9, *lines[2:]])
    (file,) = json.loads(repair(path, "--output-format", "json").output)["files"]
    assert (file["bound"], file["changed"]) == (1, 2)
    assert repair(path, "--write", "--unseal").exit_code == 0
    assert "<think>" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("as_text", [True, False])
def test_a_row_of_a_dataset(as_text: bool) -> None:
    messages = conversation(["l", "t", "tl"])
    value = json.dumps(messages) if as_text else messages

    def of(unseal: bool) -> tuple[list[Json], Json]:
        given = json.loads(json.dumps(value))
        new, note = RowRepair("d", "m", StreamOptions(), unseal=unseal)._row(given, 0)
        return json.loads(new) if as_text else new, json.loads(note)[0]

    kept, counts = of(unseal=False)
    assert not misfits("anthropic", sent(kept))
    assert counts == [0, 1, 0, {"a later seal is bound to it": 1}]
    assert str(kept).count(LEAK) == 1
    edited, counts = of(unseal=True)
    assert counts == [0, 0, 2, {}]
    assert LEAK not in str(edited)
    assert len(edited) == 5


# --- Halves of characters -------------------------------------------------------------


def test_half_a_character_keeps_the_length_of_its_file(tmp_path: Path) -> None:
    messages = conversation(["c", "tc"])
    path = tmp_path / "a.jsonl"
    _write_whole_records(path, messages)
    text = path.read_text(encoding="utf-8")
    first = text.replace("Four.", r"\ud83d\ude00 \uD83d", 1)
    raw = first.encode().replace(b"Four.", b"Four\xed\xa0\xbd")
    path.write_bytes(raw)
    assert repair(path, "--check").exit_code == 1
    assert "surrogate" in repair(path, "--diff").output
    done = repair(path, "--write")
    assert done.exit_code == 0, done.output
    new = path.read_bytes()
    wanted = raw.replace(rb"\uD83d", rb"\ufffd").replace(
        b"\xed\xa0\xbd", b"\xef\xbf\xbd"
    )
    assert new == wanted
    path.write_bytes(raw)
    assert repair(path, "--write", "--except", "surrogate").exit_code == 0
    assert path.read_bytes() == raw


def test_half_a_character_in_a_cell(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    part = json.dumps({"type": "text", "text": "4 \ud83d"})
    with database(path) as db:
        db.execute("CREATE TABLE messages (role TEXT, content_json TEXT, session_id)")
        row = ("assistant", f"[{part}]")
        db.execute("INSERT INTO messages VALUES (?, ?, 's')", row)
    assert repair(path, "--write").exit_code == 0
    with closing(sqlite3.connect(path)) as db:
        ((cell,),) = db.execute("SELECT content_json FROM messages")
    assert cell == f"[{part}]".replace("d83d", "fffd")


# --- How agents spell it --------------------------------------------------------------


def _chat(**more: Json) -> Json:
    return {"role": "assistant", "content": LEAK, "model": MODEL, **more}


_CLAUDE = {"type": "reasoning.text", "text": "Hm", "format": "anthropic-claude-v1"}
_SIGNED = {**_CLAUDE, "signature": "c2ln"}
_TEXT = {"type": "text", "text": LEAK}
_ROUTED = {"openrouter": {"reasoning_details": [_SIGNED]}}

SPELLINGS: dict[str, Json] = {
    "pi": [
        {"type": "session", "id": "s"},
        {
            "type": "message",
            "id": "1",
            "parentId": None,
            "message": {"role": "assistant", "model": MODEL, "content": [_TEXT]},
        },
        {
            "type": "message",
            "id": "2",
            "parentId": "1",
            "message": {
                "role": "assistant",
                "model": MODEL,
                "content": [
                    {"type": "thinking", "thinking": "", "thinkingSignature": "c2ln"}
                ],
            },
        },
    ],
    "zed": {
        "model": {"provider": "anthropic", "model": MODEL},
        "messages": [
            {"Agent": {"content": [{"Text": LEAK}]}},
            {"Agent": {"content": [{"Thinking": {"text": "", "signature": "c2ln"}}]}},
        ],
    },
    "pydantic-ai": [
        {
            "kind": "response",
            "model_name": MODEL,
            "parts": [
                {"part_kind": "text", "content": LEAK},
                {"part_kind": "thinking", "content": "", "signature": "c2ln"},
            ],
        }
    ],
    "AI SDK": [
        {
            "role": "assistant",
            "model": MODEL,
            "parts": [
                _TEXT,
                {
                    "type": "reasoning",
                    "text": "",
                    "providerMetadata": {"anthropic": {"signature": "c2ln"}},
                },
            ],
        }
    ],
    "LangChain": [
        {
            "type": "ai",
            "response_metadata": {"model_name": MODEL},
            "content": [_TEXT, thinking("c2ln")],
        }
    ],
    "Bedrock": [
        {
            "role": "assistant",
            "model": f"us.anthropic.{MODEL}-v1:0",
            "content": [
                {"text": LEAK},
                {"reasoningContent": {"reasoningText": {"signature": "c2ln"}}},
            ],
        }
    ],
    "LangChain, dicts, content in blocks of version 1": [
        {
            "type": "ai",
            "data": {
                "response_metadata": {"model_name": MODEL},
                "content": [
                    _TEXT,
                    {"type": "reasoning", "extras": {"signature": "c2ln"}},
                ],
            },
        }
    ],
    "OpenRouter, by the AI SDK": [
        {
            "role": "assistant",
            "model": MODEL,
            "parts": [
                _TEXT,
                *(
                    {"type": kind, "metadata": _ROUTED}
                    for kind in ("reasoning", "tool")
                ),
            ],
        }
    ],
    "thinking_blocks": [_chat(), _chat(thinking_blocks=[thinking("c2ln")], content="")],
    "calls without content": [
        _chat(),
        _chat(thinking_blocks=[thinking("c2ln")], content=None, tool_calls=[{}]),
        {"role": "assistant", "model": MODEL, "thinking_blocks": [thinking("c2ln")]},
    ],
    "reasoning_details": [
        _chat(reasoning_details=[{**_CLAUDE, "signature": "Zmlyc3Q="}, _SIGNED])
    ],
}
"""An agent -> a session with a leak before a seal."""

FREE: dict[str, Json] = {
    "unsigned": [_chat(), {**_chat(content=[thinking()])}],
    "redacted": [{**_chat(), "content": [_TEXT, {"type": "redacted_thinking"}]}],
    "the first block is before": [_chat(reasoning_details=[_SIGNED])],
    "of another model": [{**_chat(), "model": "claude-opus-5"}, _chat(content="")],
    "a user's": [_chat(), {"role": "user", "content": [thinking("c2ln")]}],
    "odd": [_chat(thinking_blocks=[None, 7, {"type": ["a"]}], reasoning_details=7)],
}


@pytest.mark.parametrize(
    ("name", "is_bound"), [*((e, True) for e in SPELLINGS), *((e, False) for e in FREE)]
)
def test_spellings_of_seals(tmp_path: Path, name: str, is_bound: bool) -> None:
    session = (SPELLINGS | FREE)[name]
    path = tmp_path / ("a.jsonl" if name == "pi" else "a.json")
    if name == "pi":
        _write_lines(path, session)
    else:
        path.write_text(json.dumps(session), encoding="utf-8")
    (file,) = json.loads(repair(path, "--output-format", "json").output)["files"]
    assert file["changed"] == 1
    assert bool(file["bound"]) == is_bound
    repair(path, "--write", "--unseal")
    assert LEAK not in path.read_text(encoding="utf-8")
    assert ("c2ln" in path.read_text(encoding="utf-8")) == (
        name in FREE and "c2ln" in str(session)
    )


def test_parts_of_a_table(tmp_path: Path) -> None:
    """Crush has the parts of a message in a cell, and the model in a column."""
    path = tmp_path / "crush.db"
    thought = {"type": "reasoning", "data": {"thinking": "", "signature": "c2ln"}}
    with database(path) as db:
        db.execute(
            "CREATE TABLE messages (id, role, parts TEXT, session_id TEXT, model TEXT)"
        )
        for parts in ([{"type": "text", "data": {"text": LEAK}}], [thought]):
            row = (json.dumps(parts), MODEL)
            db.execute("INSERT INTO messages VALUES (1, 'assistant', ?, 's', ?)", row)
    assert "1 bound" in repair(path).output
    assert repair(path, "--write", "--unseal").exit_code == 0
    with closing(sqlite3.connect(path)) as db:
        cells = [cell for (cell,) in db.execute("SELECT parts FROM messages")]
    assert cells == [json.dumps([{"type": "text", "data": {"text": "Four."}}]), "[]"]


def test_the_model_of_a_session_is_in_another_table(tmp_path: Path) -> None:
    """As in goose's database. A database without that column has no model."""
    for number, column in enumerate(("model_config_json", "other")):
        path = tmp_path / f"{number}.db"
        with database(path) as db:
            db.execute(f"CREATE TABLE sessions (id, {column} TEXT)")
            named = json.dumps({"model_name": MODEL})
            db.execute("INSERT INTO sessions VALUES ('s', ?)", (named,))
            db.execute("CREATE TABLE messages (role, content_json TEXT, session_id)")
            for part in (_TEXT, thinking("c2ln")):
                row = (json.dumps([part]),)
                db.execute("INSERT INTO messages VALUES ('assistant', ?, 's')", row)
        assert ("1 bound" in repair(path).output) == (number == 0)


def test_a_summary_before_messages_that_are_kept(tmp_path: Path) -> None:
    """Claude Code notes which messages it sends after the summary of older ones."""
    lines = _claude_code_lines(conversation(["l", "tc"]))
    summary = {"uuid": "s", "parentUuid": None, "logicalParentUuid": "u1"}
    kept = {"preservedSegment": {"tailUuid": "u1"}}
    lines[2]["parentUuid"] = "s"
    for metadata, is_bound in ((None, False), ({}, False), (kept, True)):
        path = tmp_path / "a.jsonl"
        noted = {**summary, "compactMetadata": metadata}
        _write_lines(path, [*lines[:2], noted, *lines[2:]])
        assert (" bound: " in repair(path).output) == is_bound


def test_thinking_that_cannot_be_taken_out_keeps_its_text(tmp_path: Path) -> None:
    """Continue keeps thinking in messages of its own."""
    path = tmp_path / "a.json"
    thought = {"role": "thinking", "content": "Hm", "signature": "c2ln"}
    said = [_chat(), thought, _chat()]
    history = [{"message": {**each, "model": MODEL}} for each in said]
    path.write_text(json.dumps({"history": history}), encoding="utf-8")
    for more in ([], ["--unseal"]):
        assert "1 bound" in repair(path, "--write", *more).output
        assert path.read_text(encoding="utf-8").count(LEAK) == 1


def test_events_that_repeat_parts(tmp_path: Path) -> None:
    """opencode's events are bound as the parts are that they repeat."""
    path = tmp_path / "opencode.db"
    _write_opencode(path, conversation(["l", "tc"]))
    with database(path) as db:
        db.execute("CREATE TABLE event (aggregate_id, type TEXT, data TEXT)")
        parts = db.execute("SELECT message_id, data FROM part").fetchall()
        cells = [
            json.dumps({"part": {"messageID": m, **json.loads(d)}}) for m, d in parts
        ]
        for cell in (*cells, '"signature"', '{"signature": '):
            row = ("message.part.updated.1", cell)
            db.execute("INSERT INTO event VALUES ('s', ?, ?)", row)
    assert "2 bound" in repair(path, "--write").output
    with closing(sqlite3.connect(path)) as db:
        assert LEAK in str(db.execute("SELECT data FROM event").fetchall())
    assert repair(path, "--write", "--unseal").exit_code == 0
    with closing(sqlite3.connect(path)) as db:
        assert LEAK not in str(db.execute("SELECT data FROM event").fetchall())


def _part_files(folder: Path, model: str) -> list[Path]:
    """A session of opencode's older store: a leak, and in the next message a seal."""
    made: list[Path] = []

    def write(name: str, document: Json) -> None:
        path = folder / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document), encoding="utf-8")
        made.append(path)

    thought = _parts({"content": [thinking("c2ln")]})[0]
    for number, parts in enumerate(([_TEXT], [thought, _TEXT])):
        said = {"id": f"msg_{number}", "sessionID": "ses_1", "role": "assistant"}
        write(f"message/ses_1/msg_{number}", {**said, "modelID": model})
        for place, part in enumerate(parts):
            of = {"messageID": f"msg_{number}", "sessionID": "ses_1"}
            write(f"part/msg_{number}/prt_{place}", {**of, **part})
    write("message/ses_1/msg_2", 7)
    return [each for each in made if LEAK in each.read_text(encoding="utf-8")]


@pytest.mark.parametrize("more", [[], ["--unseal"]])
def test_files_of_parts(tmp_path: Path, more: list[str]) -> None:
    before, after = _part_files(tmp_path, MODEL)
    assert repair(tmp_path, "--write", "--jobs", "1", *more).exit_code == 2
    assert LEAK in before.read_text(encoding="utf-8")
    assert LEAK not in after.read_text(encoding="utf-8")
    (tmp_path / "part" / "msg_1" / "prt_0.json").write_text("{}", encoding="utf-8")
    assert repair(tmp_path, "--write", "--jobs", "1").exit_code == 0
    assert LEAK not in before.read_text(encoding="utf-8")


# --- In an editor ---------------------------------------------------------------------


def test_an_editor_has_no_fix_for_bound_text(tmp_path: Path) -> None:
    path = _bound_log(tmp_path)
    document = {"textDocument": {"uri": path.as_uri()}}
    with RpcClient() as client:
        client.initialize({"capabilities": {"textDocument": {"diagnostic": {}}}})
        for fix in ("all", "message", "one"):
            new = fixed(client, path, fix=fix)
            messages = [json.loads(line)["message"] for line in new.splitlines()]
            assert not misfits("anthropic", sent(messages))
            assert new.count("<think>") == (2 if fix == "message" else 1)
        item = {"uri": path.as_uri(), "languageId": "jsonl", "version": 1}
        opened = {"textDocument": {**item, "text": path.read_text(encoding="utf-8")}}
        client.notify("textDocument/didOpen", opened)
        diagnostics = client.request("textDocument/diagnostic", document)["items"]
        lenses = client.request("textDocument/codeLens", document)
        place = {**document, "position": diagnostics[0]["range"]["start"]}
        hover = client.request("textDocument/hover", place)["contents"]["value"]
    why = "it stays: a later seal is bound to it"
    assert [f"({why})" in each["message"] for each in diagnostics] == [True, False]
    titles = [each["command"]["title"] for each in lenses]
    one = "1 leak: reasoning"
    assert titles == [f"{one}; {why}", one, "Take it out"]
    assert "There is no fix: a later seal is bound to it." in hover
    assert "--unseal" in hover


def test_an_editor_fixes_the_other_texts_of_a_message(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    leaks = conversation(["ltl"])
    leaks[1]["content"][2]["text"] = f"{LEAK} \ud83d"
    path.write_text(json.dumps(leaks, indent=1), encoding="utf-8")
    document = {"textDocument": {"uri": path.as_uri()}}
    with RpcClient() as client:
        client.initialize({"capabilities": {"textDocument": {"diagnostic": {}}}})
        for fix in ("message", "all"):
            new = json.loads(fixed(client, path, fix=fix))[1]["content"]
            assert (new[0]["text"], new[2]["text"]) == (LEAK, "Four. \ufffd")
        item = {"uri": path.as_uri(), "languageId": "json", "version": 1}
        opened = {"textDocument": {**item, "text": path.read_text(encoding="utf-8")}}
        client.notify("textDocument/didOpen", opened)
        lenses = client.request("textDocument/codeLens", document)
        asked = {**document, "range": WHOLE, "context": {"diagnostics": []}}
        actions = client.request("textDocument/codeAction", asked)
        diagnostics = client.request("textDocument/diagnostic", document)["items"]
        place = {**document, "position": diagnostics[-1]["range"]["start"]}
        hover = client.request("textDocument/hover", place)["contents"]["value"]
    first = "3 leaks: 2 reasoning, 1 surrogate; 1 of them stays: a later seal is bound"
    assert lenses[0]["command"]["title"] == f"{first} to it"
    titles = [each["title"] for each in actions]
    assert titles[:2] == ["Take it out: reasoning", "Replace it: surrogate"]
    assert "puts U+FFFD in its place" in hover


def test_an_editor_sees_the_files_of_parts(tmp_path: Path) -> None:
    before, after = _part_files(tmp_path, MODEL)
    with RpcClient() as client:
        client.initialize({"capabilities": {"textDocument": {"diagnostic": {}}}})
        assert "<think>" in fixed(client, before)
        assert "<think>" not in fixed(client, after)
