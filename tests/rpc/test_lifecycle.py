"""From start to end of the process: handshake, shutdown, and every way to die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from ended_input import all_cores_busy, not_answered
from hosts import LAUNCHER, fill_pipes
from replay import read, replay
from rpc_client import COMMAND, PROMPTLY, ROOT, RpcClient, RpcError, frame, message
from systems import not_on_windows

from stream_sidecar import __version__


@pytest.fixture
def client():
    with RpcClient() as started:
        yield started


def refused(client, method, *params):
    """The code of the error that a request is refused with."""
    with pytest.raises(RpcError) as caught:
        client.request(method, *params)
    return caught.value.code


# Handshake


@pytest.mark.parametrize("params", [{}, None, {"capabilities": None}, {"trace": 3}])
def test_initialize_needs_nothing(client, params):
    result = client.request("initialize", params)

    assert result["serverInfo"] == {"name": "stream-sidecar", "version": __version__}
    ours = result["capabilities"]["experimental"]["streamSidecar"]
    assert ours["protocolVersion"] == 1


def test_initialize_without_params(client):
    assert "capabilities" in client.request("initialize")


def test_before_initialize(client):
    for method in ("stream/list", "shutdown", "textDocument/hover", "no/method"):
        assert refused(client, method, {}) == -32002
    client.notify("stream/push", {"streamId": "s", "chunk": "x"})
    client.initialize()
    client.assert_silent()


def test_second_initialize(client):
    client.initialize()

    assert refused(client, "initialize", {}) == -32600


def test_initialize_after_a_refused_one(client):
    options = {"initializationOptions": {"streamSidecar": {"protocolVersion": 2}}}
    assert refused(client, "initialize", options) == -31005

    client.initialize(protocolVersion=1)


def test_after_shutdown(client):
    client.initialize()
    assert client.request("shutdown") is None

    for method in ("stream/list", "shutdown", "initialize", "textDocument/hover"):
        assert refused(client, method) == -32600
    client.notify("stream/push", {"streamId": "s", "chunk": "x"})
    client.notify("exit")
    assert client.read_all() == []
    assert client.wait(PROMPTLY) == 0


# Ends


def test_exit_after_shutdown(client):
    """stdin stays open: the process must not wait for it (openlawlibrary/pygls#433)."""
    client.initialize()
    client.request("shutdown")
    client.notify("exit")

    assert client.wait(PROMPTLY) == 0


def test_exit_without_shutdown(client):
    client.initialize()
    client.notify("exit")

    assert client.wait(PROMPTLY) == 1


def test_exit_before_initialize(client):
    client.notify("exit")

    assert client.wait(PROMPTLY) == 1


def test_nothing_is_answered_after_exit(client):
    client.initialize()
    client.send(message("exit"), message("stream/list", id=1))

    assert client.read_all() == []


def test_end_of_input(client):
    client.initialize()
    client.end_input()

    assert client.wait(PROMPTLY) == 0
    assert client.stderr() == ""


def test_end_of_input_before_anything(client):
    client.end_input()

    assert client.wait(PROMPTLY) == 0


def test_end_of_input_after_queued_requests(client):
    """``cat requests | stream-sidecar`` answers all of them."""
    client.initialize()
    client.send(*(message("stream/list", id=number) for number in range(1000)))
    client.end_input()

    assert [each["id"] for each in client.read_all()] == list(range(1000))
    assert client.wait(PROMPTLY) == 0


@pytest.mark.thorough
def test_what_was_read_is_answered_on_a_busy_machine():
    """Requests to the language server, too, which an editor or nobody announced."""
    with all_cores_busy():
        assert [*not_answered(editor=True), *not_answered(editor=False)] == []


def test_end_of_input_in_the_middle_of_a_message(client):
    client.initialize()
    client.send_bytes(frame(message("stream/list", id=5))[:-3])
    client.end_input()

    (answer,) = client.read_all()
    assert (answer["id"], answer["error"]["code"]) == (5, -32700)
    assert client.wait(PROMPTLY) == 0


def test_end_of_input_while_nobody_reads(client):
    fill_pipes(client)
    client.end_input()

    assert client.wait(PROMPTLY) == 0


of_posix = not_on_windows("signals of POSIX")


@of_posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal(client, number):
    client.initialize()
    client.process.send_signal(number)

    assert client.wait(PROMPTLY) == 128 + number
    assert client.stderr() == ""


@of_posix
def test_sigterm_while_nobody_reads(client):
    fill_pipes(client)
    client.process.terminate()

    assert client.wait(PROMPTLY) == 128 + signal.SIGTERM


def test_death_of_the_parent():
    """The pipes are held open by us; only the launcher dies.

    agentclientprotocol/rust-sdk#249.
    """
    with RpcClient(command=(sys.executable, "-c", LAUNCHER, *COMMAND)) as client:
        client.initialize()
        begun = time.monotonic()
        client.process.kill()

        assert client.read_all() == []
        assert time.monotonic() - begun < PROMPTLY


@pytest.fixture
def other():
    """Another process, whose end the sidecar has to watch for."""
    waiting = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(waiting, stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def test_death_of_process_id(client, other):
    client.initialize({"processId": other.pid})
    client.assert_silent()
    other.kill()

    assert client.wait(PROMPTLY) == 0
    assert f"ends because process {other.pid} has ended" in client.stderr()


def test_process_id_that_is_not_seen(client, other):
    """As a host's from another sandbox: a sidecar that ended there would be no use."""
    other.kill()
    other.wait()
    client.initialize({"processId": other.pid})
    client.assert_silent()
    client.end_input()

    assert client.wait(PROMPTLY) == 0
    assert f"cannot see process {other.pid}" in client.stderr()


@not_on_windows("a terminal of POSIX")
def test_a_person_sees_what_it_waits_for():
    """Who types its name and nothing else has a terminal."""
    ours, theirs = os.openpty()
    with open(ours, "rb"), open(theirs, "rb") as terminal:
        process = subprocess.Popen(
            [sys.executable, "-m", "stream_sidecar"],
            stdin=terminal,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ROOT,
        )
        with process:
            assert process.stderr is not None
            assert b"--help" in process.stderr.readline()
            process.terminate()


@pytest.mark.thorough
@pytest.mark.parametrize("flag", ["--clientProcessId=%d", "--client-process-id %d"])
def test_death_of_client_process_id(other, flag):
    with RpcClient(*(flag % other.pid).split()) as client:
        client.initialize()
        other.kill()

        assert client.wait(PROMPTLY) == 0


@pytest.mark.parametrize(
    "process_id",
    [None, 0, -1, 2**40, "x", True, pytest.param(os.getpid(), id="alive")],
)
def test_process_id_that_is_none_or_alive(client, process_id):
    client.initialize({"processId": process_id})
    client.assert_silent()


# The command line


def run(*arguments):
    command = [sys.executable, "-m", "stream_sidecar", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)


@pytest.mark.parametrize("arguments", [["--version"], ["-V"], ["--stdio", "--version"]])
def test_version(arguments):
    assert run(*arguments).stdout == f"stream-sidecar {__version__}\n"


def test_version_imports_nothing():
    """Hosts ask for it before every start."""
    code = (
        "import __future__, sys; before = set(sys.modules);"
        "sys.argv = ['x', '--version'];"
        "from stream_sidecar.__main__ import main; main();"
        "print(*sorted(set(sys.modules) - before))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert said.split()[2:] == ["stream_sidecar", "stream_sidecar.__main__"]


def test_help():
    assert "serve" in run("--help").stdout
    assert "--log-level" in run("serve", "--help").stdout


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["serve"],
        ["--stdio"],
        ["--port=5", "--node-ipc"],
        ["--socket", "5", "--stdio"],
        ["--clientProcessId=nobody"],
        ["--log-level", "loud"],
        ["--log-file", "/no/such/folder/file"],
    ],
)
def test_flags_that_are_not_known_are_ignored(arguments):
    command = (sys.executable, "-m", "stream_sidecar", *arguments)
    with RpcClient(command=command) as client:
        client.initialize()
        client.end_input()

        assert client.wait(PROMPTLY) == 0
        warned = client.stderr().count("WARNING")
    known = {"serve", "--stdio"}
    assert bool(warned) == bool(set(arguments) - known)


def test_a_recording_is_a_transcript(tmp_path):
    """What was said can be replayed as it stands; that it is written is said."""
    path = tmp_path / "said-%p.jsonl"
    chunks = ["<think>Hm.</think>pass", "word \N{SNOWMAN}"]
    with RpcClient("--record", str(path)) as client:
        client.initialize()
        client.request("stream/open", {"streamId": "s", "wire": "text"})
        for chunk in chunks:
            client.request("stream/push", {"streamId": "s", "chunk": chunk})
        client.send_bytes(b"Content-Length: 3\r\n\r\n{a}")
        assert client.read()["error"]["code"] == -32700
        client.request("shutdown", None)
        client.notify("exit")

        assert client.wait(PROMPTLY) == 0
        said = client.stderr()
    (found,) = tmp_path.iterdir()
    assert str(found) in said
    assert found.name == f"said-{client.process.pid}.jsonl"
    if os.name == "posix":
        assert found.stat().st_mode & 0o077 == 0
    lines = [*read(found), {"dir": "exit", "code": 0}]
    assert [line.get("dir") for line in lines[1:3]] == ["in", "out"]
    assert lines == replay(lines)


def test_a_recording_that_cannot_be_made_is_none(tmp_path):
    with RpcClient("--record", str(tmp_path / "no" / "folder")) as client:
        client.initialize()
        client.end_input()

        assert client.wait(PROMPTLY) == 0
        assert "no recording" in client.stderr()


def test_log_file(tmp_path):
    """Method names are logged, contents are not."""
    path = tmp_path / "log"
    with RpcClient("--log-file", str(path), "--log-level=debug") as client:
        client.initialize()
        client.notify("$/unknown", {"secret": "password"})
        client.end_input()

        assert client.wait(PROMPTLY) == 0
        assert client.stderr() == ""
    assert "$/unknown" in path.read_text(encoding="utf-8")
    assert "password" not in path.read_text(encoding="utf-8")
