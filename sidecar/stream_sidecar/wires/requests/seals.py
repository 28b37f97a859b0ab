"""State that is bound to more than itself, so that an edit elsewhere breaks it.

``BINDINGS`` says for each kind of state what it is bound to, and the rows of the wires
(``drops_seals``) which servers can be asked to drop thinking that no longer fits. A
provider refuses the whole conversation otherwise. Never raises for any JSON value.
"""

from __future__ import annotations

import re
from operator import is_
from typing import TYPE_CHECKING, Literal, TypeAlias

from stream_sidecar import patterns, records

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.row import WireRow

BOUND = "it is bound to text before it that was changed"

DROP_BLOCK = "drop_block"
BETA = "thinking-binding-controls-2026-08-01"
BETA_HEADER = "anthropic-beta"
HEADERS = (BETA_HEADER,)
"""The headers of a request that are read. Clients give no other."""
BETA_MEMBER = "anthropic_beta"
_NESTED = "additionalModelRequestFields"
_FIELD = "block_binding"
_BEHAVIOR = "prefix_mismatch_behavior"


StateKind: TypeAlias = Literal[
    "thinking",
    "redacted-thinking",
    "reasoning-details",
    "encrypted-content",
    "reasoning-item",
    "thought-signature",
]
"""Kinds of state: Claude's signed, and its redacted thinking, on any wire; an item of
OpenRouter's list; an encrypted item of Responses, or Copilot's state of a message; a
reasoning item of Responses; Gemini's signature."""

BoundTo: TypeAlias = Literal[
    "system", "tools", "before", "account", "maker", "model", "part", "next-item"
]
"""What state is bound to: the system's text, the tools, all earlier messages and
blocks; the account or key, the maker of the model, or the model; the part on which it
stands; the item after it."""


@records.frozen
class Binding:
    """A row: what a kind of state is bound to, from which version of a model on.

    ``model`` has the groups ``major`` and ``minor`` if ``since`` says more than (0, 0);
    an empty pattern fits every name. A date, or a size as in ``-1m``, is no minor
    version.
    """

    kind: StateKind
    to: tuple[BoundTo, ...]
    source: str
    model: re.Pattern[str] = patterns.compile("")
    since: tuple[int, int] = (0, 0)

    def fits(self, model: str) -> bool:
        """Whether the row is for a model of this name."""
        match = self.model.search(model)
        if match is None or self.since == (0, 0):
            return match is not None
        return (int(match["major"]), int(match["minor"] or 0)) >= self.since


def _claude(family: str) -> re.Pattern[str]:
    """Finds the version in a name of a model of Claude's, in any router's spelling."""
    return patterns.compile(
        rf"claude-(?:{family})-(?P<major>\d{{1,3}})"
        r"(?:[.-](?P<minor>\d{1,3})(?![\dkm]))?(?!\d)",
        re.IGNORECASE,
    )


_PRESERVED = "platform.claude.com/docs/en/build-with-claude/preserved-thinking"

BINDINGS = (
    Binding(
        "thinking",
        ("system", "tools", "before", "account"),
        _PRESERVED,
        _claude("sonnet|haiku"),
        (5, 5),
    ),
    Binding(
        "thinking",
        ("system", "tools", "before"),
        _PRESERVED,
        _claude("[a-z]{1,32}"),
        (5, 1),
    ),
    Binding("thinking", ("model",), "vybestack/llxprt-code#2335"),
    Binding("redacted-thinking", ("model",), "microsoft/vscode#320196"),
    Binding(
        "reasoning-details",
        ("maker",),
        "openrouter.ai/docs/use-cases/reasoning-tokens; earendil-works/pi#9100",
    ),
    Binding(
        "encrypted-content",
        ("account", "maker"),
        "openai/codex#17541, anomalyco/opencode#48805",
    ),
    Binding("reasoning-item", ("next-item",), "continuedev/continue#8933"),
    Binding(
        "thought-signature",
        ("part", "maker"),
        "ai.google.dev/gemini-api/docs/thought-signatures; google-gemini/gemini-cli"
        "#13467",
    ),
)
"""The first row that fits the kind and the model counts."""


def _row(kind: StateKind, model: str | None) -> Binding:
    rows = (row for row in BINDINGS if row.kind == kind)
    return next(row for row in rows if row.fits(model or ""))


