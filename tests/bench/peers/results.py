"""What a run found, and the file of the run that the project shows.

``results.json`` beside this is where the page's table and the plot come from, so that
both can be made anew, and checked, without measuring.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from attrs import asdict, field, frozen

from peers.texts import COMPARED

STORED = Path(__file__).resolve().parent / "results.json"

OURS = "stream-sidecar"
FROM_EVENTS = "stream-sidecar, from SSE"

Seconds = dict[str, float | None]
"""Seconds a delta; None where a stream took too long."""


@frozen
class Found:
    """What came of one driver.

    ``kinds``: by what is `timed()`; ``sizes``: by characters of the stream. ``differ``:
    texts with different results in two cuttings. ``wrong``: by cutting, streams
    of one block and an answer that were read wrongly. ``missing``: why there is
    nothing.
    """

    name: str
    version: str
    language: str
    kinds: Seconds = field(factory=dict)
    sizes: Seconds = field(factory=dict)
    differ: int | None = None
    wrong: dict[str, int] | None = None
    missing: str | None = None

    @property
    def each(self) -> float | None:
        """The mean over what is compared."""
        known = [self.kinds.get(name) for name in COMPARED]
        costs = [seconds for seconds in known if seconds is not None]
        return sum(costs) / len(costs) if len(costs) == len(COMPARED) else None


@frozen
class Results:
    """One run on one machine.

    ``texts`` and ``simple`` are what ``differ`` and, by cutting, ``wrong`` are out of;
    ``machine`` says which interpreters there were.
    """

    found: list[Found]
    texts: int
    simple: dict[str, int]
    machine: str

    def of(self, name: str) -> Found:
        return next(each for each in self.found if each.name == name)

    def save(self, path: Path = STORED) -> None:
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")


def stored(path: Path = STORED) -> Results:
    """The results that were written last."""
    read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    found = [Found(**each) for each in read.pop("found")]
    return Results(found=found, **read)
