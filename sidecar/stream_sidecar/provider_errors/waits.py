"""When to try again after an error, according to headers, fields and messages.

All waits are whole milliseconds, rounded up; None if there is no wait. Sources:
wires/README.md, "When to try again". Never raises.
"""

from __future__ import annotations

from datetime import UTC, datetime
from math import ceil
from typing import TYPE_CHECKING, Any

from stream_sidecar import patterns
from stream_sidecar.provider_errors.kinds import WINDOW

if TYPE_CHECKING:
    from collections.abc import Mapping

_NUMBER = r"[0-9]{1,9}(?:\.[0-9]{1,9})?"
_WHOLE_NUMBER = patterns.compile(_NUMBER)
_UNIT = r"(?:milliseconds?|ms|hours?|h|minutes?|mins?|m|seconds?|secs?|s)(?![a-z])"
_SOON = patterns.compile(
    rf"(?:retry|try again)(?: your request)? (?:in|after) (?:about )?"
    rf"((?:{_NUMBER} ?{_UNIT} ?){{1,4}})"
)
_PIECE = patterns.compile(rf"({_NUMBER}) ?({_UNIT})")
_UNITS = (("ms", 1), ("milli", 1), ("h", 3_600_000), ("m", 60_000), ("s", 1000))
_LONGEST_WAIT = 10**10  # milliseconds; a longer wait is a mistake

_DATE = patterns.compile(
    r"[A-Za-z]{3}, ([0-9]{2}) ([A-Za-z]{3}) ([0-9]{4}) ([0-9]{2}):([0-9]{2}):([0-9]{2})"
)
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"


def wait_of_headers(headers: Mapping[str, str]) -> int | None:
    """Return the milliseconds to wait according to lower-case ``headers``, which are
    tried in the order of the SDKs.

    An HTTP date counts from the ``date`` header, since the core reads no clock.
    """
    wait = milliseconds(headers.get("retry-after-ms"), 1)
    if wait is not None:
        return wait
    retry_after = headers.get("retry-after", "")
    wait = milliseconds(retry_after, 1000)
    then, now = _date(retry_after), _date(headers.get("date", ""))
    if wait is None and then is not None and now is not None:
        wait = max(0, int((then - now).total_seconds() * 1000))
    return wait


def wait_of_text(text: str) -> int | None:
    """The milliseconds that a message says: ``Please retry in 1m54.88s``."""
    match = _SOON.search(text[:WINDOW].lower())
    if match is None:
        return None
    delays = (
        float(number) * next(size for start, size in _UNITS if unit.startswith(start))
        for number, unit in _PIECE.findall(match[1])
    )
    return ceil(sum(delays))


def milliseconds(value: Any, unit: int) -> int | None:
    """``value`` in milliseconds: a number, its text, or Google's; or None."""
    if isinstance(value, dict):
        value = value.get("seconds")
    if isinstance(value, str):
        value = value.strip().removesuffix("s")
        value = float(value) if _WHOLE_NUMBER.fullmatch(value) else None
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return ceil(value * unit) if 0 <= value * unit <= _LONGEST_WAIT else None


def _date(text: str) -> datetime | None:
    """The time of an IMF-fixdate (RFC 9110 5.6.7), or None."""
    match = _DATE.match(text)
    month = _MONTHS.find(match[2].lower()) if match is not None else -1
    if match is None or month < 0:
        return None
    day, year, hour, minute, second = (int(match[n]) for n in (1, 3, 4, 5, 6))
    try:
        return datetime(year, month // 4 + 1, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
