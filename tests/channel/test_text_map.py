"""What a text map forgets: no event shows it before there are thousands of pieces."""

from __future__ import annotations

import pytest

from stream_sidecar.channel.text_map import ForgottenError, TextMap


def test_a_map_that_may_forget_keeps_the_latest_stretches() -> None:
    text_map = TextMap(most=4)
    for _ in range(100):
        text_map.raw("é" * 256)
        text_map.units(text_map.length - 1, "byte")  # counted while all is known
    assert text_map.units(99 * 256, "byte") == 2 * 99 * 256
    with pytest.raises(ForgottenError):
        text_map.units(0, "byte")
