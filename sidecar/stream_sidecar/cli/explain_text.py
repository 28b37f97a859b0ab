"""An explanation on a terminal: owners, a legend, and the rules that decided.

Each piece follows the name of its owner. With colours, each line of a piece is printed
on one line and ends with the sign of a line end; without colours, a piece is one line.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from stream_sidecar.cli.terminal import Terminal
from stream_sidecar.explain.explanation import OWNERS
from stream_sidecar.explain.rules import rules
from stream_sidecar.explain.summary import summary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.explain.explanation import Explanation, Lane, Owner, Reason

_STYLES: dict[Owner, str] = {
    "answer": "green",
    "reasoning": "italic magenta",
    "call": "bold cyan",
    "result": "cyan",
    "delimiter": "yellow",
    "citation": "blue",
    "error": "bold red",
    "dropped": "strike red",
}

_WIDTH = max(map(len, OWNERS))


class ExplainText:
    """``show`` prints a whole explanation, ``written`` where its page is."""

    def __init__(self) -> None:
        self._terminal = Terminal()

    def show(self, explanation: Explanation) -> None:
        self._head(explanation)
        for lane in explanation.lanes:
            self._terminal.line()
            self._terminal.line((f"-- {lane.title}", "bold"))
            for owner, _, text in _runs(lane):
                self._piece(owner, text)
        self._terminal.line()
        self._reasons(explanation)

    def written(self, explanation: Explanation, path: str) -> None:
        self._head(explanation)
        self._terminal.line(f"written to {path}")

    def _head(self, each: Explanation) -> None:
        facts = f"wire {each.wire}, framing {each.framing}, profile {each.profile}"
        self._terminal.paragraph((each.name, "bold"), f": {facts}")
        if not each.is_unknown:
            self._terminal.paragraph(summary(each))
        self._terminal.paragraph(*self._legend(each))

    def _legend(self, explanation: Explanation) -> Iterator[str | tuple[str, str]]:
        """Each owner with the number of its characters."""
        sizes: Counter[Owner] = Counter()
        for lane in explanation.lanes:
            for piece in lane.pieces:
                sizes[piece.owner] += len(piece.text)
        for number, owner in enumerate(OWNERS):
            yield ", " if number else ""
            yield owner, _STYLES[owner]
            yield f" {sizes[owner]}"

    def _piece(self, owner: Owner, text: str) -> None:
        lines, style = [text], _STYLES[owner]
        if self._terminal.has_colours:
            lines = [each.replace("\n", "↵") for each in text.splitlines(keepends=True)]
        name: str = owner
        for line in lines:
            blanks = " " * (_WIDTH + 2 - len(name))
            pieces = ((name, style), blanks, (line, style))
            self._terminal.paragraph(*pieces, indent=_WIDTH + 2)
            name = ""

    def _reasons(self, explanation: Explanation) -> None:
        """Prints each reason once, with the number of characters that it decided on."""
        sizes: Counter[tuple[Owner, Reason]] = Counter()
        for lane in explanation.lanes:
            for owner, reason, text in _runs(lane):
                sizes[owner, reason] += len(text)
        for (owner, reason), size in sizes.items():
            blanks = " " * (_WIDTH - len(owner))
            line = ((owner, _STYLES[owner]), f"{blanks}  {size:>6}  {_why(reason)}")
            self._terminal.paragraph(*line, indent=_WIDTH + 10)


def _runs(lane: Lane) -> Iterator[tuple[Owner, Reason, str]]:
    """The pieces of a lane; neighbours with the same owner and reason are joined."""
    ends = ((piece.fates[-1], piece.text) for piece in lane.pieces)
    for (owner, reason), same in groupby(
        ends, key=lambda each: (each[0].owner, each[0].reason)
    ):
        yield owner, reason, "".join(text for _, text in same)


def _why(reason: Reason) -> str:
    rule = rules().get(reason.rule)
    title = f"rule {rule.title}" if rule is not None else ""
    more = [word for word in (title, reason.code, reason.dialect, reason.wire) if word]
    return f"{reason.words} ({', '.join(more)})" if more else reason.words
