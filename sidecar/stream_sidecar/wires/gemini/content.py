"""The content of one Gemini candidate: its parts, in their order.

`PART_READERS` lists what is read from a part. A signature (``thoughtSignature``) may
stand on any part and does not make it a thought. It goes back with its call, with the
thought, or as state of its own (wires/README.md, "generateContent and Interactions").
Only function calls are for the client.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.parts import (
    CallEndPart,
    CallPart,
    ReasoningPart,
    ReasoningStatePart,
    ResultPart,
    TextPart,
)
from stream_sidecar.records import define, evolve, field
from stream_sidecar.values.crowd import is_crowd
from stream_sidecar.values.pythonic import parse_calls
from stream_sidecar.wires.gemini.arguments import PartialArguments
from stream_sidecar.wires.gemini.sources import Sources

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.document_wire import DocumentWire

SIGNATURE, THOUGHT = "thoughtSignature", "thought"
SIGNATURES = (SIGNATURE, "thought_signature")
"""Names of a part's signature in requests. A part with one is never edited."""
_CODE = "code_execution"
_CODE_WORKED = "OUTCOME_OK"
_REFUSED = patterns.compile(r"(?<!\s)\s*+malformed function call:?", re.IGNORECASE)
"""Matches the text before a call in ``finishMessage``."""


@define
class _StreamedCall:
    """A call whose arguments come in pieces."""

    key: str
    arguments: PartialArguments = field(factory=PartialArguments)


