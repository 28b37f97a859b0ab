"""Patterns that prove a slice of text plain: where none matches, nobody has to read it.

A gate is the search of such a pattern; it finds anything that may matter: the beginning
of a literal, half a character, an opener that begins a line, what may begin a fence,
and what waits at the slice's end, since more could make it one of these: blanks at a
line's beginning, a list mark. Which gate is asked depends on where the slice begins: on
a new line, within one, or behind the beginning of a list or a quote. A line break
itself passes, and so do backticks within a line: whether they make code is only asked
where a literal stands. Example: ``hello\n`` passes, ``a <`` does not.
"""

from __future__ import annotations

import re
from functools import lru_cache
from string import digits
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from sidecar.markdown import slices
from sidecar.markdown.code import BLANKS
from sidecar.markdown.slices import INDENT
from sidecar.values.surrogates import HALVES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sidecar.forms.literals import Literals

_ANYTHING = re.compile("")
NOTHING = re.compile(r"(?!)").search
_INDENTS = ("", " ", "  ", "   ")
"""A line that begins with other blanks may be code."""

Gate: TypeAlias = "Callable[..., re.Match[str] | None]"
"""The search of a pattern: what it finds may matter, and mostly does."""


class Gates(NamedTuple):
    """``begins``: for a slice that begins a line; ``inside``: for one that goes on;
    ``marked``: behind what may be a list mark; ``prefixed``: behind list marks and
    quotes. A slice that ends with one of ``ends`` may end so, which ``last`` tells.

    ``quick`` finds whatever ``inside`` may, and more, at a third of the cost.
    ``certain`` tells where the beginning of a literal begins at the end of a slice;
    ``heads`` are the openers that begin lines, by their first character, ``waits``
    what of them waits at a slice's end, as blanks do there. ``code`` are the gates
    behind the next line break, where they are others. ``border`` finds what begins a
    fence at a line's start, or ends it, and ``behind`` gives the gates behind that.
    """

    begins: Gate
    inside: Gate
    marked: Gate
    prefixed: Gate
    ends: str
    last: re.Pattern[str]
    quick: Gate
    certain: Callable[[str], int] = len
    heads: Mapping[str, Sequence[str]] = {}  # nobody writes into it
    waits: frozenset[str] = frozenset()
    code: Gates | None = None
    border: Gate = NOTHING
    behind: Callable[[Gates, str], Gates | None] = lambda *_: None

    def __hash__(self) -> int:
        return id(self)

    def matters(self, gate: Gate, text: str) -> bool:
        """Whether ``text`` must go the long way."""
        match = gate(text)
        while match is not None:
            if match.lastgroup is None:
                return True
            at = match.start("head")
            for opener in self.heads[text[at]]:
                rest = text[at : at + len(opener)]
                if opener.startswith(rest):
                    return True
            match = self.inside(text, at)  # a literal may begin there
        return False

    def passes(self, gate: Gate, text: str) -> int:
        """How much of ``text`` may pass where its end waits, as the beginning of a
        literal does, and what begins a line."""
        end = self.certain(text)
        start = text.rfind("\n", 0, end) + 1
        if not self.ends or end - start > INDENT or not (start or gate is self.begins):
            return end
        begun = text[start:end].lstrip(BLANKS)
        if begun and (begun not in self.waits or end < len(text)):
            return end
        is_code = begun and text[start : end - len(begun)] not in _INDENTS
        return end if is_code else start

    def on(self, start: str) -> Gate | None:
        """The gate in a line of which ``start`` is shown; with a run it may be code."""
        return self.after(start, self.begins) if {*"`~"}.isdisjoint(start) else None

    def after(self, text: str, gate: Gate) -> Gate:
        """The gate behind ``text``, which has passed ``gate``."""
        if text[-1] not in self.ends:
            return self.inside
        if text[-1] == "\n":
            return self.begins
        match = self.last.search(text)
        goes_on = gate in (self.begins, self.prefixed)
        if match is None or not (goes_on or match[0][0] == "\n"):
            return self.inside
        code = match[0].strip() and text[-2:].isspace()  # perhaps
        behind = _ANYTHING.match if code else self.prefixed
        return behind if match["mark"] is None else self.marked


@lru_cache(maxsize=64)
def _quick(characters: str) -> Gate:
    """Any of the (escaped) ``characters``, or half of one."""
    return re.compile(f"[{characters}{HALVES}]").search


@lru_cache(maxsize=64)
def _anywhere(literal: str) -> Gate:
    return re.compile(f"{literal}|[{HALVES}]").search


