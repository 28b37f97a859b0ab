"""The role of a record that has it in another file: opencode keeps a message's role in
``message/<session>/<message>.json`` and its text in ``part/<message>/<part>.json``."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stream_sidecar import patterns
from stream_sidecar.values.jsontext import decode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.history.shapes import RoleElsewhere

_UP = 5
"""The messages are looked for in so many folders above a part's file."""

_NAME = patterns.compile(r"[\w-]{1,200}+")
"""An id that is a file's name, and cannot lead to another folder."""

_LARGEST = 1 << 20


def roles_beside(path: Path) -> RoleElsewhere:
    """A function that returns the role of the message to which a record belongs; the
    record is in the file at ``path``."""
    folder = path.parent.name if path.parent.parent.name == "part" else None

    def role(record: dict[str, Any]) -> str | None:
        message, session = record.get("messageID", folder), record.get("sessionID")
        if not (isinstance(message, str) and _NAME.fullmatch(message)):
            return None
        is_name = isinstance(session, str) and _NAME.fullmatch(session)
        return _role(str(path.parent), message, str(session) if is_name else None)

    return role


@lru_cache(maxsize=1024)
def _role(folder: str, message: str, session: str | None) -> str | None:
    for file in _files(Path(folder), f"{message}.json", session):
        try:
            with file.open("rb") as opened:
                document = decode(opened.read(_LARGEST))
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(document, dict) and isinstance(document.get("role"), str):
            return str(document["role"])
    return None


def _files(folder: Path, name: str, session: str | None) -> Iterator[Path]:
    """The paths where the message may be, the likeliest first."""
    above = [parent / "message" for parent in (folder, *folder.parents)[:_UP]]
    holders = [parent for parent in above if parent.is_dir()]
    for holder in holders:
        if session is not None:
            yield holder / session / name
        yield holder / name
    for holder in holders:
        yield from holder.glob(f"*/{name}")
