"""``stream-sidecar explain``, from outside: what it prints, and what it writes.

What it tells of one recording stands in ``leaking.txt``, in colours in
``leaking.colours.txt``, which are golden.
"""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from forked import command
from goldens import assert_golden
from hostile_stream import CHUNKS, MARKUP, POISON
from rpc_client import ROOT
from systems import not_on_windows
from terminals import COLOUR, is_harmless, on_terminal

LEAKING = "tests/wires/openai-chat/leaking.sse"
HERE = Path(__file__).parent
needs_terminal = not_on_windows("needs a terminal")


def run(*arguments: str | Path, data: bytes = b"", **environment: str) -> Any:
    """``stream-sidecar explain`` with ``arguments``."""
    return command("explain", *map(str, arguments), data=data, **environment)


def explained(*arguments: str | Path, data: bytes = b"", **environment: str) -> str:
    done = run(*arguments, data=data, **environment)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode().replace("\r\n", "\n")


def failure(*arguments: str | Path, data: bytes = b"") -> str:
    done = run(*arguments, data=data)
    assert done.returncode == 2
    assert done.stdout == b""
    return done.stderr.decode().strip().splitlines()[-1].removeprefix("Error: ")


# --- What it prints -------------------------------------------------------------------


@pytest.mark.golden
def test_a_pipe_gets_a_line_a_piece() -> None:
    assert_golden(HERE / "leaking.txt", explained(LEAKING))


@pytest.mark.golden
@needs_terminal
def test_a_terminal_gets_colours() -> None:
    said = on_terminal("explain", LEAKING, term="xterm-256color").replace("\x1b", "␛")
    assert_golden(HERE / "leaking.colours.txt", said)


@needs_terminal
def test_a_terminal_without_colours_is_a_pipe() -> None:
    assert on_terminal("explain", LEAKING) == explained(LEAKING)


def test_standard_input() -> None:
    said = explained("-", data=(ROOT / LEAKING).read_bytes())
    assert said.splitlines()[1:] == explained(LEAKING).splitlines()[1:]


@needs_terminal
@pytest.mark.parametrize("term", ["dumb", "xterm-256color"])
def test_nothing_steers_the_terminal(term: str, tmp_path: Path) -> None:
    file = tmp_path / "\x1b[31m.ndjson"
    lines = "".join(json.dumps(chunk) + "\n" for chunk in CHUNKS)
    file.write_text(lines, encoding="utf-8")
    said = COLOUR.sub("", on_terminal("explain", str(file), term=term))
    assert is_harmless(said), said
    assert said.startswith(r"\x1b[31m.ndjson: wire openai-chat")
    assert said.count(MARKUP) > 5
    assert r"\x1b\x00\x07\x7f\x9b\u202e\u2066\u200f" in said


def test_plain_text() -> None:
    said = explained("-", data=b"<think>why</think>Because.")
    assert "wire text, framing text" in said
    assert (
        "\nreasoning  2  why\ndelimiter  3  </think>\nanswer     1  Because.\n" in said
    )


SAID = {"role": "assistant", "content": "<think>why</think>Because."}
ASKED = {"role": "user", "content": "Is <think> a tag?"}
SESSIONS: dict[str, list[Any]] = {
    "lines": [ASKED, SAID, ASKED, SAID],
    "a list": [[ASKED, SAID, ASKED, SAID]],
    "envelopes": [{"type": "x", "message": each} for each in (ASKED, SAID, SAID)],
}


@pytest.mark.parametrize("name", SESSIONS)
def test_a_stored_session(name: str, tmp_path: Path) -> None:
    """The texts of the model's messages, and nothing of others."""
    data = "\n".join(map(json.dumps, SESSIONS[name])).encode()
    said = explained("-", data=data)
    piece = "\nreasoning  2  why\ndelimiter  3  </think>\nanswer     1  Because.\n"
    assert said.count(piece) == 2
    assert "-- message 1\n" in said
    assert "-- message 2\n" in said
    assert "a tag?" not in said
    assert said.endswith("To repair the session: stream-sidecar repair FILE\n")
    assert "unknown-chunk" not in said
    page = tmp_path / "page.html"
    explained("-", "--html", page, data=data)
    assert '"unknown": ""' in page.read_text(encoding="utf-8")


