"""Trust: legitimate texts, run as a model's answers, come out as they went in.

``python3 tests/bench/run.py trust FOLDER ...`` reads every ``*.md``, ``*.rst``,
``*.txt`` and ``*.json`` below the folders, each once for each of `SETTINGS`, in deltas
of `DELTA` characters. What is changed is listed with the place where it differs: a text
may rightly have a leak. Files of the same content count once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import mean

from attrs import evolve, frozen
from rows import Bar, Row

from stream_sidecar.dialects import DIALECTS, pair_of
from stream_sidecar.forms.form import Dialect
from stream_sidecar.options import DEFAULT_INDICATORS, DEFAULT_TAGS, StreamOptions, Tool
from stream_sidecar.stream.stream import Stream

SUFFIXES = (".md", ".rst", ".txt", ".json")
DELTA = 64
LARGEST = 1_000_000
"""Larger files take long and say nothing more."""

BEFORE = 40
"""So much of a text is shown on each side of the place where it differs."""

TOOLS = (
    *("search", "web_search", "read_file", "write_file", "edit", "bash", "run"),
    *("python", "get_weather", "click", "list", "open", "print", "query"),
)
MODELS = (
    *("openai/gpt-oss-120b", "qwen/qwen3-32b", "google/gemini-2.5-pro"),
    *("deepseek-ai/DeepSeek-V3.1", "moonshotai/Kimi-K2-Instruct", "zai-org/GLM-4.6"),
)
"""Those whose profiles know the most forms."""

PLAIN = StreamOptions(wire="text")
DECLARED = evolve(PLAIN, tools=tuple(map(Tool, TOOLS)))
SETTINGS = (PLAIN, DECLARED, *(evolve(DECLARED, model=model) for model in MODELS))

NONE = Bar(limit=0, aim=0, unit=" texts")
HELD = Bar(limit=300, aim=256, unit=" characters")


@frozen
class Outcome:
    """What came of one text in one setting; ``what`` stands where it first differs."""

    model: str
    equal: bool
    calls: int
    held: int
    what: str


@frozen
class Text:
    """A file, and what came of it."""

    path: Path
    text: str
    outcomes: tuple[Outcome, ...]

    @property
    def changed(self) -> list[Outcome]:
        return [each for each in self.outcomes if not each.equal]

    @property
    def held(self) -> int:
        return max(each.held for each in self.outcomes)


def run(folders: list[str]) -> Iterator[Row]:
    """Reads all files below the ``folders``."""
    texts = [_read(path, text) for path, text in _files(map(Path, folders)).items()]
    if not texts:
        yield Row("legitimate texts", "no file was found")
        return
    size = sum(len(each.text) for each in texts)
    yield Row("legitimate texts", f"{len(texts)} files, {size / 1e6:.1f} M characters")
    for name, delimiters, bar in (("without", False, NONE), ("with", True, None)):
        some = [each for each in texts if _speaks(each.text) is delimiters]
        changed = sum(bool(each.changed) for each in some)
        what = f"changed of {len(some)} {name} a delimiter"
        yield Row(what, f"{changed} texts", bar and changed, bar)
    calls = sum(outcome.calls for each in texts for outcome in each.outcomes)
    yield Row("calls found in them", f"{calls} in {len(SETTINGS)} settings")
    held = [each.held for each in texts]
    yield Row("held", f"{mean(held):.0f} characters on average, {max(held)} at most")
    yield from _documents(texts)
    yield from (row for each in texts if each.changed for row in _told(each))


def _documents(texts: list[Text]) -> Iterator[Row]:
    """JSON documents must stream."""
    some = [each for each in texts if _is_unsuspicious(each.text)]
    if some:
        most = max(some, key=lambda each: each.held)
        what = f"held at most of {len(some)} JSON documents without an indicator"
        yield Row(what, most.path.name, most.held, HELD)


def _told(text: Text) -> Iterator[Row]:
    """Where it differs, each place once."""
    ways: dict[str, list[str]] = {}
    for outcome in text.changed:
        ways.setdefault(outcome.what, []).append(outcome.model)
    for what, models in ways.items():
        yield Row(f"{text.path}", f"{what} ({', '.join(models)})")


def _files(folders: Iterator[Path]) -> dict[Path, str]:
    """The files and their texts."""
    found: dict[str, Path] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                text = path.read_text("utf-8", errors="replace")
                if 0 < len(text) <= LARGEST:
                    found.setdefault(text, path)
    return {path: text for text, path in found.items()}


def _read(path: Path, text: str) -> Text:
    return Text(path, text, tuple(_outcome(text, each) for each in SETTINGS))


def _outcome(text: str, options: StreamOptions) -> Outcome:
    stream = Stream(options)
    for at in range(0, len(text), DELTA):
        stream.push(text[at : at + DELTA])
    stream.close()
    message, stats = stream.message(), stream.stats()
    shown = message.text or ""
    pairs = enumerate(zip(text, shown, strict=False))
    at = next((at for at, (one, other) in pairs if one != other), len(shown))
    return Outcome(
        options.model or ("tools" if options.tools else "nothing known"),
        shown == text and not message.reasoning,
        stats.tool_calls_from_text,
        stats.held_peak,
        json.dumps(text[max(at - BEFORE, 0) : at + BEFORE], ensure_ascii=False),
    )


def _speaks(text: str) -> bool:
    return any(each in text for each in _delimiters())


@cache
def _delimiters() -> frozenset[str]:
    """What counts anywhere in a text, and what is looked for at its start or end."""
    tags = {literal for tag in DEFAULT_TAGS for literal in pair_of(tag)}
    return frozenset(tags.union(*map(_literals, DIALECTS.values()))) - {""}


def _literals(dialect: Dialect) -> set[str]:
    forms = [form for form in dialect.forms if not (form.vague or form.per_tool)]
    pairs = {literal for pair in dialect.pairs for literal in pair}
    openers = {literal for form in forms for literal in (*form.openers, *form.closers)}
    return pairs | openers | {*dialect.marks, *dialect.ends}


def _is_unsuspicious(text: str) -> bool:
    """JSON that cannot repeat a tool's result."""
    try:
        value = json.loads(text)
    except ValueError:
        return False
    values = value if isinstance(value, list) else [value]
    keys = {key for each in values if isinstance(each, dict) for key in each}
    return not keys & {*DEFAULT_INDICATORS}
