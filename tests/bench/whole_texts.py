"""What a text costs that comes whole, against the same in slices of 1,024 characters.

Both go through the engine in this process, in turns, with the stream's open and close,
and the best of each counts. Then a million characters of each kind go in with one push:
so long every other stream of the process waits, where a client does not cut them.
Processor time; no JSON, no pipes.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator

from chunks import CODE, MARKDOWN, PROSE, repeated, slices
from rows import Bar, Row

from stream_sidecar.options import StreamOptions, Tool
from stream_sidecar.stream.stream import Stream

BAR = Bar(limit=1.1, aim=1.0)
DEAREST = Bar(limit=1.5, aim=0.6, unit=" s")
SIZE, SLICE, MILLION = 100_000, 1024, 1_000_000
TURNS = 5

_OPTIONS = StreamOptions(wire="text", tools=(Tool("f"),))
_ITEM = '{"id": 7, "name": "a name", "tags": ["x", "y"], "ok": true}, '
_BLOCK = "｜DSML｜"


def _markdown(size: int) -> str:
    """An answer with headings, lists, code spans and fences."""
    fence = f"```cpp\n{CODE}```\n\n"
    return repeated(f"## {PROSE}\n{MARKDOWN}{PROSE}\n{fence}", size)


def _json_answer(size: int) -> str:
    return f'{{"items": [{repeated(_ITEM, size)}'


def _dsml(size: int) -> str:
    """One call after the other, each with a long argument."""
    argument = repeated(CODE, 4 * len(CODE))
    parameter = f'<{_BLOCK}parameter name="text" string="true">{argument}'
    call = f'<{_BLOCK}invoke name="f">\n{parameter}</{_BLOCK}parameter>\n'
    calls = f"<{_BLOCK}function_calls>\n{call}</{_BLOCK}invoke>\n"
    return repeated(f"{calls}</{_BLOCK}function_calls>\n", size)


def _hermes(size: int) -> str:
    """Many short calls."""
    call = '{"name": "f", "arguments": {"text": "abc def"}}'
    return repeated(f"<tool_call>\n{call}\n</tool_call>\n", size)


KINDS: dict[str, Callable[[int], str]] = {
    "prose": lambda size: repeated(PROSE, size),
    "Markdown with fences": _markdown,
    "a JSON answer": _json_answer,
    "calls of DSML": _dsml,
    "calls of Hermes": _hermes,
}


def run() -> Iterator[Row]:
    for name, make in KINDS.items():
        text = make(SIZE)
        whole, cut = _best([text], slices(text, SLICE))
        each = f"{whole / SIZE * 1e6:.3f}, {cut / SIZE * 1e6:.3f} µs a character"
        yield Row(f"{name}, whole and in slices of 1,024", each, whole / cut, BAR)
    taken = {name: _seconds([make(MILLION)]) for name, make in KINDS.items()}
    dearest = max(taken, key=taken.__getitem__)
    for name, seconds in taken.items():
        what = f"one push of a million characters, {name}"
        bar = DEAREST if name == dearest else None
        yield Row(what, f"{seconds:.2f} s", seconds, bar)


def _best(*ways: list[str]) -> list[float]:
    """The best seconds of each way; the ways take turns."""
    turns = [[_seconds(chunks) for chunks in ways] for _ in range(TURNS)]
    return [min(each) for each in zip(*turns, strict=True)]


def _seconds(chunks: list[str]) -> float:
    gc.collect()
    gc.disable()
    stream, start = Stream(_OPTIONS), time.process_time()
    for chunk in chunks:
        stream.push(chunk)
    stream.close()
    taken = time.process_time() - start
    gc.enable()
    return taken
