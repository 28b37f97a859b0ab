"""The table of lanes: a new one is a line here, its rules a function elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import frozen

from fuzz import amplify, engine, legitimate, marks, neighbours, pump, rpc, stored

Input = dict[str, Any]


@frozen
class Lane:
    """``draw(number)`` gives an input, ``check`` raises if something does not hold.

    ``timed``: an input must not take long for its size.
    """

    name: str
    draw: Callable[[int], Input]
    check: Callable[[Input], None]
    timed: bool = True


LANES: dict[str, Lane] = {
    lane.name: lane
    for lane in (
        Lane("pieces", engine.draw_short, engine.check_pieces),
        Lane("text", engine.draw_any_text, engine.check_text),
        Lane("long", engine.draw_long, engine.check_long, timed=False),
        Lane("turns", engine.draw_turns, engine.check_turns),
        Lane("documents", engine.draw_documents, engine.check_documents),
        Lane("neighbours", neighbours.draw_neighbours, neighbours.check_neighbours),
        Lane("bodies", engine.draw_body, engine.check_body),
        Lane("legitimate", legitimate.draw_legitimate, legitimate.check_legitimate),
        Lane("mentions", marks.draw_mentions, marks.check_mentions),
        Lane("leaks", marks.draw_leaks, marks.check_leaks),
        Lane("stored", stored.draw_stored, stored.check_stored),
        Lane("closed", stored.draw_stored, stored.check_closed),
        Lane("amplify", amplify.draw_amplified, amplify.check_amplified, timed=False),
        Lane("emit", amplify.draw_emitted, amplify.check_emitted, timed=False),
        Lane("pump", pump.draw_pumped, pump.check_pumped, timed=False),
        Lane("rpc", rpc.draw_sequence, rpc.check_sequence),
    )
}
