"""How much of a session is in memory at once.

A line, a document, a cell, and compressed data in one of these are read whole, so each
has a largest size. What is larger is left as it is, and the report says so.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_LINE = 1 << 26
"""The most bytes of a line of JSONL."""

LARGEST_DOCUMENT = 1 << 28
"""The most bytes of a document (a whole file), of a cell, and of unpacked data."""


class CannotEditError(Exception):
    """Why a line, a cell or a file was not read, and stays as it is."""


def too_large(what: str, most: int) -> CannotEditError:
    return CannotEditError(f"{what} of more than {most / (1 << 20):g} MiB")


def read_whole(file: IO[bytes]) -> bytes:
    """The rest of a file; CannotEditError if it is too large."""
    data = file.read(LARGEST_DOCUMENT + 1)
    if len(data) > LARGEST_DOCUMENT:
        raise too_large("a document", LARGEST_DOCUMENT)
    return data


class LinePart(Enum):
    """What `lines_of` returns: a line, or a part of a line that is too long."""

    LINE = auto()
    TOO_LONG = auto()
    REST = auto()


def lines_of(file: IO[bytes]) -> Iterator[tuple[bytes, LinePart]]:
    """Yields the lines of a file. A line that is too long comes in parts: its
    beginning, then one or more further parts."""
    while data := file.readline(LONGEST_LINE + 1):
        if len(data) <= LONGEST_LINE:
            yield data, LinePart.LINE
            continue
        yield data, LinePart.TOO_LONG
        while not data.endswith(b"\n") and (data := file.readline(LONGEST_LINE)):
            yield data, LinePart.REST
