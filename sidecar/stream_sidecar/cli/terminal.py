"""The output of the commands: the only module that knows the standard streams and rich.

A `Terminal` accepts only plain text, without markup and without objects of rich. It
escapes what could control a terminal (``stream_sidecar.values.printable``), so no
command can forget that. Styles are passed next to the text.
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

from stream_sidecar import patterns
from stream_sidecar.values.printable import in_lines, json_line, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

StyledText: TypeAlias = "str | tuple[str, str]"
"""Text, or text and its style: ``("error", "bold red")``."""


_ENDLESS = 1_000_000
"""The width at which nothing wraps, in columns."""

_NARROWEST = 16
"""The smallest width of a text, in columns."""

_GLUE = "\ud800"
"""Stands for a blank at which no line may end. Printed text has no half surrogates,
because they are escaped."""

_NUMBERS = patterns.compile(r"(?<!\S)(\d+) ")
"""A number and the blank before its noun."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Raises the usual error, which the command line handles in one place."""
        raise BrokenPipeError(EPIPE, os.strerror(EPIPE))


class Terminal:
    """Standard output: ``line``, ``body``, ``paragraph``, ``json`` and ``progress``."""

    def __init__(self) -> None:
        self._console = _Console(highlight=False, markup=False, emoji=False)
        if not self._console.is_terminal:
            self._console.width = _ENDLESS

    @property
    def is_screen(self) -> bool:
        """Whether the output is a terminal with a width, not a dumb one."""
        return self._console.is_terminal and not self._console.is_dumb_terminal

    @property
    def has_colours(self) -> bool:
        """Whether the output can show styles."""
        console = self._console
        return console.color_system is not None and not console.no_color

    def line(self, *pieces: StyledText) -> None:
        """Prints one line, which is not wrapped; line breaks in it are escaped."""
        styled = [(each, "") if isinstance(each, str) else each for each in pieces]
        text = Text.assemble(*((one_line(words), style) for words, style in styled))
        self._console.print(text, soft_wrap=True)

    def body(self, *pieces: StyledText) -> None:
        """Prints text of any number of lines: unchanged to a file or a pipe, escaped to
        a terminal, which wraps it in its own way."""
        styled = [(each, "") if isinstance(each, str) else each for each in pieces]
        if self._console.is_terminal:
            body = Text.assemble(*((in_lines(text), style) for text, style in styled))
            self._console.print(body, end="", soft_wrap=True)
        else:
            self._console.file.write("".join(text for text, _ in styled))
            self._console.file.flush()

    def json(self, document: bytes) -> None:
        """Prints a JSON document in UTF-8 on a separate line."""
        self._console.file.flush()
        sys.stdout.buffer.write(json_line(document) + b"\n")
        sys.stdout.flush()

    def paragraph(self, *pieces: StyledText, indent: int = 0) -> None:
        """Prints text that wraps at words on a terminal, but never after a number, with
        further lines indented by ``indent`` columns; elsewhere as one line."""
        styled = [(each, "") if isinstance(each, str) else each for each in pieces]
        text = Text.assemble(*((one_line(words), style) for words, style in styled))
        width = self._console.width - indent
        if not self.is_screen or width < _NARROWEST:
            self._console.print(text, soft_wrap=True)
            return
        margin, body = text[:indent], text[indent:]
        body.plain = _NUMBERS.sub(rf"\1{_GLUE}", body.plain)
        for line in body.wrap(self._console, width):
            line.rstrip()
            line.plain = line.plain.replace(_GLUE, " ")
            self._console.print(Text.assemble(margin, line), soft_wrap=True)
            margin = Text(" " * indent)

    @contextmanager
    def progress(self, words: str, total: int) -> Iterator[Callable[[int], None]]:
        """A progress bar on standard error, if that is a terminal. Call the result with
        the number of bytes that were read; ``total`` is the number of all bytes."""
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
        with progress.Progress(*columns, console=errors, transient=True) as bar:
            task = bar.add_task(one_line(words), total=total)
            yield lambda size: bar.advance(task, size)


def columns(text: str) -> int:
    """The width of a line of text in columns; some characters have two."""
    return cell_len(text)


def warn(text: str, kind: str = "Warning") -> None:
    """Prints a warning on standard error, on one line."""
    if sys.stderr is not None:  # Python's standard error writes each line at once
        sys.stderr.write(f"{kind}: {one_line(text)}\n")


def flush() -> None:
    """Writes everything that was printed; raises OSError if that fails."""
    if sys.stdout is not None:
        sys.stdout.flush()


def suppress_output() -> None:
    """Discards all further output, so that it cannot cause another error."""
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in filter(None, (sys.stdout, sys.stderr)):
        os.dup2(null, stream.fileno())


def prepare() -> None:
    """Makes standard output escape characters that its encoding lacks. Raises OSError
    if the parent process has closed standard output."""
    if sys.stdout is None:
        raise OSError(EBADF, "standard output is closed")
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
