"""Calls that models write in Python: found in growing text and read, never evaluated.

`CallScanner` finds the end of one call, ``name(...)`` with any number of dots in the
name, or of a list of calls. `parse_calls` reads whole text: names, and arguments that
are literals. Code that does more than call functions is refused.

This module knows neither which tools exist nor where a call may begin.
"""

from __future__ import annotations

import ast
import warnings
from bisect import bisect_left
from itertools import accumulate
from keyword import kwlist
from typing import TYPE_CHECKING, Any, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.values.pushdown import Scanner
from stream_sidecar.values.pythonic_tables import CALLS, CALLS_WITH_BREAKS

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Sequence

PythonCall: TypeAlias = "tuple[str, dict[str, Any], tuple[int, int]]"
"""Name, arguments, and the code points (start, end) of the call in its text."""

NAMESPACE = "default_api."


class Declaration(ValueError):  # noqa: N818 - no error, but no call either
    """The text declares functions and calls none, as Gemini writes its list of
    tools."""


class CallScanner(Scanner):
    """Finds the end of one call, or of a list of calls when ``opener`` is ``[``.

    It starts at the first character of the name, or at the bracket. It fails at
    anything that is neither a literal nor a call, at nesting deeper than
    `pushdown.MAX_NESTING`, and at a line break in a string without triple quotes
    (unless ``breaks`` allows it). It does not check that the arguments have values;
    `parse_calls` does.
    """

    __slots__ = ()

    def __init__(self, opener: str = "", *, breaks: bool = False) -> None:
        super().__init__(CALLS_WITH_BREAKS if breaks else CALLS, f"start{opener}")


_UNREADABLE = (ValueError, SyntaxError, RecursionError, MemoryError, OverflowError)


def parse_calls(
    text: str, positional: Callable[[str], Sequence[str]] | None = None
) -> list[PythonCall]:
    """Return all calls of ``text``, in order: one call, a list, or lines of both.

    A ``print()`` around calls is ignored, and so is ``default_api.`` before a name.
    ``x = f()`` with a later ``print(x)`` is the call of ``f``. Other names keep their
    dots. The place of a call covers only the call, with its whole name.

    Arguments become plain JSON values: tuples and sets become lists, integer keys
    become text, and ``true``, ``false`` and ``null`` mean the same as in JSON. Keywords
    of Python as names of arguments, and line breaks in strings, are accepted. ``007``
    is the text "007", because no number is written so.
    ``positional`` returns the names, in order, for a tool's positional arguments.

    Any other text raises ValueError and nothing else; functions without a body raise
    `Declaration`, a subclass of it.
    """
    try:
        try:
            return _parse_calls(text, positional)
        except SyntaxError:
            mended_text = _mend_text(text)
            if mended_text == text:
                raise
            calls = _parse_calls(mended_text, positional)
            return [(name, _restore(values), span) for name, values, span in calls]
    except Declaration:
        raise
    except _UNREADABLE as error:
        raise ValueError(f"no calls in Python: {error}") from None


_STAND_IN_OF = {
    word: "\ua66e" * (len(word) - 1) + chr(0xA680 + number)
    for number, word in enumerate(kwlist)
}
"""Keyword of Python -> its stand-in: a name of the same length that nobody writes."""

_KEYWORDS = {name: word for word, name in _STAND_IN_OF.items()}
_HIDE_DIGITS = {ord(str(digit)): 0xA6A0 + digit for digit in range(10)}
_SHOW_DIGITS = {hidden: digit for digit, hidden in _HIDE_DIGITS.items()}
_HIDE_BREAKS = str.maketrans({"\n": "\ue00a", "\r": "\ue00d"})
_SHOW_BREAKS = str.maketrans({"\ue00a": "\n", "\ue00d": "\r"})
_WORDS_AND_STRINGS = patterns.compile(
    r"#[^\r\n]*+"
    r"""|\"{3}(?:[^"\\]++|\\(?s:.)|"(?!""))*+(?:\"{3})?"""
    r"""|'{3}(?:[^'\\]++|\\(?s:.)|'(?!''))*+(?:'{3})?"""
    r"""|"(?:[^"\\]++|\\(?s:.))*+"?|'(?:[^'\\]++|\\(?s:.))*+'?"""
    rf"|(?<![\w.])(?P<word>{'|'.join(kwlist)})(?=[ \t]*+=(?!=))"
    r"|(?<![\w.])(?P<digits>0[0-9]++)(?![\w.])"
)


