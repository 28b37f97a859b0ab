"""The picture of the front page: a stream, chunk by chunk, and the owner of each part.

`picture` explains a real run, and draws it as an animated SVG: a chunk appears in grey
while the engine holds it, and gets the colour of its owner at the chunk that decides.
Beside it the result for the host appears, at the event that reports it. The picture
needs no network and no font, adapts to a dark page, and does not move if the reader
prefers less motion. Only the chunks are written by hand.
"""

from __future__ import annotations

import html
import json
import re
import textwrap
from typing import TYPE_CHECKING

from attrs import define, field
from explaining import explained

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.explain.explanation import Explanation

CHUNKS = (
    *("<thi", "nk>The user wants the branch;", " `git branch` tells it."),
    *("</th", "ink>\n", "I will look", " first. 🌿\n", "<tool", "_call>\n"),
    *('{"name": "run_command",', ' "arguments": {"command":', ' "git branch"}}'),
    *("\n</tool_c", "all>", "<|im_", "end|>"),
)
MODEL = "qwen/qwen3-32b"

_STEP, _BEFORE, _AFTER = 0.45, 0.4, 3.5
"""Seconds for each chunk, before the first, and after the last."""

_COLUMN, _LINE, _TOP = 8.43, 24, 92
_LEFT, _RIGHT, _WIDTH = 28, 604, 960
"""Pixels: a character and a line, the first line, and where the columns begin."""

_LONGEST = 38
"""Characters of a line on the right."""

_WIDE = 0x2FFF
"""Characters after it need two columns."""

_COLOURS = {
    "paper": ("#fff", "#0d1117"),
    "ink": ("#1b1d22", "#e6edf3"),
    "quiet": ("#656b76", "#9198a1"),
    "line": ("#d0d7de", "#30363d"),
    "held": ("#eceef1", "#21262d"),
    "reasoning": ("#5b3fb5", "#c9b8ff"),
    "reasoning-bg": ("#ebe7fb", "#2d2450"),
    "answer": ("#116329", "#7ee2a0"),
    "answer-bg": ("#dcf3e0", "#12341d"),
    "call": ("#0a50a8", "#8cc4ff"),
    "call-bg": ("#d9e9fc", "#10305a"),
    "delimiter": ("#8a4b00", "#ffc680"),
    "delimiter-bg": ("#ffe7c7", "#4a2f0a"),
    "dropped": ("#656b76", "#9198a1"),
    "dropped-bg": ("#e6e8ec", "#262b32"),
}
"""Name -> on light and on dark paper."""

_TITLE = "font:600 15px system-ui,'Noto Sans',sans-serif"
_CAPTION = "font:600 12px system-ui,'Noto Sans',sans-serif;letter-spacing:.04em"
_TEXT = "font:14px ui-monospace,'DejaVu Sans Mono',monospace;fill:var(--ink)"
_REPORTED = (
    "A model's stream arrives in pieces, torn inside its tags; stream-sidecar hands out"
    " reasoning, answer and tool call"
)


@define
class _Sheet:
    """What was drawn so far; ``loop`` is how long it runs, in seconds."""

    loop: float
    rules: list[str] = field(factory=list)
    shapes: list[str] = field(factory=list)
    bottom: int = _TOP

    def write(self, text: str, at: tuple[float, int], style: str) -> None:
        words = html.escape(text).replace(" ", "\u00a0")
        self.shapes.append(f'<text {style} x="{at[0]:.1f}" y="{at[1]}">{words}</text>')
        self.bottom = max(self.bottom, at[1])

    def seen(self, step: int, colour: str, decided: int, later: str = "") -> str:
        """The class of what appears at ``step`` and is of another colour ``later``."""
        name = f"k{len(self.rules)}"
        first = self._share(step)
        second = max(self._share(decided), first + 0.01)
        before, after = f"fill:var(--{colour})", f"fill:var(--{later or colour})"
        self.rules.append(
            f"@keyframes {name}{{0%,{first:.2f}%{{opacity:0;{before}}}"
            f"{first + 0.01:.2f}%,{second:.2f}%{{opacity:1;{before}}}"
            f"{second + 0.01:.2f}%,100%{{opacity:1;{after}}}}}"
            f".{name}{{animation:{name} {self.loop:.1f}s step-end infinite}}"
        )
        return name

    def _share(self, step: int) -> float:
        return 100 * (step * _STEP + _BEFORE) / self.loop


