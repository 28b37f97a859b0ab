r"""The fast path: patterns prove a slice of text plain, so that no step has to read it.

A pattern's search finds everything that may matter: the beginning of a literal, half a
character, an opener at a line's start, the beginning of a fence. It also finds an end
of the slice that more text could turn into one of these: blanks at a line's start, a
list mark. If it finds nothing, the slice passes. Line breaks pass. So do backticks
inside a line: whether they are code matters only once a literal comes.

A slice may begin inside a line whose beginning is still undecided, such as ``- ``. This
beginning is the slice's gate, and is searched together with the slice. `Gates` has the
pattern for one kind of text. A `Passage` is all that the next slice needs: its `Gates`
and its gate. Example: ``hello\n`` passes, and ``a <`` does not.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.forms.literals import UndecidedError, beginnings
from stream_sidecar.markdown import slices
from stream_sidecar.markdown.code import BLANKS
from stream_sidecar.markdown.slices import INDENT
from stream_sidecar.values.surrogates import HALVES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from stream_sidecar.forms.literals import Literals, Openers

Search: TypeAlias = "Callable[..., re.Match[str] | None]"

Passage: TypeAlias = "tuple[Gates, Gate]"  # for the next slice
Passed: TypeAlias = "tuple[int, Gates, Gate]"  # how much passed, then a passage

Gate: TypeAlias = str
"""The text searched before a slice: a line break and a line's undecided beginning."""

NO_MATCH = patterns.compile(r"(?!)").match
_BREAK = patterns.compile(r"(?=\n)").match
_INDENTS = ("", " ", "  ", "   ")
"""A line that begins with exactly one of these blanks is certainly no indented code."""

SLICE_SIZE = 1024
"""Longer text is read in slices of this many code points. So one place that matters
makes one slice slow, not all of the text, and no step copies more than a slice."""

NO_GATE: Gate = ""

MIN_ROOM = INDENT + 1  # code points that may wait at a line's start: its blanks


def in_slices(text: str) -> Iterator[str]:
    """``text`` in slices of at most `SLICE_SIZE` characters."""
    for start in range(0, len(text), SLICE_SIZE):
        yield text[start : start + SLICE_SIZE]


def gate_of(line_start: str) -> Gate:
    """The gate inside a line that begins with ``line_start``."""
    return "\n" + line_start


class Gates(NamedTuple):
    """How slices are searched in one kind of text: the answer, a fence, reasoning ...

    - ``pattern`` finds what may matter. Its group ``head`` is a possible opener at a
      line's start. Its group ``last`` is the beginning of a line at the slice's end,
      which passes and becomes the next gate.
    - ``by_line``: blanks at a line's start wait if they end the slice.
    - ``find_undecided`` returns where an incomplete literal at the slice's end begins.
    - ``openers``: first character -> the openers that count at a line's start.
    - ``prefixes``: beginnings of openers that wait if they end the slice.
    - ``match_end`` matches where this kind of text ends. ``gates_after`` returns the
      gates for the text after the match.
    """

    pattern: re.Pattern[str]
    by_line: bool = False
    find_undecided: Callable[[str], int] = len
    openers: Mapping[str, Openers] = {}  # nobody writes into it
    prefixes: frozenset[str] = frozenset()
    match_end: Search = NO_MATCH
    gates_after: Callable[[Gates, str], Gates] = lambda gates, _: gates

    def __hash__(self) -> int:
        return id(self)

    def _find_match(self, text: str) -> re.Match[str] | None:
        """The match in ``text`` that matters, else that of the last line."""
        search = self.pattern.search
        match = search(text)
        while match is not None and match.lastgroup == "head":
            index = match.start("head")
            openers = self.openers[text[index]]
            if openers.at(text, index) or openers.is_begun(
                text[index : index + openers.longest]
            ):
                return match
            match = search(text, match.start() + 1)
        return match

    def read_slice(
        self, gate: Gate, text: str, no_form: Callable[[str], bool]
    ) -> Passed | None:
        """How many characters of ``text`` may pass, and the passage for the text after
        them. If these are not all characters, the rest of ``text`` has to wait. None:
        something before the end of ``text`` matters.

        ``gate``: the gate of ``text``. ``no_form(text)``: whether ``text`` at a line's
        start certainly begins no form.
        """
        gates, base, unread = self, -len(gate), gate + text
        while (match := gates._find_match(unread)) and match.lastgroup != "last":
            end, end_match = match.start() + 1, gates.match_end(unread, match.start())
            if end_match is None:
                wait_start = gates._pass_end(gate, unread)
                return gates._split(unread, wait_start, base, match.start())
            try:
                if unread[end : end + 1] in gates.openers and not no_form(unread[end:]):
                    return None
            except UndecidedError:
                return gates._split(unread, end, base, end - 1)
            base, unread = base + end_match.end(), unread[end_match.end() :]
            gates, gate = gates.gates_after(gates, end_match[0]), NO_GATE
        return base + len(unread), gates, unread[match.start() :] if match else NO_GATE

    def passage_after(self, gate: Gate, text: str) -> Passage | None:
        """The passage after ``text``; None if anything in it matters or has to wait."""
        part = self.read_slice(gate, text, lambda _: False)
        return None if part is None or part[0] < len(text) else part[1:]

    def _split(self, text: str, end: int, base: int, first_at: int) -> Passed | None:
        """The result of `read_slice` if ``text`` from index ``end`` on has to wait.
        ``base``: how much passed before ``text``. ``first_at``: where the first match
        that matters begins."""
        match = self._find_match(text[:end])
        if match and match.lastgroup != "last":
            if first_at < end or text[match.start()] == "\n":
                return None
            end = match.start()  # of ``<<`` the second reading (`Rereading`) holds one
            match = self._find_match(text[:end])
        line_start = match.start() if match and match.lastgroup == "last" else end
        return base + end, self, text[line_start:end]

    def _pass_end(self, gate: Gate, text: str) -> int:
        """The index in ``text`` from which the text has to wait: where a literal at its
        end begins, or the last line. ``text`` includes its ``gate``."""
        end = self.find_undecided(text)
        start = text.rfind("\n", 0, end) + 1
        if not self.by_line or not start or start < len(gate) or end - start > INDENT:
            return end
        beginning = text[start:end].lstrip(BLANKS)
        if beginning and (beginning not in self.prefixes or end < len(text)):
            return end
        is_code = beginning and text[start : end - len(beginning)] not in _INDENTS
        return end if is_code else start


