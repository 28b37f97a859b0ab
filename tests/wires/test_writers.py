"""Every recording, emitted on every wire and read there again: the same message."""

from __future__ import annotations

import pytest
from emitting import differences, emitted, found
from recordings import PATHS, own

from stream_sidecar.wires import WRITERS


@pytest.mark.parametrize("wire", WRITERS)
def test_round_trip(wire: str, subtests: pytest.Subtests) -> None:
    for each in map(own, PATHS):
        for whole in (False, True):
            with subtests.test(each.name, whole=whole):
                chunks, close = each.chunks, each.close
                trip = emitted(each.params, chunks, wire, whole=whole, close=close)
                if whole or not trip.is_early:
                    assert differences(trip, wire) == []
                assert not found(trip.again)