def picture() -> str:
    """The picture as SVG."""
    texts = [{"choices": [{"index": 0, "delta": {"content": each}}]} for each in CHUNKS]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    run = explained({"wire": "openai-chat", "model": MODEL}, [*texts, end])
    sheet = _Sheet(len(run.steps) * _STEP + _AFTER)
    _draw_input(sheet, run)
    _draw_channels(sheet, run)
    return _whole(sheet)


def _draw_input(sheet: _Sheet, run: Explanation) -> None:
    column, line = 0, _TOP
    for piece in run.lanes[0].pieces:
        fate = piece.fates[-1]
        struck = fate.owner in ("delimiter", "dropped")
        for part in re.split(r"(\n)", piece.text):
            if part == "\n":
                column, line = 0, line + _LINE
            if not part.strip("\n"):
                continue
            width = sum(2 if ord(sign) > _WIDE else 1 for sign in part)
            x = _LEFT + column * _COLUMN
            box = sheet.seen(piece.step, "held", fate.step, f"{fate.owner}-bg")
            sheet.shapes.append(
                f'<rect class="{box}" x="{x - 1:.1f}" y="{line - 16}"'
                f' width="{width * _COLUMN + 1:.1f}" height="22" rx="3"/>'
            )
            ink = sheet.seen(piece.step, "ink", fate.step, fate.owner)
            style = f'class="{ink}"' + ' text-decoration="line-through"' * struck
            sheet.write(part, (x, line), style)
            column += width


def _draw_channels(sheet: _Sheet, run: Explanation) -> None:
    line = _TOP
    for title, owner, event, text in _channels(run):
        step = _first(run, event)
        if title:
            caption = sheet.seen(step, "ink", step)
            sheet.write(title, (_RIGHT, line), f'class="{caption} cap"')
            line += _LINE - 2
        for each in textwrap.wrap(text, _LONGEST):
            shown = sheet.seen(step, owner, step)
            sheet.write(each, (_RIGHT, line), f'class="{shown}"')
            line += _LINE - 2
        line += _LINE // 2


def _channels(run: Explanation) -> Iterator[tuple[str, str, str, str]]:
    """Title, colour, the event that reports it first, and text."""
    message = run.message
    (call,) = message.tool_calls
    runs = f"origin {call.origin} · executable {json.dumps(call.executable)}"
    pieces = [each for each in run.lanes[0].pieces if each.owner == "delimiter"]
    out = re.findall(r"<[^<>]+>", "".join(each.text for each in pieces))
    yield "reasoning", "reasoning", "reasoning-delta", (message.reasoning or "").strip()
    yield "answer", "answer", "text-delta", (message.text or "").strip()
    yield "tool call", "call", "tool-call", f"{call.name} {json.dumps(call.input)}"
    yield "", "quiet", "tool-call", runs
    yield "left out", "dropped", "finish", " ".join(out)


def _first(run: Explanation, event: str) -> int:
    """The step that first has an event of the type."""
    steps = enumerate(run.steps)
    return next(at for at, step in steps if event in {e.type for e in step.events})


def _whole(sheet: _Sheet) -> str:
    height = sheet.bottom + _LINE
    light, dark = (
        "".join(f"--{name}:{pair[at]};" for name, pair in _COLOURS.items())
        for at in (0, 1)
    )
    still = f"animation-delay:-{sheet.loop - 0.1:.1f}s;animation-play-state:paused"
    style = (
        f":root{{{light}}}@media(prefers-color-scheme:dark){{:root{{{dark}}}}}"
        f"text{{{_TEXT}}}.h{{{_TITLE}}}.cap{{{_CAPTION}}}{''.join(sheet.rules)}"
        f"@media(prefers-reduced-motion:reduce){{*{{{still}!important}}}}"
    ).replace(";animation-play-state", "!important;animation-play-state")
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}"'
        f' width="{_WIDTH}" height="{height}" role="img" aria-label="{_REPORTED}">',
        f"<style>{style}</style>",
        f'<rect width="{_WIDTH}" height="{height}" rx="10"'
        ' style="fill:var(--paper);stroke:var(--line)"/>',
        f'<text class="h" x="{_LEFT}" y="40">What the provider sends,'
        f" {len(CHUNKS)} chunks</text>",
        f'<text class="h" x="{_RIGHT}" y="40">What your agent gets</text>',
        f'<path d="M586 20V{height - 20}M{_LEFT} 56H566M{_RIGHT} 56H932"'
        ' style="stroke:var(--line)"/>',
        *sheet.shapes,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"
