"""The streams that every peer is given: the same in every run.

`timed()` are what is timed. The texts of `KINDS` are made up, in deltas of two to six
characters as tokens have them; those of `RECORDED` are the answers and the reasoning of
the recorded streams of tests/wires, cut where their providers cut them. A reasoning tag
is always alone, as models whose tags are single tokens send it. So are the tags of
`CALL`, a tool call in Hermes' form, which not every peer looks for. `leaks()` are texts
that are read under several cuttings: leaks from the project's own fixtures and made-up
ones.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from attrs import frozen

TESTS = Path(__file__).resolve().parent.parent.parent
OPENER, CLOSER = "<think>", "</think>"
SIMPLE = ODD = 60
"""How many made-up texts of each sort there are."""

_WORDS = (
    *("the", "list", "is", "sorted", "once", "before", "first", "request", "comes"),
    *("in", "so", "each", "look-up", "a", "bisection", "and", "costs", "about", "ten"),
    *("comparisons", "index", "when", "it", "grows", "café", "naïve", "3", "of", "why"),
)
_CODE = (
    "for (std::size_t i = 0; i < rows.size() && rows[i] <= limit; ++i) {",
    "    out << std::setw(4) << std::vector<std::pair<int, T>>(i) << '<' << i;",
    "if a < b and c[i] > d: yield {'key': [1, 2, 3]}",
    "return `${a}` < b ? <Item key={i} /> : null;",
)
_TAG = re.compile("(</?(?:think|tool_call)>)")


def _sentence(generator: random.Random) -> str:
    words = generator.choices(_WORDS, k=generator.randint(5, 14))
    return " ".join(words).capitalize() + generator.choice((". ", ", ", "? ", ": "))


def _prose(generator: random.Random) -> str:
    sentences = [_sentence(generator) for _ in range(generator.randint(3, 6))]
    return "".join(sentences).rstrip() + "\n\n"


def _markdown(generator: random.Random) -> str:
    """A heading, prose with code spans, a list and a fence."""
    name, line = generator.choice(_WORDS), generator.choice(_CODE)
    items = [f"- **{_sentence(generator).strip()}** `{name} < {i}`" for i in range(3)]
    words = _sentence(generator).strip()
    lines = (f"## {words}", "", f"Call `{name}()`, then ``{name}``: {words}", *items)
    code = ("", "```cpp", *generator.choices(_CODE, k=3), line, "```", "", "")
    return "\n".join((*lines, *code))


def _record(generator: random.Random) -> str:
    """A member of a list in a structured answer."""
    words, sentence = generator.choices(_WORDS, k=3), _sentence(generator).strip()
    record = {"name": words[0], "tags": words[1:], "rank": generator.random()}
    return json.dumps({**record, "summary": sentence}, ensure_ascii=False) + ",\n  "


def _filled(paragraph: Callable[[random.Random], str], size: int, seed: str) -> str:
    """``size`` characters of paragraphs."""
    generator, parts, total = random.Random(seed), [], 0
    while total < size:
        parts.append(paragraph(generator))
        total += len(parts[-1])
    return "".join(parts)[:size]


def _thinking(size: int) -> str:
    """Reasoning, then an answer of the same length."""
    half = (size - len(OPENER) - len(CLOSER)) // 2
    reasoning = _filled(_prose, half, "thinking")
    return f"{OPENER}{reasoning}{CLOSER}{_filled(_prose, half, 'answer')}"


def _call(size: int) -> str:
    """A call whose longest argument is Markdown."""
    arguments = {"path": "notes.md", "content": _filled(_markdown, size, "call")}
    call = {"name": CALLED, "arguments": arguments}
    return f"<tool_call>\n{json.dumps(call, ensure_ascii=False)}\n</tool_call>"


KINDS: dict[str, Callable[[int], str]] = {
    "prose": lambda size: _filled(_prose, size, "prose"),
    "Markdown": lambda size: _filled(_markdown, size, "Markdown"),
    "thinking": _thinking,
}
"""The made-up texts."""

GROWING = "prose"
"""The kind whose cost is measured at all `SIZES`; the others are as long as `SHORT`."""

SHORT = 10_000
SIZES = (SHORT, 100_000, 1_000_000)
RECORDED = "recordings"
JSON = "JSON answer"
CALL = "Hermes call"
CALLED = "write_file"
"""The tool that `CALL` calls."""

CALL_SIZE = 2_000
"""Characters of its longest argument: some peers read all of a call at each delta."""

ALONE = "start and end"

COMPARED = (*KINDS, RECORDED)
"""What the cost of a delta is compared in."""

MORE = (JSON, CALL, ALONE)
"""What is timed beside that; not every peer can do all of it."""


def timed() -> dict[str, list[list[str]]]:
    """The streams of each of `COMPARED`; those of `ALONE` have a single delta, so that
    they cost their start and their end."""
    made_up = {name: [deltas(make(SHORT))] for name, make in KINDS.items()}
    answer = f"[\n  {_filled(_record, SHORT, 'JSON')}"
    others = {
        JSON: [deltas(answer)],
        CALL: [deltas(_call(CALL_SIZE))] * 5,
        ALONE: [["Hello"]] * 50,
    }
    return {**made_up, RECORDED: [recorded(SHORT)], **others}


def recorded(size: int) -> list[str]:
    """A stream of ``size`` characters at least, as the recordings are short: all their
    reasoning over and over in one block, then all their answers as often."""
    deltas: dict[str, list[str]] = {"reasoning-delta": [], "text-delta": []}
    for path in sorted((TESTS / "wires").glob("*/*.events.jsonl")):
        for event in map(json.loads, filter(None, path.read_bytes().splitlines())):
            if event["type"] in deltas and event["text"]:
                deltas[event["type"]].append(event["text"])
    times = -(-size // sum(map(len, chain(*deltas.values()))))
    reasoning, answers = (each * times for each in deltas.values())
    return [OPENER, *reasoning, CLOSER, *answers]


def deltas(text: str, seed: int = 0) -> list[str]:
    """``text`` as a model sends it: small pieces, and every tag alone."""
    pieces = enumerate(_TAG.split(text), seed)
    return [delta for number, piece in pieces for delta in _cut(piece, number)]


def _cut(piece: str, seed: int, largest: int = 6) -> Iterator[str]:
    """Pieces of two to ``largest`` characters; a tag stays whole."""
    if _TAG.fullmatch(piece):
        yield piece
        return
    generator, at = random.Random(seed), 0
    while at < len(piece):
        size = generator.randint(2, largest)
        yield piece[at : at + size]
        at += size


def _at_random(text: str, seed: int) -> list[str]:
    """``text`` cut anywhere, also inside tags."""
    generator, pieces, at = random.Random(f"{seed} {text}"), [], 0
    while at < len(text):
        size = generator.randint(1, 12)
        pieces.append(text[at : at + size])
        at += size
    return pieces


CUTTINGS: dict[str, Callable[[str], list[list[str]]]] = {
    "tags alone": lambda text: [deltas(text)],
    "whole": lambda text: [[text]],
    "by character": lambda text: [list(text)],
    "at random": lambda text: [_at_random(text, seed) for seed in range(5)],
}
"""The ways in which a text is cut; the first is the one most peers were written for."""


@frozen
class Leak:
    """A text; ``expected`` (answer, reasoning) where nobody can doubt it."""

    text: str
    expected: tuple[str, str] | None = None


def leaks() -> list[Leak]:
    """One block and an answer, then odd ones, then those of the project's fixtures."""
    generator = random.Random("leaks")
    simple = [_simple(generator) for _ in range(SIMPLE)]
    odd = [Leak(_odd(generator)) for _ in range(ODD)]
    return [*simple, *odd, *map(Leak, _of_fixtures())]


