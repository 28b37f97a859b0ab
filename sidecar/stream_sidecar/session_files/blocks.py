"""One large JSONL file on all cores: its lines in blocks, each read by a worker.

A line depends on the lines before it only through the results of tools. The process
that hands out the blocks looks for these results, and gives each block those before it.
The blocks come back in their order, so the reports, the removals and the new file are
the same as from one process.
"""

from __future__ import annotations

from collections import deque
from io import BytesIO
from typing import IO, TYPE_CHECKING, Any

from stream_sidecar import patterns
from stream_sidecar.history.documents import messages_in
from stream_sidecar.records import frozen
from stream_sidecar.session_files.documents import Made
from stream_sidecar.session_files.reports import FileReport, Tally, record_writer
from stream_sidecar.session_files.size_limits import LinePart, lines_of
from stream_sidecar.values.jsontext import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from stream_sidecar.history.history import History
    from stream_sidecar.session_files.documents import TextSession
    from stream_sidecar.session_files.files import Job

LARGE = 8_000_000
"""A file of so many bytes or more is worth further processes."""

_SIZE = 1 << 20
MAY_HOLD_RESULTS = patterns.compile(
    rb'"(?:tool["-]|function"|toolResult"|dynamic-tool"|function_?[rR]esponse"'
    rb'|observation"|tool_call_response"|\w*tool_result"|\w*_call_output"'
    rb'|gen_ai\.\w+put\.messages")|\\u00[2-7]'
)
"""Found in every line with a result of a tool, even if characters are escaped that need
no escape, or if the result is in a string of JSON. Every alternative begins with one
fixed character, for speed."""


@frozen
class LineBlock:
    """Whole lines of the file at ``path``, from the line ``first`` on. ``known`` are
    the results of tools before them. ``records_wanted``: the removals are needed."""

    path: Path
    job: Job
    data: bytes
    first: int
    known: tuple[Any, ...]
    records_wanted: bool


@frozen
class DoneLines:
    """A block that was read. ``new``: the text that replaces it, None if nothing
    changed. ``records``: its removals as lines of JSON."""

    report: FileReport
    new: bytes | None
    records: bytes


def read_block(block: LineBlock) -> DoneLines:
    made, path, records = Made(), block.path, BytesIO()
    record = record_writer(records if block.records_wanted else None)
    tally = Tally(FileReport(str(path)), record)
    history = block.job.history_of(path, block.known)
    session = block.job.session_of(path, history, tally, made, lambda _size: None)
    session.repair_lines(BytesIO(block.data), block.first)
    return DoneLines(tally.finish(), made.new, records.getvalue())


@frozen
class LinesOnAllCores:
    """Repairs the lines of a session of text. ``submit`` gives a block to a worker; at
    most ``ahead`` blocks wait at a time."""

    path: Path
    job: Job
    records: IO[bytes] | None
    submit: Callable[[LineBlock], Future[DoneLines]]
    ahead: int

    def __call__(self, session: TextSession, file: IO[bytes]) -> None:
        waiting: deque[tuple[bytes, Future[DoneLines] | LinePart]] = deque()
        for block in self._blocks(file, session.history):
            if isinstance(block, LineBlock):
                waiting.append((block.data, self.submit(block)))
            else:
                waiting.append(block)
            if len(waiting) >= self.ahead:
                self._take(session, *waiting.popleft())
        while waiting:
            self._take(session, *waiting.popleft())

    def _blocks(
        self, file: IO[bytes], history: History
    ) -> Iterator[LineBlock | tuple[bytes, LinePart]]:
        """The lines in blocks, and between them the pieces of lines that are too
        long."""
        lines: list[bytes] = []
        first, size = 1, 0
        for data, piece in lines_of(file):
            if piece is LinePart.LINE:
                lines.append(data)
                size += len(data)
                if size < _SIZE:
                    continue
            if lines:
                yield self._block(lines, first, history)
                first, lines, size = first + len(lines), [], 0
            if piece is not LinePart.LINE:
                yield data, piece
                first += piece is LinePart.TOO_LONG
        if lines:
            yield self._block(lines, first, history)

    def _block(self, lines: list[bytes], first: int, history: History) -> LineBlock:
        """A block, with the results that are known before it. Then ``history`` learns
        the results in the block."""
        known, data = history.known, b"".join(lines)
        records_wanted = self.records is not None
        for line in filter(MAY_HOLD_RESULTS.search, lines):
            _learn(history, line)
        return LineBlock(self.path, self.job, data, first, known, records_wanted)

    def _take(
        self, session: TextSession, data: bytes, future: Future[DoneLines] | LinePart
    ) -> None:
        if isinstance(future, LinePart):
            session.keep_piece(data, future)
            session.advance(len(data))
            return
        done = future.result()
        session.tally.include(done.report)
        if self.records is not None:
            self.records.write(done.records)
        if done.new is None:
            session.new.keep(data)
        else:
            session.new.change(done.new)
        session.advance(len(data))


def _learn(history: History, line: bytes) -> None:
    try:
        document = decode(line)
    except (ValueError, RecursionError):
        return
    for found in messages_in(document):
        history.learn(found.results)
