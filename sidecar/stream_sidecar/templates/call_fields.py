"""The fields of a response template that hold calls, as grammars.

A field has an opener, a body that one of the parsers in `_BODIES` reads, and a closer.
Its ``transform`` becomes a `CallShape`: where in the opener's groups and in the body a
call's name, arguments and id are found. Example: ``{"name": "{name}", "arguments":
"{content}"}`` takes the name from a group of the opener and the body as the arguments.
"""

from __future__ import annotations

from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.forms.call_bodies import (
    ARGUMENT_KEYS,
    ID_KEYS,
    NAME_KEYS,
    Parameter,
    arguments_at,
    arguments_of,
    calls_by,
    calls_of,
    cut_calls,
    cut_part,
    properties,
    python_calls,
    typed,
)
from stream_sidecar.forms.form import Found, MalformedError, WrittenCall
from stream_sidecar.forms.grammar import EndedError, MismatchError, literals
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.records import evolve, frozen
from stream_sidecar.templates.anchors import (
    TemplateError,
    made_pattern,
    members,
    parsed_pattern,
)
from stream_sidecar.templates.stranger_patterns import fits, may_lack
from stream_sidecar.values.jsontext import dumps, loads
from stream_sidecar.values.pythonic import CallScanner
from stream_sidecar.values.relaxed import ObjectScanner

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.forms.call_bodies import Calls
    from stream_sidecar.forms.grammar import Cursor, Extent, Reading
    from stream_sidecar.templates.anchors import Anchor
    from stream_sidecar.templates.stranger_patterns import StrangerPattern

CONTENT = "content"
"""The name of the body in a ``transform``, and of the field with the answer."""


_ARGUMENTS: dict[str, dict[str, tuple[Any, str]]] = {
    "text": {"strip": (bool, "true or false")},
    "int": {},
    "float": {},
    "bool": {},
    "json": {
        "unquoted_keys": (bool, "true or false"),
        "string_delims": (list, "an array"),
        "allow_non_json": (bool, "true or false"),
    },
    "xml-inline": {
        "tag_pattern": (str, "a string"),
        "value_parser": (dict, "an object"),
        "merge_duplicates": (bool, "true or false"),
    },
    "kv-lines": {
        "line_sep": (str, "a string"),
        "kv_sep": (str, "a string"),
        "strip": (bool, "true or false"),
        "value_parser": (dict, "an object"),
    },
    "python-call-list": {},
    "gemma4-tool-call": {},
}
"""Parser of a body -> its arguments, each with its type and how an error names that."""


# The shape of a call

_PLACEHOLDER = patterns.compile(r"\{(\w++(?:\.\w++)*+)\}")


@frozen
class ValuePlace:
    """Where a part of a call is found. ``keys``: a path that begins with ``content``,
    with a group of a pattern, or with a member of a list's item. Without keys, the part
    is ``constant``."""

    keys: tuple[str, ...] = ()
    constant: Any = None

    def find(self, scope: dict[str, Any]) -> Any:
        value: Any = scope
        for key in self.keys:
            value = value.get(key) if isinstance(value, dict) else None
        return value if self.keys else self.constant


@frozen
class CallShape:
    """How a ``transform`` makes a call of a body: where the name, the arguments and the
    id are found. ``whole``: where the complete call is found, instead of these.
    ``each``: the body is a list, and each of its items makes a call."""

    name: ValuePlace = ValuePlace()
    arguments: ValuePlace = ValuePlace(constant={})
    id: ValuePlace = ValuePlace()
    whole: ValuePlace | None = None
    each: bool = False


def shape_of(
    given: dict[str, Any], groups: frozenset[str], path: str
) -> CallShape | None:
    """The shape of the call that ``transform`` makes of ``groups``, if any."""
    each = given.get("transform_each", False)
    transform = given.get("transform")
    if transform is None:
        if each or groups:
            group_kind = "transform_each" if each else "a named group"
            raise TemplateError(path, f"{group_kind} stands without a transform")
        return CallShape(whole=ValuePlace((CONTENT,)))
    roots = None if each else frozenset((CONTENT, *groups))
    _check_places(transform, roots, f"{path}.transform")
    if isinstance(transform, list) and len(transform) == 1:
        transform = transform[0]
    if isinstance(transform, str):
        return CallShape(whole=_place(transform), each=each)
    body = transform.get("function", transform) if isinstance(transform, dict) else None
    if isinstance(body, str) and "function" in transform:
        return CallShape(whole=_place(body), each=each)
    if not isinstance(body, dict) or not any(key in body for key in NAME_KEYS):
        return None
    name = _place(_pick(body, NAME_KEYS, ""))
    arguments = _place(_pick(body, ARGUMENT_KEYS, {}))
    return CallShape(name, arguments, _place(_pick(transform, ID_KEYS, "")), each=each)


