"""Sessions that do not resume: what is found in them, and the file that is mended."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from known_writers import skip_unless_writers_are_reported

from stream_sidecar.cli import main
from stream_sidecar.session_files import blocks, resumption, workers
from stream_sidecar.session_files.backups import backups_named_after
from stream_sidecar.session_files.files import Job, repair_file
from stream_sidecar.session_files.packing import pack_zstd, unpack_zstd
from stream_sidecar.session_files.size_limits import CannotEditError
from stream_sidecar.session_files.workers import repair_files

LEAK, CLEAN = "<think>Hm.</think>Four.", "Four."


def line(value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"


def claude(number: int, role: str, content: Any, **more: Any) -> dict[str, Any]:
    """A record of Claude Code, which follows the one with the number before."""
    message = {"role": role, "content": content}
    if role == "assistant":
        message |= {"id": f"msg_{number}", "model": "claude-opus-4-8"}
    return {
        "parentUuid": f"u{number - 1}" if number else None,
        "isSidechain": False,
        "sessionId": "s1",
        "type": role,
        "message": message,
        "uuid": f"u{number}",
        **more,
    }


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def call(id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "Read", "input": {}}


def result(id: str, content: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content}


HI = line(claude(0, "user", [text("Hi")]))
HELLO = line(claude(1, "assistant", [text("Hello.")]))
GO = line(claude(2, "user", [text("Go.")]))
CALL = line(claude(3, "assistant", [call("toolu_1")]))
RESULT = line(claude(4, "user", [result("toolu_1", "four\\nfive")]))
END = line(claude(5, "assistant", [text("Done.")]))
TALK = HI + HELLO + GO + CALL + RESULT + END


def codex(kind: str, **payload: Any) -> bytes:
    return line({"timestamp": "t", "type": kind, "payload": payload})


META = codex("session_meta", id="c1", cwd="/w", model_provider="openai")
ASKED = codex(
    "response_item",
    type="message",
    role="user",
    content=[{"type": "input_text", "text": "Hi"}],
)
SAID = codex(
    "response_item",
    type="message",
    role="assistant",
    content=[{"type": "output_text", "text": "ok"}],
)

BROKEN: dict[str, tuple[bytes, list[tuple[int, int]], bytes]] = {
    "the last line is cut": (TALK + END[:-9], [(7, len(END) - 8)], TALK),
    "a tail of NULs": (TALK + b"\0" * 64, [(7, 1)], TALK),
    "a byte order mark": (b"\xef\xbb\xbf" + TALK, [(1, 1)], TALK),
    "two whole records on a line": (
        TALK.replace(b"\n", b"", 1),
        [(1, len(HI))],
        TALK,
    ),
    "half a record before a record": (
        HI + HELLO[:50] + HELLO + GO,
        [(2, 51)],
        HI + HELLO + GO,
    ),
    "a raw line break": (
        TALK.replace(b"four\\\\nfive", b"four\nfive"),
        [(5, RESULT.index(b"four") + 5)],
        TALK.replace(b"four\\\\nfive", b"four\\nfive"),
    ),
    "two of them": (
        b"\xef\xbb\xbf" + TALK + b"\0",
        [(1, 1), (7, 1)],
        TALK,
    ),
    "Codex: blanks stand for half a record": (
        META + ASKED + SAID[:40] + SAID,
        [(3, 41)],
        META + ASKED + b" " * 40 + SAID,
    ),
    "Codex: a blank goes for a line break": (
        META + ASKED[:-1] + SAID + b"{" + SAID[1:].replace(b"ok", b"o\nk"),
        [(2, len(ASKED)), (3, SAID.index(b"ok") + 2)],
        META
        + ASKED.replace(b" ", b"", 1)
        + SAID
        + SAID.replace(b" ", b"", 1).replace(b"ok", b"o\\nk"),
    ),
    "Codex: blanks stand for a cut record": (
        META + ASKED[:-9] + b"\n" + SAID,
        [(2, len(ASKED) - 8)],
        META + b" " * (len(ASKED) - 9) + b"\n" + SAID,
    ),
}
"""Name -> a session, the lines and columns of what is broken, the mended session."""


@pytest.mark.parametrize("name", BROKEN)
def test_broken_lines(tmp_path: Path, name: str) -> None:
    old, places, new = BROKEN[name]
    path = tmp_path / "s.jsonl"
    path.write_bytes(old)
    report, records = repaired(path)
    assert [(each["line"], each["column"]) for each in records] == places
    assert {each["kind"] for each in records} == {"broken"}
    assert (report.broken, report.mendable, report.unreadable) == (
        *[len(places)] * 2,
        0,
    )
    assert path.read_bytes() == old
    is_mended(path, old, new)


def test_a_packed_session(tmp_path: Path) -> None:
    old, _, new = BROKEN["Codex: blanks stand for half a record"]
    path = tmp_path / "s.jsonl.zst"
    try:
        path.write_bytes(pack_zstd(old))
    except CannotEditError:
        pytest.skip("no zstd: a packed session was not mended")
    report, _ = repaired(path, write=True)
    assert (report.broken, report.written) == (1, True)
    assert unpack_zstd(path.read_bytes()) == new


def test_a_record_that_is_being_written(tmp_path: Path) -> None:
    """A cut line at the end stays while somebody has the file open for writing."""
    skip_unless_writers_are_reported(tmp_path)
    path = tmp_path / "s.jsonl"
    path.write_bytes(TALK)
    with path.open("ab") as agent:
        agent.write(END[:40])
        agent.flush()
        report, _ = repaired(path, write=True)
        assert report.error == "another program has it open for writing"
        agent.write(END[40:])
    assert path.read_bytes() == TALK + END


def test_what_is_no_record_is_told_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(HI + b"plain words\n" + HELLO)
    report, (record,) = repaired(path, write=True)
    assert (record["kind"], record["line"], record["mend"]) == ("broken", 2, "none")
    assert not report.written


def test_leaks_beside_mends(tmp_path: Path) -> None:
    """Leaks are removed from what was glued, too, and keep their lines."""
    leak = line(claude(1, "assistant", [text(LEAK)]))
    blank = line(claude(3, "assistant", [text(""), text(LEAK)]))
    path = tmp_path / "s.jsonl"
    path.write_bytes(HI + HI[:30] + leak + GO + blank)
    old = path.read_bytes()
    _, records = repaired(path)
    found = [(each["kind"], each["line"]) for each in records]
    assert found == [
        ("broken", 2), ("refused", 4), ("reasoning", 2), ("reasoning", 4)
    ]  # fmt: skip
    new = HI + leak.replace(LEAK.encode(), CLEAN.encode()) + GO
    is_mended(path, old, new + line(claude(3, "assistant", [text(CLEAN)])))


def test_half_a_character_that_is_sent(tmp_path: Path) -> None:
    """The model's own is a leak; that of a record's note, which nobody sends, stays."""
    half = claude(4, "user", [result("toolu_1", "a \ud83d")], toolUseResult="b \ud83d")
    path = tmp_path / "s.jsonl"
    path.write_bytes(HI + HELLO + GO + CALL + line(half) + END)
    old = path.read_bytes()
    _, (record,) = repaired(path)
    assert record["rule"] == "half-surrogate"
    assert (record["number"], record["mend"]) == (36, "file")
    assert record["path"] == "/message/content/0/content"
    assert (record["line"], record["column"]) == (5, line(half).index(b'"a ') + 1)
    is_mended(path, old, old.replace(b"a \\ud83d", b"a \\ufffd"))


def test_half_a_character_in_what_gemini_cli_sends_twice(tmp_path: Path) -> None:
    response = {"id": "a", "name": "look", "response": {"output": "4 \ud83d"}}
    results = [{"functionResponse": response}]
    call = {"id": "a", "name": "look", "args": {}, "result": results}
    told = {"id": "2", "type": "gemini", "content": "I look.", "toolCalls": [call]}
    path = tmp_path / "session-1.jsonl"
    path.write_bytes(
        line({"sessionId": "s", "projectHash": "h"})
        + line({"id": "1", "type": "user", "content": "Hi"})
        + line(told)
        + line({"id": "3", "type": "user", "content": results})
        + line({"id": "4", "type": "gemini", "content": "ok"})
    )
    old = path.read_bytes()
    _, records = repaired(path)
    assert [each["rule"] for each in records] == ["half-surrogate"] * 2
    is_mended(path, old, old.replace(b"\\ud83d", b"\\ufffd"))


DOCUMENT = [
    {"role": "user", "content": [text("Hi")], "ts": 1},
    {"role": "assistant", "content": [text(LEAK)], "ts": 2},
]


@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("after", [b"", b"\0\0"])
def test_a_whole_document(tmp_path: Path, before: bytes, after: bytes) -> None:
    path = tmp_path / "api_conversation_history.json"
    path.write_bytes(before + json.dumps(DOCUMENT, indent=1).encode() + after)
    old = path.read_bytes()
    report, _ = repaired(path)
    assert report.broken == bool(before or after)
    new = json.dumps(DOCUMENT, indent=1).replace(LEAK, CLEAN).encode()
    repaired(path, write=True)
    repaired(path, write=True)
    assert path.read_bytes() == new
    assert old != new


def test_a_document_that_is_cut_off(tmp_path: Path) -> None:
    """It is told whoever wrote it; nothing completes it."""
    path = tmp_path / "api_conversation_history.json"
    whole = json.dumps(DOCUMENT, indent=1).encode()
    for end in range(whole.rindex(b'"role"'), len(whole)):
        path.write_bytes(whole[:end])
        report, records = repaired(path, write=True)
        assert [(each["kind"], each["mend"]) for each in records] == [
            ("broken", "none")
        ]
        assert records[0]["message"] == "The record is cut off."
        assert path.read_bytes() == whole[:end]
        assert not report.written
    last = whole.splitlines()[-2]
    place = whole.count(b"\n"), len(last) + 1
    assert (records[0]["line"], records[0]["column"]) == place


@pytest.mark.parametrize("text", [b'{"a": 1', b"[1, 2", b'[{"role": "user"}]]', b"{a}"])
def test_a_document_of_nobody_is_not_judged(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(text)
    assert repaired(path)[1] == []


def test_a_raw_line_break_in_a_document(tmp_path: Path) -> None:
    path = tmp_path / "api_conversation_history.json"
    whole = json.dumps(DOCUMENT).encode().replace(LEAK.encode(), b"four\\nfive")
    path.write_bytes(whole.replace(b"\\n", b"\n"))
    _, (record,) = repaired(path)
    assert (record["kind"], record["mend"]) == ("broken", "file")
    is_mended(path, whole.replace(b"\\n", b"\n"), whole)


@pytest.mark.parametrize(
    "lines",
    [
        [b"{", line({"role": "assistant", "content": "a"})],
        [
            b'{"a": 1',
            line({"messages": [{"role": "assistant", "content": [text("")]}]}),
        ],
    ],
)
def test_what_may_be_a_dataset_stays(tmp_path: Path, lines: list[bytes]) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\n".join(lines))
    report, records = repaired(path, write=True)
    assert (records, report.unreadable, report.written) == ([], 1, False)


def test_records_of_another_kind_come_first(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(line({"type": "queue-operation"}) * 1000 + TALK + b"\0")
    report, _ = repaired(path)
    assert report.broken == 1


CALL_OF_CODEX = codex(
    "response_item", type="function_call", name="f", call_id="c", arguments="{}"
)


def pi(id: str, role: str, *content: Any) -> bytes:
    message = {"role": role, "content": content}
    return line({"type": "message", "id": id, "parentId": None, "message": message})


@pytest.mark.parametrize(
    ("log", "command"),
    [
        (TALK + line(claude(6, "user", [result("x", "y")])), "claude --resume s1"),
        (META + ASKED + CALL_OF_CODEX + SAID + ASKED, "codex resume c1"),
        (
            line({"type": "session", "id": "p1", "version": 3})
            + pi("p2", "toolResult", text("stray")),
            "pi --session p1",
        ),
        (
            line({"type": "session.start", "data": {"sessionId": "g1"}})
            + line({"type": "tool.execution_complete", "parentId": None, "data": {}}),
            "copilot --resume g1",
        ),
    ],
)
def test_the_agents_command(tmp_path: Path, log: bytes, command: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(log)
    assert repaired(path)[0].resumes == command


def test_chosen_kinds(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    blank = line(claude(6, "assistant", [text(""), call("toolu_2")]))
    path.write_bytes(TALK + blank + b"\0")
    for only, left in (("broken", TALK + blank), ("refused", None)):
        report, records = repaired(path, kinds=frozenset([only]))
        assert {each["kind"] for each in records} == {only}
        if left is not None:
            repaired(path, write=True, kinds=frozenset([only]))
            assert path.read_bytes() == left
            path.write_bytes(TALK + blank + b"\0")
    assert report.unreadable == 1


def test_each_mend_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    blank = line(claude(6, "assistant", [text(""), call("toolu_2")]))
    path.write_bytes(TALK + blank + b"\0")
    done = CliRunner().invoke(main, ["repair", str(path), "--ask"], input="n\ny\n")
    assert "Mend it?" in done.output
    assert (
        path.read_bytes()
        == TALK + blank.replace(json.dumps(text("")).encode() + b", ", b"") + b"\0"
    )


def test_the_same_by_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "LARGE", 1)
    monkeypatch.setattr(blocks, "_SIZE", 700)
    leak = line(claude(7, "assistant", [text(LEAK)]))
    log = BROKEN["a raw line break"][0] + (END[:30] + leak) + END[:-5] + b"\0"
    seen = []
    for count in (1, 2):
        path = tmp_path / str(count) / "s.jsonl"
        path.parent.mkdir()
        path.write_bytes(log)
        records = io.BytesIO()
        job = Job(write=True)
        (report,) = repair_files([path], job, lambda _size: None, records, count)
        listed = records.getvalue().replace(str(path.parent).encode(), b"")
        seen.append((report.broken, report.changed, listed, path.read_bytes()))
    assert seen[0] == seen[1]
    assert seen[0][:2] == (3, 1)


def test_too_much_to_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resumption, "_MOST", 500)
    path = tmp_path / "s.jsonl"
    path.write_bytes(TALK + line(claude(6, "assistant", [text("")])) + b"\0")
    report, records = repaired(path)
    assert [each["kind"] for each in records] == ["broken"]
    assert [*report.left] == ["what it would send: of more than 0.000476837 MiB"]


def test_a_hash_protects_the_file(tmp_path: Path) -> None:
    path = tmp_path / f"{'0' * 64}.jsonl"
    path.write_bytes(TALK + line(claude(6, "assistant", [text(""), text("a")])) + b"\0")
    report, records = repaired(path, write=True)
    assert {each["mend"] for each in records} == {"none"}
    assert all("a hash of its content" in each["message"] for each in records)
    assert (report.written, len(records)) == (False, 2)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A session in which a part is missing, repeated, or replaced by other bytes."""
    log = draw(st.sampled_from([TALK, META + ASKED + SAID]))
    start = draw(st.integers(0, len(log)))
    end = draw(st.integers(start, min(start + 200, len(log))))
    between = draw(st.sampled_from([b"", b"\0\0\0", b"\n", log[start:end] * 2]))
    return log[:start] + between + log[end:]


