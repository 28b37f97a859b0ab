"""Changes the settings of a request that its provider would refuse, and checks its end.

A setting is changed if nothing of the conversation is lost by that. What only the host
can mend is reported (wires/README.md, "Requests"). Never raises for any JSON value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.wires.shared.fields import type_of
from stream_sidecar.wires.shared.rendering import LostPart

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.request_rules import Rule
    from stream_sidecar.wires.shared.row import WireRow

ALONE_AT_END = "nothing follows it, so it is refused"
OPEN_END = (
    "it ends the request, and is sent as it is; it has no result, which is refused"
)
PREFIX = (
    "the model's turn ends the request and goes as it is; this provider refuses that,"
    " some do while thinking is on"
)
BLANK_END = "the request ends with white space, which is refused; it is sent as it is"


def refused_settings(
    row: WireRow, rule: Rule, body: JsonObject, items: list[Json], lost: list[LostPart]
) -> JsonObject:
    """The settings of the request ``body`` that have to change, with new values.

    ``items``: its turns, from which a system's turn at the start may be removed. Adds
    to ``lost`` what is refused and only the host can mend.
    """
    news = row.mended_settings(rule, body, items, lost)
    if rule.refuses:
        mends = [mend for mend in row.host_mends if mend.is_due(body, items)]
        lost += [LostPart(mend.path, mend.what, mend.why) for mend in mends]
    return news


def refused_at_end(
    row: WireRow, rule: Rule, model: str, prefix: list[tuple[int, Json]]
) -> Iterator[LostPart]:
    """Reports of what the provider refuses in ``prefix``: the items of the model's turn
    at the request's end, which is sent all the same."""
    shape = row.shape
    for number, item in prefix:
        path = f"/{shape.items}/{number}"
        if "broken-pairs" in rule.refuses and shape.calls(item):
            yield LostPart(path, "tool-result", OPEN_END)
        is_thought = isinstance(item, dict) and type_of(item) == "reasoning"
        if "lonely-reasoning" in rule.refuses and is_thought and item is prefix[-1][1]:
            yield LostPart(path, "reasoning", ALONE_AT_END)
        is_marked = isinstance(item, dict) and item.get("prefix")
        if rule.no_prefix.search(model) and not is_marked:
            yield LostPart(path, "text", PREFIX)
        if rule.no_end and _ends_blank(item, shape.content):
            yield LostPart(path, "text", BLANK_END)


def _ends_blank(item: Json, name: str) -> bool:
    content = item.get(name) if isinstance(item, dict) else None
    part = content[-1] if content and isinstance(content, list) else {"text": content}
    text = part.get("text") if isinstance(part, dict) else None
    return isinstance(text, str) and text != text.rstrip()
