"""Trust: legitimate texts, run as a model's answers, come out as they went in.

``python3 tests/bench/run.py trust FOLDER ...`` reads every file of text and source
below the folders, in deltas of `DELTA` characters. One without a delimiter is read in
two of `SETTINGS`, each file in others, and with one in all of them, as it is and in a
fence. What is changed is listed with the place where it differs and the rule that it is
about: a text may rightly have a leak. Files of the same content count once.

It fails where a text without a delimiter, one in a fence, or a string on one line is
changed, and where more is lost than delimiters and calls.
"""

from __future__ import annotations

import json
import re
from collections import Counter
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

SUFFIXES = (
    *(".md", ".mdx", ".rst", ".txt", ".json", ".py", ".pyi", ".ts", ".tsx", ".js"),
    *(".jinja", ".jinja2", ".yaml", ".yml", ".toml", ".sh", ".html", ".rs", ".go"),
    *(".c", ".h", ".cpp", ".hpp", ".cu", ".cuh", ".csv", ".ipynb"),
)
DELTA = 64
LARGEST = 1_000_000
"""Larger files need much time and show nothing more."""

BEFORE = 40
"""So much of a text is shown on each side of the place where it differs."""

TOOLS = (
    *("search", "web_search", "read_file", "write_file", "edit", "bash", "run"),
    *("python", "get_weather", "click", "list", "open", "print", "query"),
)
MODELS = (
    *(None, "openai/gpt-oss-120b", "qwen/qwen3-32b", "google/gemini-2.5-pro"),
    *("deepseek-ai/DeepSeek-R1", "moonshotai/Kimi-K2-Instruct", "zai-org/GLM-4.6"),
    "mistralai/Magistral-Small",
)
"""Models whose profiles have the most forms, and an unknown model."""

SETTINGS = tuple(
    StreamOptions(wire="text", model=model, tools=tools)
    for tools in (None, tuple(map(Tool, TOOLS)), ())
    for model in MODELS
)
FEW = 2
"""In so many of them a text without a delimiter is read."""

NONE = Bar(limit=0, aim=0, unit=" texts")
HELD = Bar(limit=300, aim=256, unit=" characters")


@frozen
class Outcome:
    """The result for one text in one setting: ``what`` is the text at the first
    difference, ``kind`` its kind. ``lost``: characters that are not delimiters."""

    model: str
    equal: bool
    calls: int
    held: int
    what: str
    kind: str
    lost: int


@frozen
class Text:
    """A file, its result, and its result inside a fence."""

    path: Path
    text: str
    outcomes: tuple[Outcome, ...]
    fenced: tuple[Outcome, ...] = ()

    @property
    def changed(self) -> list[Outcome]:
        return [each for each in self.outcomes if not each.equal]

    @property
    def held(self) -> int:
        return max(each.held for each in self.outcomes)


def run(folders: list[str]) -> Iterator[Row]:
    """Reads all files below the ``folders``."""
    files = _files(map(Path, folders)).items()
    texts = [_read(number, *each) for number, each in enumerate(files)]
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
    yield from _kinds([each for each in texts if _speaks(each.text)])
    calls = sum(outcome.calls for each in texts for outcome in each.outcomes)
    yield Row("calls found in them", f"{calls} in {len(SETTINGS)} settings")
    held = [each.held for each in texts]
    yield Row("held", f"{mean(held):.0f} characters on average, {max(held)} at most")
    yield from _documents(texts)
    yield from (row for each in texts if each.changed for row in _changes(each))


def _kinds(texts: list[Text]) -> Iterator[Row]:
    """Texts with delimiters: what was changed in them, by the rule that it is about."""
    fenced = sum(any(not one.equal for one in each.fenced) for each in texts)
    yield Row(f"changed of {len(texts)} in a fence", f"{fenced} texts", fenced, NONE)
    kinds = Counter(
        kind for each in texts for kind in {one.kind for one in each.changed}
    )
    for kind in KINDS:
        bar = NONE if kind == STRING else None
        yield Row(f"changed: {kind}", f"{kinds[kind]}", bar and kinds[kind], bar)
    lost = max((one.lost for each in texts for one in each.outcomes), default=0)
    yield Row("characters lost beside delimiters, at most", f"{lost}", lost, NONE)


def _documents(texts: list[Text]) -> Iterator[Row]:
    """JSON documents must stream."""
    some = [each for each in texts if _is_unsuspicious(each.text)]
    if some:
        most = max(some, key=lambda each: each.held)
        what = f"held at most of {len(some)} JSON documents without an indicator"
        yield Row(what, most.path.name, most.held, HELD)


def _changes(text: Text) -> Iterator[Row]:
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


def _read(number: int, path: Path, text: str) -> Text:
    if not _speaks(text):
        some = (SETTINGS[(number + each * 7) % len(SETTINGS)] for each in range(FEW))
        return Text(path, text, tuple(_outcome(text, each) for each in some))
    fence = "`" * (2 + max(map(len, (*re.findall("`+", text), "`"))))
    fenced = f"So:\n\n{fence}\n{text}\n{fence}\n"
    as_is, in_fence = (
        tuple(_outcome(each, options) for options in SETTINGS)
        for each in (text, fenced)
    )
    return Text(path, text, as_is, in_fence)


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
        _kind(text, at),
        0 if shown == text else _lost(text, options),
    )


STRING = "a string on one line, whose quotes stand near"
KINDS = (STRING, "a longer string, or one that begins the text", "other text")
_STRINGS = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")
_NEAR = 256


def _kind(text: str, at: int) -> str:
    """What the place is in which a text is changed: a string is judged by its line."""
    start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    line = text[start : end if end >= 0 else len(text)]
    for string in _STRINGS.finditer(line):
        first, last = string.start() + start, string.end() + start
        if first < at < last:
            is_near = first and at - first <= _NEAR and last - at <= _NEAR
            return STRING if is_near else KINDS[1]
    return KINDS[2]


def _lost(text: str, options: StreamOptions) -> int:
    """How many characters of words are neither shown nor in what was taken out."""
    policy = evolve(options.policy, trace=True)
    stream = Stream(evolve(options, policy=policy))
    events = [*stream.push(text), *stream.close()]
    message = stream.message()
    taken = [each.raw for each in events if hasattr(each, "raw") and each.raw]
    shown = "\n".join([message.text or "", message.reasoning or "", *map(str, taken)])
    said, left = (
        Counter(re.findall(r"\w{4,}", _plain(each))) for each in (text, shown)
    )
    return sum(len(word) * times for word, times in (said - left).items())


def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w{4,}", text))


def _plain(text: str) -> str:
    """The text without delimiters."""
    for literal in sorted(_delimiters(), key=len, reverse=True):
        text = text.replace(literal, " ")
    return text


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
