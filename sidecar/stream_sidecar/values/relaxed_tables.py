"""The two syntaxes of `relaxed` as tables for its scanner, and patterns for its reader.

`RELAXED` and `BARE` are for the scanner. The patterns of names, scalars and bare text
describe the same syntaxes for the reader, which gets text that is whole.
"""

from __future__ import annotations

from json import JSONDecoder
from string import digits
from typing import Any

from stream_sidecar import patterns
from stream_sidecar.values.pushdown import MAX_NESTING, Moves, Syntax, spelling

LITERALS: dict[str, Any] = (
    {"true": True, "false": False, "null": None}
    | {"True": True, "False": False, "None": None, "undefined": None}
    | {f"{sign}Infinity": float(f"{sign}inf") for sign in ("", "+", "-")}
    | {"NaN": float("nan")}
)
_WORDS = [literal for literal in LITERALS if literal.isalpha()]

SPACE = r"\s*+"
_LETTER = r"[\w$\u0300-\u1fff]"  # the vowel signs of many scripts are not in \w
_IN_NAME = r"[\w$.\-\u0300-\u1fff]*+"
NAME = _LETTER + _IN_NAME
_STRING = r"""(?:"(?:[^"\\]++|\\(?s:.))*+"|'(?:[^'\\]++|\\(?s:.))*+')"""
_FRACTION = r"(?:(?:0|[1-9][0-9]*+)(?:\.[0-9]*+)?|\.[0-9]++)"
_NUMBER = rf"[+-]?(?:{_FRACTION}(?:[eE][+-]?[0-9]++)?|Infinity)"
_SCALAR = rf"(?:{_STRING}|{_NUMBER}|{'|'.join(_WORDS)})"
_VERBATIM = (
    r"`[^`]*+`",
    r'<\|"\|>(?:[^<]++|<(?!\|"\|>))*+<\|"\|>',
    r"<escape>(?:[^<]++|<(?!escape>))*+<escape>",
    r"<ctrl46>(?:[^<]++|<(?!ctrl[0-9]++>))*+<ctrl[0-9]++>",
)
_MEMBER = rf"(?![0-9]){NAME}"

KEY = rf"(?:{_STRING}|{NAME})"
SCALARS = {
    False: patterns.compile(_SCALAR),
    True: patterns.compile(rf"{_SCALAR}|{'|'.join(_VERBATIM)}"),
}
"""Whether bare values are allowed -> a pattern for other values than containers."""

BARE_TEXT = {
    "}": patterns.compile(
        rf"(?:[^,}}]++|,(?!{SPACE}(?:\}}|(?:{_MEMBER}|"
        rf""""[^"\\}},]*+"|'[^'\\}},]*+'){SPACE}:)))*+"""
    ),
    "]": patterns.compile(r"[^,\]]*+"),
}
"""The closer of a container -> a pattern for bare text in the container."""

AFTER_VALUE = {
    "}": patterns.compile(
        rf"""{SPACE}(?:\}}|,{SPACE}(?:["'}}]|{_MEMBER}{SPACE}[:=]))"""
    ),
    "]": patterns.compile(rf"{SPACE}[,\]]"),
}
"""A container's closer -> a pattern for what follows a value but bare text."""

_QUOTED = [f"{kind}{quote}" for kind in ("name", "string") for quote in "\"'"]
_INTEGERS = dict.fromkeys("123456789", "integer") | {"0": "zero"}
_POWER = dict.fromkeys("eE", "exponent")
_VALUES = (
    {word[0]: word[0] for word in _WORDS}
    | dict.fromkeys("+-", "sign")
    | {".": "point", '"': 'string"', "'": "string'", "{": "object", "[": "array"}
    | _INTEGERS
)
_NAMES = {'"': 'name"', "'": "name'", "}": "close"}

_UNFINISHED: Moves = {
    **spelling(dict.fromkeys(_WORDS, "end")),
    "sign": _INTEGERS | {".": "point", "I": "I"},
    "point": dict.fromkeys(digits, "fraction"),
    "exponent": dict.fromkeys("+-", "power-sign") | dict.fromkeys(digits, "power"),
    "power-sign": dict.fromkeys(digits, "power"),
}
"""States in literals and numbers that are not complete."""

_FINISHED: Moves = {
    "zero": _POWER | {".": "fraction"},
    "integer": _POWER | {".": "fraction"},
    "fraction": _POWER,
    "power": {},
}
"""States in numbers that are complete but may continue."""

_CONTAINERS = {"object": ("in-object", "member"), "array": ("in-array", "item")}
_END = {after: after for after, _ in _CONTAINERS.values()}
CLOSER_OF = {"in-object": "}", "in-array": "]"}
"""State after a value of a container -> the bracket that closes the container."""

STRINGS = ('string"', "string'", "in`", "in<")
"""How the names of states inside strings begin."""

