"""What the commands show on a terminal, a real one: nothing from outside steers it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rpc_client import ROOT
from systems import not_on_windows
from terminals import COLOUR, STEERS, is_harmless, on_terminal

from stream_sidecar.values.printable import in_lines, json_line, one_line

pytestmark = not_on_windows("needs a terminal")

NAME = "\x1b[31m\x1b]0;owned\x07\x9b2J\x85\u202e\u2066[bold]x[red]:smile:\r"
"""Colours, a title, C1, bidirectional controls and what rich reads as markup."""

POISON = f"{NAME}\x00\n-- finish forged\t"
SHOWN = (
    r"\x1b[31m\x1b]0;owned\x07\x9b2J\x85\u202e\u2066[bold]x[red]:smile:\r"
    r"\x00\n-- finish forged\t"
)
NO_TEXT = "\udc9b" if sys.platform == "linux" else ""
"""A byte of a file name that is no UTF-8, where names may be such."""

ANNOTATION = {"url": f"https://e.org/{POISON}", "title": POISON}
BODY = {
    "choices": [
        {
            "finish_reason": POISON,
            "message": {
                "role": "assistant",
                "content": f"answer {POISON}",
                "reasoning_content": f"thought {POISON}",
                "annotations": [{"type": "url_citation", "url_citation": ANNOTATION}],
                "tool_calls": [{"id": "1", "function": {"name": POISON}}],
            },
        }
    ],
}
BODIES: dict[str, Any] = {
    "a whole answer": BODY,
    "an error": {"error": {"message": POISON, "type": POISON, "code": POISON}},
    "a result": {"type": "tool_result", "tool_use_id": POISON, "content": POISON},
    "keys": {POISON: {POISON: POISON}},
    "a call": {"choices": [{"message": {"tool_calls": [{"function": {
        "name": f"f{POISON}", "arguments": json.dumps({POISON: POISON})}}]}}]},
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_what_a_provider_wrote(name: str, options: list[str], tmp_path: Path) -> None:
    file = tmp_path / "body.json"
    file.write_text(json.dumps(BODIES[name]), encoding="utf-8")
    said = on_terminal("normalize", *options, str(file))
    assert is_harmless(said), said
    assert "-- finish" in said or options
    coloured = on_terminal("normalize", *options, str(file), term="xterm-256color")
    assert COLOUR.sub("", coloured) == said


def test_a_title_forges_no_heading(tmp_path: Path) -> None:
    file = tmp_path / "body.json"
    file.write_text(json.dumps(BODY), encoding="utf-8")
    said = on_terminal("normalize", str(file))
    assert f"-- citation {SHOWN} https://e.org/{SHOWN[:-2]}\n" in said
    assert f"-- tool-call {SHOWN} (" in said
    assert said.count("\n  -- finish forged") == 2
    assert said.count("\n-- finish ") == 1


def test_a_pipe_gets_headings_in_one_line(tmp_path: Path) -> None:
    """And the text of the model as it is, but for the indentation of its lines."""
    file = tmp_path / "body.json"
    file.write_text(json.dumps(BODY), encoding="utf-8")
    command = [sys.executable, "-m", "stream_sidecar", "normalize", str(file)]
    said = subprocess.check_output(command, cwd=ROOT).decode()
    assert f"-- citation {SHOWN}" in said
    lines = [line.removeprefix("  ") for line in said.splitlines(keepends=True)]
    assert f"answer {POISON}" in "".join(lines)
    assert "\n-- finish forged" not in said


def test_json_means_the_same() -> None:
    text = json.dumps({POISON: ["\u2028\u200f é"]}, ensure_ascii=False)
    line = json_line(text.encode()).decode()
    assert json.loads(line) == json.loads(text)
    assert is_harmless(line)
    assert "é" in line


@pytest.mark.parametrize("options", [["--diff"], ["--write", "--jobs", "2"]])
def test_stored_sessions(options: list[str], tmp_path: Path) -> None:
    """File names, keys, models, providers, removed text and what stood around it."""
    message = {
        "role": "assistant",
        "model": POISON,
        "provider": POISON,
        "content": f"{POISON}</think>{POISON}",
    }
    for number in range(2):
        file = tmp_path / f"{number}{NAME}{NO_TEXT}.jsonl"
        file.write_text(json.dumps({POISON: message}), encoding="utf-8")
    os.link(file, tmp_path / "other")  # so that there is an error, too
    narrow = on_terminal("repair", "--diff", str(tmp_path))
    assert is_harmless(narrow), narrow
    wide = on_terminal("repair", *options, str(tmp_path), term="xterm-256color")
    said = re.sub(r"\x1b\[(\?25[hl]|2K|1A)|\r", "", COLOUR.sub("", wide))
    assert is_harmless(said), said  # but for what shows the progress
    assert SHOWN in said
    assert r":smile:\r" + NO_TEXT.replace("\udc9b", r"\udc9b") + ".jsonl" in said
    assert ("2 names" in said) == ("--write" in options)


@pytest.mark.parametrize(
    "arguments",
    [
        ["normalize", NAME],
        ["normalize", "--wire", POISON.replace("\0", ""), "-"],
        ["normalize", f"--{NAME}"],
        ["repair", "x", f"--{NAME}"],
        ["repair", NAME],
        ["repair", "x", "--report", f"/no/{NAME}/folder"],
        ["repair", "x", "--report", f"/proc/self/{NAME}"],
        ["repair", "x", "--jobs", NAME],
        ["schema", "--out", f"/proc/self/{NAME}"],
        ["dialects", NAME],
        ["dialects", "--model", NAME],
    ],
)
def test_arguments(arguments: list[str]) -> None:
    said = on_terminal(*arguments)
    assert is_harmless(said), said
    assert "Traceback" not in said
    assert r"\x1b" in said or arguments[0] == "dialects"


def test_log_lines() -> None:
    """Of the server, whose standard error may be a terminal."""
    words = POISON.replace("\0", "")
    done = subprocess.run(
        [sys.executable, "-m", "stream_sidecar", f"--{words}", "--log-level", words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=ROOT,
        check=True,
    )
    said = done.stderr.decode()
    assert is_harmless(said), said
    assert len(said.splitlines()) == 2


def test_a_traceback() -> None:
    """Bugs show values of anybody."""
    program = (
        "import sys; from stream_sidecar import __main__ as it, cli\n"
        "def fail(**_): raise RuntimeError(sys.argv[1])\n"
        "cli.main = fail\n"
        "it.main()"
    )
    command = [sys.executable, "-c", program, NAME]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 1
    assert is_harmless(done.stderr.decode())
    assert b"RuntimeError: \\x1b[31m" in done.stderr


def test_every_character() -> None:
    """Escaped are those that steer, and no others."""
    every = "".join(map(chr, range(0x110000)))
    for text in (in_lines(every), one_line(every)):
        assert is_harmless(text)
    plain = "".join(each for each in every if not STEERS.match(each))
    kept = re.sub("[\u2028-\u2029\ud800-\udfff]", "", plain)
    assert in_lines(kept) == kept
    assert one_line("a\tb\nc") == "a\\tb\\nc"
