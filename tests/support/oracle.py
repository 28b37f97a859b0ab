"""An independent, naive reading of code in whole text: what must stay visible.

What is compared with what the engine does character by character (text rule 4.1, text
rule 4.3, text rule 4.4, text rule 4.6):

- markdown-it, an established parser, says which lines are code, fenced or indented;
- a *span* is a backtick run, of at most 32, up to an equal run on the same line, first
  come first; a backslash before a run makes its first backtick text;
- a *mention* stands after a backslash or ``(?``, directly between two marks, in a
  quoted string on its line, in a string of a JSON answer, with its partner in a pair
  that the text talks about, or behind other text where a sentence goes on. This reading
  checks neither whether a quote before it is still open nor which delimiters a sentence
  has named, so it finds more mentions than the engine.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from stream_sidecar.text.joining_words import SPACED, UNSPACED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markdown_it.token import Token

_BLOCKS = MarkdownIt("commonmark", {"maxNesting": 1_000})
_BLOCKS.disable(["html_block", "reference"])

_RUN = re.compile("`+")
_REST_OF_TAG = re.compile(r"[^<>\n]{0,48}>")
_FRONT = r"(?:^|.*[\s(\[{=,:])"
_BETWEEN = re.compile(
    rf"""{_FRONT}(?:`\0`|"\0"|'\0'|”\0”|’\0’|\*+\0\*|_+\0_)|.*(?:\\|\(\?P?)\0.*"""
    "|.*(?:“\0”|„\0[“”]|‘\0’|‚\0[‘’]|«\0»|»\0«|‹\0›|›\0‹|「\0」|『\0』)"
    r"|.*(?:\(\0\)|\[\0\]|《\0》|（\0）|\|[ \xa0\u202f]?\0[ \xa0\u202f]?\|)"
    "|.*«[ \xa0\u202f]?\0[ \xa0\u202f]?»",
    re.DOTALL,
)
_CLOSES = {'"': '"', "'": "'", "“": "”", "„": "“”", "”": "”", "‘": "’", "’": "’"}
_CLOSES |= {"‚": "‘’", "«": "»", "»": "«", "‹": "›", "›": "‹", "「": "」", "『": "』"}
_CLOSES |= {"/": "/"}
_OPENER = re.compile(r"(?:^|(?<=[\s(\[{=,:]))[rbfuRBFU]{0,2}([\"'/“„”‘’‚«»‹›「『])")
_JOINED = "|".join(
    rf"{blank}(?:{'|'.join(word for words in table.values() for word in words)}){blank}"
    for blank, table in ((r"[ \t]+", SPACED), (r"[ \t]*", UNSPACED))
)
_PAIRED = re.compile(rf"[^\w<>\"'`“”„‘’‚«»‹›「」『』\n]{{1,16}}|{_JOINED}")
_GOES_ON = re.compile(
    r"[,;:)\].!?](?!\w)|[，、；：）】。！？،؛؟।۔]|[ \xa0\u202f][;:!?–—](?:\s|\Z)"
)
_AROUND = 260


def code_ranges(text: str) -> Iterator[tuple[int, int]]:
    """``(start, end)`` of everything in ``text`` that is code, in order."""
    position, code = 0, code_lines(text)
    for number, line in enumerate(text.split("\n")):
        if number in code:
            yield position, position + len(line)
        else:
            yield from _spans(line, position)
        position += len(line) + 1


@lru_cache(maxsize=256)
def code_lines(text: str) -> frozenset[int]:
    """The numbers of the lines of ``text`` that are code."""
    tokens: list[Token] = []
    _BLOCKS.block.parse(text.replace("\r", " "), _BLOCKS, {}, tokens)
    return frozenset(
        number
        for token in tokens
        if token.type in ("fence", "code_block") and token.map
        for number in range(*token.map)
    )


def _spans(line: str, position: int) -> Iterator[tuple[int, int]]:
    at = 0
    while at < len(line):
        if line[at] == "\\":
            at += 2
            continue
        run = _RUN.match(line, at)
        if run is None:
            at += 1
            continue
        later = _RUN.finditer(line, run.end()) if len(run[0]) <= 32 else ()
        end = next((each.end() for each in later if each[0] == run[0]), None)
        if end is not None:
            yield position + at, position + end
        at = end or run.end()


def outside_code(text: str, literals: Iterable[str]) -> list[tuple[int, str]]:
    """Where ``literals`` stand in ``text`` outside code and mentions: ``(start,
    literal)``."""
    longest_first = sorted(literals, key=len, reverse=True)
    any_of = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")
    ranges = list(code_ranges(text))
    return [
        (match.start(), match[0])
        for match in any_of.finditer(text)
        if not any(start <= match.start() < end for start, end in ranges)
        and not is_mention(text, match.start(), match.end(), any_of)
    ]


def is_mention(text: str, start: int, end: int, any_of: re.Pattern[str]) -> bool:
    """Whether ``text`` only mentions the literal there, or the tag that starts there;
    ``any_of``: the literals."""
    literal = text[start:end]
    if text[start] == "<" and ">" not in literal:
        tag = _REST_OF_TAG.match(text, end)
        end = tag.end() if tag else end
    before, after = text[:start], text[end:]
    while run := re.search(rf"(?:{any_of.pattern})\Z", before[-_AROUND:]):
        before = before[: -len(run[0])]
    while (run := any_of.match(after)) and not _between(before, after):
        after = after[run.end() :]
    if _between(before, after) or _in_string(text[:start], text[end:]):
        return True
    if _in_json(text[:start]) or _in_pair(text, start, end, any_of):
        return True
    return _in_sentence(text, start, end, any_of)


def _between(before: str, after: str) -> bool:
    start = before.rstrip("*_")[-1:] + before[len(before.rstrip("*_")) :]
    around = f"{start if before[-1:] in '*_' else before[-3:]}\0{after[:2]}"
    return any(_BETWEEN.fullmatch(around[:size]) for size in range(1, len(around) + 1))


def _in_string(before: str, after: str) -> bool:
    line = before.rpartition("\n")[2][-_AROUND:]
    rest = after.partition("\n")[0][:_AROUND]
    return any(
        partner in rest for quote in _OPENER.findall(line) for partner in _CLOSES[quote]
    )


def _in_json(before: str) -> bool:
    if not re.match(r'\s*(?:\{\s*["}]|\[\s*(?:["\d]|\{\s*"))', before):
        return False
    return len(re.findall(r'(?<!\\)(?:\\\\)*"', before)) % 2 == 1


def _in_pair(text: str, start: int, end: int, any_of: re.Pattern[str]) -> bool:
    line = text.rfind("\n", 0, start) + 1
    found = [(m.start(), m.end()) for m in any_of.finditer(text, line)]
    here = found.index((start, end)) if (start, end) in found else -1
    pairs = [found[n : n + 2] for n in (here - 1, here) if here >= 0 and n >= 0]
    return any(
        len(pair) == 2 and _PAIRED.fullmatch(text, pair[0][1], pair[1][0]) is not None
        for pair in pairs
    )


def _in_sentence(text: str, start: int, end: int, any_of: re.Pattern[str]) -> bool:
    line = text[text.rfind("\n", 0, start) + 1 : start]
    if not line.strip():
        return False
    joined = re.match(_JOINED, text[end:])
    is_joined = joined and any_of.match(text, end + joined.end())
    return bool(_GOES_ON.match(text, end) or is_joined or any_of.search(line))


def tiles(raw: str, pieces: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Lays ``pieces`` (start, end, text) over ``raw``; gives the pieces left over.

    AssertionError when they do not cover every character of ``raw`` exactly once.
    """
    rest = sorted(pieces, key=lambda piece: piece[0])
    position = 0
    while position < len(raw):
        piece = next((p for p in rest if _fits(p, raw, position)), None)
        assert piece, f"nothing accounts for {raw[position : position + 40]!r} {rest!r}"
        rest.remove(piece)
        position = piece[1]
    return rest


def _fits(piece: tuple[int, int, str], raw: str, position: int) -> bool:
    start, end, text = piece
    return start == position and end > start and raw[start:end] == text


DEFAULT_DELIMITERS = (
    *("<think>", "</think>", "<thinking>", "</thinking>", "<thought>", "</thought>"),
    *("<mm:think>", "</mm:think>", "<seed:think>", "</seed:think>"),
    *("[THINK]", "[/THINK]", "◁think▷", "◁/think▷"),
)
"""The default tags of protocol.md, "Policy", and their closers, written out."""


def delimiters_of(tags: list[str] | None) -> tuple[str, ...]:
    """The delimiters of ``reasoning.tags``; a profile's are not known here."""
    if tags is None:
        return DEFAULT_DELIMITERS
    bare = [f"<{tag}>" if re.fullmatch(r"[\w:.-]+", tag) else tag for tag in tags]
    return (*bare, *(re.sub(r"(?=\w)", "/", tag, count=1) for tag in bare))


def healed(text: str) -> str:
    """Half characters joined where they meet, U+FFFD where they have no partner."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