def _pick(value: dict[str, Any], keys: tuple[str, ...], otherwise: Any) -> Any:
    return next((value[key] for key in keys if key in value), otherwise)


def _place(value: Any) -> ValuePlace:
    match = _PLACEHOLDER.fullmatch(value) if isinstance(value, str) else None
    return (
        ValuePlace(tuple(match[1].split("."))) if match else ValuePlace(constant=value)
    )


def _check_places(value: Any, roots: frozenset[str] | None, path: str) -> None:
    """Raises if a placeholder stands in text, or refers to none of ``roots``."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            _check_places(item, roots, f"{path}.{key}")
    elif isinstance(value, str) and (match := _PLACEHOLDER.search(value)):
        if match[0] != value:
            raise TemplateError(path, "mixes a placeholder with other text")
        root = match[1].partition(".")[0]
        if roots is not None and root not in roots:
            raise TemplateError(path, f"{root} is neither content nor a group")


@frozen(eq=False)
class ParameterTags:
    """How parameters are written in tags. ``head``: the tag before a value, with the
    key. ``tail``: the tag after it. ``allows``: whether a value may have a character.
    ``strips``: whether a character is cut off at the value's end. ``merges``: values
    with the same key become a list."""

    head: StrangerPattern
    tail: StrangerPattern
    allows: Callable[[str], bool]
    strips: tuple[Callable[[str], bool], ...] = ()
    merges: bool = False

    def value(self, cursor: Cursor, *follows: str) -> Reading[Extent]:
        """Reads a value and the first tail before one of ``follows``."""
        start = cursor.position
        while True:
            (_, end), _ = yield from _until(cursor, self.tail.heads, self.tail.read)
            yield from cursor.space()
            if (yield from cursor.ahead(*follows)) or not (yield from cursor.peek()):
                return start, end

    def text(self, raw: str, part: Extent) -> str:
        start, end = part
        while end > start and any(strip(raw[end - 1]) for strip in self.strips):
            end -= 1
        text = raw[start:end]
        if not all(map(self.allows, text)):
            raise MalformedError("a value has other characters")
        return text


Groups: TypeAlias = dict[str, str]


def _until(
    cursor: Cursor, heads: tuple[str, ...], read: Callable[[Cursor], Reading[Groups]]
) -> Reading[tuple[Extent, Groups]]:
    """Reads up to where ``read`` succeeds; the extent before it, and its result."""
    start = cursor.position
    while True:
        (_, end), _ = yield from cursor.until(literals(*heads))
        try:
            return (start, end), (yield from read(cursor))
        except MismatchError:  # it only began like a tag
            cursor.index += 1


_MOST_BETWEEN = 256
"""At most this many code points may stand between the tags of parameters."""


def _next_head(cursor: Cursor, *heads: str) -> Reading[str]:
    """Reads a short text up to one of ``heads`` and returns it, unread. Raises if the
    text is longer than `_MOST_BETWEEN`."""
    table, start = literals(*heads), cursor.position
    while True:
        cursor.index, head = table.next(cursor.text, cursor.index, final=cursor.final)
        if cursor.position > start + _MOST_BETWEEN:
            raise cursor.fails_at(start + _MOST_BETWEEN + 1)
        if head is not None:
            return head
        if cursor.final:
            raise EndedError
        yield


@frozen(eq=False)
class CallField:
    """A field with calls. ``content``: the parser of its body; ``args``: the parser's
    arguments. ``kind``: the kind of parameters that the tool does not declare (see
    `Parameter`)."""

    open: Anchor
    close: Anchor
    shape: CallShape
    content: str
    args: dict[str, Any]
    tags: ParameterTags | None = None
    kind: str = ""

    def grammar(self, cursor: Cursor) -> Reading[Found]:
        cursor.rewind()
        scope: dict[str, Any] = {**(yield from self.open.read(cursor))}
        return (yield from _BODIES[self.content](self, cursor, scope))

    def closed(
        self, cursor: Cursor, scope: dict[str, Any], read: Callable[[str], Calls]
    ) -> Reading[Found]:
        """Reads the closer after a body that closed itself."""
        # a closer of white space is not awaited: the body has closed itself
        if not all(map(str.isspace, self.close.heads)):
            cursor.closed_body = cursor.position, read
            yield from cursor.space()
            scope.update((yield from self.close.read(cursor)))
        return Found(PieceKind.CALL, read)

    def rest(self, cursor: Cursor, scope: dict[str, Any]) -> Reading[Extent]:
        """Reads a body and its closer, if any; returns the body's extent."""
        if self.close.heads:
            part, groups = yield from _until(cursor, self.close.heads, self.close.read)
            scope.update(groups)
            return part
        start = cursor.position
        while True:
            cursor.index = len(cursor.text)
            if cursor.final:
                return start, cursor.position
            yield

    def cut(self, scope: dict[str, Any], start: int) -> Callable[[str], Calls]:
        """A function that makes the calls if the text is cut off in the body."""
        name, id = self.shape.name.find(scope), self.shape.id.find(scope)
        if isinstance(name, str) and name:
            return cut_part(name, start, id if isinstance(id, str) else "")
        return lambda raw: cut_calls(raw[start:], start)

    def call(self, scope: dict[str, Any], end: int, arguments: str = "") -> WrittenCall:
        """The call that ends at ``end``, made from groups and body (``scope``)."""
        name, id = self.shape.name.find(scope), self.shape.id.find(scope)
        if not name or not isinstance(name, str):
            raise MalformedError("a call has a name")
        value, is_text = self.shape.arguments.find(scope), False
        if not arguments:
            is_text = isinstance(value, str) and not _is_object(value)
            arguments = value if isinstance(value, str) else dumps(value)
        if not (is_text or _is_object(arguments)):
            raise MalformedError("arguments are an object")
        id = str(id) if isinstance(id, str | int) else ""
        return WrittenCall(name, arguments, end, id, text=is_text)

    def calls_in(self, scope: dict[str, Any], text: str, at: int) -> Calls:
        """The calls of ``text``, a JSON body at position ``at`` of the candidate."""
        if self.shape.whole == ValuePlace((CONTENT,)):
            return calls_of(text, at)
        return calls_by(partial(self.call_of, scope), text, at)

    def call_of(
        self, scope: dict[str, Any], text: str, value: Any, start: int, end: int
    ) -> WrittenCall:
        """The call of one ``value`` in JSON; the parameters: `CallReader`'s."""
        if self.shape.each and not isinstance(value, dict):
            raise MalformedError("an item of calls is an object")
        values = {**scope, **value} if self.shape.each else {**scope, CONTENT: value}
        if self.shape.whole is not None:
            return calls_of(dumps(self.shape.whole.find(values)))[0]
        keys, arguments = self.shape.arguments.keys, ""
        if keys == (CONTENT,) and not self.shape.each:
            arguments = arguments_of(text[start:end] if start >= 0 else dumps(value))
        elif keys and (self.shape.each or keys[0] == CONTENT):
            keys = keys if self.shape.each else keys[1:]
            arguments = arguments_at(value, text, start, keys)
        return self.call(values, end, arguments)

    def call_with(
        self, scope: dict[str, Any], given: list[tuple[str, str]], cursor: Cursor
    ) -> WrittenCall:
        """The call with texts as parameters; the schema has their types."""
        values = {**scope, CONTENT: dict(given)}
        name = self.shape.name.find(values)
        if self.shape.arguments.keys != (CONTENT,) or not isinstance(name, str):
            return self.call(values, cursor.position)
        declared = properties(name, cursor.context)
        parameters = [
            Parameter(key, text, "" if key in declared else self.kind)
            for key, text in given
        ]
        arguments = typed(name, parameters, cursor.context)
        if self.tags is not None and self.tags.merges:
            arguments = _merged(name, parameters, cursor)
        return self.call(values, cursor.position, arguments)


