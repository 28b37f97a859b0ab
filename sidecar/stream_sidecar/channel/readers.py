"""The readers of one choice, and how much they hold back together.

The limits of held text are for a choice, so each reader has to know what the others
hold. Example: with ``maxHeldChars`` of 100 and 60 characters of native reasoning held,
the answer may hold 40.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.text.lexicon import total_share

if TYPE_CHECKING:
    from stream_sidecar.events import Severity
    from stream_sidecar.message.message import TextCounters
    from stream_sidecar.text.lexicon import Share
    from stream_sidecar.text.rereading import Rereading
    from stream_sidecar.text.splitter import Splitter

HOLD_LIMIT: tuple[str, Severity, str] = (
    "hold-limit",
    "warning",
    "as much as may be held was held; decided now",
)


class Readers:
    """``answer`` reads the answer's text, ``native`` the native reasoning; None before
    its first text. ``tagged``: how many code points of tagged reasoning wait."""

    def __init__(self, counters: TextCounters) -> None:
        self.answer: Rereading | None = None
        self.native: Splitter | None = None
        self.tagged = 0
        self._counters = counters

    @property
    def held(self) -> int:
        """The number of code points held back, without the end of a plain run."""
        held = self.tagged if self.answer is None else self.tagged + self.answer.held
        return held if self.native is None else held + self.native.held

    def note_held(self, in_run: int = 0) -> None:
        """Counts what is held back now. ``in_run``: code points that a run holds."""
        held = in_run + self.held
        if held > self._counters.held_peak:
            self._counters.held_peak = held

    def native_share(self) -> Share:
        """The `Share` of native reasoning."""
        return total_share() if self.native is None else self.native.share()

    def beside_answer(self) -> Share:
        """The `Share` of all readers except the first reading of the answer."""
        assert self.answer is not None  # it asks
        calls, held = self.answer.share()
        return total_share((calls, held + self.tagged), self.native_share())

    def beside_native(self) -> Share:
        """The `Share` of all readers except that of native reasoning."""
        if self.answer is None:
            return total_share()
        answer = self.answer
        return total_share(answer.first.share(), answer.share(), (0, self.tagged))

    def forget(self) -> None:
        """Drops the readers, which know this object: no cycle of references is left."""
        self.answer = self.native = None
