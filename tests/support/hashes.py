"""What every page, recording and public case gives, a hash each: ``hashes.py FILE``.

``--atomic`` compiles as a Python does that misreads possessive repeats. It needs the
package, what the package needs, and nothing else. Each input is fed whole and cut, and
each text is repaired as a stored message, too. A line of FILE is a hash, the way, and
the name of the input; every Python must write the same file.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

SUPPORT = Path(__file__).resolve().parent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Input = tuple[str, dict[str, Any], list[Any], dict[str, Any]]
"""A name, the parameters of ``stream/open``, the chunks, those of ``stream/close``."""

SLICES = {"by character": 1, "by seven": 7}
"""How a text is cut; longer ones than `LONG` are not cut into characters."""

LONG = 6_000


def inputs() -> Iterator[Input]:
    from recordings import PATHS, of_corpus, own
    from spec_pages import PAGES, cases_of

    for page in PAGES:
        for case in cases_of(page.read_text(encoding="utf-8")):
            yield f"{page.stem}: {case.name}", case.params, case.chunks, case.close
    for each in [*map(own, PATHS), *_beside(of_corpus)]:
        yield each.name, each.params, each.chunks, each.close
    yield from _beside(_public)


def _beside(of: Callable[[], Iterator[Any]]) -> list[Any]:
    """What ``of`` gives; nothing where the data beside the project is not there."""
    from corpus import DATA

    return list(of()) if DATA.is_dir() else []


def _public() -> Iterator[Input]:
    """The public cases in plain text."""
    from corpus import cases_in

    for file in ("leaks.jsonl", "fresh.jsonl", "legit.jsonl"):
        for case in cases_in(file):
            chunks = case["chunks"] if "chunks" in case else [case["input"]]
            if case.get("wire", "text") == "text" and isinstance(chunks[0], str):
                model = {"model": case["model"]} if case.get("model") else {}
                yield f"{file}: {case['id']}", {"wire": "text", **model}, chunks, {}


def ways(params: dict[str, Any], chunks: list[Any]) -> Iterator[tuple[str, Any, Any]]:
    """Whole and cut: the way, the parameters and the chunks."""
    yield "whole", params, chunks
    if all(isinstance(each, str) for each in chunks) and "encoding" not in params:
        text = "".join(chunks)
        for name, size in SLICES.items():
            if params.get("framing") != "json" and (size > 1 or len(text) < LONG):
                yield name, params, _slices(text, size)
    elif params.get("wire", "auto") != "auto" and "framing" not in params:
        text = "".join(f"data: {json.dumps(each)}\n\n" for each in chunks)
        yield "as a text", {**params, "framing": "sse"}, _slices(text, 11)


def _slices(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def rows() -> Iterator[tuple[str, str, str]]:
    """The hash, the way and the name."""
    for name, params, chunks, close in inputs():
        for way, given, cut in ways(params, chunks):
            yield _hash(partial(_event_lines, given, cut, close)), way, name
        if params.get("wire") == "text":
            yield _hash(partial(_kept, "".join(map(str, chunks)))), "kept", name


def _event_lines(params: Any, chunks: Any, close: Any) -> list[str]:
    from feeding import feed

    return feed(params, chunks, close=close).all_lines


def _kept(text: str) -> list[str]:
    from stored_messages import assistant, repair

    done = repair(assistant(text))
    return [repr(each) for each in (done.edits, done.removed, done.reasoning)]


def _hash(of: Callable[[], list[str]]) -> str:
    return sha256("\n".join(of()).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def main(file: str, *options: str) -> None:
    sys.path.insert(0, str(SUPPORT))
    from stream_sidecar import patterns

    if "--atomic" in options:
        patterns.compile = patterns.compile_atomic
    lines = (f"{each[0]} {each[1]}, {each[2]}" for each in rows())
    text = "".join(f"{line.encode('unicode_escape').decode()}\n" for line in lines)
    Path(file).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
