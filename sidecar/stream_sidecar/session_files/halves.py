"""Half characters in a session, and their new text.

Those in a model's own text are leaks of the kind ``surrogate`` (`history`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar import patterns
from stream_sidecar.history.documents import messages_in
from stream_sidecar.history.messages import Text
from stream_sidecar.records import define, field
from stream_sidecar.resume.findings import FileEdit
from stream_sidecar.resume.records import StoredPlace
from stream_sidecar.session_files.damage import without_halves
from stream_sidecar.values.json_places import locate
from stream_sidecar.values.surrogates import has_half

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.history.shapes import RoleElsewhere
    from stream_sidecar.resume.records import StoredRecord
    from stream_sidecar.values.json_places import Path

HALF = patterns.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\xed[\xa0-\xbf][\x80-\xbf]")
"""In every line with half a character; also in lines with the escapes of both."""

_BOM = "\ufeff"


@define
class Halves:
    """The strings of a session with half a character, and their new text."""

    edits: list[FileEdit] = field(factory=list)

    def add(
        self,
        record: StoredRecord,
        value: Any,
        line: bytes,
        role_elsewhere: RoleElsewhere | None,
        start: Path = (),
    ) -> None:
        """Notes those of a ``record``, whose whole ``value``, or the one at ``start``
        in it, stands in ``line``."""
        paths = set(_strings_with_halves(value, ()))
        if not paths:  # both halves of each character are there
            return
        paths -= {*_own_texts(value, role_elsewhere)}
        text = line.decode("utf-8", "surrogatepass").removeprefix(_BOM)
        for path, place in locate(text, paths).items():
            written = text[place.start : place.end].encode("utf-8", "surrogatepass")
            new = without_halves(written).decode("utf-8", "surrogatepass")
            self.edits.append(FileEdit(StoredPlace(record, (*start, *path)), new))


def _strings_with_halves(value: Any, path: Path) -> Iterator[Path]:
    if isinstance(value, str):
        if has_half(value):
            yield path
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _strings_with_halves(inner, (*path, name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _strings_with_halves(inner, (*path, number))


def _own_texts(value: Any, role_elsewhere: RoleElsewhere | None) -> Iterator[Path]:
    """The texts of a model in a document."""
    for message in messages_in(value, role_elsewhere):
        for items in message.fields:
            for item in items:
                if isinstance(item, Text):
                    yield (*message.path, *item.path)
