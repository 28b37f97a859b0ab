"""Events as a person reads them: channels under headings, colour on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar import events as kinds
from stream_sidecar.cli.terminal import Terminal

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


_LINES: dict[type, Callable[[Any], tuple[str, ...]]] = {
    kinds.Reclassify: lambda e: ("diagnostic", f"block {_numbers(e)} was {e.to}"),
    kinds.Retract: lambda e: (
        *("diagnostic", f"block {_numbers(e)} retracted: {e.reason}"),
    ),
    kinds.ToolCall: lambda e: (
        *("tool-call", f"{e.name} ({e.executor}, {e.state}, {e.kind})", e.arguments),
    ),
    kinds.ToolResult: lambda e: (
        *("tool-result", f"{e.name or e.tool_call_id or ''} ({e.source})"),
        str(e.raw)[:2000],
    ),
    kinds.Citation: lambda e: (
        *("citation", " ".join(filter(None, (e.title, e.url))) or e.kind),
    ),
    kinds.ProviderError: lambda e: ("error", e.kind, e.message),
    kinds.Diagnostic: lambda e: ("diagnostic", f"{e.code}: {e.message}"),
    kinds.Finish: lambda e: (
        *("finish", e.reason if e.complete else f"{e.reason} (incomplete)"),
    ),
}
"""What has a heading of its own: its style, its words, and what stands below."""


def _numbers(event: kinds.Reclassify | kinds.Retract) -> str:
    return ", ".join(map(str, event.blocks))


class Page:
    """``show(events)`` prints them as they come, a heading at each change."""

    def __init__(self) -> None:
        self._terminal = Terminal()
        self._heading = ""

    def show(self, events: list[Any]) -> None:
        for event in events:
            if isinstance(event, kinds.TextDelta):
                self._head("answer", f"choice {event.choice}" if event.choice else "")
                self._terminal.body(event.text)
            elif isinstance(event, kinds.ReasoningDelta):
                self._head("reasoning", f"({event.source})")
                self._terminal.body(event.text, "dim")
            elif line := _LINES.get(type(event)):
                self._line(*line(event))
            if isinstance(event, kinds.Finish):
                self._terminal.line()

    def _head(self, kind: str, words: str = "") -> None:
        heading = f"{kind} {words}".rstrip()
        if heading == self._heading:
            return
        if self._heading:
            self._terminal.line()
        self._heading = heading
        self._terminal.line((f"-- {heading}", _STYLES[kind]))

    def _line(self, kind: str, words: str, body: str = "") -> None:
        """A heading of its own, with an optional body."""
        self._head(kind, words)
        if body:
            self._terminal.body(body)
        self._heading = f"{kind} {words} (shown)"
