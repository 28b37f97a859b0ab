"""Messages in JSON as agents keep it, found anywhere in a document.

`messages_in` finds the messages of a document at any depth. The document may be a
message, a list of messages, or an event or session that holds some, also as JSON in a
string. The input and the output of tools are not searched: messages there are quoted,
and are not a model's in this session. On the way `messages_in` notes the texts that
belong to no message. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.history.messages import Border, Text, read_message
from stream_sidecar.history.paths import at
from stream_sidecar.history.shapes import is_question, shape_of
from stream_sidecar.history.unread import UnreadText, is_text_name
from stream_sidecar.records import evolve, frozen
from stream_sidecar.values.jsontext import loads
from stream_sidecar.wires.requests.seals import STATE_LISTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.history.messages import StoredMessage
    from stream_sidecar.history.shapes import RoleElsewhere
    from stream_sidecar.parts import Json
    from stream_sidecar.values.json_places import Path

_DEEPEST = 32
"""Below this many objects and arrays no message is looked for."""

_BODIES = ("content", "parts")
_OPERATIONS = (0, 1, 2)
"""Kinds of operations: the whole state, a value in it, more items of a list."""

_TYPES = frozenset(("ai", "human", "tool", "system"))
_MODELS = ("model", "modelID", "model_name", "gen_ai.request.model")
_PROVIDERS = ("provider", "providerID", "model_provider", "gen_ai.provider.name")
_ORIGIN_HOLDERS: tuple[Path, ...] = (
    ("info",),
    ("model",),
    ("response_metadata",),
    ("data", "response_metadata"),
    ("kwargs", "response_metadata"),
)
"""Objects of a record with the names of its model and provider: opencode's, Zed's,
LangChain's."""

_ORIGINS = frozenset((*_MODELS, *_PROVIDERS, *(path[0] for path in _ORIGIN_HOLDERS)))

_TOOL_DATA = frozenset(
    (
        "arguments",
        "rawInput",
        "rawOutput",
        "structuredContent",
        "toolUseResult",
        "toolCallResult",
        "toolInput",
        "toolOutput",
        "toolResult",
        "structured_content",
        "tool_input",
        "tool_output",
        "tool_result",
        "tool_response",
        "tool_args",
        "observation",
    )
)
"""Names of a tool's input or output, in any record."""

_TOOL_RECORD_DATA = frozenset(
    (
        "args",
        "parameters",
        "input",
        "output",
        "result",
        "results",
        "response",
        "content",
        "contents",
        "partialOutput",
        "responseParts",
        "resultDisplay",
    )
)
"""Names of a tool's input or output in the record of a tool, at any depth. Elsewhere
they are the names of whole requests and responses, which hold messages."""

_NAMES_IN_TOOL_RECORDS = frozenset(
    (
        "toolCallId",
        "toolCallID",
        "toolUseId",
        "toolUseID",
        "toolName",
        "tool_call_id",
        "tool_use_id",
        "tool_name",
    )
)
_MESSAGES_AS_TEXT = frozenset(("gen_ai.input.messages", "gen_ai.output.messages"))
"""Attributes of OpenTelemetry, which may hold messages as a string of JSON."""

_VALUES = (("value", "stringValue"), ("value", "string_value"), ("value",))
"""The places of the value in an attribute that has its name in ``key``: the first two
in OTLP, the last in Jaeger's JSON."""

_STRING = patterns.compile(r'"((?:[^"\\]|\\.)*+)')

_TOOL_TYPE = patterns.compile(
    r"(?:^|[._-])(?:tool|TOOL)(?![a-z])|^(?:function|mcp)_call"
)
"""Found in the ``type`` of a tool's record: ``tool.execution_start``,
``mcp_tool_call_end``, ``function_call``."""


BY_LINE = ("jsonl", "ndjson", "jsonlines")
"""Endings of files, and editors' names of languages, with one JSON document a line."""

WHOLE = ("json",)
"""Endings of files, and editors' names of languages, with one JSON document."""


def messages_in(
    document: Json,
    role_elsewhere: RoleElsewhere | None = None,
    unread: list[UnreadText] | None = None,
) -> Iterator[StoredMessage]:
    """All messages and results of tools, in the order of the document. ``unread`` gets
    the texts that belong to no message."""
    state = _place_of_operation(document)
    if state is None:
        search = _Search((), (), role_elsewhere, unread)
        yield from search.within(document, ())
    else:
        search = _Search(("v",), state, role_elsewhere, unread)
        yield from search.within(document["v"], ("v",))


def _place_of_operation(document: Json) -> Path | None:
    """The place in a session's state that an operation of VS Code's log changes:
    ``("requests", 0, "response")`` for ``{"kind": 1, "k": ["requests", 0, "response"],
    "v": [..]}``. None if the document is not an operation."""
    if not isinstance(document, dict) or "v" not in document:
        return None
    kind, place = document.get("kind"), document.get("k", [])
    if kind not in _OPERATIONS or not isinstance(place, list):
        return None
    return tuple(step for step in place if isinstance(step, str | int))


@frozen
class _Around:
    """What the objects around a value say of it: the model and the provider that they
    name, and whether one of them is a record of a tool."""

    model: str | None = None
    provider: str | None = None
    of_tool: bool = False


_NOTHING_AROUND = _Around()


