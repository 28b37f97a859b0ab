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
from stream_sidecar.session_files.documents import NewLines
from stream_sidecar.session_files.mends import UNMENDED, mended_lines
from stream_sidecar.session_files.reports import FileReport, Tally, record_writer
from stream_sidecar.session_files.size_limits import LinePart
from stream_sidecar.values.jsontext import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from concurrent.futures import Future
    from pathlib import Path

    from stream_sidecar.history.history import History
    from stream_sidecar.session_files.documents import TextSession
    from stream_sidecar.session_files.files import Job
    from stream_sidecar.session_files.mends import LineMend

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
    """Whole lines of the file at ``path``, the ``results`` of tools before them, and
    their ``mends``."""

    path: Path
    job: Job
    data: bytes
    first_line: int
    mends: Mapping[int, LineMend]
    results: tuple[Any, ...]
    wants_records: bool


@frozen
class RepairedLines:
    """A block that was read. ``new_data``: the text that replaces it, None if nothing
    changed. ``records``: its removals as lines of JSON."""

    report: FileReport
    new_data: bytes | None
    records: bytes


def read_block(block: LineBlock) -> RepairedLines:
    output, path, records = NewLines(), block.path, BytesIO()
    record = record_writer(records if block.wants_records else None)
    tally = Tally(FileReport(str(path)), record)
    history = block.job.history_of(path, block.results)
    session = block.job.session_of(
        path, history, tally, output, lambda _size: None, block.mends
    )
    session.repair_lines(BytesIO(block.data), block.first_line)
    return RepairedLines(tally.finish(), output.data, records.getvalue())


@frozen
class LinesOnAllCores:
    """Repairs the lines of a session of text. ``submit`` gives a block to a worker; at
    most ``most_waiting`` blocks wait at a time."""

    path: Path
    job: Job
    records: IO[bytes] | None
    submit: Callable[[LineBlock], Future[RepairedLines]]
    most_waiting: int

    def __call__(self, session: TextSession, file: IO[bytes]) -> None:
        waiting: deque[tuple[bytes, Future[RepairedLines] | LinePart]] = deque()
        for block in self._blocks(file, session):
            if isinstance(block, LineBlock):
                waiting.append((block.data, self.submit(block)))
            else:
                waiting.append(block)
            if len(waiting) >= self.most_waiting:
                self._finish(session, *waiting.popleft())
        while waiting:
            self._finish(session, *waiting.popleft())

    def _blocks(
        self, file: IO[bytes], session: TextSession
    ) -> Iterator[LineBlock | tuple[bytes, LinePart]]:
        """The lines in blocks, and between them parts of lines that are too long."""
        lines: list[tuple[int, bytes, LineMend]] = []
        size = 0
        for number, data, part, mend in mended_lines(file, session.mends):
            if part is LinePart.LINE:
                lines.append((number, data, mend))
                size += len(data)
                if size < _SIZE:
                    continue
            if lines:
                yield self._block(lines, session.history)
                lines, size = [], 0
            if part is not LinePart.LINE:
                yield data, part
        if lines:
            yield self._block(lines, session.history)

    def _block(
        self, lines: list[tuple[int, bytes, LineMend]], history: History
    ) -> LineBlock:
        """A block and the results before it. ``history`` learns those in the block."""
        results, data = history.known, b"".join(data for _, data, _ in lines)
        mends = {number: mend for number, _, mend in lines if mend is not UNMENDED}
        read = (line for _, data, mend in lines for line in mend.lines(data))
        for line in filter(MAY_HOLD_RESULTS.search, read):
            try:
                document = decode(line)
            except (ValueError, RecursionError):
                continue
            for message in messages_in(document):
                history.learn(message.results)
        wants_records = self.records is not None
        first = lines[0][0]
        return LineBlock(
            self.path, self.job, data, first, mends, results, wants_records
        )

    def _finish(
        self, session: TextSession, data: bytes, block: Future[RepairedLines] | LinePart
    ) -> None:
        if isinstance(block, LinePart):
            session.keep_part(data, block)
            session.advance(len(data))
            return
        repaired = block.result()
        session.tally.include(repaired.report)
        if self.records is not None:
            self.records.write(repaired.records)
        if repaired.new_data is None:
            session.output.keep(data)
        else:
            session.output.change(repaired.new_data)
        session.advance(len(data))
