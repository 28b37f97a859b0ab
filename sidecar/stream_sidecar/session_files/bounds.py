"""How much of a session is in memory at once.

A line, a document, a cell and what is compressed in one of them are read whole, so each
has a largest size. What is larger is left as it is, and the report says so.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_LINE = 1 << 26
"""Bytes of a line of JSONL."""

LARGEST_DOCUMENT = 1 << 28
"""Bytes of a document of its own, of a cell, and of what is unpacked."""


class CannotEditError(Exception):
    """Why a line, a cell or a file stays as it is, and was not read."""


def too_large(what: str, most: int) -> CannotEditError:
    """That ``what`` has more than so many bytes."""
    return CannotEditError(f"{what} of more than {most / (1 << 20):g} MiB")


def read_whole(file: IO[bytes]) -> bytes:
    """What is left of a file; CannotEditError where that is too large."""
    data = file.read(LARGEST_DOCUMENT + 1)
    if len(data) > LARGEST_DOCUMENT:
        raise too_large("a document", LARGEST_DOCUMENT)
    return data


class LinePart(Enum):
    """What of a file `lines_of` gives: a line, or a part of one that is too long."""

    LINE = auto()
    TOO_LONG = auto()
    REST = auto()


def lines_of(file: IO[bytes]) -> Iterator[tuple[bytes, LinePart]]:
    """The lines of a file; of one that is too long the beginning, then its rest."""
    while data := file.readline(LONGEST_LINE + 1):
        if len(data) <= LONGEST_LINE:
            yield data, LinePart.LINE
            continue
        yield data, LinePart.TOO_LONG
        while not data.endswith(b"\n") and (data := file.readline(LONGEST_LINE)):
            yield data, LinePart.REST
