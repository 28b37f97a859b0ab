"""Ids of calls that got none, or none that their provider takes."""

from __future__ import annotations

from hashlib import blake2b

_LENGTH = 9
"""Letters and digits, so many: Mistral takes no other ids (anomalyco/opencode#1680)."""


def made_id(*seeds: str) -> str:
    """An id made of its ``seeds``, of nothing else: the same in every replay."""
    seed = "\0".join(seeds).encode("utf-8", "surrogatepass")
    return blake2b(seed).hexdigest()[:_LENGTH]