def anywhere(literals: Literals) -> Gates:
    """Gates where lines do not count."""
    search = _anywhere(literals.beginnings)
    gates, quick = (search, search, search, search), _quick(literals.firsts)
    return Gates(*gates, "", slices.LAST_LINE, quick, literals.certain)


@lru_cache(maxsize=2 + INDENT)
def in_code(indent: int) -> Gates:
    """In code where only the line counts that ends it: in a fence in no item, 0, or in
    items that are ``indent`` wide; less is outside of them. In other code, -1, any."""
    line = slices.line_of_code(indent)
    pattern = re.compile(rf"(?:\A|\n){line}|[{HALVES}]")
    begins, inside = pattern.search, re.compile(rf"\n{line}|[{HALVES}]").search
    prefixed = pattern.search  # the same, but it is known where it begins
    last = re.compile(rf"(?:\A|\n)[>{BLANKS}]*+(?P<mark>(?!))?\Z")
    ends = "" if indent < 0 else "\n" if indent else f"\n>{BLANKS}"
    return Gates(begins, inside, begins, prefixed, ends, last, _quick("\n"))


@lru_cache(maxsize=64)
def in_fence(fence: str, outside: Gates) -> Gates:
    """In a ``fence`` in nothing else, where it is known what is ``outside``."""
    after = ended(outside)

    def behind(_: Gates, end: str) -> Gates | None:
        return after if end.startswith(fence) else None

    return in_code(0)._replace(border=slices.ENDS.search, behind=behind)


@lru_cache(maxsize=64)
def in_info(literals: Literals, indent: int, code: Gates) -> Gates:
    """Behind backticks that begin a fence, in which ``code`` are the gates: one more in
    their line would make it text, and a literal has to wait for its end."""
    line = rf"\A[^\n]*?(?:`|{literals.beginnings})"
    search = re.compile(rf"{line}|\n{slices.line_of_code(indent)}|[{HALVES}]").search
    gates, quick = (search, search, search, search), _quick(f"\n`{literals.firsts}")
    return Gates(*gates, "", slices.LAST_LINE, quick, code=code)


def line_gates(literals: Literals, heads: Mapping[str, Sequence[str]]) -> Gates:
    """Gates of the answer outside fences."""
    gates = _searches(literals.beginnings, "".join(sorted(heads)))
    ends = f"\n>*+-.){BLANKS}{digits}"
    quick = _quick("\n" + literals.firsts)
    waits = _waits(tuple(each for openers in heads.values() for each in openers))

    def behind(outside: Gates, fence: str) -> Gates | None:
        return in_info(literals, 0, in_fence(fence, outside))

    ticks = any("`" in each for each in literals.literals)
    border = NOTHING if ticks else slices.OPENS.search
    known = Gates(*gates, ends, slices.LAST_LINE, quick, literals.certain, heads, waits)
    return known._replace(border=border, behind=behind)


@lru_cache(maxsize=64)
def ended(outside: Gates) -> Gates:
    """Behind what ends a fence if a line break follows."""

    def gate(text: str, at: int = 0) -> re.Match[str] | None:
        return (outside.inside if text[:1] == "\n" else _ANYTHING.match)(text, at)

    def certain(text: str) -> int:
        return outside.certain(text) if text[:1] == "\n" else len(text)

    gates, last, quick = (gate, gate, gate, gate), slices.LAST_LINE, _ANYTHING.search
    return Gates(*gates, "", last, quick, certain, outside.heads, code=outside)


@lru_cache(maxsize=64)
def _waits(openers: tuple[str, ...]) -> frozenset[str]:
    """What may wait of ``openers``: a part, or a run of one sign, which may go on."""
    parts = {each[:size] for each in openers for size in range(1, len(each))}
    runs = {each for each in openers if each == each[0] * max(len(each), 2)}
    return frozenset(parts | runs)


@lru_cache(maxsize=64)
def _searches(literal: str, heads: str) -> tuple[Gate, Gate, Gate, Gate]:
    """In the order of `Gates`; ``head`` may begin an opener."""
    head = f"[{BLANKS}]*+(?P<head>[{re.escape(heads)}])" if heads else r"(?!)"
    line = f"(?:(?!{slices.LINE})|{head})"
    rest = f"{literal}|[{HALVES}]"
    return (
        re.compile(rf"(?:\A|\n){line}|{rest}").search,
        re.compile(rf"\n{line}|{rest}").search,
        re.compile(rf"\A(?!{slices.MARKED})|\n{line}|{rest}").search,
        re.compile(rf"\A(?:[{BLANKS}]|(?!{slices.PREFIXED}))|\n{line}|{rest}").search,
    )
