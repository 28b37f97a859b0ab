"""message/inspect and message/repair beside everything else that a connection does."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from memory_host import MemoryHost
from rpc_client import PROMPTLY, RpcClient, RpcError, frame, message
from stored_messages import LEAK, MANY

from stream_sidecar.history.repair_counts import (
    MODELS,
    ModelRepairCounters,
    RepairCounts,
)
from stream_sidecar.options import StreamOptions


@pytest.fixture
def client():
    with RpcClient() as started:
        started.initialize()
        yield started


def begin(client: RpcClient, message_id: Any, messages: list[Any] = MANY) -> None:
    """Sends a long batch and waits until it has begun."""
    params = {"messages": messages, "workDoneToken": message_id}
    client.send(message("message/repair", params, id=message_id))
    progress = client.read()["params"]
    assert (progress["token"], progress["value"]["kind"]) == (message_id, "begin")


def answer_to(client: RpcClient, message_id: Any) -> tuple[Any, list[Any]]:
    """The answer, and the values of the progress before it."""
    values = []
    while "id" not in (received := client.read()):
        values.append(received["params"]["value"])
    assert received["id"] == message_id
    return received, values


def test_progress(client: RpcClient) -> None:
    begin(client, 7, [LEAK] * 250)

    answer, values = answer_to(client, 7)

    assert len(answer["result"]["results"]) == 250
    assert values[-1] == {"kind": "end"}
    percents = [value["percentage"] for value in values[:-1]]
    assert percents == list(range(1, 100))
    assert values[0]["message"] == "3 of 250 messages"


def test_cancel(client: RpcClient) -> None:
    begin(client, "long")
    client.send(message("message/inspect", {"messages": MANY}, id="waits"))
    client.notify("$/cancelRequest", {"id": "waits"})
    client.notify("$/cancelRequest", {"id": "long"})

    long, values = answer_to(client, "long")
    waits, _ = answer_to(client, "waits")

    assert long["error"]["code"] == waits["error"]["code"] == -32800
    assert long["error"]["data"] == {"kind": "cancelled", "retryable": True}
    assert values[-1] == {"kind": "end"}
    assert client.request("message/repair", {"messages": []}) == {"results": []}


def test_streams_go_on(client: RpcClient) -> None:
    begin(client, "long")
    client.send(message("stream/open", {"streamId": "s", "wire": "text"}, id=1))
    answer, _ = answer_to(client, 1)
    assert answer["result"]["streamId"] == "s"
    client.send(message("stream/list", id="long"))
    answer, _ = answer_to(client, "long")
    assert answer["error"]["code"] == -32600, "the id is in flight"


def test_answers_come_before_the_end_of_input(client: RpcClient) -> None:
    client.send(message("message/inspect", {"messages": [LEAK]}, id=1))
    client.end_input()
    assert [each["id"] for each in client.read_all()] == [1]
    assert client.wait(PROMPTLY) == 0


def test_shutdown_ends_batches(client: RpcClient) -> None:
    begin(client, "long")
    client.send(message("shutdown", id="s"))
    answers: dict[Any, Any] = {}
    while len(answers) < 2:
        received = client.read()
        if "id" in received:
            answers[received["id"]] = received
    assert answers["long"]["error"]["code"] == -32800
    assert answers["s"]["result"] is None


IMPATIENT = """
from stream_sidecar.cli.serve import serve
from stream_sidecar.rpc.transport import claim
serve(*claim(), most_work=0)
"""
"""The process, which at the end of input works no longer than it would wait."""


def test_end_of_input_gives_up_what_takes_too_long() -> None:
    with RpcClient(command=(sys.executable, "-c", IMPATIENT)) as client:
        client.initialize()
        begin(client, "long")
        client.end_input()
        last = client.read_all()[-1]
        assert (last["id"], last["error"]["code"]) == ("long", -32800)
        assert client.wait(PROMPTLY) == 0


def test_as_a_notification(client: RpcClient) -> None:
    """The answer would have nowhere to go."""
    client.notify("message/repair", {"messages": MANY})
    client.assert_silent()
    assert client.request("sidecar/stats")["repairs"]["messages"] == 0


@pytest.mark.parametrize("token", [None, "t", 5])
def test_params_that_do_not_fit(client: RpcClient, token: Any) -> None:
    """No progress of what never began."""
    params = {"messages": "x", "workDoneToken": token}
    with pytest.raises(RpcError) as caught:
        client.request("message/repair", params)
    assert (caught.value.code, caught.value.data["path"]) == (
        -32602,
        "params.messages",
    )
    with pytest.raises(RpcError, match=r"params\.workDoneToken"):
        client.request("message/repair", {"messages": [], "workDoneToken": {}})


def test_what_is_counted(client: RpcClient) -> None:
    """By who wrote the message; what was only inspected is not."""
    params = {"messages": [LEAK, {**LEAK, "model": "m"}, {"role": "user"}]}
    client.request("message/repair", {**params, "provider": "p", "model": "n"})
    client.request("message/inspect", params)

    repairs = client.request("sidecar/stats")["repairs"]

    counts = {"changed": 1, "blocked": 0, "messages": 1, "removed": {"reasoning": 1}}
    assert repairs == {
        "messages": 2,
        "changed": 2,
        "blocked": 0,
        "removed": {"reasoning": 2},
        "byModel": [
            {**counts, "provider": "p", "model": "n"},
            {**counts, "provider": "p", "model": "m"},
        ],
    }


def test_models_beyond_measure() -> None:
    counts = RepairCounts()
    for number in range(2 * MODELS):
        counts.add(ModelRepairCounters(1, model=f"m{number}"))
    total = counts.total()
    assert total.messages == 2 * MODELS
    assert len(total.by_model) == MODELS + 1
    assert total.by_model[-1].messages == MODELS


def test_names_beyond_measure() -> None:
    counts = RepairCounts()
    for number in range(3):
        name = "m" * 256 + str(number)
        counts.add(ModelRepairCounters(1, provider="p" * 1_000, model=name))
    (row,) = counts.total().by_model
    assert (row.provider, row.model, row.messages) == ("p" * 256, "m" * 256, 3)


# --- Without a process ----------------------------------------------------------------


def sent(*messages: bytes) -> tuple[list[Any], list[Any]]:
    """What is answered at once, and what a batch's thread sends until it is done."""
    host = MemoryHost()
    answers = host.push(b"".join(messages))
    host.connection.close(20, 20)
    return answers, host.sent


