"""Files below a folder, and the links that lead out of it.

A link to something in the folder adds nothing. A link out of the folder is reported and
not followed, because nobody asked for what is there. Backups and other files that are
made beside sessions are never found.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from stream_sidecar.records import field, frozen
from stream_sidecar.session_files.names import is_made_by_repair

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@frozen
class FoundFiles:
    """``leaving``: links out of the folder, which were not followed; ``unread``:
    folders that cannot be read; ``skipped``: files that were not wanted."""

    files: list[Path] = field(factory=list)
    leaving: list[Path] = field(factory=list)
    unread: list[Path] = field(factory=list)
    skipped: list[Path] = field(factory=list)

    def add(self, path: Path, folder: Path) -> None:
        if path.is_file() and not is_made_by_repair(path.name):
            (self.files if is_within(path, folder) else self.leaving).append(path)

    def add_below(
        self, place: Path, is_wanted: Callable[[str], bool], folder: Path
    ) -> None:
        """Adds the files below ``place``, at any depth, whose names are wanted;
        ``place`` was found in ``folder``."""
        if not is_within(place, folder):
            self.leaving.append(place)
            return
        start = len(self.files)

        def note_unread(error: OSError) -> None:
            self.unread.append(Path(error.filename))

        for parent, folders, names in os.walk(place, onerror=note_unread):
            self.leaving.extend(_links_out(parent, folders, folder))
            names = [name for name in names if not is_made_by_repair(name)]
            chosen = [name for name in names if is_wanted(name)]
            links = {*_links_out(parent, chosen, folder)}
            paths = (Path(parent, name) for name in chosen)
            files = [file for file in paths if file not in links and file.is_file()]
            self.leaving.extend(link for link in links if link.is_file())
            self.files.extend(files)
            self.skipped.extend(Path(parent, name) for name in {*names} - {*chosen})
        self.files[start:] = sorted(self.files[start:])


def _links_out(parent: str, names: list[str], folder: Path) -> Iterator[Path]:
    """The links among ``names`` that lead out of ``folder``."""
    for path in (os.path.join(parent, name) for name in names):
        if os.path.islink(path) and not is_within(path, folder):
            yield Path(path)


def is_within(path: str | Path, folder: Path) -> bool:
    """Whether ``path`` leads into ``folder``, with all links in both followed."""
    real = os.path.realpath(folder)
    try:
        return os.path.commonpath((real, os.path.realpath(path))) == real
    except ValueError:  # on another drive
        return False
