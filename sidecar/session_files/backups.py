"""The old file, kept: as ``<name>.bak``, or ``.bak2`` ... where that is taken.

A backup takes nothing's place and follows no link: its name is given by link(2), which
fails where there is anything, a dangling link too. It has owner and rights of the file
that it is a copy of, and it has the name only when it is whole.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

from sidecar.session_files.beside import FileBeside, take_rights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_CHUNK = 1 << 20


def back_up(path: Path) -> Path:
    """Keeps the file at ``path`` itself under a further name; a copy of it on a file
    system without links. A backup of a run that was killed, which is the very file, is
    taken again. OSError, CannotReplaceError: there is none."""
    for name in _names(path):
        try:
            os.link(path, name)
        except FileExistsError:
            if not is_same(name, path):
                continue
        except OSError:
            return copied(path, lambda new: _copy(path, new))
        return name
    raise AssertionError("numbers do not end")


def copied(path: Path, copy: Callable[[FileBeside], None]) -> Path:
    """Keeps what ``copy`` writes of the file at ``path``; the name of the backup."""
    new = FileBeside(path)
    try:
        copy(new)
        new.sync()
        take_rights(new.name, path)
        return _named(new, path)
    finally:
        new.remove()


def backup_links(path: Path) -> int:
    """How many backups are the very file, because a run was killed that made them."""
    links = 0
    for name in _names(path):
        if not os.path.lexists(name):
            return links
        links += is_same(name, path)
    raise AssertionError("numbers do not end")


def is_same(name: Path, path: Path) -> bool:
    """Whether ``name`` itself, and not what it may link to, is the file at ``path``."""
    with suppress(OSError):
        return os.path.samestat(os.lstat(name), os.stat(path))
    return False


def _names(path: Path) -> Iterator[Path]:
    for number in count(1):
        yield path.with_name(f"{path.name}.bak{number if number > 1 else ''}")


def _copy(path: Path, new: FileBeside) -> None:
    with path.open("rb") as old:
        shutil.copyfileobj(old, new.file, _CHUNK)


def _named(new: FileBeside, path: Path) -> Path:
    """Gives ``new`` the first free name of a backup."""
    for name in _names(path):
        try:
            os.link(new.name, name)
        except FileExistsError:
            continue
        except OSError:  # no links: an empty file holds the name until it is replaced
            try:
                name.touch(0o600, exist_ok=False)
            except FileExistsError:
                continue
            new.take_name(name)
        return name
    raise AssertionError("numbers do not end")
