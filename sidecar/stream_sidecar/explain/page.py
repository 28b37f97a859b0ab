"""One page of HTML that shows an explanation, and needs no other file.

Only the data differs from stream to stream. It is JSON in a ``<script>`` element of
type ``application/json``, in ASCII and without ``<``, ``>`` and ``&``, so nothing in a
stream can become an element, an attribute or a script. The page's script shows the data
as text, with visible signs for invisible characters. A content security policy allows
this script and this style by their hashes, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from itertools import groupby
from operator import itemgetter
from string import Template
from typing import TYPE_CHECKING, Any

from attrs import asdict

from stream_sidecar.explain.explanation import OWNERS, UNKNOWN
from stream_sidecar.explain.kinds import content, kind
from stream_sidecar.explain.reasons import KEPT
from stream_sidecar.explain.rules import PAGES, rules, wire_links
from stream_sidecar.explain.summary import answer, break_off, sentences
from stream_sidecar.protocol.converter import unstructure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stream_sidecar.explain.explanation import Explanation, Fate, Lane, Owner
    from stream_sidecar.explain.reasons import Verdict

_MARKUP = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}


def page(explanation: Explanation) -> str:
    """The page as HTML."""
    script, style = _read("page.js"), _read("page.css")
    return Template(_read("page.html")).substitute(
        script=script,
        style=style,
        script_hash=_hash(script),
        style_hash=_hash(style),
        data=json.dumps(document(explanation)).translate(_MARKUP),
    )


def document(explanation: Explanation) -> dict[str, Any]:
    """The data of the page, as JSON values."""
    numbers: dict[Verdict, int] = {}
    lanes = [_lane(lane, numbers) for lane in explanation.lanes]
    cited = {reason.rule for _, reason in numbers}
    facts = ("name", "wire", "framing", "profile")
    return {
        "unit": "message" if explanation.is_stored else "chunk",
        "summary": _sentences(explanation),
        "cut": break_off(explanation),
        "answer": answer(explanation),
        "facts": [[name, getattr(explanation, name)] for name in facts],
        "seals": list(explanation.seals),
        "unknown": UNKNOWN if explanation.is_unknown else "",
        "owners": _owners(numbers),
        "reasons": [_reason(verdict) for verdict in numbers],
        "rules": {
            number: asdict(rule) for number, rule in rules().items() if number in cited
        },
        "wires": wire_links(),
        "dialects": f"{PAGES}sidecar/stream_sidecar/dialects/README.md",
        "steps": [
            {"chunk": step.chunk, "events": list(map(unstructure, step.events))}
            for step in explanation.steps
        ],
        "lanes": lanes,
        "message": unstructure(explanation.message),
    }


def _sentences(explanation: Explanation) -> list[tuple[int, str, str]]:
    """The first sentence, by the step from which on it holds."""
    if explanation.is_unknown:
        return [(0, "Nothing was understood.", "")]
    alike = groupby(sentences(explanation), key=itemgetter(1, 2))
    return [next(group) for _, group in alike]


def _owners(verdicts: Iterable[Verdict]) -> dict[Owner, str]:
    """Owner -> the kinds that its characters in this stream have."""
    kinds: dict[Owner, dict[str, None]] = {owner: {} for owner in OWNERS}
    for owner, reason in verdicts:
        kinds[owner][kind(owner, reason)] = None
    return {owner: ", ".join(names) for owner, names in kinds.items()}


def _reason(verdict: Verdict) -> dict[str, Any]:
    """The reason; ``of``: the owner that dropped characters would have; ``stays``: the
    characters look like protocol, but are the answer."""
    owner, reason = verdict
    facts = {"kind": kind(owner, reason), "of": content(owner, reason)}
    return {**asdict(reason), **facts, "stays": verdict == KEPT}


def _lane(lane: Lane, numbers: dict[Verdict, int]) -> dict[str, Any]:
    def row(fate: Fate) -> list[Any]:
        number = numbers.setdefault((fate.owner, fate.reason), len(numbers))
        return [fate.step, fate.owner, number, fate.seq]

    pieces = [
        [piece.text, piece.step, list(map(row, piece.fates))] for piece in lane.pieces
    ]
    return {"title": lane.title, "usual": lane.usual, "pieces": pieces}


def _read(name: str) -> str:
    return files("stream_sidecar.explain").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