def _mend_text(text: str) -> str:
    """``text``, with stand-ins for argument names that are keywords of Python, for line
    breaks in strings and for digits after a leading zero, so that Python can parse it.
    No position changes."""
    if not text.isascii() and text != text.translate(_SHOW_BREAKS):
        return text  # it already has the replacement characters
    return _WORDS_AND_STRINGS.sub(_mend_token, text)


def _mend_token(match: re.Match[str]) -> str:
    token = match[0]
    if match["word"]:
        return _STAND_IN_OF[token]
    if match["digits"]:
        return token.translate(_HIDE_DIGITS)
    is_long = token[:3] in ('"' * 3, "'" * 3)
    return token if is_long or token[0] == "#" else token.translate(_HIDE_BREAKS)


def _restore(value: Any) -> Any:
    """``value`` with the original line breaks and names in place of the stand-ins."""
    if isinstance(value, str):
        return value.translate(_SHOW_BREAKS)
    if isinstance(value, list):
        return [_restore(item) for item in value]
    if isinstance(value, dict):
        return {
            _KEYWORDS.get(name, _restore(name)): _restore(item)
            for name, item in value.items()
        }
    return value


def _parse_calls(
    text: str, positional: Callable[[str], Sequence[str]] | None
) -> list[PythonCall]:
    statements, shift = _statements(text)
    if statements and all(map(_is_declaration, statements)):
        raise Declaration("a declaration")
    places = _NodePlaces(text, shift)
    calls = []
    for call in _call_nodes(statements):
        name = _name_of(call.func)
        names = positional(name) if positional and call.args else ()
        calls.append((name, _read_arguments(call, names), places.span(call)))
    if not calls:
        raise ValueError("there is no statement")
    return calls


_FILE = "<calls>"
_indented = patterns.compile(r"(?:[ \t]*+(?:#[^\r\n]*+)?[\r\n])*+[ \t]++[^#\s]")


def _statements(text: str) -> tuple[list[ast.stmt], int]:
    """The statements of ``text``, and the number of lines put before it."""
    shift = int(bool(_indented.match(text)))
    with warnings.catch_warnings():
        # For odd escapes in the model's strings; filters are global, hence the module
        warnings.filterwarnings("ignore", module=_FILE)
        body = ast.parse("with 0:\n" * shift + text, _FILE).body
    if shift:
        block = body[0]
        assert isinstance(block, ast.With)
        body[:1] = block.body
    return body, shift


def _is_declaration(statement: ast.stmt) -> bool:
    """Whether ``statement`` defines a function whose body does nothing."""
    return isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) and all(
        isinstance(inner, ast.Pass)
        or (isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Constant))
        for inner in statement.body
    )


def _call_nodes(statements: list[ast.stmt]) -> list[ast.Call]:
    """The calls of a block; ValueError if it has anything else."""
    calls: list[ast.Call] = []
    unprinted: set[str] = set()
    for statement in statements:
        match statement:
            case ast.Assign([ast.Name(name)], ast.Call() as call) if (
                name not in unprinted
            ):
                unprinted.add(name)
                calls.append(call)
            case ast.Expr(ast.Call(ast.Name("print"), [ast.Name(name)], [])) if (
                name in unprinted
            ):
                unprinted.remove(name)
            case ast.Expr(ast.List(items) | ast.Tuple(items)) if items:
                calls += [call for item in items for call in _printed_calls(item)]
            case ast.Expr(value):
                calls += _printed_calls(value)
            case _:
                raise ValueError("a statement that is no call")
    if unprinted:
        raise ValueError("a result that is assigned and not printed")
    return calls


