"""The official SDKs over a cleaning transport: three turns with a tool, streamed and
whole, with and without asyncio, against servers that leak and refuse (`strict.py`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest
from sdk_table import CALLED, SDKS, Said, Sdk, Waiting
from strict import ANSWER, CALLS, Strict, serving

Options = dict[str, Any] | None
ROWS = [(name, server) for name, sdk in SDKS.items() for server in sdk.servers]
WAYS = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
STREAMS = pytest.mark.parametrize("streams", [False, True], ids=["whole", "stream"])


@pytest.fixture(scope="module")
def strict() -> Iterator[Strict]:
    with serving() as server:
        yield server


@WAYS
@STREAMS
@pytest.mark.parametrize("calls", CALLS)
@pytest.mark.parametrize(("name", "server"), ROWS)
def test_three_turns(
    name: str, server: str, calls: str, streams: bool, is_async: bool, strict: Strict
) -> None:
    sdk = _installed(name)
    options = {"provider": sdk.servers[server], "claims": "promote"}
    address = f"{strict.address}/{server}/{calls}"
    with Waiting() as wait, _client(sdk, address, wait, is_async, options) as client:
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
    sdk = _installed(name)
    address = f"{strict.address}/{next(iter(sdk.servers))}/native"
    refused = len(strict.refused)
    refuses = pytest.raises(Exception, match="the leak <think")
    with (
        Waiting() as wait,
        _client(sdk, address, wait, False, options) as asks,
        refuses,
    ):
        _looped(sdk, asks, False, wait)
    assert len(strict.refused) == refused + 1


def _installed(name: str) -> Sdk:
    sdk = SDKS[name]
    if lacks := sdk.lacks():
        pytest.skip(lacks)
    return sdk


def _looped(sdk: Sdk, client: Any, streams: bool, wait: Waiting) -> list[Said]:
    """Three turns; the host keeps what it reads and adds the results of its tool."""
    history, turns = [*sdk.history], []
    for _ in range(3):
        said = sdk.ask(client, history, streams, wait)
        turns.append(said)
        history += [*said.kept, *sdk.results(said.calls)]
    return turns


@contextmanager
def _client(
    sdk: Sdk, address: str, wait: Waiting, is_async: bool, options: Options
) -> Iterator[Any]:
    """A client of an SDK; without ``options`` nothing cleans."""
    http = _http(sdk.library(), is_async, options)
    try:
        yield sdk.build(http, address, is_async)
    finally:
        wait.run(http.aclose() if is_async else http.close())


def _http(library: Any, is_async: bool, options: Options) -> Any:
    named = library.AsyncClient if is_async else library.Client
    if options is None:
        return named(verify=False)
    inner = library.AsyncHTTPTransport if is_async else library.HTTPTransport
    ours = import_module(f"stream_sidecar.transports.{library.__name__}")
    kind = ours.AsyncCleaningTransport if is_async else ours.CleaningTransport
    return named(transport=kind(inner(verify=False), **options))
