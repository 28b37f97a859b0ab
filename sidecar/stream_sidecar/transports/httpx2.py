"""`CleaningTransport` and `AsyncCleaningTransport` for httpx2."""

from __future__ import annotations

import httpx2

from stream_sidecar.transports.sending import AsyncSending, SyncSending


class CleaningTransport(SyncSending[httpx2.BaseTransport], httpx2.BaseTransport):
    """Cleans responses: ``httpx2.Client(transport=CleaningTransport())``."""

    library = httpx2


class AsyncCleaningTransport(
    AsyncSending[httpx2.AsyncBaseTransport], httpx2.AsyncBaseTransport
):
    """`CleaningTransport` for the library's ``AsyncClient``."""

    library = httpx2
