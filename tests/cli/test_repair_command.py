"""``repair`` on the command line: formats, choices, agents, and the way back."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from agent_stores import STORES
from backup_lists import inside
from click.testing import CliRunner, Result
from rpc_client import ROOT
from systems import no_such_file, not_on_windows
from terminals import ended_by_ctrl_c, on_terminal

from stream_sidecar import inspect
from stream_sidecar.cli import main
from stream_sidecar.cli.repair_formats import WORDS
from stream_sidecar.history.results import KINDS
from stream_sidecar.session_files.agents import AGENTS, SYSTEMS, files_of, places_of
from stream_sidecar.session_files.layouts import PRESETS

LEAK = "<think>Hm.</think>Four.</s>"


def repair(*arguments: object, said: str = "", **environment: str) -> Result:
    runner = CliRunner(env={"COLUMNS": "500", **environment})
    return runner.invoke(main, ["repair", *map(str, arguments)], input=said)


def line(content: str) -> str:
    return json.dumps({"role": "assistant", "content": content}) + "\n"


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "sessions" / "a, b.jsonl"
    path.parent.mkdir()
    path.write_text(
        line("é100%") + line(LEAK) + line("<think>a</think>"), encoding="utf-8"
    )
    return path


# --- What a person reads --------------------------------------------------------------


def test_a_removal_is_marked_where_there_is_no_colour(session: Path) -> None:
    shown = repair(session, "--diff").output.splitlines()
    assert "  [-<think>Hm.</think>-]Four.</s>" in shown
    assert shown[-5] == ""
    assert shown[-1] == "To remove the leaks, run again with --write."


def test_the_last_lines_say_what_to_do(session: Path) -> None:
    """Nothing, if nothing can be removed."""
    step = "To remove the leaks, run again with --write; --diff shows each."
    found = "1 file, 3 messages of a model: 1 to repair, 1 that would be left empty"
    lines = [f"{found}; nothing was changed", step]
    assert repair(session).output.splitlines()[-2:] == lines
    checked = repair(session, "--check").output.splitlines()
    assert checked[-3:] == [*lines, "Leaks found: exit code 1."]
    missing = repair(session, "none", "--check")
    assert missing.output.splitlines()[-1] == "Leaks found: exit code 2."
    session.write_text(line("<think>a</think>"), encoding="utf-8")
    assert repair(session).output.splitlines()[-1].endswith("; nothing was changed")
    session.write_text(line("Four."), encoding="utf-8")
    for option in ("--check", "--diff", "--write"):
        said = repair(session, option).output
        assert said.startswith("1 file, 1 message of a model: 0 ")
        assert said.count("\n") == 1


def test_files_without_a_leak_are_counted_and_have_no_row(session: Path) -> None:
    (session.parent / "clean.jsonl").write_text(line("Hi"), encoding="utf-8")
    said = repair(session.parent).output
    assert "clean.jsonl" not in said
    assert "\n2 files, 4 messages of a model: 1 to repair, " in said
    assert "\nNot listed: 1 file without a finding (1 message)\n" in said


def test_each_record_is_one_line_that_ends_with_its_path(tmp_path: Path) -> None:
    path = tmp_path / ("a long name" * 5) / "session.jsonl"
    path.parent.mkdir()
    path.write_text(line(LEAK), encoding="utf-8")
    head, row, *_ = repair(path, COLUMNS="40").output.splitlines()
    kinds = ["leaks: delimiter", "reasoning"]
    assert re.split("  +", head.strip()) == ["messages", "leaking", *kinds, "file"]
    assert row.split(maxsplit=4) == ["1", "1", "1", "1", str(path)]
    path.write_text(line("<think>a</think>"), encoding="utf-8")
    row = repair(path).output.splitlines()[1]
    assert row.endswith(f"  {path}  1 would be left empty")


CONTROLS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


SESSION_ID = "0199f5b2-6f0c-7e01-9a4b-2c5d8e9f0a1b-2025-11-20T10-20-30"


def on_screen(*arguments: str, columns: int) -> list[str]:
    """The lines on a terminal, from the head of the table on."""
    said = on_terminal("repair", *arguments, term="xterm-256color", columns=columns)
    lines = CONTROLS.sub("", said).splitlines()
    return lines[next(n for n, each in enumerate(lines) if "messages  " in each) :]


@not_on_windows("needs a terminal")
def test_a_path_on_a_terminal_is_not_wrapped(tmp_path: Path) -> None:
    """It can be copied, and the numbers stand under their heads."""
    names = ("one/er/b", f"one/{SESSION_ID}", f"one/{'long ' * 30}")
    paths = [tmp_path / f"{name}.jsonl" for name in names]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(line(LEAK) + line("<think>a</think>"), encoding="utf-8")
    head, *lines = on_screen(str(tmp_path), columns=80)
    column = head.index("file")
    rows = [each for each in lines if each[column:].startswith(str(tmp_path))]
    shown = [each[column:] for each in rows]
    assert shown == [f"{path}  1 would be left empty" for path in sorted(paths)]
    assert {tuple(each[:column].split()) for each in rows} == {("2", "2", "1", "1")}


@not_on_windows("needs a terminal")
def test_a_diff_on_a_terminal(session: Path) -> None:
    shown = on_terminal("repair", "--diff", str(session), term="xterm-256color")
    lines = CONTROLS.sub("", shown).splitlines()
    assert lines[:2] == [str(session), "line 2 /content reasoning"]
    assert lines[lines.index("line 3 blocked") + 1] == ""


@not_on_windows("needs a terminal")
def test_no_line_ends_between_a_number_and_its_noun(session: Path) -> None:
    """Here a line has room for the number alone."""
    said = "\n".join(on_screen(str(session), columns=46))
    assert "1 to repair,\n1 that would be left empty" in said


def test_no_option_is_in_no_section() -> None:
    said = repair("--help").output
    assert said.partition("\nMore:\n")[2].splitlines()[0].startswith("  -h, --help")
    assert max(map(len, said.splitlines())) <= 80


def test_the_still_of_the_front_page(tmp_path: Path, monkeypatch: Any) -> None:
    page = (ROOT / "README.md").read_text("utf-8")
    (still,) = re.findall(
        r"```console\n\$ stream-sidecar repair (.*?)\n(.*?)```", page, re.DOTALL
    )
    monkeypatch.chdir(tmp_path)
    answer = "<think>The user wants the branch.</think>\nYou are on `main`.<|im_end|>"
    asked = json.dumps({"role": "user", "content": "What does <think> mean?"})
    said = line(answer) + asked + "\n" + line("It is a tag: `<think>`.")
    Path("session.jsonl").write_text(said, encoding="utf-8")
    shown = [each.rstrip() for each in repair(*still[0].split()).output.splitlines()]
    assert still[1].splitlines() == shown


# --- Formats --------------------------------------------------------------------------


def test_json(session: Path) -> None:
    empty = session.with_name("other.json")
    empty.write_text("{}", encoding="utf-8")
    result = repair(session.parent, "--check", "--output-format", "json")
    assert result.exit_code == 2
    report = json.loads(result.output)
    kinds = [(each["kind"], each["line"]) for each in report["findings"]]
    assert kinds == [("reasoning", 2), ("delimiter", 2), ("blocked", 3)]
    first = report["findings"][0]
    assert (first["column"], first["endColumn"], first["endLine"]) == (35, 53, 2)
    assert [(each["path"], each["recognised"]) for each in report["files"]] == [
        (str(session), True),
        (str(empty), False),
    ]
    assert report["summary"] == {
        "files": 2,
        "messages": 3,
        "changed": 1,
        "blocked": 1,
        "bound": 0,
        "unsealed": 0,
        "repaired": 0,
        "refused": 0,
        "leftOut": 0,
        "broken": 0,
        "mended": 0,
        "removed": {"reasoning": 1, "delimiter": 1},
        "unrecognised": 1,
        "stopped": False,
        "notLookedAt": {},
    }
    nothing = repair(empty, "--output-format", "json")
    assert json.loads(nothing.output)["findings"] == []


def test_github(session: Path) -> None:
    missing = session.with_name("none.jsonl")
    result = repair(session, missing, "--output-format", "github")
    assert result.exit_code == 2
    first, second, third, last = result.output.splitlines()
    where, nowhere = (
        str(each).replace(":", "%3A").replace(",", "%2C") for each in (session, missing)
    )
    assert first == (
        f"::warning file={where},line=2,col=35,endLine=2,endColumn=53,"
        "title=Leaked reasoning::Leaked reasoning: <think>Hm.</think> "
        "(/content)"
    )
    assert "Leaked delimiter: </s>" in second
    assert "The message would be left empty" in third
    assert last.startswith(f"::error file={nowhere}::left alone: ")


def test_sarif(session: Path) -> None:
    missing = session.with_name("none.jsonl")
    result = repair(session, missing, "--output-format", "sarif")
    log = json.loads(result.output)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    assert len(invocation["toolExecutionNotifications"]) == 1
    found, *_ = run["results"]
    place = found["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == session.as_uri()
    region = {"startLine": 2, "startColumn": 35, "endLine": 2, "endColumn": 53}
    assert place["region"] == region
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert {each["ruleId"] for each in run["results"]} <= rules
    resume_kinds = {"refused", "left-out", "broken"}
    assert {*KINDS, "blocked", *resume_kinds} == rules == {*WORDS}


def test_a_finding_in_a_database_and_in_a_document(tmp_path: Path) -> None:
    STORES["crush"](tmp_path, "", LEAK)
    whole = tmp_path / "a.json"
    whole.write_text("\ufeff[\n" + line("x") + "," + line(LEAK) + "]", encoding="utf-8")
    report = json.loads(repair(tmp_path, "--output-format", "json").output)
    assert {(each.get("table"), each.get("row")) for each in report["findings"]} == {
        ("messages", 2),
        (None, None),
    }
    assert [each["line"] for each in report["findings"] if "line" in each] == [3, 3]
    shown = repair(tmp_path, "--output-format", "github").output
    assert "(table messages row 2 /parts/1/data/text)" in shown or "row 2" in shown


# --- Which removals -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "left"),
    [
        (("--only", "reasoning"), "Four.</s>"),
        (("--only", "delimiter"), "<think>Hm.</think>Four."),
        (("--except", "reasoning"), "<think>Hm.</think>Four."),
        (("--only", "reasoning", "--except", "reasoning"), LEAK),
        (("--only", "tool-call", "--only", "delimiter"), "<think>Hm.</think>Four."),
    ],
)
def test_kinds(session: Path, options: tuple[str, ...], left: str) -> None:
    session.write_text(line(LEAK), encoding="utf-8")
    assert repair(session, "--write", *options).exit_code == 0
    assert session.read_text(encoding="utf-8") == line(left)
    wanted = 1 if left == LEAK else 0
    assert repair(session, "--check", *options).exit_code == 0
    assert repair(session, "--check").exit_code == max(wanted, 1)


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("y\ny\n", "Four."),
        ("n\ny\n", "<think>Hm.</think>Four."),
        ("?\nno\ny\n", "<think>Hm.</think>Four."),
        ("a\n", "Four."),
        ("y\nq\n", "Four.</s>"),
        ("y\n", "Four.</s>"),
        ("", LEAK),
    ],
)
@pytest.mark.parametrize("store", ["jsonl", "db"])
def test_ask(tmp_path: Path, said: str, left: str, store: str) -> None:
    """Each removal is shown and waits for an answer; the end of the input is a q."""
    if store == "db":
        STORES["llm"](tmp_path, "", LEAK)
        result = repair(tmp_path, "--ask", said=said)
        with closing(sqlite3.connect(tmp_path / "logs.db")) as database:
            assert database.execute("SELECT response FROM responses").fetchall() == [
                (left,)
            ]
    else:
        path = tmp_path / "a.jsonl"
        path.write_text(line(LEAK), encoding="utf-8")
        result = repair(path, "--ask", said=said)
        assert path.read_text(encoding="utf-8") == line(left)
    assert result.exit_code == 0, result.output
    assert "\n  [-<think>Hm.</think>-]Four.</s>\n" in result.output


def test_ask_of_one_kind(session: Path) -> None:
    session.write_text(line(LEAK), encoding="utf-8")
    result = repair(session, "--ask", "--only", "delimiter", said="y\n")
    assert result.output.count("Remove it?") == 1
    assert session.read_text(encoding="utf-8") == line("<think>Hm.</think>Four.")


def test_ask_is_for_people(session: Path) -> None:
    """Its questions would be in the document."""
    before = session.read_text(encoding="utf-8")
    result = repair(session, "--ask", "--output-format", "json", said="a\n")
    assert result.exit_code == 2
    assert "--ask needs --output-format text" in result.output
    assert session.read_text(encoding="utf-8") == before


@not_on_windows("needs a terminal")
def test_ctrl_c_while_it_asks(session: Path) -> None:
    """It ends the run at once; the file in hand stays as it was."""
    import fcntl
    import pty
    import termios

    other = session.with_name("b.jsonl")
    for path in (session, other):
        path.write_text(line(LEAK), encoding="utf-8")
    terminal, ours = pty.openpty()

    def at_terminal() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        fcntl.ioctl(ours, termios.TIOCSCTTY, 0)

    command = [sys.executable, "-m", "stream_sidecar", "repair", "--ask"]
    process = subprocess.Popen(
        [*command, str(session), str(other)],
        stdin=ours,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=ROOT,
        start_new_session=True,
        preexec_fn=at_terminal,
    )
    os.close(ours)
    assert process.stdout is not None
    with os.fdopen(terminal, "wb", buffering=0) as keys:
        keys.write(b"y\ny\ny\n")
        said = b""
        while said.count(b"Remove it?") < 4:
            said += (more := process.stdout.read1())
            assert more, said
        output = ended_by_ctrl_c(process, keys)
    assert process.returncode == 130, output
    assert b"stopped after 1 of 2 files" in output
    assert session.read_text(encoding="utf-8") == line("Four.")
    assert other.read_text(encoding="utf-8") == line(LEAK)


# --- What counts as a leak ------------------------------------------------------------

CALL = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
PLANNED = f"<plan>a</plan>Four.\n{CALL}</s>"


def with_policy(*paths: Path, policy: dict[str, Any], jobs: int = 1) -> list[Any]:
    """The kind of every finding, and where it starts."""
    options = ("--output-format", "json", "--jobs", jobs)
    result = repair(*paths, "--policy", json.dumps(policy), *options)
    findings = json.loads(result.output)["findings"]
    return [(each["kind"], each["start"]) for each in findings]


@pytest.mark.parametrize(
    ("policy", "kinds"),
    [
        ({}, ["tool-call", "delimiter"]),
        ({"toolCalls": {"mode": "off"}}, ["delimiter"]),
        ({"reasoning": {"tags": ["plan"]}}, ["reasoning", "tool-call", "delimiter"]),
    ],
)
def test_a_policy_counts_as_in_the_protocol(
    session: Path, policy: dict[str, Any], kinds: list[str]
) -> None:
    session.write_text(line(PLANNED), encoding="utf-8")
    found = with_policy(session, policy=policy)
    assert [kind for kind, _ in found] == kinds
    (inspected,) = inspect([json.loads(line(PLANNED))], policy=policy).results
    assert found == [(each.kind, each.start) for each in inspected.findings]


def test_a_policy_counts_in_every_process(session: Path) -> None:
    other = session.with_name("b.jsonl")
    for path in (session, other):
        path.write_text(line(PLANNED), encoding="utf-8")
    policy = {"reasoning": {"tags": ["plan"]}}
    alone = with_policy(session, policy=policy)
    assert with_policy(session, other, policy=policy, jobs=2) == alone * 2


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        ("{", "'{' is not JSON"),
        ("[]", "policy: must be an object"),
        ('{"toolCalls": {"mode": "no"}}', "policy.toolCalls.mode: must be "),
        ('{"reasoning": {"tags": ["a b"]}}', "policy.reasoning.tags[0]: must be "),
        ('{"toolCall": {"mode": "off"}}', "policy.toolCall: is not known"),
        ('{"toolCalls": {"mod": "off"}}', "policy.toolCalls.mod: is not known"),
    ],
)
def test_a_policy_that_is_none(session: Path, policy: str, why: str) -> None:
    result = repair(session, "--policy", policy)
    assert result.exit_code == 2
    assert f"Error: Invalid value for '--policy': {why}" in result.output


# --- Agents ---------------------------------------------------------------------------


def test_list_of_this_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """``--all`` adds the places on other systems."""
    for system in (*SYSTEMS, "freebsd14"):
        monkeypatch.setattr(sys, "platform", system)
        here = system if system in SYSTEMS else "linux"
        lines = repair("--list", "cline").output.splitlines()
        patterns = [*dict.fromkeys(AGENTS["cline"].patterns(here))]
        assert lines[1:-3] == [f"    {pattern}" for pattern in patterns]
        assert lines[-1].startswith(f"These are the places on {SYSTEMS[here]}")
    assert repair("cline", "--all").exit_code == 2


def test_list() -> None:
    shown = repair("--list", "--all")
    assert shown.exit_code == 0
    for name, agent in AGENTS.items():
        assert f"{name}  {agent.title}\n" in shown.output
        for system in SYSTEMS:
            for pattern in agent.patterns(system):
                assert f"    {pattern}" in shown.output
    titles = " ".join(each.title for each in AGENTS.values()) + shown.output
    for preset in PRESETS:
        assert preset.partition("-")[0].lower() in titles.lower().replace(" ", "")


def test_list_for_programs(tmp_path: Path) -> None:
    """Places and files are those of this machine and this environment."""
    STORES["opencode"](tmp_path / "opencode", "", LEAK)
    (tmp_path / "home").mkdir()
    home = str(tmp_path / "home")
    options = {"HOME": home, "USERPROFILE": home, "XDG_DATA_HOME": str(tmp_path)}
    listing = repair("--list", "--output-format", "json", **options)
    assert listing.exit_code == 0, listing.output
    document = json.loads(listing.output)
    assert (document["version"], document["system"]) == (1, sys.platform)
    agents = {each["name"]: each for each in document["agents"]}
    assert [*agents] == [*AGENTS]
    for name, each in agents.items():
        assert each["title"] == AGENTS[name].title
        assert each["formats"]
        assert all(os.path.isabs(place) for place in each["places"])
        assert [*each["placesBySystem"]] == [*SYSTEMS]
    parts = sorted((tmp_path / "opencode" / "storage" / "part").rglob("*.json"))
    assert parts
    assert set(map(str, parts)) <= set(agents["opencode"]["files"])
    assert agents["opencode"]["formats"] == ["json", "sqlite"]
    place = str(tmp_path / "opencode" / "storage" / "part" / "**" / "*.json")
    assert place in agents["opencode"]["places"]
    assert agents["claude-code"]["files"] == []


def test_list_of_some() -> None:
    listing = repair("--list", "codex", "--output-format", "json")
    assert [each["name"] for each in json.loads(listing.output)["agents"]] == ["codex"]
    assert "Claude" not in repair("--list", "codex").output
    wrong = repair("--list", "coddex")
    assert wrong.exit_code == 2
    assert "No such agent 'coddex'. Did you mean 'codex'?" in wrong.output
    assert repair("--list", "--output-format", "sarif").exit_code == 2


def test_list_of_folders_that_are_worked_in(tmp_path: Path) -> None:
    """The process itself may work elsewhere."""
    folders = [tmp_path / name for name in ("a", "b", "none")]
    for folder in folders[:2]:
        folder.mkdir()
        (folder / ".aider.chat.history.md").write_text("", encoding="utf-8")
    words = [word for folder in folders for word in ("--folder", str(folder))]
    listing = repair("--list", "aider", "llm", *words, "--output-format", "json")
    aider, llm = json.loads(listing.output)["agents"]
    names = [str(folder / ".aider.chat.history.md") for folder in folders]
    assert (aider["places"], aider["files"]) == (names, names[:2])
    assert len(llm["places"]) == 1
    assert repair(str(tmp_path), "--folder", str(tmp_path)).exit_code == 2


def test_an_agents_own_places(tmp_path: Path) -> None:
    home = tmp_path / "home"
    folder = home / ".claude" / "projects" / "-x"
    folder.mkdir(parents=True)
    STORES["claude-code"](folder, "", LEAK)
    result = repair("claude-code", "--check", HOME=str(home), USERPROFILE=str(home))
    assert result.exit_code == 1, result.output
    assert "1 file, 1 message of a model: 1 to repair" in result.output

    other = {"CLAUDE_CONFIG_DIR": str(home / ".claude")}
    assert files_of("claude-code", "linux", other).files == [folder / "0f3.jsonl"]
    nothing = repair("codex", tmp_path, HOME=str(home), CODEX_HOME=str(home))
    assert nothing.exit_code == 2
    place = home / "sessions" / "**" / "*.jsonl"
    assert f"looked at {place} and 4 more (--list codex)" in nothing.output
    assert "looked at .crush" not in repair("crush").output
    assert "2 files, 1 message" in nothing.output


@pytest.mark.parametrize(
    ("name", "variables", "place"),
    [
        ("goose", {"GOOSE_PATH_ROOT": "g", "XDG_DATA_HOME": "x"}, "g/data/sessions"),
        ("goose", {"XDG_DATA_HOME": "x"}, "x/goose/sessions"),
        ("gemini-cli", {"GEMINI_CLI_HOME": "g"}, "g/.gemini/tmp/*"),
        ("qwen-code", {"QWEN_HOME": "q"}, "q/projects/*"),
        ("continue", {"CONTINUE_GLOBAL_DIR": "c"}, "c/sessions"),
        ("copilot-cli", {"COPILOT_HOME": "c"}, "c/session-state/**"),
        ("llm", {"LLM_USER_PATH": "l"}, "l/logs.db"),
        ("codex", {"CODEX_HOME": "c"}, "c/sessions/**"),
        ("zed", {"XDG_DATA_HOME": "x"}, "x/zed/threads"),
        ("zed", {"FLATPAK_XDG_DATA_HOME": "f", "XDG_DATA_HOME": "x"}, "f/zed/threads"),
        ("vs-code", {"XDG_CONFIG_HOME": "x"}, "x"),
        ("llm", {"XDG_CONFIG_HOME": "x"}, "x/io.datasette.llm"),
    ],
)
def test_variables_of_agents(
    tmp_path: Path, name: str, variables: dict[str, str], place: str
) -> None:
    """What an agent's own variable names is looked at, and nothing else."""
    environment = {each: str(tmp_path / value) for each, value in variables.items()}
    first, *_ = places = places_of(name, "linux", environment)
    assert Path(first).is_relative_to(tmp_path / place)
    assert all(Path(each).is_relative_to(tmp_path) for each in places)


