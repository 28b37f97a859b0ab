"""Which removals are made: chosen by kind (``--only``, ``--except``), or one by one
(``--ask``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from stream_sidecar.cli.interrupts import raising
from stream_sidecar.cli.repair_page import print_removal
from stream_sidecar.cli.terminal import Terminal
from stream_sidecar.history.results import chosen_kinds
from stream_sidecar.records import frozen

if TYPE_CHECKING:
    from pathlib import Path

    from stream_sidecar.history.spans import RemovedSpan

_AROUND = 60
_KEYS = "y: remove it, n: keep it, a: remove it and all others, q: keep it and the rest"


@frozen
class OfKinds:
    """Accepts the removals of some ``kinds``."""

    kinds: frozenset[str]

    def __call__(self, path: Path, removal: RemovedSpan) -> bool:
        return removal.kind in self.kinds


def kinds_of(only: tuple[str, ...], but: tuple[str, ...]) -> OfKinds | None:
    """The kinds of ``--only`` without those of ``--except``; None: all kinds."""
    kinds = chosen_kinds(only, but)
    return None if kinds is None else OfKinds(kinds)


class Asking:
    """Shows each removal of the ``kinds``, and asks the user about it."""

    def __init__(self, kinds: OfKinds | None) -> None:
        self._terminal = Terminal()
        self._kinds = kinds
        self._rest: bool | None = None

    def __call__(self, path: Path, removal: RemovedSpan) -> bool:
        if self._kinds is not None and not self._kinds(path, removal):
            return False
        if self._rest is not None:
            return self._rest
        self._show(path, removal)
        answer = self._answer()
        if answer in ("a", "q"):
            self._rest = answer == "a"
        return answer in ("y", "a")

    def _show(self, path: Path, removal: RemovedSpan) -> None:
        text, start, end = removal.text.text, removal.start, removal.end
        self._terminal.line((f"{path} ", "bold"), (removal.kind, "bold yellow"))
        around = text[max(start - _AROUND, 0) : start], text[end : end + _AROUND]
        print_removal(self._terminal, removal.removed, *around)

    def _answer(self) -> str:
        while True:
            try:
                with raising():
                    reported = click.prompt("Remove it? [y,n,a,q,?]", prompt_suffix=" ")
            except click.Abort:  # the end of the input, or Ctrl-C
                return "q"
            answer = str(reported).strip().lower()[:1]
            if answer in ("y", "n", "a", "q"):
                return answer
            self._terminal.line(_KEYS)
