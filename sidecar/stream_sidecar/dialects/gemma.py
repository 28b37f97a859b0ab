"""Calls as Gemini and Gemma write them: ``call:ns:name{key:value}``.

Gemma 4 and FunctionGemma put this between tokens. Gemini leaks it in many ways: bare,
in tags, with another word in place of ``call``, with round brackets, with control
tokens or control characters around it. Its results look similar:
``response:ns:name{..}`` (text rule 10.9).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from stream_sidecar import patterns
from stream_sidecar.forms.call_bodies import cut_part, joined, properties
from stream_sidecar.forms.form import Form, Found, MalformedError, WrittenCall, mark
from stream_sidecar.forms.grammar import EndedError, MismatchError, literals
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.forms.literals import Literals
from stream_sidecar.forms.repeated_results import continues
from stream_sidecar.forms.schemas import kinds_of
from stream_sidecar.forms.shared_grammars import reasoning
from stream_sidecar.values.jsontext import dumps, loads
from stream_sidecar.values.pythonic import parse_calls
from stream_sidecar.values.relaxed import ObjectScanner, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from stream_sidecar.forms.call_bodies import Calls
    from stream_sidecar.forms.grammar import Cursor, Extent, Reading

NAMESPACE = "default_api:"
_WORDS = ("call", "declaration", "deffn", "ns", "Lie", "startcall")
_NAME = patterns.compile(r"[\w.-]*+")
_SPACED = patterns.compile(r"[^{}()\n<>]*+")
_FIRST_KEY = patterns.compile(r"\b(\w++)\s*+=")
_NEXT_KEY = patterns.compile(r",\s*+(\w++)\s*+=")
_CONTROL = patterns.compile(r"[0-9]*+")


class _Head(NamedTuple):
    """A call's name. ``spaced``: it has Gemini's namespace, and may contain blanks."""

    name: str
    spaced: bool = False


def _head(cursor: Cursor) -> Reading[_Head]:
    """Reads ``name`` or ``ns:name`` (see `_Head`)."""
    if (yield from cursor.optional(NAMESPACE)):
        return _Head((yield from cursor.word(_SPACED)).strip(), True)
    name = yield from cursor.word(_NAME)
    while (yield from cursor.optional(":")):
        name = yield from cursor.word(_NAME)
    return _Head(name)


def _body(cursor: Cursor, brackets: str = "{(") -> Reading[Callable[[str, str], Any]]:
    """Reads the arguments; returns a function of the tool's name and the raw text."""
    bracket = yield from cursor.literal(*brackets)
    if bracket == "{":
        cursor.index -= 1
        part = yield from cursor.scan(ObjectScanner(bare_values=True))
        return lambda _name, raw: parse(raw[slice(*part)], bare_values=True)
    (start, end), _ = yield from cursor.until(literals(")"))
    cursor.index += 1
    return lambda name, raw: _keywords(name, raw[start:end])


def _keywords(name: str, text: str) -> dict[str, Any]:
    """The arguments in ``text``, as ``key=value``: literals of Python or bare text."""
    try:
        return parse_calls(f"f({text})")[0][1]
    except ValueError:
        pass
    arguments = dict(_bare_arguments(text))
    if text.strip() and not arguments:
        raise MalformedError(f"no arguments of {name}")
    return arguments


def _bare_arguments(text: str) -> Iterator[tuple[str, Any]]:
    """The pairs in ``text``. A value ends at the comma before the next key."""
    key = _FIRST_KEY.search(text)
    while key is not None:
        following = _NEXT_KEY.search(text, key.end())
        end = following.start() if following else len(text)
        yield key[1], _bare(text[key.end() : end].strip())
        key = following


def _bare(text: str) -> Any:
    try:
        return loads(text)
    except ValueError:
        return text


class _Framed:
    """Finds the end of an object that stands before ``closer``. If the closer comes
    before the object's end and outside its strings, the model lost the closing
    ``brackets``."""

    stays = None  # any text may begin the closer

    def __init__(self, closer: str) -> None:
        self.state = "open"
        self.brackets = ""
        self._object = ObjectScanner(bare_values=True)
        self._closer = literals(closer)

    def scan(self, text: str, index: int) -> int:
        """Reads ``text`` from ``index``, but not a possible beginning of the closer."""
        while True:
            end, closer = self._closer.next(text, index, final=False)
            index = self._object.scan(text[:end], index)
            self.state = self._object.state
            if self.state != "open" or closer is None:
                return index
            if not self._object.in_string:
                self.state, self.brackets = "whole", self._object.missing
                return index
            index = self._object.scan(text[: end + len(closer)], index)


