"""The files of a folder that were not looked at, counted by their endings.

An empty file has nothing to look at. The files that SQLite keeps beside a database
belong to it. A link, and what is no regular file, is not counted.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from typing import TYPE_CHECKING

from stream_sidecar.records import define, field
from stream_sidecar.session_files.file_kinds import kind_at, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_MOST_ENDINGS = 12
"""So many endings are named; they come from files."""

_LONGEST_ENDING = 16
_BESIDE_DATABASES = ("-wal", "-shm", "-journal")


@define
class SkippedFiles:
    """``sealed`` counts databases and packed files, which may hold sessions."""

    sealed: Counter[str] = field(factory=Counter)
    others: Counter[str] = field(factory=Counter)

    def add(self, path: Path) -> None:
        """Counts a file, if there is something in it."""
        try:
            status = path.lstat()
            if not stat.S_ISREG(status.st_mode) or not status.st_size:
                return
            if _belongs_to_a_database(path):
                return
            kind = kind_at(path)
        except OSError:
            kind = kind_of(b"", path.name)
        ending = path.suffix.lower()[:_LONGEST_ENDING]
        if kind is None or not kind.may_hold_sessions:
            self.others[ending or "without an ending"] += 1
        elif ending in kind.endings:
            self.sealed[ending] += 1
        else:  # its ending does not say what it is
            self.sealed[f"{ending or 'without an ending'} ({kind.words})"] += 1

    def words(self) -> list[str]:
        """``3 .db``, ``12 .png``: first those that may hold sessions, then the most."""
        rows = [*_ordered(self.sealed), *_ordered(self.others)]
        words = [f"{number} {ending}" for ending, number in rows[:_MOST_ENDINGS]]
        excess = sum(number for _, number in rows[_MOST_ENDINGS:])
        return [*words, f"{excess} with other endings"] if excess else words


def _ordered(counts: Counter[str]) -> list[tuple[str, int]]:
    """The most first; names with the same number by themselves."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def skipped_files(paths: Iterable[Path]) -> SkippedFiles:
    skipped = SkippedFiles()
    for path in paths:
        skipped.add(path)
    return skipped


def _belongs_to_a_database(path: Path) -> bool:
    """Whether SQLite made the file beside a database that is there."""
    return any(
        path.name.endswith(end) and os.path.exists(str(path).removesuffix(end))
        for end in _BESIDE_DATABASES
    )
