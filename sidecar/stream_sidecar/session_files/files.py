"""One session file of any format: which format it is, and its repair.

`repair_file` never raises for what is in a file, or for what happens to the file
meanwhile: the report says why the file was left alone.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.history.chat_logs import is_chat_log
from stream_sidecar.history.documents import BY_LINE, WHOLE
from stream_sidecar.history.history import History, Readings
from stream_sidecar.history.lineage import RecordsAfterEdits
from stream_sidecar.options import StreamOptions
from stream_sidecar.records import field, frozen
from stream_sidecar.session_files import surrounding_files, tables
from stream_sidecar.session_files.backups import copied, drop
from stream_sidecar.session_files.documents import (
    Stopped,
    TextSession,
    lines_before_seals,
)
from stream_sidecar.session_files.file_kinds import DATABASES, kind_at
from stream_sidecar.session_files.found_files import FoundFiles
from stream_sidecar.session_files.manifest import noted_in
from stream_sidecar.session_files.names import backup_of
from stream_sidecar.session_files.new_file import CannotReplaceError
from stream_sidecar.session_files.replacing import FileChangedError, Replacement
from stream_sidecar.session_files.reports import FileReport, Tally
from stream_sidecar.session_files.resumption import Resumption
from stream_sidecar.session_files.size_limits import CannotEditError
from stream_sidecar.session_files.stored_sessions import SessionJudge
from stream_sidecar.session_files.surrounding_files import SurroundingFiles
from stream_sidecar.values.jsontext import loads

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stream_sidecar.history.lineage import RecordsBeforeSeals
    from stream_sidecar.history.removals import Wants
    from stream_sidecar.history.spans import RemovedSpan
    from stream_sidecar.session_files.documents import Advance, Output
    from stream_sidecar.session_files.layouts import TableLayout
    from stream_sidecar.session_files.mends import LineMend

_LOGS = ("md",)
_PACKED = ("zst",)
SUFFIXES = frozenset(
    f".{ending}" for ending in (*BY_LINE, *WHOLE, *DATABASES, *_LOGS, *_PACKED)
)
"""Endings of files that may be sessions."""

_SQLITE = b"SQLite format 3\0"
_ZSTD = b"\x28\xb5\x2f\xfd"
NO_MEMORY = "it does not fit into the memory"

_HEAD = 1 << 16
_JSON = patterns.compile(rb"(?:\xef\xbb\xbf)?\s*+[\[{]")
"""How a document with messages begins."""


@frozen
class Job:
    """What to do with every file. ``layout`` of None: all presets that fit. ``kinds``:
    the kinds of findings that count, None for all. ``wants`` decides for every removal
    in a file whether it is made. ``unseal``: text that a seal is bound to is edited,
    and the seals that this breaks are taken out. ``wants_mend`` decides for every
    finding that an edit of the file mends, given as in a report, whether it is made."""

    options: StreamOptions = field(factory=StreamOptions)
    layout: TableLayout | None = None
    write: bool = False
    wants: Callable[[Path, RemovedSpan], bool] | None = None
    wants_mend: Callable[[dict[str, Any]], bool] | None = None
    kinds: frozenset[str] | None = None
    unseal: bool = False

    def history_of(self, path: Path, results: Iterable[Any] = ()) -> History:
        """A new history for the file at ``path``, which knows earlier ``results``."""
        wants = self.wants_in(path)
        return History(self.options, wants, results, self._readings, self.kinds)

    def session_of(
        self,
        path: Path,
        history: History,
        tally: Tally,
        output: Output,
        advance: Advance,
        mends: Mapping[int, LineMend],
    ) -> TextSession:
        """What repairs the session of text at ``path``, and makes its ``mends``."""
        damaged = frozenset(pair for pair in mends.items() if pair[1].new is not None)
        return TextSession(
            history=history,
            tally=tally,
            output=output,
            advance=advance,
            surroundings=SurroundingFiles(path),
            before_seals=partial(
                _lines_before_seals, path, self.options.model, damaged
            ),
            after_edits=RecordsAfterEdits() if self.unseal else None,
            mends=mends,
        )

    def wants_in(self, path: Path) -> Wants | None:
        return None if self.wants is None else partial(self.wants, path)

    @cached_property
    def _readings(self) -> Readings:
        """Shared by all sessions, because making them takes long."""
        return Readings(self.options)


@lru_cache(maxsize=2)
def _lines_before_seals(
    path: Path, model: str | None, mends: frozenset[tuple[int, LineMend]]
) -> RecordsBeforeSeals:
    """`lines_before_seals`, read once for all blocks of a file."""
    return lines_before_seals(path, model, dict(mends))


def forget() -> None:
    """Forgets what was read of files, which may have changed."""
    surrounding_files.forget()
    _lines_before_seals.cache_clear()


RepairLines: TypeAlias = Callable[[TextSession, IO[bytes]], None]


def repair_file(
    path: Path,
    job: Job,
    advance: Advance,
    record: Callable[[dict[str, Any]], None] | None = None,
    repair_lines: RepairLines = TextSession.repair_lines,
) -> FileReport:
    """Repairs one file, or reports what would be repaired. ``repair_lines`` repairs the
    lines of JSONL.

    ``advance`` gets the number of bytes read, ``record`` gets every removal. If
    ``advance`` raises `Stopped`, the file stays unchanged.
    """
    report = FileReport(str(path))
    tally = Tally(report, record)
    try:
        report.format = format_of(path)
        if job.write and _is_backup(path):
            raise CannotReplaceError("it is a backup, which --restore puts back")
        if report.format == "sqlite":
            _repair_database(path, job, tally, advance)
        elif report.format != "jsonl.zst" and (kind := kind_at(path)) is not None:
            report.leave(kind.sentence)  # whatever its ending says
        elif report.format:
            _repair_text(path, job, tally, advance, repair_lines)
    except Stopped:
        report.stopped = True
    except CannotEditError as error:
        report.leave(str(error))
    except MemoryError:
        report.error = NO_MEMORY
    except (OSError, sqlite3.Error, FileChangedError, CannotReplaceError) as error:
        report.error = f"{error}" or type(error).__name__
    return tally.finish()


def _is_backup(path: Path) -> bool:
    """Whether the file is on the list of backups of its folder. The list may have
    thousands of lines, and is read only for a name that a backup can have."""
    return backup_of(path.name) is not None and path.name in noted_in(path.parent)


def format_of(path: Path) -> str:
    """``sqlite``, ``jsonl``, ``jsonl.zst``, ``json`` or ``markdown``, by the head of
    the file and by its name; "" if it is none of them.

    OSError if the file is not a regular one: reading a pipe might never end.
    """
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise OSError(f"the folder {path} cannot be read")
    if not stat.S_ISREG(mode):
        raise OSError(f"{path} is not a regular file")
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if head.startswith(_SQLITE):
        return "sqlite"
    if head.startswith(_ZSTD):
        return "jsonl.zst" if path.name.endswith(".jsonl.zst") else ""
    if path.suffix.removeprefix(".") in BY_LINE:
        return "jsonl"
    if is_chat_log(path.name, head.decode("utf-8", "replace")):
        return "markdown"
    line, _, more_lines = head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")
    with suppress(ValueError, RecursionError):
        if more_lines.strip() and isinstance(loads(line.decode("utf-8")), dict):
            return "jsonl"
    may_be_json = path.suffix.removeprefix(".") in WHOLE or _JSON.match(head)
    return "json" if may_be_json else ""


_REPAIRS: dict[str, RepairLines] = {
    "jsonl.zst": TextSession.repair_packed_lines,
    "json": TextSession.repair_whole,
    "markdown": TextSession.repair_chat_log,
}


def _repair_text(
    path: Path, job: Job, tally: Tally, advance: Advance, repair_lines: RepairLines
) -> None:
    history = job.history_of(path)

    def repair(file: IO[bytes], output: Output) -> None:
        resumption = Resumption(
            tally,
            SurroundingFiles(path),
            partial(advance, 0),
            job.kinds,
            job.wants_mend,
        )
        mends = resumption.mends_of(file, tally.report.format)
        session = job.session_of(path, history, tally, output, advance, mends)
        _REPAIRS.get(tally.report.format, repair_lines)(session, file)

    if not job.write:
        with path.open("rb") as file:
            repair(file, _Unwritten())
        return
    with Replacement(path) as replacement:
        with path.open("rb") as file:
            replacement.begin(file)
            repair(file, replacement)
        if replacement.changed:
            tally.report.backup = replacement.commit()
            tally.report.written = True
            tally.report.writers_unknown = replacement.writers_unknown


def _repair_database(path: Path, job: Job, tally: Tally, advance: Advance) -> None:
    layouts = tables.layouts_of(path) if job.layout is None else (job.layout,)
    if not layouts:
        raise sqlite3.Error("no known layout: use --table and --column")
    if job.layout is not None and (missing := tables.missing_in(path, job.layout)):
        names = ", ".join(sorted(missing))
        raise sqlite3.Error(f"the table {job.layout.table} has no column {names}")
    answers = Answers(job.wants_in(path))
    mends = None if job.wants_mend is None else Answers(job.wants_mend)
    repair = partial(
        tables.repair_tables,
        path,
        layouts,
        partial(History, job.options, answers, kinds=job.kinds),
        judge=SessionJudge(job.kinds, mends),
        unseal=job.unseal,
    )
    repair(tally, advance, write=False)
    report = tally.finish()
    is_mended = report.mendable and (mends is None or mends.has_agreed)
    if job.write and (report.repairable or is_mended):
        backup = copied(path, lambda new: tables.copy_database(path, new.name, advance))
        for each in filter(None, (answers, mends)):
            each.repeat()
        try:
            silent = Tally(FileReport(str(path)), None)
            is_written = repair(silent, lambda _size: advance(0), write=True)
            if not is_written:  # somebody else has repaired it meanwhile
                raise FileChangedError("the rows were changed meanwhile")
            tally.report.written = True
            # As for a file that was replaced: a later write changes its time.
            changed = path.stat().st_mtime_ns
            os.utime(backup, ns=(changed, changed))
        except (OSError, sqlite3.Error, FileChangedError, Stopped):
            drop(backup)
            raise
        tally.report.backup = str(backup)


class Answers:
    """Asks ``wants`` about each removal. After ``repeat``, gives the same answers again
    in the same order, for the same removals."""

    def __init__(self, wants: Callable[[Any], bool] | None) -> None:
        self._wants = wants
        self._answers: deque[bool] = deque()
        self._repeats = False

    @property
    def has_agreed(self) -> bool:
        """Whether a removal was accepted."""
        return any(self._answers)

    def repeat(self) -> None:
        self._repeats = True

    def __call__(self, removal: Any) -> bool:
        if self._wants is None:
            return True
        if self._repeats:  # without an answer: the cells have changed meanwhile
            return bool(self._answers) and self._answers.popleft()
        self._answers.append(self._wants(removal))
        return self._answers[-1]


class _Unwritten:
    """In place of a `Replacement`: writes nothing."""

    def keep(self, data: bytes) -> None: ...

    def change(self, data: bytes) -> None: ...


def find_files(path: Path, layout: TableLayout | None = None) -> FoundFiles:
    """The files that ``path`` means: itself, or the files of a folder that may be
    sessions, and the folders in it that cannot be read. Files are chosen by suffix,
    Markdown also by content, databases by ``layout`` or the presets. The other files of
    the folder are ``skipped``."""
    if not path.is_dir():
        return FoundFiles([path])
    inner = FoundFiles()
    inner.add_below(path, lambda name: Path(name).suffix in SUFFIXES, path)
    files = [file for file in inner.files if _may_be_session(file, layout)]
    skipped = [*inner.skipped, *({*inner.files} - {*files})]
    return FoundFiles([*inner.unread, *files], inner.leaving, skipped=skipped)


def identity_of(path: Path) -> tuple[int, int] | str:
    """What identifies a file under any of its names, in any case of its letters."""
    try:
        status = path.stat()
    except OSError:
        return str(path)
    return (status.st_dev, status.st_ino)


def _may_be_session(path: Path, layout: TableLayout | None) -> bool:
    """True for an unreadable file, too: its report says why it cannot be read."""
    try:
        kind = format_of(path)
        if kind != "sqlite":
            return bool(kind)
        if layout is None:
            return bool(tables.layouts_of(path))
        return not tables.missing_in(path, layout)
    except (OSError, sqlite3.Error):
        return True
