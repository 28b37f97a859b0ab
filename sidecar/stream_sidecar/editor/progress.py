"""Work-done progress of a long reading, for a client that supports it.

The client may cancel the reading; then the next report returns False.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from itertools import count
from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from pygls.lsp.server import LanguageServer

LARGE = 1 << 20
"""The fewest code points of a document whose reading reports progress."""

_numbers = count(1)


@asynccontextmanager
async def progress(
    server: LanguageServer, total: int, uri: str
) -> AsyncIterator[Callable[[int], bool]]:
    """Gives a function that reports how far a reading of ``total`` code points is. Call
    it with the number of code points read so far; it returns False if the client has
    cancelled the reading."""
    window = server.client_capabilities.window
    is_wanted = window is not None and bool(window.work_done_progress)
    if not is_wanted or total < LARGE:
        yield lambda _position: True
        return
    work_done, token = server.work_done_progress, f"stream-sidecar-{next(_numbers)}"
    await work_done.create_async(token)
    title = f"Inspecting {uri.rpartition('/')[2]}"
    begin = types.WorkDoneProgressBegin(title=title, cancellable=True, percentage=0)
    work_done.begin(token, begin)
    last_percent = 0

    def report(position: int) -> bool:
        nonlocal last_percent
        if work_done.tokens[token].cancelled():
            return False
        percent = 100 * position // total
        if percent > last_percent:
            last_percent = percent
            work_done.report(token, types.WorkDoneProgressReport(percentage=percent))
        return True

    try:
        yield report
    finally:
        work_done.end(token, types.WorkDoneProgressEnd())
        work_done.tokens.pop(token, None)