def _framed(closer: str) -> Callable[[Cursor], Reading[Found]]:
    """The grammar of Gemma 4 and FunctionGemma: calls ``call:f{..}`` between tokens."""

    def grammar(cursor: Cursor) -> Reading[Found]:
        readers: list[Callable[[str], Calls]] = []
        yield from cursor.space()
        yield from cursor.optional(":")
        while (yield from cursor.ahead("call:")) or not readers:
            yield from cursor.literal("call:")
            head = yield from _head(cursor)
            start = cursor.position
            if (yield from cursor.ahead("{")):  # the name is whole
                cursor.partial = joined(readers, cut_part(head.name, start))
            scanner = _Framed(closer)
            body = _framed_body((yield from cursor.scan(scanner)), scanner)
            readers.append(_reader(cursor, head, body, cursor.position))
            if not scanner.brackets:
                cursor.closed_body = cursor.position, joined(readers)
            yield from cursor.space()
        yield from cursor.literal(closer)
        return Found(PieceKind.CALL, joined(readers))

    return grammar


def _framed_body(part: Extent, scanner: _Framed) -> Callable[[str, str], Any]:
    return lambda _name, raw: parse(
        raw[slice(*part)] + scanner.brackets, bare_values=True
    )


def _reader(
    cursor: Cursor, head: _Head, body: Callable[[str, str], Any], end: int
) -> Callable[[str], Calls]:
    def read(raw: str) -> Calls:
        values = body(head.name, raw)
        names = properties(head.name, cursor.context)
        arguments = {
            key: str(value) if _wants_text(names.get(key), value) else value
            for key, value in values.items()
        }
        return [WrittenCall(head.name, dumps(arguments), end)]

    return read


def _wants_text(schema: Any, value: Any) -> bool:
    """Whether ``value`` is a bare number and the tool wants a string."""
    number = isinstance(value, int) and not isinstance(value, bool)
    kinds = kinds_of(schema, None) if number else set()
    return "string" in kinds and kinds.isdisjoint(("integer", "number"))


def _leaked(cursor: Cursor) -> Reading[Found]:
    """Reads a call that Gemini leaked: in a tag, on its line, or with the namespace."""
    if cursor.opener.endswith("{"):
        cursor.index -= 1
        head = _Head(cursor.opener[:-1])
    elif cursor.opener.endswith(NAMESPACE):
        cursor.index -= len(NAMESPACE)
        head = yield from _head(cursor)
    else:
        head = yield from _head(cursor)
    body = yield from _body(cursor)
    bare_end = cursor.position
    end = yield from _tail(cursor)
    cursor.serious |= head.spaced
    if not head.spaced and (cursor.opener[0] != "<" or end == bare_end):
        yield from cursor.line_end()
        end = cursor.position
    return Found(PieceKind.CALL, _reader(cursor, head, body, end))


def _tail(cursor: Cursor) -> Reading[int]:
    """Reads what may close a leaked call, and returns the position after it."""
    if not (yield from cursor.optional(">", "/>", "\x17", "</function>")):
        while (yield from cursor.ahead("<ctrl")):
            cursor.index += len("<ctrl")
            yield from cursor.run(_CONTROL, 5)
            yield from cursor.literal(">")
    return cursor.position


def _response(cursor: Cursor) -> Reading[Found]:
    """Reads a result with Gemini's namespace or a declared name (text rule 10.9)."""
    head = yield from _head(cursor)
    cursor.serious = head.spaced
    body = yield from _body(cursor, "{")
    yield from _tail(cursor)

    def read(raw: str) -> Any:
        if not head.spaced and head.name not in (cursor.context.tools or {}):
            raise MalformedError("nobody declared it")
        return body(head.name, raw)

    return Found(PieceKind.RESULT, read)


_RESULT_END = Literals(("}<ctrl44>", "}<ctrl45>", "\n"))


