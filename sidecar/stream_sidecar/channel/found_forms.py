"""What is taken out of a channel: calls, results, citations, and what is only removed.

`FoundForms` counts each form, ends the text block in which it stood, and gives it to
the choice (`FormSink`), which makes the event. It reports candidates that turned out to
be no form, and delimiters. What is found while the stream closes waits for
``send_calls`` and ``send_results``. The reason is that blocks are numbered as they are
sent, and held text is sent first at the close (protocol.md, "Events").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from stream_sidecar.channel.readers import HOLD_LIMIT
from stream_sidecar.events import Diagnostic
from stream_sidecar.forms.candidate import Failed, Taken
from stream_sidecar.forms.kinds import PieceKind

if TYPE_CHECKING:
    from stream_sidecar.channel.blocks import Blocks
    from stream_sidecar.events import ChannelName, Severity
    from stream_sidecar.message.outlet import Outlet
    from stream_sidecar.text.pieces import Piece

_FAILURES: tuple[tuple[str, Severity, str], ...] = (
    ("malformed-tool-text", "info", "what looks like a call cannot be read: text"),
    ("undeclared-tool-text", "info", "a call of a tool that nobody declared: text"),
)
_FAILURE_OF = {failure[0]: failure for failure in _FAILURES}
"""Code of a `Failed` -> code, severity and message of its diagnostic."""

_LACKING: tuple[str, Severity, str] = (
    "missing-closer",
    "info",
    "a call whose body closed itself lacks its closer",
)

_SPOILED: tuple[str, Severity, str] = (
    "malformed-tool-text",
    "info",
    "a member of a list of calls is none",
)

REMOVAL_DIAGNOSTICS: dict[PieceKind, tuple[str, Severity, str]] = {
    PieceKind.DELIMITER: ("delimiter-stripped", "info", "a reasoning delimiter"),
    PieceKind.BLANK: ("delimiter-stripped", "info", "white space of a removal"),
    PieceKind.MARK: ("delimiter-stripped", "info", "protocol without meaning"),
    PieceKind.CITE: ("delimiter-stripped", "info", "a citation's marker"),
    PieceKind.STRAY: (
        "orphan-reasoning-close",
        "warning",
        "a closer without an opener",
    ),
    PieceKind.REBUILT: (
        "delimiter-stripped",
        "warning",
        "characters that would have completed a delimiter",
    ),
}
"""Kind of a removed piece -> code, severity and message of its diagnostic."""


class FormSink(Protocol):
    """Gets what a model wrote into its text; ``piece`` has the text and its place."""

    def written_calls(
        self, taken: Taken, piece: Piece, channel: ChannelName
    ) -> None: ...

    def written_result(self, taken: Taken, piece: Piece) -> None: ...

    def written_citation(self, taken: Taken, piece: Piece) -> None: ...


class FoundForms:
    """Calls, results and citations found in the text of one choice."""

    def __init__(
        self, choice: int, outlet: Outlet, blocks: Blocks, sink: FormSink
    ) -> None:
        self.choice = choice
        self.outlet = outlet
        self.blocks = blocks
        self.sink = sink
        self._late_calls: list[tuple[Taken, Piece, ChannelName]] = []
        self._late_results: list[tuple[Taken, Piece]] = []

    def pass_on(self, taken: Taken | Failed, piece: Piece, *, reasoning: bool) -> None:
        """Counts and passes on ``taken``, the form or failed candidate of ``piece``.
        ``reasoning``: the piece is in reasoning, not in the answer."""
        if isinstance(taken, Failed):
            self.outlet.diagnose(self.choice, *_FAILURE_OF[taken.code])
        elif piece[0] is PieceKind.RESULT:
            self.outlet.counters.tool_results_stripped += 1
            self._end_text()
            self._late_results.append((taken, piece))
            if not self.outlet.is_closing:
                self.send_results()
        elif piece[0] is PieceKind.CITE:
            self.sink.written_citation(taken, piece)
            self.removed(piece)
        else:
            self._pass_on_calls(taken, piece, "reasoning" if reasoning else "text")

    def removed(self, piece: Piece) -> None:
        """Counts and reports ``piece``, which is taken out and goes nowhere. A mark of
        kind FULL takes out nothing, and is only reported."""
        kind = piece[0]
        if kind is PieceKind.FULL:
            self.outlet.diagnose(self.choice, *HOLD_LIMIT)
            return
        if kind is not PieceKind.BLANK:
            self.outlet.counters.delimiters_stripped += 1
        code, severity, message = REMOVAL_DIAGNOSTICS[kind]
        if self.outlet.trace or severity == "warning":
            self.outlet.diagnose(self.choice, code, severity, message, piece[1:])

    def _pass_on_calls(self, taken: Taken, piece: Piece, channel: ChannelName) -> None:
        self.outlet.counters.tool_calls_from_text += len(taken.calls)
        if taken.lacks:
            self.outlet.diagnose(self.choice, *_LACKING)
        for text in taken.spoiled:
            self.outlet.send(Diagnostic, self.choice, *_SPOILED, text)
        if piece[0] is PieceKind.CALL:
            self._end_text()
        self._late_calls.append((taken, piece, channel))
        if not self.outlet.is_closing:
            self.send_calls()

    def send_calls(self) -> None:
        calls, self._late_calls = self._late_calls, []
        for call in calls:
            self.sink.written_calls(*call)

    def forget_calls(self, start: int) -> None:
        """Drops the waiting calls from ``start`` on, which will be found again."""
        self._late_calls = [call for call in self._late_calls if call[1][2] < start]

    def send_results(self) -> None:
        results, self._late_results = self._late_results, []
        for result in results:
            self.sink.written_result(*result)

    def _end_text(self) -> None:
        """Ends the open text block, because a call or a result was taken out of it."""
        if self.blocks.open is not None and self.blocks.open.channel == "text":
            self.blocks.end()
