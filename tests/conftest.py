"""Where the helpers are found, what many tests begin with, and how property tests run:
always the same."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from memory_host import MemoryHost

TESTS = Path(__file__).parent
sys.path[:0] = [str(TESTS), str(TESTS / "support")]

# A shell may start what runs behind it with SIGINT ignored, and so its children.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "default",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("default")


@pytest.fixture
def host() -> MemoryHost:
    """A connection that is initialized."""
    from memory_host import MemoryHost

    return MemoryHost()


@pytest.fixture
def stream(host: MemoryHost) -> MemoryHost:
    """A host with the stream ``s``, of text."""
    host.request("stream/open", {"streamId": "s", "wire": "text"})
    return host


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says in one line each what was not run and why, and what a test noted."""
    reports = [each for kind in terminalreporter.stats.values() for each in kind]
    notes = [
        text
        for report in reports
        for name, text in getattr(report, "user_properties", ())
        if name == "note" and report.when == "call"
    ]
    skipped = {
        str(report.longrepr[2]).removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", ())
    }
    for line in [*sorted(skipped), *notes]:
        terminalreporter.write_line(line)