def test_a_file_of_which_nothing_is_understood(tmp_path: Path) -> None:
    """The command says it, and so does the page, which is written."""
    page, data = tmp_path / "page.html", b'{"a": 1}\n{"b": 2}\n'
    for more in ([], ["--html", page]):
        done = run("-", *more, data=data)
        assert done.returncode == 2
        assert b"Nothing in it was understood: " in done.stderr
        assert done.stderr.count(b"\n") == 1
    assert '"unknown": "Nothing in it was understood: ' in page.read_text(
        encoding="utf-8"
    )


def test_the_model_chooses_the_dialects() -> None:
    data = b"I weigh both.</think>Take the first."
    assert "\nreasoning  2  I weigh both.\n" in explained(
        "-", "--model", "deepseek-r1", data=data
    )
    assert "\nanswer     1  I weigh both.\n" in explained("-", data=data)


def test_an_error_of_the_provider_is_shown() -> None:
    """To explain is no verdict."""
    said = explained(
        "-", data=b'{"error": {"message": "Overloaded", "type": "server_error"}}'
    )
    assert "\n-- error: overloaded\n" in said


def test_an_empty_file_has_nothing_to_explain() -> None:
    assert "is empty" in failure("-")


# --- Transcripts ----------------------------------------------------------------------


def transcript(*messages: dict[str, Any]) -> bytes:
    lines = [{"transcript": 1}, *messages]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def host(method: str, id: int | None = None, **params: Any) -> dict[str, Any]:
    return {"dir": "in", "msg": {"method": method, "id": id, "params": params}}


def sidecar(id: int, **said: Any) -> dict[str, Any]:
    return {"dir": "out", "msg": {"id": id, **said}}


SESSION = transcript(
    {"comment": "for people"},
    host(
        "initialize",
        1,
        initializationOptions={
            "streamSidecar": {"policy": {"reasoning": {"tags": ["plan"]}}}
        },
    ),
    host("stream/open", 2, wire="text"),
    sidecar(2, result={"streamId": "stream-1"}),
    host("stream/push", streamId="stream-1", chunk="<plan>a</pl"),
    host("stream/push", 3, streamId="stream-1", chunk="refused", pushSeq=9),
    sidecar(3, error={"code": -31003}),
    host(
        "stream/open", 4, streamId="s", wire="text", policy={"reasoning": {"tags": []}}
    ),
    host("stream/push", 5, streamId="s", chunks=["<plan>", "b"]),
    host("stream/push", streamId="stream-1", chunk="an>A"),
    host("stream/push", streamId="nobody", chunk="x"),
    host("stream/push", streamId=7),
    {"dir": "in", "base64": "AAAA"},
    {"dir": "in", "msg": [1]},
    host("stream/close", 6, streamId="s", reason="cancelled"),
    host("stream/close", 7, streamId="s"),
    host("stream/open", 8, streamId="s", wire="text"),
    host("stream/push", 9, streamId="s", chunk="again"),
    host("stream/close", 10, streamId="s", error={"status": 500}),
    host("stream/open", 11),
    host(
        "message/normalize", 12, body={"choices": [{"message": {"content": "whole"}}]}
    ),
    host("stream/list", 13),
)


@pytest.mark.parametrize(
    ("stream", "pieces"),
    [
        (
            "stream-1",
            ["delimiter  3  <plan>", "reasoning  2  a", "delimiter  3  </plan>"],
        ),
        ("s", ["answer     1  <plan>b"]),
        ("s:2", ["answer     1  again", "-- error: server"]),
        ("message/normalize", ["answer     1  whole"]),
    ],
)
def test_a_transcript(stream: str, pieces: list[str]) -> None:
    """Each stream with its own parameters and those of its connection; what was
    refused was not pushed."""
    said = explained("-", "--stream", stream, data=SESSION)
    assert f", {stream}: wire " in said
    assert [piece for piece in pieces if f"\n{piece}\n" not in said] == []
    assert "refused" not in said


