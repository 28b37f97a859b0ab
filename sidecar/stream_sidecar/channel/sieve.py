"""Tests with one search whether the text engine could take anything out of a text.

Most stored answers have nothing to take out, and a `Sieve` finds that out at a fraction
of the cost of reading. The engine leaves a text unchanged if it has no literal, and no
line that begins a form. Example: ``a < b`` passes, and so does a program that begins
with ``{``; ``a</think>`` does not. A text that does not pass may still stay unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.channel.setup import surroundings
from stream_sidecar.forms.candidate import Candidate, Failed
from stream_sidecar.message.outlet import Outlet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.forms.candidate import Opening
    from stream_sidecar.forms.form import Form
    from stream_sidecar.options import StreamOptions

_FIRST = 64
"""A candidate first gets this many code points. The number is doubled as long as the
candidate stays open."""

_MOST = 4
"""All candidates together read at most this many times the length of the text, so that
the search is linear."""


class Sieve:
    """Tests the texts of streams that have these ``options``."""

    def __init__(self, options: StreamOptions) -> None:
        shared = surroundings(options, Outlet(parts=False, trace=False))
        self._lexicon, self._context = shared.lexicon, shared.context
        self._literal = shared.lexicon.literals.any.search
        self._limit = max(options.limits.max_held_chars, options.limits.max_call_chars)

    def passes(self, text: str) -> bool:
        """Whether the text engine certainly takes nothing out of ``text``."""
        if self._literal(text) is not None:
            return False
        budget = _MOST * len(text) + _FIRST
        results: dict[Form, bool] = {}
        for start in self._line_starts(text):
            openings = tuple(
                opening
                for opening in self._lexicon.openings_at(
                    text, start, at_start=True, final=True
                )
                if _has_needed(text, opening.form, results)
            )
            if openings:
                budget -= self._read(openings, text, start, budget)
                if budget < 0:
                    return False
        return True

    def _room(self, _size: int, *, calls: bool) -> int:
        return self._limit

    def _line_starts(self, text: str) -> Iterator[int]:
        """The first index after the blanks of each line that may begin a form."""
        blanks = len(text) - len(text.lstrip())
        if blanks < len(text):
            yield blanks
        needs = any(need in text for need in self._lexicon.needed_literals)
        find, index = self._lexicon.find_line_opener, 0
        while (start := find(text, index, len(text), with_needs=needs)) is not None:
            yield start
            index = start

    def _read(
        self, openings: tuple[Opening, ...], text: str, start: int, budget: int
    ) -> int:
        """How many code points a candidate at index ``start`` read before it failed.
        More than ``budget`` if it did not fail, or would cost too much."""
        candidate = Candidate(start, openings, self._context)
        end, size = start, _FIRST
        while True:
            piece, end = text[end : end + size], end + size
            verdict = candidate.push(piece, self._room, final=end >= len(text))
            if isinstance(verdict, Failed):
                return budget + 1 if verdict.full else end - start
            if verdict is not None or end >= len(text) or end - start > budget:
                return budget + 1
            size *= 2


def _has_needed(text: str, form: Form, results: dict[Form, bool]) -> bool:
    """Whether ``text`` has a literal that ``form`` needs; kept in ``results``."""
    if form.needs and form not in results:
        results[form] = any(need in text for need in form.needs)
    return results.get(form, True)
