"""The official SDKs over a cleaning transport: three turns with a tool, streamed and
whole, with and without asyncio, against servers that leak and refuse (`strict.py`)."""

from __future__ import annotations

import pytest
from sdk_clients import Options, check, connected, installed, looped
from sdk_table import SDKS, Waiting
from strict import CALLS, Strict

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
        turns = looped(sdk, client, streams, wait)
    check(turns)


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