def _is_object(text: str) -> bool:
    try:
        return isinstance(loads(text), dict)
    except ValueError:
        return False


def _merged(name: str, parameters: list[Parameter], cursor: Cursor) -> str:
    """The arguments as JSON text. Parameters with the same key become a list."""
    values: dict[str, list[Any]] = {}
    for parameter in parameters:
        value = loads(typed(name, [parameter], cursor.context))[parameter.key]
        values.setdefault(parameter.key, []).append(value)
    return dumps({key: v if len(v) > 1 else v[0] for key, v in values.items()})


# Bodies

_KNOWN_DELIMITERS = (('<|"|>', '<|"|>'), ("<escape>", "<escape>"), ("`", "`"))
"""String delimiters that `ObjectScanner` knows besides quotes."""


def _json(field: CallField, cursor: Cursor, scope: dict[str, Any]) -> Reading[Found]:
    yield from cursor.space()
    start = cursor.position
    cursor.partial = field.cut(scope, start)
    delimiters = field.args.get("string_delims") or ()

    def reader(start: int, end: int) -> Callable[[str], Calls]:
        def read(raw: str) -> Calls:
            text = raw[start:end]
            if not delimiters:
                return field.calls_in(scope, text, start)
            calls = field.calls_in(scope, _quoted(text, delimiters), -1)
            return [evolve(call, end=end) for call in calls]

        return read

    if field.args.get("allow_non_json") and (yield from cursor.need()) not in "{[":
        return (yield from _text(field, cursor, scope))
    if not all(tuple(pair) in _KNOWN_DELIMITERS for pair in delimiters):
        part = yield from field.rest(cursor, scope)
        return Found(PieceKind.CALL, reader(*part))
    scanner = ObjectScanner(bare_values=bool(delimiters), opener="{[")
    part = yield from cursor.scan(scanner)
    return (yield from field.closed(cursor, scope, reader(*part)))


