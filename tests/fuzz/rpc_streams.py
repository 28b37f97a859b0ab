"""What hosts do with streams: rules of fuzzing the protocol (see ``fuzz.rpc``)."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from attrs import evolve
from rpc_client import RpcError, message

from fuzz import inputs
from fuzz.rpc_session import (
    EXISTS,
    IDLE_SECONDS,
    LIMIT,
    MAX_STREAMS,
    NAMES,
    NOT_FOUND,
    SEQUENCE,
    Open,
    Session,
    as_json,
)
from stream_sidecar.protocol.params import CloseResult, PushResult, SnapshotResult
from stream_sidecar.values.jsontext import decode


def open_stream(session: Session, generator: Random) -> None:
    params = open_params(generator)
    name = generator.choice((*NAMES, None))
    if name is not None:
        params["streamId"] = name
    session.expire()
    code = EXISTS if name in session.streams else 0
    if not code and len(session.streams) == MAX_STREAMS:
        code = LIMIT
    result = session.ask(generator, "stream/open", params, code)
    if not code:
        name = result["streamId"] if name is None else name
        assert name not in session.streams
        entry = session.opened(name, params)
        assert (result["streamId"], result["wire"]) == (name, entry.stream.wire)


def open_params(generator: Random) -> dict[str, Any]:
    if generator.random() < 0.3:
        return {"wire": generator.choice(("auto", "openai-chat"))}
    return dict(generator.choice(_PARAMS))


def _some_params(count: int = 48) -> list[dict[str, Any]]:
    """A few only: each needs a lexicon, which costs more than many requests."""
    some = [inputs.text_params(Random(f"rpc {number}")) for number in range(count)]
    for params in some:
        params.pop("limits", None)  # those of the connection count
    return some


_PARAMS = _some_params()


def push(session: Session, generator: Random) -> None:
    name = session.name(generator)
    chunks = _chunks(generator)
    params = {"streamId": name, "chunks": chunks}
    if len(chunks) == 1:
        params = {"streamId": name, "chunk": chunks[0]}
    entry = session.use(name)
    code = _number(generator, params, entry)
    if generator.random() < 0.3:
        result = _notify(session, generator, params, code)
    else:
        result = session.ask(generator, "stream/push", params, code)
    if entry is not None and not code:
        entry.pushes += 1
        read = decode(json.dumps(chunks).encode())
        events, seqs = [], []
        for chunk in read:
            events += entry.stream.push(chunk)
            seqs.append(entry.stream.last_seq)
        last, each = entry.stream.last_seq, seqs if "chunks" in params else None
        expected = PushResult(name, events, last, entry.pushes, None, each)
        assert result == as_json(expected)


def _number(generator: Random, params: dict[str, Any], entry: Open | None) -> int:
    """Numbers some pushes, some of them wrong; the code that is to be expected."""
    style = generator.choice(("none", "none", "right", "wrong"))
    if style != "none":
        before = 0 if entry is None else entry.pushes
        params["pushSeq"] = before + 1 + (style == "wrong")
    if entry is None:
        return NOT_FOUND
    return SEQUENCE if style == "wrong" else 0


def _chunks(generator: Random) -> list[Any]:
    return [one_chunk(generator) for _ in range(generator.choice((1, 1, 1, 0, 3)))]


def one_chunk(generator: Random) -> Any:
    style = generator.random()
    if style < 0.2:
        return inputs.junk(generator)
    text = inputs.text_of(generator, 3)
    if style < 0.4:
        return {"choices": [{"index": 0, "delta": {"content": text}}]}
    return text


def _notify(session: Session, generator: Random, params: Any, code: int) -> Any:
    """A push as a notification is answered by exactly one."""
    (notification,) = session.send(generator, message("stream/push", params))
    assert notification["method"] == "stream/events"
    assert "id" not in notification
    assert notification["params"]["streamId"] == params["streamId"]
    if code:
        assert RpcError(notification["params"]["error"]).code == code
    return notification["params"]


CLOSINGS: tuple[dict[str, Any], ...] = (
    {},
    {"reason": "eof"},
    {"reason": "cancelled"},
    {"error": {"status": 429, "body": "slow down"}},
)


def close(session: Session, generator: Random) -> None:
    name, how = session.name(generator), generator.choice(CLOSINGS)
    entry = session.use(name)
    code = 0 if entry else NOT_FOUND
    result = session.ask(generator, "stream/close", {"streamId": name, **how}, code)
    if entry is None:
        assert result.data["reason"] == session.gone.get(name, "never")
        return
    stream, error = entry.stream, how.get("error")
    events = stream.close(how.get("reason") or ("error" if error else "eof"), error)
    stats = evolve(stream.stats(), pushes=entry.pushes)
    assert result == as_json(CloseResult(name, events, stream.message(), stats))
    session.forget(name, "closed")


def take_snapshot(session: Session, generator: Random) -> None:
    name = session.name(generator)
    entry = session.use(name)
    code = 0 if entry else NOT_FOUND
    result = session.ask(generator, "stream/snapshot", {"streamId": name}, code)
    if entry is not None:
        stream = entry.stream
        stats = evolve(stream.stats(), pushes=entry.pushes)
        snapshot = SnapshotResult(stream.message(), stats, stream.last_seq)
        assert result == as_json(snapshot)


def list_streams(session: Session, generator: Random) -> None:
    session.expire()
    rows = session.ask(generator, "stream/list", {})["streams"]
    listed = {row["streamId"]: (row["pushes"], row["lastSeq"]) for row in rows}
    assert len(listed) == len(rows)
    assert listed == {
        name: (entry.pushes, entry.stream.last_seq)
        for name, entry in session.streams.items()
    }


def read_counts(session: Session, generator: Random) -> None:
    session.expire()
    counts = session.counts
    assert session.ask(generator, "sidecar/stats", {})["streams"] == {
        "open": len(session.streams),
        "opened": counts.opened,
        "closed": counts.closed,
        "expired": counts.expired,
    }


def let_time_pass(session: Session, generator: Random) -> None:
    session.host.clock.seconds += generator.choice((0.1, 1, IDLE_SECONDS / 2, 11))
