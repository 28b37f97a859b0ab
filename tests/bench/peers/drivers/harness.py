"""What every Python driver does with its splitter: times it, and shows what it gives.

``python drive_x.py [OPTION] JOB RESULT``: both are JSON files. A job has ``timed``,
groups of streams with how long they may take (``called``: each is a call of this tool,
which has to be found), and ``split``, streams whose result is
wanted; a stream is the list of its deltas, and begins with a splitter of its own. Knows
nothing of the project, for it runs in the peers' own environments; ``drive_ai.mjs`` and
``drive_smg.rs`` do the same in theirs.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

BATCH = 1_000
"""Deltas between two looks at the clock."""


class Splitter(NamedTuple):
    """One stream: ``push`` takes a prepared delta, ``close`` ends the stream; both give
    whatever the peer gives, and ``read`` makes (answer, reasoning) of all of that."""

    push: Callable[[Any], Any]
    close: Callable[[], Any]
    read: Callable[[list[Any]], tuple[str, str]]


Start = Callable[[], Splitter]


def drive(
    start: Start,
    prepare: Callable[[str], Any] = lambda text: text,
    calls: Callable[[str], Start] | None = None,
) -> None:
    """Does the job. ``prepare`` makes of a delta's text what the peer is pushed: that
    is not its work, and not timed. ``calls`` is given a tool's name and starts
    splitters whose ``read`` gives name and arguments of a call, and not the texts."""
    job_file, result_file = sys.argv[-2:]
    with open(job_file, encoding="utf-8") as file:
        job = json.load(file)
    result = {
        "timed": [_time(start, prepare, calls, **each) for each in job["timed"]],
        "split": [_split(start, [prepare(p) for p in each]) for each in job["split"]],
    }
    with open(result_file, "w", encoding="utf-8") as file:
        json.dump(result, file)


def _time(
    start: Start,
    prepare: Callable[[str], Any],
    calls: Callable[[str], Start] | None,
    streams: list[list[str]],
    seconds: float,
    most: float,
    called: str | None = None,
) -> float | None:
    """Seconds of processor a delta, in the best of the rounds that fill ``seconds``;
    None when a round takes over ``most``."""
    if called is not None:
        assert calls is not None
        start = calls(called)
        name, arguments = _split(start, [prepare(delta) for delta in streams[0]])
        assert (name, len(json.loads(arguments))) == (called, 2), (name, arguments)
    prepared = [_batches([prepare(delta) for delta in each]) for each in streams]
    rounds: list[float] = []
    while sum(rounds) < seconds:
        taken = _round(start, prepared, most)
        if taken is None:
            return None
        rounds.append(taken)
    return min(rounds) / sum(map(len, streams))


def _batches(deltas: list[Any]) -> list[list[Any]]:
    return [deltas[at : at + BATCH] for at in range(0, len(deltas), BATCH)]


def _round(start: Start, streams: list[list[list[Any]]], most: float) -> float | None:
    """All ``streams``, from making the splitter of each to its end."""
    clock = time.process_time
    begin = clock()
    for batches in streams:
        splitter = start()
        push = splitter.push
        for batch in batches:
            for delta in batch:
                push(delta)
            if clock() - begin > most:
                return None
        splitter.close()
    return clock() - begin


def _split(start: Start, deltas: list[Any]) -> tuple[str, str]:
    """Answer and reasoning of a stream."""
    splitter = start()
    given = [splitter.push(delta) for delta in deltas]
    return splitter.read([*given, splitter.close()])