def test_the_first_stream_is_the_default() -> None:
    assert explained("-", data=SESSION) == explained(
        "-", "--stream", "stream-1", data=SESSION
    )


def test_a_stream_that_is_not_there() -> None:
    said = failure("-", "--stream", "t", data=SESSION)
    names = "stream-1, s, s:2, stream, message/normalize"
    assert said == f"--stream t is not in the transcript: {names}"
    assert failure("-", data=transcript()) == (
        "standard input is a transcript without a stream"
    )
    assert failure("-", "--stream", "t", data=b"x") == "--stream needs a transcript"


def test_every_transcript_is_read(subtests: pytest.Subtests) -> None:
    """Those without a stream say so; none is read as anything else."""
    from stream_sidecar.explain.explaining import explain
    from stream_sidecar.explain.source import is_transcript, recorded

    paths = sorted((ROOT / "tests/transcripts").glob("*.jsonl"))
    assert paths
    for path in paths:
        with subtests.test(path.stem):
            data = path.read_bytes()
            assert is_transcript(data)
            for source in recorded(path.name, data).values():
                assert explain(source).steps


# --- The page -------------------------------------------------------------------------


def test_the_page_is_a_new_file(tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    said = explained(LEAKING, "--html", out)
    assert said.splitlines()[-1] == f"written to {out}"
    text = out.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    if sys.platform != "win32":
        assert stat.S_IMODE(out.stat().st_mode) == 0o600
    out.write_text("mine", encoding="utf-8")
    assert (
        failure(LEAKING, "--html", out) == f"--html {out} exists; --force replaces it"
    )
    assert out.read_text(encoding="utf-8") == "mine"
    explained(LEAKING, "--html", out, "--force")
    assert out.read_text(encoding="utf-8") == text


def test_the_page_never_takes_the_place_of_its_file(tmp_path: Path) -> None:
    file = tmp_path / "a.sse"
    file.write_bytes((ROOT / LEAKING).read_bytes())
    said = failure(file, "--html", file, "--force")
    assert said == f"--html {file} is a file that is being read"
    assert file.read_bytes() == (ROOT / LEAKING).read_bytes()


@not_on_windows("links need rights there")
def test_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("other", encoding="utf-8")
    (tmp_path / "out").symlink_to("other")
    said = failure(LEAKING, "--html", tmp_path / "out", "--force")
    assert said.endswith("exists; --force does not replace links")
    assert (tmp_path / "other").read_text(encoding="utf-8") == "other"


def test_force_alone_means_nothing() -> None:
    assert failure(LEAKING, "--force") == "--force needs --html"


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    out = tmp_path / "no" / "page.html"
    assert "No such file" in failure(LEAKING, "--html", out)
    assert "No such file" in failure(tmp_path / "none")


@not_on_windows("its browser is no command")
@pytest.mark.parametrize("keeps", [False, True])
def test_it_opens_in_the_browser(keeps: bool, tmp_path: Path) -> None:
    """Which is given the page's address; the page itself is its user's alone."""
    shown = tmp_path / "shown"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {shown}\n', encoding="utf-8")
    browser.chmod(0o700)
    out = ["--html", tmp_path / "a page.html"] if keeps else []
    said = explained(
        LEAKING, "--open", *out, BROWSER=str(browser), TMPDIR=str(tmp_path)
    )
    address = shown.read_text(encoding="utf-8")
    path = Path(said.splitlines()[-1].removeprefix("written to "))
    assert address == path.as_uri()
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert keeps or stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_hostile_file_is_a_page_like_any_other(tmp_path: Path) -> None:
    file = tmp_path / "a.ndjson"
    file.write_text(
        "".join(json.dumps(chunk) + "\n" for chunk in [*CHUNKS, POISON]),
        encoding="utf-8",
    )
    explained(file, "--html", tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text.count("<script") == 2
    assert text.count("</script") == 2
    assert MARKUP not in text
