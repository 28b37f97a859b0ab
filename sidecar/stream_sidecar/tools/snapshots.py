"""Arguments that are sent as a growing whole: each delta has all that came before.

Some servers write ``{"path": "a.py", "text": "`` and then ``{"path": "a.py", "text":
"x"}``: the second delta is no fragment but a snapshot. It is one where the joined text
cannot be JSON and the repetition can. As long as both can, what came is held, and
looked at again when it has doubled, so that the work stays linear.
"""

from __future__ import annotations

from stream_sidecar.records import define
from stream_sidecar.tools.judging import is_cut, judge

SHORTEST = 32
"""Code points that must be repeated: fewer may well be said twice."""


@define
class Snapshot:
    """What may be a snapshot: ``text`` came behind ``given``, with which it begins; no
    more than ``room`` of it may wait."""

    given: str
    text: str
    room: int
    looked: int = 0

    def news(self, text: str, *, final: bool = False) -> str | None:
        """What is new once ``text`` has come, too; None: it is not known yet."""
        self.text += text
        final = final or len(self.text) > self.room
        if len(self.text) < 2 * self.looked and not final:
            return None
        self.looked = len(self.text)
        can_be = _is_json if final else _may_be_json
        fragment, snapshot = can_be(self.given + self.text), can_be(self.text)
        if fragment and snapshot and not final:
            return None
        return self.text if fragment or not snapshot else self.text[len(self.given) :]


def _may_be_json(text: str) -> bool:
    return is_cut(text) or _is_json(text)


def _is_json(text: str) -> bool:
    return judge(text)[0] == "complete"
