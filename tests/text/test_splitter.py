"""What the splitter of a channel does that no page under ``spec`` can show."""

from __future__ import annotations

from open_params import options_of

from stream_sidecar.channel.setup import surroundings
from stream_sidecar.message.outlet import Outlet


def test_no_text_gives_no_pieces() -> None:
    """Wherever it is pushed: at the start, behind plain text, while something waits."""
    outlet = Outlet(parts=True, trace=False)
    shared = surroundings(options_of({"wire": "text"}), outlet)
    splitter = shared.answer().first
    for text in ("a", "b ", "<thi"):
        assert splitter.push("") == []
        splitter.push(text)
    assert splitter.push("") == []
