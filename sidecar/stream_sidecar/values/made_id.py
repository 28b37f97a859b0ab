"""Ids for calls without an id, or with an id that their provider does not accept."""

from __future__ import annotations

from hashlib import blake2b

_LENGTH = 9
"""Letters and digits: Mistral accepts no other length (anomalyco/opencode#1680)."""


def made_id(*seeds: str) -> str:
    """Return an id that depends only on ``seeds``: it is the same in every replay."""
    seed = "\0".join(seeds).encode("utf-8", "surrogatepass")
    return blake2b(seed).hexdigest()[:_LENGTH]
