"""The command line with files that are not what it expects: it reads them, or says in
one sentence why not. It is never silent, and never shows bytes as an answer."""

from __future__ import annotations

import binascii
import gzip
import json
import lzma
import sqlite3
import subprocess
from pathlib import Path

import pytest
from forked import command
from rpc_client import ROOT

OPENAI = ROOT / "tests" / "wires" / "openai-chat" / "leaking.sse"
STREAM = OPENAI.read_bytes()
BODY = json.dumps({"choices": [{"message": {"content": "Hi"}}]}).encode()
LEAK = {"role": "assistant", "content": "<think>Hm.</think>Four."}


def run(
    *arguments: str | Path, data: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    return command(*map(str, arguments), data=data)


def ended(form: str, data: bytes) -> tuple[int, bytes, bytes]:
    done = run(form, "-", data=data)
    return done.returncode, done.stdout, done.stderr


def sentence(*arguments: str | Path, data: bytes = b"") -> str:
    """What standard error says in one line; the code is 2."""
    done = run(*arguments, data=data)
    assert done.returncode == 2
    lines = done.stderr.decode().strip().splitlines()
    assert lines[:-1] == [] or lines[0].startswith("Usage: ")
    return lines[-1].removeprefix("Error: ")


@pytest.mark.parametrize("form", ["normalize", "explain"])
@pytest.mark.parametrize(
    "codec", ["utf-8-sig", "utf-16", "utf-16-be", "utf-32", "utf-32-be"]
)
def test_a_byte_order_mark_says_how_a_file_is_read(form: str, codec: str) -> None:
    text = STREAM.decode()
    mark = "\ufeff" if codec.endswith("-be") else ""
    data = f"{mark}{text}".encode(codec)
    assert ended(form, data=data) == ended(form, data=STREAM)


def test_other_files_have_marks_too(tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text('[{"name": "run_command"}]', encoding="utf-16")
    done = run("normalize", "--message", "--tools", tools, OPENAI)
    assert json.loads(done.stdout)["toolCalls"][0]["declared"] is True


def test_an_error_of_the_provider_is_not_silent() -> None:
    """Also where only the answer is printed."""
    data = b'{"error": {"message": "slow\\ndown", "code": 429}}'
    done = run("normalize", "--answer", "-", data=data)
    assert (done.returncode, done.stdout) == (1, b"")
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("Error: rate-limit: slow")


HEADS = (
    b"HTTP/2 200 \r\ncontent-type: text/event-stream\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\nHTTP/2 200 \r\n\r\n",
    b"HTTP/1.1 200 OK\nA: b\n\n",
)


@pytest.mark.parametrize("form", ["normalize", "explain"])
@pytest.mark.parametrize("head", HEADS, ids=range(len(HEADS)))
def test_heads_of_curl_are_skipped(form: str, head: bytes) -> None:
    assert ended(form, data=head + STREAM) == ended(form, data=STREAM)
    utf16 = (head + STREAM).decode().encode("utf-16")
    assert ended(form, data=utf16) == ended(form, data=STREAM)


def test_a_text_may_look_like_a_head() -> None:
    done = run("normalize", "--answer", "--framing", "text", "-", data=HEADS[0])
    assert done.stdout == HEADS[0] + b"\n" * (not HEADS[0].endswith(b"\n"))


@pytest.mark.parametrize("form", ["normalize", "explain"])
def test_a_head_without_a_body(form: str) -> None:
    expected = "standard input has nothing after its head"
    assert sentence(form, "-", data=HEADS[0]) == expected


@pytest.mark.parametrize("body", [b'{"error": {"message": "slow down"}}', b"", b"<p>"])
def test_the_status_and_the_headers_are_used(body: bytes) -> None:
    head = b"HTTP/2 429 \r\nretry-after: 7\r\n\r\n"
    done = run("normalize", "--json", "-", data=head + body)
    assert (done.returncode, done.stderr) == (1, b"")
    error = json.loads(done.stdout.splitlines()[0])
    expected = ("error", "rate-limit", 429, 7000)
    names = ("type", "kind", "httpStatus", "retryAfterMs")
    assert tuple(error[name] for name in names) == expected
    assert run("explain", "-", data=head + body).returncode == 0


def png(size: int = 2000) -> bytes:
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * (size // 256)


NO_TEXT = {
    "a PNG image": png(),
    "compressed (gzip)": gzip.compress(STREAM),
    "compressed (xz)": lzma.compress(STREAM),
    "a ZIP archive": b"PK\x03\x04\x14\0\0\0" + bytes(40),
    "a PDF document": b"%PDF-1.7\n" + b"1 0 obj\n" * 9,
    "no text in UTF-8": bytes(range(128, 256)) * 9,
    "no text in UTF-8 ": b"\0" * 9,
    "UTF-16 text without a byte order mark": STREAM.decode().encode("utf-16-le"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("form", ["normalize", "explain"])
@pytest.mark.parametrize("words", NO_TEXT)
def test_bytes_that_are_no_text(form: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "answer.txt"
    file.write_bytes(NO_TEXT[words])
    refusal = f"answer.txt cannot be read: it is {words.strip()}"
    for wire in ("auto", "text", "anthropic"):
        assert sentence(form, "--wire", wire, file) == refusal
        assert run(form, "--wire", wire, file).stdout == b""
    head = b"HTTP/2 200 \r\ncontent-encoding: br\r\n\r\n"
    more = "it is compressed (br): curl --compressed decompresses it"
    assert more in sentence(form, "-", data=head + NO_TEXT[words])


def test_bytes_of_an_event_stream_are_read() -> None:
    prelude = bytes([0, 0, 0, 16, 0, 0, 0, 0])
    head = prelude + binascii.crc32(prelude).to_bytes(4, "big")
    data = head + binascii.crc32(head).to_bytes(4, "big")
    assert "cannot be read" not in run("normalize", "-", data=data).stderr.decode()


WRONG = ("anthropic", "gemini", "ollama", "openai-responses", "text")


@pytest.mark.parametrize("form", ["normalize", "explain"])
@pytest.mark.parametrize("wire", WRONG)
@pytest.mark.parametrize("data", [STREAM, BODY], ids=["stream", "body"])
def test_a_wrong_wire(form: str, wire: str, data: bytes) -> None:
    refusal = sentence(form, "--wire", wire, "-", data=data)
    assert f"is of the wire openai-chat, not {wire}: leave --wire out" in refusal
    if form == "normalize":
        done = run(form, "--answer", "--wire", wire, "-", data=data)
        assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.parametrize("form", ["normalize", "explain"])
@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (HEADS[0] + STREAM, "of the wire openai-chat"),
        (b'data: {"type": "new"}\n\n' + STREAM, "of the wire openai-chat"),
        (b'{"error": {"message": "slow down"}}', "a provider's error"),
    ],
)
def test_what_a_provider_sent_is_no_plain_text(
    form: str, data: bytes, kind: str
) -> None:
    refusal = sentence(form, "--wire", "text", "-", data=data)
    assert refusal.startswith(f"standard input is {kind}, not text: leave --wire out")
    assert run(form, "--framing", "text", "-", data=data).returncode == 0


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"{", "is not JSON: "),
        (png(), "cannot be read: it is a PNG image"),
    ],
)
@pytest.mark.parametrize("option", ["--tools", "--response-template"])
def test_other_files_that_are_wrong(
    option: str, data: bytes, words: str, tmp_path: Path
) -> None:
    file = tmp_path / "other.json"
    file.write_bytes(data)
    assert f"other.json {words}" in sentence("normalize", option, file, OPENAI)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "standard input is empty"),
        (HEADS[0], "standard input has nothing after its head"),
        (b'[{"role": "user", "content": "a"}]', "nothing in it was understood"),
        (b'{"choices": [{"message": {"content": ""}}]}', "has no answer"),
    ],
)
def test_no_answer_has_a_reason(data: bytes, words: str) -> None:
    for form in ("--json", "--answer", "--message"):
        assert words in sentence("normalize", form, "-", data=data)


