"""Names of what is made beside sessions and is none: backups, their list, and files
that are not done."""

from __future__ import annotations

from stream_sidecar import patterns

NEW_SUFFIX = ".sidecar-new"
MANIFEST = ".stream-sidecar-backups"
BACKUP = patterns.compile(r"(?P<name>.+)\.bak(?P<number>[0-9]*)")


def is_beside(name: str) -> bool:
    """Whether a file of that name is no session, whatever is in it."""
    return name == MANIFEST or name.endswith(NEW_SUFFIX) or bool(BACKUP.fullmatch(name))
