"""Clients of the SDKs of `sdk_table.py`, with a cleaning transport and without one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest
from sdk_table import CALLED, Said, Sdk, Waiting
from strict import ANSWER, LATE

Options = dict[str, Any] | None
"""Of a cleaning transport; None: nothing cleans."""


def installed(sdks: dict[str, Sdk], name: str) -> Sdk:
    """The row; skips the test if its SDK is not there."""
    if lacks := sdks[name].lacks():
        pytest.skip(lacks)
    return sdks[name]


@contextmanager
def connected(
    sdk: Sdk, address: str, wait: Waiting, is_async: bool, options: Options
) -> Iterator[Any]:
    """A client, whose connections end with the block."""
    library = sdk.library()
    transport = _impatient(library, is_async)
    if options is not None:
        ours = import_module(f"stream_sidecar.transports.{library.__name__}")
        kind = ours.AsyncCleaningTransport if is_async else ours.CleaningTransport
        transport = kind(transport, **options)
    named = library.AsyncClient if is_async else library.Client
    http = named(transport=transport, timeout=60)
    try:
        yield sdk.build(http, address, is_async)
    finally:
        wait.run(http.aclose() if is_async else http.close())


def _impatient(library: Any, is_async: bool) -> Any:
    """The library's own transport, whose time to read is up at the server's mark."""

    class Body(library.SyncByteStream, library.AsyncByteStream):
        def __init__(self, response: Any) -> None:
            self.response = response

        def __iter__(self) -> Iterator[bytes]:
            for data in self.response.stream:
                yield _before(data)

        async def __aiter__(self) -> Any:
            async for data in self.response.stream:
                yield _before(data)

        def close(self) -> None:
            self.response.stream.close()

        async def aclose(self) -> None:
            await self.response.stream.aclose()

    def _before(data: bytes) -> bytes:
        if data.endswith(LATE):
            raise library.ReadTimeout("The read operation timed out")
        return data

    def answer(response: Any) -> Any:
        return library.Response(
            response.status_code,
            headers=response.headers,
            stream=Body(response),
            extensions=response.extensions,
        )

    class Plain(library.HTTPTransport):
        def handle_request(self, request: Any) -> Any:
            return answer(super().handle_request(request))

    class Waits(library.AsyncHTTPTransport):
        async def handle_async_request(self, request: Any) -> Any:
            return answer(await super().handle_async_request(request))

    return (Waits if is_async else Plain)(verify=False)


def looped(sdk: Sdk, client: Any, streams: bool, wait: Waiting) -> list[Said]:
    """Three turns; the host keeps what it reads and adds the results of its tool."""
    history, turns = [*sdk.history], []
    for _ in range(3):
        said = sdk.ask(client, history, streams, wait)
        turns.append(said)
        history += [*said.kept, *sdk.results(said.calls)]
    return turns


def check(turns: list[Said]) -> None:
    """Nothing of the leaks is in the turns, and the calls are."""
    first, second, third = turns
    assert [each.text.strip() for each in (first, second)] == ["Let me look."] * 2
    called = [[call[1:] for call in each.calls] for each in (first, second)]
    assert called == [CALLED, CALLED]
    assert first.calls[0][0] != second.calls[0][0] or first.calls[0][0] is None
    assert (third.text, third.calls) == (ANSWER, [])