def binding_of(model: str | None) -> Binding | None:
    """The row for the thinking of a model that binds it to what is before it, by its
    name in any router's spelling, else None. ``us.anthropic.claude-opus-5-5-v1:0`` is
    bound, ``claude-opus-5-20260901`` is not."""
    row = _row("thinking", model)
    return row if "before" in row.to else None


def bound_to_account(model: str) -> bool:
    """Whether the thinking of a model is bound to the account, too."""
    return "account" in _row("thinking", model).to


# Where state stands

StatePlace: TypeAlias = "tuple[str | int, ...]"


@records.frozen
class BoundState:
    """State in a message: its JSON Pointer, kind, what it is bound to, the source."""

    path: str
    kind: StateKind
    to: tuple[BoundTo, ...]
    source: str


def seals_in(message: Json, model: str | None = None) -> list[BoundState]:
    """The seals of a message, item or content, of any wire, or of a message of our own.
    ``model``: the one that wrote it, if it is known."""
    seals: list[BoundState] = []
    for place, kind, value in states_in(message):
        if kind == "reasoning-details" and binding_of(model) and signature_of(value):
            kind = "thinking"
        if kind != "reasoning-details" or _is_sealed(value):
            row, path = _row(kind, model), "".join(f"/{step}" for step in place)
            seals.append(BoundState(path, kind, row.to, row.source))
    return seals


def _is_sealed(detail: Json) -> bool:
    sealing = ("signature", "data")
    return isinstance(detail, dict) and any(detail.get(name) for name in sealing)


def states_in(holder: Json) -> Iterator[tuple[StatePlace, StateKind, Json]]:
    """The pieces of state in a message, item or content: place, kind and value."""
    if not isinstance(holder, dict):
        return
    if isinstance(holder.get("type"), str):
        yield from _item_states(holder)
    yield from _listed_states(holder)
    fields = holder.get("provider_specific_fields")
    inner = fields if isinstance(fields, dict) else {}
    for place, kind, value in _listed_states(inner):
        yield ("provider_specific_fields", *place), kind, value
    yield from _signatures(holder)
    for number, call in enumerate(_list(holder.get("tool_calls"))):
        for place, kind, value in _signatures(call):
            yield ("tool_calls", number, *place), kind, value
    for number, block in enumerate(_list(holder.get("blocks"))):
        yield from _block_states(("blocks", number), block)


def _item_states(item: JsonObject) -> Iterator[tuple[StatePlace, StateKind, Json]]:
    """The state of an item of Responses, or of a block: all of it is its place."""
    if _is_redacted(item):
        yield (), "redacted-thinking", item
    is_encrypted = isinstance(item.get("encrypted_content"), str)
    if is_encrypted:
        yield (), "encrypted-content", item
    if item["type"] == "reasoning" and (is_encrypted or item.get("id")):
        yield (), "reasoning-item", item


def _listed_states(holder: JsonObject) -> Iterator[tuple[StatePlace, StateKind, Json]]:
    for name in ("content", "thinking_blocks"):
        for number, part in enumerate(_list(holder.get(name))):
            if signature_of(part):
                yield (name, number), "thinking", part
            elif _is_redacted(part):
                yield (name, number), "redacted-thinking", part
    for number, part in enumerate(_list(holder.get("reasoning_details"))):
        yield ("reasoning_details", number), "reasoning-details", part
    for number, item in enumerate(_list(holder.get("reasoning_items"))):
        yield ("reasoning_items", number), "encrypted-content", item
    if isinstance(holder.get("reasoning_opaque"), str):  # Copilot's
        yield ("reasoning_opaque",), "encrypted-content", holder["reasoning_opaque"]
    for number, sign in enumerate(_list(holder.get("thought_signatures"))):
        yield ("thought_signatures", number), "thought-signature", sign
    for number, part in enumerate(_list(holder.get("parts"))):
        for place, kind, value in _signatures(part):
            yield ("parts", number, *place), kind, value


def _is_redacted(part: Json) -> bool:
    if not isinstance(part, dict):
        return False
    inner = part.get("reasoningContent")
    is_bedrocks = isinstance(inner, dict) and inner.get("redactedContent") is not None
    return is_bedrocks or part.get("type") == "redacted_thinking"


