"""Citations: from a provider's positions to positions in the visible text.

Providers count in the answer as they sent it, in code points, UTF-8 bytes or UTF-16
units (wires/README.md, "Citations"). `CitationResolver` returns each citation once its
span is certain, with the place that a `TextMap` finds. Each choice has one resolver and
one map.

A place is ``blocks``, the text blocks that the span touches in their order, and
``start``/``end`` in the joined text of exactly those blocks, in code points and in
UTF-16 units, end exclusive. A span inside removed text has no place. A span that is
removed in part is clipped. `stream_sidecar.stream.citation_sources` knows the
source of a citation, and which of its fields were sent.
"""

from __future__ import annotations

import re
from heapq import heappop, heappush
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.channel.text_map import ForgottenError, TextMap
from stream_sidecar.parts import CitationPart
from stream_sidecar.records import define, evolve
from stream_sidecar.stream.citation_sources import CitationSources
from stream_sidecar.values.abridge import light
from stream_sidecar.values.units import width

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

Fields: TypeAlias = dict[str, Any]
"""Keyword arguments of `stream_sidecar.events.Citation` except ``seq`` and
``choice``."""

_NOWHERE: Fields = dict.fromkeys(("blocks", "start", "end", "start_utf16", "end_utf16"))


@define
class _Pending:
    """A citation and its span in the raw answer. ``end`` -1: it has no span.
    ``number``: its number in the order of arrival. ``exact``: whether the span is the
    provider's own, not a guess."""

    part: CitationPart
    number: int
    start: int = 0
    end: int = -1
    exact: bool = True


_number_of = attrgetter("number")


class CitationResolver:
    """Returns the citations of one choice when their spans are certain, equal citations
    once.

    Call ``end_block`` when the wire ends its own text block; if there is no resolver
    yet, call the map's. Spans with the anchors ``block`` and ``following`` certainly
    end there. A citation that was returned stays unchanged, even if its block is
    retracted later.
    """

    def __init__(self, text_map: TextMap) -> None:
        self._map = text_map
        self._count = 0
        self._blocks: list[_Pending] = []
        self._following: list[_Pending] = []
        self._markers: dict[str, _Pending] = {}
        self._beyond_text: list[_Pending] = []  # spans beyond the text so far
        self._spans: list[tuple[int, int, _Pending]] = []  # a heap by raw end
        self._placeless: list[_Pending] = []  # without a place
        self._sources = CitationSources()

    @property
    def left_out(self) -> int:
        """How many citations were left out: too many for the text."""
        return self._sources.left_out

    @property
    def has_waiting(self) -> bool:
        """Whether a citation is returned as soon as enough of the text is decided."""
        return bool(self._placeless or self._spans)

    def push(self, part: CitationPart) -> None:
        """Adds a citation. The map must know all text before the citation."""
        pending = _Pending(part, self._count)
        self._count += 1
        _ANCHORS[part.anchor](self, pending)

    def end_block(self) -> None:
        """Notes that the wire's own text block has ended."""
        self._end(self._following, exact=True)
        self._end(self._blocks, exact=True)
        self._map.end_block()

    def ready(self) -> list[Fields]:
        """Returns the citations whose span has become certain."""
        if not self._placeless and not self._has_shown():
            return []
        pendings, self._placeless = self._placeless, []
        while self._has_shown():
            pendings.append(heappop(self._spans)[2])
        return self._fields_of(pendings, lambda _block: True, {})

    def close(self, block_text: Callable[[int], str | None]) -> list[Fields]:
        """Returns all other citations. ``block_text`` returns the final text of a
        block; None if the block was retracted."""
        self._end(self._following, exact=False)
        self._end(self._blocks, exact=True)
        for pending in self._beyond_text:
            self._convert(pending)
        waiting = [pending for _, _, pending in self._spans]
        pendings = [*self._placeless, *waiting, *self._markers.values()]
        pendings.sort(key=_number_of)
        texts = {block: block_text(block) for block in self._map.blocks}
        live = {block: text for block, text in texts.items() if text is not None}
        return self._fields_of(pendings, live.__contains__, self._marked(live))

    def _has_shown(self) -> bool:
        """Whether all text before the end of the next span is decided."""
        return bool(self._spans) and self._spans[0][0] <= self._map.shown

    def _at_offsets(self, pending: _Pending) -> None:
        """Handles the provider's own offsets; without an end, an insertion point."""
        part = pending.part
        start, end = part.start, part.start if part.end is None else part.end
        if start is None or end is None or not 0 <= start <= end:
            self._placeless.append(pending)
            return
        try:
            base = self._map.units(part.base, part.unit)
        except ForgottenError:
            self._placeless.append(pending)
            return
        pending.start, pending.end = base + start, base + end
        length = self._map.units(self._map.length, part.unit)
        if part.unit == "code-point" or pending.end <= length:
            self._convert(pending)
        else:
            self._beyond_text.append(pending)

    def _here(self, pending: _Pending) -> None:
        pending.start = pending.end = self._map.length
        self._wait(pending)

    def _follows(self, pending: _Pending) -> None:
        """Handles a citation of the text that follows. Text since the earlier citations
        of this kind is theirs, and their span ends here, which is a guess."""
        if self._following and self._following[-1].start < self._map.length:
            self._end(self._following, exact=False)
        pending.start = self._map.length
        self._following.append(pending)

    def _in_block(self, pending: _Pending) -> None:
        pending.start = self._map.border
        self._blocks.append(pending)

    def _at_marker(self, pending: _Pending) -> None:
        """Handles a marker in the text: the last source reported for it counts."""
        marker = pending.part.marker or ""
        if marker in self._markers:
            self._placeless.append(self._markers[marker])
        self._markers[marker] = pending

    def _nowhere(self, pending: _Pending) -> None:
        self._placeless.append(pending)

    def _end(self, pendings: list[_Pending], *, exact: bool) -> None:
        """Ends the spans with the raw text so far. ``exact``: this end is certain."""
        for pending in pendings:
            if pending.start < self._map.length:
                pending.end, pending.exact = self._map.length, exact
                self._wait(pending)
            else:
                self._placeless.append(pending)
        pendings.clear()

    def _convert(self, pending: _Pending) -> None:
        """Converts the span to code points. A character that is cut belongs to it."""
        try:
            start, begins = self._map.position(pending.start, pending.part.unit)
            end, ends = self._map.position(pending.end, pending.part.unit)
        except ForgottenError:
            self._placeless.append(pending)
            return
        pending.start, pending.end = start, end if ends else end + 1
        pending.exact = begins and ends
        self._wait(pending)

    def _wait(self, pending: _Pending) -> None:
        """Lets a citation wait until the text of its span is decided."""
        # An insertion at 0 has a place only when there is a block.
        heappush(self._spans, (max(pending.end, 1), pending.number, pending))

    def _fields_of(
        self,
        pendings: list[_Pending],
        is_live: Callable[[int], bool],
        marked: dict[int, list[Fields]],
    ) -> list[Fields]:
        citations = []
        for pending in pendings:
            part, places = pending.part, marked.get(pending.number)
            for number, place in enumerate(places or [self._place(pending, is_live)]):
                if number == 1 and not part.again:  # only a marker has several places
                    part = evolve(part, raw=light(part.raw), again=True)
                place = {"exact": pending.exact or place is _NOWHERE, **place}
                fields = self._sources.fields(part, place, self._map.length)
                if fields is not None:
                    citations.append(fields)
        return citations

    def _place(self, pending: _Pending, is_live: Callable[[int], bool]) -> Fields:
        """The place of a citation within the answer; `_NOWHERE` if it has none."""
        length = self._map.length
        start, end = min(pending.start, length), min(pending.end, length)
        if end < start or (start == end and pending.start != pending.end):
            return _NOWHERE
        pending.exact = pending.exact and end == pending.end
        return self._map.place(start, end, is_live) or _NOWHERE

    def _marked(self, live: dict[int, str]) -> dict[int, list[Fields]]:
        """Number of a citation -> the places of its marker in the visible text."""
        marked: dict[int, list[Fields]] = {}
        if self._markers:
            for block, text in live.items():
                for marker, place in _occurrences(text, self._markers):
                    places = marked.setdefault(self._markers[marker].number, [])
                    places.append({"blocks": (block,), **place})
        return marked


