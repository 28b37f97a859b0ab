"""Whether finished argument text is complete JSON, cut off, or invalid."""

from __future__ import annotations

import re
from typing import Any, Literal, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.values.jsontext import loads

ArgumentState: TypeAlias = Literal["complete", "truncated", "invalid"]

_BODY = r'(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+'
_TOKEN = patterns.compile(
    rf"""[ \t\n\r]*+(?:
      (?P<end>\Z)
    | (?P<mark>[{{}}\[\]:,])
    | (?P<string>"{_BODY}")
    | (?P<atom>(?:-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?
        | true | false | null)(?![-+.0-9A-Za-z]))
    | (?P<key>"{_BODY}(?:\\(?:u[0-9a-fA-F]{{0,3}})?)?\Z)
    | (?P<cut>(?:-|-?(?:0|[1-9][0-9]*+)(?:\.|(?:\.[0-9]++)?[eE][-+]?)
        | t|tr|tru | f|fa|fal|fals | n|nu|nul)\Z)
    )""",
    re.VERBOSE,
)
"""``key`` is the beginning of a string at the end of the text; ``cut`` is the beginning
of a number or a word there."""

_VALUE = {"string": "after", "atom": "after", "{": "first-key", "[": "first-value"}
_STEPS: dict[str, dict[str, str]] = {
    "value": _VALUE,
    "first-value": _VALUE | {"]": "close"},
    "first-key": {"string": "colon", "}": "close"},
    "key": {"string": "colon"},
    "colon": {":": "value"},
    "after": {",": "next", "}": "close", "]": "close"},
}
"""RFC 8259: what is expected -> the token that comes -> what is expected next."""


def judge(text: str) -> tuple[ArgumentState, Any]:
    """The state of finished arguments, and their value if they are complete."""
    try:
        return "complete", loads(text)
    except ValueError:
        return ("truncated" if is_cut(text) else "invalid"), None


def is_cut(text: str) -> bool:
    """Whether ``text`` begins a JSON value (RFC 8259), but does not complete it."""
    expected, position = "value", 0
    stack: list[str] = []
    while True:
        token = _TOKEN.match(text, position)
        if token is None:
            return False
        kind = token.lastgroup or ""
        if kind == "end":
            return bool(stack) or expected != "after"
        if kind in ("key", "cut"):
            of_key = kind == "key" and expected.endswith("key")
            return expected.endswith("value") or of_key
        position = token.end()
        mark = token["mark"]
        step = _STEPS[expected].get(mark or kind, "")
        if not step or (expected == "after" and not stack):
            return False
        if mark and mark in "{[":
            stack.append("}" if mark == "{" else "]")
        elif step == "close":
            if stack.pop() != mark:
                return False
            step = "after"
        elif step == "next":
            step = "key" if stack[-1] == "}" else "value"
        expected = step
