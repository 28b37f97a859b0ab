"""Every recording, emitted on every wire and read there again: the same message."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from emitting import differences, emitted, found
from recordings import PATHS, own

from stream_sidecar.wires import WRITERS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("wire", WRITERS)
@pytest.mark.parametrize(
    "path", PATHS, ids=lambda path: f"{path.parent.name}/{path.name.split('.')[0]}"
)
def test_round_trip(path: Path, wire: str) -> None:
    each = own(path)
    for whole in (False, True):
        trip = emitted(each.params, each.chunks, wire, whole=whole, close=each.close)
        if whole or not trip.is_early:
            assert differences(trip, wire) == []
        assert not found(trip.again)
