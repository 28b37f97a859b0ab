"""Readers of citations and sources on Chat Completions (wires/README.md, "Citations").

Offsets count in the answer as the provider sent it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from stream_sidecar.parts import CitationKind, CitationPart
from stream_sidecar.records import evolve
from stream_sidecar.wires.shared.fields import document_id, first_text, type_of

if TYPE_CHECKING:
    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.fields import ChoiceState

Role: TypeAlias = Literal["claim", "marker", "insertion", "block"]

_ANNOTATIONS: dict[str, tuple[CitationKind, Role]] = {
    "url_citation": ("url", "marker"),
    "file_citation": ("file", "insertion"),
    "container_file_citation": ("file", "marker"),
    "file_path": ("file", "insertion"),
    "file": ("file", "insertion"),
    "document_citation": ("document", "claim"),
    "function_citation": ("other", "claim"),
}

LOCATIONS: dict[str, CitationKind] = {
    "web_search_result_location": "url",
    "char_location": "document",
    "page_location": "document",
    "content_block_location": "document",
    "search_result_location": "search-result",
}
"""Type of an Anthropic citation -> kind of our citation."""

GROUNDING: dict[str, CitationKind] = {
    "web": "url",
    "retrievedContext": "document",
    "maps": "other",
    "image": "other",
}
"""Key of the object in a chunk of Gemini's grounding -> kind of our citation."""

URLS = ("url", "uri", "link")
TITLES = ("title", "document_title", "filename", "name", "filepath")
EXCERPTS = ("cited_text", "content", "quote", "snippet", "text")


def annotation_list(choice: ChoiceState, value: Json, name: str) -> None:
    """Reads ``annotations``, flat or under their type, as OpenAI sends them. LiteLLM
    copies Gemini's byte offsets into them, and has Gemini's metadata beside them."""
    is_gemini = "vertex_ai_grounding_metadata" in choice.document
    for item in choice.objects(value, name):
        body = _body(item)
        start, end = _span(choice, body)
        url = first_text(body, URLS)
        if url:
            choice.placed |= {(url, start, end), (url, None, None)}
        kind, role = _ANNOTATIONS.get(
            type_of(item), ("url" if url else "other", "claim")
        )
        choice.parts.append(
            CitationPart(
                kind=kind,
                raw=item,
                choice=choice.index,
                role="claim" if is_gemini else role,
                anchor="none" if start is None else "offsets",
                start=start,
                end=end,
                unit="byte" if is_gemini else "code-point",
                url=url,
                title=first_text(body, TITLES),
                cited_text=first_text(body, EXCERPTS),
                document=document_id(body),
            )
        )


def citation(choice: ChoiceState, value: Json, name: str) -> None:
    """Reads one of Anthropic's citations in a stream of LiteLLM, before its text."""
    if isinstance(value, dict):
        choice.parts.append(_location(choice, value, "following"))
    else:
        choice.malformed(name, value)


def citation_lists(choice: ChoiceState, value: Json, name: str) -> None:
    """Reads the citations in a body of LiteLLM: a list for each cited block, with the
    block's text. The lists are in the order of the answer, so each text is searched for
    after the one before, until one is not found."""
    if not isinstance(value, list):
        choice.malformed(name, value)
        return
    content = choice.delta.get("content")
    answer = content if choice.is_whole and isinstance(content, str) else ""
    position = 0
    for group in value:
        items = [*choice.objects(group if isinstance(group, list) else [group], name)]
        text = first_text(items[0], ("supported_text",)) if items else None
        start = answer.find(text, position) if text else -1
        answer = answer if start >= 0 else ""
        position = start + len(text or "")
        for item in items:
            part = _location(choice, item, "none")
            if start >= 0:
                part = evolve(part, anchor="offsets", start=start, end=position)
            choice.parts.append(part)


def reference(choice: ChoiceState, part: JsonObject, name: str) -> None:
    """Reads Mistral's part ``reference``, which stands where it cites."""
    url = first_text(part, URLS)
    choice.parts.append(
        CitationPart(
            kind="url" if url else "other",
            raw=part,
            choice=choice.index,
            role="insertion",
            anchor="here",
            url=url,
            title=first_text(part, TITLES),
        )
    )


def _location(
    choice: ChoiceState, item: JsonObject, anchor: Literal["following", "none"]
) -> CitationPart:
    """Reads one of Anthropic's. Its offsets count in the source, not in the answer."""
    return CitationPart(
        kind=LOCATIONS.get(type_of(item), "other"),
        raw=item,
        choice=choice.index,
        anchor=anchor,
        url=first_text(item, ("url", "source")),
        title=first_text(item, TITLES),
        cited_text=first_text(item, EXCERPTS),
        document=document_id(item),
    )


def _body(item: JsonObject) -> JsonObject:
    """The fields of an annotation, and those under its type or ``*_citation``."""
    nested = item.get(type_of(item))
    if not isinstance(nested, dict):
        values = (item[name] for name in item if name.endswith("_citation"))
        nested = next((value for value in values if isinstance(value, dict)), {})
    return item | nested


def _span(choice: ChoiceState, body: JsonObject) -> tuple[int | None, int | None]:
    """Start and end of an annotation, equal for an insertion point; (None, None) if it
    has no place. OpenRouter sends 0 and 0 for no place."""
    start, end = _border(choice, body, "start"), _border(choice, body, "end")
    if start is not None and end is not None and 0 <= start < end:
        return start, end
    index = choice.number(body, "index")
    return (index, index) if index is not None and index >= 0 else (None, None)


def _border(choice: ChoiceState, body: JsonObject, name: str) -> int | None:
    long = choice.number(body, f"{name}_index")
    return choice.number(body, name) if long is None else long