def test_repeated_diagnostics_are_one_line() -> None:
    chunk = {"choices": [{"delta": {"content": "a "}}]}
    data = f"data: {json.dumps(chunk)}\n\ndata: [nothing\n\n".encode() * 5
    lines = run("normalize", "-", data=data).stdout.decode().splitlines()
    malformed = [line for line in lines if "malformed-chunk" in line]
    assert len(malformed) == 1
    assert malformed[0].endswith("(5 times)")


def test_diagnostics_that_were_reported_together_are_one_line() -> None:
    answer = b'data: {"choices": [{"delta": {"content": "a"}}]}\n\n'
    data = b"data: [no\n\n" * 100 + answer
    lines = run("normalize", "-", data=data).stdout.decode().splitlines()
    malformed = [line for line in lines if "malformed-chunk" in line]
    assert len(malformed) == 1
    assert malformed[0].endswith("left out. (100 times)")


@pytest.mark.parametrize(
    "words",
    [
        "normalize --answer --json -",
        "normalize --json --message -",
        "dialects --json --format response-template qwen3",
        "dialects qwen3 --model qwen3",
        "repair --list --write",
        "repair --restore --diff x",
        "repair --clean --report r x",
        "repair --preset crush --table t --column c x",
    ],
)
def test_options_that_exclude_each_other(words: str) -> None:
    assert sentence(*words.split()).endswith(" cannot be used together")


