"""The command line, from outside: what is printed, and with which code it ends."""

from __future__ import annotations

import base64
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, frozen
from forked import command
from rich.cells import cell_len
from rpc_client import ROOT, RpcClient, frame, message, strict_json
from systems import not_on_windows

from stream_sidecar import __version__
from stream_sidecar.cli import COMMANDS
from stream_sidecar.dialects import DIALECTS
from stream_sidecar.events import EVENTS

LEAKING = ROOT / "tests" / "wires" / "openai-chat" / "leaking.sse"
JUNK = random.Random(7).randbytes(70_000)
"""More than is read at once."""


@frozen
class Run:
    """How a command ended, and what it said."""

    code: int
    output: bytes
    errors: str

    @property
    def text(self) -> str:
        return self.output.decode()


def run(*arguments: str, data: bytes = b"", **environment: str) -> Run:
    """``stream-sidecar`` with ``arguments`` and ``data`` on its standard input."""
    done = command(*arguments, data=data, TERM="xterm-256color", **environment)
    return Run(done.returncode, done.stdout, done.stderr.decode())


def events_of(done: Run) -> list[dict[str, Any]]:
    """The events of ``--json``, one a line, each as strict readers want it. An exit
    code of 2 has a sentence."""
    assert done.errors.count("\n") == (done.code == 2)
    assert done.output.endswith(b"\n")
    events = [strict_json(line) for line in done.output.splitlines()]
    kinds = {event["type"] for event in events}
    silent = kinds <= {"diagnostic", "metadata", "usage", "finish"}
    silent = silent or "empty-stream" in [event.get("code") for event in events]
    assert done.code == (2 if silent else 1 if "error" in kinds else 0)
    return events


# --- normalize ------------------------------------------------------------------------


def test_text() -> None:
    """Channels under headings, in the order in which they came."""
    done = run("normalize", str(LEAKING))
    assert (done.code, done.errors) == (0, "")
    assert done.text == (
        "-- reasoning (tag)\n"
        "  The user wants the current branch; `git branch` tells."
        " A `</think>` in code is no end.\n"
        "\n"
        "-- answer\n"
        "  I will look at the branch 🌿 first.\n"
        "\n"
        "-- tool-call run_command (client, complete, execute)\n"
        '  {"command": "git branch --show-current"}\n'
        "\n"
        "-- diagnostic orphan-reasoning-close: a closer without an opener\n"
        "\n"
        "-- diagnostic malformed-chunk: Input that is not JSON was left out.\n"
        "\n"
        "-- finish tool-calls\n"
        "\n"
    )


@pytest.mark.parametrize("text", ["a [bold]b[/bold] [/] c", "x " * 500, "\ta\n\n  b"])
def test_text_is_shown_as_it_is(text: str) -> None:
    """No markup, no wrapping, no trimming."""
    said = run("normalize", "--answer", "-", data=text.encode())
    assert (said.code, said.text) == (0, f"{text}\n")


FORGED = [
    "a\n-- finish stop",
    "a\r-- finish stop\r\n\r\n-- x",
    "-- a\x85-- b\u2028-- c",
]


@pytest.mark.parametrize("text", FORGED)
def test_no_text_looks_like_a_heading(text: str) -> None:
    """Lines of a model's text and reasoning are indented, wherever chunks end."""
    deltas = [{"reasoning_content": each} for each in text]
    deltas += [{"content": each} for each in text] + [{"content": text}]
    chunks = [{"choices": [{"delta": delta}]} for delta in deltas]
    data = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    lines = run("normalize", "-", data=data.encode()).text.splitlines()
    heads = [line.split()[1] for line in lines if line.startswith("-- ")]
    assert heads == ["reasoning", "answer", "diagnostic", "finish"]


def test_results_are_json_and_tell_what_is_left_out() -> None:
    found = [{"type": "web_search_result", "url": "https://e.org", "title": "é" * 9000}]
    result = {"type": "web_search_tool_result", "tool_use_id": "t", "content": found}
    body = {"type": "message", "role": "assistant", "content": [result]}
    data = json.dumps(body).encode()
    said = run("normalize", "--wire", "anthropic", "-", data=data).text
    assert '  {"type":"web_search_tool_result","tool_use_id":"t","content":[{' in said
    assert "\n  ... 14 kB more\n" in said


