"""Judges conversations that are lists in one document, and mends the document."""

from __future__ import annotations

import copy
import json
from types import MappingProxyType
from typing import Any

from stream_sidecar.history.paths import pointer_to
from stream_sidecar.resume.conversation import ResumedConversation, SentItem
from stream_sidecar.resume.findings import FileEdit, ResumeFinding
from stream_sidecar.resume.images import images_in
from stream_sidecar.resume.judge import refusals_of
from stream_sidecar.resume.records import StoredPlace, StoredRecord

Json = Any

CLAUDE = ("anthropic", "claude-opus-4-8")
HI: Json = {"role": "user", "content": "Hi"}
OK: Json = {"role": "assistant", "content": [{"type": "text", "text": "ok"}]}


def conversation(
    wire: str,
    items: Json,
    provider: str = "",
    model: str = "",
    settings: Json = MappingProxyType({}),
) -> ResumedConversation:
    """A conversation whose items are a list in one document."""
    record = StoredRecord(0, items, images=images_in(items))
    sent = [SentItem(item, StoredPlace(record, (n,))) for n, item in enumerate(items)]
    return ResumedConversation(
        wire, provider, model, tuple(sent), settings=dict(settings)
    )


def found(talk: ResumedConversation, **heals: str) -> list[ResumeFinding]:
    return list(refusals_of(talk, {k.replace("_", "-"): v for k, v in heals.items()}))


def places(findings: list[ResumeFinding]) -> list[tuple[str, str]]:
    return [(each.rule, pointer_to(each.source.path)) for each in findings]


def mended(items: Json, edits: list[FileEdit]) -> Json:
    """The document of the items after the edits, from its end to its beginning."""
    document = copy.deepcopy(items)
    for edit in sorted(edits, key=lambda e: str(e.source.path), reverse=True):
        *way, last = edit.source.path
        holder = document
        for step in way:
            holder = holder[step]
        if edit.new is None:
            del holder[last]
        else:
            holder[last] = json.loads(edit.new)
    return document
