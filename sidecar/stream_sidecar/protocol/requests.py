"""The method request/prepare, which cleans a whole request before the host sends it.

The model's earlier turns are cleaned by the same `History` as in ``message/repair``.
Then calls that share an id get their own (`repeated_ids`; for a provider that refuses
repeated ids, `turn_list` does it), and what the provider refuses is removed or replaced
(`accepted`; all of them in `wires.requests`). A model's turn at the end of the list is
a prefix that the host wrote, or goes on after a pause, and stays; only thinking without
a signature is removed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.history.history import History
from stream_sidecar.history.messages import results_of
from stream_sidecar.options import StreamOptions, Tool
from stream_sidecar.protocol.params import PrepareResult
from stream_sidecar.protocol.reading_options import patched
from stream_sidecar.values.jsontext import MAX_DEPTH, is_portable
from stream_sidecar.values.surrogates import whole_values
from stream_sidecar.values.units import text_size
from stream_sidecar.wires import WIRES
from stream_sidecar.wires.requests.accepted import accepted_request
from stream_sidecar.wires.requests.destination import Destination
from stream_sidecar.wires.requests.issuers import readable_items
from stream_sidecar.wires.requests.repeated_ids import with_own_ids
from stream_sidecar.wires.requests.seals import (
    BOUND,
    asked,
    binding_of,
    broken_seals,
    demands_thinking,
    without_seals,
)
from stream_sidecar.wires.shared.rendering import LostPart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from stream_sidecar.history.spans import RemovedSpan
    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.protocol.params import PrepareParams
    from stream_sidecar.protocol.sessions import Sessions
    from stream_sidecar.wires.shared.request_rules import Rule

_BLOCKED = "nothing would be left of the message, so it was not changed"
_CLAIM = "the model wrote it into its text"
_UNWRITABLE = "it has values that cannot be written back, so it was not changed"
_HALF = "half a character is refused, so U+FFFD is in its place"
_TOO_LONG = "it is longer than maxDocumentChars, so it was not changed"
_IN_TAGS = frozenset(("reasoning", "delimiter"))
_EARLIER = ("previous_response_id", "conversation")
"""Members of a Responses request that name items on the server."""


def prepare_request(sessions: Sessions, params: PrepareParams) -> PrepareResult:
    """``request/prepare``: the body to send; None if it is the given one."""
    if text_size(params.body) > sessions.limits.max_document_chars:
        return PrepareResult(False, [LostPart("", "body", _TOO_LONG)])
    halves: list[str] = []
    body: JsonObject = whole_values(params.body, halves, MAX_DEPTH)
    if not is_portable(body):
        return PrepareResult(False, [LostPart("", "body", _UNWRITABLE)])
    to = _destination(params, body)
    rule, shape = to.rule, to.row.shape
    is_bound = binding_of(to.model) is not None
    held = body.get(shape.items)
    items = held if isinstance(held, list) else []
    lost = [LostPart(path, "text", _HALF) for path in halves]

    options = StreamOptions(
        provider=params.provider,
        model=to.model or None,
        tools=tools_of(body) if params.tools is None else params.tools,
        policy=patched(sessions.policy, params.policy or {}),
        response_template=params.response_template,
        limits=sessions.limits,
    )
    history = History(options, _wants(params, rule), learns=not is_bound)
    sent = list(_repaired(to, items, history, lost))

    # An edit breaks the seals of the thinking after it. A server that can be asked
    # drops this thinking itself; without its thinking, another may refuse the request.
    news: JsonObject = {}
    headers: JsonObject = {}
    if is_bound and (broken := broken_seals(items, sent)):
        asks = asked(to.row, to.provider, body, params.headers)
        if asks is not None:
            news, headers = asks
        elif demands_thinking(to.row, body, items):
            bound = LostPart(f"/{shape.items}", "bound", BOUND)
            return PrepareResult(False, [bound])
        else:
            sent = list(_unsealed(sent, broken, shape.items, lost))

    if rule is None or "repeated-ids" not in rule.refuses:
        prefix = to.prefix(sent)
        sent = [*with_own_ids(shape, sent[:prefix], lost), *sent[prefix:]]
    if rule is not None:
        sent, settings = accepted_request(to, rule, {**body, **news}, sent, lost)
        news |= settings
    elif to.maker:
        prefix = to.prefix(sent)
        own = readable_items(shape, sent[:prefix], to.maker, lost)
        sent = [*own, *sent[prefix:]]

    is_same = len(sent) == len(items) and all(map(_is_same, sent, items))
    if not (news or headers or halves) and is_same:
        return PrepareResult(False, lost)
    changed = {**body, shape.items: sent, **news}
    return PrepareResult(True, lost, changed, headers or None)


def _destination(params: PrepareParams, body: JsonObject) -> Destination:
    """Where the request goes. The host names the model, or the body does."""
    named = (params.model, body.get("model"), body.get("modelId"))
    return Destination(
        row=WIRES[params.wire],
        provider=params.provider or "",
        model=next((each for each in named if each and isinstance(each, str)), ""),
        reasoning=params.reasoning,
        stores=body.get("store") is not False,
        continues=any(body.get(name) for name in _EARLIER),
    )


def _wants(params: PrepareParams, rule: Rule | None) -> Callable[[RemovedSpan], bool]:
    """Which removals are made: reasoning stays if the provider wants it in tags, and
    calls stay if the host wants to keep them."""
    kept = _IN_TAGS if rule is not None and rule.tags else frozenset()
    if params.claims == "include":
        kept |= {"tool-call"}
    return lambda removal: removal.kind not in kept


def _repaired(
    to: Destination, items: list[Json], history: History, lost: list[LostPart]
) -> Iterator[Json]:
    """The items, with the texts of the model's earlier turns repaired."""
    shape, prefix = to.row.shape, to.prefix(items)
    for number, item in enumerate(items):
        if number >= prefix or shape.role(item) != "model":
            history.learn(results_of(item))
            yield item
            continue
        repair, path = history.repair(item), f"/{shape.items}/{number}"
        if repair.blocked:
            lost.append(LostPart(path, "text", _BLOCKED))
        calls = (each for each in repair.removed if each.kind == "tool-call")
        lost += [LostPart(path + call.path, "tool-call", _CLAIM) for call in calls]
        yield repair.message if repair.changed else item


