"""Where the helpers are found, and how property tests run: always the same."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

settings.register_profile(
    "default",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("long", settings.get_profile("default"), max_examples=20_000)
settings.load_profile("long" if os.environ.get("SIDECAR_LONG") else "default")

NOTES: list[str] = []
"""What a test wants said in the summary; see ``tests/test_corpus.py``."""


def pytest_terminal_summary(terminalreporter):
    for note in NOTES:
        terminalreporter.write_line(note)
