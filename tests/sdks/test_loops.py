"""The official SDKs over a cleaning transport: three turns with a tool, streamed and
whole, with and without asyncio, against servers that leak and refuse (`strict.py`)."""

from __future__ import annotations

from typing import Any

import pytest
from sdk_clients import Options, connected, installed
from sdk_table import CALLED, SDKS, Said, Sdk, Waiting
from strict import ANSWER, CALLS, Strict

ROWS = [(name, server) for name, sdk in SDKS.items() for server in sdk.servers]
WAYS = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
STREAMS = pytest.mark.parametrize("streams", [False, True], ids=["whole", "stream"])


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
        first, second, third = _looped(sdk, client, streams, wait)
    assert [each.text.strip() for each in (first, second)] == ["Let me look."] * 2
    called = [[call[1:] for call in each.calls] for each in (first, second)]
    assert called == [CALLED, CALLED]
    assert first.calls[0][0] != second.calls[0][0] or first.calls[0][0] is None
    assert (third.text, third.calls) == (ANSWER, [])


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
        _looped(sdk, asks, False, wait)
    assert len(strict.refused) == refused + 1


def _looped(sdk: Sdk, client: Any, streams: bool, wait: Waiting) -> list[Said]:
    """Three turns; the host keeps what it reads and adds the results of its tool."""
    history, turns = [*sdk.history], []
    for _ in range(3):
        said = sdk.ask(client, history, streams, wait)
        turns.append(said)
        history += [*said.kept, *sdk.results(said.calls)]
    return turns
