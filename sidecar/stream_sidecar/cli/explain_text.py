"""An explanation as a terminal shows it: colours, a legend, the rules that decided.

Without colours each piece has a line of its own, behind the name of its owner.
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
    """``show`` all of an explanation, or where its page was ``written``."""

    def __init__(self) -> None:
        self._terminal = Terminal()

    def show(self, explanation: Explanation) -> None:
        self._head(explanation)
        for lane in explanation.lanes:
            self._terminal.line()
            self._terminal.line((f"-- {lane.title}", "bold"))
            if self._terminal.has_colours:
                self._coloured(lane)
            else:
                self._plain(lane)
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
        """Every owner with the number of its characters."""
        sizes: Counter[Owner] = Counter()
        for lane in explanation.lanes:
            for piece in lane.pieces:
                sizes[piece.owner] += len(piece.text)
        for number, owner in enumerate(OWNERS):
            yield ", " if number else ""
            yield owner, _STYLES[owner]
            yield f" {sizes[owner]}"

    def _coloured(self, lane: Lane) -> None:
        runs = [(text, _STYLES[owner]) for owner, _, text in _runs(lane)]
        self._terminal.body(*runs, wraps=True)
        if not runs or not runs[-1][0].endswith("\n"):
            self._terminal.line()

    def _plain(self, lane: Lane) -> None:
        for owner, _, text in _runs(lane):
            line = f"{owner:<{_WIDTH}}  {text}"
            self._terminal.paragraph(line, indent=_WIDTH + 2)

    def _reasons(self, explanation: Explanation) -> None:
        """What decided, once each, with how many characters it decided on."""
        sizes: Counter[tuple[Owner, Reason]] = Counter()
        for lane in explanation.lanes:
            for owner, reason, text in _runs(lane):
                sizes[owner, reason] += len(text)
        for (owner, reason), size in sizes.items():
            name = (f"{owner:<{_WIDTH}}", _STYLES[owner])
            line = (name, f"  {size:>6}  {_why(reason)}")
            self._terminal.paragraph(*line, indent=_WIDTH + 10)


def _runs(lane: Lane) -> Iterator[tuple[Owner, Reason, str]]:
    """The pieces of a lane, neighbours of one owner and reason joined."""
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