def test_a_transcript_says_its_options() -> None:
    data = b'{"transcript": 1}\n'
    refusal = sentence("explain", "--model", "qwen3", "-", data=data)
    assert refusal == "--model is not for a transcript, which says it"


def test_dialects_of_an_unknown_model() -> None:
    done = run("dialects", "--model", "no-such-model")
    assert done.returncode == 0
    assert b"no-such-model: no model of this name is known" in done.stderr
    assert run("dialects", "--model", "qwen3").stderr == b""


# --- What repair did not look at ------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a session without a leak, and files that are no sessions."""
    message = json.dumps({"role": "assistant", "content": "Four."})
    (tmp_path / "a.jsonl").write_text(message, encoding="utf-8")
    (tmp_path / "b.png").write_bytes(png())
    (tmp_path / "C.PNG").write_bytes(png())
    (tmp_path / "notes.md").write_text("a", encoding="utf-8")
    (tmp_path / "LICENSE").write_text("a", encoding="utf-8")
    (tmp_path / "empty.db").touch()
    (tmp_path / "a.jsonl.bak").write_text("a", encoding="utf-8")
    return tmp_path


OTHERS = "2 .png, 1 .md, 1 without an ending"


def test_other_files_are_named(folder: Path) -> None:
    done = run("repair", folder, "--check")
    assert done.returncode == 0
    assert done.stdout.decode().splitlines()[-1] == f"not looked at: {OTHERS}"
    (folder / "b.png").unlink()
    assert "not looked at" not in run("repair", folder / "a.jsonl").stdout.decode()


def database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE words (text TEXT)")
    connection.execute("INSERT INTO words VALUES (?)", (json.dumps(LEAK),))
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("store.db", ".db"),
        ("state", "without an ending (an SQLite database)"),
        ("state.dat", ".dat (an SQLite database)"),
        ("a.json.gz", ".gz"),
        ("log.1", ".1 (gzip)"),
        ("data.parquet", ".parquet"),
        ("000005.ldb", ".ldb"),
        ("old.zip", ".zip"),
    ],
)
def test_databases_and_packed_files_are_not_known_to_be_clean(
    folder: Path, name: str, words: str
) -> None:
    path = folder / "below" / name
    path.parent.mkdir()
    if "db" in name or "state" in name:
        database(path)
        (path.parent / f"{name}-wal").write_bytes(b"a")
    else:
        path.write_bytes(gzip.compress(json.dumps(LEAK).encode()))
    if name == "000005.ldb":
        path.write_bytes(b"a")
    done = run("repair", folder)
    assert done.returncode == 0
    last = done.stdout.decode().splitlines()[-1]
    assert last.startswith(f"not looked at: 1 {words}")
    assert OTHERS in last
    assert run("repair", folder, "--check").returncode == 2


def test_a_file_that_is_named_is_looked_at(folder: Path) -> None:
    """It is not listed as one that was not, and says itself why it is not read."""
    packed = folder / "a.json.gz"
    packed.write_bytes(gzip.compress(b"{}"))
    done = run("repair", packed, "--check")
    assert done.returncode == 2
    assert "1 not read: it is compressed (gzip)" in done.stdout.decode()
    both = run("repair", folder, packed).stdout.decode()
    assert both.splitlines()[-1] == f"not looked at: {OTHERS}"


@pytest.mark.parametrize("name", ["s.jsonl", "s.json", "s.txt"])
def test_a_session_in_another_encoding(folder: Path, name: str) -> None:
    (folder / name).write_text(json.dumps(LEAK), encoding="utf-16")
    for path in (folder, folder / name):
        done = run("repair", path, "--check")
        if path != folder or name != "s.txt":
            assert done.returncode == 2
            assert "1 not read: it is UTF-16 text" in done.stdout.decode()


def test_formats_say_what_was_not_looked_at(folder: Path) -> None:
    database(folder / "x.db")

    def printed(form: str) -> str:
        done = run("repair", folder, "--check", "--output-format", form)
        assert done.returncode == 2
        return done.stdout.decode()

    found = json.loads(printed("json"))["summary"]["notLookedAt"]
    assert found == {".db": 1, ".png": 2, ".md": 1, "without an ending": 1}
    words = f"1 .db, {OTHERS}"
    assert f"::warning title=not looked at::{words}" in printed("github")
    (log,) = json.loads(printed("sarif"))["runs"]
    notes = log["invocations"][0]["toolExecutionNotifications"]
    assert notes[-1]["message"]["text"] == f"not looked at: {words}"
    assert notes[-1]["level"] == "warning"


def test_many_endings_are_summed_up(folder: Path) -> None:
    for number in range(30):
        (folder / f"x.e{number}").write_text("a", encoding="utf-8")
    last = run("repair", folder).stdout.decode().splitlines()[-1]
    assert last.count(",") == 12
    assert last.endswith(" with other endings")