def test_a_batch_is_answered_from_its_thread() -> None:
    params = {"messages": [LEAK, None], "workDoneToken": 1}
    for method, fields in (
        ("message/inspect", {"malformed": True}),
        ("message/repair", {"changed": True, "message": {**LEAK, "content": "b"}}),
    ):
        at_once, later = sent(frame(message(method, params, id=5)))
        assert at_once == []
        *progress, answer = later
        assert [each["params"]["value"]["kind"] for each in progress] == [
            *("begin", "report", "end")
        ]
        result = answer["result"]["results"][0]
        assert fields.items() <= result.items()


def test_a_batch_that_is_cancelled_or_not_wanted() -> None:
    long = message("message/inspect", {"messages": MANY}, id=5)
    cancel = message("$/cancelRequest", {"id": 5})
    shutdown = message("shutdown", id=6)
    for end in (cancel, shutdown):
        _, (answer,) = sent(frame(long), frame(end))
        assert (answer["id"], answer["error"]["code"]) == (5, -32800)
    assert sent(frame(message("message/repair", {"messages": [LEAK]}))) == ([], [])
    refused = message("message/repair", {"messages": 1, "workDoneToken": 1}, id=5)
    _, (answer,) = sent(frame(refused))
    assert answer["error"]["code"] == -32602


def test_a_bug_in_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is answered, and the thread goes on."""
    monkeypatch.setattr("stream_sidecar.history.history.History.examine", None)
    one = message("message/repair", {"messages": [LEAK]}, id=1)
    two = message("message/inspect", {"messages": []}, id=2)
    _, answers = sent(frame(one), frame(two))
    assert answers[0]["error"]["code"] == -32603
    assert answers[1]["result"] == {"results": []}


def test_options_of_the_connection() -> None:
    host = MemoryHost(policy={"trace": True}, limits={"maxHeldChars": 9})
    options = host.connection.stream_options
    assert (options.policy.trace, options.limits.max_held_chars) == (True, 9)
    host.request("shutdown")
    assert host.connection.stream_options == StreamOptions()
