"""Events as a person reads them: channels under headings, colour on a terminal."""

from __future__ import annotations

from typing import Any, ClassVar

from stream_sidecar import events as kinds
from stream_sidecar.cli.terminal import Terminal

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


class Page:
    """``show(events)`` prints them as they come, a heading at each change."""

    def __init__(self) -> None:
        self._terminal = Terminal()
        self._heading = ""

    def show(self, events: list[Any]) -> None:
        for event in events:
            shown = self._SHOW.get(type(event))
            if shown is not None:
                shown(self, event)

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

    def _text(self, event: kinds.TextDelta) -> None:
        self._head("answer", f"choice {event.choice}" if event.choice else "")
        self._terminal.body(event.text)

    def _reasoning(self, event: kinds.ReasoningDelta) -> None:
        self._head("reasoning", f"({event.source})")
        self._terminal.body(event.text, "dim")

    def _reclassify(self, event: kinds.Reclassify) -> None:
        blocks = ", ".join(map(str, event.blocks))
        self._line("diagnostic", f"block {blocks} was {event.to}")

    def _retract(self, event: kinds.Retract) -> None:
        blocks = ", ".join(map(str, event.blocks))
        self._line("diagnostic", f"block {blocks} retracted: {event.reason}")

    def _call(self, event: kinds.ToolCall) -> None:
        facts = f"{event.name} ({event.executor}, {event.state}, {event.kind})"
        self._line("tool-call", facts, event.arguments)

    def _result(self, event: kinds.ToolResult) -> None:
        name = event.name or event.tool_call_id or ""
        self._line("tool-result", f"{name} ({event.source})", str(event.raw)[:2000])

    def _citation(self, event: kinds.Citation) -> None:
        words = " ".join(filter(None, (event.title, event.url)))
        self._line("citation", words or event.kind)

    def _error(self, event: kinds.ProviderError) -> None:
        self._line("error", event.kind, event.message)

    def _diagnostic(self, event: kinds.Diagnostic) -> None:
        self._line("diagnostic", f"{event.code}: {event.message}")

    def _finish(self, event: kinds.Finish) -> None:
        words = event.reason if event.complete else f"{event.reason} (incomplete)"
        self._line("finish", words)
        self._terminal.line()

    _SHOW: ClassVar[dict[type, Any]] = {
        kinds.TextDelta: _text,
        kinds.ReasoningDelta: _reasoning,
        kinds.Reclassify: _reclassify,
        kinds.Retract: _retract,
        kinds.ToolCall: _call,
        kinds.ToolResult: _result,
        kinds.Citation: _citation,
        kinds.ProviderError: _error,
        kinds.Diagnostic: _diagnostic,
        kinds.Finish: _finish,
    }
