"""A stream that would like to run, to hide and to forge something wherever it is shown.

Every text field of it, native or not, name or value, holds `POISON`: markup that runs,
ends of the elements in which it could stand, controls, bidirectional marks, characters
that nobody sees.
"""

from __future__ import annotations

from typing import Any

MARKUP = (
    "<script>document.title='owned'</script>"
    "<img src=x onerror=\"document.title='owned'\">"
    "</script></style></textarea><!--<svg onload=document.title='owned'>"
    "\"'`> onclick=x "
    "<a href=javascript:document.title='owned'>x</a>&lt;b&gt;&#60;i&#62;]]>${document}"
)

SIGNS = {
    "\x1b": "ESC",
    "\x00": "NUL",
    "\x07": "BEL",
    "\x7f": "DEL",
    "\x9b": "U+009B",
    "\u202e": "U+202E",
    "\u2066": "U+2066",
    "\u200f": "U+200F",
    "\u200b": "U+200B",
    "\ufeff": "U+FEFF",
    "\u2028": "U+2028",
    "\U000e0041": "U+E0041",
    "\u00a0": "U+00A0",
    "\ufe0f": "U+FE0F",
    "\ue000": "U+E000",
}
"""What is shown in place of characters that nobody sees."""

POISON = f"{MARKUP}{''.join(SIGNS)}\ud83d"


def _delta(**delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta}]}


_CITED = {"url": f"javascript:alert(1){MARKUP}", "title": POISON}

CHUNKS: list[Any] = [
    {"id": POISON, "model": POISON, "choices": []},
    _delta(reasoning_content=f"why {POISON}"),
    _delta(content=f"<think>{POISON}"),
    _delta(content=f"{POISON}</think>"),
    _delta(content=f"answer {POISON}"),
    _delta(annotations=[{"type": "url_citation", "url_citation": _CITED}]),
    _delta(tool_calls=[{"index": 0, "id": POISON, "function": {"name": POISON}}]),
    _delta(tool_calls=[{"index": 0, "function": {"arguments": f'{{"a": "{POISON}'}}]),
    POISON,
    {POISON: POISON},
    {"error": {"message": POISON, "type": POISON, "code": POISON}},
]
"""Chunks of Chat Completions."""