_SIGNATURES: tuple[StatePlace, ...] = (
    ("thoughtSignature",),
    ("thought_signature",),
    ("provider_specific_fields", "thought_signature"),
    ("extra_content", "google"),
)
"""Where a part, a call or a message has Gemini's signature."""


def _signatures(part: Json) -> Iterator[tuple[StatePlace, StateKind, Json]]:
    for place in _SIGNATURES:
        value = part
        for name in place:
            value = value.get(name) if isinstance(value, dict) else None
        if value:
            yield place, "thought-signature", value


def _block_states(
    start: StatePlace, block: Json
) -> Iterator[tuple[StatePlace, StateKind, Json]]:
    """The state of a block in a message of our own."""
    if not isinstance(block, dict):
        return
    fields = _list(block.get("fields"))
    if isinstance(block.get("signature"), str) and "reasoning_details" not in fields:
        is_googles = fields == ["thought"]
        yield start, "thought-signature" if is_googles else "thinking", block
    for place, kind, value in states_in(block.get("opaque")):
        yield (*start, "opaque", *place), kind, value


# What a block is sealed with

STATE_LISTS = ("thinking_blocks", "reasoning_details")
"""Lists of a message of Chat Completions. The first block came before the text."""

_HOLDERS = ("content", *STATE_LISTS)
_THOUGHTS = ("thinking", "reasoning.text")


def _thought(part: Json) -> JsonObject | None:
    """The object of a thinking block in which its signature stands; None of others."""
    if not isinstance(part, dict):
        return None
    inner = part.get("reasoningContent")
    if isinstance(inner, dict):
        text = inner.get("reasoningText")
        return text if isinstance(text, dict) else None
    return part if part.get("type") in _THOUGHTS else None


def is_thought(part: Json) -> bool:
    """Whether a part is thinking that has a signature, or may have one."""
    return _thought(part) is not None


def signature_of(part: Json) -> str | None:
    """The signature of a sealed thinking block, in any wire's spelling."""
    signature = (_thought(part) or {}).get("signature")
    return signature if isinstance(signature, str) and signature else None


def redacted_in(opaque: Json) -> str:
    """The encrypted thinking in provider state of a block, in any wire's spelling; ""
    without it. Left out, it breaks the seals after it, so it goes to every wire."""
    state = opaque if isinstance(opaque, dict) else {}
    inner = state.get("reasoningContent")
    holders = (state, *_list(state.get(STATE_LISTS[0]))[:1])
    texts = [
        inner.get("redactedContent") if isinstance(inner, dict) else None,
        *(h.get("data") for h in holders if _is_redacted(h)),
    ]
    return next((text for text in texts if isinstance(text, str)), "")


def signatures_in(opaque: Json) -> set[str]:
    """The signatures in provider state, which may be a message's lists of blocks."""
    state = opaque if isinstance(opaque, dict) else {}
    parts = (part for name in STATE_LISTS for part in _list(state.get(name)))
    return {sign for part in parts if (sign := signature_of(part))}


def without_signatures(opaque: Json, allowed: Collection[str]) -> Json:
    """Provider state without its signatures, except those in ``allowed``."""
    if not isinstance(opaque, dict) or signatures_in(opaque).issubset(allowed):
        return opaque
    return opaque | {
        name: [_unsigned(part, allowed) for part in opaque[name]]
        for name in STATE_LISTS
        if isinstance(opaque.get(name), list)
    }


def _unsigned(part: Json, allowed: Collection[str]) -> Json:
    sign = signature_of(part)
    if sign is None or sign in allowed or not isinstance(part, dict):
        return part
    return {name: value for name, value in part.items() if name != "signature"}


def broken_seals(old_items: list[Json], new_items: list[Json]) -> set[str]:
    """The signatures in ``new_items`` that stand after the first edit of ``old_items``.

    Only edits count of what a provider could have accepted: unsigned thinking, blank
    text and members of null are left out of the comparison. What `refusals` and
    `turn_list` change afterwards does not count either, because it is refused.
    """
    if all(map(is_, old_items, new_items)):
        return set()
    old_blocks, new_blocks = list(_flat(old_items)), list(_flat(new_items))
    pairs = zip(old_blocks, new_blocks, strict=False)
    start = min(len(old_blocks), len(new_blocks))
    start = next((n for n, (old, new) in enumerate(pairs) if old != new), start)
    return {sign for _, part in new_blocks[start:] if (sign := signature_of(part))}


