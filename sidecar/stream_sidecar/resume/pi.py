"""The sessions of pi as the requests that it sends.

Entries (``{"type", "id", "parentId"}``) form a tree. What leads from the root to the
last entry is sent, with a summary in place of what came before ``firstKeptEntryId`` of
the last compaction. A message names its API, provider and model. pi sends a result for
a call without one, and no answer that failed or was aborted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.resume.conversation import (
    LeftOut,
    ResumedConversation,
    SentItem,
    StoredPlace,
)
from stream_sidecar.resume.findings import FileEdit
from stream_sidecar.resume.records import members
from stream_sidecar.resume.stored import Stored, call_places
from stream_sidecar.values.jsontext import dumps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.resume.records import StoredRecord
    from stream_sidecar.values.json_places import Path

PI_HEALS = {"call-without-result": 'pi sends the result "No result provided"'}

PI_READS = {
    "": members(
        *("type", "id", "parentId", "message", "summary"),
        *("firstKeptEntryId", "modelId", "provider"),
    )
}

_WIRES = {
    "anthropic-messages": "anthropic",
    "openai-responses": "openai-responses",
    "openai-codex-responses": "openai-responses",
    "azure-openai-responses": "openai-responses",
}
"""pi's name of an API -> the wire that judges it; others are read as Chat
Completions, whose rules all of them share."""

_ENTRIES = ("message", "compaction", "branch_summary", "model_change", "custom_message")
_ROLES = ("user", "assistant", "toolResult")
_FAILED = ("error", "aborted")
_NO_PARENT = "its parent is in no record, so pi sends nothing that came before it"


def fits(value: Json) -> bool:
    if not isinstance(value, dict) or "parentId" not in value:
        return False
    if value.get("type") not in _ENTRIES or "data" in value:
        return False
    message = value.get("message")
    return message is None or (
        isinstance(message, dict) and message.get("role") in _ROLES
    )


def conversations(records: Sequence[StoredRecord]) -> Iterator[ResumedConversation]:
    chain, cut = _chain([Stored.of(record) for record in records])
    messages = [message for each in chain if (message := _message(each)).members]
    answers = [each for each in messages if each.at("api").text]
    last = answers[-1] if answers else None
    changes = [each for each in chain if each.at("type").text == "model_change"]
    model = last.at("model").text if last else ""
    provider = last.at("provider").text if last else ""
    if changes and (not last or changes[-1].record.number > last.record.number):
        model = changes[-1].at("modelId").text
        provider = changes[-1].at("provider").text
    wire = _WIRES.get(last.at("api").text if last else "", "openai-chat")
    sent = [each for each in messages if each.at("stopReason").text not in _FAILED]
    write = _WRITERS[wire]
    items = [
        _placed(item, each)
        for each in sent
        for item in write(each, each.at("model").text == model)
    ]
    yield ResumedConversation(
        wire=wire,
        provider=provider,
        model=model,
        items=tuple(_joined(items) if wire == "anthropic" else items),
        left_out=tuple(cut),
        settings={"store": False} if wire == "openai-responses" else {},
    )


def without_item(source: StoredPlace) -> tuple[FileEdit, ...]:
    """What takes a message, or a part of one, out of the file. The entry of a message
    stays, because others name it: as one of the type "custom", which is not sent.
    ``source``: of the message, of the part or of a value in it."""
    start = len(source.record.path)
    rest = source.path[start:]
    if rest[:2] == ("message", "content") and len(rest) > 2:
        return (FileEdit(StoredPlace(source.record, source.path[: start + 3])),)
    kind = StoredPlace(source.record, (*source.path[:start], "type"))
    return (FileEdit(kind, '"custom"'),)


def _chain(entries: Sequence[Stored]) -> tuple[list[Stored], list[LeftOut]]:
    """The entries that are sent, and the link that leads nowhere."""
    nodes = [
        each for each in entries if each.at("id").text and "parentId" in each.members
    ]
    by_id = {each.at("id").text: each for each in nodes}
    chain: list[Stored] = []
    id = nodes[-1].at("id").text if nodes else ""
    while node := by_id.pop(id, None):
        chain.insert(0, node)
        id = node.at("parentId").text
    cut: list[LeftOut] = []
    before = nodes[: nodes.index(chain[0])] if chain else []
    known = {each.at("id").text for each in nodes}
    if id and id not in known and any(each.at("message").members for each in before):
        link = chain[0].at("parentId").source
        edit = FileEdit(link, dumps(before[-1].at("id").text))
        cut.append(LeftOut(link, _NO_PARENT, edits=(edit,)))
    return _after_compaction(chain), cut


def _after_compaction(chain: list[Stored]) -> list[Stored]:
    numbers = range(len(chain) - 1, -1, -1)
    last = next((n for n in numbers if chain[n].at("type").text == "compaction"), None)
    if last is None:
        return chain
    ids = [each.at("id").text for each in chain[:last]]
    first = chain[last].at("firstKeptEntryId").text
    kept = chain[ids.index(first) : last] if first in ids else []
    return [chain[last], *kept, *chain[last + 1 :]]


def _message(entry: Stored) -> Stored:
    """The message of an entry; of a compaction, its summary as the user's words."""
    summary = entry.at("summary")
    if not summary.text:
        is_message = entry.at("type").text == "message"
        return entry.at("message") if is_message else entry.at("")
    value = {"role": "user", "content": summary.text}
    return Stored(entry.record, entry.path, value)


