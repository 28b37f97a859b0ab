"""Writes chunks and bodies of generateContent: the reverse of ``reader``.

A document has one Part. Calls are written whole, as Google sends them. An incomplete
call is left out; a finish that would hide this becomes ``MALFORMED_FUNCTION_CALL``.
Tools of other providers become ``toolCall`` and ``toolResponse``. Sources come with the
finish. For what is not written see wires/README.md, "Writers".
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar

from stream_sidecar.parts import Chunk
from stream_sidecar.records import define, evolve, field
from stream_sidecar.values.jsontext import portable
from stream_sidecar.wires.gemini.content import SIGNATURE, signature_of
from stream_sidecar.wires.shared.open_items import OpenItems
from stream_sidecar.wires.shared.writing import (
    ChunkWriter,
    KeptText,
    input_of,
    repeated_head,
)

if TYPE_CHECKING:
    from stream_sidecar import events
    from stream_sidecar.parts import Json, JsonObject

ERROR_STATUSES = {
    "auth": (401, "UNAUTHENTICATED"),
    "permission": (403, "PERMISSION_DENIED"),
    "billing": (402, "INSUFFICIENT_QUOTA"),
    "rate-limit": (429, "RESOURCE_EXHAUSTED"),
    "overloaded": (503, "UNAVAILABLE"),
    "context-length": (413, "REQUEST_TOO_LARGE"),
    "invalid-request": (400, "INVALID_ARGUMENT"),
    "not-found": (404, "NOT_FOUND"),
    "timeout": (504, "DEADLINE_EXCEEDED"),
    "cancelled": (499, "CANCELLED"),
}
"""Kind of an error -> its status code and status word; other kinds get those of a
server's error."""

_SERVER = (500, "INTERNAL")
_LATEST_TIME = 253_402_300_800
"""The year 10000, in seconds since 1970."""

_MALFORMED = "MALFORMED_FUNCTION_CALL"
_RAW = ("executableCode", "codeExecutionResult", "toolCall", "toolResponse")
"""Members of parts that belong to the server's tools."""


@define
class _Candidate:
    """What was written for one candidate, and what waits for its finish."""

    text: KeptText = field(factory=KeptText)
    citations: list[events.Citation] = field(factory=list)
    #: the explanation of a refusal
    refused: str = ""
    items: OpenItems[None, None] = field(factory=OpenItems)


