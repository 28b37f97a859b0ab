"""Progress of a long reading, as LSP tells it, where the client wants to know.

The client may cancel it: the next report says so.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from types import TracebackType

    from pygls.lsp.server import LanguageServer

LARGE = 1 << 20
"""Code points of a document from which on its reading is told of."""

_numbers = count(1)


class Progress:
    """Tells how far a reading of ``total`` code points is; an asynchronous context
    manager."""

    def __init__(self, server: LanguageServer, total: int, uri: str) -> None:
        self._server = server
        self._total = total
        self._name = uri.rpartition("/")[2]
        self._token: str | None = None
        self._percent = 0

    async def __aenter__(self) -> Progress:
        window = self._server.client_capabilities.window
        wanted = window is not None and bool(window.work_done_progress)
        if wanted and self._total >= LARGE:
            token = f"stream-sidecar-{next(_numbers)}"
            await self._server.work_done_progress.create_async(token)
            self._token = token
            begin = types.WorkDoneProgressBegin(
                title=f"Inspecting {self._name}", cancellable=True, percentage=0
            )
            self._server.work_done_progress.begin(token, begin)
        return self

    def report(self, done: int) -> bool:
        """``done`` code points are read; False: the client wants no more."""
        if self._token is None:
            return True
        progress = self._server.work_done_progress
        if progress.tokens[self._token].cancelled():
            return False
        percent = 100 * done // self._total
        if percent > self._percent:
            self._percent = percent
            report = types.WorkDoneProgressReport(percentage=percent)
            progress.report(self._token, report)
        return True

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._token is not None:
            end = types.WorkDoneProgressEnd()
            self._server.work_done_progress.end(self._token, end)
            self._server.work_done_progress.tokens.pop(self._token, None)