def marked(
    references: Iterable[str], marker: str, choice: int, position: int
) -> Iterator[CitationPart]:
    """The citations of a ``marker`` in the text: one for each of ``references``."""
    raw = {"marker": marker}
    for reference in references:
        yield CitationPart(
            "other",
            {"ref": reference, **raw},
            choice,
            "marker",
            "offsets",
            start=position,
            end=position,
            document=reference,
        )
        raw = {}  # the whole marker with the first of them


_ANCHORS: dict[str, Callable[[CitationResolver, _Pending], None]] = {
    "offsets": CitationResolver._at_offsets,
    "here": CitationResolver._here,
    "following": CitationResolver._follows,
    "block": CitationResolver._in_block,
    "marker": CitationResolver._at_marker,
    "none": CitationResolver._nowhere,
}


def _occurrences(
    text: str, markers: Collection[str]
) -> Iterator[tuple[str, dict[str, int]]]:
    """Every place in ``text`` of one of ``markers``. If several fit at a place, the
    longest.

    Markers are short and of few lengths (``[12]``), so this is linear in the text.
    """
    lengths = sorted({len(marker) for marker in markers if marker}, reverse=True)
    heads = "".join(sorted({re.escape(marker[0]) for marker in markers if marker}))
    end = end_utf16 = 0
    head = patterns.compile(f"[{heads}]" if heads else "(?!)")
    for match in head.finditer(text):
        start = match.start()
        sizes = (size for size in lengths if text[start : start + size] in markers)
        size = next(sizes, 0) if start >= end else 0
        if size:
            start_utf16 = end_utf16 + width(text[end:start], "utf16")
            marker, end = text[start : start + size], start + size
            end_utf16 = start_utf16 + width(marker, "utf16")
            place = {"start": start, "end": end}
            yield marker, {**place, "start_utf16": start_utf16, "end_utf16": end_utf16}
