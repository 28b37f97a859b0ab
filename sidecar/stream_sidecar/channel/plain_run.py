"""Runs of plain text: deltas without a delimiter, a form or a line that matters.

Most of a stream is plain text. A delta of a run becomes an event at once and is only
remembered. The bookkeeping (positions, the block's text, the characters before the next
one) is done later for several deltas together: when enough have come, when other input
comes, or when a caller needs it. So the same text leaves the same state, whether or not
it was a run. If a delta ends like the beginning of a delimiter (``a <th``), or with
blanks that begin a line, that end waits for the next delta. If the run ends first, the
text engine reads it.

A run may also be text inside a call, which cannot end the call: the inside of a JSON
string, text without ``<`` between two tags. Such text only waits, and the text engine
reads all of it when the run ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from stream_sidecar import patterns
from stream_sidecar.events import ReasoningDelta, TextDelta
from stream_sidecar.text.fast_path import NO_GATE, SLICE_SIZE
from stream_sidecar.values.surrogates import has_half

if TYPE_CHECKING:
    import re

    from stream_sidecar.events import Event
    from stream_sidecar.message.outlet import Outlet
    from stream_sidecar.text.fast_path import Passage, Search

_SHORT = 64
"""Deltas are short if they have fewer code points on average."""

_MANY, _FEW = 256, 8
"""The bookkeeping is done at each event whose number is a multiple of one of these.
While deltas are short it is `_MANY`, because each delta costs memory as a string of its
own. While they are long it is `_FEW`, because other streams wait for the
bookkeeping."""

_ANYTHING = patterns.compile("").match
"""Matches any text. It takes the place of the search if every delta has to be
examined."""


class RunOwner(Protocol):
    """Whose text the run is (`Answer`)."""

    choice: int
    outlet: Outlet

    def account(self, text: str) -> None:
        """Gets the text of all deltas since its last call."""

    def hold(self, text: str) -> None:
        """Gets the held text at the end of the run: perhaps part of a literal."""

    def note_held(self, in_run: int) -> None:
        """Gets the highest number of code points that were held back after a delta."""

    def fails(self, text: str) -> bool:
        """Whether ``text`` at the start of a line certainly begins no form."""


class PlainRun:
    """A run of the text of ``owner``. Until ``end`` this is the outlet's ``run``.

    Text that passes belongs to ``block``. ``passage``: the fast path for the next text.
    ``thinks``: the block is reasoning.

    Without a ``passage`` the text only waits for the text engine: text that all
    patterns in ``stays`` match in full, at most ``room`` code points.
    """

    def __init__(
        self,
        owner: RunOwner,
        passage: Passage | None = None,
        block: int = -1,
        *,
        thinks: bool = False,
        stays: tuple[re.Pattern[str], ...] = (),
        room: int = 0,
    ) -> None:
        self.choice = owner.choice
        self._owner = owner
        self._outlet = outlet = owner.outlet
        self._block = block
        self._thinks = thinks
        self._stays = stays
        self._room = room
        self._texts: list[str] = []
        self._interval = _FEW
        self._held = ""
        self._peak = 0
        self._set_passage(passage)
        outlet.end_run()
        outlet.run = self

    @property
    def held(self) -> int:
        """The number of code points held back: perhaps the beginning of a literal."""
        return len(self._held)

    def _set_passage(self, passage: Passage | None) -> None:
        self._passage = passage
        if passage is None or passage[1] or self._held:
            self._search: Search = _ANYTHING
        else:
            self._search = passage[0].pattern.search

    def push(self, text: str) -> list[Event] | None:
        """The events of the delta ``text``, with the next number; [] if all of the text
        is held back; None if the text has to be read in full."""
        match = self._search(text)
        if match is not None:
            certain = self._certain(text, match)
            if not certain:
                return None if certain is None else []
            text = certain
        self._texts.append(text)
        outlet = self._outlet
        outlet.seq = seq = outlet.seq + 1
        if not seq % self._interval:
            self.settle()
        if self._thinks:
            block = self._block
            return [ReasoningDelta(seq, self.choice, block, text, "tag")]
        return [TextDelta(seq, self.choice, self._block, text)]

    def _certain(self, text: str, match: re.Match[str]) -> str | None:
        """The part of the held text and ``text`` that may pass. The rest, the beginning
        of a literal or of a line, is held back. None: something else in the text
        matters, or the text is too long for one search. ``match``: the result of the
        search in ``text``."""
        if len(text) > SLICE_SIZE:
            return None
        if self._passage is None:
            return self._waiting(text)
        gates, gate = self._passage
        if gate and not self._held:
            gated = gate + text
            gate_match = gates.pattern.search(gated)
        else:
            gated, gate_match = text, match
        if gate_match is None or gate_match.lastgroup == "last":
            next_gate = NO_GATE if gate_match is None else gated[gate_match.start() :]
            self._set_passage((gates, next_gate))
            return text
        text = self._held + text
        progress = gates.read_slice(gate, text, self._owner.fails)
        if progress is None:
            return None
        end = progress[0]
        self._held = text[end:]
        self._peak = max(self._peak, len(self._held))
        self._set_passage(progress[1:])
        return text[:end]

    def _waiting(self, text: str) -> str | None:
        """Holds back ``text``. None: it has to be read."""
        held = self._held + text
        if len(held) > self._room or has_half(text):
            return None
        if not all(pattern.fullmatch(text) for pattern in self._stays):
            return None
        self._held, self._peak = held, max(self._peak, len(held))
        return ""

    def settle(self) -> None:
        """Does the bookkeeping for the deltas so far. The run continues."""
        if self._peak:
            self._owner.note_held(self._peak)
            self._peak = 0
        if self._texts:
            text = "".join(self._texts)
            self._interval = _MANY if len(text) < _SHORT * len(self._texts) else _FEW
            self._texts.clear()
            self._owner.account(text)

    def end(self) -> None:
        """Does the bookkeeping and ends the run."""
        self._outlet.run = None
        self.settle()
        if self._held:
            held, self._held = self._held, ""
            self._owner.hold(held)
