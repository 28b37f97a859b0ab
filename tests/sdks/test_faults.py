"""With us a host gets what it gets without us when it stops reading, when the
connection breaks off, and when its patience ends.

A row is a fault with an SDK: the text that the host has read, and the exceptions.
"""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest
from sdk_clients import Options, connected, installed
from sdk_table import SDKS, Sdk, Waiting
from strict import WORDS, Strict

FAULTS: dict[str, tuple[str, str | None]] = {
    "stopped before the answer": ("silent", ""),
    "stopped before the text": ("opened", ""),
    "stopped in the text": ("open", "".join(WORDS[:2])),
    "stopped after the text": ("said", "".join(WORDS)),
    "cut": ("cut", None),
    "timeout": ("late", None),
}
"""The script of the server, and the text after which the host stops."""

_SILENT = "stopped before the answer"
ROWS = [
    (name, fault, is_async)
    for name in SDKS
    for fault in FAULTS
    for is_async in (False, True)
    if is_async or fault != _SILENT  # where only another thread could stop it
]
_MINUTE = 60

Outcome = tuple[str, list[str]]


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "fault", "is_async"), ROWS)
def test_equal_outcomes(name: str, fault: str, is_async: bool, strict: Strict) -> None:
    sdk = installed(SDKS, name)
    server, provider = next(iter(sdk.servers.items()))
    script, end = FAULTS[fault]
    address = f"{strict.address}/{server}/{script}"
    without, ours = (
        _outcome(sdk, address, is_async, end, options, strict)
        for options in (None, {"provider": provider})
    )
    assert ours == without
    assert end is None or without[0] == end


def _outcome(
    sdk: Sdk,
    address: str,
    is_async: bool,
    end: str | None,
    options: Options,
    strict: Strict,
) -> Outcome:
    """After it the connection has ended."""
    strict.waiting.clear()
    strict.gone.clear()
    asked = len(strict.asked)
    texts: list[str] = []
    with Waiting() as wait, connected(sdk, address, wait, is_async, options) as client:
        try:
            if is_async:
                wait.run(_cancelled(sdk, client, end, texts, strict))
            else:
                _stopped(sdk, client, end, texts)
        except (Exception, asyncio.CancelledError) as error:
            raised = _names(error)
        else:
            raised = []
    if len(strict.asked) > asked:
        assert strict.gone.wait(_MINUTE)
    return "".join(texts), raised


def _stopped(sdk: Sdk, client: Any, end: str | None, texts: list[str]) -> None:
    """Reads up to the text ``end``, and closes the stream."""
    stream = sdk.start(client, sdk.history[-1:], True)
    items = iter(stream)
    while "".join(texts) != end:
        try:
            texts.append(sdk.text(next(items)) or "")
        except StopIteration:
            break
    if hasattr(stream, "close"):
        stream.close()
    else:
        stream.__exit__(None, None, None)


async def _cancelled(
    sdk: Sdk, client: Any, end: str | None, texts: list[str], strict: Strict
) -> None:
    """Reads up to the text ``end``, and is cancelled while it waits for more."""
    reached = asyncio.Event()

    async def read() -> None:
        made = sdk.start(client, sdk.history[-1:], True)
        stream = await made if inspect.isawaitable(made) else made
        async for item in stream:
            texts.append(sdk.text(item) or "")
            if "".join(texts) == end:
                reached.set()

    reading = asyncio.create_task(read())
    if end:
        await asyncio.wait_for(reached.wait(), _MINUTE)
    if end is not None:
        await asyncio.to_thread(strict.waiting.wait, _MINUTE)
        reading.cancel()
    await reading


def _names(error: BaseException) -> list[str]:
    """The classes and words of an exception and of its causes."""
    named = []
    cause: BaseException | None = error
    while cause is not None:
        named.append(f"{type(cause).__name__}: {cause}")
        cause = cause.__cause__
    return named