def test_the_message() -> None:
    """``--message`` is what the server gives, on one line."""
    said = strict_json(run("normalize", "--message", str(LEAKING)).output)
    assert said["text"] == "I will look at the branch 🌿 first."
    assert [call["name"] for call in said["toolCalls"]] == ["run_command"]


@pytest.mark.parametrize(
    ("tools", "declared"),
    [
        ([{"name": "run_command", "kind": "read"}], True),
        ([{"type": "function", "function": {"name": "run_command"}}], True),
        ({"model": "m", "tools": [{"name": "other"}]}, False),
        ([], False),
    ],
)
def test_declared_tools(tools: Any, declared: bool, tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(tools), encoding="utf-8")
    done = run("normalize", "--message", "--tools", str(file), str(LEAKING))
    assert strict_json(done.output)["toolCalls"][0]["declared"] is declared


@pytest.mark.parametrize("text", ["{", "7", '[{"description": "no name"}]'])
def test_tools_that_are_none(text: str, tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text(text, encoding="utf-8")
    done = run("normalize", "--tools", str(file), str(LEAKING))
    assert (done.code, done.output) == (2, b"")
    assert done.errors.startswith("Error: --tools ")
    assert done.errors.count("\n") == 1


def test_framing() -> None:
    """An answer that looks like a stream is a text, where one says so."""
    data = b"data: {}\n\n"
    done = run("normalize", "--answer", "--framing", "text", "-", data=data)
    assert done.output == data


def test_a_pipe_gets_no_colours() -> None:
    assert b"\x1b" not in run("normalize", str(LEAKING)).output


def test_standard_input() -> None:
    by_name = run("normalize", str(LEAKING))
    assert run("normalize", "-", data=LEAKING.read_bytes()) == by_name


def test_json_is_what_the_server_says() -> None:
    """The same engine, the same spelling."""
    with RpcClient() as client:
        client.initialize()
        body = base64.b64encode(LEAKING.read_bytes()).decode()
        said = client.request("message/normalize", {"body": body, "encoding": "base64"})
    assert events_of(run("normalize", "--json", str(LEAKING))) == said["events"]


# By number: pytest puts the id into the environment, which has no room for these.
ANYTHING = (b"", b"\x80" + b"a" * 70_000, b"{", b"[[[", b"data: {\n\n", b"\xff\xfe")


@pytest.mark.parametrize("data", ANYTHING, ids=range(len(ANYTHING)))
def test_anything_is_read(data: bytes) -> None:
    """No file crashes it; there is always an end."""
    done = run("normalize", "--json", "-", data=data)
    events = events_of(evolve(done, errors=_but_the_warning(done.errors)))
    assert [event["seq"] for event in events] == [*range(1, len(events) + 1)]
    assert {event["type"] for event in events} <= {kind.type for kind in EVENTS}
    assert events[-1]["type"] == "finish"
    shown = run("normalize", "-", data=data)
    assert shown.errors == done.errors
    assert "-- finish" in shown.text


def _but_the_warning(errors: str) -> str:
    warning = "Warning: standard input has bytes that are not UTF-8;"
    return "" if errors.startswith(warning) else errors


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"hello", 0),
        (b"", 2),
        (b'{"error": {"message": "overloaded", "type": "overloaded_error"}}', 1),
        (b'{"choices": [{"index": 0, "delta": {"role": "assistant"}}]}', 2),
        (b'{"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]}', 2),
        (b'data: {"choices": [{"delta": {"content": "cut o"}}]}', 0),
        (b" \n\n", 2),
        (b'{"choices": [{"message": {"content": "\\n"}, "finish_reason": "stop"}]}', 2),
    ],
)
def test_codes_of_normalize(data: bytes, code: int) -> None:
    """0 is an answer, 1 an error of the provider, 2 nothing at all."""
    assert run("normalize", "-", data=data).code == code


def test_broken_characters_are_kept() -> None:
    """They become U+FFFD, which a warning says once; nothing is lost at a read's
    border."""
    text = "Größe, ".encode("latin-1") + "日本 ".encode() * 20_000 + b"\xff\xff"
    done = run("normalize", "--answer", "--wire", "text", "-", data=text)
    assert (done.code, done.text) == (0, f"{text.decode('utf-8', 'replace')}\n")
    assert done.errors.count("not UTF-8") == 1


