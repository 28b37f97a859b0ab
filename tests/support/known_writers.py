"""Tests of who has a file open need a file system that reports it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from stream_sidecar.session_files.writers import reports_writers


def skip_unless_writers_are_reported(folder: Path) -> None:
    """Linux reports it, on its own file systems."""
    with tempfile.TemporaryFile(dir=folder) as alone:
        if not reports_writers(alone.fileno()):
            pytest.skip(
                "writers are not reported here: who has a file open was not tried"
            )
