"""What hosts do beside streams, right and wrong: rules of ``fuzz.rpc``."""

from __future__ import annotations

from random import Random
from typing import Any

from bad_envelopes import ENVELOPES
from bad_params import BAD_CLOSES, BAD_OPENS, BAD_PUSHES
from checking import feed
from oracle import healed
from rpc_client import RpcError, message
from strategies import as_read

from fuzz import inputs
from fuzz.rpc_host import SLOW
from fuzz.rpc_session import (
    BAD_PARAMS,
    BAD_REQUEST,
    CANCELLED,
    LIMIT,
    LIMITS,
    NO_METHOD,
    STREAM_LIMITS,
    Due,
    Session,
    as_json,
)
from fuzz.rpc_streams import one_chunk, open_params
from stream_sidecar.protocol.params import NormalizeResult

# Whole messages


def normalize(session: Session, generator: Random) -> None:
    body = as_read(inputs.text_of(generator, 4))
    params = {**open_params(generator), "body": body}
    session.expire()
    result = session.ask(generator, "message/normalize", params)
    options = {name: params[name] for name in params if name != "body"}
    fed = feed({**options, "limits": STREAM_LIMITS}, [body])
    assert result == as_json(NormalizeResult(fed.events, fed.message, fed.stats))


def look_up(session: Session, generator: Random) -> None:
    if generator.random() < 0.5:
        calls = [{"id": "c", "name": "f", "arguments": one_chunk(generator)}]
        result = session.ask(generator, "tool/classify", {"calls": calls})
        assert len(result["calls"]) == 1
    else:
        params = {"status": 429, "body": one_chunk(generator)}
        assert session.ask(generator, "error/normalize", params)["kind"]


def begin_batch(session: Session, generator: Random) -> None:
    """A batch is answered later, and its id is in flight until then."""
    count = generator.randrange(3)
    content = healed(inputs.text_of(generator, 3))
    params = {"messages": [{"role": "assistant", "content": content}] * count}
    method = generator.choice(("message/inspect", "message/repair"))
    name = session.next_id()
    assert session.send(generator, message(method, params, id=name)) == []
    session.due[name] = Due(length=count)
    session.batches.append(name)


def run_batch(session: Session, _generator: Random) -> None:
    messages = session.host.step()
    if not session.batches:
        assert messages == []
        return
    name = session.batches.pop(0)
    due = session.due.pop(name)
    (answer,) = messages
    assert answer["id"] == name
    if due.code:
        assert RpcError(answer["error"]).code == due.code
    else:
        assert len(answer["result"]["results"]) == due.length


# What the LSP side answers, and what is cancelled


def ask_what_takes_long(session: Session, generator: Random) -> None:
    name = session.next_id()
    assert session.send(generator, message(SLOW, id=name)) == []
    session.due[name] = Due()


def cancel(session: Session, generator: Random) -> None:
    """A batch stops when it runs; the LSP side refuses at once."""
    name = generator.choice((*session.due, "nobody"))
    messages = session.send(generator, message("$/cancelRequest", {"id": name}))
    if name in session.batches:
        assert messages == []
        due = session.due[name]
        due.code = CANCELLED if due.length else 0
    elif name in session.due:
        (answer,) = messages
        assert (answer["id"], answer["error"]["code"]) == (name, CANCELLED)
        del session.due[name]
    else:
        assert messages == []


def use_an_id_twice(session: Session, generator: Random) -> None:
    for name in list(session.due)[:1]:
        method = generator.choice(("stream/list", "no/method", SLOW))
        session.expect(generator, message(method, id=name), name, BAD_REQUEST)


# What is wrong

_BAD: tuple[tuple[str, list[tuple[Any, str]]], ...] = (
    ("stream/open", BAD_OPENS),
    (
        "stream/push",
        [({"streamId": "a", **row}, f".{path}") for row, path in BAD_PUSHES],
    ),
    (
        "stream/close",
        [({"streamId": "a", **row}, f".{path}") for row, path in BAD_CLOSES],
    ),
)


def ask_wrongly(session: Session, generator: Random) -> None:
    method, rows = generator.choice(_BAD)
    params, path = generator.choice(rows)
    error = session.ask(generator, method, params, BAD_PARAMS)
    assert error.data["path"] == f"params{path}"


def ask_for_nothing(session: Session, generator: Random) -> None:
    method = generator.choice(("no/method", "$/x", "stream/", "", "stream/Open"))
    params = generator.choice(({}, None, [1]))
    session.ask(generator, method, params, NO_METHOD)


_ENVELOPES = [row for row in ENVELOPES if len(row[1]) < LIMITS["maxMessageBytes"]]


def send_a_bad_envelope(session: Session, generator: Random) -> None:
    """Also batches, and what is no JSON; some of them are only odd, and answered."""
    _, body, name, code = generator.choice(_ENVELOPES)
    raw = body if isinstance(body, bytes) else body.encode()
    session.expect(generator, raw, name, code)


def send_too_much(session: Session, generator: Random) -> None:
    text = "x" * (LIMITS["maxMessageBytes"] + generator.randrange(9))
    name = session.next_id()
    push = message("stream/push", {"streamId": "a", "chunk": text}, id=name)
    error = session.expect(generator, push, name, LIMIT)
    assert error.data["limit"] == LIMITS["maxMessageBytes"]


IGNORED = (
    {"jsonrpc": "2.0", "id": 1, "result": None},
    {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "x"}},
    message("no/method"),
    message("$/nothing", {"a": 1}),
    message("$/cancelRequest", {"id": "nobody"}),
    message("$/cancelRequest", "x"),
    message("initialize", {}),
    message("shutdown"),
    message("stream/open", {"streamId": 5}),
    message("stream/close", {"streamId": "never"}),
    message("message/repair", {"messages": []}),
)
"""Messages without an answer, and without a meaning."""


def say_nothing(session: Session, generator: Random) -> None:
    assert session.send(generator, generator.choice(IGNORED)) == []


def shut_down(session: Session, generator: Random) -> None:
    """Afterwards nothing is done any more, but everything is answered."""
    session.ask(generator, "shutdown", None)
    for name in session.batches:
        due = session.due[name]
        due.code = CANCELLED if due.length else 0
    for method in ("stream/list", "shutdown", "initialize", "no/method"):
        session.ask(generator, method, {}, BAD_REQUEST)
    while session.batches:
        run_batch(session, generator)
