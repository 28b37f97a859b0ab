"""Compiles each regular expression on first use, with one meaning in all Pythons.

Most of the about 400 patterns are for one dialect or one wire; compiling all of them
took a third of the start of the process. So `compile` returns a placeholder that
compiles the pattern when a member of it is first used: ``compile("a+").match``.

CPython 3.11.0 to 3.11.4 misreads a possessive repeat of more than one item: it keeps
the text that the last, failed repetition had read. Example: ``(?:ab?c)*+`` should match
nothing of ``a``, but matches all of it. Some distributions fix this without a new
version, so a probe decides. If the probe fails, `compile` turns such a repeat into an
atomic group, ``(?>(?:ab?c)*)``, which means the same. Atomic groups cost every Python
more time and memory, so the patterns themselves have possessive repeats.

`parse` returns the tree that Python's own parser makes of a pattern. It is for foreign
patterns, which are never compiled (``templates.stranger_patterns``).
"""

from __future__ import annotations

import re
import warnings
from re import _constants as tokens  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any, AnyStr

__all__ = ["compile", "compile_atomic", "parse", "tokens"]

_TOKENS = r"""
      \\.
    | \[ \^? \]? [^]\\]*+ (?: \\. [^]\\]*+ )* \]
    | \(\?\# [^)]*+ \)
    | (?P<open> \( )
    | (?P<close> \) ) (?: (?P<times> [*+?] | \{ (?:\d++|\d*+,\d*+) \} ) \+ )?
    | .
"""
"""The tokens of a pattern, as far as needed to tell groups from escapes, sets and
comments."""


def _with_atomic_groups(pattern: str) -> str:
    """``pattern`` with atomic groups in place of possessive repeats of groups."""
    written: list[str] = []
    opened: list[int] = []
    for token in re.finditer(_TOKENS, pattern, re.VERBOSE | re.DOTALL):
        written.append(token[0])
        if token["open"]:
            opened.append(len(written) - 1)
        elif token["close"]:
            begin = opened.pop()
            if token["times"]:
                written[begin] = f"(?>{written[begin]}"
                written[-1] = f"){token['times']})"
    return "".join(written)


def compile_atomic(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Compile ``pattern`` like `re.compile`, but with atomic groups in place of
    possessive repeats of groups."""
    if isinstance(pattern, bytes):
        text = _with_atomic_groups(pattern.decode("latin-1"))
        return re.compile(text.encode("latin-1"), flags)
    return re.compile(_with_atomic_groups(pattern), flags)


def parse(pattern: str) -> Any:
    """Return the tree that Python's parser makes of ``pattern``, with ``.`` as any
    character. The codes in the tree are members of `tokens`. ValueError if ``pattern``
    is not a regular expression."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of syntax that may change its meaning
        try:
            return _parser.parse(pattern, re.DOTALL)
        except re.error as reason:
            raise ValueError(str(reason)) from None


_compile = re.compile if re.fullmatch("(?:ab?c)*+", "a") is None else compile_atomic
_MEMBERS = [name for name in dir(re.Pattern) if not name.startswith("_")]


class _Pattern:
    """A pattern that is compiled on first use. Then it has the members of the compiled
    pattern as its own attributes, so each later use costs one look-up."""

    def __init__(self, pattern: Any, flags: int = 0) -> None:
        self._given = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name not in _MEMBERS:
            raise AttributeError(name)
        compiled = _compile(*self._given)
        vars(self).update({each: getattr(compiled, each) for each in _MEMBERS})
        return getattr(compiled, name)


if TYPE_CHECKING:
    from re import compile
else:
    compile = _Pattern
