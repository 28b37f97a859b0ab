"""Damages of stored sessions, as users report them: lines of a log -> lines."""

from __future__ import annotations

import re
from collections.abc import Callable

_CALL = re.compile(rb'"(?:tool_use|function_call|custom_tool_call|functionCall)"')
_RESULT = re.compile(
    rb'"(?:tool_result|function_call_output|custom_tool_call_output|functionResponse)"'
)
_TEXT = re.compile(rb'("text": ?)"I will look\."')
_SIGNATURE = re.compile(rb'("signature": ?)"[^"]+"')

Lines = list[bytes]

LOGS = ("claude-code", "codex")
"""The agents, by the name that `repair` knows, whose sessions are such logs."""


def _call(lines: Lines) -> int:
    return next(number for number, line in enumerate(lines) if _CALL.search(line))


def _cut_in_the_middle(lines: Lines) -> Lines:
    number = _call(lines)
    return [*lines[:number], lines[number][:-25], *lines[number + 1 :]]


DAMAGES: dict[str, Callable[[Lines], Lines]] = {
    "the result is gone": lambda lines: [x for x in lines if not _RESULT.search(x)],
    "the call is gone": lambda lines: [x for x in lines if not _CALL.search(x)],
    "killed after the call": lambda lines: [*lines[: _call(lines) + 1], b""],
    "the last line is cut": lambda lines: [*lines[:-2], lines[-2][:-40]],
    "a line is cut": _cut_in_the_middle,
    "NUL bytes": lambda lines: [*lines[:-1], b"\0" * 64],
    "a blank text": lambda lines: [_TEXT.sub(rb'\1""', x) for x in lines],
    "no signature": lambda lines: [_SIGNATURE.sub(rb'\1""', x) for x in lines],
}
"""The last of the lines is empty: what is behind the last line break."""