def _printed_calls(node: ast.expr) -> list[ast.Call]:
    """The calls that ``node`` prints, or is."""
    if not isinstance(node, ast.Call):
        raise ValueError("not a call")
    match node:
        case ast.Call(ast.Name("print"), [ast.Call(), *_] as printed, []):
            return [call for argument in printed for call in _printed_calls(argument)]
    return [node]


def _name_of(node: ast.expr) -> str:
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        raise ValueError("a call without a name")
    return ".".join([node.id, *reversed(parts)]).removeprefix(NAMESPACE)


def _read_arguments(call: ast.Call, names: Sequence[str]) -> dict[str, Any]:
    if len(call.args) > len(names):
        raise ValueError("a positional argument without a name")
    keyword_items = [(keyword.arg, keyword.value) for keyword in call.keywords]
    arguments: dict[str, Any] = {}
    for name, node in [*zip(names, call.args, strict=False), *keyword_items]:
        if name is None or name in arguments:
            raise ValueError("an argument with **, or one given twice")
        arguments[name] = _read(node)
    return arguments


_NAMED_VALUES = {"true": True, "false": False, "null": None}
_SIGNS: dict[type[ast.unaryop], int] = {ast.USub: -1, ast.UAdd: 1}


def _read(node: ast.expr) -> Any:
    """The JSON value of a literal; Python's parser bounds its nesting."""
    match node:
        case ast.Constant(None | bool() | str() as value):
            return value
        case ast.Constant(int() | float() as number):
            return _check_number(number)
        case ast.UnaryOp(sign, ast.Constant(int() | float() as number)) if type(
            sign
        ) in _SIGNS and not isinstance(number, bool):
            return _SIGNS[type(sign)] * _check_number(number)
        case ast.List(items) | ast.Tuple(items) | ast.Set(items):
            return [_read(item) for item in items]
        case ast.Dict(keys, values):
            return dict(zip(map(_read_key, keys), map(_read, values), strict=True))
        case ast.Name(name) if name in _NAMED_VALUES:
            return _NAMED_VALUES[name]
        case ast.Name(name) if ord(name[0]) in _SHOW_DIGITS:
            return name.translate(_SHOW_DIGITS)
    raise ValueError("an argument that is not a literal")


def _check_number(number: float) -> float:
    """``number``; ValueError if it has more digits than Python converts to text."""
    str(number)
    return number


def _read_key(node: ast.expr | None) -> str:
    match node:
        case ast.Constant(str() as key):
            return key
        case ast.Constant(int() as key) if not isinstance(key, bool):
            return str(key)
    raise ValueError("a key that is not text")


_lines = patterns.compile(r"\r\n|\r|\n")


class _NodePlaces:
    """Converts the places of nodes, in lines and UTF-8 bytes, to code points."""

    def __init__(self, text: str, shift: int) -> None:
        starts = [0, *(match.end() for match in _lines.finditer(text)), len(text)]
        self._text = text
        self._starts = [0] * (shift + 1) + starts
        self._widths: dict[int, list[int]] = {}

    def span(self, node: ast.expr) -> tuple[int, int]:
        end_line, end_column = node.end_lineno, node.end_col_offset
        assert end_line is not None
        assert end_column is not None
        start = self._position(node.lineno, node.col_offset)
        return start, self._position(end_line, end_column)

    def _position(self, line: int, column: int) -> int:
        start = self._starts[line]
        if self._text.isascii():
            return start + column
        if line not in self._widths:
            line_text = self._text[start : self._starts[line + 1]]
            self._widths[line] = [
                0,
                *accumulate(len(sign.encode()) for sign in line_text),
            ]
        return start + bisect_left(self._widths[line], column)
