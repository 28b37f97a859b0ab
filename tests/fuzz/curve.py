"""Memory over time: is it flat, and how does it look?

A curve is a list of samples, seconds and bytes. Its first part is warming up: the
interpreter and the allocator grow into their work.
"""

from __future__ import annotations

from statistics import median

from attrs import frozen

MEGABYTE = 1_000_000
WARM = 0.25
"""Share of the samples that does not count."""

TOLERANCE = 0.03
NOISE = 2 * MEGABYTE
"""Growth that is no growth: a share of the memory, and what allocators keep anyway."""


@frozen
class Sample:
    """``seconds`` since the beginning, ``resident`` bytes then."""

    seconds: float
    resident: int


def growth(samples: list[Sample]) -> int:
    """Bytes by which the last quarter is above the one after warming up; medians."""
    count = len(samples)
    warm = int(count * WARM)
    first = samples[warm : max(2 * warm, warm + 1)]
    last = samples[count - max(warm, 1) :]
    return int(_middle(last) - _middle(first))


def is_flat(samples: list[Sample]) -> bool:
    """False when memory grows by more than noise after warming up."""
    return growth(samples) <= NOISE + TOLERANCE * _middle(samples)


def _middle(samples: list[Sample]) -> float:
    return median(sample.resident for sample in samples)


def as_text(samples: list[Sample], rows: int = 12) -> str:
    """Some of the samples as bars, a line each."""
    step = max(1, len(samples) // rows)
    most = max(sample.resident for sample in samples)
    return "\n".join(
        f"{sample.seconds:7.0f} s {sample.resident / MEGABYTE:8.1f} MB "
        + "#" * round(40 * sample.resident / most)
        for sample in samples[::step]
    )


def as_svg(samples: list[Sample], title: str) -> str:
    """The curve as a picture of 640 by 240."""
    end = max(sample.seconds for sample in samples) or 1.0
    most = max(sample.resident for sample in samples)
    points = " ".join(
        f"{40 + 580 * each.seconds / end:.1f},{220 - 190 * each.resident / most:.1f}"
        for each in samples
    )
    label = f"{title}: {most / MEGABYTE:.0f} MB at most, {end:.0f} s"
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="240">'
        '<rect width="640" height="240" fill="white"/>'
        f'<text x="40" y="18" font-family="sans-serif" font-size="12">{label}</text>'
        '<path d="M40 25V220H620" fill="none" stroke="gray"/>'
        f'<polyline points="{points}" fill="none" stroke="steelblue"/></svg>\n'
    )
