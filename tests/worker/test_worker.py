"""The sidecar without a process says what the process says, and starts no thread."""

from __future__ import annotations

import ast
import logging
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT, TESTS
from replay import difference, read, replay
from rpc_client import RpcError, frame, message
from worker_host import WorkerHost

from stream_sidecar.worker import start

PATHS = sorted((TESTS / "transcripts").glob("*.jsonl"))
LEAK = {"role": "assistant", "content": "<think>Hm.</think>Hi"}


@pytest.fixture
def host():
    with WorkerHost() as host:
        yield host


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_transcript(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The conversations with the process, message by message, logging nothing more."""
    caplog.set_level(logging.WARNING)
    recorded = read(path)
    problems = map(difference, recorded, replay(recorded, WorkerHost))
    differences = [
        f"line {n}: {problem}" for n, problem in enumerate(problems, 1) if problem
    ]
    assert not differences, "\n".join(differences)
    assert caplog.messages == []


def test_batches_wait_for_their_turn(host):
    """What came with a batch is answered before it."""
    host.request("initialize", {})
    batch = message("message/inspect", {"messages": [LEAK]}, id=1)
    host.send(batch, message("sidecar/stats", {}, id=2))
    assert [host.read()["id"], host.read()["id"]] == [2, 1]


def test_a_batch_that_is_cancelled_before_its_turn(host):
    host.request("initialize", {})
    batch = message("message/inspect", {"messages": [LEAK]}, id=1)
    host.send(batch, message("$/cancelRequest", {"id": 1}))
    assert host.read()["error"]["code"] == -32800


def test_others_have_a_turn_between_messages_of_a_batch():
    """A push is answered, a further batch waits, and a cancel is heard."""
    chunk = {"streamId": "s", "chunk": "a"}
    later = [
        frame(message("stream/push", chunk, id="push")),
        frame(message("message/inspect", {"messages": [LEAK]}, id="second")),
        frame(message("$/cancelRequest", {"id": "first"})),
    ]
    with WorkerHost(lambda: later.pop(0) if later else b"") as host:
        host.request("initialize", {})
        host.request("stream/open", {"streamId": "s", "wire": "text"})
        params = {"messages": [LEAK] * 1_000, "workDoneToken": "t"}
        host.send(message("message/inspect", params, id="first"))
        answers = [each for each in host.sent if "id" in each]
    assert [each["id"] for each in answers] == ["push", "first", "second"]
    assert answers[1]["error"]["code"] == -32800
    assert answers[2]["result"]["results"][0]["malformed"]


def test_documents_of_an_editor(host):
    """pygls on the loop that runs already: a leak is underlined."""
    host.request("initialize", {"capabilities": {}})
    host.send(message("initialized", {}))
    line = '{"role": "assistant", "content": "<think>Hm.</think>Hi"}\n'
    document = {"languageId": "jsonl", "version": 1, "text": line}
    item = {"textDocument": {"uri": "file:///a.jsonl", **document}}
    host.send(message("textDocument/didOpen", item))
    notification = host.read()
    assert notification["method"] == "textDocument/publishDiagnostics"
    assert notification["params"]["diagnostics"]
    with pytest.raises(RpcError) as refused:
        host.request("nobody/knows")
    assert refused.value.code == -32601


def test_a_request_that_is_cancelled(host):
    host.request("initialize", {"capabilities": {}})
    host.send(
        message("textDocument/hover", id=1), message("$/cancelRequest", {"id": 1})
    )
    assert host.read()["error"]["code"] == -32800


def test_the_end(host):
    host.request("initialize", {})
    host.worker.close()
    assert (host.worker.exit_code, host.sent) == (0, [])


def test_it_logs_as_the_process_does(monkeypatch):
    levels = []
    monkeypatch.setattr(
        "stream_sidecar.worker.start_logs", lambda *given: levels.append(given)
    )
    worker = start(lambda _data: None, lambda: b"", "debug")
    assert worker.exit_code is None
    assert levels == [("debug", None)]


def test_what_is_loaded_to_stream():
    """Neither pygls nor anything of processes, sockets and files."""
    program = (
        "import sys; from stream_sidecar.worker import Worker\n"
        "print(sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-P", "-c", f"import site; site.main()\n{program}"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    loaded = set(ast.literal_eval(done.stdout.decode()))
    unwanted = {"asyncio", "click", "lsprotocol", "pygls", "rich", "subprocess"}
    unwanted |= {"socket", "select", "multiprocessing", "stream_sidecar.rpc.transport"}
    assert loaded & unwanted == set()