class GeminiCandidate:
    """The state of one candidate that lasts from document to document."""

    def __init__(self, wire: DocumentWire, index: int) -> None:
        self.wire = wire
        self.index = index
        self.sources = Sources(wire, index, self._base_of)
        self._length = 0  # the answer's length so far, in code points
        self._starts: list[int] = []  # ``_length`` where each Part of the content began
        self._kind = ""  # the kind of the last Part
        self._count = 0
        self._called = False
        self._streamed: _StreamedCall | None = None
        #: name of a server's tool -> keys of its calls that have no result yet
        self._awaited: defaultdict[str, deque[str]] = defaultdict(deque)

    def read(self, content: JsonObject) -> None:
        """Reads the parts of a chunk or whole body. Text continues across chunks."""
        is_first = True
        for part in self.wire.objects(content, "parts"):
            kind = "thought" if part.get("thought") is True else ""
            names = [n for n in part if n in PART_READERS and part[n] is not None]
            if len(names) > 1:
                names.sort(key=_ORDER)
            self._stand(kind + "".join(names[:1]), is_first)
            is_first = False
            for name in names:
                PART_READERS[name](self, part, name)
            if not names:
                self._bare(part)

    def end_call(self, *, whole: bool = False, cut: bool = False) -> None:
        """Ends the streamed call. ``whole``: the provider says that it is complete.
        ``cut``: the model was stopped. If neither, it is cut if a string is open."""
        call, self._streamed = self._streamed, None
        if call is None:
            return
        arguments, choice, key = call.arguments, self.index, call.key
        is_cut = cut or (arguments.continues and not whole)
        if not arguments.in_order:
            # The whole text; if it was cut off, without its last character.
            text = arguments.close()[: -1 if is_cut else None]
            self.wire.parts.append(CallPart(choice, key, arguments=text, whole=True))
            return
        if text := "" if is_cut else arguments.close():
            self.wire.parts.append(CallPart(choice, key, arguments=text))
        self.wire.parts.append(CallEndPart(choice, key, cut=is_cut))

    def refused(self, quote: str) -> None:
        """Reads a call that the provider could not parse: ``finishMessage`` quotes it.
        It is only a claim, and is ignored if the content has a call."""
        try:
            calls = [] if self._called else parse_calls(_REFUSED.sub("", quote, 1))
        except ValueError:
            return
        if is_crowd(len(calls), len(quote)):
            return
        raw: str | None = quote
        for name, arguments, _ in calls:
            part = CallPart(self.index, self._key(), name=name, arguments=arguments)
            part = evolve(part, origin="finish-message", raw=raw, whole=True)
            self.wire.parts.append(part)
            raw = None  # only the first call has it

    def say(self, text: str) -> None:
        """Adds a piece of the answer."""
        if text:
            self._length += len(text)
            self.wire.parts.append(TextPart(text, self.index))

    def _stand(self, kind: str, is_first: bool) -> None:
        """Counts the parts of the answer across chunks. The first part of a chunk
        (``is_first``) continues the part before it if both have the same ``kind``."""
        if not is_first or kind != self._kind:
            self._starts.append(self._length)
        self._kind = kind

    def _base_of(self, number: int | None) -> int:
        is_known = number is not None and number < len(self._starts)
        return self._starts[number or 0] if is_known else 0

    def _key(self) -> str:
        self._count += 1
        return f"part:{self._count}"

    # Parts

    def _text(self, part: JsonObject, name: str) -> None:
        text = self.wire.text(part, name)
        if text:
            self.end_call()
        if part.get(THOUGHT) is not True:
            self.say(text)
        elif text:
            self.wire.parts.append(ReasoningPart(text, THOUGHT, self.index))
        if SIGNATURE in part:
            self._sign(part)

    def _bare(self, part: JsonObject) -> None:
        if SIGNATURE in part:
            self._sign(part)
        elif part:
            self.wire.ignored("parts", part)

    def _sign(self, part: JsonObject) -> None:
        """Adds the signature of a thought, or of another part, without a block yet."""
        signature = self.wire.text(part, SIGNATURE)
        if signature and part.get("thought") is True:
            state = ReasoningStatePart(self.index, signature, field=THOUGHT)
            self.wire.parts.append(state)
        elif signature:
            opaque, block = {SIGNATURE: signature}, self._key()
            state = ReasoningStatePart(self.index, opaque=opaque, block=block)
            self.wire.parts.append(state)

    def _function_call(self, part: JsonObject, name: str) -> None:
        call = self.wire.body(part, name)
        continues = call.get("willContinue") is True
        is_full = call.get("args") is not None
        if self.wire.text(call, "name") or is_full:
            self.end_call()
            is_part = continues or bool(call.get("partialArgs"))
            self._begin(part, call, whole=is_full or not is_part)
        elif self._streamed is None:
            if call:
                self.wire.malformed(name, call, "continues no call")
            return
        for entry in self.wire.objects(call, "partialArgs"):
            self._argument(entry)
        if not continues:
            self.end_call(whole=True)

    def _begin(self, part: JsonObject, call: JsonObject, *, whole: bool) -> None:
        self._called = True
        key = self._key()
        self.wire.parts.append(
            CallPart(
                choice=self.index,
                key=key,
                id=self.wire.text(call, "id"),
                name=self.wire.text(call, "name"),
                arguments=call.get("args"),
                type="functionCall",
                opaque=_opaque(part),
                whole=whole,
            )
        )
        if not whole:
            self._streamed = _StreamedCall(key)

    def _argument(self, entry: JsonObject) -> None:
        call = self._streamed
        text = None if call is None else call.arguments.push(entry)
        if call is None or text is None:
            self.wire.malformed("partialArgs", entry, "leads to no place for a value")
        elif text:
            self.wire.parts.append(CallPart(self.index, call.key, arguments=text))

    def _code(self, part: JsonObject, name: str) -> None:
        code = self.wire.body(part, name)
        value = {field: code[field] for field in code if field != "id"}
        self._server_call(part, name, code, _CODE, value)

    def _tool_call(self, part: JsonObject, name: str) -> None:
        call = self.wire.body(part, name)
        tool = self.wire.text(call, "toolType")
        self._server_call(part, name, call, tool, call.get("args"))

    def _server_call(
        self, part: JsonObject, type: str, call: JsonObject, tool: str, value: Json
    ) -> None:
        self.end_call()
        key = self._key()
        self._awaited[tool].append(key)
        self.wire.parts.append(
            CallPart(
                choice=self.index,
                key=key,
                id=self.wire.text(call, "id"),
                name=tool,
                arguments=value,
                type=type,
                executor="server",
                opaque=_opaque(part),
                raw=part,
                whole=True,
            )
        )

    def _code_result(self, part: JsonObject, name: str) -> None:
        result = self.wire.body(part, name)
        content = {field: result[field] for field in result if field != "id"}
        is_error = self.wire.text(result, "outcome") not in ("", _CODE_WORKED)
        self._result(part, result, _CODE, content, is_error)

    def _tool_response(self, part: JsonObject, name: str) -> None:
        body = self.wire.body(part, name)
        tool = self.wire.text(body, "toolType") or self.wire.text(body, "name")
        self._result(part, body, tool, body.get("response"), None)

    def _result(
        self,
        part: JsonObject,
        body: JsonObject,
        tool: str,
        content: Json,
        is_error: bool | None,
    ) -> None:
        """Pairs a result with its call by id, else by order. Some have several."""
        self.end_call()
        id, awaited = self.wire.text(body, "id"), self._awaited[tool]
        key = awaited.popleft() if awaited else self._key()
        self.wire.parts.append(
            ResultPart(
                content, part, self.index, id or None, tool or None, is_error, key
            )
        )

    def _ignored(self, part: JsonObject, name: str) -> None:
        self.wire.ignored(name, part[name])
        self._sign(part)


PART_READERS: dict[str, Callable[[GeminiCandidate, JsonObject, str], None]] = {
    "text": GeminiCandidate._text,
    "inlineData": GeminiCandidate._ignored,
    "fileData": GeminiCandidate._ignored,
    "functionCall": GeminiCandidate._function_call,
    "functionResponse": GeminiCandidate._tool_response,
    "executableCode": GeminiCandidate._code,
    "codeExecutionResult": GeminiCandidate._code_result,
    "toolCall": GeminiCandidate._tool_call,
    "toolResponse": GeminiCandidate._tool_response,
}
"""The fields of a part, in the order in which they are read."""

_ORDER = list(PART_READERS).index


def _opaque(part: JsonObject) -> JsonObject | None:
    signature = part.get(SIGNATURE)
    return None if signature is None else {SIGNATURE: signature}


def signature_of(opaque: Json) -> JsonObject:
    """The signature in a block's state, in any of the forms of Google's APIs."""
    state = opaque if isinstance(opaque, dict) else {}
    extra = state.get("extra_content")
    google = extra.get("google") if isinstance(extra, dict) else None
    google = google if isinstance(google, dict) else {}
    signatures = (
        state.get(SIGNATURE),
        state.get("signature"),
        google.get("thought_signature"),
        state.get("thought_signature"),
    )
    signature = next((s for s in signatures if isinstance(s, str) and s), None)
    return {SIGNATURE: signature} if signature else {}
