"""The sources that a choice cites: their numbers, and which fields were sent.

`CitationSources` makes the fields of a citation from its part and its place. Equal
citations are returned once. A long address or title comes only with the first citation
of its source. A source that the provider spells out once and refers to often
(`CitationPart.again`) comes in a short form from the second time on, and the number of
these citations is limited by the length of the text.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from stream_sidecar.records import frozen
from stream_sidecar.values.abridge import is_long, without
from stream_sidecar.values.jsontext import dumps

if TYPE_CHECKING:
    from stream_sidecar.parts import CitationPart

_ROOM = 16_384
"""Any answer may have this many code points of repeated citations
(`CitationPart.again`)."""

_SHARE = 24
"""For each code point of its text and of its sources, an answer may have this many
more."""

_COST = 256
"""The code points of a citation without its values."""


@frozen
class _Source:
    """A cited source. ``texts``: the long values of its first citation."""

    number: int
    texts: frozenset[str]


class CitationSources:
    """Makes the fields of one citation after the other. ``left_out``: the number of
    citations that were left out because there were too many."""

    def __init__(self) -> None:
        self.left_out = 0
        self._room = _ROOM
        self._sent: set[tuple[object, ...]] = set()
        self._sources: dict[tuple[str, str], _Source] = {}

    def fields(
        self, part: CitationPart, place: dict[str, Any], length: int
    ) -> dict[str, Any] | None:
        """The fields of a citation at ``place``; None if the same citation was sent
        before, or if an answer of ``length`` code points has no room for it."""
        key = _key(part)
        known_source = self._sources.get(key)
        texts = frozenset() if part.again else _long(part.url, part.title)
        source = known_source or _Source(len(self._sources), texts)
        values = _values(part, source.texts)
        raw = dumps(values["raw"])
        identity = (*place.values(), *_identity(values), raw)
        if identity in self._sent or not self._has_room(part, values, raw, length):
            return None
        self._sent.add(identity)
        self._sources[key] = source
        if known_source is None and not part.again:
            values = _values(part, frozenset())
        return {**values, **place, "source": source.number}

    def _has_room(
        self, part: CitationPart, values: dict[str, Any], raw: str, length: int
    ) -> bool:
        """Whether a citation may be sent. A new citation adds to the room for
        citations, a repeated citation uses it up."""
        if not part.again:
            self._room += _SHARE * len(raw)
            return True
        texts = (values["url"], values["title"], values["cited_text"])
        cost = _COST + len(raw) + sum(len(dumps(text)) for text in texts if text)
        if cost > self._room + _SHARE * length:
            self.left_out += 1
            return False
        self._room -= cost
        return True


_identity = itemgetter("kind", "role", "url", "title", "cited_text")


def _key(part: CitationPart) -> tuple[str, str]:
    """What identifies the source of a citation: the URL, else the document id, else the
    title; without any of these, the kind."""
    if part.url:
        return "url", part.url
    if part.document:
        return "document", part.document
    return ("title", part.title) if part.title else ("", part.kind)


def _long(*texts: str | None) -> frozenset[str]:
    return frozenset(text for text in texts if text and is_long(text))


def _values(part: CitationPart, texts: frozenset[str]) -> dict[str, Any]:
    """The values of a citation without ``texts``, the long values that were sent
    before. A repeated citation has no long value at all."""
    url, title, cited = part.url, part.title, part.cited_text
    omitted = _long(url, title, cited) if part.again else texts
    return {
        "kind": part.kind,
        "role": part.role,
        "raw": without(part.raw, texts) if texts else part.raw,
        "url": None if url in omitted else url,
        "title": None if title in omitted else title,
        "cited_text": None if part.again and cited in omitted else cited,
    }
