"""Runs of plain text: deltas without a delimiter, a form or a line that matters.

Most of a stream is such text. A delta of a run becomes an event at once and is only
remembered; the bookkeeping for all of them (positions, the block's text, what stands
before the next character) is done together, when something else comes or somebody asks.
So the same text leaves the same state, whether or not it went as a run. Where a delta
ends like the beginning of a delimiter (``a <th``), or with blanks that begin a line,
that end waits for the next delta; when the run ends first, the text engine takes it
over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidecar.events import ReasoningDelta, TextDelta
from sidecar.text.fast_path import in_code

if TYPE_CHECKING:
    from collections.abc import Callable

    from sidecar.events import Event
    from sidecar.message.outlet import Outlet
    from sidecar.text.fast_path import Gate, Gates

_MOST = 128
"""Deltas that are remembered at most: each is a string of its own."""

_AT_FIRST = in_code(0)
"""The gates before a run begins: any will do."""


class PlainRun:
    """The run of ``choice``; between ``begin`` and ``end`` it is the outlet's ``run``.

    ``account`` takes the text of all deltas since it was last called, ``hold`` what is
    held back at the end of the run: the beginning of a literal, perhaps. ``note`` is
    told how many code points were held back behind a delta, at most; ``fails`` tells
    whether no form begins a line so.
    """

    __slots__ = (
        "_account",
        "_block",
        "_ends",
        "_fails",
        "_gate",
        "_gates",
        "_held",
        "_hold",
        "_note",
        "_outlet",
        "_peak",
        "_quick",
        "_texts",
        "_thinks",
        "choice",
    )

    def __init__(
        self,
        choice: int,
        outlet: Outlet,
        account: Callable[[str], None],
        hold: Callable[[str], None],
        note: Callable[[int], None],
        fails: Callable[[str], bool | None],
    ) -> None:
        self._use(_AT_FIRST)
        self.choice = choice
        self._outlet = outlet
        self._account = account
        self._hold = hold
        self._note = note
        self._fails = fails
        self._texts: list[str] = []
        self._held = ""
        self._peak = 0
        self._block = -1
        self._thinks = False

    def begin(
        self,
        block: int,
        gates: Gates,
        gate: Gate,
        *,
        thinks: bool,
    ) -> None:
        """What comes next and passes the ``gate`` belongs to ``block``, which is one of
        reasoning if it ``thinks``."""
        if self._outlet.run is not None:
            self._outlet.run.end()
        self._use(gates)
        self._gate = gates.quick if gate is gates.inside else gate
        self._block, self._thinks = block, thinks
        self._outlet.run = self

    def _use(self, gates: Gates) -> None:
        self._gates, self._ends = gates, gates.ends
        self._gate = self._quick = gates.quick

    def push(self, text: str) -> list[Event] | None:
        """The events of a delta, under the next number; None: it must go the long
        way."""
        if self._held or self._gate(text) is not None:
            certain = self._certain(self._held + text)
            if not certain:
                return None if certain is None else []
            text = certain
        outlet, texts = self._outlet, self._texts
        if text[-1] in self._ends and ("\n" in text or self._gate is not self._quick):
            self._go_on(text)
        else:
            self._gate = self._quick
        texts.append(text)
        if len(texts) == _MOST:
            self.settle()
        outlet.seq = seq = outlet.seq + 1
        if self._thinks:
            block = self._block
            return [ReasoningDelta(seq, self.choice, block, text, "tag", None)]
        return [TextDelta(seq, self.choice, self._block, text, None)]

    def _certain(self, text: str) -> str | None:
        """``text`` without its end, the beginning of a literal or of a line, which is
        held back; None: it matters for something else."""
        gates, gate, certain = self._gates, self._whole_gate, text
        if not gates.matters(gate, text):
            behind = gates.code if "\n" in text else None
        elif across := self._across(gate, text):
            certain, behind = text[: across[0]], across[1]
        else:
            certain = text[: gates.passes(gate, text)]
            if certain == text or (certain and gates.matters(gate, certain)):
                return None
            behind = gates.code if "\n" in certain else None
        self._held = text[len(certain) :]
        self._peak = max(self._peak, len(self._held))
        if behind is not None and behind is not gates:
            self._use(behind)
        return certain

    def _across(self, gate: Gate, text: str) -> tuple[int, Gates] | None:
        """How much of ``text``, in which a fence begins or ends, may pass, and the
        gates behind it."""
        gates, before = self._gates, "\n" if gate is self._gates.begins else ""
        match = gates.border(before + text)
        if match is None:
            return None
        at, end = match.start() - len(before), match.end() - len(before)
        if at and gates.matters(gate, text[:at]):
            return None
        if text[at] in gates.heads and not (failed := self._fails(text[at:])):
            return (at, gates) if failed is None else None
        behind, rest = gates.behind(gates, match[0]), text[end:]
        if behind is None or (rest and behind.matters(behind.inside, rest)):
            return None
        return len(text), (behind.code if "\n" in rest else None) or behind

    @property
    def _whole_gate(self) -> Gate:
        return self._gates.inside if self._gate is self._quick else self._gate

    def _go_on(self, text: str) -> None:
        """Sets the gate behind ``text``, which may end with the beginning of a line."""
        gate = self._gates.after(text, self._whole_gate)
        self._gate = self._quick if gate is self._gates.inside else gate

    def settle(self) -> None:
        """Does the bookkeeping; the run goes on."""
        if self._peak:
            self._note(self._peak)
            self._peak = 0
        if self._texts:
            text = "".join(self._texts)
            self._texts.clear()
            self._account(text)

    def end(self) -> None:
        """Does the bookkeeping, and is over."""
        self._outlet.run = None
        self.settle()
        if self._held:
            held, self._held = self._held, ""
            self._hold(held)
