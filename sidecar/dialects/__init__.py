"""The table of dialects: the ways in which models write protocol into text.

A dialect that is only a pair of delimiters is a row in ``reasoning_tags``. Rows are
tried all at once: which delimiter stands at a place is decided by the longest match,
so their order carries no meaning beyond this list for people.
"""

from __future__ import annotations

import re
from functools import lru_cache

from attrs import frozen

from sidecar.delimiters import Delimiters, Pair
from sidecar.dialects.reasoning_tags import REASONING_TAGS

_BARE = re.compile(r"[\w:.-]+")


@frozen
class Dialect:
    """One family's way of writing; ``pairs`` are (opener, closer) of reasoning."""

    name: str
    pairs: tuple[Pair, ...] = ()


DIALECTS: dict[str, Dialect] = {
    name: Dialect(name, pairs) for name, pairs in REASONING_TAGS.items()
}


def pair_of(tag: str) -> Pair:
    """The delimiters of one entry of ``reasoning.tags``.

    A bare name means ``<name>`` and ``</name>``; in anything else the closer has a
    slash before its first letter or digit (``[THINK]``, ``◁think▷``), or before its
    last character where there is none.
    """
    if _BARE.fullmatch(tag):
        return f"<{tag}>", f"</{tag}>"
    match = re.search(r"\w", tag)
    at = match.start() if match else len(tag) - 1
    return tag, f"{tag[:at]}/{tag[at:]}"


def tags_of(tags: tuple[str, ...], dialects: tuple[str, ...]) -> tuple[str, ...]:
    """``tags`` and the openers that the dialects add to them."""
    known = {pair_of(tag)[0] for tag in tags}
    openers = (pair[0] for name in dialects for pair in DIALECTS[name].pairs)
    return tags + tuple(dict.fromkeys(o for o in openers if o not in known))


@lru_cache(maxsize=64)
def delimiters(tags: tuple[str, ...], dialects: tuple[str, ...]) -> Delimiters:
    """The delimiters of ``reasoning.tags`` and of the named dialects."""
    pairs = [pair_of(tag) for tag in tags]
    pairs += [pair for name in dialects for pair in DIALECTS[name].pairs]
    return Delimiters(tuple(pairs))