@lru_cache(maxsize=64)
def _pattern(literals: frozenset[str], line: str | None = None) -> re.Pattern[str]:
    """A pattern that finds beginnings of ``literals`` and halves of characters. With
    ``line``, a second pattern, it also finds a line break right before a match of
    ``line``. It begins with a character set, so that a search skips most text
    quickly."""
    tails: dict[str, list[str]] = {}
    for literal in literals:
        tails.setdefault(literal[0], []).append(literal[1:])
    ways = {sign: _tail_pattern(group) for sign, group in sorted(tails.items())}
    if line is not None:  # first, since most of what is found are line breaks
        line = "|".join([line, *filter(None, [ways.pop("\n", None)])])
        ways = {"\n": line, **ways}
    firsts = "".join(map(re.escape, ways))
    options = [f"(?<={re.escape(sign)})(?:{way})" for sign, way in ways.items()]
    way_after = "|".join([*options, f"(?<=[{HALVES}])"])
    return patterns.compile(f"[{firsts}{HALVES}](?:{way_after})")


def _tail_pattern(literals: Iterable[str]) -> str:
    """Matches one of ``literals``, complete or cut off by the text's end."""
    return "" if "" in literals else rf"\Z|{beginnings(literals)}"


@lru_cache(maxsize=64)
def gates_anywhere(literals: Literals) -> Gates:
    """The gates for text whose lines do not matter, such as reasoning."""
    return Gates(_pattern(literals.literals), find_undecided=literals.certain)


@lru_cache(maxsize=2 + INDENT)
def code_gates(indent: int) -> Gates:
    """The gates for a fence inside list items that are ``indent`` wide: a line indented
    less may end the fence. With ``indent`` -1, the gates for other code, which any line
    may end."""
    line = slices.line_of_code(indent)
    return Gates(_pattern(frozenset(), line), by_line=indent > 0)


@lru_cache(maxsize=64)
def fence_gates(fence: str, outer_gates: Gates) -> Gates:
    """The gates inside a top-level ``fence``. ``outer_gates``: those after it."""
    search = _pattern(frozenset(), slices.line_of_fence(fence))
    match_end = patterns.compile(slices.end_of_fence(fence)).match
    return Gates(search, match_end=match_end, gates_after=lambda *_: outer_gates)


@lru_cache(maxsize=64)
def info_gates(literals: Literals, code: Gates) -> Gates:
    """The gates for the rest of a line after the backticks that begin a fence.

    A further backtick would make the line text, and a literal has to wait for the
    line's end. ``code``: the gates for the inside of the fence.
    """
    search = _pattern(literals.literals | {"`", "\n"})
    return Gates(search, match_end=_BREAK, gates_after=lambda *_: code)


def line_gates(literals: Literals, heads: Mapping[str, Openers]) -> Gates:
    """The gates for the answer outside fences. ``heads``: see `Gates`."""
    openers = tuple(text for openers in heads.values() for text in openers.literals)
    fields = _text_pattern(literals.literals, openers), True, literals.certain

    def after_fence(outer_gates: Gates, fence: str) -> Gates:
        return info_gates(literals, fence_gates(fence[1:], outer_gates))

    has_backtick = any("`" in text for text in literals.literals)
    match_end = NO_MATCH if has_backtick else slices.OPENS.match
    return Gates(*fields, heads, _waiting_prefixes(openers), match_end, after_fence)


@lru_cache(maxsize=64)
def _waiting_prefixes(openers: tuple[str, ...]) -> frozenset[str]:
    """The prefixes of ``openers`` that wait at a slice's end: a line's beginning of
    more than `INDENT` characters never does, and names may be long."""
    sizes = range(1, INDENT + 1)
    return frozenset(
        opener[:size] for opener in openers for size in sizes if size < len(opener)
    )


@lru_cache(maxsize=64)
def _text_pattern(
    literals: frozenset[str], openers: tuple[str, ...]
) -> re.Pattern[str]:
    first_signs = "".join(sorted({re.escape(opener[0]) for opener in openers}))
    line = rf"{slices.LINE}|[{BLANKS}]*+(?P<head>{beginnings(openers)})"
    line = rf"(?=[{slices.FIRSTS}{first_signs}]|\Z)(?:{line}|(?P<last>{slices.BEGUN}))"
    return _pattern(literals, line)
