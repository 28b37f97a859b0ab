"""The official SDKs over a cleaning transport: three turns with a tool, streamed and
whole, with and without asyncio, against servers that leak and refuse (`strict.py`)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sdk_clients import Options, check, connected, installed, looped
from sdk_table import CHAT, SDKS, Said, Waiting, started_by_helper
from strict import CALLS, Strict

ROWS = [(name, server) for name, sdk in SDKS.items() for server in sdk.servers]
SEALED = [
    ("anthropic", "anthropic"),
    ("openai chat", "litellm"),
    ("google-genai", "google"),
]
WAYS = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
STREAMS = pytest.mark.parametrize("streams", [False, True], ids=["whole", "stream"])


@pytest.mark.thorough
@WAYS
@STREAMS
@pytest.mark.parametrize("calls", CALLS)
@pytest.mark.parametrize(("name", "server"), ROWS)
def test_three_turns(
    name: str, server: str, calls: str, streams: bool, is_async: bool, strict: Strict
) -> None:
    sdk = installed(SDKS, name)
    options = {"provider": sdk.servers[server], "claims": "promote"}
    address = f"{strict.address}/{server}/{calls}"
    with Waiting() as wait, connected(sdk, address, wait, is_async, options) as client:
        turns = looped(sdk, client, streams, wait)
    check(turns)


@pytest.mark.thorough
@pytest.mark.parametrize("name", SDKS)
@pytest.mark.parametrize("options", [None, {"prepare": False}], ids=["bare", "sent"])
def test_what_the_server_refuses(name: str, options: Options, strict: Strict) -> None:
    """Without us, and with requests as they are: the SDK raises the server's words."""
    sdk = installed(SDKS, name)
    address = f"{strict.address}/{next(iter(sdk.servers))}/native"
    refused = len(strict.refused)
    refuses = pytest.raises(Exception, match="the leak <think")
    with (
        Waiting() as wait,
        connected(sdk, address, wait, False, options) as asks,
        refuses,
    ):
        looped(sdk, asks, False, wait)
    assert len(strict.refused) == refused + 1


@pytest.mark.thorough
@WAYS
@STREAMS
@pytest.mark.parametrize("calls", CALLS)
@pytest.mark.parametrize("joined", [0, 1, 3], ids=["first", "second", "never"])
@pytest.mark.parametrize(("name", "provider"), SEALED)
def test_sealed(
    name: str,
    provider: str,
    calls: str,
    joined: int,
    streams: bool,
    is_async: bool,
    strict: Strict,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Thinking that is bound to all before it, before and behind leaking text. Nothing
    is refused. The provider is asked to drop thinking only by a host that began
    without us, and only where it can be asked."""
    sdk = installed(SDKS, name)
    monkeypatch.setitem(CHAT, "model", "anthropic/claude-opus-5-5")
    address = f"{strict.address}/{next(iter(sdk.servers))}/{calls}+sealed"
    ours = {"provider": provider, "claims": "promote"}
    history, turns = [*sdk.history[-1:]], list[Said]()
    for turn in range(3):
        options = ours if turn >= joined else None
        with (
            Waiting() as wait,
            connected(sdk, address, wait, is_async, options) as client,
        ):
            turns.append(sdk.ask(client, history, streams, wait))
        called = turns[-1].calls
        history += turns[-1].kept
        history += sdk.results(called) if called else sdk.history[-1:]
    assert strict.refused == []
    asks = ["block_binding" in body.get("thinking", {}) for body in strict.asked]
    asked = joined == 1 and provider == "anthropic"
    assert asks == [asked and turn > 0 for turn in range(3)]
    if joined == 0:
        check(turns)


@pytest.mark.thorough
@WAYS
@pytest.mark.parametrize("calls", CALLS)
def test_numbered_items(calls: str, is_async: bool, strict: Strict) -> None:
    """A server that numbers its items, read by the SDK's helper that assembles them:
    an item of ours has no number that the server gives to another."""
    sdk = installed(SDKS, "openai responses")
    sdk = replace(sdk, start=started_by_helper)
    address = f"{strict.address}/responses/{calls}+numbered"
    options = {"provider": "openai", "claims": "promote"}
    with Waiting() as wait, connected(sdk, address, wait, is_async, options) as client:
        turns = looped(sdk, client, True, wait)
    check(turns)
    assert strict.refused == []
