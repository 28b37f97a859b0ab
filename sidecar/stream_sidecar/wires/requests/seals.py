"""State that is bound to more than itself, so that an edit elsewhere breaks it.

``BINDINGS`` says which models bind their signed thinking to everything before it, and
``ASKED`` which servers can be asked to drop thinking that no longer fits. A provider
refuses the whole conversation otherwise. Never raises for any JSON value.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from stream_sidecar import patterns, records
from stream_sidecar.wires.shared.request_shapes import SHAPES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from stream_sidecar.parts import Json, JsonObject

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


@records.frozen
class Binding:
    """A row: from which version on a maker's models bind their state, and to what.

    ``model`` has the groups ``major`` and ``minor``. A date is no minor version.
    """

    model: re.Pattern[str]
    since: tuple[int, int]
    to: tuple[Literal["system", "tools", "before"], ...]
    source: str


BINDINGS = (
    Binding(
        patterns.compile(
            r"claude-[a-z]{1,32}-(?P<major>\d{1,3})(?:[.-](?P<minor>\d{1,3}))?(?!\d)",
            re.IGNORECASE,
        ),
        (5, 1),
        ("system", "tools", "before"),
        "platform.claude.com/docs/en/build-with-claude/preserved-thinking",
    ),
)


def _any_case(pattern: str) -> re.Pattern[str]:
    return patterns.compile(pattern, re.IGNORECASE)


ASKED: tuple[tuple[str, re.Pattern[str], Literal["header", "body"]], ...] = (
    ("anthropic", _any_case("bedrock|aws|amazon"), "body"),
    ("anthropic", _any_case("anthropic|google|vertex|azure|foundry"), "header"),
    ("bedrock-converse", _any_case(""), "body"),
)
"""A wire, a pattern for its servers that know the behaviour, by any of their names, and
where the beta is named
(docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-thinking-block-binding.html)."""


def binding_of(model: str | None) -> Binding | None:
    """The row for a model's name, in any router's spelling; None if it binds nothing.

    ``us.anthropic.claude-opus-5-5-20260901-v1:0`` is bound, ``claude-opus-5-20260901``
    is not.
    """
    for row in BINDINGS:
        if found := row.model.search(model or ""):
            version = int(found["major"]), int(found["minor"] or 0)
            return row if version >= row.since else None
    return None


# What a block is sealed with

_STATES = ("thinking_blocks", "reasoning_details")
_HOLDERS = ("content", *_STATES)
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
    found = (_thought(part) or {}).get("signature")
    return found if isinstance(found, str) and found else None


def redacted_in(opaque: Json) -> str:
    """The encrypted thinking in provider state of a block, in any wire's spelling; ""
    without it. Left out, it breaks the seals after it, so it goes to every wire."""
    state = opaque if isinstance(opaque, dict) else {}
    inner = state.get("reasoningContent")
    holders = (state, *_list(state.get(_STATES[0]))[:1])
    found = [
        inner.get("redactedContent") if isinstance(inner, dict) else None,
        *(h.get("data") for h in holders if isinstance(h, dict) and _is_redacted(h)),
    ]
    return next((each for each in found if isinstance(each, str)), "")


def _is_redacted(part: JsonObject) -> bool:
    return part.get("type") == "redacted_thinking"


def signatures_in(opaque: Json) -> set[str]:
    """The signatures in provider state, which may be a message's lists of blocks."""
    state = opaque if isinstance(opaque, dict) else {}
    parts = (part for name in _STATES for part in _list(state.get(name)))
    return {sign for part in parts if (sign := signature_of(part))}


def without_signatures(opaque: Json, kept: Collection[str]) -> Json:
    """Provider state without its signatures, except those in ``kept``."""
    if not isinstance(opaque, dict) or signatures_in(opaque).issubset(kept):
        return opaque
    return opaque | {
        name: [_unsigned(part, kept) for part in opaque[name]]
        for name in _STATES
        if isinstance(opaque.get(name), list)
    }


def _unsigned(part: Json, kept: Collection[str]) -> Json:
    sign = signature_of(part)
    if sign is None or sign in kept or not isinstance(part, dict):
        return part
    return {name: value for name, value in part.items() if name != "signature"}


def broken_seals(before: list[Json], after: list[Json]) -> set[str]:
    """The signatures in ``after`` that stand after the first edit of ``before``.

    Only edits count of what a provider could have accepted: unsigned thinking, blank
    text and members of null are left out of the comparison. What `wires.refused` and
    `wires.conversation` change afterwards does not count either, because it is refused.
    """
    if all(one is other for one, other in zip(before, after, strict=True)):
        return set()
    were, are = list(_flat(before)), list(_flat(after))
    pairs = zip(were, are, strict=False)
    same = next((n for n, (one, other) in enumerate(pairs) if one != other), None)
    start = min(len(were), len(are)) if same is None else same
    return {sign for _, part in are[start:] if (sign := signature_of(part))}


