"""Pipes that break, fill up or were never there, and parents that are killed.

What ends a process that works as it should is in ``test_lifecycle``; here something is
wrong at the same time. In every case the process ends within `PROMPTLY`, or goes on
answering, and says nothing it should not.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hosts import LAUNCHER, fill_pipes
from rpc_client import COMMAND, PROMPTLY, RpcClient, frame, message
from stored_messages import MANY
from systems import not_on_windows

pytestmark = not_on_windows("POSIX pipes")


@pytest.fixture
def client():
    with RpcClient() as started:
        yield started


def in_shell(redirections: str, *arguments: str) -> tuple[str, ...]:
    """A command whose standard descriptors a shell has redirected."""
    return ("sh", "-c", f'exec "$@" {redirections}', "sh", *COMMAND, *arguments)


# Broken pipes


def test_stdout_breaks_while_answers_wait(client):
    """The writer's thread is the one that notices."""
    fill_pipes(client)
    client.process.stdout.close()

    assert client.wait(PROMPTLY) == 0
    assert client.stderr() == ""


def test_stdout_breaks_in_the_middle_of_an_answer(client):
    client.initialize()
    params = {"wire": "text", "body": "x" * 1_000_000}
    client.send(message("message/normalize", params, id=1))
    os.read(client.process.stdout.fileno(), 100)
    client.process.stdout.close()

    assert client.wait(PROMPTLY) == 0
    assert client.stderr() == ""


def test_stderr_breaks():
    """Log lines have nowhere to go; requests are answered."""
    with RpcClient("--log-level", "debug") as client:
        client.process.stderr.close()
        client.process.stderr = None
        client.initialize()
        for _ in range(3):
            client.notify("$/unknown")

        client.assert_silent()
        client.end_input()
        assert client.wait(PROMPTLY) == 0


def test_both_outputs_break():
    with RpcClient("--log-level", "debug") as client:
        client.initialize()
        client.process.stderr.close()
        client.process.stderr = None
        client.process.stdout.close()
        client.send(message("no/method", id=1), message("stream/list", id=2))

        assert client.wait(PROMPTLY) == 0


@pytest.mark.parametrize("also_stderr", [False, True])
def test_input_breaks_in_a_message_while_nobody_reads(client, also_stderr):
    fill_pipes(client)
    client.send_bytes(frame(message("stream/list", id=5))[:-3])
    if also_stderr:
        client.process.stderr.close()
        client.process.stderr = None
    client.end_input()

    assert client.wait(PROMPTLY) == 0


def test_the_writing_end_breaks_in_a_header(client):
    client.initialize()
    client.send_bytes(b"Content-Len")
    client.end_input()

    assert client.read_all() == []
    assert client.wait(PROMPTLY) == 0


# Descriptors that were never open


@pytest.mark.parametrize("redirections", ["<&-", "<&- >&-", "<&- 2>&-", "<&- >&- 2>&-"])
def test_closed_from_the_start(redirections):
    """No input is the end of input; no descriptor is mistaken for a file's."""
    done = subprocess.run(
        in_shell(redirections), capture_output=True, timeout=PROMPTLY, check=False
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_closed_stdout_and_a_request():
    """There is nobody to answer; the process ends with its input all the same."""
    request = frame(message("initialize", {}, id=1))
    done = subprocess.run(
        in_shell(">&-"),
        input=request,
        capture_output=True,
        timeout=PROMPTLY,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("redirections", "code"), [(">/dev/full", 0), ("2>/dev/full", 0)]
)
def test_a_full_device(redirections, code):
    """A write that fails is a host that is gone, or a log line that is lost."""
    command = in_shell(redirections, "--log-level", "debug")
    request = frame(message("initialize", {}, id=1)) + frame(message("$/unknown"))
    done = subprocess.run(
        command, input=request, capture_output=True, timeout=PROMPTLY, check=False
    )

    assert done.returncode == code
    assert b"Traceback" not in done.stderr


# Full pipes


def test_all_pipes_are_full_and_then_read():
    """Answers and log lines wait for hosts of any speed; no answer is lost."""
    with RpcClient("--log-level", "debug") as client:
        fill_pipes(client)
        client.send(*(message("$/" + "x" * 1000) for _ in range(500)))

        assert [client.read()["id"] for _ in range(5000)] == list(range(5000))
        client.assert_silent()


def test_an_answer_is_read_byte_by_byte(client):
    """The rest of a frame waits, however little the host takes at once."""
    client.initialize()
    params = {"wire": "text", "body": "x" * 200_000}
    client.send(message("message/normalize", params, id=1))
    taken = b"".join(os.read(client.process.stdout.fileno(), 1) for _ in range(500))
    client._buffer = taken + client._buffer

    assert client.read()["result"]["message"]["text"] == params["body"]


# Signals and parents, while the process is busy


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_a_batch_runs(client, number):
    client.initialize()
    params = {"messages": MANY, "workDoneToken": 1}
    client.send(message("message/repair", params, id=1))
    assert client.read()["method"] == "$/progress"
    client.process.send_signal(number)

    assert client.wait(PROMPTLY) == 128 + number
    assert client.stderr() == ""
    assert b'"result"' not in drain(client), "it ended when the batch had"


@pytest.fixture
def launched():
    """A client whose parent is another process, which can be killed alone."""
    with RpcClient(command=(sys.executable, "-c", LAUNCHER, *COMMAND)) as client:
        yield client


def drain(client: RpcClient) -> bytes:
    """Reads to the end of output, which may come in the middle of a message."""
    with suppress(EOFError):
        while True:
            client._more()
    return client._buffer


def kill_and_drain(client: RpcClient) -> bytes:
    """Kills the parent, and reads to the end of output: there the sidecar is gone."""
    begun = time.monotonic()
    client.process.kill()
    rest = drain(client)
    assert time.monotonic() - begun < PROMPTLY
    assert client.wait() == -signal.SIGKILL
    return rest


def test_the_parent_is_killed_while_nobody_reads(launched):
    fill_pipes(launched)
    kill_and_drain(launched)


def test_the_parent_is_killed_while_a_batch_runs(launched):
    launched.initialize()
    params = {"messages": MANY * 10, "workDoneToken": 1}
    launched.send(message("message/repair", params, id=1))
    assert launched.read()["method"] == "$/progress"
    assert b'"result"' not in kill_and_drain(launched), "it ended when the batch had"


def test_the_parent_is_killed_in_the_middle_of_a_message(launched):
    launched.initialize()
    launched.send_bytes(frame(message("stream/list", id=5))[:-3])
    kill_and_drain(launched)