def _placed(item: SentItem, message: Stored) -> SentItem:
    """``item`` with the place of a content that is stored as a string."""
    content = message.at("content")
    if not content.text:
        return item
    summary = Stored.of(message.record).at("summary")
    source = summary.source if summary.text else content.source
    places: dict[Path, StoredPlace] = {("content", 0, "text"): source}
    return SentItem(item.item, item.source, (source,), places)


# --- Items ----------------------------------------------------------------------------


def _messages(message: Stored, is_own: bool) -> Iterator[SentItem]:
    """Anthropic's Messages API."""
    content: list[JsonObject] = []
    parts: list[StoredPlace] = []
    places: dict[Path, StoredPlace] = {}
    role = message.at("role").text
    if role == "toolResult":
        result = {
            "type": "tool_result",
            "tool_use_id": _call_id(message.at("toolCallId")),
            "content": _result(message),
        }
        place: Path = ("content", 0, "tool_use_id")
        id = message.at("toolCallId").source
        item: JsonObject = {"role": "user", "content": [result]}
        yield SentItem(item, message.source, (message.source,), {place: id})
        return
    for part in _parts(message, is_own):
        value, kind = part.members, part.at("type").text
        if kind == "toolCall":
            places["content", len(content), "input"] = part.at("arguments").source
            value = {
                "type": "tool_use",
                "id": _call_id(part.at("id")),
                "name": value.get("name"),
                "input": value.get("arguments"),
            }
        elif kind == "thinking":
            value = _thinking(part)
            name = "data" if part.at("redacted").value else "signature"
            seal = part.at("thinkingSignature").source
            places["content", len(content), name] = seal
        elif kind == "image":
            value = {"type": "image", "source": _image(part)}
        content.append(value)
        parts.append(part.source)
    if content:
        item = {"role": role, "content": content}
        yield SentItem(item, message.source, tuple(parts), places)


def _joined(items: list[SentItem]) -> Iterator[SentItem]:
    """Results in a row are one turn."""
    earlier: SentItem | None = None
    for item in items:
        if earlier and _has_results(earlier) and _has_results(item):
            count = len(earlier.parts)
            moved = {
                (path[0], count, *path[2:]): place
                for path, place in item.places.items()
            }
            content = [*earlier.item["content"], *item.item["content"]]
            earlier = SentItem(
                {"role": "user", "content": content},
                earlier.source,
                (*earlier.parts, *item.parts),
                {**earlier.places, **moved},
            )
            continue
        if earlier:
            yield earlier
        earlier = item
    if earlier:
        yield earlier


def _has_results(item: SentItem) -> bool:
    return bool(item.item["content"][0].get("type") == "tool_result")