def _quoted(text: str, delimiters: Any) -> str:
    """``text`` with each string in JSON's quotes in place of the ``delimiters``."""
    for opener, closer in delimiters:
        pieces, index = [], 0
        while (begin := text.find(opener, index)) >= 0:
            end = text.find(closer, begin + len(opener))
            if end < 0:
                break
            pieces += [text[index:begin], dumps(text[begin + len(opener) : end])]
            index = end + len(closer)
        text = "".join(pieces) + text[index:]
    return text


def _xml(field: CallField, cursor: Cursor, scope: dict[str, Any]) -> Reading[Found]:
    """Reads parameters in tags. A closer inside a value is data (text rule 11.8)."""
    tags = field.tags
    assert tags is not None  # it was checked
    heads = *tags.head.heads, *field.close.heads
    parts: list[tuple[str, Extent]] = []

    def read(raw: str) -> Calls:
        items = [(key, tags.text(raw, part)) for key, part in parts]
        return [field.call_with(scope, items, cursor)]

    cursor.partial = read
    while True:
        try:
            head = yield from _next_head(cursor, *heads)
        except EndedError:
            if field.close.heads:
                raise
            break
        try:
            if head in field.close.heads:
                scope.update((yield from field.close.read(cursor)))
                break
            groups = yield from tags.head.read(cursor)
            part = yield from tags.value(cursor, *heads, "</")
            parts.append((groups["key"], part))
        except MismatchError:  # it only began like a tag
            cursor.index += 1
    return Found(PieceKind.CALL, read)


def _lines(field: CallField, cursor: Cursor, scope: dict[str, Any]) -> Reading[Found]:
    start, end = yield from field.rest(cursor, scope)

    def read(raw: str) -> Calls:
        separator = field.args.get("kv_sep", ":")
        lines = raw[start:end].split(field.args.get("line_sep", "\n"))
        pairs = [line.partition(separator) for line in lines]
        strip = field.args.get("strip", True)
        items = [(key, value) for key, has_separator, value in pairs if has_separator]
        if strip:
            items = [(key.strip(), value.strip()) for key, value in items]
        return [field.call_with(scope, items, cursor)]

    return Found(PieceKind.CALL, read)


