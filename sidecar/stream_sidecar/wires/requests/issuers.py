"""Who issued a piece of state: by its own mark, else by the turn that names its model.

A history may hold state of several makers: its conversation may have changed the model,
and routers pass on the state of many. The maker in a mark counts, whatever model the
turn or the host names. State without a mark is of the maker that its turn names, if
any. Never raises for any JSON value.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.wires.requests.seals import bound_to_account, states_in
from stream_sidecar.wires.shared.fields import type_of
from stream_sidecar.wires.shared.rendering import LostPart
from stream_sidecar.wires.shared.request_rules import Names, differ

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.requests.seals import StateKind, StatePlace
    from stream_sidecar.wires.shared.request_shapes import RequestShape

FOREIGN = "it is state of another maker's models, which this model cannot read"
OTHER_ACCOUNT = "it is bound to the account that it came from"

FORMATS = {
    "anthropic-claude": "anthropic",
    "openai-responses": "openai",
    "azure-openai-responses": "openai",
    "google-gemini": "google",
    "xai-responses": "xai",
}
"""``format`` of an item of OpenRouter's ``reasoning_details``, or of its items of
Responses, without the version -> the maker of the models that issue it
(openrouter.ai/docs/use-cases/reasoning-tokens; "Corrupted thought signature" for
another maker's: earendil-works/pi#9100)."""

BLOCKS = "thinking_blocks"
"""LiteLLM's list of thinking: Claude's (docs.litellm.ai/docs/reasoning_content), or
that of `_LIKE_CLAUDE`, in a turn that names their model. Gemini's has its signatures in
the same message, too (BerriAI/litellm, vertex_and_google_ai_studio_gemini.py)."""

_LIKE_CLAUDE = ("google", "minimax", "mistral")
_UNSIGNED = ("minimax", "mistral")
"""Makers whose models do not check the signatures there."""

_GOOGLES = ("thought_signature", "thought_signatures", "google")
"""Members with Gemini's signatures on Chat Completions. ``thoughtSignature`` is no
mark: Google's servers sign the calls of other models, too."""

_VERSION = patterns.compile(r"-v\d{1,3}$")
OPENAIS = "gAAAA"
"""How a Fernet token begins. OpenAI's encrypted content is one (openai/codex#8119), as
are the signatures that proxies make of it (chenyme/grok2api#688 does so for xAI's)."""

_SEALED = ("encrypted_content", "data", "signature")
_MODELS = ("model", "modelID", "modelId", "model_name")
_ABOUT = ("metadata", "response_metadata")
"""Members about a turn: ours, and LangChain's."""
_PROVIDERS = ("provider", "providerID", "model_provider", "hostProvider")


def without_foreign(
    holder: JsonObject, maker: str
) -> tuple[JsonObject | None, list[str]]:
    """A message, an item or state without the pieces that another maker than ``maker``
    issued ("" fits all), and their JSON Pointers; None if nothing else is in it."""
    issued = issuers_in(holder, maker) if maker else {}
    foreign = [place for place, issuer in issued.items() if differ(issuer, maker)]
    if not foreign:
        return holder, []
    readable_part = None if () in foreign else _without(holder, foreign)
    return readable_part, ["".join(f"/{step}" for step in place) for place in foreign]


def issuers_in(holder: JsonObject, asked: str = "") -> dict[StatePlace, str]:
    """The place of each piece of state -> the maker that issued it; "" if it is not
    known. ``asked``: the maker of the next model."""
    states = list(states_in(holder))
    if not states:
        return {}
    named, marks = _named(holder), [_mark(*state) for state in states]
    of_blocks = maker_of_blocks("google" if "google" in marks else named, asked)
    return {
        place: of_blocks if BLOCKS in place else mark or named
        for (place, _, _), mark in zip(states, marks, strict=True)
    }


def maker_of_blocks(named: str, asked: str) -> str:
    """The maker of signed ``thinking_blocks`` in a turn that names the maker ``named``,
    "" if it names none. ``asked``: as in `issuers_in`."""
    if named in _LIKE_CLAUDE:
        return named
    return "" if asked in _UNSIGNED and not named else "anthropic"


def _mark(place: StatePlace, kind: StateKind, value: Json) -> str:
    """The maker in a piece's own mark; "" if it has none."""
    if kind == "thought-signature":
        return "" if set(_GOOGLES).isdisjoint(place) else "google"
    state = value if isinstance(value, dict) else {}
    mark = state.get("format")
    if isinstance(mark, str) and (maker := FORMATS.get(_VERSION.sub("", mark))):
        return maker
    sealed = (state.get(name) for name in _SEALED)
    texts = (text for text in sealed if isinstance(text, str))
    return "openai" if any(text.startswith(OPENAIS) for text in texts) else ""


def _named(holder: JsonObject) -> str:
    """The maker of the model, or else of the provider, that a turn names."""
    models = [Names(model=name).maker for name in models_in(holder)]
    sellers = [Names(provider=name).maker for name in _texts(holder, _PROVIDERS)]
    return next(filter(None, models + sellers), "")


def models_in(message: JsonObject) -> Iterator[str]:
    """The models that a message names as its own."""
    return _texts(message, _MODELS)


def _texts(holder: JsonObject, names: tuple[str, ...]) -> Iterator[str]:
    holders = (holder, *(holder.get(name) for name in _ABOUT))
    values = (h.get(name) for h in holders if isinstance(h, dict) for name in names)
    return (value for value in values if isinstance(value, str) and value)


_OF_CALLS = ("/tool_calls", "/parts")
_KEPT = ("content", "parts")
"""Members that stay when they are empty."""


def _without(value: Json, places: list[StatePlace]) -> Json:
    """``value`` without what is at ``places`` or empty then; None for nothing."""
    if () in places:
        return None
    inner: defaultdict[str | int, list[StatePlace]] = defaultdict(list)
    for step, *steps in places:
        inner[step].append(tuple(steps))
    is_list = isinstance(value, list)
    members = dict(enumerate(value) if is_list else value)
    for name, deeper in inner.items():
        members[name] = _without(members[name], deeper)
        if members[name] is None and name in _KEPT:
            members[name] = []
        elif members[name] is None:
            del members[name]
    return (list(members.values()) if is_list else members) or None


def readable(item: JsonObject, maker: str, path: str, lost: list[LostPart]) -> Json:
    """An item without state of other makers than ``maker``; None if it is all such
    state. ``path``: its place in the request, for reports."""
    new, pointers = without_foreign(item, maker)
    for pointer in pointers:
        kind = "state" if pointer.startswith(_OF_CALLS) else "reasoning"
        lost.append(LostPart(path + pointer, kind, FOREIGN))
    return new


def readable_items(
    shape: RequestShape, items: list[Json], maker: str, lost: list[LostPart]
) -> Iterator[Json]:
    """The items of a request without state of other makers than ``maker``. What led
    to an item of Responses is gone: such an item loses its id if it needs none."""
    is_torn = False
    for number, item in enumerate(items):
        if not isinstance(item, dict) or shape.role(item) == "user":
            is_torn = False
            yield item
            continue
        clean = readable(item, maker, f"/{shape.items}/{number}", lost)
        kind = type_of(item)
        is_torn = clean is None or (is_torn and kind != "reasoning")
        if is_torn and kind in _WITHOUT_IDS and isinstance(clean, dict):
            clean = {name: clean[name] for name in clean if name != "id"}
        if clean is not None:
            yield clean


_WITHOUT_IDS = ("message", "function_call", "custom_tool_call")
"""Types of items that need no id."""


def is_account_bound(source: Names, target: Names) -> bool:
    """Whether the signatures of ``source`` are bound to an account that ``target`` does
    not have: another platform has other accounts."""
    is_other = differ(_platform(source.provider), _platform(target.provider))
    return is_other and bound_to_account(target.model)


_PLATFORMS = {
    "bedrock": patterns.compile("bedrock|aws|amazon", re.IGNORECASE),
    "vertex": patterns.compile("vertex|google", re.IGNORECASE),
    "foundry": patterns.compile("azure|foundry", re.IGNORECASE),
    "anthropic": patterns.compile("anthropic", re.IGNORECASE),
}
"""A platform with accounts of its own that serves Claude -> a pattern for its names;
the first one that fits counts."""


def _platform(provider: str) -> str:
    names = (name for name, pattern in _PLATFORMS.items() if pattern.search(provider))
    return next(names, "")
