"""What a provider's words about a refused history mean: the table ``refusals.csv``.

A row is a rule of a provider: its ``number`` on the page "My session does not resume",
the name of the ``rule``, which is the same with every provider, the ``wire``, a pattern
for the ``provider`` ("" for all), the literal ``text`` and what mends it. In the text,
``ID``, ``NAME``, ``N``, ``M``, ``K``, ``...`` and digits stand for what varies.

`refusal_in` finds the row whose text is in a message. The text may be in JSON inside
JSON, and have other words around it. Only literal text is searched, in linear time.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.parts import Refusal
from stream_sidecar.provider_errors.kinds import WINDOW
from stream_sidecar.records import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

_VARIES = patterns.compile(
    r"(?<![A-Za-z])(?:ID|NAME|N|M|K)(?![A-Za-z])|(?<=_)ID|\.\.\.|\d+"
)
_MARKS = patterns.compile(r"[\\`]")
_BLANKS = patterns.compile(r"\s{1,64}")
_WIDEST = 512
"""The most code points that stand for what varies, such as a list of ids."""

_SHORTEST = 12
"""A text that has no literal part of this length would be found anywhere."""

_PLACE = patterns.compile(
    r"\b(?:messages|input|contents)(?:\.\d{1,6}|\[\d{1,6}\])"
    r"(?:\.[A-Za-z_][A-Za-z_0-9]{0,63}|\.\d{1,6}|\[\d{1,6}\]){0,16}"
)
_STEP = patterns.compile(r"[A-Za-z_0-9]{1,64}")
_TAGS = frozenset(
    (
        "assistant",
        "image",
        "redacted_thinking",
        "server_tool_use",
        "thinking",
        "tool_result",
        "tool_use",
    )
)
_UNION = ("content", "messages")
"""A step of ``_TAGS`` after an index of these lists names the kind of what is there: it
is no member (``messages.3.content.1.tool_use.id``)."""

_UNDERSCORE = patterns.compile(r"_([a-z])")
_ID = patterns.compile(r"[A-Za-z0-9_.:|-]{1,200}")


@frozen
class RefusalText:
    """A row of the table."""

    number: int
    rule: str
    wire: str
    provider: str
    text: str
    mend: str


@cache
def refused_rows() -> tuple[RefusalText, ...]:
    """The rows of ``refusals.csv``. One without a text has no words of its own."""
    import csv  # both are imported late, for a fast start
    from pkgutil import get_data

    data = get_data("stream_sidecar.provider_errors", "refusals.csv")
    assert data is not None, "an importer that cannot give files"
    table = csv.reader(data.decode().splitlines()[1:])
    return tuple(RefusalText(int(number), *row) for number, *row in table)


def row_of(rule: str, wire: str, provider: str) -> RefusalText | None:
    """The row for a rule that is broken in a request: of this provider, else one for
    every provider of the wire, else any of the wire."""
    rows = [row for row in refused_rows() if row.rule == rule and row.wire == wire]
    named = (row for row in rows if row.provider and _names(row.provider, provider))
    of_all = (row for row in rows if not row.provider)
    return next(named, None) or next(of_all, None) or next(iter(rows), None)


def _names(pattern: str, provider: str) -> bool:
    return any(name in provider.lower() for name in pattern.split("|"))


def refusal_in(message: str) -> Refusal | None:
    """The rule that the provider's ``message`` is about; None if it is about none.
    Of several texts in it, the longest counts."""
    text = _plain(message[:WINDOW])
    best: tuple[int, RefusalText, dict[str, str]] | None = None
    for size, row, literals, gaps in _searched():
        if best is None or size > best[0]:
            found = _found(text, literals, gaps)
            if found is not None:
                best = (size, row, found)
    if best is None:
        return None
    _, row, found = best
    id = _ID.search(found.get("ID", ""))
    return Refusal(row.rule, _pointer(text), id.group() if id else None)


def _plain(text: str) -> str:
    """``text`` without marks of escapes and code, each run of blanks as one."""
    return _BLANKS.sub(" ", _MARKS.sub("", text))


@cache
def _searched() -> tuple[
    tuple[int, RefusalText, tuple[str, ...], tuple[str, ...]], ...
]:
    """For each row: how much of its text is literal, the row, its literal parts and
    what stands between them. The longest first."""
    return tuple(sorted(_parts(), key=lambda each: -each[0]))


def _parts() -> Iterator[tuple[int, RefusalText, tuple[str, ...], tuple[str, ...]]]:
    for row in refused_rows():
        text = _plain(_PLACE_WORDS.sub("", row.text))
        literals = tuple(_VARIES.split(text))
        gaps = tuple(match.group() for match in _VARIES.finditer(text))
        if max(map(len, literals)) >= _SHORTEST:
            yield sum(map(len, literals)), row, literals, gaps


_PLACE_WORDS = patterns.compile(r"^messages(?:\.[NMK0](?:\.content)?){1,3}(?::|\.) ?")
"""The place at the beginning of a text, which `_PLACE` reads."""


def _found(
    text: str, literals: tuple[str, ...], gaps: tuple[str, ...]
) -> dict[str, str] | None:
    """What stands in the ``gaps`` if ``text`` has all ``literals`` in their order, near
    each other; else None. The search begins with the longest."""
    longest = max(range(len(literals)), key=lambda number: len(literals[number]))
    start = text.find(literals[longest])
    if start < 0:
        return None
    found: dict[str, str] = {}
    end = start
    for number in range(longest - 1, -1, -1):
        begin = text.rfind(literals[number], max(0, end - _WIDEST), end)
        if begin < 0:
            return None
        found[gaps[number]] = text[begin + len(literals[number]) : end]
        end = begin
    end = start + len(literals[longest])
    for number in range(longest + 1, len(literals)):
        limit = end + _WIDEST + len(literals[number])
        last = not literals[number]
        begin = min(len(text), end + _WIDEST) if last else -1
        begin = begin if last else text.find(literals[number], end, limit)
        if begin < 0:
            return None
        found.setdefault(gaps[number - 1], text[end:begin])
        end = begin + len(literals[number])
    return found


def _pointer(text: str) -> str | None:
    """The place that a message names, as a JSON Pointer."""
    place = _PLACE.search(text)
    if place is None:
        return None
    steps: list[str] = []
    for step in _STEP.findall(place.group()):
        is_tag = step in _TAGS and len(steps) > 1 and steps[-2] in _UNION
        if not is_tag:
            steps.append(step)
    if steps[0] == "contents":  # Google names members as its messages have them
        steps = [_UNDERSCORE.sub(lambda m: m.group(1).upper(), step) for step in steps]
    return "".join(f"/{step}" for step in steps)
