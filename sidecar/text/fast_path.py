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

from sidecar.markdown.code import BLANKS
from sidecar.values.surrogates import HALVES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sidecar.forms.literals import Literals

INDENT = 24
"""So many blanks at a line's beginning pass at most; more must be able to wait."""

_ORDINARY = rf"[^\n{BLANKS}>*+\-~`\d]"
"""What begins no quote, list or fence (`code`)."""

_ANY_PREFIX = rf"(?:[*+\-][ \t]|\d{{1,9}}[.)][ \t]|[>{BLANKS}]){{0,12}}+"
_PREFIX = rf"(?![>*+\-.)\d{BLANKS}]{{0,64}}?[>*+\-.)][{BLANKS}]{{5}}){_ANY_PREFIX}"
"""Quotes and list marks, behind which a fence may begin, but no indented code does."""

_GOES_ON = rf"{_ORDINARY}|\n|[*+\-][^ \t]|`{{1,2}}[^`]|\d{{1,9}}(?:[^\d.)]|[.)][^ \t])"
"""What ends the prefix, so that no fence begins on the line."""

_MARK = r"[*+\-]|[0-9]{1,9}[.)]?"
_BEGUN = rf"(?=[>*+\-0-9]){_PREFIX}(?:{_MARK})?\Z"
"""A prefix at a slice's end, perhaps with a part of a list mark."""

_LAST_LINE = re.compile(
    rf"(?:\A|\n)[{BLANKS}]*+(?=[>*+\-0-9]){_ANY_PREFIX}(?P<mark>{_MARK})?\Z"
)
"""The last line of a slice, if it ends so."""

_PREFIXED = rf"{_PREFIX}(?:{_GOES_ON})"
_MARKED = rf"[^{BLANKS}\d.)]|[ \t](?![{BLANKS}]){_PREFIXED}"
_LINE = rf"\Z|[{BLANKS}]{{0,{INDENT}}}+(?![{BLANKS}])(?:{_PREFIXED}|{_BEGUN})"
"""What may pass: the rest of a line behind a whole prefix, behind a list mark or its
digits, and a line."""

_ANYTHING = re.compile("")
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
    what of them waits at a slice's end, as blanks do there. ``ended`` is for a slice
    behind what ends a fence, if a line break follows; ``code`` are the gates behind
    the next line break, where they are others.
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
    ended: Gate | None = None
    code: Gates | None = None

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
        if gate is self.ended and text[0] != "\n":
            return len(text)
        end = self.certain(text)
        start = text.rfind("\n", 0, end) + 1
        if not self.ends or end - start > INDENT or not (start or gate is self.begins):
            return end
        begun = text[start:end].lstrip(BLANKS)
        if begun and (begun not in self.waits or end < len(text)):
            return end
        return (
            end if begun and text[start : end - len(begun)] not in _INDENTS else start
        )

    def on(self, start: str) -> Gate | None:
        """The gate in a line of which ``start`` is shown; with a run it may be code."""
        return self.after(start, self.begins) if {*"`~"}.isdisjoint(start) else None

    def after(self, text: str, gate: Gate | None) -> Gate:
        """The gate behind ``text``, which has passed ``gate``."""
        if text[-1] not in self.ends:
            return self.inside
        if text[-1] == "\n":
            return self.begins
        if gate is self.inside and "\n" not in text:
            return self.inside
        match = self.last.search(text)
        if match is None or (gate is not self.begins and match[0][0] != "\n"):
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
    gates = search, search, search, search
    quick = _quick(literals.firsts)
    return Gates(*gates, "", _LAST_LINE, quick, literals.certain)


def _line_of_code(indent: int) -> str:
    """What of a line of code matters; see `in_code`."""
    if not indent:
        return rf"[>{BLANKS}]*+[`~]"
    if 0 < indent <= INDENT:
        return rf"(?!\n|\Z| {{{indent},{INDENT}}}+[^\n{BLANKS}`~])"
    return ""


@lru_cache(maxsize=2 + INDENT)
def in_code(indent: int) -> Gates:
    """In code where only the line counts that ends it: in a fence in no item, 0, or in
    items that are ``indent`` wide; less is outside of them. In other code, -1, any."""
    line = _line_of_code(indent)
    begins = re.compile(rf"(?:\A|\n){line}|[{HALVES}]").search
    inside = re.compile(rf"\n{line}|[{HALVES}]").search
    last = re.compile(rf"(?:\A|\n)[>{BLANKS}]*+(?P<mark>(?!))?\Z")
    ends = "" if indent < 0 else "\n" if indent else f"\n>{BLANKS}"
    return Gates(begins, inside, begins, begins, ends, last, _quick("\n"))


@lru_cache(maxsize=64)
def in_info(literals: Literals, indent: int) -> Gates:
    """Behind backticks that begin a fence (see `in_code`): one more in their line would
    make it text, and a literal has to wait for its end."""
    line = rf"\A[^\n]*?(?:`|{literals.beginnings})"
    search = re.compile(rf"{line}|\n{_line_of_code(indent)}|[{HALVES}]").search
    gates, quick = (search, search, search, search), _quick(f"\n`{literals.firsts}")
    return Gates(*gates, "", _LAST_LINE, quick, code=in_code(indent))


def line_gates(literals: Literals, heads: Mapping[str, Sequence[str]]) -> Gates:
    """Gates of the answer outside fences."""
    gates = _searches(literals.beginnings, "".join(sorted(heads)))
    ends = f"\n>*+-.){BLANKS}{digits}"
    quick = _quick("\n" + literals.firsts)
    waits = _waits(tuple(each for openers in heads.values() for each in openers))
    certain, ended = literals.certain, _ended(gates[1])
    return Gates(*gates, ends, _LAST_LINE, quick, certain, heads, waits, ended)


@lru_cache(maxsize=64)
def _waits(openers: tuple[str, ...]) -> frozenset[str]:
    """What may wait of ``openers``: a part, or a run of one sign, which may go on."""
    parts = {each[:size] for each in openers for size in range(1, len(each))}
    runs = {each for each in openers if each == each[0] * max(len(each), 2)}
    return frozenset(parts | runs)


def _ended(inside: Gate) -> Gate:
    """``ended`` of `Gates`."""
    return lambda text: (inside if text[:1] == "\n" else _ANYTHING.match)(text)


@lru_cache(maxsize=64)
def _searches(literal: str, heads: str) -> tuple[Gate, Gate, Gate, Gate]:
    """In the order of `Gates`; ``head`` may begin an opener."""
    head = f"[{BLANKS}]*+(?P<head>[{re.escape(heads)}])" if heads else r"(?!)"
    line = f"(?:(?!{_LINE})|{head})"
    rest = f"{literal}|[{HALVES}]"
    return (
        re.compile(rf"(?:\A|\n){line}|{rest}").search,
        re.compile(rf"\n{line}|{rest}").search,
        re.compile(rf"\A(?!{_MARKED})|\n{line}|{rest}").search,
        re.compile(rf"\A(?:[{BLANKS}]|(?!{_PREFIXED}))|\n{line}|{rest}").search,
    )
