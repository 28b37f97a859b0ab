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

BAR = Bar(limit=1.0, aim=1.0)
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
    """One row a peer for cost, with a bar against those in Python, then the cuts."""
    for found in results.found:
        if found.name != OURS:
            compared = found.language == "Python" and found.name != FROM_EVENTS
            yield _cost(results.of(OURS), found, BAR if compared else None)
    for found in results.found:
        if found.wrong is not None:
            yield _cuts(found, results)


def _cost(ours: Found, found: Found, bar: Bar | None) -> Row:
    what = f"engine, a delta of text, against {found.name} ({found.language})"
    if found.each is None or ours.each is None:
        return Row(what, found.missing or "given up")
    measured = f"{ours.each * 1e6:.3g} µs, theirs {found.each * 1e6:.3g} µs"
    return Row(what, measured, ours.each / found.each, bar)


def _cuts(found: Found, results: Results) -> Row:
    assert found.wrong is not None
    wrong, plain = sum(found.wrong.values()), sum(results.simple.values())
    differ = f"{found.differ} of {results.texts} texts depend on the cut"
    measured = f"{differ}, {wrong} of {plain} plain streams are read wrongly"
    return Row(f"{found.name}, texts cut in several ways", measured)