def test_wire_and_model() -> None:
    """Options of the stream: the profile's delimiters, and a format that is known."""
    text = b"Here is my thought process:why Here is my response:because"
    plain = events_of(run("normalize", "--json", "-", data=text))
    known = events_of(
        run("normalize", "--json", "--model", "granite-3.2", "-", data=text)
    )
    assert "reasoning-delta" not in [event["type"] for event in plain]
    assert "reasoning-delta" in [event["type"] for event in known]
    assert plain[0]["type"] == "metadata"
    as_text = events_of(run("normalize", "--json", "--wire", "text", "-", data=text))
    assert as_text[0]["type"] == "text-delta"


SESSION = json.dumps({"role": "assistant", "content": "<think>日</think>Größe"})
LACKING = "日".encode() if sys.platform == "win32" else b"\\u65e5"
"""What is shown of a character that ASCII lacks; a pipe of Windows gets UTF-8."""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["normalize", str(LEAKING)], b"-- finish tool-calls"),
        (["dialects"], b"harmony"),
        (["repair", "--diff", "{file}"], LACKING),
    ],
)
def test_output_that_cannot_show_a_character(
    arguments: list[str], words: bytes, tmp_path: Path
) -> None:
    """A terminal of another encoding shows something else, and all of the rest."""
    file = tmp_path / "Größe.jsonl"
    file.write_text(SESSION, encoding="utf-8")
    arguments = [word.format(file=file) for word in arguments]
    done = run(*arguments, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (done.code, done.errors) == (0, "")
    assert words in done.output


@pytest.mark.parametrize(
    "arguments",
    [
        ["normalize"],
        ["normalize", "--json"],
        ["explain"],
        ["repair"],
        ["repair", "--check", "--output-format", "json"],
        ["--help"],
        ["--version"],
    ],
)
def test_a_reader_that_goes_away(arguments: list[str]) -> None:
    """``| true``: not a word, and a code that means nothing else."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "stream_sidecar", *arguments, str(LEAKING)]
    with os.fdopen(writing, "wb") as pipe:
        done = subprocess.run(
            command, stdout=pipe, stderr=subprocess.PIPE, cwd=ROOT, check=False
        )
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("command", ["normalize", "explain"])
@not_on_windows("a shell closes it")
def test_standard_input_that_is_closed(command: str) -> None:
    closed = [
        "sh",
        "-c",
        'exec "$0" -m stream_sidecar "$1" - <&-',
        sys.executable,
        command,
    ]
    done = subprocess.run(closed, cwd=ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"Error: standard input is closed\n"


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_what_a_pipe_has_brought_is_shown_while_it_is_open(options: list[str]) -> None:
    command = [sys.executable, "-m", "stream_sidecar", "normalize", *options, "-"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, cwd=ROOT) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'data: {"choices": [{"delta": {"content": "Hello"}}]}\n\n')
        process.stdin.flush()
        seen = b""
        while b"Hello" not in seen:
            more = process.stdout.read1()
            assert more
            seen += more
        process.communicate()
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["normalize", "no/such/file"], "no/such/file"),
        (["normalize", "."], "'.'"),
        (["normalize"], "FILE"),
        (["normalize", "--wire", "telepathy", "-"], "telepathy"),
        (["normalize", "--no-such-option", "-"], "--no-such-option"),
        (["repare", "x"], "Did you mean 'repair'?"),
        (["explain", os.devnull], "is empty"),
        (["telepathy"], "No such command 'telepathy'."),
        (["repair"], "--list"),
        (["repair", "--check", "--write", "x"], "--check and --write cannot"),
        (["repair", "--clean", "--restore", "x"], "--restore and --clean cannot"),
        (["repair", "--force", "x"], "--force needs"),
        (["repair", "--write", ""], "the path is empty"),
        (["schema", "--out", ""], "the path is empty"),
        (["explain", str(LEAKING), "--html", "no/x"], "Error: no/x: No such file"),
    ],
)
def test_mistakes(arguments: list[str], words: str) -> None:
    """Code 2 and a sentence, nothing on standard output."""
    done = run(*arguments)
    assert (done.code, done.output) == (2, b"")
    assert words in done.errors
    assert "Traceback" not in done.errors


@not_on_windows("a POSIX shell closes the streams")
@pytest.mark.parametrize(
    "words", ["repair --list", "dialects", "normalize -", "schema", "repair x --clean"]
)
def test_streams_that_are_closed(words: str) -> None:
    """A sentence and code 2, as for every output that cannot be written."""
    command = f"'{sys.executable}' -m stream_sidecar {words} <&- >&-"
    done = subprocess.run(
        ["sh", "-c", command], stderr=subprocess.PIPE, cwd=ROOT, check=False
    )
    assert done.returncode == 2, done.stderr
    assert b"standard output is closed" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_transcript_without_a_stream() -> None:
    for options in ([], ["--stream", "s1"]):
        done = run("explain", "-", *options, data=b'{"transcript": 1}\n')
        assert (done.code, done.output) == (2, b"")
        assert done.errors == "Error: standard input is a transcript without a stream\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", ["--help", "--version", "dialects", "schema --help"])
def test_an_output_that_is_full(words: str) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "stream_sidecar", *words.split()],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            check=False,
        )
    assert (done.returncode, done.stderr) == (2, b"Error: No space left on device\n")


# --- serve, and the rest --------------------------------------------------------------

_INITIALIZE = json.dumps(
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
).encode()
_FRAME = b"Content-Length: %d\r\n\r\n%b" % (len(_INITIALIZE), _INITIALIZE)


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version(option: str) -> None:
    assert run(option) == Run(0, f"stream-sidecar {__version__}\n".encode(), "")


def test_version_imports_nothing() -> None:
    """Hosts ask for it before every start."""
    program = (
        "import sys; from stream_sidecar.__main__ import main;"
        "sys.argv[1:] = ['--version']; main();"
        "print(*sorted({name.split('.')[0] for name in sys.modules}))"
    )
    output = subprocess.check_output([sys.executable, "-c", program], cwd=ROOT)
    loaded = output.decode().splitlines()[1].split()
    assert not {"click", "rich", "attrs", "cattrs", "pygls", "asyncio"} & {*loaded}


def test_initialize_waits_for_nothing_that_reads_streams() -> None:
    """Of the wires it needs the names alone."""
    asked = frame(message("initialize", {}, id=1))
    command = [sys.executable, "-X", "importtime", "-m", "stream_sidecar"]
    done = subprocess.run(command, input=asked, capture_output=True, cwd=ROOT)
    loaded = {row.split("|")[-1].strip() for row in done.stderr.decode().splitlines()}
    assert b'"capabilities"' in done.stdout
    assert {"stream_sidecar.protocol.handshake", "click"} <= loaded
    rooms = {
        "stream_sidecar.stream",
        "stream_sidecar.wires.shared.row",
        "stream_sidecar.dialects",
        "stream_sidecar.history",
    }
    assert not loaded & {*rooms, "stream_sidecar.protocol.methods", "rich", "pygls"}


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["serve", "--help"]])
def test_help(arguments: list[str]) -> None:
    done = run(*arguments)
    assert (done.code, done.errors) == (0, "")
    assert done.text.startswith("Usage: stream-sidecar")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_examples(name: str) -> None:
    """On lines that a terminal of 80 columns shows."""
    shown = run(name, "--help").text
    assert "Examples:\n  " in shown
    assert f"  stream-sidecar {name}" in shown
    examples = shown[shown.index("Examples:") :]
    assert max(map(len, examples.splitlines())) <= 80


@pytest.mark.parametrize(
    "arguments", [[], ["--stdio"], ["serve"], ["serve", "--stdio"]]
)
def test_serve(arguments: list[str]) -> None:
    """Without a command it serves, and says nothing of its own."""
    done = run(*arguments, data=_FRAME)
    assert (done.code, done.errors) == (0, "")
    assert done.output.startswith(b"Content-Length: ")


@pytest.mark.parametrize(
    "argument", ["--no-such-flag", "--node-ipc=7", "no-such-command", "-x"]
)
def test_unknown_flags(argument: str) -> None:
    """Of a later version, or of another server: ignored with a warning."""
    done = run("--stdio", argument, data=_FRAME)
    assert done.code == 0
    assert f"WARNING stream_sidecar: ignored argument {argument}" in done.errors
    assert done.output.startswith(b"Content-Length: ")


def test_log_file(tmp_path: Path) -> None:
    """Warnings go to the file in place of standard error."""
    log = tmp_path / "sidecar.log"
    done = run("--log-file", str(log), "--no-such-flag", data=_FRAME)
    assert (done.code, done.errors) == (0, "")
    assert "--no-such-flag" in log.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "arguments", [["--log-level", "loud"], ["--log-file", "no/such/folder/log"]]
)
def test_logging_that_cannot_be_had(arguments: list[str]) -> None:
    """A host's wish for a log is no reason not to start."""
    done = run(*arguments, data=_FRAME)
    assert done.code == 0
    assert "WARNING stream_sidecar: no log" in done.errors
    assert done.output.startswith(b"Content-Length: ")


def test_dialects() -> None:
    """The table of dialects, whole and for one model, for people and as JSON."""
    lines = run("dialects", "--json").output.decode().splitlines()
    families = [json.loads(line) for line in lines]
    assert [family["name"] for family in families] == list(DIALECTS)
    assert max(map(cell_len, run("dialects").text.splitlines())) <= 80
    assert "%s" not in run("dialects").text
    shown = run("dialects", "--model", "gpt-oss-120b").output.decode()
    assert shown.startswith("harmony\n")
    assert "granite-phrases" not in shown


@pytest.mark.parametrize(
    ("model", "code", "complaint"),
    [
        ("qwen3:32b", 0, ""),
        ("qwen4", 1, "does not say qwen3-xml: a template has one form of calls"),
        ("mistral-7b", 1, "no template can say how mistral-7b writes: mistral: "),
        ("glm", 0, ""),
        ("pythonic", 1, "pythonic: nothing opens a call but its own bracket"),
        ("nobody-knows", 1, "how it writes is not known"),
    ],
)
def test_a_dialect_as_a_response_template(
    model: str, code: int, complaint: str
) -> None:
    """What it prints is what ``normalize`` reads."""
    done = run("dialects", "--format", "response-template", model)
    assert done.code == code
    assert complaint in done.errors
    if done.output:
        found = json.loads(done.output)
        opener = found["fields"]["tool_calls"]
        assert "<tool_call>" in opener.get("open", opener.get("open_pattern"))
    assert run("dialects", "--format", "response-template").code == 2


def test_a_response_template_of_a_file(tmp_path: Path) -> None:
    """It stands alone, or in the configuration of a tokenizer."""
    text, file = tmp_path / "answer.txt", tmp_path / "tokenizer_config.json"
    text.write_text("<why>It asks.</why>Yes.", encoding="utf-8")
    template = {"fields": {"thinking": {"open": "<why>", "close": "</why>"}}}
    words = "normalize", "--wire", "text", "--answer", "--response-template", str(file)
    for found in (template, {"model": "m", "response_template": template}):
        file.write_text(json.dumps(found), encoding="utf-8")
        assert run(*words, str(text)).text == "Yes.\n"
    for found, complaint in (
        ({"model": "m"}, "response_template: is missing"),
        ({"fields": {"a": {"opens": "b"}}}, "fields.a.opens: is not known"),
    ):
        file.write_text(json.dumps(found), encoding="utf-8")
        done = run(*words, str(text))
        assert (done.code, complaint in done.errors) == (2, True)


def test_a_python_without_sqlite() -> None:
    """Everything but the repair of files, which says so."""
    hide = "import sys; sys.modules['sqlite3'] = None; sys.argv[0] = 'stream-sidecar'"
    start = "from stream_sidecar.__main__ import main; main()"

    def said(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-P", "-c", f"{hide}; {start}", *arguments]
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT / "sidecar")},
            check=False,
        )

    assert said("normalize", str(LEAKING)).returncode == 0
    helped = said("--help")
    assert (helped.returncode, helped.stderr) == (0, "")
    assert "This sidecar was built without SQLite" in helped.stdout
    refused = said("repair", "--jobs", "2", ".")
    assert refused.returncode == 2
    assert refused.stderr == (
        "Error: This sidecar was built without SQLite, which this command needs.\n"
    )