class GeminiWriter(ChunkWriter):
    """Writes GenerateContentResponse documents (see the module's docstring)."""

    words: ClassVar = {
        "stop": "STOP",
        "tool-calls": "STOP",
        "length": "MAX_TOKENS",
        "context-length": "MAX_TOKENS",
        "content-filter": "SAFETY",
        "refusal": "PROHIBITED_CONTENT",
        "pause": "MAX_TOKENS",
        "unknown": "FINISH_REASON_UNSPECIFIED",
        "malformed": "MALFORMED_FUNCTION_CALL",
        "error": "OTHER",
    }

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._candidates: defaultdict[int, _Candidate] = defaultdict(_Candidate)
        self._failed = False
        self._short: JsonObject = {}
        self._head = self._short

    def describe(self, event: events.Metadata) -> None:
        super().describe(event)
        self._head = {}
        if self.model:
            self._head["modelVersion"] = self.model
        if self.id:
            self._head["responseId"] = self.id
        if time := _rfc_3339(self.created):
            self._head["createTime"] = time
        self._short = repeated_head(self._head)

    def usage_object(self) -> JsonObject:
        """The counts, without details whose words are numbers (``enum-encoding=int``)
        and without an interaction's names: no SDK reads these."""
        raw = None if self.usage is None else self.usage.raw
        if self.usage is not None and isinstance(raw, dict) and "total_tokens" in raw:
            self.usage = evolve(self.usage, raw=None)
        usage = super().usage_object()
        return {name: usage[name] for name in usage if not _has_numbers(usage[name])}

    def end(self, finishes: list[events.Finish]) -> None:
        for finish in finishes:
            self._end(finish)
        usage = self.usage_object()
        if not self.chunks and (usage or self._head is not self._short):
            self.chunks.append(Chunk({**self._head}))
        if usage:
            self.chunks[-1]["usageMetadata"] = usage

    @classmethod
    def fold(cls, chunks: list[Chunk]) -> Chunk:
        """The whole body. If the response failed, it is only the last error."""
        body: JsonObject = {}
        candidates: dict[int, JsonObject] = {}
        for chunk in chunks:
            body |= chunk
            for candidate in chunk.get("candidates", ()):
                index = candidate["index"]
                whole = candidates.setdefault(index, {"content": _content([])})
                parts = candidate.get("content", {}).get("parts", [])
                whole["content"]["parts"] += parts
                whole |= {n: candidate[n] for n in candidate if n != "content"}
        if "error" in body:
            return Chunk({"error": body["error"]})
        if candidates:
            body["candidates"] = [candidates[index] for index in sorted(candidates)]
        return Chunk(body)

    # Events

    def text(self, event: events.TextDelta) -> None:
        self.places.push(event)
        self._candidates[event.choice].text.add(event.text)
        self._part(event.choice, {"text": event.text})

    def reasoning(self, event: events.ReasoningDelta) -> None:
        self._part(event.choice, {"text": event.text, "thought": True})

    def block_end(self, event: events.BlockEnd) -> None:
        state = event.opaque if isinstance(event.opaque, dict) else {}
        if isinstance(state.get(SIGNATURE), str):
            self._part(event.choice, {"text": "", SIGNATURE: state[SIGNATURE]})
        elif event.signature and self.is_own:
            signed = {"text": "", "thought": True, SIGNATURE: event.signature}
            self._part(event.choice, signed)

    def call(self, event: events.ToolCall) -> None:
        self._candidates[event.choice].items.end_call(event)
        if event.state != "complete":
            return
        if event.executor == "server":
            self._part(event.choice, self._server_call(event))
            return
        id = {} if event.id_synthetic else {"id": event.tool_call_id}
        call = {**id, "name": event.name, "args": input_of(event)}
        self._part(event.choice, {"functionCall": call, **signature_of(event.opaque)})

    def _server_call(self, event: events.ToolCall) -> JsonObject:
        if self.is_own and _is_part(event.raw):
            part: JsonObject = portable(event.raw)
            return part
        call = {"id": event.tool_call_id, "toolType": event.name}
        return {"toolCall": call | {"args": input_of(event)}}

    def result(self, event: events.ToolResult) -> None:
        if self.is_own and _is_part(event.raw):
            self._part(event.choice, portable(event.raw))
            return
        answer = {"id": event.tool_call_id or "", "toolType": event.name or ""}
        content = portable(event.content)
        if not isinstance(content, dict):
            content = {"result": content}
        self._part(event.choice, {"toolResponse": answer | {"response": content}})

    def cite(self, event: events.Citation) -> None:
        self._candidates[event.choice].citations.append(event)

    def fail(self, event: events.ProviderError) -> None:
        if event.provider_type == "refusal":
            self._candidates[event.choice].refused = event.message
            return
        self._failed = True
        error = self.own_error(event)
        if not isinstance(error, dict) or not isinstance(error.get("code"), int):
            code, status = ERROR_STATUSES.get(event.kind, _SERVER)
            error = {"code": code, "message": event.message, "status": status}
        self.chunks.append(Chunk({"error": error}))

    # Documents

    def _part(self, choice: int, part: JsonObject) -> None:
        self._write({"content": _content([part]), "index": choice})

    def _write(self, candidate: JsonObject) -> None:
        self.chunks.append(Chunk({"candidates": [candidate], **self._head}))
        self._head = self._short

    def _end(self, finish: events.Finish) -> None:
        state, candidate = self._candidates[finish.choice], {"index": finish.choice}
        is_failed = self._failed and finish.reason == "error"
        document: JsonObject = candidate
        if self.is_end_known(finish) and not is_failed:
            document = document | {"finishReason": self._word(finish, state)}
        if state.refused:
            document = document | {"finishMessage": state.refused}
        if state.citations:
            document = document | {"groundingMetadata": self._grounding(state)}
        if document != candidate:
            self._write(document)

    def _word(self, finish: events.Finish, state: _Candidate) -> str:
        if not (finish.raw or "").isupper():
            finish = evolve(finish, raw=None)  # a word of the Interactions API
        is_stop = finish.reason in ("stop", "tool-calls")
        is_hidden = is_stop and state.items.cut_calls and not state.items.whole_calls
        return _MALFORMED if is_hidden else self.finish_word(finish)

    def _grounding(self, state: _Candidate) -> JsonObject:
        """The grounding metadata: each source once, and the claims that each backs."""
        chunks: list[JsonObject] = []
        numbers: dict[tuple[str | None, ...], int] = {}
        supports = []
        text = state.text.join()
        for citation in state.citations:
            url, title = self.cited(citation)
            key = url, title, None if url else citation.cited_text
            number = numbers.get(key)
            if number is None:
                number = numbers[key] = len(chunks)
                chunks.append(self._source(citation))
            place = self.places.find(citation)
            if place is not None and text is not None:
                supports.append((*place, number))
        metadata: JsonObject = {"groundingChunks": chunks}
        if supports and text is not None:
            metadata["groundingSupports"] = _supports(supports, text)
        return metadata

    def _source(self, citation: events.Citation) -> JsonObject:
        url, title = self.cited(citation)
        source = {"uri": url, "title": title}
        if citation.kind == "document" or not url:
            source["text"] = citation.cited_text
        body = {name: value for name, value in source.items() if value is not None}
        return {"retrievedContext" if "text" in body or not url else "web": body}


def _content(parts: list[JsonObject]) -> JsonObject:
    return {"parts": parts, "role": "model"}


def _is_part(raw: Json) -> bool:
    return isinstance(raw, dict) and not raw.keys().isdisjoint(_RAW)


def _has_numbers(details: Json) -> bool:
    items = details if isinstance(details, list) else ()
    words = (item.get("modality", "") for item in items if isinstance(item, dict))
    return not all(isinstance(word, str) for word in words)


def _supports(places: list[tuple[int, int, int]], text: str) -> list[JsonObject]:
    """The ``places`` with offsets in bytes. ``text`` is read only once."""
    bytes_at: dict[int, int] = {}
    position = size = 0
    for edge in sorted({edge for start, end, _ in places for edge in (start, end)}):
        size += len(text[position:edge].encode("utf-8", "replace"))
        position = edge
        bytes_at[edge] = size
    return [
        {
            "segment": {"startIndex": bytes_at[start], "endIndex": bytes_at[end]},
            "groundingChunkIndices": [number],
        }
        for start, end, number in places
    ]


def _rfc_3339(seconds: int) -> str:
    """A time as Google writes it; "" for 0 and for times after the year 9999."""
    if not 0 < seconds < _LATEST_TIME:
        return ""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
