"""Gives every driver the same jobs in turn, and keeps the best of what it says.

`measure()` installs what is missing and gives the `Results` of one run. A peer that
this machine cannot have is in them with the reason.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from attrs import evolve

from peers.environments import ROOT, MissingError, command, own_command, version_of
from peers.results import FROM_EVENTS, OURS, Found, Results, Seconds
from peers.table import PEERS
from peers.texts import (
    CALL,
    CALLED,
    CUTTINGS,
    GROWING,
    KINDS,
    SHORT,
    SIZES,
    Leak,
    deltas,
    leaks,
    timed,
)

TURNS = 4
TURN_SECONDS = 0.7
"""For the rounds of the streams of one kind in one turn."""

MOST_SECONDS = 60.0
"""A stream that takes more processor time is given up."""

_PATIENCE = 900.0
_QUIET = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}
"""An environment in which nothing asks the network for anything."""

_OWN = {OURS: (), FROM_EVENTS: ("--events",)}
_READ_CALLS = {OURS, *(peer.name for peer in PEERS if peer.reads_calls)}
_UNJUDGED = {FROM_EVENTS, *(peer.name for peer in PEERS if peer.baseline)}


def measure() -> Results:
    """Everything, in some minutes."""
    found = {name: Found(name, "", "Python") for name in _OWN}
    for peer in PEERS:
        found[peer.name] = Found(peer.name, peer.version, peer.language)
    commands = _commands(found)
    for turn in range(TURNS):
        for name, start in commands.items():
            _say(f"{name}, turn {turn + 1} of {TURNS}")
            found[name] = _timed(found[name], start)
    texts = leaks()
    for name, start in commands.items():
        if name not in _UNJUDGED and not found[name].missing:
            _say(f"{name}, texts cut in several ways")
            found[name] = _judged(found[name], start, texts)
    plain = [leak.text for leak in texts if leak.expected]
    simple = {
        name: sum(len(way(text)) for text in plain) for name, way in CUTTINGS.items()
    }
    return Results(list(found.values()), len(texts), simple, _machine())


def _say(text: str) -> None:
    print(f"  {text}", file=sys.stderr, flush=True)


def _machine() -> str:
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return ", ".join((python, *version_of("node"), *version_of("rustc")))


def _commands(found: dict[str, Found]) -> dict[str, list[str]]:
    """How each is started; the reason goes to ``found`` where it cannot be."""
    commands = {name: own_command(*options) for name, options in _OWN.items()}
    for peer in PEERS:
        try:
            commands[peer.name] = command(peer)
        except MissingError as why:
            found[peer.name] = evolve(found[peer.name], missing=f"not installed: {why}")
    return commands


# Time


def _timed(before: Found, start: list[str]) -> Found:
    """``before`` with one more turn."""
    if before.missing:
        return before
    kinds = timed()
    sizes = {str(size): [deltas(KINDS[GROWING](size))] for size in SIZES[1:]}
    if before.name not in _READ_CALLS:
        del kinds[CALL]
    tasks = [_task(name, each) for name, each in {**kinds, **sizes}.items()]
    try:
        given = _do(start, timed=tasks)
    except MissingError as why:
        return evolve(before, missing=str(why))
    seconds = dict(zip((*kinds, *sizes), given["timed"], strict=True))
    seconds[str(SHORT)] = seconds[GROWING]
    return evolve(
        before,
        kinds=_best(before.kinds, {name: seconds[name] for name in kinds}),
        sizes=_best(before.sizes, {str(size): seconds[str(size)] for size in SIZES}),
    )


def _task(kind: str, streams: list[list[str]]) -> dict[str, Any]:
    called = {"called": CALLED} if kind == CALL else {}
    limits = {"seconds": TURN_SECONDS, "most": MOST_SECONDS}
    return {"streams": streams, **limits, **called}


def _best(before: Seconds, now: Seconds) -> Seconds:
    """The best of both turns; what was given up once stays so."""
    best = dict(before)
    for name, seconds in now.items():
        known = best.get(name, seconds)
        given_up = seconds is None or known is None
        best[name] = None if given_up else min(seconds, known)
    return best


# Cuts


def _judged(before: Found, start: list[str], texts: list[Leak]) -> Found:
    """``before`` with what comes of texts that are cut in several ways."""
    streams = [
        (leak, name, stream)
        for leak in texts
        for name, way in CUTTINGS.items()
        for stream in way(leak.text)
    ]
    try:
        given = _do(start, split=[stream for *_, stream in streams])["split"]
    except MissingError as why:
        return evolve(before, missing=str(why))
    results: dict[str, set[tuple[str, ...]]] = {leak.text: set() for leak in texts}
    wrong = dict.fromkeys(CUTTINGS, 0)
    for (leak, name, _), result in zip(streams, given, strict=True):
        results[leak.text].add(tuple(result))
        wrong[name] += bool(leak.expected and _bare(result) != _bare(leak.expected))
    differ = sum(len(each) > 1 for each in results.values())
    return evolve(before, differ=differ, wrong=wrong)


def _bare(texts: list[str] | tuple[str, ...]) -> list[str]:
    """White space at the ends is a matter of taste."""
    return [text.strip() for text in texts]


def _do(start: list[str], **job: list[Any]) -> dict[str, Any]:
    """What a driver makes of a job; raises `MissingError` when it fails."""
    own = {"PYTHONPATH": str(ROOT / "sidecar")} if start[0] == sys.executable else {}
    environment = {**os.environ, "PYTHONUTF8": "1", **_QUIET, **own}
    with tempfile.TemporaryDirectory() as folder:
        given, taken = Path(folder, "job.json"), Path(folder, "result.json")
        given.write_text(
            json.dumps({"timed": [], "split": [], **job}), encoding="utf-8"
        )
        line = [*start, str(given), str(taken)]
        try:
            done = subprocess.run(
                line,
                env=environment,
                capture_output=True,
                encoding="utf-8",
                timeout=_PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise MissingError(f"took over {_PATIENCE:g} s") from None
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:]
            raise MissingError(f"its driver failed: {' '.join(last)}")
        result: dict[str, Any] = json.loads(taken.read_text(encoding="utf-8"))
    return result