@frozen
class _Search:
    """A search for messages in the value at ``root`` of a document. ``state``: the
    value's place in its session, if the document is an operation of a log. ``unread``
    gets the texts that belong to no message."""

    root: Path
    state: Path
    role_elsewhere: RoleElsewhere | None
    unread: list[UnreadText] | None = None

    def within(
        self, value: Json, path: Path, around: _Around = _NOTHING_AROUND
    ) -> Iterator[StoredMessage]:
        """The messages in ``value``: itself, or those in its members."""
        if path[-1:] == (0,) and is_question(value):
            return
        if isinstance(value, dict) and not _ORIGINS.isdisjoint(value):
            model = _origin(value, _MODELS) or around.model
            provider = _origin(value, _PROVIDERS) or around.provider
            around = evolve(around, model=model, provider=provider)
        message = self._message(value, path, around)
        if message is not None:
            yield message
        elif isinstance(value, dict | list) and len(path) < _DEEPEST:
            if not around.of_tool and _is_of_tool(value):
                around = evolve(around, of_tool=True)
            yield from self._in_members(value, path, around)

    def _message(
        self, value: Json, path: Path, around: _Around
    ) -> StoredMessage | None:
        """The message that ``value`` is; None if it is none. If parts of a model's
        message are odd, its texts that no row reads go to ``unread``."""
        place = (*self.state, *path[len(self.root) :]) if self.root else path
        shape = shape_of(value, place, self.role_elsewhere)
        if shape is None and not _is_message(value):
            return None
        message = read_message(value, shape, path, around.model, around.provider)
        if shape is not None and self.unread is not None:
            items = [item for field in message.fields for item in field]
            if not items or any(isinstance(item, Border) for item in items):
                texts = (item.path for item in items if isinstance(item, Text))
                read = {(*path, *each) for each in texts}
                self.unread.extend(
                    UnreadText(each, text, self.state)
                    for each, text in _texts(value, path)
                    if each not in read
                )
        return message

    def _in_members(
        self, value: Json, path: Path, around: _Around
    ) -> Iterator[StoredMessage]:
        """The messages in an object or a list, first those in strings of JSON. The
        other strings at names for text go to ``unread``."""
        as_text = _messages_as_text(value)
        for place, text in as_text.items():
            yield from self._within_text(text, (*path, *place), around)
        read = {place[0] for place in as_text}
        for name, item, is_text in _members(value, path, of_tool=around.of_tool):
            if name in read:
                continue
            if isinstance(item, dict | list):
                yield from self.within(item, (*path, name), around)
            elif is_text and self.unread is not None:
                self.unread.append(UnreadText((*path, name), item, self.state))

    def _within_text(
        self, text: str, path: Path, around: _Around
    ) -> Iterator[StoredMessage]:
        """The messages in a string of JSON. The strings in one that was cut off, like
        an attribute that was too long, go to ``unread``."""
        try:
            value = loads(text)
        except (ValueError, RecursionError):
            if self.unread is not None:
                said = (each[1] for each in _STRING.finditer(text))
                self.unread.extend(UnreadText(path, each, self.state) for each in said)
        else:
            # Messages as text are no input of a tool, whatever record they are in.
            yield from self.within(value, path, evolve(around, of_tool=False))


def _messages_as_text(value: Json) -> dict[Path, str]:
    """The strings in an object that hold messages as JSON, by their places in it."""
    if not isinstance(value, dict):
        return {}
    key = value.get("key")
    is_attribute = isinstance(key, str) and key in _MESSAGES_AS_TEXT
    if not is_attribute and _MESSAGES_AS_TEXT.isdisjoint(value):
        return {}
    named = ((name,) for name in value if name in _MESSAGES_AS_TEXT)
    places = _VALUES if is_attribute else named
    values = {place: at(value, place) for place in places}
    return {place: text for place, text in values.items() if isinstance(text, str)}


def _members(
    value: Json, path: Path, *, of_tool: bool
) -> Iterator[tuple[str | int, Json, bool]]:
    """The members of an object or the items of a list, without the input and output of
    tools, and for each whether it is a string at a name for text."""
    is_of_texts = isinstance(value, list) and bool(path) and is_text_name(path[-1])
    for name, item in value.items() if isinstance(value, dict) else enumerate(value):
        if name not in _TOOL_DATA and not (of_tool and name in _TOOL_RECORD_DATA):
            is_text = isinstance(item, str) and (is_of_texts or is_text_name(name))
            yield name, item, is_text


def _texts(
    value: Json, path: Path, *, of_tool: bool = False
) -> Iterator[tuple[Path, str]]:
    """The strings at names for text, except those in a tool's input or output."""
    of_tool = of_tool or _is_of_tool(value)
    for name, item, is_text in _members(value, path, of_tool=of_tool):
        if is_text:
            yield (*path, name), item
        elif isinstance(item, dict | list) and len(path) < _DEEPEST:
            yield from _texts(item, (*path, name), of_tool=of_tool)


def _is_of_tool(value: Json) -> bool:
    """Whether the names of members or the type are those of a tool's record."""
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    return not _NAMES_IN_TOOL_RECORDS.isdisjoint(value) or (
        isinstance(kind, str) and _TOOL_TYPE.search(kind) is not None
    )


def _is_message(value: Json) -> bool:
    """Whether ``value`` has a role and content, or is a single result of a tool."""
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    if not isinstance(kind, str):
        kind = ""
    if kind.endswith("_call_output"):
        return "output" in value
    has_role = isinstance(value.get("role"), str) or kind in _TYPES
    return has_role and any(name in value for name in (*_BODIES, *STATE_LISTS))


def named_model(record: Json) -> str | None:
    """The model that a record, or an object in it for that, names."""
    return _origin(record, _MODELS) if isinstance(record, dict) else None


def _origin(record: dict[str, Json], names: tuple[str, ...]) -> str | None:
    """The first of ``names`` that a record, or an object in it for them, has."""
    paths = [(), *(path for path in _ORIGIN_HOLDERS if path[0] in record)]
    values = (at(record, (*path, name)) for path in paths for name in names)
    return next((value for value in values if isinstance(value, str) and value), None)
