"""Gemini's sources: grounding, recitations, pages read, annotations.

Sources stand beside the content and come late and repeatedly. Offsets are UTF-8 bytes
from the start of a Part, ends exclusive; a start of 0 is left out (wires/README.md,
"Citations"). Sources that no support cites have no place. They are added at the end,
once it is known that nothing cites them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.parts import CitationKind, CitationPart
from stream_sidecar.records import define, evolve, field
from stream_sidecar.values.abridge import light
from stream_sidecar.wires.shared.citations import GROUNDING
from stream_sidecar.wires.shared.fields import document_id, first_text, type_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.document_wire import DocumentWire

_ANNOTATIONS: dict[str, CitationKind] = {"url_citation": "url", "file_citation": "file"}
_URLS = ("uri", "url", "sourceUri", "document_uri", "source")
_TITLES = ("title", "documentName", "displayName", "file_name", "name")

_CHUNK_INDICES = ("groundingChunkIndices", "supportChunkIndices")
_READ = "SUCCESS"
"""The status of a page that could be read ends with this."""


@define
class Sources:
    """The sources of one candidate. ``base_of(number)`` returns how many code points of
    the answer come before the Part with that number."""

    wire: DocumentWire
    choice: int
    base_of: Callable[[int | None], int]
    chunks: list[Json] = field(factory=list)
    cited: set[str] = field(factory=set)
    #: sources that nothing cites so far, by their address, title or text
    waiting: dict[str, CitationPart] = field(factory=dict)

    def read(self, candidate: JsonObject) -> None:
        """Reads all sources in a candidate."""
        self._grounding(self.wire.body(candidate, "groundingMetadata"))
        self._recitations(self.wire.body(candidate, "citationMetadata"))
        pages = self.wire.body(candidate, "urlContextMetadata")
        for page in self.wire.objects(pages, "urlMetadata"):
            if self.wire.text(page, "urlRetrievalStatus").endswith(_READ):
                url = self.wire.text(page, "retrievedUrl") or None
                self._wait(CitationPart("url", page, self.choice, url=url))

    def close(self) -> None:
        self.wire.parts += self.waiting.values()
        self.waiting.clear()

    def _grounding(self, metadata: JsonObject) -> None:
        chunks = metadata.get("groundingChunks")
        if isinstance(chunks, list) and chunks:
            self.chunks = chunks
        for chunk in self.wire.objects(metadata, "groundingChunks"):
            self._wait(self._source(chunk, chunk))
        cited: dict[int, Json] = {}
        for support in self.wire.objects(metadata, "groundingSupports"):
            self._support(support, cited)

    def _support(self, support: JsonObject, cited: dict[int, Json]) -> None:
        """Adds a citation for each source of a support. Only the first citation of a
        support, and of a source, has its long values. Otherwise the citations' size
        would be the product of both sizes. ``cited``: the chunks cited so far, without
        their long values."""
        segment = self.wire.body(support, "segment")
        start = self.wire.number(segment, "startIndex") or 0
        end = self.wire.number(segment, "endIndex")
        base = self.base_of(self.wire.number(segment, "partIndex"))
        name = next((n for n in _CHUNK_INDICES if n in support), _CHUNK_INDICES[0])
        numbers, support_part = support.get(name), support
        for number in numbers if isinstance(numbers, list) else [numbers]:
            if type(number) is int and 0 <= number < len(self.chunks):
                again, chunk = number in cited, self.chunks[number]
                raw = {"support": support_part, "chunk": cited.get(number, chunk)}
                part = self._source(chunk, raw, start, end, base)
                self._cite(evolve(part, again=again))
                support_part = light(support_part)
                if not again:
                    cited[number] = light(chunk)
            elif number is not None:
                self.wire.malformed(name, number, "leads to no source")

    def _source(
        self,
        chunk: Json,
        raw: JsonObject,
        start: int | None = None,
        end: int | None = None,
        base: int = 0,
    ) -> CitationPart:
        holder = chunk if isinstance(chunk, dict) else {}
        name = next((n for n in GROUNDING if isinstance(holder.get(n), dict)), "")
        body = holder.get(name) or {}
        return CitationPart(
            kind=GROUNDING.get(name, "other"),
            raw=raw,
            choice=self.choice,
            anchor="none" if end is None else "offsets",
            start=start,
            end=end,
            unit="byte",
            base=base,
            url=first_text(body, _URLS),
            title=first_text(body, _TITLES),
            cited_text=first_text(body, ("text",)),
            document=document_id(body),
        )

    def _recitations(self, metadata: JsonObject) -> None:
        """Adds citations for text that repeats a source (also under an older name)."""
        for name in ("citations", "citationSources"):
            for item in self.wire.objects(metadata, name):
                end = self.wire.number(item, "endIndex")
                url = first_text(item, _URLS)
                self._cite(
                    CitationPart(
                        kind="url" if url else "other",
                        raw=item,
                        choice=self.choice,
                        anchor="none" if end is None else "offsets",
                        start=self.wire.number(item, "startIndex") or 0,
                        end=end,
                        unit="byte",
                        base=self.base_of(None),
                        url=url,
                        title=first_text(item, _TITLES),
                    )
                )

    def _cite(self, part: CitationPart) -> None:
        self.cited.add(_key(part))
        self.waiting.pop(_key(part), None)
        self.wire.parts.append(part)

    def _wait(self, part: CitationPart) -> None:
        if _key(part) not in self.cited:
            self.waiting.setdefault(_key(part), part)


def annotation(wire: DocumentWire, item: JsonObject, base: int) -> CitationPart:
    """An annotation of an interaction. ``base``: the code points before its text."""
    end = wire.number(item, "end_index")
    return CitationPart(
        kind=_ANNOTATIONS.get(type_of(item), "other"),
        raw=item,
        anchor="none" if end is None else "offsets",
        start=wire.number(item, "start_index") or 0,
        end=end,
        unit="byte",
        base=base,
        url=first_text(item, _URLS),
        title=first_text(item, _TITLES),
        document=document_id(item),
    )


def _key(part: CitationPart) -> str:
    return part.url or part.title or part.cited_text or ""
