"""What stands in the way of a stored session: the entry of this room.

The records become the conversations of their agent (`formats`), and each conversation
is judged as the request that the agent would send (`judge`). Never raises for any
records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.resume.findings import ResumeFinding
from stream_sidecar.resume.formats import format_of
from stream_sidecar.resume.judge import refusals_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stream_sidecar.resume.formats import AgentFormat
    from stream_sidecar.resume.records import StoredRecord


def findings_in(
    records: Sequence[StoredRecord], agent: AgentFormat | None = None
) -> Iterator[ResumeFinding]:
    """What the provider would refuse of a session, and what its agent would leave out.
    A place that several conversations share is reported once. ``agent``: the one that
    wrote the records, if it is known."""
    agent = agent or format_of(records)
    if agent is None:
        return
    reported = set()
    for conversation in agent.conversations(records):
        omitted = (
            ResumeFinding(
                kind=left.kind,
                source=left.source,
                message=left.why,
                rule=left.rule,
                remedy="file" if left.edits else "none",
                edits=left.edits,
            )
            for left in conversation.left_out
        )
        for finding in (
            *refusals_of(conversation, agent.heals, agent.without_item),
            *omitted,
        ):
            source = finding.source
            key = (source.record.number, source.path, finding.kind, finding.rule)
            if key not in reported:
                reported.add(key)
                yield finding
