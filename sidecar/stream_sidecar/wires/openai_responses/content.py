"""Reads the texts of a Responses stream: answer, refusal, reasoning, citations.

A text of an item (a `TextField`) comes in fragments, in full when its part is done, and
in full again when the item is done. A repetition only adds what did not come before
(wires/README.md, "Responses"). Offsets of annotations count in their content part, in
code points (wires/README.md, "Citations").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from stream_sidecar.parts import (
    BlockEndPart,
    CitationPart,
    ReasoningPart,
    ReasoningStatePart,
    RefusalPart,
    TextPart,
)
from stream_sidecar.records import evolve, frozen
from stream_sidecar.values.jsontext import dumps
from stream_sidecar.wires.shared.citations import annotation_list
from stream_sidecar.wires.shared.fields import ChoiceState, type_of

if TYPE_CHECKING:
    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.openai_responses.items import OutputItem
    from stream_sidecar.wires.openai_responses.tools import Tools
    from stream_sidecar.wires.shared.document_wire import DocumentWire


@frozen
class TextField:
    """A kind of text in items. ``index``: the member with a part's number. ``whole``:
    the member with a part's whole text. ``separator``: stands between parts."""

    name: str
    index: str = "content_index"
    whole: str = "text"
    separator: str = ""


TEXT = TextField("text")
REFUSAL = TextField("refusal", whole="refusal")
#: half a surrogate pair, which no text has here: halves are replaced before
_BORDER = "\udfff"
#: each part of a summary is a thought: a block ends between two parts
SUMMARY = TextField("summary", "summary_index", separator=_BORDER)
RAW = TextField("raw")
ARGUMENTS = TextField("arguments", whole="arguments")
INPUT = TextField("arguments", whole="input")

WHOLE = ("agent_message", "additional_tools", "mcp_approval_response")
"""Types of state that have all of it in the item, so the server need not have it."""

CONTENT_CHANNELS = {
    "output_text": TEXT,
    "text": TEXT,
    "refusal": REFUSAL,
    "summary_text": SUMMARY,
    "reasoning_text": RAW,
}
"""Type of a part -> the text that it belongs to."""

_EVENT = ("type", "item_id", "call_id", "obfuscation")
"""Members of a fragment beside its text."""

_REASONING = (SUMMARY, RAW)
_FIELDS = ("reasoning", "mirror")
"""Field names for the two forms of reasoning; the second may repeat the first."""


GONE: JsonObject = {"type": "reasoning"}
"""What is left of a reasoning item that cannot go back: the server does not keep it,
and nothing in it is encrypted."""