def _flat(items: list[Json]) -> Iterator[tuple[Json, Json]]:
    """The blocks of all items, with their roles, without what no provider sealed."""
    for item in items:
        if not isinstance(item, dict):
            yield None, item
            continue
        role = item.get("role")
        others = {n: v for n, v in item.items() if n not in (*_HOLDERS, "role")}
        for part in (*_parts(item), others):
            if (block := _sealable(part)) not in ({}, None):
                yield role, block


def _parts(item: JsonObject) -> Iterator[Json]:
    """An item's first state, its content, and later states, perhaps after its text."""
    states = [part for name in STATE_LISTS for part in _list(item.get(name))]
    content = item.get("content")
    yield from states[:1]
    yield from [{"text": content}] if isinstance(content, str) else _list(content)
    yield from states[1:]


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _sealable(part: Json) -> Json:
    """``part`` as a provider could have sealed it; None if it could not."""
    if _thought(part) is not None:
        return part if signature_of(part) else None
    if not isinstance(part, dict):
        return part
    text = part.get("text")
    if isinstance(text, str) and not text.strip():
        return None
    is_text = isinstance(text, str) and part.get("type") == "text"
    return {
        name: value
        for name, value in part.items()
        if value is not None and not (is_text and name == "type")
    }


def without_seals(
    items: list[Json], broken: Collection[str]
) -> Iterator[tuple[Json, list[str]]]:
    """The items without the blocks of these signatures, and the paths of the blocks."""
    for item in items:
        paths: list[str] = []
        new = item
        for name in _HOLDERS:
            parts = _list(item.get(name)) if isinstance(item, dict) else []
            unbroken = []
            for number, part in enumerate(parts):
                if signature_of(part) in broken:
                    paths.append(f"/{name}/{number}")
                else:
                    unbroken.append(part)
            if len(unbroken) < len(parts):
                new = {**new, name: unbroken}
                if not unbroken and name != "content":
                    del new[name]
        yield new, paths


# Asking the provider to drop what does not fit


def asked(
    row: WireRow, provider: str, body: JsonObject, headers: JsonObject | None
) -> tuple[JsonObject, JsonObject] | None:
    """The members of the body and the headers to set, so that the provider drops what
    no longer fits; None where it cannot be asked."""
    betas_in = (row.beta for row in row.drops_seals if row.provider.search(provider))
    place = next(betas_in, None)
    if place is None or (place == "header" and headers is None):
        return None
    fields = _fields(body)
    thinking = fields.get("thinking")
    if not isinstance(thinking, dict) or thinking.get("type") in (None, "disabled"):
        return None
    binding = thinking.get(_FIELD) or {}
    if not isinstance(binding, dict):
        return None
    if binding.get(_BEHAVIOR, DROP_BLOCK) != DROP_BLOCK:
        return None
    news: JsonObject = {}
    if _BEHAVIOR not in binding:
        news["thinking"] = {**thinking, _FIELD: {**binding, _BEHAVIOR: DROP_BLOCK}}
    if place == "header":
        return news, _header(headers or {})
    betas = fields.get(BETA_MEMBER) or []
    betas = betas if isinstance(betas, list) else [betas]
    if BETA not in betas:
        news[BETA_MEMBER] = [*betas, BETA]
    return ({_NESTED: {**fields, **news}} if fields is not body and news else news), {}


def _header(headers: JsonObject) -> JsonObject:
    """The header of betas with this one, in the host's spelling; else empty."""
    name = next((n for n in headers if n.lower() == BETA_HEADER), BETA_HEADER)
    value = headers.get(name)
    betas = ",".join(map(str, value)) if isinstance(value, list) else str(value or "")
    if BETA in (beta.strip() for beta in betas.split(",")):
        return {}
    return {name: f"{betas},{BETA}" if betas.strip() else BETA}


def demands_thinking(row: WireRow, body: JsonObject, items: list[Json]) -> bool:
    """Whether the body, which ends with a result, is refused without its thinking."""
    thinking = _fields(body).get("thinking")
    is_on = isinstance(thinking, dict) and thinking.get("type") == "enabled"
    return is_on and bool(row.shape.answers(items[-1] if items else None))


def _fields(body: JsonObject) -> JsonObject:
    """The object with the members that only Claude knows: on Converse an inner one."""
    inner = body.get(_NESTED)
    return inner if isinstance(inner, dict) else body
