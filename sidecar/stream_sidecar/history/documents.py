"""Messages in JSON as agents keep it: found anywhere in a document, cut in its text.

`messages_in` finds the messages of a document at any depth. The document may be a
message, a list of messages, or an event or session that holds some, also as JSON in a
string. The input and the output of tools are not searched: messages there are quoted,
and are not a model's in this session. On the way `messages_in` notes the texts that
belong to no message. `changes_of` turns repairs into changes of the document's text.
Everything else in that text stays as it is: escapes, spaces, odd numbers.
Pure, like ``stream_sidecar.history``.
"""

from __future__ import annotations

from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.history.messages import Border, Text, read_message
from stream_sidecar.history.shapes import at, is_question, shape_of
from stream_sidecar.history.unread import UnreadText, is_text_name
from stream_sidecar.records import frozen
from stream_sidecar.values.json_places import items, locate, offsets
from stream_sidecar.values.jsontext import loads
from stream_sidecar.values.surrogates import without_halves
from stream_sidecar.wires.requests.seals import STATE_LISTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stream_sidecar.history.messages import Stored
    from stream_sidecar.history.results import Edit, Finding, Removal, Repair
    from stream_sidecar.history.shapes import RecordShape, RoleElsewhere
    from stream_sidecar.parts import Json
    from stream_sidecar.values.json_places import JsonSpan, Path, Place

Cut: TypeAlias = "JsonSpan"
"""In code points of a document's text."""

Change: TypeAlias = tuple[int, int, str]
"""A cut, and what comes in its place."""

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

_HALF_ESCAPE = patterns.compile(r"(\\u)[dD][89a-fA-F][0-9a-fA-F]{2}")

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


@frozen
class FoundMessage:
    """A message at ``path`` of a document, and what the document says of its origin.

    ``shape`` is None if the message is not a model's.
    """

    path: Path
    message: Json
    model: str | None = None
    provider: str | None = None
    shape: RecordShape | None = None

    @cached_property
    def stored(self) -> Stored | None:
        """The message as `read_message` reads it."""
        return read_message(self.message, self.shape)


def messages_in(
    document: Json,
    role_elsewhere: RoleElsewhere | None = None,
    unread: list[UnreadText] | None = None,
) -> Iterator[FoundMessage]:
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
class _Search:
    """A search for messages in the value at ``root`` of a document. ``state``: the
    value's place in its session, if the document is an operation of a log. ``unread``
    gets the texts that belong to no message."""

    root: Path
    state: Path
    role_elsewhere: RoleElsewhere | None
    unread: list[UnreadText] | None = None

    def within(
        self,
        value: Json,
        path: Path,
        model: str | None = None,
        provider: str | None = None,
        *,
        of_tool: bool = False,
    ) -> Iterator[FoundMessage]:
        """The messages in ``value``. ``model`` and ``provider``: named by the objects
        around the value. ``of_tool``: the value is in a record of a tool."""
        if isinstance(value, dict) and not _ORIGINS.isdisjoint(value):
            model = _origin(value, _MODELS) or model
            provider = _origin(value, _PROVIDERS) or provider
        place = (*self.state, *path[len(self.root) :]) if self.root else path
        shape = shape_of(value, place, self.role_elsewhere)
        if path[-1:] == (0,) and is_question(value):
            return
        if shape is not None or _is_message(value):
            found = FoundMessage(path, value, model, provider, shape)
            if shape is not None and self.unread is not None and _has_odd_parts(found):
                self.unread.extend(self._not_read(found))
            yield found
            return
        if not isinstance(value, dict | list) or len(path) >= _DEEPEST:
            return
        of_tool = of_tool or _is_of_tool(value)
        unread, is_text = self.unread, _holds_text(value, path)
        as_text = _messages_as_text(value)
        for place, text in as_text.items():
            where = (*path, *place)
            yield from self._within_text(text, where, model, provider)
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        for name, item in inner:
            if as_text and any(name == place[0] for place in as_text):
                continue
            if isinstance(item, str):
                if (
                    unread is not None
                    and (is_text or is_text_name(name))
                    and not _is_data(name, of_tool)
                ):
                    unread.append(UnreadText((*path, name), item, self.state))
            elif isinstance(item, dict | list) and not _is_data(name, of_tool):
                where = (*path, name)
                yield from self.within(item, where, model, provider, of_tool=of_tool)

    def _within_text(
        self, text: str, path: Path, model: str | None, provider: str | None
    ) -> Iterator[FoundMessage]:
        """The messages in a string of JSON. A string that was cut off, like an
        attribute that was too long, has no messages: the strings in it go to
        ``unread``."""
        try:
            value = loads(text)
        except (ValueError, RecursionError):
            if self.unread is not None:
                said = (each[1] for each in _STRING.finditer(text))
                self.unread.extend(UnreadText(path, each, self.state) for each in said)
        else:
            yield from self.within(value, path, model, provider)

    def _not_read(self, found: FoundMessage) -> Iterator[UnreadText]:
        """The texts of a model's message that its shape does not read."""
        fields = found.stored.fields if found.stored is not None else ()
        items = (item for field in fields for item in field)
        read = {(*found.path, *item.path) for item in items if isinstance(item, Text)}
        for path, text in _texts(found.message, found.path):
            if path not in read:
                yield UnreadText(path, text, self.state)


