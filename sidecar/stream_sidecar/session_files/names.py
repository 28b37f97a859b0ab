"""Names of what is made beside sessions and is none: backups, their list, and files
that are not done."""

from __future__ import annotations

import re

from stream_sidecar import patterns

NEW_SUFFIX = ".sidecar-new"
MANIFEST = ".stream-sidecar-backups"
_BACKUP = patterns.compile(r"(.+)\.bak([0-9]*)", re.DOTALL)


def backup_of(name: str) -> tuple[str, int] | None:
    """Of the name of a backup its file's, and the how-manieth it is."""
    reported = _BACKUP.fullmatch(name)
    return None if reported is None else (reported[1], int(reported[2] or 1))


def is_beside(name: str) -> bool:
    """Whether a file of that name is no session, whatever is in it."""
    is_ours = name == MANIFEST or name.endswith(NEW_SUFFIX)
    return is_ours or backup_of(name) is not None
