"""An explanation on a terminal: owners, a legend, and the rules that decided.

Each piece follows the name of its owner and the number of its reason; the list of
reasons comes last. With colours, each line of a piece is printed on one line and ends
with the sign of a line end; without colours, a piece is one line.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from stream_sidecar.cli.terminal import Terminal
from stream_sidecar.explain.explanation import OWNERS
from stream_sidecar.explain.summary import summary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.cli.terminal import StyledText
    from stream_sidecar.explain.explanation import Explanation, Lane, Owner, Reason
    from stream_sidecar.explain.reasons import Verdict

_STYLES: dict[Owner, str] = {
    "answer": "green",
    "reasoning": "italic magenta",
    "call": "bold cyan",
    "result": "cyan",
    "delimiter": "yellow",
    "citation": "blue",
    "error": "bold red",
    "dropped": "strike bright_black",
}

_WIDTH = max(map(len, OWNERS))
_INDENT = _WIDTH + 5

_PAGE = "As a page, with the text of each rule: --open, or --html FILE"
_REPAIR = ". To repair the session: stream-sidecar repair FILE"


class ExplainText:
    """``show`` prints an explanation, ``show_path`` where its page is."""

    def __init__(self) -> None:
        self._terminal = Terminal()

    def show(self, explanation: Explanation) -> None:
        self._head(explanation)
        sizes = _sizes(explanation)
        numbers = {verdict: number for number, verdict in enumerate(sizes, start=1)}
        for lane in explanation.lanes:
            self._heading(lane.title)
            for verdict, text in _runs(lane):
                self._piece(verdict[0], numbers[verdict], text)
        self._heading("why: owner, number, characters, reason")
        for (owner, reason), size in sizes.items():
            head = _named(owner, numbers[owner, reason])
            line = f"{size:>6}  {_sentence(reason)}"
            self._terminal.paragraph(*head, line, indent=_INDENT + 8)
        self._terminal.line()
        self._terminal.paragraph(_PAGE, _REPAIR if explanation.is_stored else "")

    def show_path(self, explanation: Explanation, path: str) -> None:
        self._head(explanation)
        self._terminal.line(f"written to {path}")

    def _head(self, explanation: Explanation) -> None:
        names = ("wire", "framing", "profile")
        facts = ", ".join(f"{name} {getattr(explanation, name)}" for name in names)
        self._terminal.paragraph((explanation.name, "bold"), f": {facts}")
        if not explanation.is_unknown:
            self._terminal.paragraph(summary(explanation))
        self._terminal.paragraph(*self._legend(explanation))
        for sentence in explanation.seals:
            self._terminal.paragraph(sentence, indent=2)

    def _legend(self, explanation: Explanation) -> Iterator[StyledText]:
        """Each owner that has characters, with their number."""
        sizes: Counter[Owner] = Counter()
        for (owner, _), size in _sizes(explanation).items():
            sizes[owner] += size
        for number, (owner, size) in enumerate(sizes.items()):
            yield ", " if number else ""
            yield owner, _STYLES[owner]
            yield f" {size}"

    def _heading(self, title: str) -> None:
        self._terminal.line()
        self._terminal.line((f"-- {title}", "bold"))

    def _piece(self, owner: Owner, number: int, text: str) -> None:
        lines = [text]
        if self._terminal.has_colours:
            lines = [line.replace("\n", "↵") for line in text.splitlines(keepends=True)]
        head = _named(owner, number)
        for line in lines:
            self._terminal.paragraph(*head, (line, _STYLES[owner]), indent=_INDENT)
            head = (" " * _INDENT,)


def _named(owner: Owner, number: int) -> tuple[StyledText, ...]:
    """The beginning of a line: the owner, and the number of the reason."""
    return (owner, _STYLES[owner]), f"{' ' * (_WIDTH - len(owner))} {number:>2}  "


def _sizes(explanation: Explanation) -> dict[Verdict, int]:
    """The number of characters for each reason, in the order of the owners."""
    sizes: Counter[Verdict] = Counter()
    for lane in explanation.lanes:
        for verdict, text in _runs(lane):
            sizes[verdict] += len(text)
    return dict(sorted(sizes.items(), key=lambda item: OWNERS.index(item[0][0])))


def _runs(lane: Lane) -> Iterator[tuple[Verdict, str]]:
    """The pieces of a lane; neighbours with the same owner and reason are joined."""
    fates = ((piece.fates[-1], piece.text) for piece in lane.pieces)
    verdicts = (((fate.owner, fate.reason), text) for fate, text in fates)
    for verdict, run in groupby(verdicts, key=itemgetter(0)):
        yield verdict, "".join(text for _, text in run)


def _sentence(reason: Reason) -> str:
    rule = f"rule {reason.rule}" if reason.rule else ""
    facts = [*filter(None, (rule, reason.code, reason.dialect, reason.wire))]
    return f"{reason.words} ({', '.join(facts)})" if facts else reason.words