def _messages_as_text(value: Json) -> dict[Path, str]:
    """The strings in an object that hold messages as JSON, by their places in it."""
    if not isinstance(value, dict):
        return {}
    is_attribute = value.get("key") in _MESSAGES_AS_TEXT
    if not is_attribute and _MESSAGES_AS_TEXT.isdisjoint(value):
        return {}
    places = _VALUES if is_attribute else tuple((name,) for name in _MESSAGES_AS_TEXT)
    values = {place: at(value, place) for place in places}
    return {place: text for place, text in values.items() if isinstance(text, str)}


def _has_odd_parts(found: FoundMessage) -> bool:
    """Whether a model's message has no text, or has parts that neither its row nor the
    general forms read."""
    if found.stored is None:
        return True
    return any(
        isinstance(item, Border) for each in found.stored.fields for item in each
    )


def _texts(
    value: Json, path: Path, *, of_tool: bool = False
) -> Iterator[tuple[Path, str]]:
    """The strings at names for text, except those in a tool's input or output."""
    of_tool, is_text = of_tool or _is_of_tool(value), _holds_text(value, path)
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for name, item in inner:
        if _is_data(name, of_tool):
            continue
        if isinstance(item, dict | list):
            if len(path) < _DEEPEST:
                yield from _texts(item, (*path, name), of_tool=of_tool)
        elif isinstance(item, str) and (is_text or is_text_name(name)):
            yield (*path, name), item


def _holds_text(value: Json, path: Path) -> bool:
    """Whether ``value`` is a list at a name for text."""
    return isinstance(value, list) and bool(path) and is_text_name(path[-1])


def _is_data(name: str | int, of_tool: bool) -> bool:
    """Whether a member of that name is a tool's input or output."""
    return name in _TOOL_DATA or (of_tool and name in _TOOL_RECORD_DATA)


def _is_of_tool(value: Json) -> bool:
    """Whether ``value`` is a record of a tool, by the names of its members or by its
    type."""
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
    inner = (at(record, path) for path in _ORIGIN_HOLDERS if path[0] in record)
    holders = (record, *(each for each in inner if isinstance(each, dict)))
    return next(filter(None, (_first_string(each, names) for each in holders)), None)


def _first_string(value: dict[str, Json], names: tuple[str, ...]) -> str | None:
    values = (value.get(name) for name in names)
    return next((each for each in values if isinstance(each, str) and each), None)


def path_of(pointer: str, message: Json) -> Path:
    """The path of the value at ``pointer``, a JSON Pointer into ``message``."""
    path: list[str | int] = []
    for name in pointer.split("/")[1:]:
        is_index = isinstance(message, list)
        step = int(name) if is_index else name.replace("~1", "/").replace("~0", "~")
        message = message[step]
        path.append(step)
    return tuple(path)


def spans_of(
    text: str, by_message: Iterable[tuple[FoundMessage, list[Finding] | list[Removal]]]
) -> list[list[Cut]]:
    """The places of the findings or removals in ``text``, the document of the messages:
    one list of spans for each message."""
    wanted = [(found, _by_path(found, findings)) for found, findings in by_message]
    paths = [path for _, strings in wanted for path, _ in strings]
    places = locate(text, paths) if paths else {}  # without, it may be no JSON
    return [
        [span for path, each in strings for span in _cuts(places[path], each)]
        for _, strings in wanted
    ]


