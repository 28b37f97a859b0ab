"""How long a stream waits while another pushes a million characters with one call.

Both are streams of one client in one process of the sidecar, and all run on one core.
During the large push the other stream pushes short deltas, one by one; its longest wait
counts, in the round that the machine disturbed least. The same without the large push
shows how much of the wait the machine itself causes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from rows import Bar, Row
from whole_texts import KINDS, MILLION

BAR = Bar(limit=20, aim=5, unit=" ms")
BARRED = ("prose", "Markdown with fences")
SHOWN = (*BARRED, "calls of DSML")

Waits: TypeAlias = dict[str, list[dict[str, float]]]
"""By kind of text each round: the longest ``wait`` and the one ``alone``, and what the
large push ``took``, in milliseconds."""


@contextmanager
def texts_in() -> Iterator[str]:
    """A file with the texts, as a JSON object by name."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "texts.json"
        texts = {name: KINDS[name](MILLION) for name in SHOWN}
        file.write_text(json.dumps(texts), encoding="utf-8")
        yield str(file)


def wait_rows(client: str, waits: Waits) -> Iterator[Row]:
    for name, rounds in waits.items():
        best = min(rounds, key=itemgetter("wait"))
        measured = "{wait:.1f} ms, alone {alone:.1f}; the push took {took:.0f}"
        what = f"{client}, longest wait beside a push of a million characters, {name}"
        yield Row(
            what, measured.format(**best), best["wait"], BAR if name in BARRED else None
        )
