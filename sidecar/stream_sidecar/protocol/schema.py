"""The protocol as JSON Schema: the one source of the types of every client.

`schema` has a definition for every class of params, results and events. `table` has the
methods, notifications, events and errors with the names of their definitions. Both are
read from the tables and classes that the server itself uses, so a new field, class or
row of ``methods.METHODS`` needs no change here. This module only adds names and values
that are in no annotation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from attrs import has

from stream_sidecar import errors, events
from stream_sidecar.errors import UsageError
from stream_sidecar.history.results import KINDS, Finding, Removal
from stream_sidecar.message.message import Block, Message
from stream_sidecar.message.sources import Source
from stream_sidecar.options import Emit, Tool
from stream_sidecar.protocol import params
from stream_sidecar.protocol.announced import FRAMING_NAMES, WIRE_NAMES
from stream_sidecar.protocol.handshake import (
    PROTOCOL_VERSION,
    Capabilities,
    ConnectionOptions,
)
from stream_sidecar.protocol.json_schema import Definitions, SchemaRules
from stream_sidecar.protocol.methods import METHODS, Method
from stream_sidecar.protocol.reading_options import PATCHES, TOOL_KINDS
from stream_sidecar.provider_errors.kinds import GENERIC, SPECIFIC, STATUS
from stream_sidecar.wires import WRITERS
from stream_sidecar.wires.shared.usage import REASONS

if TYPE_CHECKING:
    from stream_sidecar.parts import JsonObject

SCHEMA_FILE = "stream-sidecar.schema.json"
TABLE_FILE = "methods.json"

_INTRODUCTION = (
    "Objects may have further properties, which readers ignore. What the sidecar sends"
    " is open: a string with x-open-enum has a value of the list, or a value of a later"
    " version, for which a reader needs a default. An object that fits only the"
    " Unknown... variant of a union is of a later version: readers skip it. What the"
    " host sends is closed: a value that is not in an enum is refused, and null equals"
    " absent."
)

_ERROR_KINDS = (*SPECIFIC.values(), *GENERIC.values(), *STATUS.values(), "unknown")
_KNOWN_VALUES: dict[tuple[type, str], tuple[str, ...]] = {
    (events.Finish, "reason"): (*REASONS, "unknown"),
    (events.ProviderError, "kind"): tuple(dict.fromkeys(_ERROR_KINDS)),
    (params.NormalizeErrorResult, "kind"): tuple(dict.fromkeys(_ERROR_KINDS)),
    (events.ToolCall, "kind"): TOOL_KINDS,
    (Source, "kind"): get_args(get_type_hints(events.Citation)["kind"]),
    (Finding, "kind"): KINDS,
    (Removal, "kind"): KINDS,
    (Emit, "wire"): (*WRITERS,),
    **{
        (kind, name): values
        for kind in (params.OpenResult, params.StreamRow, events.Metadata)
        for name, values in (("wire", WIRE_NAMES), ("framing", FRAMING_NAMES))
    },
}

_TOOL_MEMBERS = ("type", "function", "custom", "input_schema")
_SPELLINGS: dict[type, JsonObject] = {
    Tool: {
        "description": "A tool as Chat Completions or Anthropic spell it, or a"
        " provider's own tool, named by its `type`.",
        "type": "object",
        "anyOf": [{"required": [name]} for name in _TOOL_MEMBERS],
    }
}


def schema() -> JsonObject:
    """The schema: its ``$defs`` are the definitions that `table` names. Its root is an
    object with a member for each method, from which generators reach all types.

    The title of each definition is its name, because some generators (quicktype) name
    types by titles, and invent names for definitions without a title.
    """
    refusals = tuple(kind.kind for kind in _error_classes())
    definitions = Definitions(
        SchemaRules(
            unions={events.Event: "Event", Block: "Block"},
            patches=PATCHES,
            spellings=_SPELLINGS,
            known_values=_KNOWN_VALUES | {(params.ErrorData, "kind"): refusals},
            numbered=frozenset(events.EVENTS) - _outside_streams(),
            later=frozenset({(Emit, "reasoning"), (Emit, "rewrite")}),
        )
    )
    for method in METHODS.values():
        definitions.of(method.params, reads=True)
        definitions.of(result_of(method))
    definitions.of(ConnectionOptions, reads=True)
    definitions.of(Capabilities)
    definitions.of(params.PushRefusal)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "StreamSidecar",
        "description": _INTRODUCTION,
        "type": "object",
        "properties": _root(table()),
        "$defs": {
            name: {"title": name, **definition}
            for name, definition in sorted(definitions.by_name.items())
        },
    }


def _root(rows: JsonObject) -> JsonObject:
    """A member for each method and notification, with its params, result and refusal,
    and one for ``initialize``, with the options and the capabilities."""
    rows = rows["methods"] | rows["notifications"] | {"initialize": rows["initialize"]}
    return {
        name: {
            "type": "object",
            "properties": {
                part: {"$ref": f"#/$defs/{kind}"}
                for part, kind in row.items()
                if part != "notifies"
            },
        }
        for name, row in rows.items()
    }


def table() -> JsonObject:
    """Methods, notifications, events and errors, with the names of definitions."""
    notifying = [method for method in METHODS.values() if method.notifies]
    return {
        "protocolVersion": PROTOCOL_VERSION,
        "schema": SCHEMA_FILE,
        "initialize": {
            "initializationOptions.streamSidecar": ConnectionOptions.__name__,
            "capabilities.experimental.streamSidecar": Capabilities.__name__,
        },
        "methods": {method.name: _row(method) for method in METHODS.values()},
        "notifications": {
            method.notifies: {
                "params": result_of(method).__name__,
                "refusal": "PushRefusal",
            }
            for method in notifying
        },
        "events": {vars(kind)["type"]: kind.__name__ for kind in events.EVENTS},
        "errors": {
            kind.kind: {"code": kind.code, "retryable": kind.retryable}
            for kind in _error_classes()
        },
    }


def result_of(method: Method) -> type[Any]:
    """The class that a method's handler returns."""
    name = method.handler.__annotations__["return"]
    kind: type[Any] = getattr(params, name)
    return kind


def _row(method: Method) -> JsonObject:
    row = {"params": method.params.__name__, "result": result_of(method).__name__}
    return {**row, "notifies": method.notifies} if method.notifies else row


def _outside_streams() -> set[Any]:
    """Event classes that some result also has outside of a stream, without ``seq``."""
    classes: set[Any] = set()
    hints: list[Any] = [result_of(method) for method in METHODS.values()]
    while hints:
        hint = hints.pop()
        if hint in (events.Event, Message) or (has(hint) and hint in classes):
            continue
        if has(hint):
            classes.add(hint)
            hints += get_type_hints(hint).values()
        hints += get_args(hint)
    return classes & {*events.EVENTS}


def _error_classes() -> list[type[UsageError]]:
    """The classes of all mistakes of a host, those of JSON-RPC itself first."""
    return [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type)
        and issubclass(kind, UsageError)
        and kind is not UsageError
    ]