def _by_path(
    found: FoundMessage, findings: list[Finding] | list[Removal]
) -> list[tuple[Path, list[Any]]]:
    return [
        ((*found.path, *path_of(pointer, found.message)), list(group))
        for pointer, group in groupby(findings, key=lambda each: each.path)
    ]


def edited_in(found: FoundMessage, repair: Repair) -> list[Path]:
    """The paths, in the document, of the strings that a repair edits."""
    pointers = dict.fromkeys(edit.path for edit in repair.edits)
    return [(*found.path, *path_of(each, found.message)) for each in pointers]


def changes_of(
    text: str, repairs: Iterable[tuple[FoundMessage, Repair]]
) -> list[Change]:
    """The changes of ``text``, the document of the messages, that make the repairs.
    They are sorted and do not overlap."""
    strings: dict[Path, list[Edit]] = {}
    dropped: dict[Path, set[int]] = {}
    for found, repair in repairs:
        gone = {path_of(each, found.message) for each in repair.dropped}
        for part in gone:
            dropped.setdefault((*found.path, *part[:-1]), set()).add(int(part[-1]))
        for edit in repair.edits:
            path = path_of(edit.path, found.message)
            if not any(path[:end] in gone for end in range(len(path) + 1)):
                strings.setdefault((*found.path, *path), []).append(edit)
    places = locate(text, [*strings, *dropped])
    changes = [
        (start, end, halves_replaced(text[start:end]) if edit.new_text else "")
        for path, edits in strings.items()
        for edit, (start, end) in zip(edits, _cuts(places[path], edits), strict=True)
    ]
    for path, numbers in dropped.items():
        cuts = _outward(places[path], _without(items(places[path]), numbers))
        changes += [(start, end, "") for start, end in cuts]
    return sorted(changes)


def halves_replaced(written: str) -> str:
    """Halves of characters as a JSON text has them, replaced by U+FFFD: an escape by an
    escape of its length, also in a string within a string."""
    return without_halves(_HALF_ESCAPE.sub(r"\1fffd", written))


def _cuts(place: Place, edits: list[Any]) -> Iterator[Cut]:
    """The spans of sorted ``edits`` of the string at ``place``."""
    points = (point for edit in edits for point in (edit.start, edit.end))
    return _paired(place.outward(offsets(place, points)))


def _outward(place: Place, spans: Iterable[JsonSpan]) -> Iterator[Cut]:
    """Sorted spans in the text of ``place``, as spans of the document."""
    return _paired(place.outward(point for span in spans for point in span))


def _paired(points: list[int]) -> Iterator[JsonSpan]:
    return zip(points[::2], points[1::2], strict=True)


def drops_of(text: str, found: FoundMessage, parts: Iterable[str]) -> dict[str, Cut]:
    """For each of ``parts``, the cut that removes this part alone from its array, with
    one comma."""
    paths = {part: (*found.path, *path_of(part, found.message)) for part in parts}
    lists = {path[:-1] for path in paths.values()}
    places = locate(text, lists) if lists else {}
    inner = {path: items(places[path]) for path in lists}
    alone = {
        part: _without(inner[path[:-1]], {int(path[-1])}, int(path[-1]))
        for part, path in paths.items()
    }
    return {
        part: next(_outward(places[paths[part][:-1]], spans))
        for part, spans in alone.items()
    }


def _without(
    places: list[JsonSpan], numbers: set[int], first: int = 0
) -> Iterator[JsonSpan]:
    """The cuts that remove the items ``numbers`` from an array, each with one of its
    commas. The items before ``first`` stay."""
    kept = first - 1 if first else None
    for number in range(first, len(places)):
        start, end = places[number]
        if number not in numbers:
            kept = number
        elif kept is not None:
            yield places[number - 1][1], end
        elif number + 1 < len(places):
            yield start, places[number + 1][0]
        else:
            yield start, end


def spliced(text: str, changes: Iterable[Change]) -> str:
    """``text`` with the changes."""
    kept: list[str] = []
    at = 0
    for start, end, new in changes:
        kept += (text[at:start], new)
        at = end
    return "".join([*kept, text[at:]])
