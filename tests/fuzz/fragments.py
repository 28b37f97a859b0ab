"""What fuzzed inputs are made of: the engine's own literals, our recordings, and junk.

`LITERALS` come out of the engine's tables of dialects, so a new dialect is fuzzed as
soon as it has a row. `WRITTEN` are whole texts with the parameters they were written
for, `RECORDED` whole streams of documents, `BODIES` whole bodies. Tables only: nothing
here draws anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from spec_pages import PAGES, cases_of
from strategies import FRAGMENTS, LEAKS, PROTOCOL, RECORDINGS, recordings

from stream_sidecar.dialects import DIALECTS, pair_of
from stream_sidecar.dialects.leftovers import LEFTOVERS, RESULTS_DIALECT
from stream_sidecar.forms.form import Dialect
from stream_sidecar.options import DEFAULT_TAGS


def _literals_of(dialect: Dialect) -> Iterator[str]:
    """Everything that a dialect is looked for by; ``f`` stands for a tool's name."""
    for pair in dialect.pairs:
        yield from pair
    yield from (*dialect.marks, *dialect.ends)
    for form in dialect.forms:
        names = ("f",) if form.per_tool else ()
        yield from (opener % names if names else opener for opener in form.openers)
        yield from (*form.closers, *form.pending_closers)


def _literals() -> Iterator[str]:
    for tag in DEFAULT_TAGS:
        yield from pair_of(tag)
    for dialect in (*DIALECTS.values(), LEFTOVERS, RESULTS_DIALECT):
        yield from _literals_of(dialect)


LITERALS = tuple(dict.fromkeys(filter(None, _literals())))
"""Delimiters, marks, openers and closers of all dialects."""

EDGES = (
    *("\ufeff", "\0", "\x01", "\x7f", "\x85", "\xad", "\u200b", "\u200d", "\u202e"),
    *("e\u0301", "\u0301", "\ufe0f", "👩‍👩‍👧", "🇳🇴", "\U0010ffff", "\ufffe", "\ufffd"),
    *("\ud83d", "\ude00", "\ud83d\ude00", "\u2028", "\u2029", "\x1c", "\x0b\x0c"),
    *("\\ud83d", '"\\ud83d"', "\\u0000", "\\ud83d\\ude00", "\\", '\\"', "\\n"),
    *("undefined", "[object Object]", "NaN", "Infinity", "-0", "1e400", "9" * 40),
    *("0x1f", "1_000", ".5", "5.", "01", "True", "None", "nil", "null", "b'x'"),
    *("[" * 70, "{" * 9, '{"a":' * 9, "]" * 70, "}" * 9, "((", "[[[]]]", '"' * 5),
    *("ſ", "İ", "ß", "ǅ", "<ＴＨＩＮＫ>", "〈think〉", "＜think＞", "<ТHINK>"),
)
"""Characters and words that break parsers."""

TOKENS = tuple(dict.fromkeys(token for leak in LEAKS for token in leak["tokens"]))
"""The words of texts that models leaked."""

KINDS: tuple[tuple[int, tuple[str, ...]], ...] = (
    # weight, fragments
    (8, LITERALS),
    (6, tuple(FRAGMENTS)),
    (6, tuple(PROTOCOL)),
    (3, TOKENS),
    (2, EDGES),
)
BAG = tuple(fragments for weight, fragments in KINDS for _ in range(weight))
"""The kinds of fragments, each as often as its weight says."""


def _written() -> Iterator[tuple[dict[str, Any], str]]:
    for leak in LEAKS:
        known = {key: leak[key] for key in ("model", "tools") if leak[key] is not None}
        policy = dict(leak.get("policy", {}))
        if leak["dialects"] is not None:
            policy["dialects"] = leak["dialects"]
        yield {"wire": "text", "policy": policy, **known}, leak["text"]
    for page in PAGES:
        for case in cases_of(page.read_text(encoding="utf-8")):
            if case.params["wire"] == "text":
                yield case.params, "".join(case.chunks)


WRITTEN = tuple(_written())
"""Texts of ``data/dialects.jsonl`` and of the pages under ``spec``."""

RECORDED = tuple(RECORDINGS)
"""Parameters and documents of the recordings under ``wires``."""

BODIES = tuple(
    (params, "".join(chunks))
    for params, chunks in recordings()
    if chunks and all(isinstance(chunk, str) for chunk in chunks)
)
"""Parameters and bodies of the recordings that are bodies; base64 stays base64."""

MODELS = tuple(
    dict.fromkeys(
        params["model"] for params, _ in WRITTEN if params.get("model") is not None
    )
)
"""Names of models that have a profile, or none."""
