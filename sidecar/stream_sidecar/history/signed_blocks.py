"""Signed thinking in stored messages, in the spelling of any agent.

Two modules know signatures. `wires.requests.seals` knows what a request has: which
state there is on a wire, which models bind it, and to what. This module knows only how
agents store the same blocks, and asks the other about everything else. Never raises for
any JSON value. Pure.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from stream_sidecar.history.paths import at, list_at
from stream_sidecar.history.shapes import ASSISTANT, MESSAGE
from stream_sidecar.records import frozen
from stream_sidecar.wires.requests.seals import STATE_LISTS, binding_of, signature_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.history.messages import StoredMessage
    from stream_sidecar.parts import Json
    from stream_sidecar.values.json_places import Path

_THOUGHTS = frozenset(("thinking", "reasoning"))
_MODEL_ROLES = ASSISTANT | {"thinking"}
"""Roles of the model; Continue keeps thinking in messages of its own."""

_SIGNATURES: tuple[Path, ...] = (
    ("signature",),
    ("thinkingSignature",),
    ("data", "signature"),
    ("Thinking", "signature"),
    ("extras", "signature"),
)
"""Where agents keep the signature of a block of thinking; the last three are Crush's,
Zed's and LangChain's."""

_OF_PROVIDERS = ("metadata", "providerMetadata", "providerOptions")
"""Objects of the AI SDK and of opencode, with an object for each provider."""

_OF_SEAL = 'ignature"'


@frozen
class SealedBlock:
    """A sealed block at ``path`` of its message. ``order``: it is bound to the texts of
    the message in parts with a lower number."""

    path: Path
    order: float

    @property
    def in_list(self) -> bool:
        """Whether the block is an item of a list, and can be taken out of it."""
        return bool(self.path) and isinstance(self.path[-1], int)


def seals_of(message: StoredMessage, model: str | None) -> list[SealedBlock]:
    """The bound seals of a model's message. ``model``: the model, if neither the
    message nor its document names one."""
    is_of_model = message.shape is not None or message.role in _MODEL_ROLES
    author = message.own_model or message.model or model
    if not is_of_model or binding_of(author) is None:
        return []
    value, seals = message.message, []
    for body in dict.fromkeys(((), *(message.shape or MESSAGE).bodies)):
        if is_signed(at(value, body)):
            seals.append(SealedBlock(body, 0))
        for number, part in enumerate(list_at(value, body)):
            places = [()] if is_signed(part) else _details_in(part)
            seals += [SealedBlock((*body, number, *path), number) for path in places]
    states = [
        (name, number)
        for name in STATE_LISTS
        for number, part in enumerate(list_at(value, (name,)))
        if is_signed(part)
    ]
    # The first of these comes before the content, and any more come after it.
    seals += [SealedBlock(path, inf if n else -1) for n, path in enumerate(states)]
    return seals


def is_signed(part: Json) -> bool:
    if not isinstance(part, dict):
        return False
    if signature_of(part):
        return True
    kind = part.get("type", part.get("part_kind", part.get("role")))
    if not ("Thinking" in part or (isinstance(kind, str) and kind in _THOUGHTS)):
        return False
    signs = [at(part, path) for path in _SIGNATURES]
    signs += [state.get("signature") for _, state in _of_providers(part)]
    is_detailed = any(True for _ in _details_in(part))
    return is_detailed or any(isinstance(sign, str) and sign for sign in signs)


def _of_providers(part: Json) -> Iterator[tuple[Path, dict[str, Json]]]:
    """What a part keeps for each provider, with its place."""
    for name in _OF_PROVIDERS:
        inner = at(part, (name,))
        for provider, state in inner.items() if isinstance(inner, dict) else ():
            if isinstance(state, dict):
                yield (name, provider), state


def _details_in(part: Json) -> Iterator[Path]:
    """The places of signed details of OpenRouter, which the AI SDK keeps in a part of
    thinking and in a call's."""
    for place, state in _of_providers(part):
        for number, detail in enumerate(list_at(state, ("reasoning_details",))):
            if signature_of(detail):
                yield (*place, "reasoning_details", number)


def may_have_seal(text: str | bytes) -> bool:
    return _OF_SEAL in text if isinstance(text, str) else _OF_SEAL.encode() in text
