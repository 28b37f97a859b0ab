"""Pieces: what the splitter decided about each character of a channel's text.

A piece is ``(kind, text, start, end)``, with ``start`` and ``end`` in code points of
the raw channel. Every raw character is in exactly one piece with text. A piece without
text is a mark between characters. In a mark of kind ENTER, ``start`` is no position: it
is the number of characters of the answer that wait before the block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from stream_sidecar.forms.kinds import PieceKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


Piece: TypeAlias = tuple[PieceKind, str, int, int]
Pieces: TypeAlias = list[Piece]

FORM_KINDS = frozenset((PieceKind.CALL, PieceKind.RESULT, PieceKind.CITE))
"""Kinds of pieces that have a `Taken`, which describes the form."""

WRITTEN_KINDS = FORM_KINDS | {PieceKind.SEEN, PieceKind.FAILED}
"""Kinds of pieces that have an entry in ``verdicts`` of their reader."""

_MERGED_KINDS = {PieceKind.TEXT, PieceKind.REASONING}


def merged(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Joins adjacent pieces of text, and adjacent pieces of reasoning."""
    run: list[Piece] = []
    for piece in pieces:
        if run and (piece[0] is not run[0][0] or piece[2] != run[-1][3]):
            yield _join_pieces(run)
            run = []
        if piece[0] in _MERGED_KINDS:
            run.append(piece)
        else:
            yield piece
    if run:
        yield _join_pieces(run)


def _join_pieces(run: list[Piece]) -> Piece:
    if len(run) == 1:
        return run[0]
    return run[0][0], "".join([piece[1] for piece in run]), run[0][2], run[-1][3]
