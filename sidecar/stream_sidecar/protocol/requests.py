"""The method request/prepare: a whole request, before a host sends it.

The model's earlier turns are cleaned as ``message/repair`` cleans them, by the same
`History`, and then freed of what the provider refuses (`wires.refused`). A turn that
ends the list is a prefix by the host and stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.history.history import History
from stream_sidecar.history.messages import results_of
from stream_sidecar.options import StreamOptions, Tool
from stream_sidecar.protocol.params import PrepareResult
from stream_sidecar.protocol.reading_options import patched
from stream_sidecar.values.jsontext import is_portable
from stream_sidecar.values.units import text_size
from stream_sidecar.wires.refused import (
    LostPart,
    Refusals,
    is_turn,
    items_of,
    rule_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from stream_sidecar.history.spans import RemovedSpan
    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.protocol.params import PrepareParams
    from stream_sidecar.protocol.sessions import Sessions
    from stream_sidecar.wires.shared.request_rules import Rule

_BLOCKED = "nothing else of the message would be left, so it goes as it is"
_CLAIM = "the model wrote it into its text"
_UNWRITABLE = "it has values that cannot be written back, so it goes as it is"
_TOO_LONG = "it is longer than maxDocumentChars, so it goes as it is"
_IN_TAGS = frozenset(("reasoning", "delimiter"))


def prepare_request(sessions: Sessions, params: PrepareParams) -> PrepareResult:
    """``request/prepare``: the body as it may go; absent where it may as it is."""
    body = params.body
    if why := _why_not(body, sessions.limits.max_document_chars):
        return PrepareResult(False, [LostPart("", "body", why)])
    named = (body.get(name) for name in ("model", "modelId"))
    model = params.model or next(
        (each for each in named if isinstance(each, str)), None
    )
    rule = rule_of(params.wire, params.provider, model)
    history = History(
        StreamOptions(
            provider=params.provider,
            model=model,
            tools=_tools(body) if params.tools is None else params.tools,
            policy=patched(sessions.policy, params.policy or {}),
            limits=sessions.limits,
        ),
        _wants(params, rule),
    )
    refusals = None
    if rule is not None:
        stores = body.get("store") is not False
        refusals = Refusals(params.wire, rule, params.reasoning, stores)
    name, items = items_of(params.wire, body)
    news, lost = _prepared(params.wire, name, items, history, refusals)
    if len(news) == len(items) and all(map(_is, news, items)):
        return PrepareResult(False, lost)
    return PrepareResult(True, lost, {**body, name: news})


def _why_not(body: JsonObject, longest: int) -> str | None:
    """Why a body is left alone."""
    if text_size(body) > longest:
        return _TOO_LONG
    return None if is_portable(body) else _UNWRITABLE


def _wants(params: PrepareParams, rule: Rule | None) -> Callable[[RemovedSpan], bool]:
    """What is taken out of texts: no reasoning that the provider wants in tags, and no
    calls that the host wants to keep."""
    kept = _IN_TAGS if rule is not None and rule.tags else frozenset()
    if params.claims == "include":
        kept |= {"tool-call"}
    return lambda removal: removal.kind not in kept


def _prepared(
    wire: str,
    name: str,
    items: list[Json],
    history: History,
    refusals: Refusals | None,
) -> tuple[list[Json], list[LostPart]]:
    """The items as they go, and what of them does not."""
    news: list[Json] = []
    lost: list[LostPart] = []
    prefix = _prefix(wire, items)
    for number, item in enumerate(items):
        path = f"/{name}/{number}"
        new = item
        if number >= prefix:
            news.append(item)
            continue
        if is_turn(wire, item):
            new = _cleaned(history, item, path, lost)
        else:
            history.learn(results_of(item))
        freed = new if refusals is None else refusals.free(new, path)
        news += [] if freed is None and item is not None else [freed]
    return news, lost + ([] if refusals is None else refusals.lost)


def _prefix(wire: str, items: list[Json]) -> int:
    """Where the turn begins that ends the list: a message, or several items."""
    start = len(items)
    while start and is_turn(wire, items[start - 1]):
        start -= 1
        if wire != "openai-responses":
            break
    return start


def _cleaned(history: History, item: Json, path: str, lost: list[LostPart]) -> Json:
    repair = history.repair(item)
    if repair.blocked:
        lost.append(LostPart(path, "text", _BLOCKED))
    calls = (each for each in repair.removed if each.kind == "tool-call")
    lost += [LostPart(path + call.path, "tool-call", _CLAIM) for call in calls]
    return repair.message if repair.changed else item


def _is(one: Json, other: Json) -> bool:
    return one is other


# The body's own tools


def _tools(body: JsonObject) -> tuple[Tool, ...] | None:
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
    """Declarations in the spelling of any wire; Gemini's stand in groups."""
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
