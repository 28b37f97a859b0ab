"""What stands in the way of a session that is resumed, and how its file is mended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from stream_sidecar.records import frozen

if TYPE_CHECKING:
    from stream_sidecar.resume.records import StoredPlace

ResumeKind: TypeAlias = Literal["refused", "left-out", "broken"]
"""``refused``: the provider or the agent refuses it. ``left-out``: the agent silently
does not send it. ``broken``: a line that is no JSON."""

Remedy: TypeAlias = Literal["file", "request", "none"]
"""What mends it: an edit of the file (`repair --write`), a request through
``request/prepare`` (the gateway, a transport), or nothing that we know of."""


@frozen
class FileEdit:
    """An edit of a record's document: the value at ``source`` becomes ``new``, which is
    JSON text, or with None goes from its list or object. A member that is not there is
    added to its object. With an empty path and None, the whole line goes."""

    source: StoredPlace
    new: str | None = None


@frozen
class ResumeFinding:
    """``rule``: the name of the rule on the page "My session does not resume", "" if
    none; ``number``: its number there for this provider, 0 if none. ``message``: a
    sentence that says what is wrong. ``says``: the literal words of the provider or the
    agent, with ``ID`` and ``N`` for what varies; "" if nobody quotes any. ``edits``:
    what mends it in the file, for the remedy ``file``."""

    kind: ResumeKind
    source: StoredPlace
    message: str
    rule: str = ""
    says: str = ""
    remedy: Remedy = "none"
    edits: tuple[FileEdit, ...] = ()
    number: int = 0
