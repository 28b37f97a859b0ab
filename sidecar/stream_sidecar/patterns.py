"""Compiles every regular expression of the package: when it is first used, and so that
all Pythons read it alike.

Most of some 400 patterns are for one dialect or one wire, and to compile all of them
took a third of the start of the process. So `compile` gives what stands for a pattern
until anything is asked of it. Example: ``compile("a+").match`` compiles.

CPython 3.11.0 to 3.11.4 misreads a possessive repeat of more than one item: it keeps
what the last turn had read before that turn failed. Example: ``(?:ab?c)*+`` should read
nothing of ``a``, and reads all of it. Distributions mend this without another version,
so a probe tells. Where it fails, `compile` makes such a repeat an atomic group,
``(?>(?:ab?c)*)``, which means the same. That costs every Python more time and memory,
so no pattern is written so where it stands.

`parse` gives what Python's own parser makes of a pattern, for patterns of strangers,
which are never compiled (``forms.stranger_patterns``).
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
"""What a pattern is made of, as far as its groups are told from what looks like one."""


def _with_atomic_groups(pattern: str) -> str:
    """``pattern`` with every possessive repeat of a group as an atomic group."""
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
    """As `re.compile`, with atomic groups in place of possessive repeats of groups."""
    if isinstance(pattern, bytes):
        text = _with_atomic_groups(pattern.decode("latin-1"))
        return re.compile(text.encode("latin-1"), flags)
    return re.compile(_with_atomic_groups(pattern), flags)


def parse(pattern: str) -> Any:
    """``pattern`` as the parser of `re` reads it, where ``.`` is any character; what is
    none is a ValueError. The codes in it are those of `tokens`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what may mean something else one day
        try:
            return _parser.parse(pattern, re.DOTALL)
        except re.error as reason:
            raise ValueError(str(reason)) from None


_compile = re.compile if re.fullmatch("(?:ab?c)*+", "a") is None else compile_atomic
_MEMBERS = [name for name in dir(re.Pattern) if not name.startswith("_")]


class _Pattern:
    """A pattern that is not compiled yet. It has the members of one afterwards, so that
    each later use of them costs a look at its own attributes."""

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
