"""The pieces: what the splitter says of each character of a channel's text.

A piece is ``(kind, text, start, end)`` with ``start`` and ``end`` in code points of the
raw channel. Every raw character is in exactly one piece that has text; the pieces
without text are marks between them.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Kind(Enum):
    __hash__ = object.__hash__  # that of an enum is no C code, and kinds are keys

    #: visible text
    TEXT = 1
    #: reasoning
    REASONING = 2
    #: a delimiter that opened or closed a block, or deepened it
    DELIMITER = 3
    #: a delimiter without a partner in the answer
    STRAY = 4
    #: the part after a removal that would have completed a delimiter
    REBUILT = 5
    #: white space that goes with a removal
    BLANK = 6
    #: mark: a tagged block begins; ``ENTER_MID``: its opener stood in mid-sentence
    ENTER = 7
    ENTER_MID = 8
    #: mark: the tagged block is over
    EXIT = 9
    #: mark: a nested closer ended a block, reasoning goes on in a new one
    CUT = 10
    #: mark: what was visible since the last call was reasoning (close without open)
    REOPEN = 11
    #: mark: a hold was full and has been decided as at the end
    FULL = 12
    #: protocol without meaning: call section borders, stop tokens, orphan call closers
    MARK = 13
    #: a call written as text; this and the next three have a `Taken` of their own
    CALL = 14
    #: a tool's result written as text
    RESULT = 15
    #: a citation's marker
    CITE = 16
    #: mark: a call stands here, and its text stays (policy ``report``)
    SEEN = 17
    #: mark: what might have been a form was none; it has a `Failed`
    FAILED = 18


Piece: TypeAlias = tuple[Kind, str, int, int]
Pieces: TypeAlias = list[Piece]

_MERGED = {Kind.TEXT, Kind.REASONING}


def merged(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Joins neighbouring pieces of text and of reasoning that are contiguous."""
    run: list[Piece] = []
    for piece in pieces:
        if run and (piece[0] is not run[0][0] or piece[2] != run[-1][3]):
            yield _joined(run)
            run = []
        if piece[0] in _MERGED:
            run.append(piece)
        else:
            yield piece
    if run:
        yield _joined(run)


def _joined(run: list[Piece]) -> Piece:
    if len(run) == 1:
        return run[0]
    return run[0][0], "".join([piece[1] for piece in run]), run[0][2], run[-1][3]