@pytest.mark.parametrize(
    ("name", "system", "variables", "place"),
    [
        ("cline", "linux", {"CLINE_DIR": "c"}, "c/data/sessions"),
        ("cline", "linux", {"CLINE_DIR": "c", "CLINE_DATA_DIR": "d"}, "d/tasks"),
        ("cline", "win32", {"APPDATA": "a"}, "a/Code*/User/globalStorage"),
        ("vs-code", "win32", {"APPDATA": "a"}, "a/VSCodium/User"),
        ("zed", "win32", {"LOCALAPPDATA": "a", "XDG_DATA_HOME": "x"}, "a/Zed/threads"),
        ("goose", "win32", {"APPDATA": "a"}, "a/Block/goose/data/sessions"),
        ("cursor", "darwin", {}, "Library/Application Support/Cursor/User"),
        ("zed", "darwin", {"XDG_DATA_HOME": "x"}, "Library/Application Support/Zed"),
        ("cursor", "linux", {"XDG_CONFIG_HOME": "x"}, ".cursor/projects"),
    ],
)
def test_variables_of_a_system(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    system: str,
    variables: dict[str, str],
    place: str,
) -> None:
    """One of another system counts for nothing."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    environment = {each: str(tmp_path / value) for each, value in variables.items()}
    places = [Path(each) for each in places_of(name, system, environment)]
    assert any(each.is_relative_to(tmp_path / place) for each in places)


def test_opencode_by_its_name(tmp_path: Path) -> None:
    """Roles stand beside the parts that are looked at."""
    folder = tmp_path / "opencode"
    folder.mkdir()
    STORES["opencode"](folder, "", LEAK)
    done = repair("opencode", "--write", XDG_DATA_HOME=str(tmp_path))
    assert done.exit_code == 0, done.output
    assert "1 message of a model: 1 repaired" in done.output


# --- The way back ---------------------------------------------------------------------


def test_restore(session: Path) -> None:
    """One repair after the other is undone."""
    texts = [session.read_text(encoding="utf-8")]
    repair(session, "--write")
    texts.append(session.read_text(encoding="utf-8"))
    session.write_text(texts[-1] + line(LEAK), encoding="utf-8")
    texts.append(session.read_text(encoding="utf-8"))
    repair(session, "--write")

    backup = session.with_name(f"{session.name}.bak2")
    result = repair(session.parent, "--restore")
    assert result.exit_code == 0, result.output
    assert f"{backup} -> {session}\n" in result.output
    assert "1 file put back" in result.output
    assert session.read_text(encoding="utf-8") == texts[2]
    # What was written since would be lost.
    refused = repair(session, "--restore")
    assert refused.exit_code == 2
    assert "it was written to since; --force" in refused.output
    assert session.read_text(encoding="utf-8") == texts[2]
    assert repair(session, "--restore", "--force").exit_code == 0
    assert session.read_text(encoding="utf-8") == texts[0]
    assert "0 files put back" in repair(session, "--restore").output
    assert inside(session.parent) == [session]


def test_restore_of_a_database(tmp_path: Path) -> None:
    STORES["llm"](tmp_path, "", LEAK)
    repair(tmp_path, "--write")
    assert repair(tmp_path, "--restore").exit_code == 0
    with closing(sqlite3.connect(tmp_path / "logs.db")) as database, database:
        found = database.execute("SELECT response FROM responses").fetchall()
        assert found == [(LEAK,)]
    repair(tmp_path, "--write")
    with closing(sqlite3.connect(tmp_path / "logs.db")) as database, database:
        database.execute("INSERT INTO responses VALUES ('', 'later')")
    assert repair(tmp_path, "--restore").exit_code == 2


def test_clean(session: Path) -> None:
    repair(session, "--write")
    other = session.with_name(f"{session.name}.bakery")
    other.write_text("", encoding="utf-8")
    assert "1 file removed" in repair(session.parent, "--clean").output
    assert {*inside(session.parent)} == {session, other}


def test_clean_that_may_not(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repair(session, "--write")

    def refuse(_path: Any) -> None:
        raise OSError("not here")

    monkeypatch.setattr("stream_sidecar.session_files.backups.unlink", refuse)
    result = repair(session, "--clean")
    assert result.exit_code == 2
    assert "left alone: not here" in result.output


def test_nothing_to_put_back(session: Path) -> None:
    """A path that leads nowhere is reported, and stops no other."""
    repair(session, "--write")
    missing = session.with_name("none")
    for option in ("--restore", "--clean"):
        result = repair(missing, "codx", session, option)
        assert result.exit_code == 2
        assert f"{missing}: {no_such_file(missing)}" in result.output
        assert "Did you mean 'codex'?" in result.output
    assert repair("codex", "--restore", CODEX_HOME=str(session.parent)).exit_code == 2
    assert "1 file put back" not in repair(session, "--restore").output


def test_a_path_that_leads_nowhere_is_one_line(tmp_path: Path) -> None:
    """Without a table; beside others, and in reports, it is a row like theirs."""
    missing, session = tmp_path / "none", tmp_path / "session.jsonl"
    session.write_text("", encoding="utf-8")
    alone = repair(missing)
    assert alone.exit_code == 2
    assert alone.output == f"Error: {missing}: {no_such_file(missing)}\n"
    both = repair(missing, "codx").output
    assert both.count("\n") == 1
    assert "Did you mean 'codex'?" in both
    assert "left alone" in repair(missing, session).output


def test_a_backup_of_what_is_gone(session: Path) -> None:
    before = session.read_text(encoding="utf-8")
    repair(session, "--write")
    session.unlink()
    assert repair(session, "--restore").exit_code == 0
    assert session.read_text(encoding="utf-8") == before


# --- What was not looked at -----------------------------------------------------------


def test_a_folder_without_sessions(session: Path, tmp_path: Path) -> None:
    """It is named, also beside another that is clean."""
    session.write_text(line("Four."), encoding="utf-8")
    folder = tmp_path / "empty"
    (folder / "deeper").mkdir(parents=True)
    (folder / "notes.txt").write_text(LEAK, encoding="utf-8")
    result = repair(session, folder, "--check")
    assert result.exit_code == 2
    assert f"{folder}  " in result.output
    assert "1 file in which no message of a model was recognised" in result.output
    assert repair(session, folder).exit_code == 0


def test_a_line_that_is_broken(session: Path) -> None:
    """Nobody knows what leaked there."""
    session.write_text(line("Four.") + line(LEAK)[:50], encoding="utf-8")
    result = repair(session, "--check")
    assert result.exit_code == 2
    assert "1 not JSON" in result.output
    assert repair(session).exit_code == 0


def test_an_agent_that_was_misspelled(session: Path) -> None:
    result = repair("claude-cod", session, "--check")
    assert result.exit_code == 2
    assert "Did you mean 'claude-code'?" in result.output
    assert "1 to repair" in result.output


# --- Any path -------------------------------------------------------------------------


@not_on_windows("there are no such files")
def test_odd_paths_stop_nobody(session: Path, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo.jsonl"
    os.mkfifo(fifo)
    nowhere = tmp_path / "link.json"
    nowhere.symlink_to(tmp_path / "elsewhere")
    odd = ("/dev/full", tmp_path / "none", fifo, nowhere, "/dev/null", "\x1b[2J")
    result = repair(*odd, session)
    assert result.exit_code == 2
    assert result.output.count("left alone: ") == len(odd)
    assert "1 to repair" in result.output
    assert "\x1b" not in result.output


def test_a_folder_that_cannot_be_read(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = session.parent / "closed"
    closed.mkdir()
    real = os.scandir

    def scandir(path: Any) -> Any:
        if path == str(closed):
            raise PermissionError(13, "Permission denied", str(closed))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    result = repair(session.parent)
    assert result.exit_code == 2
    assert f"the folder {closed} cannot be read" in result.output
    assert "1 to repair" in result.output
