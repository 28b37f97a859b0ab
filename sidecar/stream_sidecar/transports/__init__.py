"""Transports for httpx and httpx2 that clean what an SDK of a provider reads.

``transports.httpx`` and ``transports.httpx2`` have the same two classes, each for its
library; what they do without any I/O is `Cleaner`. The page is ``api/README.md``.
"""
