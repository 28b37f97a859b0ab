"""Turns of an agent that talks to several providers, written for the API of each.

The agent keeps its turns in a form of its own. A reader makes `SentPiece`s of what it
keeps, and `items_of` writes them as the agent's library writes them for a provider.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Literal, TypeAlias

from stream_sidecar.records import frozen
from stream_sidecar.resume.conversation import SentItem
from stream_sidecar.values.jsontext import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from stream_sidecar.parts import JsonObject
    from stream_sidecar.resume.conversation import StoredPlace
    from stream_sidecar.resume.stored import Stored
    from stream_sidecar.values.json_places import Path

_Kind: TypeAlias = Literal["text", "thinking", "call", "result", "image"]


@frozen
class SentPiece:
    """A part of a turn. ``part``: where it is stored. ``content``: its text, the
    arguments of a call (an object, or one in JSON text), the output of a tool, the data
    of an image in base64. ``id``: of the call that it makes or answers. ``named``: the
    name of the tool. ``seal``: the signature of thinking, or its encrypted state.
    ``item``: the id of a reasoning item. ``media_type``: of an image."""

    kind: _Kind
    part: Stored
    content: Stored
    id: Stored | None = None
    named: Stored | None = None
    seal: Stored | None = None
    item: str = ""
    media_type: str = ""

    @property
    def call_id(self) -> str:
        return self.id.text if self.id else ""

    @property
    def name(self) -> str:
        return self.named.text if self.named else ""

    @property
    def arguments(self) -> JsonObject | None:
        """The arguments as an object; None if they are none."""
        value = self.content.value
        if isinstance(value, str):
            try:
                value = loads(value)
            except (ValueError, RecursionError):
                return None
        return value if isinstance(value, dict) else None

    @property
    def written_arguments(self) -> str:
        value = self.content.value
        return value if isinstance(value, str) else dumps(value)

    def places(
        self, content: str, *holders: str, id: str = "id", seal: str = ""
    ) -> _Places:
        """Where the members of a part with these names are stored. ``holders``: around
        the content and the name, outermost first."""
        places: dict[Path, StoredPlace] = {
            holders[:length]: self.part.source for length in range(len(holders) + 1)
        }
        places[(*holders, content)] = self.content.source
        if self.named:
            places[(*holders[:1], "name")] = self.named.source
        if self.id:
            places[(id,)] = self.id.source
        if self.seal and seal:
            places[(seal,)] = self.seal.source
        return places


_Places: TypeAlias = "dict[Path, StoredPlace]"
_Written: TypeAlias = "tuple[JsonObject, _Places]"


@frozen
class SentTurn:
    """What one side said, or the results of tools. Never empty."""

    role: Literal["user", "assistant", "tool"]
    pieces: tuple[SentPiece, ...]


def items_of(turns: Iterable[SentTurn], wire: str) -> tuple[SentItem, ...]:
    """The items of a request on a ``wire``, one of `WRITERS`."""
    return tuple(WRITERS[wire]([turn for turn in turns if turn.pieces]))


def _anthropic(turns: Sequence[SentTurn]) -> Iterator[SentItem]:
    return _by_side(turns, "assistant", "content", _anthropic_part)


def _anthropic_part(piece: SentPiece) -> _Written | None:
    value = piece.content.value
    if piece.kind == "text":
        return {"type": "text", "text": value}, piece.places("text")
    if piece.kind == "thinking":
        if piece.seal is None:
            return None
        thinking = {"type": "thinking", "thinking": value}
        sealed = {**thinking, "signature": piece.seal.value}
        return sealed, piece.places("thinking", seal="signature")
    if piece.kind == "call":
        if (arguments := piece.arguments) is None:
            return None
        use = {"type": "tool_use", "id": piece.call_id, "name": piece.name}
        return {**use, "input": arguments}, piece.places("input")
    if piece.kind == "result":
        result = {"type": "tool_result", "tool_use_id": piece.call_id}
        return {**result, "content": value}, piece.places("content", id="tool_use_id")
    source = {"type": "base64", "media_type": piece.media_type, "data": value}
    return {"type": "image", "source": source}, piece.places("source")


def _gemini(turns: Sequence[SentTurn]) -> Iterator[SentItem]:
    return _by_side(turns, "model", "parts", _gemini_part)


def _gemini_part(piece: SentPiece) -> _Written | None:
    value = piece.content.value
    signed = {"thoughtSignature": piece.seal.value} if piece.seal else {}
    places = piece.places("text", seal="thoughtSignature")
    if piece.kind == "text":
        return {"text": value, **signed}, places
    if piece.kind == "thinking":
        return {"text": value, "thought": True, **signed}, places
    if piece.kind == "image":
        data = {"mimeType": piece.media_type, "data": value}
        return {"inlineData": data}, piece.places("inlineData")
    named = {"id": piece.call_id, "name": piece.name}
    if piece.kind == "result":
        response = {**named, "response": {"output": value}}
        return {"functionResponse": response}, piece.places(
            "output", "functionResponse", "response"
        )
    if piece.arguments is None:
        return None
    call = {**named, "args": piece.arguments}
    places = piece.places("args", "functionCall", seal="thoughtSignature")
    return {"functionCall": call, **signed}, places


def _by_side(
    turns: Sequence[SentTurn],
    model: str,
    member: str,
    write: Callable[[SentPiece], _Written | None],
) -> Iterator[SentItem]:
    """The turns of one side in a row as one. ``model``: the role of the model."""

    def role(turn: SentTurn) -> str:
        return model if turn.role == "assistant" else "user"

    for name, run in groupby(turns, role):
        yield from _turn(name, member, run, write)


def _turn(
    role: str,
    member: str,
    turns: Iterable[SentTurn],
    write: Callable[[SentPiece], _Written | None],
) -> Iterator[SentItem]:
    """The turns of one role as one, with the parts that ``write`` gives."""
    pieces = [piece for turn in turns for piece in turn.pieces]
    written = [each for piece in pieces if (each := write(piece)) is not None]
    if written:
        yield SentItem(
            {"role": role, member: [part for part, _ in written]},
            pieces[0].part.source,
            places=_below(member, (places for _, places in written)),
        )


def _below(member: str, parts: Iterable[Mapping[Path, StoredPlace]]) -> _Places:
    return {
        (member, number, *path): source
        for number, places in enumerate(parts)
        for path, source in places.items()
    }


def _chat(turns: Sequence[SentTurn]) -> Iterator[SentItem]:
    """Without thinking, which each server of this API wants in a way of its own."""
    for turn in turns:
        if turn.role == "tool":
            yield from map(_chat_result, turn.pieces)
        elif turn.role == "user":
            yield from _turn("user", "content", [turn], _chat_part)
        else:
            yield from _chat_answer(turn.pieces)


def _chat_part(piece: SentPiece) -> _Written:
    if piece.kind == "text":
        return {"type": "text", "text": piece.content.value}, piece.places("text")
    url = f"data:{piece.media_type};base64,{piece.content.text}"
    image = {"type": "image_url", "image_url": {"url": url}}
    return image, piece.places("image_url")


def _chat_result(piece: SentPiece) -> SentItem:
    item = {"role": "tool", "tool_call_id": piece.call_id}
    places = piece.places("content", id="tool_call_id")
    return SentItem(
        {**item, "content": piece.content.value}, piece.part.source, places=places
    )


def _chat_answer(pieces: Sequence[SentPiece]) -> Iterator[SentItem]:
    texts = [piece for piece in pieces if piece.kind == "text"]
    calls = [piece for piece in pieces if piece.kind == "call"]
    if not texts and not calls:
        return
    content = "".join(piece.content.text for piece in texts)
    item: JsonObject = {"role": "assistant", "content": content or None}
    places: _Places = {}
    if texts:
        item["content"] = content
        places[("content",)] = texts[0].content.source
    if calls:
        item["tool_calls"] = [_chat_call(piece) for piece in calls]
        places |= _below("tool_calls", map(_call_places, calls))
    yield SentItem(item, pieces[0].part.source, places=places)


def _call_places(piece: SentPiece) -> _Places:
    return piece.places("arguments", "function")


def _chat_call(piece: SentPiece) -> JsonObject:
    function = {"name": piece.name, "arguments": piece.written_arguments}
    return {"id": piece.call_id, "type": "function", "function": function}


def _responses(turns: Sequence[SentTurn]) -> Iterator[SentItem]:
    for turn in turns:
        for (kind, item), run in groupby(turn.pieces, _of_item):
            pieces = [*run]
            if kind == "thinking":
                yield from _reasoning(pieces, item)
            elif kind in ("call", "result"):
                yield from map(_call_item, pieces)
            else:
                run_of_one = SentTurn(turn.role, tuple(pieces))
                write = _SIDES[turn.role]
                yield from _turn(turn.role, "content", [run_of_one], write)


def _of_item(piece: SentPiece) -> tuple[_Kind, str]:
    return piece.kind, piece.item


def _output_part(piece: SentPiece) -> _Written:
    return {"type": "output_text", "text": piece.content.value}, piece.places("text")


def _input_part(piece: SentPiece) -> _Written:
    if piece.kind == "text":
        return {"type": "input_text", "text": piece.content.value}, piece.places("text")
    url = f"data:{piece.media_type};base64,{piece.content.text}"
    return {"type": "input_image", "image_url": url}, piece.places("image_url")


_SIDES = {"user": _input_part, "tool": _input_part, "assistant": _output_part}


def _reasoning(pieces: Sequence[SentPiece], item: str) -> Iterator[SentItem]:
    """The pieces of a reasoning item. It is sent with its encrypted state alone, which
    its last piece has."""
    sealed = next((each for each in reversed(pieces) if each.seal), None)
    if sealed is None or sealed.seal is None:
        return
    texts = [piece for piece in pieces if piece.content.text]
    summary = [{"type": "summary_text", "text": each.content.text} for each in texts]
    yield SentItem(
        {
            "type": "reasoning",
            "id": item,
            "summary": summary,
            "encrypted_content": sealed.seal.value,
        },
        sealed.part.source,
        places={
            **_below("summary", (piece.places("text") for piece in texts)),
            ("encrypted_content",): sealed.seal.source,
        },
    )


def _call_item(piece: SentPiece) -> SentItem:
    if piece.kind == "call":
        item = {
            "type": "function_call",
            "call_id": piece.call_id,
            "name": piece.name,
            "arguments": piece.written_arguments,
        }
        places = piece.places("arguments", id="call_id")
    else:
        item = {
            "type": "function_call_output",
            "call_id": piece.call_id,
            "output": piece.content.value,
        }
        places = piece.places("output", id="call_id")
    del places[()]
    return SentItem(item, piece.part.source, places=places)


WRITERS: dict[str, Callable[[Sequence[SentTurn]], Iterator[SentItem]]] = {
    "anthropic": _anthropic,
    "gemini": _gemini,
    "openai-chat": _chat,
    "openai-responses": _responses,
}

_WIRES = {
    "anthropic": "anthropic",
    "google-vertex-anthropic": "anthropic",
    "amazon-bedrock": "anthropic",
    "bedrock": "anthropic",
    "openai": "openai-responses",
    "azure": "openai-responses",
    "google": "gemini",
    "gemini": "gemini",
    "google-vertex": "gemini",
    "vertexai": "gemini",
}
_OF_MODELS = (
    ("claude", "anthropic"),
    ("gpt-", "openai-responses"),
    ("gemini", "gemini"),
)
_BY_MODEL = frozenset(("opencode", "zen"))
"""Providers that serve each model on its own API."""


def wire_of(provider: str, model: str) -> str:
    """The API that an agent talks to ``provider`` with; Chat Completions where nothing
    else is known."""
    if provider in _BY_MODEL:
        wires = (wire for name, wire in _OF_MODELS if name in model)
        return next(wires, "openai-chat")
    return _WIRES.get(provider, "openai-chat")