def _simple(generator: random.Random) -> Leak:
    """``<think>reasoning</think>answer``: one block first, no other tag anywhere."""
    reasoning, answer = _sentence(generator).strip(), _prose(generator).strip()
    return Leak(f"{OPENER}{reasoning}{CLOSER}{answer}", (answer, reasoning))


def _odd(generator: random.Random) -> str:
    """Blocks in the middle, two, none closed, half a tag, tags in code."""
    parts = (
        *(OPENER, CLOSER, OPENER, CLOSER, "<thi", "</thin", "<", "`<think>`", "```\n"),
        *(_sentence(generator), _sentence(generator), "\n", "\n\n", "a < b"),
    )
    return "".join(generator.choices(parts, k=generator.randint(3, 9)))


def _of_fixtures() -> list[str]:
    """The leaks that the dialects are tested with, and the texts of recorded chats."""
    lines = (TESTS / "data" / "dialects.jsonl").read_text("utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    recordings = sorted((TESTS / "wires" / "openai-chat").glob("*.chunks.jsonl"))
    texts += [_content(path) for path in recordings]
    return list(dict.fromkeys(text for text in texts if text))


def _content(path: Path) -> str:
    """The joined text of a recording's first choice."""
    chunks = map(json.loads, path.read_text("utf-8").splitlines()[1:])
    choices = [
        choice
        for chunk in chunks
        if isinstance(chunk, dict)
        for choice in chunk.get("choices") or ()
        if isinstance(choice, dict)
    ]
    given = [(choice.get("delta") or {}).get("content") for choice in choices]
    return "".join(text for text in given if isinstance(text, str))
