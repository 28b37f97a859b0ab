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

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from stream_sidecar.values.printable import in_lines, json_line, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

StyledText: TypeAlias = "str | tuple[str, str]"
"""Text, or text and its style: ``("error", "bold red")``."""


_ENDLESS = 1_000_000
"""Columns of a page that wraps nothing."""


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
    def has_colours(self) -> bool:
        """Whether a style can be seen."""
        console = self._console
        return console.color_system is not None and not console.no_color

    def line(self, *pieces: StyledText) -> None:
        """One line, whatever is in its pieces; not wrapped."""
        told = [(each, "") if isinstance(each, str) else each for each in pieces]
        text = Text.assemble(*((one_line(words), style) for words, style in told))
        self._console.print(text, soft_wrap=True)

    def body(self, text: str, style: str = "") -> None:
        """Text of any number of lines, without a line break of its own: as it is to a
        file or a pipe, harmless to a terminal."""
        if self._console.is_terminal:
            shown = Text(in_lines(text), style=style)
            self._console.print(shown, end="", soft_wrap=True)
        else:
            self._console.file.write(text)
            self._console.file.flush()

    def json(self, document: bytes) -> None:
        """A JSON document in UTF-8 on a line of its own."""
        self._console.file.flush()
        sys.stdout.buffer.write(json_line(document) + b"\n")
        sys.stdout.flush()

    def table(self, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """A table, each cell one line; columns of numbers have heads that begin with
        #. A file or a pipe gets a line for each row, however long it is."""
        from rich.table import Table

        table = Table(box=None, pad_edge=False)
        for head in heads:
            is_number = head.startswith("#")
            table.add_column(
                Text(one_line(head.removeprefix("#"))),
                justify="right" if is_number else "left",
                no_wrap=is_number,
                overflow="fold",
            )
        for row in rows:
            table.add_row(*(Text(one_line(cell)) for cell in row))
        self._console.print(table)

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


def columns(text: str) -> int:
    """How many columns a line of text takes; some characters take two."""
    return cell_len(text)


def flush() -> None:
    """All that was printed goes out now; OSError where it cannot."""
    if sys.stdout is not None:
        sys.stdout.flush()


def hush() -> None:
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
