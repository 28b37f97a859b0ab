"""What the process may do: read, answer, and nothing else.

What is promised stands in sidecar/README.md, "Security".
"""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from pathlib import Path

import pytest
from places import TESTS
from rpc_client import PATIENCE, ROOT, RpcClient, RpcError

WATCHED = (sys.executable, str(TESTS / "support" / "watched.py"))
TEXTS = [
    json.loads(line)["text"]
    for line in (ROOT / "tests/data/dialects.jsonl").read_text("utf-8").splitlines()
]
SECRET = "hunter2-hunter2"

PAYLOADS = [
    "[__import__('os').system('echo x > %s')]",
    "```tool_code\nprint(open('%s', 'w').write('x'))\n```",
    "<|python_tag|>__import__('subprocess').run(['touch', '%s'])",
    "<execute_python>\nopen('%s', 'w')\n</execute_python>",
    "[f(a=open('%s', 'w'))]",
    '<tool_call>{"name": "f", "arguments": {"a": "$(touch %s)"}}</tool_call>',
    'default_api.f(a=eval(\'open("%s", "w")\'))',
]

WRONG = (
    ("stream/push", {"streamId": "other", "chunk": SECRET}),
    ("stream/open", {"wire": SECRET}),
    ("stream/open", {"policy": {"dialects": [SECRET]}}),
)


def watched(report: Path, *arguments: str) -> RpcClient:
    environment = {
        **os.environ,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(ROOT / "sidecar"),
    }
    command = (*WATCHED, str(report))
    return RpcClient(*arguments, command=command, env=environment)


def converse(client: RpcClient, folder: Path) -> None:
    """Everything that a host may ask for, with all that a model might write."""
    client.initialize()
    texts = TEXTS[::8] + [text % (folder / "made") for text in PAYLOADS]
    for text in texts:
        params = {"wire": "text", "tools": [{"name": "f"}], "body": text}
        client.request("message/normalize", params)
        for dialects in ("auto", ["pythonic", "tool-code"]):
            options = {"policy": {"dialects": dialects}}
            stored = [{"role": "assistant", "content": text}]
            client.request("message/repair", {"messages": stored, **options})
    client.request("error/normalize", {"body": "<html>503</html>", "status": 503})
    client.request("tool/classify", {"calls": [{"name": "f", "arguments": "{"}]})
    document = {"uri": f"file://{folder}/s.jsonl", "languageId": "jsonl", "version": 1}
    text = json.dumps({"role": "assistant", "content": TEXTS[0]})
    client.notify("textDocument/didOpen", {"textDocument": {**document, "text": text}})
    assert client.read()["method"] == "textDocument/publishDiagnostics"
    client.request("shutdown", None)
    client.notify("exit")
    assert client.wait(PATIENCE) == 0


def test_nothing_is_written_sent_started_or_run(tmp_path: Path) -> None:
    report, folder = tmp_path / "report", tmp_path / "folder"
    folder.mkdir()
    with watched(report) as client:
        converse(client, folder)
    assert _done(report) == []
    assert list(folder.iterdir()) == []


def test_only_the_files_that_were_asked_for_are_written(tmp_path: Path) -> None:
    """And the watch sees what is written."""
    report, log, said = (tmp_path / name for name in ("report", "log", "said"))
    with watched(report, "--log-file", str(log), "--record", str(said)) as client:
        client.initialize()
        client.end_input()
        assert client.wait(PATIENCE) == 0
    assert _done(report) == [f"open {log}", f"open {said}"]


def _done(report: Path) -> list[str]:
    """What was done but for opening the standard output a second time, which Linux
    lets a process do with a pipe of its own."""
    said = report.read_text(encoding="utf-8").splitlines()
    own = [line for line in said if re.fullmatch(r"open /proc/self/fd/\d+", line)]
    assert len(own) == (sys.platform == "linux")
    return [line for line in said if line not in own]


def test_logs_hold_no_content() -> None:
    """At any level; what a host says wrong is told to it, not to the log."""
    with RpcClient("--log-level", "debug") as client:
        client.initialize()
        opened = {"streamId": "s", "wire": "openai-chat", "metadata": {"a": SECRET}}
        client.request("stream/open", opened)
        for chunk in (
            SECRET,
            {"choices": SECRET},
            {"error": SECRET},
            f"data: {{{SECRET}",
        ):
            client.request("stream/push", {"streamId": "s", "chunk": chunk})
        client.request("stream/close", {"streamId": "s"})
        stored = [{"role": "assistant", "content": f"<think>{SECRET}</think>a"}]
        client.request("message/repair", {"messages": stored})
        for method, params in WRONG:
            with pytest.raises(RpcError):
                client.request(method, params)
        for method, params in WRONG:
            client.notify(method, params)
        client.notify(
            "stream/push", {"streamId": "gone", "chunk": SECRET, "pushSeq": 9}
        )
        client.send_bytes(b"Content-Length: 17\r\n\r\n{" + SECRET.encode() + b"}")
        client.end_input()
        assert client.wait(PATIENCE) == 0
        assert client.read_all()
        said = client.stderr()
    assert "DEBUG" in said or "INFO" in said
    assert SECRET not in said


def test_dependencies_have_lower_bounds() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    groups = [
        project["project"]["dependencies"],
        *project["project"]["optional-dependencies"].values(),
        *project["dependency-groups"].values(),
        project["build-system"]["requires"],
    ]
    assert all(">=" in each for group in groups for each in group)
