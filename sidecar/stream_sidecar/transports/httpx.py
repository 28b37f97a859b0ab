"""`CleaningTransport` and `AsyncCleaningTransport` for httpx."""

from __future__ import annotations

import httpx

from stream_sidecar.transports.sending import AsyncSending, SyncSending


class CleaningTransport(SyncSending[httpx.BaseTransport], httpx.BaseTransport):
    """Cleans responses: ``httpx.Client(transport=CleaningTransport())``."""

    library = httpx


class AsyncCleaningTransport(
    AsyncSending[httpx.AsyncBaseTransport], httpx.AsyncBaseTransport
):
    """`CleaningTransport` for the library's ``AsyncClient``."""

    library = httpx
