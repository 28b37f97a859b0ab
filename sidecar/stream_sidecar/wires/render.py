"""Turns a message into the messages that the next request must carry (wires/README.md,
"Requests").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.records import evolve
from stream_sidecar.wires import WIRES
from stream_sidecar.wires.requests.issuers import FOREIGN, issuer_of, without_foreign
from stream_sidecar.wires.requests.seals import BOUND
from stream_sidecar.wires.shared.fitting import fit
from stream_sidecar.wires.shared.rendering import Rendering
from stream_sidecar.wires.shared.request_rules import Names, maker_of, rule_for

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stream_sidecar.message.turn import Turn, TurnBlock, TurnResult
    from stream_sidecar.parts import JsonObject
    from stream_sidecar.wires.shared.rendering import Lost, Reasoning


_TYPES = ("text", "reasoning", "tool-call", "tool-result")

_CONTINUED = ("pause", "tool-calls")
"""Finish reasons after which results of a server's tools may come in the next
response."""


def render(
    turn: Turn,
    wire: str,
    *,
    provider: str | None = None,
    model: str | None = None,
    results: tuple[TurnResult, ...] = (),
    claims: bool = False,
    reasoning: Reasoning = "auto",
) -> tuple[list[JsonObject], list[Lost]]:
    """The messages of the next request for a turn, and reports of what they lack.

    ``provider`` and ``model``: those of the next request; without a ``model``, the one
    that wrote the message. ``claims``: calls that were found in text are sent as calls.
    """
    who, reason = turn.metadata, turn.finish.reason
    given = Names(who.host_provider or "", who.model or "")
    asked = Names(provider or who.host_provider or "", model or given.model)
    given_blocks = turn.all_blocks()
    whole = [block for block in given_blocks if not block.seal_broken]
    blocks = tuple(block for block in whole if _goes(block, claims=claims))
    row = WIRES[wire]
    assert row.request is not None
    rule = rule_for(row.rules, asked, {name for b in blocks for name in _fields(b)})
    continues = reason in _CONTINUED
    work = Rendering(blocks, turn.citations, rule, reasoning, continues)
    for block in given_blocks:
        if block.seal_broken:
            work.lose(block, "reasoning", BOUND)
        if block.type not in _TYPES:
            work.lose(block, "unknown", f'a block has no type "{block.type[:64]}"')
    work.blocks = tuple(_readable(work, block, asked) for block in work.blocks)
    fit(work, results, is_known=rule.accepts_state(given, asked))
    return row.request(work), work.lost


def _fields(block: TurnBlock) -> Iterable[str]:
    """The fields in which a block's reasoning, or its state, came."""
    is_state = block.type == "reasoning" and isinstance(block.opaque, dict)
    return (*block.fields, *(block.opaque if is_state else ()))


def _readable(work: Rendering, block: TurnBlock, asked: Names) -> TurnBlock:
    """A block without the state that another maker issued, as its own mark says. Its
    signature is part of this state."""
    maker = maker_of(asked.model)
    opaque = block.opaque if isinstance(block.opaque, dict) else {}
    new, gone = without_foreign(opaque, maker)
    fields = (issuer_of(name, None) for name in block.fields)
    is_foreign = bool(maker and any(each not in ("", maker) for each in fields))
    if not gone and not (is_foreign and block.signature):
        return block
    work.lose(block, "reasoning", FOREIGN)
    return evolve(block, opaque=new or None, signature=None)


def _goes(block: TurnBlock, *, claims: bool) -> bool:
    """Whether a block is sent. A call found in text is sent only with ``claims``; a
    result that a model wrote itself is never sent."""
    if block.type == "tool-call":
        return claims or block.origin == "structured"
    if block.type == "tool-result":
        return block.source == "server"
    return block.type in _TYPES
