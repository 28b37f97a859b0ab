"""Adapts a turn to what the next provider accepts, before a wire writes it.

A call without a name is left out. Refused names and ids are replaced, and ids become
unique within the turn. Each call keeps at most one result. State goes only to a
provider that can read it (`Rule.accepts_state`). Losses are reported (wires/README.md,
"Requests").
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from stream_sidecar.records import evolve
from stream_sidecar.values.made_id import made_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from stream_sidecar.message.turn import TurnBlock, TurnResult
    from stream_sidecar.wires.shared.rendering import Rendering, What
    from stream_sidecar.wires.shared.request_rules import Rule

_FOREIGN = "it is state of another provider or model, which this one cannot read"
_APPROVAL = "client-approval"
_UNDECIDED = "it waits for an approval, and none is given"
_OPEN = "no result is given, and without one the call is refused"


def fit(
    turn: Rendering,
    results: tuple[TurnResult, ...],
    can_read: Callable[[TurnBlock], bool],
) -> None:
    """Replaces the blocks of ``turn`` by blocks that the provider accepts, and assigns
    the host's ``results`` to its calls. ``can_read``: it can read a block's state."""
    fitting = (
        block if can_read(block) else _without_state(turn, block)
        for block in _named(turn)
    )
    blocks = [block for block in fitting if block is not None]
    old_ids = [block.tool_call_id or "" for block in blocks if _is_clients(block)]
    turn.blocks = tuple(_renamed(turn, blocks))
    calls: defaultdict[str, list[TurnBlock]] = defaultdict(list)
    for id, call in zip(old_ids, turn.calls, strict=True):
        calls[id].append(call)
    _pair(turn, calls, results)


def _is_clients(block: TurnBlock) -> bool:
    """Whether a block is a call that the client answers."""
    return block.type == "tool-call" and block.executor != "server"


def _named(turn: Rendering) -> Iterator[TurnBlock]:
    """The blocks without nameless calls and their results."""
    nameless: set[str | None] = set()
    for block in turn.blocks:
        if _is_clients(block) and not name_for(turn.rule, block.name or ""):
            turn.lose(block, "tool-call", "a call without a name is refused")
            nameless.add(block.tool_call_id)
        elif block.type == "tool-result" and block.tool_call_id in nameless:
            turn.lose(block, "tool-result", "its call has no name")
        else:
            yield block


def _without_state(turn: Rendering, block: TurnBlock) -> TurnBlock | None:
    """The block without such state; None for a server's tools: all of them is state."""
    if block.type == "tool-result" or block.executor == "server":
        turn.lose(block, _WHAT.get(block.type, "tool-call"), _FOREIGN)
        return None
    has_caller = isinstance(block.caller, dict) and block.caller.keys() - {"type"}
    if any((block.signature, block.opaque, has_caller)):
        turn.lose(block, _WHAT.get(block.type, "state"), _FOREIGN)
    return evolve(block, signature=None, opaque=None, caller=None)


_WHAT: dict[str, What] = {"reasoning": "reasoning", "tool-result": "tool-result"}


def _renamed(turn: Rendering, blocks: list[TurnBlock]) -> Iterator[TurnBlock]:
    """The blocks, with calls' names and ids that the provider accepts."""
    rule = turn.rule
    calls = (block for block in blocks if block.type == "tool-call")
    ids = {block.tool_call_id for block in calls if not _is_clients(block)}
    for number, block in enumerate(blocks):
        if not _is_clients(block):
            yield block
            continue
        old_name, id = block.name or "", block.tool_call_id or ""
        name = name_for(rule, old_name)
        if name != old_name:
            turn.lose(block, "name", "this provider accepts only other names of tools")
        new_id = id_for(rule, id) if id else made_id(f"#{number}")
        if new_id in ids:
            new_id = made_id(f"{id}#{number}")
        if id and new_id != id:
            turn.lose(block, "tool-call-id", _OTHER_ID)
        ids.add(new_id)
        is_made = block.id_synthetic or not id
        yield evolve(block, name=name, tool_call_id=new_id, id_synthetic=is_made)


def name_for(rule: Rule, name: str) -> str:
    """A tool's name as the provider accepts it; "" if ``name`` is blank."""
    is_blank = not name.strip(" \0\t\r\n")
    return "" if is_blank else rule.no_names.sub("_", name)[: rule.longest_name]


def id_for(rule: Rule, id: str) -> str:
    """``id`` if the provider accepts it, else an id derived from it."""
    return id if id and not rule.no_ids.search(id) else made_id(id)


_OTHER_ID = "this provider accepts only other ids, and each only once"


def _pair(
    turn: Rendering, calls: dict[str, list[TurnBlock]], results: tuple[TurnResult, ...]
) -> None:
    """Assigns results to the calls with the same id, in order. If there are more
    results than calls, the last ones count."""
    unanswered = {id: list(twins) for id, twins in calls.items()}
    surplus = Counter(result.tool_call_id for result in results)
    for id, twins in calls.items():
        surplus[id] -= len(twins)
    waiting = {b.tool_call_id: b for b in turn.blocks if b.awaits == _APPROVAL}
    for result in results:
        id = result.tool_call_id
        if id in waiting:
            turn.approvals.append((waiting.pop(id), result))
        elif id not in calls:
            turn.lose(None, "tool-result", f"no call of this turn has the id {id}")
        elif surplus[id] > 0:
            surplus[id] -= 1
            turn.lose(None, "tool-result", f"another result for {id} comes later")
        else:
            call = unanswered[id].pop(0)
            turn.answers.append((call, evolve(result, tool_call_id=call.tool_call_id)))
    for call in waiting.values():
        turn.lose(call, "tool-result", _UNDECIDED)
    answered_ids = {
        block.tool_call_id for block in turn.blocks if block.type == "tool-result"
    }
    for call in (
        call for id in unanswered if id not in answered_ids for call in unanswered[id]
    ):
        turn.lose(call, "tool-result", _OPEN)
    _surpass(
        turn, answered_ids & {result.tool_call_id for result in results} & calls.keys()
    )


def _surpass(turn: Rendering, ids: set[str | None]) -> None:
    """Drops the turn's results for calls (``ids``) that the host answers as well."""
    for block in turn.blocks:
        if block.type == "tool-result" and block.tool_call_id in ids:
            turn.lose(block, "tool-result", "the host has another result")
    turn.blocks = tuple(
        block
        for block in turn.blocks
        if block.type != "tool-result" or block.tool_call_id not in ids
    )
