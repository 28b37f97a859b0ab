"""The types of events, items, blocks and fields that the official SDKs for Python know.

`SHAPES` says where an SDK declares them. A name is read from the declaration itself, so
a new release of an SDK shows what is new (``wires/test_sdk_shapes.py``).
"""

from __future__ import annotations

import enum
import inspect
import types
import typing
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Shape:
    """``place``: a module of the SDK, and the name of a type in it. ``member``: the
    names are the values of this member of a union's models; without it, they are the
    values of an enumeration, or the members of a model. ``are_words``: the names are
    words for the end of an answer."""

    sdk: str
    wire: str
    place: str
    member: str = ""
    are_words: bool = False

    def names(self) -> set[str]:
        """The names that the installed SDK declares."""
        if self.sdk == "botocore":
            return _of_service(self.place)
        module, _, name = self.place.partition(":")
        value: Any = import_module(module)
        for each in name.split("."):
            value = getattr(value, each)
        found = _values(value, self.member) if self.member else _declared(value)
        return found - _MARKS


_MARKS = {"UNKNOWN"}
"""What an SDK says of a value that it does not know."""

_SERVICE = "bedrock-runtime"

_RESPONSES = "openai.types.responses"
_BETA = "openai.types.beta"
_MESSAGES = "anthropic.types.beta"
_STEPS = "google.genai._gaos.types.interactions"
_MISTRAL = "mistralai.client.models"

SHAPES = (
    *(
        Shape("openai", "openai-responses", f"{place}:{name}", "type")
        for place, names in {
            f"{_RESPONSES}": ("ResponseStreamEvent", "ResponseOutputItem"),
            f"{_RESPONSES}.response_output_text": ("Annotation",),
            f"{_RESPONSES}.response_output_message": ("Content",),
            f"{_BETA}": ("BetaResponsesServerEvent", "BetaResponseOutputItem"),
        }.items()
        for name in names
    ),
    *(
        Shape("openai", "openai-chat", f"openai.types.chat.{name}")
        for name in (
            "chat_completion_chunk:ChoiceDelta",
            "chat_completion_message:ChatCompletionMessage",
        )
    ),
    *(
        Shape("anthropic", "anthropic", f"{_MESSAGES}:Beta{name}", "type")
        for name in (
            "RawMessageStreamEvent",
            "RawContentBlockDelta",
            "ContentBlock",
            "TextCitation",
        )
    ),
    Shape("anthropic", "anthropic", f"{_MESSAGES}:BetaStopReason", are_words=True),
    *(
        Shape("google-genai", "gemini", f"google.genai.types:{name}")
        for name in ("Part", "FunctionCall", "PartialArg", "GroundingChunk", "ToolType")
    ),
    Shape("google-genai", "gemini", "google.genai.types:LiveServerMessage"),
    Shape("google-genai", "gemini", "google.genai.types:LiveServerContent"),
    *(
        Shape("google-genai", "gemini", f"google.genai.types:{name}", are_words=True)
        for name in ("FinishReason", "TurnCompleteReason")
    ),
    Shape(
        "google-genai",
        "gemini",
        f"{_STEPS}.interactionsseevent:InteractionSSEEvent",
        "event_type",
    ),
    *(
        Shape("google-genai", "gemini", f"{_STEPS}.{name}", "type")
        for name in (
            "step:Step",
            "stepdeltadata:StepDeltaData",
            "content:Content",
            "annotation:Annotation",
        )
    ),
    Shape(
        "mistralai",
        "mistral-conversations",
        f"{_MISTRAL}:ConversationEventsData",
        "type",
    ),
    Shape(
        "mistralai",
        "mistral-conversations",
        f"{_MISTRAL}:ConversationResponseOutput",
        "type",
    ),
    Shape(
        "mistralai", "mistral-conversations", f"{_MISTRAL}:OutputContentChunks", "type"
    ),
    Shape("mistralai", "openai-chat", f"{_MISTRAL}:ContentChunk", "type"),
    Shape("mistralai", "openai-chat", f"{_MISTRAL}:DeltaMessage"),
    Shape(
        "mistralai",
        "openai-chat",
        f"{_MISTRAL}:CompletionResponseStreamChoiceFinishReason",
        are_words=True,
    ),
    *(
        Shape("cohere", "cohere", f"cohere:{name}", "type")
        for name in (
            "V2ChatStreamResponse",
            "AssistantMessageResponseContentItem",
            "Citation",
            "Source",
        )
    ),
    Shape("cohere", "cohere", "cohere:ChatFinishReason", are_words=True),
    Shape("ollama", "ollama", "ollama:ChatResponse"),
    Shape("ollama", "ollama", "ollama:Message"),
    Shape("ollama", "ollama", "ollama:GenerateResponse"),
    *(
        Shape("botocore", "bedrock-converse", name)
        for name in (
            "ConverseStreamOutput",
            "ContentBlockStart",
            "ContentBlockDelta",
            "ContentBlock",
            "ReasoningContentBlockDelta",
            "ToolUseType",
            "CitationLocation",
        )
    ),
    Shape("botocore", "bedrock-converse", "StopReason", are_words=True),
)


def _of_service(name: str) -> set[str]:
    """The members, or the values, of a shape in AWS' own model of the service."""
    from botocore.loaders import Loader

    shape = Loader().load_service_model(_SERVICE, "service-2")["shapes"][name]
    return {*shape.get("members", ()), *shape.get("enum", ())}


def _declared(value: Any) -> set[str]:
    """The values of an enumeration or of literals, or the members of a model under the
    names that they have on the wire."""
    if inspect.isclass(value) and issubclass(value, enum.Enum):
        return {each.value for each in value}
    if hasattr(value, "model_fields"):
        members = value.model_fields.items()
        return {each.alias or name for name, each in members}
    return _literals(value)


def _values(value: Any, member: str) -> set[str]:
    """The values of ``member`` of all models in ``value``."""
    found: set[str] = set()
    for model in _models(value):
        field = model.model_fields.get(member)
        if field is None:
            continue
        literals = _literals(field.annotation)
        found |= literals or {
            each for each in (field.default,) if isinstance(each, str)
        }
    return found


def _models(value: Any) -> list[Any]:
    if hasattr(value, "model_fields"):
        return [value]
    return [model for each in _inner(value) for model in _models(each)]


def _literals(value: Any) -> set[str]:
    if typing.get_origin(value) is typing.Literal:
        return {*typing.get_args(value)}
    return {literal for each in _inner(value) for literal in _literals(each)}


def _inner(value: Any) -> tuple[Any, ...]:
    """The types that a type is made of: those of a union, the item of a list."""
    if hasattr(value, "__value__"):
        return (value.__value__,)
    origin = typing.get_origin(value)
    if origin is typing.Annotated:
        return typing.get_args(value)[:1]
    is_made = origin in (typing.Union, types.UnionType, list)
    return typing.get_args(value) if is_made else ()
