"""Transports for httpx and httpx2 that clean the responses an SDK of a provider reads.

``transports.httpx`` and ``transports.httpx2`` have the same two classes, each for its
library. `Cleaner` does their work without I/O. The page is ``api/README.md``.
"""
