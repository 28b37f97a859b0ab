"""The pages of cases: where they lie, and how a case on them is read."""

from __future__ import annotations

import json
import re
from typing import Any

from attrs import frozen
from places import TESTS

RULES = TESTS.parent / "sidecar" / "stream_sidecar" / "text" / "README.md"


PAGES = [RULES, *sorted(TESTS.joinpath("spec").glob("*.md"))]


_FENCE = "`" * 32


_CASE = re.compile(
    rf"^(?:#+ (?P<name>[^\n]*)\n+(?P<why>(?:(?!#|`{{32}}).*\n)*))?"
    rf"{_FENCE} example(?P<params>[^\n]*)\n"
    rf"(?P<input>(?:(?!`{{32}}).*\n)*?)\.\n"
    rf"(?P<expected>(?:(?!`{{32}}).*\n)*?){_FENCE}$",
    re.MULTILINE,
)


_CODE_POINT = re.compile("‹([0-9A-F]+)›")


_SIGNS = str.maketrans({"→": "\t", "␍": "\r", "␠": " ", "␤": "\n"})


_DELTA = re.compile(r"(?:(\d+) )?delta (\{.*\})(?: (\w+))?")


@frozen
class Case:
    """One example; ``span`` is where its expected lines stand in its page."""

    name: str
    why: str
    params: dict[str, Any]
    close: dict[str, Any]
    chunks: list[Any]
    expected: list[str]
    span: tuple[int, int]


def cases_of(page: str) -> list[Case]:
    """The cases of a page's text, in order."""
    cases = []
    for match in _CASE.finditer(page):
        params = {"wire": "text", **json.loads(match["params"] or "{}")}
        close = params.pop("close", {})
        chunks = chunks_of(match["input"].removesuffix("\n"), params)
        expected = match["expected"].splitlines()
        name, why = match["name"] or "", match["why"] or ""
        cases.append(
            Case(name, why, params, close, chunks, expected, match.span("expected"))
        )
    return cases


def chunks_of(written: str, params: dict[str, Any]) -> list[Any]:
    """The chunks of an input: documents, one a line, or text."""
    if params["wire"] != "text" and "framing" not in params:
        return [_document(line) for line in written.splitlines()]
    return [_text(chunk) for chunk in written.split("¦")]


def _text(written: str) -> str:
    text = written.translate(_SIGNS)
    return _CODE_POINT.sub(lambda match: chr(int(match[1], 16)), text)


def _document(line: str) -> Any:
    delta = _DELTA.fullmatch(line)
    if delta is None:
        return json.loads(line)
    index, body, reason = delta.groups()
    choice = {"index": int(index or 0), "delta": json.loads(body)}
    return {"choices": [{**choice, "finish_reason": reason}]}
