"""What a system has in its own way: the one mark of tests that need something that
Windows lacks, and its words."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def not_on_windows(reason: str) -> pytest.MarkDecorator:
    """Skips a test there; ``reason`` says what is missing."""
    return pytest.mark.skipif(os.name == "nt", reason=reason)


def no_such_file(path: Path) -> str:
    """What the system says of a path at which there is nothing."""
    with pytest.raises(FileNotFoundError) as missing:
        path.stat()
    return missing.value.strerror
