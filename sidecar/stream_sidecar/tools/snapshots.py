"""Arguments that are sent as snapshots: each delta has all that came before it.

Some servers write ``{"path": "a.py", "text": "`` and then
``{"path": "a.py", "text": "x"}``: the second delta is no fragment but a snapshot. A
delta is a snapshot if both deltas together cannot be JSON, and the second delta alone
can. While both are possible, the delta is held. It is examined again when its size has
doubled, so the work is linear.
"""

from __future__ import annotations

from stream_sidecar.records import define
from stream_sidecar.tools.judging import is_cut, judge

SHORTEST = 32
"""A snapshot repeats at least this many code points. A model may well repeat fewer."""


@define
class Snapshot:
    """A possible snapshot: ``text`` came after ``earlier`` and begins with it.
    ``room``: at most this many code points of ``text`` wait. ``examined_size``: the
    size of ``text`` when it was last examined."""

    earlier: str
    text: str
    room: int
    examined_size: int = 0

    def new_text(self, text: str, *, final: bool = False) -> str | None:
        """Adds ``text``. Returns what is new in the whole text, or None while this is
        not known. ``final``: no more text comes."""
        self.text += text
        final = final or len(self.text) > self.room
        if len(self.text) < 2 * self.examined_size and not final:
            return None
        self.examined_size = len(self.text)
        can_be = _is_json if final else _may_be_json
        fragment, snapshot = can_be(self.earlier + self.text), can_be(self.text)
        if fragment and snapshot and not final:
            return None
        return self.text if fragment or not snapshot else self.text[len(self.earlier) :]


def _may_be_json(text: str) -> bool:
    return is_cut(text) or _is_json(text)


def _is_json(text: str) -> bool:
    return judge(text)[0] == "complete"