def _unsealed(
    items: list[Json], broken: set[str], name: str, lost: list[LostPart]
) -> Iterator[Json]:
    """The items without the sealed blocks that an edit broke."""
    for number, (item, gone) in enumerate(without_seals(items, broken)):
        lost += [
            LostPart(f"/{name}/{number}{path}", "reasoning", BOUND) for path in gone
        ]
        yield item


def _is_same(one: Json, other: Json) -> bool:
    return one is other


# The body's own tools


def tools_of(body: JsonObject) -> tuple[Tool, ...] | None:
    """The tools that a request declares in any wire's spelling; None: no list."""
    config = body.get("toolConfig")
    declared = body.get("tools", config.get("tools") if isinstance(config, dict) else 0)
    if not isinstance(declared, list):
        return None
    specs = [
        spec for each in declared if isinstance(each, dict) for spec in _specs(each)
    ]
    named = [spec for spec in specs if isinstance(spec.get("name"), str)]
    return tuple(Tool(spec["name"], None, _schema(spec)) for spec in named)


def _specs(tool: JsonObject) -> Iterator[JsonObject]:
    """The declarations in ``tool``, in any wire's spelling; Gemini groups them."""
    group = tool.get("functionDeclarations", tool.get("function_declarations"))
    if isinstance(group, list):
        yield from (each for each in group if isinstance(each, dict))
        return
    inner = (tool.get(name) for name in ("function", "custom", "toolSpec"))
    yield next((each for each in inner if isinstance(each, dict)), tool)


def _schema(spec: JsonObject) -> Any:
    names = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema")
    schema = next((spec[name] for name in names if name in spec), None)
    return schema.get("json", schema) if isinstance(schema, dict) else schema
