"""`CleaningTransport` and `AsyncCleaningTransport` for httpx. The file for the other
library differs from this one only in the name of the library."""

from __future__ import annotations

import httpx as library

from stream_sidecar.transports.sending import (
    AsyncBody,
    AsyncSending,
    SyncBody,
    SyncSending,
)


class _Body(SyncBody, library.SyncByteStream):
    """A body that the library knows as one."""


class _AsyncBody(AsyncBody, library.AsyncByteStream):
    """A body that the library knows as one."""


class CleaningTransport(SyncSending[library.BaseTransport], library.BaseTransport):
    """Sends requests with ``transport``, by default the library's own, and cleans the
    responses::

        client = openai.OpenAI(
            http_client=httpx.Client(transport=CleaningTransport())
        )

    The options are those of `Cleaner`.
    """

    library = library
    make = library.HTTPTransport
    body = _Body


class AsyncCleaningTransport(
    AsyncSending[library.AsyncBaseTransport], library.AsyncBaseTransport
):
    """`CleaningTransport` for the library's ``AsyncClient``."""

    library = library
    make = library.AsyncHTTPTransport
    body = _AsyncBody
