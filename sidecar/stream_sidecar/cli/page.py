"""Events for people: channels under headings, with colours on a terminal.

A heading begins at the first column. Each line under it is indented, so that no text of
a model or a tool looks like a heading.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from stream_sidecar import events as kinds
from stream_sidecar.cli.terminal import Terminal
from stream_sidecar.stream.grouped_diagnostics import message_and_count
from stream_sidecar.values.jsontext import dumps

if TYPE_CHECKING:
    from collections.abc import Callable

_STYLES = {
    "answer": "bold green",
    "reasoning": "dim",
    "tool-call": "bold cyan",
    "tool-result": "cyan",
    "citation": "blue",
    "error": "bold red",
    "diagnostic": "yellow",
    "finish": "bold",
}

_INDENT = "  "
_MOST_CHARS = 2000
"""How many code points of a result are shown."""

_LINES: dict[type, Callable[[Any], tuple[str, ...]]] = {
    kinds.Reclassify: lambda e: ("diagnostic", f"block {_numbers(e)} was {e.to}"),
    kinds.Retract: lambda e: (
        "diagnostic",
        f"block {_numbers(e)} retracted: {e.reason}",
    ),
    kinds.ToolCall: lambda e: (
        "tool-call",
        f"{e.name} ({e.executor}, {e.state}, {e.kind})",
        e.arguments,
    ),
    kinds.ToolResult: lambda e: (
        "tool-result",
        f"{e.name or e.tool_call_id or ''} ({e.source})",
        _shortened(e.raw),
    ),
    kinds.Citation: lambda e: (
        "citation",
        " ".join(filter(None, (e.title, e.url))) or e.kind,
    ),
    kinds.ProviderError: lambda e: ("error", e.kind, e.message),
    kinds.Finish: lambda e: (
        "finish",
        e.reason if e.complete else f"{e.reason} (incomplete)",
    ),
}
"""Events with their own heading: its style, its words, and the text below it."""


def _numbers(event: kinds.Reclassify | kinds.Retract) -> str:
    return ", ".join(map(str, event.blocks))


def _shortened(raw: Any) -> str:
    """A result (text unchanged, anything else as JSON), followed by the size of what is
    left out: ``... 31 kB more``, or bytes below 1 kB."""
    text = raw if isinstance(raw, str) else dumps(raw)
    excess = len(text[_MOST_CHARS:].encode("utf-8", "surrogatepass"))
    if not excess:
        return text
    size = f"{excess} bytes" if excess < 1000 else f"{excess // 1000} kB"
    return f"{text[:_MOST_CHARS]}\n... {size} more"


class Page:
    """``show(events)`` prints events as they come, with a heading at each change.

    Diagnostics wait for the next ``finish``: then each is printed once, with the number
    of times it came.
    """

    def __init__(self) -> None:
        self._terminal = Terminal()
        self._heading = ""
        self._begins = True
        self._diagnostics: Counter[str] = Counter()

    def show(self, events: list[Any]) -> None:
        for event in events:
            if isinstance(event, kinds.Diagnostic):
                message, number = message_and_count(event)
                self._diagnostics[f"{event.code}: {message}"] += number
            elif isinstance(event, kinds.TextDelta):
                self._head("answer", f"choice {event.choice}" if event.choice else "")
                self._body(event.text)
            elif isinstance(event, kinds.ReasoningDelta):
                self._head("reasoning", f"({event.source})")
                self._body(event.text, "dim")
            elif isinstance(event, kinds.Finish):
                self._report()
                self._line(*_LINES[kinds.Finish](event))
                self._terminal.line()
            elif line := _LINES.get(type(event)):
                self._line(*line(event))

    def _report(self) -> None:
        """Prints the diagnostics that came since the last ``finish``."""
        for words, number in self._diagnostics.items():
            times = f" ({number} times)" if number > 1 else ""
            self._line("diagnostic", f"{words}{times}")
        self._diagnostics.clear()

    def _head(self, kind: str, words: str = "") -> None:
        heading = f"{kind} {words}".rstrip()
        if heading == self._heading:
            return
        if not self._begins:
            self._terminal.line()
        if self._heading:
            self._terminal.line()
        self._heading = heading
        self._begins = True
        self._terminal.line((f"-- {heading}", _STYLES[kind]))

    def _body(self, text: str, style: str = "") -> None:
        """Prints a piece of the text under a heading; it may begin within a line."""
        lines = []
        for line in text.splitlines(keepends=True):
            lines.append(_INDENT * (self._begins and not line.isspace()) + line)
            self._begins = line.splitlines()[0] != line
        self._terminal.body(("".join(lines), style))

    def _line(self, kind: str, words: str, body: str = "") -> None:
        """Prints a separate heading, with an optional body."""
        self._head(kind, words)
        if body:
            self._body(body)
        self._heading = f"{kind} {words} (shown)"