@given(log=damaged())
def test_any_damage(tmp_path_factory: pytest.TempPathFactory, log: bytes) -> None:
    """Lines that can be read stay, the others go or can be read afterwards, and the
    backup is the old file."""
    path = tmp_path_factory.mktemp("any") / "s.jsonl"
    path.write_bytes(log)
    report, records = repaired(path, write=True, kinds=frozenset(["broken"]))
    new = path.read_bytes()
    assert report.error is None
    assert report.written == (new != log)
    for each in log.split(b"\n"):
        assert not is_json(each) or each in new
    stays = [each for each in new.split(b"\n") if each.strip() and not is_json(each)]
    if report.broken:
        told = [each for each in records if each["mend"] == "none"]
        lines = sum(each["endLine"] - each["line"] + 1 for each in told)
        assert len(stays) <= lines
    if report.written:
        (backup,) = backups_named_after(path)
        assert backup.read_bytes() == log


def is_json(data: bytes) -> bool:
    try:
        return isinstance(json.loads(data), dict)
    except ValueError:
        return False


def repaired(path: Path, **job: Any) -> tuple[Any, list[dict[str, Any]]]:
    """The report of a run, and what it recorded."""
    records: list[dict[str, Any]] = []
    report = repair_file(path, Job(**job), lambda _size: None, records.append)
    return report, records


def is_mended(path: Path, old: bytes, new: bytes) -> None:
    """Mends the file, finds no more, and puts the old one back."""
    assert repaired(path, write=True)[0].written
    assert path.read_bytes() == new
    assert repaired(path)[1] == []
    done = CliRunner().invoke(main, ["repair", str(path), "--restore"])
    assert done.exit_code == 0, done.output
    assert path.read_bytes() == old
