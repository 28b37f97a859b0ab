"""`not_on_windows`: the one mark of tests that need something that Windows lacks."""

from __future__ import annotations

import os

import pytest


def not_on_windows(reason: str) -> pytest.MarkDecorator:
    """Skips a test there; ``reason`` says what is missing."""
    return pytest.mark.skipif(os.name == "nt", reason=reason)
