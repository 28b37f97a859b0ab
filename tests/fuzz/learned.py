"""The lane of learned chunks: what a stream remembers changes nothing of what it gives.

Two streams of one host come one behind the other: a recording, and what is left of it
when its documents are spoiled, lost, doubled and moved. Each document is a chunk, and
comes several times, for nothing is learned of what comes once. The second stream gives
what it gives without any memory.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any
from unittest import mock

from checking import feed

from fuzz import inputs
from stream_sidecar.stream.earlier_streams import EarlierStreams
from stream_sidecar.stream.intake import Intake

_TIMES = (1, 2, 3)


def _sse(document: Any) -> str:
    return f"data: {json.dumps(document)}\n\n"


def _event(document: Any) -> str:
    """Under its name, where it has one."""
    kind = document.get("type") if isinstance(document, dict) else None
    name = f"event: {kind}\n" if isinstance(kind, str) else ""
    return f"{name}{_sse(document)}"


_SPELLINGS: dict[str, Callable[[Any], Any]] = {
    "object": lambda document: document,
    "sse": _sse,
    "event": _event,
    "line": lambda document: f"{json.dumps(document)}\n",
}
"""How hosts give a document as a chunk."""


def draw_learned(number: int) -> dict[str, Any]:
    generator = Random(number)
    params, before, documents = inputs.recorded_and_spoiled(generator)
    spelling = generator.choice(list(_SPELLINGS))
    times = [generator.choice(_TIMES) for _ in range(16)]
    streams = {"before": before, "documents": documents}
    return {"params": params, "spelling": spelling, "times": times, **streams}


def check_learned(given: dict[str, Any]) -> None:
    params, earlier = given["params"], EarlierStreams()
    feed(params, _chunks(given, given["before"]), earlier=earlier)
    chunks = _chunks(given, given["documents"])
    fed = feed(params, chunks, earlier=earlier)
    with mock.patch.object(Intake, "_learn", return_value=None):
        slow = feed(params, chunks)
    assert fed == slow, "what was learned changes what comes"


def _chunks(given: dict[str, Any], documents: list[Any]) -> list[Any]:
    spell, times = _SPELLINGS[given["spelling"]], given["times"]
    return [
        spell(document)
        for at, document in enumerate(documents)
        for _ in range(times[at % len(times)])
    ]
