"""What the readers of the agents share: values in records, with their places.

A stored value may be any JSON: one of another type than the agent writes counts as
missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.records import hot
from stream_sidecar.resume.records import StoredPlace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.resume.records import StoredRecord
    from stream_sidecar.values.json_places import Path


@hot
class Stored:
    """The ``value`` at ``path`` of the document of a ``record``."""

    record: StoredRecord
    path: Path
    value: Json

    @classmethod
    def of(cls, record: StoredRecord) -> Stored:
        return cls(record, record.path, record.value)

    @property
    def source(self) -> StoredPlace:
        return StoredPlace(self.record, self.path)

    @property
    def members(self) -> JsonObject:
        """The value if it is an object, else {}."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def text(self) -> str:
        """The value if it is a string, else ""."""
        return self.value if isinstance(self.value, str) else ""

    def at(self, *names: str) -> Stored:
        """The value of a member, or of a member of a member; None if there is none."""
        value = self.value
        for name in names:
            value = value.get(name) if isinstance(value, dict) else None
        return Stored(self.record, self.path + names, value)

    def items(self) -> Iterator[Stored]:
        """The items of the value if it is a list."""
        listed = self.value if isinstance(self.value, list) else ()
        for number, item in enumerate(listed):
            yield Stored(self.record, (*self.path, number), item)


def call_places(
    number: int, call: Stored, id: str, arguments: str
) -> dict[Path, StoredPlace]:
    """Where the ``number``th call of a turn of Chat Completions is stored, if ``call``
    is an object with ``name`` and, under these names, its ``id`` and ``arguments``."""
    path: Path = ("tool_calls", number)
    return {
        path: call.source,
        (*path, "id"): call.at(id).source,
        (*path, "function"): call.source,
        (*path, "function", "arguments"): call.at(arguments).source,
    }