def _result_tail(cursor: Cursor) -> Reading[Found]:
    """Reads the rest of a result that lost its beginning: a line between two tokens."""
    token = cursor.position - 1
    try:
        (_, end), closer = yield from cursor.until(_RESULT_END)
    except EndedError:
        closer = "\n"
    if closer == "\n":
        cursor.index -= cursor.position - token
        return mark()
    cursor.index += len(closer)

    def read(raw: str) -> Any:
        text = raw[len(cursor.opener) : end]
        try:
            return parse(f"{{{text}}}", bare_values=True)
        except ValueError:
            return text

    return Found(PieceKind.RESULT, read)


_FINAL = "<final>"
_NO_THOUGHT = ("\n```", "\n~~~", "\nAction", "\nObservation")
_THOUGHT_ENDS = Literals((_FINAL, *_NO_THOUGHT))


def _announced(cursor: Cursor) -> Reading[Found]:
    """Begins reasoning after ``THOUGHT:`` if ``<final>`` ends it. If a fence or a line
    of a ReAct prompt comes first, it is another format."""
    return (yield from reasoning(cursor, _THOUGHT_ENDS, _FINAL))


_LONGEST_THOUGHT = 2048
_IN_STRING = patterns.compile(r'[^"\\]*+')


def _object(cursor: Cursor) -> Reading[Found]:
    """Reads ``{"thought": "..."}`` before the answer: an object with one member."""
    yield from cursor.space()
    yield from cursor.literal('"')
    start = cursor.position
    while True:
        yield from cursor.run(_IN_STRING)
        if cursor.position - start > _LONGEST_THOUGHT:
            raise MismatchError(start + _LONGEST_THOUGHT + 1)
        if (yield from cursor.need()) == '"':
            break
        cursor.index += 1
        yield from cursor.need()
        cursor.index += 1
    place = start, cursor.position
    cursor.index += 1
    yield from cursor.space()
    yield from cursor.literal("}")
    end = cursor.position
    yield from cursor.space()
    if continues((yield from cursor.need()), beside=False):
        raise cursor.mismatch()
    cursor.index = end - cursor.base
    return Found(PieceKind.ENTER, content=place)


def _thought(cursor: Cursor) -> Reading[Found]:
    """Begins reasoning after ``[thought]:``. Nothing marks its end."""
    yield from cursor.peek()
    return Found(PieceKind.ENTER)


_HEADER = "thought"


def _header(cursor: Cursor) -> Reading[Found]:
    """Reads ``thought`` before an answer: the header of reasoning that is missing."""
    if cursor.opener == _HEADER:
        if not (yield from cursor.need()).isupper():
            raise cursor.mismatch()
    else:
        yield from cursor.blanks()
    return mark()


_LINES = (*(f"{word_}:" for word_ in _WORDS), *(f"\x16{word_}:" for word_ in _WORDS))
_TAGS = ("<call:", "<call>", "<function:", f"<{NAMESPACE}")
_NAMESPACED = (*(f"{line}{NAMESPACE}" for line in _LINES), NAMESPACE)


def _form(opener: str, closer: str) -> Form:
    return Form((opener,), _framed(closer), tier="A", closers=(closer,))


_KEYED = tuple(f'{{{gap}"thought":' for gap in ("", " ", "\n", "\n  "))
_HEADERS = tuple(f"{_HEADER}{end}" for end in ("", "\n", "[]", "()", " []", " ()"))
_THOUGHTS = ("[thought]:", "─── s\u115fthought")

FORMS: dict[str, tuple[Form, ...]] = {
    "gemma4": (_form("<|tool_call>", "<tool_call|>"),),
    "functiongemma": (_form("<start_function_call>", "<end_function_call>"),),
    "gemini-call": (
        Form(_NAMESPACED, _leaked, tier="B", place="line", vague=True),
        Form(_LINES, _leaked, tier="C", place="line", vague=True),
        Form(("%s{",), _leaked, tier="C", place="line", vague=True, per_tool=True),
        Form(_TAGS, _leaked, tier="B", vague=True),
    ),
    "gemini-thoughts": tuple(
        Form(openers, grammar, tier="B", place="start", vague=True, about="leftovers")
        for openers, grammar in (
            (_THOUGHTS, _thought),
            (_HEADERS, _header),
            (("THOUGHT:",), _announced),
            (_KEYED, _object),
        )
    ),
}

RESULTS = (
    Form(
        openers=("response:",),
        grammar=_response,
        tier="B",
        place="line",
        vague=True,
        called=True,
        about="results",
    ),
    Form(("<ctrl46>,",), _result_tail, tier="B", place="line", about="results"),
)
