"""opencode's older store: a session whose messages and parts are files of their own.

``message/<session>/<message>.json`` names the role and the model, and
``part/<message>/<part>.json`` has the text or the thinking. Ids ascend in time, so the
names of the files say what comes after a part.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from stream_sidecar import patterns
from stream_sidecar.history.documents import messages_in
from stream_sidecar.history.signed_blocks import seals_of
from stream_sidecar.values.jsontext import decode

if TYPE_CHECKING:
    from pathlib import Path

_NAME = patterns.compile(r"[\w-]{1,200}+")
"""An id that is a file's name, and cannot lead to another folder."""

_LARGEST = 1 << 24


def is_before_seal(path: Path, record: Any, model: str | None) -> bool:
    """Whether the part in the file at ``path`` comes before a bound seal of its
    session. ``model``: the model of messages that name none."""
    folder = path.parent.parent
    session = record.get("sessionID") if isinstance(record, dict) else None
    if folder.name != "part" or not isinstance(session, str):
        return False
    if _NAME.fullmatch(session) is None:
        return False
    return (path.parent.name, path.name) < _last_seal(folder.parent, session, model)


@lru_cache(maxsize=64)
def _last_seal(store: Path, session: str, model: str | None) -> tuple[str, str]:
    """The names of message and file of a session's last bound seal, or empty."""
    for message in _newest_first(store / "message" / session):
        info = _read(message)
        for part in _newest_first(store / "part" / message.stem):
            record = {"role": info.get("role"), "content": [_read(part)]}
            stored = messages_in({"info": info, "message": record})
            if any(seals_of(item, model) for item in stored):
                return message.stem, part.name
    return "", ""


def _newest_first(folder: Path) -> list[Path]:
    try:
        return sorted(folder.glob("*.json"), reverse=True)
    except OSError:
        return []


def _read(path: Path) -> dict[str, Any]:
    """The object in a file; empty if there is none."""
    try:
        with path.open("rb") as file:
            value = decode(file.read(_LARGEST))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def forget() -> None:
    """Forgets what was read of files, which may have changed."""
    _last_seal.cache_clear()
