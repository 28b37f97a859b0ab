"""Counts repeated results without removing them (policy ``toolResults.mode`` of
``report``).

The visible text also goes to another splitter, which removes results from this copy.
Only their number is used, for diagnostics (text rule 10.8).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.channel.setup import lexicon
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.text.lexicon import Rules
from stream_sidecar.text.splitter import Splitter

if TYPE_CHECKING:
    from stream_sidecar.channel.setup import Surroundings
    from stream_sidecar.text.pieces import Pieces


class ResultWatch:
    """Counts repeated results in visible text (text rule 10.8). `push` reads the text,
    `flush` returns the number since the last `flush`."""

    def __init__(self, shared: Surroundings) -> None:
        assert shared.watch is not None  # the caller looked
        limit = shared.options.limits.max_held_chars
        words = lexicon((), shared.profile.dialects, about=("results", "echoes"))
        rules = Rules(words, shared.watch, "outside-code", limit, limit)
        self._count = 0
        self._splitter: Splitter | None = Splitter(rules)

    def push(self, text: str) -> None:
        splitter = self._splitter
        if splitter is None:
            return
        self._count += _count_results(splitter.push(text))
        if not (splitter.shown.is_start or splitter.held):
            self._splitter = None  # the answer has begun

    def flush(self, *, followed: bool) -> int:
        if self._splitter is not None:
            self._count += _count_results(self._splitter.flush(followed=followed))
        count, self._count = self._count, 0
        return count


def _count_results(pieces: Pieces) -> int:
    return sum(piece[0] is PieceKind.RESULT for piece in pieces)
