"""The sessions of goose as requests.

A session is a log of messages (``{"role", "created", "content"}``), or rows of the
table ``messages`` with the content in ``content_json``, and a row of ``sessions`` that
names provider and model. Messages that are not ``agentVisible`` are not sent. goose
removes calls without a result, results without a call, and texts of blanks alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.resume.conversation import ResumedConversation
from stream_sidecar.resume.stored import Stored
from stream_sidecar.resume.turns import SentPiece, SentTurn, items_of, wire_of
from stream_sidecar.wires.shared.fields import type_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stream_sidecar.parts import Json
    from stream_sidecar.resume.records import StoredRecord

GOOSE_HEALS = {
    "call-without-result": "goose does not send it",
    "result-without-call": "goose does not send it",
}

_KINDS = frozenset(("toolRequest", "toolResponse", "toolConfirmationRequest"))
_COLUMNS = ("role", "content_json", "session_id")
_PROVIDERS = {"gcp_vertex_ai": "google-vertex", "aws_bedrock": "amazon-bedrock"}


def fits(value: Json) -> bool:
    if not isinstance(value, dict):
        return False
    if all(name in value for name in _COLUMNS):
        return True
    content = value.get("content")
    parts = content if isinstance(content, list) else ()
    kinds = {type_of(part) for part in parts if isinstance(part, dict)}
    return "created" in value and "role" in value and bool(kinds & _KINDS)


def conversations(records: Sequence[StoredRecord]) -> Iterator[ResumedConversation]:
    stored = [Stored.of(record) for record in records]
    named = [each.at("provider_name").text for each in stored]
    provider = next(filter(None, named), "")
    models = [each.at("model_config_json", "model_name").text for each in stored]
    model = next(filter(None, models), "")
    wire = wire_of(_PROVIDERS.get(provider, provider), model)
    turns = [turn for each in stored for turn in _turn(each)]
    yield ResumedConversation(wire, provider, model, items_of(turns, wire))


def _turn(message: Stored) -> Iterator[SentTurn]:
    role = message.at("role").text
    metadata = [message.at(name) for name in ("metadata_json", "metadata")]
    if any(each.at("agentVisible").value is False for each in metadata):
        return
    is_row = "content_json" in message.members
    content = message.at("content_json" if is_row else "content")
    pieces = tuple(piece for part in content.items() for piece in _piece(part))
    if role == "assistant":
        yield SentTurn(
            "assistant", tuple(each for each in pieces if each.kind != "result")
        )
    elif role == "user":
        kinds = ("result", "text", "image")
        results = tuple(each for each in pieces if each.kind == "result")
        others = tuple(each for each in pieces if each.kind in kinds[1:])
        yield from (SentTurn("tool", results), SentTurn("user", others))


def _piece(part: Stored) -> Iterator[SentPiece]:
    kind, id = part.at("type").value, part.at("id")
    if kind == "text" and part.at("text").text:
        yield SentPiece("text", part, part.at("text"))
    elif kind == "thinking":
        yield SentPiece(
            "thinking", part, part.at("thinking"), seal=part.at("signature")
        )
    elif kind == "image":
        mime = part.at("mimeType").text
        yield SentPiece("image", part, part.at("data"), media_type=mime)
    elif kind == "toolRequest":
        call = part.at("toolCall", "value")
        name, arguments = call.at("name"), call.at("arguments")
        if name.text:  # what the model wrote was a call
            yield SentPiece("call", part, _object(arguments), id=id, named=name)
    elif kind == "toolResponse":
        # goose stores no name of the tool, and sends the id to APIs that want one
        output = _output(part.at("toolResult"))
        yield SentPiece("result", part, output, id=id, named=id)


def _object(arguments: Stored) -> Stored:
    value = {} if arguments.value is None else arguments.value
    return Stored(arguments.record, arguments.path, value)


def _output(result: Stored) -> Stored:
    """The text of a tool's result, of its parts or of its error."""
    value = result.at("value")
    listed = value if isinstance(value.value, list) else value.at("content")
    texts = [part.at("text") for part in listed.items() if part.at("text").text]
    if len(texts) == 1:
        return texts[0]
    text = "\n".join(each.text for each in texts) or result.at("error").text
    return Stored(result.record, result.path, text)