class Content:
    """Reads the texts of items into the parts of ``wire``."""

    def __init__(self, wire: DocumentWire, tools: Tools) -> None:
        self.wire = wire
        self.tools = tools
        #: the answer's length so far, in code points
        self.length = 0
        #: the server keeps items, so that an item can go back by its id alone
        self.is_stored = True
        self._has_ids = False  # a reasoning item goes back by its id

    def delta(self, item: OutputItem, channel: TextField, value: JsonObject) -> None:
        """Reads a fragment of a text."""
        text = self.wire.text(value, "delta")
        if text:
            so_far = item.text(channel.name, channel.separator)
            self._add_text(item, channel, so_far.add(text, _index(value, channel)))
        elif "delta" not in value:
            self.wire.unused("event", value, _EVENT, len(self.wire.parts))

    def done(self, item: OutputItem, channel: TextField, value: JsonObject) -> None:
        """Reads a part's whole text."""
        text = self.wire.text(value, channel.whole)
        item.has_arguments = channel in (ARGUMENTS, INPUT) and bool(text)
        self._fill(item, channel, text, value)

    def part_added(
        self, item: OutputItem, channel: TextField, value: JsonObject
    ) -> None:
        """Reads the beginning of a part. Its annotations count from there."""
        index = _index(value, channel)
        if channel is TEXT and index is not None:
            item.text(TEXT.name).begin(index)

    def part_done(
        self, item: OutputItem, channel: TextField, value: JsonObject
    ) -> None:
        part = self.wire.body(value, "part")
        self._fill(item, channel, self.wire.text(part, channel.whole), value)
        for annotation in self.wire.objects(part, "annotations"):
            self._cite(item, annotation, self._base(item, value))

    def annotation(
        self, item: OutputItem, _channel: TextField, value: JsonObject
    ) -> None:
        self._cite(item, self.wire.body(value, "annotation"), self._base(item, value))

    def finish(self, item: OutputItem, body: JsonObject, *, cut: bool) -> None:
        """Reads a finished message or reasoning item, or one that was cut off."""
        wholes: dict[TextField, list[str]] = {}
        size, cited = 0, []
        for name in ("summary", "content"):
            for part in self.wire.objects(body, name):
                channel = CONTENT_CHANNELS.get(type_of(part))
                if channel is TEXT and item.family == "reasoning":
                    channel = RAW  # a gateway's name for it (mudler/LocalAI#9658)
                if channel is None:
                    self.wire.ignored(name, part)
                    continue
                text = self.wire.text(part, channel.whole)
                wholes.setdefault(channel, []).append(text)
                if channel is TEXT:
                    cited.append((part, item.base + size))
                    size += len(text)
        for channel, texts in wholes.items():
            whole = channel.separator.join(filter(None, texts))
            self._fill(item, channel, whole, None)
        for part, base in cited:
            for annotation in self.wire.objects(part, "annotations"):
                self._cite(item, annotation, base)
        if item.family == "reasoning" and not cut:
            self.keep(item, body)
        # The next request must repeat the phase (OpenAI, "Reasoning models", phase).
        state = {name: body[name] for name in ("id", "phase") if body.get(name)}
        opaque = state if "phase" in state else None
        self.wire.parts.append(BlockEndPart(block=item.key, opaque=opaque))

    def keep(self, item: OutputItem, body: JsonObject) -> None:
        """Adds the state of a reasoning item, which must go back: the item if it is
        whole or encrypted, or its id if the server keeps it. Otherwise adds `GONE`:
        then the items that it led to cannot go back by their ids."""
        if body.get("encrypted_content") or type_of(body) in WHOLE:
            self._state(item.key, body)
        elif body.get("id"):
            self._has_ids = True
            self._state(item.key, body if self.is_stored else GONE)

    def forget(self) -> None:
        """Notes that the server keeps no items. It may say so only at the end."""
        if self.is_stored and self._has_ids:
            self._state("gone", GONE)
        self.is_stored = False

    def _state(self, key: str, opaque: JsonObject) -> None:
        self.wire.parts.append(ReasoningStatePart(opaque=opaque, block=key))

    def _fill(
        self, item: OutputItem, channel: TextField, whole: str, value: JsonObject | None
    ) -> None:
        """Adds the end of ``whole`` that did not come in fragments. ``value``: the
        event, which names the part; None: ``whole`` is the text of all parts."""
        if not whole:
            return
        so_far = item.text(channel.name, channel.separator)
        if value is None:
            text = so_far.finish_all(whole)
        else:
            text = so_far.finish(whole, _index(value, channel))
        if text is None:
            reason = "is not what its fragments were"
            self.wire.malformed(channel.whole, whole, reason)
        elif text:
            self._add_text(item, channel, text)

    def _add_text(self, item: OutputItem, channel: TextField, text: str) -> None:
        self._ADDERS[channel.name](self, item, channel, text)

    def _say(self, _item: OutputItem, _channel: TextField, text: str) -> None:
        self.length += len(text)
        self.wire.parts.append(TextPart(text))

    def _refused(self, _item: OutputItem, _channel: TextField, text: str) -> None:
        self.wire.parts.append(RefusalPart(text))

    def _think(self, item: OutputItem, channel: TextField, text: str) -> None:
        name = next(n for n in item.texts if item.texts[n].length)
        field = _FIELDS[channel.name != name]
        for number, thought in enumerate(text.split(_BORDER)):
            if number:
                self.wire.parts.append(BlockEndPart(block=item.key))
            if thought:
                self.wire.parts.append(ReasoningPart(thought, field, block=item.key))

    def _arguments(self, item: OutputItem, _channel: TextField, text: str) -> None:
        self.tools.fragment(item, text)

    _ADDERS: ClassVar = {
        TEXT.name: _say,
        REFUSAL.name: _refused,
        SUMMARY.name: _think,
        RAW.name: _think,
        ARGUMENTS.name: _arguments,
    }

    def _base(self, item: OutputItem, value: JsonObject) -> int:
        return item.base + item.text(TEXT.name).start_of(_index(value, TEXT))

    def _cite(self, item: OutputItem, annotation: JsonObject, base: int) -> None:
        """Adds an annotation once. It comes up to three times: with its item, too."""
        key = dumps(annotation)
        if not annotation or key in item.cited:
            return
        item.cited.add(key)
        holder = ChoiceState(0)
        annotation_list(holder, [annotation], "annotations")
        for part in holder.parts:
            if isinstance(part, CitationPart):
                part = evolve(part, base=base)
            self.wire.parts.append(part)


def _index(value: JsonObject, channel: TextField) -> int | None:
    index: Json = value.get(channel.index)
    return index if type(index) is int else None
