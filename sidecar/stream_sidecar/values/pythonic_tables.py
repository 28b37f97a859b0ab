"""The syntax of calls in Python as tables, for `pythonic.CallScanner`.

The tables know names with dots, brackets, strings with their prefixes, comments, and
the order in which these may stand in a call whose arguments are literals or calls. The
parser decides what a word means and what a bracket may contain.
"""

from __future__ import annotations

from string import digits

from stream_sidecar.values.pushdown import Moves, Syntax

_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_QUOTES = {'"': 'quote"', "'": "quote'"}
_PREFIXES = "rbufRBUF"
_IN_WORD = r"\w\u0300-\u1fff"  # the vowel signs of many scripts are not in \w


def _bracket(closer: str) -> Moves:
    """The states inside a bracket; their names end with its ``closer``."""
    value = f"value{closer}"
    signs = dict.fromkeys("+-", value)
    begin = (
        _QUOTES
        | {bracket: bracket for bracket in _CLOSERS}
        | dict.fromkeys(_PREFIXES, f"prefix{closer}")
        | {".": f"point{closer}"}
        | signs
    )
    end = {",": f"item{closer}", closer: "close"}
    end |= {":": value} if closer == "}" else {}
    assign = {"=": value} if closer == ")" else {}
    return {
        value: begin,
        f"item{closer}": begin | {closer: "close"},
        f"point{closer}": dict.fromkeys(digits, f"word{closer}"),
        f"prefix{closer}": _QUOTES | dict.fromkeys(_PREFIXES, f"prefixes{closer}"),
        f"prefixes{closer}": _QUOTES,
        f"word{closer}": {},
        # the sign of an exponent looks like an operator
        f"after-word{closer}": end | signs | assign | {"(": "("},
        f"after-string{closer}": end
        | _QUOTES
        | dict.fromkeys(_PREFIXES, f"joined{closer}"),
        f"joined{closer}": _QUOTES | dict.fromkeys(_PREFIXES, f"prefixed{closer}"),
        f"prefixed{closer}": _QUOTES,
        f"after{closer}": end,
    }


def _string(quote: str) -> Moves:
    """The states of a string, also in three quotes; their names end with ``quote``."""
    return {
        f"quote{quote}": {quote: f"quotes{quote}"},
        f"quotes{quote}": {quote: f"long{quote}"},
        f"string{quote}": {quote: "string-end", "\\": f"escape{quote}"},
        f"escape{quote}": {"\r": f"break{quote}"},
        f"break{quote}": {"\n": f"string{quote}"},
        f"long{quote}": {quote: f"long-end{quote}", "\\": f"long-escape{quote}"},
        f"long-escape{quote}": {},
        f"long-end{quote}": {quote: f"long-ends{quote}"},
        f"long-ends{quote}": {quote: "string-end"},
    }


def _spaced(moves: Moves) -> Moves:
    """``moves`` with comments and continued lines, for states that allow blanks."""
    all_moves: Moves = {}
    for state, state_moves in moves.items():
        line_ends = dict.fromkeys("\r\n", state)
        all_moves |= {state: state_moves | {"#": f"{state}#", "\\": f"{state}\\"}}
        all_moves |= {f"{state}#": line_ends, f"{state}\\": line_ends}
    return all_moves


_IN_LIST: Moves = {
    "call": {},
    "next-call": {"]": "close"},
    "after-call": {",": "next-call", "]": "close"},
}
_IN_BRACKETS = {
    state: moves
    for closer in _CLOSERS.values()
    for state, moves in _bracket(closer).items()
}


def _moves_from(places: str, ends: str, then: str) -> dict[str, str]:
    """The moves from each of ``places`` to ``then`` in the same bracket or quotes,
    which ``ends`` lists. Example: ``_each('word', ')]', 'value')`` is
    ``{'word)': 'value)', 'word]': 'value]'}``."""
    return {f"{place}{end}": f"{then}{end}" for place in places.split() for end in ends}


_TIGHT = _moves_from("point prefix prefixes joined prefixed word", ")]}", "")
_SPACED = _IN_LIST | {
    state: moves for state, moves in _IN_BRACKETS.items() if state not in _TIGHT
}
_NAMED = ("start", "dotted", "call", "next-call")
_READS = {
    r"[^\W\d]": dict.fromkeys(_NAMED, "name"),
    r"\w": _moves_from("value item", ")]}", "word"),
    r"(?s:.)": _moves_from("escape", "\"'", "string")
    | _moves_from("long-escape", "\"'", "long"),
}


def _syntax(string: str) -> Syntax:
    """The tables of calls. ``string``: characters that end a run in a string."""
    return Syntax(
        moves={
            "start": {},
            "start[": {"[": "calls"},
            "name": {".": "dotted", "(": "("},
            "dotted": {},
            "name-end": {"(": "("},
        }
        | _IN_BRACKETS
        | _spaced(_SPACED)
        | _string('"')
        | _string("'"),
        runs={
            "name": rf"[{_IN_WORD}]*+",
            "name-end": r"[ \t]*+",
            " ".join(_SPACED): r"[ \t\f\r\n]*+",
            " ".join(f"{state}#" for state in _SPACED): r"[^\r\n]*+",
            "word) word] word}": rf"[.{_IN_WORD}]*+",
            'string"': rf'[^"{string}]*+',
            "string'": rf"[^'{string}]*+",
            'long"': r'[^"\\]*+',
            "long'": r"[^'\\]*+",
        },
        classes={
            state: (pattern, move)
            for pattern, moves in _READS.items()
            for state, move in moves.items()
        },
        defaults={"name": "name-end", 'quotes"': "string-end", "quotes'": "string-end"}
        | _moves_from("prefix prefixes", ")]}", "word")
        | _moves_from("word", ")]}", "after-word")
        | _moves_from("quote break", "\"'", "string")
        | _moves_from("long-end long-ends", "\"'", "long"),
        containers={"calls": ("after-call", "call")}
        | {opener: (f"after{end}", f"item{end}") for opener, end in _CLOSERS.items()},
        container_moves={"string-end": _moves_from("after", ")]}", "after-string")},
    )


CALLS = _syntax(r"\\\r\n")
CALLS_WITH_BREAKS = _syntax(r"\\")
"""As `CALLS`, but strings without triple quotes may have line breaks, too."""
