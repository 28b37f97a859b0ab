"""Who issued a piece of state, by the piece's own mark.

A message may hold state of several makers: its conversation may have changed the model,
and routers pass on the state of many. The maker in a mark counts, whatever model the
message or the host names. State without a mark has no issuer here. Never raises for any
JSON value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar import patterns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.parts import Json, JsonObject

FOREIGN = "it is state of another maker's models, which this model cannot read"

FORMATS = {
    "anthropic-claude": "anthropic",
    "openai-responses": "openai",
    "azure-openai-responses": "openai",
    "google-gemini": "google",
    "xai-responses": "xai",
}
"""``format`` of an item of OpenRouter's ``reasoning_details``, without its version ->
the maker of the models that issue it (openrouter.ai/docs/use-cases/reasoning-tokens;
"Corrupted thought signature" for another maker's: earendil-works/pi#9100)."""

MARKED_LISTS = {"thinking_blocks": "anthropic"}
"""Lists of a message whose items all have one maker (docs.litellm.ai/docs/
reasoning_content)."""

_VERSION = patterns.compile(r"-v\d{1,3}$")
_DETAILS = "reasoning_details"


def issuer_of(name: str, item: Json) -> str:
    """The maker that issued an item of the list ``name``; "" if no mark says so."""
    if name in MARKED_LISTS:
        return MARKED_LISTS[name]
    mark = item.get("format") if isinstance(item, dict) else None
    if name != _DETAILS or not isinstance(mark, str):
        return ""
    return FORMATS.get(_VERSION.sub("", mark), "")


def without_foreign(holder: JsonObject, maker: str) -> tuple[JsonObject, list[str]]:
    """A message, or state that has a message's fields, without the items that another
    maker than ``maker`` issued, and the paths of these. ``maker`` of "" fits all."""
    gone = list(_foreign(holder, maker)) if maker else []
    if not gone:
        return holder, []
    new = dict(holder)
    for name in {name for name, _ in gone}:
        left = [each for n, each in enumerate(holder[name]) if (name, n) not in gone]
        if left:
            new[name] = left
        else:
            del new[name]
    return new, [f"/{name}/{number}" for name, number in gone]


def _foreign(holder: JsonObject, maker: str) -> Iterator[tuple[str, int]]:
    for name in (_DETAILS, *MARKED_LISTS):
        items = holder.get(name)
        for number, item in enumerate(items if isinstance(items, list) else ()):
            if issuer_of(name, item) not in ("", maker):
                yield name, number
