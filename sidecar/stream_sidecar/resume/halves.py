"""Half characters (lone surrogates) that an agent sends: providers refuse the body."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.provider_errors.refusals import row_of
from stream_sidecar.resume.findings import ResumeFinding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stream_sidecar.resume.findings import FileEdit
    from stream_sidecar.resume.formats import AgentFormat
    from stream_sidecar.resume.records import StoredRecord
    from stream_sidecar.values.json_places import Path

RULE = "half-surrogate"
_NUMBER = 36
"""Its number on the page "My session does not resume", whoever says it."""

_MESSAGE = "A text has half a character (a lone surrogate)."


def halves_sent(
    edits: Sequence[FileEdit], records: Sequence[StoredRecord], agent: AgentFormat
) -> Iterator[ResumeFinding]:
    """The findings of those strings with half a character that the ``agent`` sends.
    ``edits``: for each such string in the ``records``, the one that mends it."""
    if not edits:
        return
    wires: dict[tuple[int, Path], str] = {}
    for conversation in agent.conversations(records):
        for item in conversation.items:
            for source in (item.source, *item.parts, *item.places.values()):
                wires[source.record.number, source.path] = conversation.wire
        for source in conversation.repeats:
            wires[source.record.number, source.path] = conversation.wire
    for edit in edits:
        number, path = edit.source.record.number, edit.source.path
        around = ((number, path[:end]) for end in range(len(path) + 1))
        wire = next((wires[place] for place in around if place in wires), None)
        if wire is None:
            continue
        row = row_of(RULE, wire, "")
        yield ResumeFinding(
            kind="refused",
            source=edit.source,
            message=_MESSAGE,
            rule=RULE,
            says=row.text if row else "",
            remedy="file",
            edits=(edit,),
            number=row.number if row else _NUMBER,
        )
