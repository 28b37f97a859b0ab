"""Which removals and mends are made, one by one (``--ask``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from stream_sidecar.cli.interrupts import raising
from stream_sidecar.cli.repair_findings import print_finding
from stream_sidecar.cli.repair_page import print_removal
from stream_sidecar.cli.terminal import Terminal
from stream_sidecar.history.results import SURROGATE

if TYPE_CHECKING:
    from pathlib import Path

    from stream_sidecar.history.spans import RemovedSpan

_AROUND = 60
_KEYS = "y: yes, n: keep it, a: yes, and so for all others, q: keep it and the rest"
_QUESTIONS = {SURROGATE: "Replace it?"}


class Asking:
    """Shows each removal, and asks the user about it; ``mend`` does so for a mend."""

    def __init__(self) -> None:
        self._terminal = Terminal()
        self._answer_to_all: bool | None = None

    def __call__(self, path: Path, removal: RemovedSpan) -> bool:
        if self._answer_to_all is not None:
            return self._answer_to_all
        text, start, end = removal.text.text, removal.start, removal.end
        self._terminal.line((f"{path} ", "bold"), (removal.kind, "bold yellow"))
        around = text[max(start - _AROUND, 0) : start], text[end : end + _AROUND]
        print_removal(self._terminal, removal.removed, *around)
        return self._decided(_QUESTIONS.get(removal.kind, "Remove it?"))

    def mend(self, record: dict[str, Any]) -> bool:
        """Whether the finding, which is given as in a report, is mended."""
        if self._answer_to_all is not None:
            return self._answer_to_all
        print_finding(self._terminal, record)
        return self._decided("Mend it?")

    def _decided(self, question: str) -> bool:
        answer = self._ask(question)
        if answer in ("a", "q"):
            self._answer_to_all = answer == "a"
        return answer in ("y", "a")

    def _ask(self, question: str) -> str:
        while True:
            try:
                with raising():
                    words = f"{question} [y,n,a,q,?]"
                    typed = click.prompt(words, prompt_suffix=" ")
            except click.Abort:  # the end of the input, or Ctrl-C
                return "q"
            answer = str(typed).strip().lower()[:1]
            if answer in ("y", "n", "a", "q"):
                return answer
            self._terminal.line(_KEYS)
