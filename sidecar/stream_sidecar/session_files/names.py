"""Names of files that are made beside sessions: backups, the list of backups, and new
files that are not complete."""

from __future__ import annotations

import re

from stream_sidecar import patterns

NEW_SUFFIX = ".sidecar-new"
MANIFEST = ".stream-sidecar-backups"
_BACKUP = patterns.compile(r"(.+)\.bak([0-9]*)", re.DOTALL)


def backup_of(name: str) -> tuple[str, int] | None:
    """The name of a backup's file, and which backup it is: ``a.json`` and 2 for
    ``a.json.bak2``. None if the name is not a backup's."""
    match = _BACKUP.fullmatch(name)
    return None if match is None else (match[1], int(match[2] or 1))


def is_made_by_repair(name: str) -> bool:
    """Whether a file of that name is not a session, whatever is in it."""
    is_ours = name == MANIFEST or name.endswith(NEW_SUFFIX)
    return is_ours or backup_of(name) is not None