def _chat(message: Stored, is_own: bool) -> Iterator[SentItem]:
    """Chat Completions."""
    role = message.at("role").text
    if role == "toolResult":
        id = message.at("toolCallId")
        item = {"role": "tool", "tool_call_id": id.value, "content": _result(message)}
        yield SentItem(item, message.source, places={("tool_call_id",): id.source})
        return
    content: list[JsonObject] = []
    calls: list[JsonObject] = []
    parts: list[StoredPlace] = []
    places: dict[Path, StoredPlace] = {}
    for part in _parts(message, is_own):
        kind = part.at("type").text
        if kind == "toolCall":
            places |= call_places(len(calls), part, "id", "arguments")
            calls.append(_function(part))
        elif kind in ("text", "image"):
            source = _image(part)
            url = f"data:{source['media_type']};base64,{source['data']}"
            image = {"type": "image_url", "image_url": {"url": url}}
            content.append(part.members if kind == "text" else image)
            parts.append(part.source)
    if role == "assistant":
        yield from _chat_answer(message, content, parts, calls, places)
    elif content:
        yield SentItem({"role": role, "content": content}, message.source, tuple(parts))


def _chat_answer(
    message: Stored,
    content: list[JsonObject],
    parts: list[StoredPlace],
    calls: list[JsonObject],
    places: dict[Path, StoredPlace],
) -> Iterator[SentItem]:
    """An answer, whose texts are sent as one string."""
    text = "".join(part.get("text", "") for part in content)
    if len(parts) == 1:
        places[("content",)] = StoredPlace(parts[0].record, (*parts[0].path, "text"))
    if text or calls:
        item: JsonObject = {"role": "assistant", "content": text or None}
        item |= {"tool_calls": calls} if calls else {}
        yield SentItem(item, message.source, places=places)


def _responses(message: Stored, is_own: bool) -> Iterator[SentItem]:
    """The Responses API."""
    role = message.at("role").text
    if role == "toolResult":
        id = message.at("toolCallId")
        output = {"type": "function_call_output", "output": _result(message)}
        output["call_id"] = _call_id(id)
        yield SentItem(output, message.source, places={("call_id",): id.source})
        return
    for part in _parts(message, is_own):
        kind = part.at("type").text
        if kind == "toolCall":
            call = _function(part)["function"]
            id = part.at("id")
            item: JsonObject = {
                "type": "function_call",
                "call_id": _call_id(id),
                **call,
            }
            yield SentItem(item, part.source, places={("call_id",): id.source})
        elif kind == "text":
            name = "output_text" if role == "assistant" else "input_text"
            text = {"type": name, "text": part.at("text").text}
            item = {"type": "message", "role": role, "content": [text]}
            yield SentItem(item, message.source, (part.source,))


def _parts(message: Stored, is_own: bool) -> Iterator[Stored]:
    """The parts that are sent as what they are: no blank texts. Thinking without a
    signature, or of another model (not ``is_own``), is sent as a text or not at all."""
    content = message.at("content")
    if content.text.strip():
        text = {"type": "text", "text": content.text}
        yield Stored(content.record, content.path, text)
    for part in content.items():
        kind = part.at("type").text
        if kind == "thinking" and not is_own:
            continue
        needs = {"text": "text", "thinking": "thinkingSignature"}.get(kind)
        if part.members and (needs is None or part.at(needs).text.strip()):
            yield part


def _thinking(part: Stored) -> JsonObject:
    seal = part.at("thinkingSignature").text
    if part.at("redacted").value:
        return {"type": "redacted_thinking", "data": seal}
    thinking = part.at("thinking").text
    return {"type": "thinking", "thinking": thinking, "signature": seal}


def _function(part: Stored) -> JsonObject:
    function = {
        "name": part.at("name").value,
        "arguments": dumps(part.at("arguments").value or {}),
    }
    return {"id": part.at("id").value, "type": "function", "function": function}


def _call_id(id: Stored) -> str:
    """pi's id of a call on Responses is that of the call and that of its item."""
    return id.text.split("|")[0]


def _result(message: Stored) -> str:
    """A result that has no text is sent as one that says so."""
    texts = [part.at("text").text for part in message.at("content").items()]
    return "\n".join(texts).strip() or "(no output)"


def _image(part: Stored) -> JsonObject:
    return {
        "type": "base64",
        "media_type": part.at("mimeType").value,
        "data": part.at("data").value,
    }


_WRITERS: Mapping[str, Callable[[Stored, bool], Iterator[SentItem]]] = {
    "anthropic": _messages,
    "openai-chat": _chat,
    "openai-responses": _responses,
}