def _flat(items: list[Json]) -> Iterator[tuple[Json, Json]]:
    """The blocks of all items in order, each with its role, without what no provider
    could have sealed."""
    for item in items:
        if not isinstance(item, dict):
            yield None, item
            continue
        role = item.get("role")
        rest = {n: v for n, v in item.items() if n not in (*_HOLDERS, "role")}
        for part in (*_parts(item), rest):
            if (kept := _sealable(part)) not in ({}, None):
                yield role, kept


def _parts(item: JsonObject) -> Iterator[Json]:
    """The first state of an item, its content, and its later states: those may come
    after text."""
    states = [part for name in _STATES for part in _list(item.get(name))]
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
    """The items without the blocks of these signatures, each with the paths of what
    was removed from it."""
    for item in items:
        gone: list[str] = []
        new = item
        for name in _HOLDERS:
            parts = _list(item.get(name)) if isinstance(item, dict) else []
            signed = [signature_of(part) in broken for part in parts]
            if any(signed):
                gone += [f"/{name}/{n}" for n, is_gone in enumerate(signed) if is_gone]
                kept = [
                    p for p, is_gone in zip(parts, signed, strict=True) if not is_gone
                ]
                new = {**new, name: kept}
                if not kept and name != "content":
                    del new[name]
        yield new, gone


# Asking the provider to drop what does not fit


def asked(
    wire: str, provider: str, body: JsonObject, headers: JsonObject | None
) -> tuple[JsonObject, JsonObject] | None:
    """The members of the body and the headers to set, so that the provider drops what
    no longer fits; None where it cannot be asked."""
    fitting = (p for w, known, p in ASKED if w == wire and known.search(provider))
    place = next(fitting, None)
    if place is None or (place == "header" and headers is None):
        return None
    fields = _fields(body)
    thinking = fields.get("thinking")
    if not isinstance(thinking, dict) or thinking.get("type") in (None, "disabled"):
        return None
    binding = thinking.get(_FIELD) or {}
    if (
        not isinstance(binding, dict)
        or binding.get(_BEHAVIOR, DROP_BLOCK) != DROP_BLOCK
    ):
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
    """The header of betas with this one, in the host's spelling; empty if the host
    names it already."""
    name = next((n for n in headers if n.lower() == BETA_HEADER), BETA_HEADER)
    value = headers.get(name)
    said = ",".join(map(str, value)) if isinstance(value, list) else str(value or "")
    if BETA in (each.strip() for each in said.split(",")):
        return {}
    return {name: f"{said},{BETA}" if said.strip() else BETA}


def demands_thinking(wire: str, body: JsonObject, items: list[Json]) -> bool:
    """Whether the body is refused without its thinking: thinking is on by ``enabled``
    and the list ends with a tool's result."""
    thinking = _fields(body).get("thinking")
    is_on = isinstance(thinking, dict) and thinking.get("type") == "enabled"
    return is_on and bool(SHAPES[wire].answers(items[-1] if items else None))


def _fields(body: JsonObject) -> JsonObject:
    """The object with the members that only Claude knows: on Converse an inner one."""
    inner = body.get(_NESTED)
    return inner if isinstance(inner, dict) else body


# What an edit would break


def sealed_until(items: list[Json], are_bound: list[bool]) -> dict[int, int]:
    """The number of each item with bound seals, in order -> the place of its last seal
    among the parts of its content."""
    last = {n: _last_seal(item) for n, item in enumerate(items) if are_bound[n]}
    return {n: place for n, place in last.items() if place is not None}


def _last_seal(item: Json) -> int | None:
    """The place in ``content`` after which nothing is sealed; None without seals. A
    later state counts as after the whole content."""
    if not isinstance(item, dict):
        return None
    states = [part for name in _STATES for part in _list(item.get(name))]
    content = _list(item.get("content"))
    if any(map(signature_of, states[1:])):
        return max(1, len(content))
    places = [n for n, part in enumerate(content) if signature_of(part)]
    return places[-1] if places else 0 if any(map(signature_of, states)) else None


def covers(seals: dict[int, int], number: int, path: tuple[str | int, ...]) -> bool:
    """Whether a bound seal comes after the text at ``path`` of an item."""
    if seals and number < next(reversed(seals)):
        return True
    at = next((each for each in path if isinstance(each, int)), 0)
    return at < seals.get(number, 0)
