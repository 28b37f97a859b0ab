"""How much of the code one delta crosses, and how much a stream remembers.

Files: those of ``stream_sidecar/`` in which a function is called while one decoded
chunk of a chat is pushed, counted with ``sys.setprofile``; of a stream's first text
delta, and of one in a run of plain text. State: the attributes of all our objects that
live between two pushes of a stream with one choice and that a push may change:
containers, and what their module assigns elsewhere than in an ``__init__``; what
streams share is none of it. The stream has said something that had to be read, for what
reads text is made then. Lines: those of the text engine. Nothing is timed, so any
machine gives the same numbers.
"""

from __future__ import annotations

import ast
import sys
from array import array
from collections import deque
from collections.abc import Iterator, Mapping, Set
from enum import Enum
from functools import cache
from pathlib import Path
from types import FrameType, MethodType
from typing import Any

from chunks import text_chunk
from rows import Bar, Row

import stream_sidecar
from stream_sidecar.options import StreamOptions
from stream_sidecar.stream.stream import Stream

HOUSE = Path(stream_sidecar.__file__).parent
CHAT = StreamOptions(wire="openai-chat")
DELTAS = 4
"""Behind so many deltas of plain text nothing more is learned."""

FIRST = Bar(limit=22, aim=22, unit=" files")
PLAIN = Bar(limit=3, aim=3, unit=" files")
STATE = Bar(limit=170, aim=170, unit=" attributes")
LINES = Bar(limit=2_500, aim=2_500, unit=" lines")


def run() -> Iterator[Row]:
    stream = Stream(CHAT)
    crossed = [_crossed(stream, text_chunk(f"word {n} ")) for n in range(DELTAS)]
    for name, files, bar in (
        ("first text delta", crossed[0], FIRST),
        ("plain text delta", crossed[-1], PLAIN),
    ):
        rooms = sorted({file.split("/")[0] for file in files})
        yield Row(f"files that a {name} crosses", " ".join(rooms), len(files), bar)
    other = Stream(CHAT)
    for each in (stream, other):
        each.push(text_chunk("a `<think>` b"))
    state = state_of(stream, other)
    most = ", ".join(f"{name} {size}" for name, size in state[:3])
    total = sum(size for _, size in state)
    yield Row("state of a stream with one choice", most, total, STATE)
    texts = [path.read_text(encoding="utf-8") for path in HOUSE.glob("text/*.py")]
    lines = sum(text.count("\n") for text in texts)
    yield Row("text engine", f"{len(texts)} files", lines, LINES)


def _crossed(stream: Stream, chunk: Any) -> set[str]:
    """The files of ours in which something is called while ``chunk`` is pushed."""
    files: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(str(HOUSE)):
            files.add(Path(path).relative_to(HOUSE).as_posix())

    sys.setprofile(note)
    try:
        stream.push(chunk)
    finally:
        sys.setprofile(None)
    return files


def state_of(root: object, other: object) -> list[tuple[str, int]]:
    """How many attributes of each class a push may change, the most first; without
    the objects that are reached from an ``other`` stream, too."""
    shared = {id(each) for each in _ours(other)}
    counted: dict[str, int] = {}
    for each in _ours(root):
        if id(each) in shared:
            continue
        name, changed = type(each).__name__, _assigned(type(each).__module__)
        size = sum(
            key in changed or isinstance(value, list | dict | set | deque | array)
            for key, value in _attributes(each).items()
        )
        counted[name] = counted.get(name, 0) + size
    return sorted(counted.items(), key=lambda item: -item[1])


def _ours(root: object) -> Iterator[object]:
    """All objects of our classes that are reached from ``root``."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        each = waiting.pop()
        if id(each) in seen or isinstance(each, str | bytes | Enum | type):
            continue
        seen.add(id(each))
        if isinstance(each, Mapping):
            waiting += [*each, *each.values()]
        elif isinstance(each, list | tuple | Set | deque):
            waiting += each
        elif isinstance(each, MethodType):
            waiting.append(each.__self__)
        if type(each).__module__.startswith("stream_sidecar."):
            waiting += _attributes(each).values()
            yield each


def _attributes(each: object) -> dict[str, Any]:
    names = {*getattr(each, "__dict__", ())}
    for kind in type(each).__mro__:
        slots = vars(kind).get("__slots__", ())
        names.update([slots] if isinstance(slots, str) else slots)
    return {name: getattr(each, name) for name in names if hasattr(each, name)}


@cache
def _assigned(module: str) -> frozenset[str]:
    """The attributes that are assigned in a module, but not in an ``__init__``."""
    path = HOUSE.joinpath(*module.split(".")[1:])
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return frozenset(_stores(ast.parse(file.read_text(encoding="utf-8"))))


def _stores(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef) and node.name == "__init__":
        return
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield node.attr
    for child in ast.iter_child_nodes(node):
        yield from _stores(child)