def _python(field: CallField, cursor: Cursor, scope: dict[str, Any]) -> Reading[Found]:
    yield from cursor.space()
    part = yield from cursor.scan(CallScanner(opener="[", breaks=True))

    def read(raw: str) -> Calls:
        found = python_calls(cursor, raw, part)
        items = [{"name": e.name, "arguments": loads(e.arguments)} for e in found]
        calls = field.calls_in(scope, dumps(items), 0)
        pairs = zip(calls, found, strict=True)
        return [evolve(call, end=call_place.end) for call, call_place in pairs]

    return (yield from field.closed(cursor, scope, read))


def _text(field: CallField, cursor: Cursor, scope: dict[str, Any]) -> Reading[Found]:
    start, end = yield from field.rest(cursor, scope)

    def read(raw: str) -> Calls:
        text = raw[start:end]
        text = text.strip() if field.args.get("strip", True) else text
        return [field.call({**scope, CONTENT: text}, cursor.position)]

    return Found(PieceKind.CALL, read)


_BODIES: dict[str, Callable[[CallField, Cursor, dict[str, Any]], Reading[Found]]] = {
    **dict.fromkeys(("json", "gemma4-tool-call"), _json),
    "xml-inline": _xml,
    "kv-lines": _lines,
    "python-call-list": _python,
    **dict.fromkeys(("text", "int", "float", "bool"), _text),
}

_MARKS = [['<|"|>', '<|"|>']]
"""The delimiters around Gemma 4's strings."""


def body_arguments(given: dict[str, Any], path: str) -> tuple[str, dict[str, Any]]:
    """The parser of a field's body, and the parser's arguments."""
    content = given.get("content", "text")
    if content not in _ARGUMENTS:
        raise TemplateError(f"{path}.content", "is not known")
    place = f"{path}.content_args"
    args = members(given.get("content_args", {}), _ARGUMENTS[content], place)
    for number, pair in enumerate(args.get("string_delims", ())):
        texts = isinstance(pair, list) and all(isinstance(e, str) and e for e in pair)
        if not texts or len(pair) != 2:
            raise TemplateError(f"{place}.string_delims[{number}]", "must be a pair")
    for key in ("line_sep", "kv_sep"):
        if args.get(key) == "":
            raise TemplateError(f"{place}.{key}", "must not be empty")
    if content == "gemma4-tool-call":
        args = {"string_delims": _MARKS}
    return content, args


def value_kind(args: dict[str, Any], path: str) -> str:
    """The kind of values that ``value_parser`` in ``args`` says (see `Parameter`)."""
    known_members = {"name": (str, "a string"), "args": (dict, "an object")}
    place = f"{path}.content_args.value_parser"
    parser = members(args.get("value_parser", {}), known_members, place)
    name = parser.get("name", "text")
    if name not in _ARGUMENTS:
        raise TemplateError(f"{place}.name", "is not known")
    members(parser.get("args", {}), _ARGUMENTS[name], f"{place}.args")
    return "json" if name in ("json", "int", "float", "bool") else ""


def tags_of_pattern(args: dict[str, Any], path: str) -> ParameterTags:
    """The parts of ``tag_pattern`` in ``args``: before, in and after the value."""
    place = f"{path}.content_args.tag_pattern"
    if "tag_pattern" not in args:
        raise TemplateError(place, "is missing")
    items, names = parsed_pattern(args["tag_pattern"], place)
    index = next((i for i, item in enumerate(items) if _is_value(item, names)), 0)
    head = made_pattern(items[:index], names, place) if index else None
    if head is None or "key" not in head.groups:
        raise TemplateError(place, "must have a key, and a value after it")
    tail = items[index + 1 :]
    if not tail:
        raise TemplateError(place, "must have something after its value")
    allowed = items[index][1][3][0][1][2][0]
    strips = tuple(fits(*item[1][2][0]) for item in takewhile(may_lack, tail))
    tail_pattern = made_pattern(tail, names, place)
    return ParameterTags(
        head, tail_pattern, fits(*allowed), strips, args.get("merge_duplicates", False)
    )


def _is_value(item: Any, names: dict[int, str]) -> bool:
    """Whether the item is the group ``value`` with characters of one class."""
    code, argument = item
    if code is not patterns.tokens.SUBPATTERN or names.get(argument[0]) != "value":
        return False
    body = list(argument[3])
    return len(body) == 1 and may_lack((body[0][0], (0, 2, *body[0][1][2:])))
