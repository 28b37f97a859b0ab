"""The sources of a message: its citations grouped by what they cite.

One page may back several claims with different excerpts, and a host shows it once
(LearningCircuit/local-deep-research#5900). Which of them cite the same is the number in
``source`` of each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.records import define, field, frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stream_sidecar.events import Citation


@frozen
class Source:
    """What ``citations`` of them cite; ``excerpts`` are its different cited texts."""

    kind: str
    citations: int
    excerpts: tuple[str, ...]
    url: str | None = None
    title: str | None = None


@define
class _Group:
    kind: str
    url: str | None = None
    title: str | None = None
    citations: int = 0
    excerpts: dict[str, None] = field(factory=dict)


def sources_of(citations: Iterable[Citation]) -> tuple[Source, ...]:
    """The sources of one choice, in the order of their numbers."""
    groups: dict[int, _Group] = {}
    for citation in citations:
        group = groups.setdefault(citation.source, _Group(citation.kind))
        group.url = group.url or citation.url
        group.title = group.title or citation.title
        group.citations += 1
        if citation.cited_text:
            group.excerpts[citation.cited_text] = None
    return tuple(
        Source(each.kind, each.citations, tuple(each.excerpts), each.url, each.title)
        for each in groups.values()
    )
