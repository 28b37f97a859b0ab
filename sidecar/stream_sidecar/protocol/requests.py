"""The method request/prepare, which cleans a whole request before the host sends it.

The model's earlier turns are cleaned by the same `History` as in ``message/repair``.
Then calls that share an id get their own (`repeated_ids`; for a provider that refuses
repeated ids, `turn_list` does it), and what the provider refuses is removed or replaced
(`refusals`; all of them in `wires.requests`). A model's turn at the end of the list is
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
from stream_sidecar.records import evolve
from stream_sidecar.values.jsontext import MAX_DEPTH, is_portable
from stream_sidecar.values.surrogates import whole_values
from stream_sidecar.values.units import text_size
from stream_sidecar.wires.requests.issuers import readable_items
from stream_sidecar.wires.requests.refusals import (
    Refusals,
    is_turn,
    leads_to,
    rule_of,
    server_ends,
)
from stream_sidecar.wires.requests.repeated_ids import with_own_ids
from stream_sidecar.wires.requests.seals import (
    BOUND,
    asked,
    binding_of,
    broken_seals,
    demands_thinking,
    without_seals,
)
from stream_sidecar.wires.requests.settings import refused_at_end, refused_settings
from stream_sidecar.wires.requests.turn_list import TurnList
from stream_sidecar.wires.shared.rendering import LostPart
from stream_sidecar.wires.shared.request_rules import Names
from stream_sidecar.wires.shared.request_shapes import SHAPES

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
    params = evolve(params, body=body)
    rule = rule_of(params.wire, params.provider, _model(params))
    binds = binding_of(_model(params)) is not None
    options = StreamOptions(
        provider=params.provider,
        model=_model(params),
        tools=tools_of(body) if params.tools is None else params.tools,
        policy=patched(sessions.policy, params.policy or {}),
        response_template=params.response_template,
        limits=sessions.limits,
    )
    history = History(options, _wants(params, rule), learns=not binds)
    name = SHAPES[params.wire].items
    held = body.get(name)
    items = held if isinstance(held, list) else []
    lost = [LostPart(path, "text", _HALF) for path in halves]
    cleaned = list(_cleaned(params.wire, items, history, lost))
    broken = broken_seals(items, cleaned) if binds else set()
    asks = asked(params.wire, params.provider or "", body, params.headers)
    bound: JsonObject = {}
    headers: JsonObject = {}
    if broken and asks is not None:
        bound, headers = asks
    elif broken and demands_thinking(params.wire, body, items):
        return PrepareResult(False, [LostPart(f"/{name}", "bound", BOUND)])
    elif broken:
        cleaned = list(_unsealed(cleaned, broken, name, lost))
    if rule is None or "repeated-ids" not in rule.refuses:
        prefix = _prefix(params.wire, cleaned)
        earlier = with_own_ids(params.wire, cleaned[:prefix], lost)
        cleaned = [*earlier, *cleaned[prefix:]]
    settings: JsonObject = {}
    if rule is not None:
        given = {**body, **bound}
        cleaned, settings = _freed(params, rule, given, cleaned, lost)
    elif maker := _maker(params):
        prefix = _prefix(params.wire, cleaned)
        earlier = readable_items(params.wire, cleaned[:prefix], maker, lost)
        cleaned = [*earlier, *cleaned[prefix:]]
    settings = bound | settings
    is_same = len(cleaned) == len(items) and all(map(_is_same, cleaned, items))
    if not (settings or headers or halves) and is_same:
        return PrepareResult(False, lost)
    changed = {**body, name: cleaned, **settings}
    return PrepareResult(True, lost, changed, headers or None)


def _model(params: PrepareParams) -> str | None:
    named = (params.model, params.body.get("model"), params.body.get("modelId"))
    return next((each for each in named if each and isinstance(each, str)), None)


def _maker(params: PrepareParams) -> str:
    return Names(params.provider or "", _model(params) or "").maker


def _wants(params: PrepareParams, rule: Rule | None) -> Callable[[RemovedSpan], bool]:
    """Which removals are made: reasoning stays if the provider wants it in tags, and
    calls stay if the host wants to keep them."""
    kept = _IN_TAGS if rule is not None and rule.tags else frozenset()
    if params.claims == "include":
        kept |= {"tool-call"}
    return lambda removal: removal.kind not in kept


def _cleaned(
    wire: str, items: list[Json], history: History, lost: list[LostPart]
) -> Iterator[Json]:
    """The items, with the texts of the model's earlier turns cleaned."""
    prefix = _prefix(wire, items)
    for number, item in enumerate(items):
        if number >= prefix or not is_turn(wire, item):
            history.learn(results_of(item))
            yield item
        else:
            path = f"/{SHAPES[wire].items}/{number}"
            yield _repaired(history, item, path, lost)


def _unsealed(
    items: list[Json], broken: set[str], name: str, lost: list[LostPart]
) -> Iterator[Json]:
    """The items without the sealed blocks that an edit broke."""
    for number, (item, gone) in enumerate(without_seals(items, broken)):
        lost += [
            LostPart(f"/{name}/{number}{path}", "reasoning", BOUND) for path in gone
        ]
        yield item


def _freed(
    params: PrepareParams,
    rule: Rule,
    body: JsonObject,
    items: list[Json],
    lost: list[LostPart],
) -> tuple[list[Json], JsonObject]:
    """The items without what the provider refuses, and the settings to change."""
    wire, model = params.wire, _model(params) or ""
    stores = params.body.get("store") is not False
    reasoning, maker = params.reasoning, _maker(params)
    who = params.provider or ""
    refusals = Refusals(wire, rule, model, reasoning, stores, maker, lost, who)
    prefix = _prefix(wire, items)
    freed: list[tuple[int, Json]] = []
    ends = server_ends(wire, items)
    for number, item in enumerate(items[:prefix]):
        new = refusals.clean(item, f"/{SHAPES[wire].items}/{number}", next(ends))
        if new is None and leads_to(freed, item):
            lost.append(refusals.lonely(*freed.pop()))
        freed += [] if new is None and item is not None else [(number, new)]
    continues = any(body.get(name) for name in _EARLIER)
    turns = TurnList(wire, rule, model, freed, lost, continues)
    paths = (f"/{SHAPES[wire].items}/{n}" for n in range(prefix, len(items)))
    ended = map(refusals.end, items[prefix:], paths)
    news = turns.mend() + [item for item in ended if item is not None]
    lost += refused_at_end(wire, rule, model, list(enumerate(items))[prefix:])
    return news, refused_settings(wire, rule, body, news, lost)


def _prefix(wire: str, items: list[Json]) -> int:
    """The index at which the model's turn at the end of the list begins; the length of
    the list if there is none. In ``openai-responses`` a turn is several items."""
    start = len(items)
    while start and is_turn(wire, items[start - 1]):
        start -= 1
        if wire != "openai-responses":
            break
    return start


def _repaired(history: History, item: Json, path: str, lost: list[LostPart]) -> Json:
    repair = history.repair(item)
    if repair.blocked:
        lost.append(LostPart(path, "text", _BLOCKED))
    calls = (each for each in repair.removed if each.kind == "tool-call")
    lost += [LostPart(path + call.path, "tool-call", _CLAIM) for call in calls]
    return repair.message if repair.changed else item


def _is_same(one: Json, other: Json) -> bool:
    return one is other


# The body's own tools


def tools_of(body: JsonObject) -> tuple[Tool, ...] | None:
    """The tools that a request declares, in any wire's spelling; None if it has no
    list of tools."""
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
