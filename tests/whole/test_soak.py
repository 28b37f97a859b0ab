"""A short soak and a long stream through the real process; by command they take hours.

``tests/fuzz/soak.py`` and ``tests/fuzz/endless.py`` are the commands.
"""

from __future__ import annotations

import pytest
from fuzz.curve import MEGABYTE, Sample, as_svg, as_text, growth, is_flat
from fuzz.long_stream import ROOM, run
from fuzz.soaking import soak
from process_memory import IS_KNOWN

pytestmark = pytest.mark.thorough
ROUNDS = 14
SEED, DEAF = 1, 0.1


def test_interleaved_streams_give_what_they_give_alone() -> None:
    """Two hundred at a time; some are cancelled, and the host is deaf now and then."""
    rounds = iter(range(ROUNDS))

    def continues() -> bool:
        return next(rounds, None) is not None

    run = soak(200, seed=SEED, idle_ms=0, continues=continues, count=60, deaf=DEAF)
    assert {"eof", "cancelled", "streams", "deaf"} <= set(run.counts)
    assert run.counts["requests"] > 150 * ROUNDS


@pytest.mark.skipif(not IS_KNOWN, reason="reads /proc")
def test_a_long_stream_takes_no_more_memory() -> None:
    """20 million characters: the second half takes no more than the first."""
    peaks = run("answer", 20, lambda _line: None)
    assert peaks[-1] - peaks[4] <= ROOM


def _curve(*megabytes: float) -> list[Sample]:
    return [
        Sample(second, int(each * MEGABYTE)) for second, each in enumerate(megabytes)
    ]


def test_a_flat_curve() -> None:
    """Warming up and noise do not count."""
    noisy = _curve(30, 60, *[100, 101, 99] * 20)
    assert is_flat(noisy)
    assert abs(growth(noisy)) <= MEGABYTE


def test_a_curve_that_grows() -> None:
    growing = _curve(*(100 + each / 4 for each in range(60)))
    assert not is_flat(growing)
    assert growth(growing) > 7 * MEGABYTE


def test_a_curve_is_shown() -> None:
    curve = _curve(10, 20, 20)
    assert as_text(curve).splitlines()[-1].endswith("#" * 40)
    assert as_svg(curve, "test").count("<polyline") == 1
