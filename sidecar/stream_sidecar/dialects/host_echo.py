"""The host's own formats, which models imitate (``policy.echo``, text rule 12.5).

A marker at a line's start is removed with its line. A marker like ``[x]`` or ``<x>`` is
removed with the whole block, up to ``[/x]`` or ``</x>``. A result in the removed text
is reported. A prefix is removed at the answer's start. The word ``timestamp`` as a
marker or prefix stands for a date and a time in square brackets, with or without a
weekday or ``time`` before them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from stream_sidecar import patterns
from stream_sidecar.forms.form import Dialect, Form, Found, mark
from stream_sidecar.forms.grammar import EndedError, literals
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.values.relaxed import ObjectScanner, parse

if TYPE_CHECKING:
    from stream_sidecar.forms.grammar import Cursor, Reading
    from stream_sidecar.options import EchoPolicy

TIMESTAMP = "timestamp"
_TIME = patterns.compile(
    r"(?:time:? |[A-Z][a-z]{2,8},? )?"
    r"\d{4}-\d\d-\d\d(?:[T ,]+\d\d?:\d\d(?::\d\d)?(?:\.\d+)?)?\s*"
    r"(?:[AaPp][Mm]|Z|UTC|[A-Z]{3,4}|[+-]\d\d:?\d\d)?"
)
_LINE = patterns.compile(r"[^\r\n]*+")
_OPENER = patterns.compile(r"(\[|<)([^\[\]<>/\s][^\[\]<>/]*)(?:\]|>)")


@lru_cache(maxsize=64)
def host_forms(policy: EchoPolicy) -> Dialect | None:
    """The dialect of the formats that the host named, if any (text rule 12.5)."""
    forms = [_marker(literal) for literal in policy.markers if literal != TIMESTAMP]
    forms += [_prefix(literal) for literal in policy.prefixes if literal != TIMESTAMP]
    if TIMESTAMP in policy.markers:
        forms.append(_form("[", _stamp, "line"))
    if TIMESTAMP in policy.prefixes:
        forms.append(_form("[", _stamp, "start"))
    return Dialect("host-echo", forms=tuple(forms)) if forms else None


def _form(opener: str, grammar: Any, place: Any) -> Form:
    return Form(
        (opener,), grammar, tier="B", place=place, vague=True, about="leftovers"
    )


def _marker(marker: str) -> Form:
    """The form for a marker: the rest of its line, or the block that it opens."""
    block = _OPENER.fullmatch(marker)
    if block is None:
        return _form(marker, _line, "line")
    closer = f"{block[1]}/{block[2]}{marker[-1]}"

    def grammar(cursor: Cursor) -> Reading[Found]:
        yield from cursor.blanks()
        alone = (yield from cursor.peek()) in ("\n", "\r")
        end = yield from _until(cursor, closer, "\n")
        line = cursor.position
        if end == "\n" and alone:
            end = yield from _until(cursor, closer)
        if end != closer:  # the block has no closer: only the line is removed
            cursor.index -= cursor.position - line
            return _removal(len(marker), line)
        cursor.index += len(closer)
        return _removal(len(marker), cursor.position - len(closer))

    return _form(marker, grammar, "line")


def _until(cursor: Cursor, *closers: str) -> Reading[str]:
    """Reads up to the first of ``closers``, which it returns; "" at the text's end."""
    try:
        return (yield from cursor.until(literals(*closers)))[1]
    except EndedError:
        return ""


def _line(cursor: Cursor) -> Reading[Found]:
    yield from cursor.run(_LINE)
    return _removal(len(cursor.opener), cursor.position)


def _removal(start: int, end: int) -> Found:
    """A result if the text from ``start`` to ``end`` has one, else text to remove."""
    return Found(PieceKind.RESULT, lambda raw: result_in(raw[start:end]))


def result_in(text: str) -> Any:
    """The first JSON object in ``text``; None if there is none."""
    start = text.find("{")
    if start >= 0:
        scanner = ObjectScanner()
        end = scanner.scan(text, start)
        if scanner.state == "whole":
            return parse(text[start:end])
    return None


def _prefix(prefix: str) -> Form:
    def grammar(cursor: Cursor) -> Reading[Found]:
        yield from cursor.blanks()
        return mark()

    return _form(prefix, grammar, "start")


def _stamp(cursor: Cursor) -> Reading[Found]:
    text = yield from cursor.before("]")
    if _TIME.fullmatch(text.strip()) is None:
        raise cursor.mismatch(0)
    yield from cursor.blanks()
    return mark()
