"""Where the commands write: the one place that knows the standard streams and rich.

A `Terminal` takes plain text and nothing else, neither markup nor anything of rich,
and makes it harmless on the way (``stream_sidecar.values.printable``); so no command
can forget it. Styles are given beside the text.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from errno import EBADF, EPIPE
from io import TextIOWrapper
from typing import TYPE_CHECKING, TypeAlias

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from stream_sidecar.values.printable import in_lines, json_line, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

StyledText: TypeAlias = "str | tuple[str, str]"
"""Text, or text and its style: ``("error", "bold red")``."""


_ENDLESS = 1_000_000
"""Columns of a page that wraps nothing."""

_NARROWEST = 16
"""Columns that a text has at least."""

_GAP = "  "

Row: TypeAlias = "tuple[str, Sequence[str], str]"
"""Of a table: the name of its group, its cells, and a note on it."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """The command line knows what that means, here as anywhere else."""
        raise BrokenPipeError(EPIPE, os.strerror(EPIPE))


class Terminal:
    """Standard output: ``line``, ``body``, ``table``, ``json`` and ``progress``."""

    def __init__(self) -> None:
        self._console = _Console(highlight=False, markup=False, emoji=False)
        if not self._console.is_terminal:
            self._console.width = _ENDLESS

    @property
    def is_screen(self) -> bool:
        """Whether it has a width: neither a file or a pipe, nor a terminal that can
        nothing."""
        return self._console.is_terminal and not self._console.is_dumb_terminal

    @property
    def has_colours(self) -> bool:
        """Whether a style can be seen."""
        console = self._console
        return console.color_system is not None and not console.no_color

    def line(self, *pieces: StyledText) -> None:
        """One line, whatever is in its pieces; not wrapped."""
        reported = [(each, "") if isinstance(each, str) else each for each in pieces]
        text = Text.assemble(*((one_line(words), style) for words, style in reported))
        self._console.print(text, soft_wrap=True)

    def body(self, *pieces: StyledText) -> None:
        """Text of any number of lines: as it is to a file or a pipe, harmless to a
        terminal, which breaks it as it does."""
        reported = [(each, "") if isinstance(each, str) else each for each in pieces]
        if self._console.is_terminal:
            shown = Text.assemble(
                *((in_lines(text), style) for text, style in reported)
            )
            self._console.print(shown, end="", soft_wrap=True)
        else:
            self._console.file.write("".join(text for text, _ in reported))
            self._console.file.flush()

    def json(self, document: bytes) -> None:
        """A JSON document in UTF-8 on a line of its own."""
        self._console.file.flush()
        sys.stdout.buffer.write(json_line(document) + b"\n")
        sys.stdout.flush()

    def paragraph(self, *pieces: StyledText, indent: int = 0) -> None:
        """Text that a terminal wraps at words, under the ``indent`` of its first line;
        a file or a pipe gets it as a line."""
        reported = [(each, "") if isinstance(each, str) else each for each in pieces]
        text = Text.assemble(*((one_line(words), style) for words, style in reported))
        width = self._console.width - indent
        if not self.is_screen or width < _NARROWEST:
            self._console.print(text, soft_wrap=True)
            return
        first, rest = text[:indent], text[indent:]
        for line in rest.wrap(self._console, width):
            line.rstrip()
            self._console.print(Text.assemble(first, line), soft_wrap=True)
            first = Text(" " * indent)

    def table(self, heads: Sequence[str], rows: Iterable[Row]) -> None:
        """A table, each cell one line; columns of numbers have heads that begin with
        #. The last cell of a row is a note on it.

        A terminal gets the groups of rows indented under their names; first cells that
        are too long lose their middle, and notes stand below their rows. A file or a
        pipe gets a line for each row, however long it is, with the notes as its last
        column if there are any.
        """
        rows = [*rows]
        has_notes = not self.is_screen and any(note for _, _, note in rows)
        heads = heads if has_notes else heads[:-1]
        rows = [self._placed(row, has_notes=has_notes) for row in rows]
        shown = [(group, [*map(one_line, cells)], note) for group, cells, note in rows]
        names = [head.removeprefix("#") for head in heads]
        cells_by_row = [names, *(cells for _, cells, _ in shown)]
        widths = [
            max(map(cell_len, column)) for column in zip(*cells_by_row, strict=True)
        ]
        others = sum(width + len(_GAP) for width in widths[1:])
        widths[0] = max(_NARROWEST, min(widths[0], self._console.width - others))
        columns = [*zip(heads, widths, strict=True)]
        self.line((_row(columns, names), "dim"))
        last = ""
        for group, cells, note in shown:
            if group not in ("", last):
                self.line((group, "bold"))
            last = group
            self.line(_row(columns, cells))
            if note:
                self.paragraph(f"    {note}", indent=4)

    def _placed(self, row: Row, *, has_notes: bool) -> Row:
        """A row as a line of its own, or with the indent that its group gives it."""
        group, (first, *cells), note = row
        if self.is_screen:
            return group, (f"{_GAP if group else ''}{first}", *cells), note
        return "", (f"{group}{first}", *cells, *([note] if has_notes else [])), ""

    @contextmanager
    def progress(self, words: str, total: int) -> Iterator[Callable[[int], None]]:
        """Shows on standard error, if it is a terminal, how many bytes of ``total``
        were told to what it gives."""
        errors = Console(stderr=True)
        if not errors.is_terminal:
            yield lambda _size: None
            return
        from rich import progress

        columns = (
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(),
            progress.DownloadColumn(),
            progress.TransferSpeedColumn(),
            progress.TimeRemainingColumn(),
        )
        with progress.Progress(*columns, console=errors, transient=True) as shown:
            task = shown.add_task(one_line(words), total=total)
            yield lambda size: shown.advance(task, size)


def _row(columns: Sequence[tuple[str, int]], cells: Sequence[str]) -> str:
    """The cells in their ``columns``, each a head and a width."""
    padded = []
    for (head, width), cell in zip(columns, cells, strict=True):
        text = _elided(cell, width)
        blanks = " " * (width - cell_len(text))
        padded.append(f"{blanks}{text}" if head.startswith("#") else f"{text}{blanks}")
    return _GAP.join(padded).rstrip()


def _elided(text: str, width: int) -> str:
    """``text`` without its middle where it takes more columns."""
    if cell_len(text) <= width:
        return text
    tail = (width - 1) // 2
    end = text[-tail:]
    while cell_len(end) > tail:
        end = end[1:]
    return f"{set_cell_size(text, width - 1 - cell_len(end))}…{end}"


def columns(text: str) -> int:
    """How many columns a line of text takes; some characters take two."""
    return cell_len(text)


def flush() -> None:
    """All that was printed goes out now; OSError where it cannot."""
    if sys.stdout is not None:
        sys.stdout.flush()


def suppress_output() -> None:
    """Nothing of what is left to be printed is a reason to complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in filter(None, (sys.stdout, sys.stderr)):
        os.dup2(nowhere, stream.fileno())


def prepare() -> None:
    """Lets standard output show characters that its encoding lacks as escapes; OSError
    where whoever started the process has closed it."""
    if sys.stdout is None:
        raise OSError(EBADF, "standard output is closed")
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
