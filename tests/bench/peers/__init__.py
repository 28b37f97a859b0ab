"""The engine beside other software that takes reasoning out of streamed text.

`run()` installs the peers of ``table.py`` in environments of their own, feeds all of
them and the engine the same deltas in one run, and gives rows; `write()` makes what the
project shows of the last run: ``results.json``, the block of tests/README.md and the
plot.
Installing needs the package registries and some minutes, so this runs only when it is
named.
"""

from __future__ import annotations

from collections.abc import Iterator

from rows import Bar, Row

from peers import report
from peers.environments import HOME
from peers.measuring import measure
from peers.results import FROM_EVENTS, OURS, Found, Results, stored
from peers.texts import ALONE, COMPARED, MORE

BAR = Bar(limit=1.0, aim=0.5)
LAST = HOME / "results.json"


def run() -> Iterator[Row]:
    results = measure()
    results.save(LAST)
    yield from rows(results)


def write() -> None:
    """What was found last becomes what the project shows."""
    results = stored(LAST)
    results.save()
    report.write(results)


def rows(results: Results) -> Iterator[Row]:
    """Rows of each peer for cost, with a bar against those in Python, then the cuts."""
    ours = results.of(OURS)
    for found in results.found:
        if found.name != OURS:
            yield from _costs(ours, found)
    for found in results.found:
        if found.wrong is not None:
            yield _cuts(found, results)


def _costs(ours: Found, found: Found) -> Iterator[Row]:
    """One row for each text that the peer was given, and one for a stream's start and
    end."""
    against = f"against {found.name} ({found.language})"
    if found.missing:
        yield Row(f"engine, {against}", found.missing)
        return
    barred = found.language == "Python" and found.name != FROM_EVENTS
    for kind in filter(found.kinds.__contains__, (*COMPARED, *MORE)):
        what = kind if kind == ALONE else f"a delta of {kind}"
        costs = ours.kinds[kind], found.kinds[kind]
        yield _cost(f"engine, {what}, {against}", *costs, BAR if barred else None)


def _cost(
    what: str, mine: float | None, other: float | None, bar: Bar | None = None
) -> Row:
    if mine is None or other is None:
        return Row(what, "given up")
    measured = f"{mine * 1e6:.3g} µs, theirs {other * 1e6:.3g} µs"
    return Row(what, measured, mine / other, bar)


def _cuts(found: Found, results: Results) -> Row:
    assert found.wrong is not None
    wrong, plain = sum(found.wrong.values()), sum(results.simple.values())
    differ = f"{found.differ} of {results.texts} texts depend on the cut"
    measured = f"{differ}, {wrong} of {plain} plain streams are read wrongly"
    return Row(f"{found.name}, texts cut in several ways", measured)