_MOVES: Moves = {
    "start-{": {"{": "object"},
    "start-[": {"[": "array"},
    "start-{[": {"{": "object", "[": "array"},
    "member": _NAMES,
    "name": {},
    "colon": {":": "value"},
    "value": _VALUES,
    "item": _VALUES | {"]": "close"},
    **{
        body: {body[-1]: "colon" if "name" in body else "end", "\\": f"{body}-escape"}
        for body in _QUOTED
    },
    **{f"{body}-escape": {} for body in _QUOTED},
    **_UNFINISHED,
    **_FINISHED,
    "in-object": {",": "member", "}": "close"},
    "in-array": {",": "item", "]": "close"},
}
_RUNS = {
    "member value item colon in-object in-array": SPACE,
    "name": _IN_NAME,
    'name" string"': r'[^"\\]*+',
    "name' string'": r"[^'\\]*+",
    "integer fraction power": r"[0-9]*+",
}
_STAYS = {'string"': r'(?:[^"\\]++|\\(?s:.))*+', "string'": r"(?:[^'\\]++|\\(?s:.))*+"}
_CLASSES = {
    "member": (_LETTER, "name"),
    **{f"{body}-escape": ("(?s:.)", body) for body in _QUOTED},
}
_OTHERWISE = {"name": "colon"} | dict.fromkeys(_FINISHED, "end")

_NEXT = rf"{SPACE},{SPACE}"
_VALUE = rf"{_SCALAR}(?={SPACE}[,}}\]])"

_strict = JSONDecoder().raw_decode
_SHORT = 1024
"""Only so many characters are tried as strict JSON: each object in a long text may
fail, and an error takes time to be made."""


def _strict_end(text: str, index: int) -> int:
    """The end of the object at ``index`` if it is strict JSON, ends soon, and has too
    few brackets to be nested too deep; else ``index``."""
    short = text[index : index + _SHORT]
    try:
        _, size = _strict(short)
    except (ValueError, RecursionError):
        return index
    brackets = short.count("{", 0, size) + short.count("[", 0, size)
    return index + size if brackets <= MAX_NESTING else index


RELAXED = Syntax(
    _MOVES,
    _RUNS
    | {  # whole members with scalars are read in one step
        "in-object": rf"(?:{_NEXT}{KEY}{SPACE}:{SPACE}{_VALUE})*+{SPACE}",
        "in-array": rf"(?:{_NEXT}{_VALUE})*+{SPACE}",
    },
    _CLASSES,
    _OTHERWISE,
    _CONTAINERS,
    {"end": _END},
    _STAYS,
    _strict_end,
)

_TOKENS = ('<|"|>', "<escape>", "<ctrl46>")
_CLOSERS = {
    "<|": {'<|"|>': "end"},
    "<e": {"<escape>": "end"},
    "<c": {f"<ctrl{digit}": "in<c-number" for digit in digits},
}
"""The beginning of a token -> the token that ends its string."""

_OPENING = spelling({token: f"in{token[:2]}" for token in _TOKENS})
_CLOSING = {
    state: moves
    for opener, closers in _CLOSERS.items()
    for state, moves in spelling(closers, f"in{opener}-").items()
} | {"in<c-number": {">": "end"}}
_COLONS = dict.fromkeys(":=", "value")
_NO_NAME = dict.fromkeys(digits, "text-in-object")

BARE = Syntax(
    _MOVES
    | _OPENING
    | _CLOSING
    | {
        "value": _VALUES | {"`": "in`", "<": "<", "}": "close"},
        "item": _VALUES | {"`": "in`", "<": "<", "]": "close", ",": "failed"},
        "in`": {"`": "end"},
        "colon": _COLONS,
        "next-colon": _COLONS,
        "next-name": {},
        **{f"in{opener}": {"<": f"in{opener}-<"} for opener in _CLOSERS},
        # After a value and a comma a string is a name; after bare text it may be one
        "in-object": {",": "next", "}": "close"},
        "next": _NAMES | _NO_NAME,
        "text-in-object": {",": "text-next", "}": "close"},
        "text-next": _NO_NAME | {'"': 'text-name"', "'": "text-name'", "}": "close"},
        'text-name"': {'"': "text-colon"},
        "text-name'": {"'": "text-colon"},
        "text-name": {},
        "text-colon": {":": "value"},
        "text-in-array": {",": "item", "]": "close"},
    },
    _RUNS
    | {
        "next text-next next-colon text-colon": SPACE,
        "text-in-object": r"[^,}]*+",
        "text-in-array": r"[^,\]]*+",
        "next-name text-name": _IN_NAME,
        'text-name"': r'[^"\\},]*+',
        "text-name'": r"[^'\\},]*+",
        "in`": r"[^`]*+",
        "in<| in<e in<c": r"[^<]*+",
        "in<c-number": r"[0-9]*+",
    },
    _CLASSES | {"next": (_LETTER, "next-name"), "text-next": (_LETTER, "text-name")},
    _OTHERWISE
    | dict.fromkeys(("value", "in-object", "next", "text-next"), "text-in-object")
    | dict.fromkeys(('text-name"', "text-name'"), "text-in-object")
    | dict.fromkeys(("text-colon", "next-colon"), "text-in-object")
    | dict.fromkeys(("item", "in-array"), "text-in-array")
    | {"text-name": "text-colon", "next-name": "next-colon"}
    | dict.fromkeys((*_UNFINISHED, *_OPENING), "text")
    | {state: state.partition("-")[0] for state in _CLOSING},
    _CONTAINERS,
    {"end": _END, "text": {after: f"text-{after}" for after in _END}},
    _STAYS,
)
