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

_PREFIX = rf"(?:[*+\-][ \t]|\d{{1,9}}[.)][ \t]|[>{BLANKS}]){{0,12}}+"
"""Quotes and list marks, behind which a fence may begin."""

_GOES_ON = rf"{_ORDINARY}|\n|[*+\-][^ \t]|`{{1,2}}[^`]|\d{{1,9}}(?:[^\d.)]|[.)][^ \t])"
"""What ends the prefix, so that no fence begins on the line."""

_MARK = r"[*+\-]|[0-9]{1,9}[.)]?"
_BEGUN = rf"(?=[>*+\-0-9]){_PREFIX}(?:{_MARK})?\Z"
"""A prefix at a slice's end, perhaps with a part of a list mark."""

_LAST_LINE = re.compile(
    rf"(?:\A|\n)[{BLANKS}]*+(?=[>*+\-0-9]){_PREFIX}(?P<mark>{_MARK})?\Z"
)
"""The last line of a slice, if it ends so."""

_PREFIXED = rf"{_PREFIX}(?:{_GOES_ON})"
_MARKED = rf"[^{BLANKS}\d.)]|[ \t]{_PREFIXED}"
_LINE = rf"\Z|[{BLANKS}]{{0,{INDENT}}}+(?![{BLANKS}])(?:{_PREFIXED}|{_BEGUN})"
"""What may pass: the rest of a line behind a whole prefix, behind a list mark or its
digits, and a line."""

Gate: TypeAlias = "Callable[..., re.Match[str] | None]"
"""The search of a pattern: what it finds may matter, and mostly does."""


class Gates(NamedTuple):
    """``begins``: for a slice that begins a line; ``inside``: for one that goes on;
    ``marked``: behind what may be a list mark; ``prefixed``: behind list marks and
    quotes. A slice that ends with one of ``ends`` may end so, which ``last`` tells.

    ``quick`` finds whatever ``inside`` may, and more, at a third of the cost: where it
    finds nothing, nothing matters.

    ``certain`` tells where the beginning of a literal begins at the end of a slice;
    ``heads`` are the openers that begin lines, by their first character.
    """

    begins: Gate
    inside: Gate
    marked: Gate
    prefixed: Gate
    ends: str
    last: re.Pattern[str]
    quick: Gate
    certain: Callable[[str], int]
    heads: Mapping[str, Sequence[str]]

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
        literal does, and blanks that begin a line."""
        end = self.certain(text)
        rest = text[:end].rstrip(BLANKS)
        begins = rest[-1:] == "\n" or (not rest and gate is self.begins)
        waits = begins and self.ends and end - len(rest) <= INDENT
        return len(rest) if waits else end

    def on(self, start: str) -> Gate | None:
        """The gate in a line of which ``start`` is shown; a run waits."""
        return None if start[-1] in "`~" else self.after(start, self.begins)

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
        return self.prefixed if match["mark"] is None else self.marked


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
    return Gates(*gates, "", _LAST_LINE, quick, literals.certain, {})


def _in_fence() -> Gates:
    """In fenced code only the line counts that closes it."""
    fence = f"[>{BLANKS}]*+[`~]"
    begins = re.compile(rf"(?:\A|\n){fence}|[{HALVES}]").search
    inside = re.compile(rf"\n{fence}|[{HALVES}]").search
    last = re.compile(rf"(?:\A|\n)[>{BLANKS}]*+(?P<mark>(?!))?\Z")
    ends, quick = f"\n>{BLANKS}", _quick("\n")
    return Gates(begins, inside, begins, begins, ends, last, quick, len, {})


@lru_cache(maxsize=INDENT)
def in_item(indent: int) -> Gates:
    """In fenced code of a list item, what is less indented may be outside of it."""
    line = rf"(?!\n|\Z| {{{indent},{INDENT}}}+[^\n{BLANKS}`~])"
    begins = re.compile(rf"(?:\A|\n){line}|[{HALVES}]").search
    inside = re.compile(rf"\n{line}|[{HALVES}]").search
    gates = begins, inside, begins, begins
    return Gates(*gates, "\n", _LAST_LINE, _quick("\n"), len, {})


def _in_line() -> Gates:
    """In a line of which only the end counts."""
    quick = _quick("\n")
    return Gates(quick, quick, quick, quick, "", _LAST_LINE, quick, len, {})


IN_FENCE, IN_CODE = _in_fence(), _in_line()


def line_gates(literals: Literals, heads: Mapping[str, Sequence[str]]) -> Gates:
    """Gates of the answer outside fences."""
    gates = _searches(literals.beginnings, "".join(sorted(heads)))
    ends = f"\n>*+-.){BLANKS}{digits}"
    quick = _quick("\n" + literals.firsts)
    return Gates(*gates, ends, _LAST_LINE, quick, literals.certain, heads)


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
        re.compile(rf"\A(?!{_PREFIXED})|\n{line}|{rest}").search,
    )
