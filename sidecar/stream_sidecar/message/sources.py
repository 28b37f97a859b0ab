"""The sources of a message: its citations grouped by what they cite.

One page may back several claims with different excerpts, but a host shows the page once
(LearningCircuit/local-deep-research#5900). Citations with the same number in their
field ``source`` cite the same source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.records import PublicRecord, frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stream_sidecar.events import Citation


@frozen
class Source(PublicRecord):
    """A source that several citations share. ``citations``: how many; ``excerpts``: the
    different texts that they cite."""

    kind: str
    citations: int
    excerpts: tuple[str, ...]
    url: str | None = None
    title: str | None = None


def sources_of(citations: Iterable[Citation]) -> tuple[Source, ...]:
    """The sources of one choice, in the order of their numbers."""
    groups: dict[int, list[Citation]] = {}
    for citation in citations:
        groups.setdefault(citation.source, []).append(citation)
    return tuple(map(_source, groups.values()))


def _source(citations: list[Citation]) -> Source:
    """The source of citations with the same number. Its kind is that of the first
    citation; its URL and title are the first ones given."""
    urls, titles = [each.url for each in citations], [each.title for each in citations]
    excerpts = dict.fromkeys(each.cited_text for each in citations if each.cited_text)
    return Source(
        kind=citations[0].kind,
        citations=len(citations),
        excerpts=tuple(excerpts),
        url=next(filter(None, urls), urls[-1]),
        title=next(filter(None, titles), titles[-1]),
    )
