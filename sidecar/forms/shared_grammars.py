"""Grammars that several dialects share: JSON bodies, values up to their closer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sidecar.forms.call_bodies import calls_of, cut_calls
from sidecar.forms.form import Found
from sidecar.forms.grammar import ahead, literal, peek, scan, space, until
from sidecar.forms.kinds import PieceKind
from sidecar.values.relaxed import ObjectScanner

if TYPE_CHECKING:
    from collections.abc import Callable

    from sidecar.forms.call_bodies import Calls
    from sidecar.forms.form import Tier
    from sidecar.forms.grammar import Cursor, Extent, Reading
    from sidecar.forms.literals import Literals

NAME = re.compile(r"[\w.:/-]*+")


def optional(cursor: Cursor, *options: str) -> Reading[str]:
    """Reads one of ``options`` where it stands here."""
    found = yield from ahead(cursor, *options)
    cursor.at += len(found)
    return found


def markup(cursor: Cursor) -> Reading[Found]:
    """Matches nothing: its opener is text, and so is what closes it (``owes``)."""
    yield from ()
    raise cursor.mismatch(0)


def reasoning(cursor: Cursor, ends: Literals) -> Reading[Found]:
    """Words begin reasoning only where one of ``ends`` follows: alone they are text."""
    start = cursor.position
    yield from until(cursor, ends)
    cursor.at -= cursor.position - start
    return Found(PieceKind.ENTER)


def value(cursor: Cursor, closers: Literals, *follows: str) -> Reading[Extent]:
    """Reads a value up to the first of ``closers`` behind which one of ``follows``
    stands: a closer inside the value is data. What follows stays unread."""
    start = cursor.position
    while True:
        (_, end), closer = yield from until(cursor, closers)
        cursor.at += len(closer)
        yield from space(cursor)
        if (yield from ahead(cursor, *follows)):
            return start, end


def json_objects(cursor: Cursor, opener: str = "{[") -> Reading[Extent]:
    """Reads one JSON value and further ones behind white space, ``,`` or ``;``."""
    start, end = yield from scan(cursor, ObjectScanner(opener=opener))
    while True:
        yield from space(cursor)
        separator = yield from peek(cursor)
        if separator and separator in ",;":
            cursor.at += 1
            yield from space(cursor)
        elif separator != "{":
            return start, end
        _, end = yield from scan(cursor, ObjectScanner())


def json_calls(
    *closers: str,
    before: tuple[str, ...] = (),
    opener: str = "{[",
    keyed: bool = False,
    tier: Tier | None = None,
) -> Callable[[Cursor], Reading[Found]]:
    """A form with a JSON body: ``before`` may stand in front, ``closers`` behind.

    Without closers the form ends with its JSON.
    """

    def grammar(cursor: Cursor) -> Reading[Found]:
        yield from space(cursor)
        if before:
            yield from optional(cursor, *before)
            yield from space(cursor)
        start = cursor.position
        cursor.partial = lambda raw: cut_calls(raw[start:], start, keyed=keyed)
        if closers:
            start, end = yield from json_objects(cursor, opener)
            yield from literal(cursor, *closers)
        else:
            start, end = yield from scan(cursor, ObjectScanner(opener=opener))
        return Found(PieceKind.CALL, _reader(start, end, keyed), tier=tier)

    return grammar


def _reader(start: int, end: int, keyed: bool) -> Callable[[str], Calls]:
    return lambda raw: calls_of(raw[start:end], start, keyed=keyed)
