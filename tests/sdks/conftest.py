"""The server of this room."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from strict import Strict, serving


@pytest.fixture
def strict() -> Iterator[Strict]:
    with serving() as server:
        yield server
