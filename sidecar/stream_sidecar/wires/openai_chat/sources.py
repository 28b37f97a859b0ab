"""Readers of lists of sources on chat.completions, and of Gemini's grounding.

Sources are beside the answer, most of them at the top of a document, and every chunk
repeats them: only new ones are reported (wires/README.md, "Citations").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.parts import CitationPart
from stream_sidecar.values.abridge import light
from stream_sidecar.wires.shared.citations import (
    EXCERPTS,
    GROUNDING,
    TITLES,
    URLS,
    annotation_list,
)
from stream_sidecar.wires.shared.fields import first_text

if TYPE_CHECKING:
    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.fields import ChoiceState, FieldReader

_UNMARKED = ("xai", "x-ai", "grok")
"""Providers and models whose answers do not mark their sources as ``[1]``."""


def citations(choice: ChoiceState, value: Json, name: str) -> None:
    """Reads ``citations`` of a delta or message: xAI's inline citations, or urls."""
    if not isinstance(value, list):
        choice.malformed(name, value)
        return
    for position, item in enumerate(value):
        if isinstance(item, str):
            _source(choice, position, item, None)
        else:
            annotation_list(choice, [item], name)


def azure_context(choice: ChoiceState, value: Json, name: str) -> None:
    """Reads sources of Azure's "On Your Data", which the answer marks ``[doc1]``."""
    if not isinstance(value, dict):
        choice.malformed(name, value)
        return
    listed = choice.objects(value.get("citations") or [], f"{name}.citations")
    for position, item in enumerate(listed):
        _source(choice, position, item, f"[doc{position + 1}]")


def read_sources(choice: ChoiceState, document: JsonObject, names: str) -> None:
    """Reads all sources at the top of ``document``, of the provider and model."""
    is_marked = not any(name in names.lower() for name in _UNMARKED)
    _source_lists(choice, document, is_marked)
    _web_search(choice, document)
    for name, read in _VERTEX.items():
        if document.get(name):
            read(choice, document[name], name)


def _source_lists(choice: ChoiceState, document: JsonObject, is_marked: bool) -> None:
    """Reads ``citations`` and ``search_results`` at the top, which every chunk repeats.

    ``is_marked``: the answer marks them as ``[1]``. The number counts in ``citations``,
    or in ``search_results`` if there are no ``citations`` (Perplexity).
    """
    listed = _list(choice, document, "citations")
    results = _list(choice, document, "search_results")
    if not choice.changed("source_lists", [listed, results]):
        return
    details = {_url(item): item for item in results}
    for position, item in enumerate(listed or results):
        marker = f"[{position + 1}]" if is_marked else None
        source = details.get(item) if isinstance(item, str) else None
        _source(choice, position, source or item, marker)
    cited = {_url(item) for item in listed or results}
    for position, item in enumerate(results):
        if _url(item) not in cited:
            _source(choice, position, item, None)


def _web_search(choice: ChoiceState, document: JsonObject) -> None:
    """Reads GLM's ``web_search``. Each source says how the answer marks it."""
    for position, item in enumerate(_list(choice, document, "web_search")):
        mark = first_text(item, ("refer",)) if isinstance(item, dict) else None
        _source(choice, position, item, f"[{mark}]" if mark else None)


def _grounding(choice: ChoiceState, value: Json, name: str) -> None:
    """Reads the sources in LiteLLM's ``vertex_ai_grounding_metadata`` that its
    annotations leave out: all but the first of a support, and those of a support that
    begins at 0. Offsets are bytes; a start of 0 is left out."""
    for metadata in choice.objects(value, name):
        chunks = [*choice.objects(metadata.get("groundingChunks") or [], name)]
        cited: dict[int, Json] = {}
        for support in choice.objects(metadata.get("groundingSupports") or [], name):
            segment = support.get("segment") or {}
            numbers = support.get("groundingChunkIndices") or []
            if not isinstance(segment, dict) or not isinstance(numbers, list):
                choice.malformed(name, support)
                continue
            start = choice.number(segment, "startIndex") or 0
            end, support_part = choice.number(segment, "endIndex"), support
            for number in numbers:
                if type(number) is int and 0 <= number < len(chunks):
                    chunk, again = chunks[number], number in cited
                    raw = {"support": support_part, "chunk": cited.get(number, chunk)}
                    if _grounded(choice, chunk, raw, start, end, again=again):
                        support_part = light(support_part)
                        cited.setdefault(number, light(chunk))
        for chunk in chunks:
            _grounded(choice, chunk, chunk, None, None)


def _url_context(choice: ChoiceState, value: Json, name: str) -> None:
    """Reads LiteLLM's list of pages that were read, without a place in the answer."""
    for metadata in choice.objects(value, name):
        for page in choice.objects(metadata.get("urlMetadata") or [], name):
            status = choice.text(page, "urlRetrievalStatus") or ""
            if status.endswith("SUCCESS"):
                _source(choice, 0, page, None)


_VERTEX: dict[str, FieldReader] = {
    "vertex_ai_grounding_metadata": _grounding,
    "vertex_ai_url_context_metadata": _url_context,
}
SOURCE_KEYS = frozenset(("citations", "search_results", "web_search", *_VERTEX))
"""The keys of a document that `read_sources` reads."""


def _grounded(
    choice: ChoiceState,
    chunk: JsonObject,
    raw: JsonObject,
    start: int | None,
    end: int | None,
    *,
    again: bool = False,
) -> bool:
    """Adds a source, unless it was cited at this place already; without a place, unless
    it was cited anywhere. Returns whether it was added."""
    kind = next((name for name in GROUNDING if isinstance(chunk.get(name), dict)), None)
    body = chunk[kind] if kind else {}
    url = first_text(body, URLS)
    key = (url or f"{kind}:{first_text(body, TITLES)}", start, end)
    if kind is None or key in choice.placed:
        return False
    choice.placed |= {key, (key[0], None, None)}
    choice.parts.append(
        CitationPart(
            kind=GROUNDING[kind],
            raw=raw,
            choice=choice.index,
            anchor="none" if end is None else "offsets",
            start=start,
            end=end,
            unit="byte",
            url=url,
            title=first_text(body, TITLES),
            cited_text=first_text(body, ("text",)),
            again=again,
        )
    )
    return True


def _source(choice: ChoiceState, position: int, item: Json, marker: str | None) -> None:
    """Adds a source of a list once, unless an annotation has cited it."""
    if item is None:
        return
    if not isinstance(item, str | dict):
        choice.malformed("citations", item)
        return
    body = item if isinstance(item, dict) else {}
    url, title = _url(item), first_text(body, TITLES)
    key = f"source:{marker or ''}:{url or title or position}"
    if (url, None, None) in choice.placed or not choice.changed(key, True):
        return
    choice.parts.append(
        CitationPart(
            kind="url" if url else "document",
            raw=item,
            choice=choice.index,
            role="marker" if marker else "claim",
            anchor="marker" if marker else "none",
            marker=marker,
            url=url,
            title=title,
            cited_text=first_text(body, EXCERPTS),
            document=first_text(body, ("id",)),
        )
    )


def _list(choice: ChoiceState, document: JsonObject, name: str) -> list[Json]:
    value = document.get(name)
    if value is None or isinstance(value, list):
        return value or []
    choice.malformed(name, value)
    return []


def _url(item: Json) -> str | None:
    if isinstance(item, dict):
        return first_text(item, (*URLS, "retrievedUrl"))
    return item if isinstance(item, str) else None
