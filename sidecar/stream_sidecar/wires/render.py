"""Turns a message into the messages that the next request must carry (wires/README.md,
"Requests").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.records import define, evolve
from stream_sidecar.wires import WIRES
from stream_sidecar.wires.requests.issuers import (
    BLOCKS,
    FOREIGN,
    OTHER_ACCOUNT,
    is_account_bound,
    issuers_in,
    maker_of_blocks,
    without_foreign,
)
from stream_sidecar.wires.requests.seals import BOUND
from stream_sidecar.wires.shared.fitting import fit
from stream_sidecar.wires.shared.rendering import Rendering
from stream_sidecar.wires.shared.request_rules import Names, differ, rule_for, seller

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stream_sidecar.message.turn import Turn, TurnBlock, TurnResult
    from stream_sidecar.parts import JsonObject
    from stream_sidecar.wires.shared.rendering import Lost, Reasoning, What


_DETAILS = "reasoning_details"
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
    that wrote the message. ``claims``: calls found in text are sent as calls."""
    metadata, reason = turn.metadata, turn.finish.reason
    source = Names(metadata.host_provider or "", metadata.model or "")
    target = Names(provider or metadata.host_provider or "", model or source.model)
    given_blocks = turn.all_blocks()
    intact = [block for block in given_blocks if not block.seal_broken]
    blocks = tuple(block for block in intact if _is_sent(block, claims=claims))
    row = WIRES[wire]
    assert row.request is not None
    rule = rule_for(row.rules, target, {name for b in blocks for name in _fields(b)})
    continues = reason in _CONTINUED
    work = Rendering(blocks, turn.citations, rule, reasoning, continues)
    for block in given_blocks:
        if block.seal_broken:
            work.lose(block, "reasoning", BOUND)
        if block.type not in _TYPES:
            work.lose(block, "unknown", f'a block has no type "{block.type[:64]}"')
    maker = Names(metadata.provider or "", source.model).maker or source.maker
    state = _State(work, source, target, maker, _maker_of_details(given_blocks))
    work.blocks = tuple(map(state.readable, work.blocks))
    fit(work, results, state.is_known)
    return row.request(work), work.lost


def _fields(block: TurnBlock) -> Iterable[str]:
    """The fields in which a block's reasoning, or its state, came."""
    is_state = block.type == "reasoning" and isinstance(block.opaque, dict)
    return (*block.fields, *(block.opaque if is_state else ()))


def _maker_of_details(blocks: Iterable[TurnBlock]) -> str:
    """The maker that all marks in a message's ``reasoning_details`` name; else ""."""
    opaque = (block.opaque for block in blocks if isinstance(block.opaque, dict))
    states = [{_DETAILS: state[_DETAILS]} for state in opaque if _DETAILS in state]
    makers = {maker for state in states for maker in issuers_in(state).values()}
    return makers.pop() if len(makers) == 1 else ""


@define
class _State:
    """Which state of a message the next model can read. ``source``: the provider and
    model of the message, ``maker``: the maker of this model; ``target``: those of the
    next request; ``details``: the maker that its ``reasoning_details`` name."""

    work: Rendering
    source: Names
    target: Names
    maker: str
    details: str

    def readable(self, block: TurnBlock) -> TurnBlock:
        """A block without the state, or signature, that another maker issued, as its
        own mark says, or that is bound to another account."""
        opaque = block.opaque if isinstance(block.opaque, dict) else {}
        state, paths = without_foreign(opaque, self.target.maker)
        is_foreign = bool(paths) or differ(self._signer(block), self.target.maker)
        is_bound = bool(block.signature) and is_account_bound(self.source, self.target)
        if not is_foreign and not is_bound:
            return block
        kind: What = "reasoning" if block.type == "reasoning" else "state"
        self.work.lose(block, kind, FOREIGN if is_foreign else OTHER_ACCOUNT)
        return evolve(block, opaque=state or None, signature=None)

    def is_known(self, block: TurnBlock) -> bool:
        """Whether the next model can read a block's state, by its mark or the names."""
        source, rule = self.source, self.work.rule
        if not differ(self.maker, self.target.maker):
            return rule.accepts_state(source, self.target)
        opaque = block.opaque if isinstance(block.opaque, dict) else {}
        makers = {*issuers_in(opaque, self.target.maker).values()}
        makers |= {self._signer(block)} if block.signature else set()
        provider = "" if seller(source.provider) else source.provider
        is_marked = makers == {self.target.maker}
        return is_marked and rule.accepts_state(Names(provider), self.target)

    def _signer(self, block: TurnBlock) -> str:
        """The maker that issued a block's signature, if its field shows it, else ""."""
        if not block.signature:
            return ""
        if _DETAILS in block.fields:
            return self.details
        if any(name.endswith(BLOCKS) for name in block.fields):
            return maker_of_blocks(self.maker, self.target.maker)
        return ""


def _is_sent(block: TurnBlock, *, claims: bool) -> bool:
    """Whether a block is sent: a call found in text only with ``claims``, a result that
    a model wrote itself never."""
    if block.type == "tool-call":
        return claims or block.origin == "structured"
    if block.type == "tool-result":
        return block.source == "server"
    return block.type in _TYPES
