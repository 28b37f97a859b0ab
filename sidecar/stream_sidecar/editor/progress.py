"""Progress of a long reading, as LSP tells it, where the client wants to know.

The client may cancel it: the next report says so.
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
"""Code points of a document from which on its reading is told of."""

_numbers = count(1)


@asynccontextmanager
async def progress(
    server: LanguageServer, total: int, uri: str
) -> AsyncIterator[Callable[[int], bool]]:
    """Tells how far a reading of ``total`` code points is. What it gives is told how
    many are read, and says False where the client wants no more."""
    window = server.client_capabilities.window
    wanted = window is not None and bool(window.work_done_progress)
    if not wanted or total < LARGE:
        yield lambda _done: True
        return
    reported, token = server.work_done_progress, f"stream-sidecar-{next(_numbers)}"
    await reported.create_async(token)
    title = f"Inspecting {uri.rpartition('/')[2]}"
    begin = types.WorkDoneProgressBegin(title=title, cancellable=True, percentage=0)
    reported.begin(token, begin)
    last = 0

    def report(done: int) -> bool:
        nonlocal last
        if reported.tokens[token].cancelled():
            return False
        percent = 100 * done // total
        if percent > last:
            last = percent
            reported.report(token, types.WorkDoneProgressReport(percentage=percent))
        return True

    try:
        yield report
    finally:
        reported.end(token, types.WorkDoneProgressEnd())
        reported.tokens.pop(token, None)
