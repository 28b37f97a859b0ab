"""Whether reasoning that is emitted in a wire's field may come back in a request.

SDKs send back what they got, and a provider may refuse that. `accepts_reasoning`
decides without knowledge of any provider: it renders a turn by the provider's rules
(wires/README.md, "Requests"). Reasoning that is in the rendered turn is accepted.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from stream_sidecar.message.turn import Turn, TurnBlock
from stream_sidecar.values.jsontext import dumps
from stream_sidecar.wires import WIRES
from stream_sidecar.wires.render import render

if TYPE_CHECKING:
    from stream_sidecar.wires.shared.rendering import Reasoning

_TEXT = TurnBlock("text", 0, "Hi")
_CALL = TurnBlock("tool-call", 0, tool_call_id="call00000", name="f", arguments="{}")


@lru_cache(maxsize=256)
def accepts_reasoning(wire: str, provider: str | None, model: str | None) -> bool:
    """Whether reasoning that nobody signed may come back, in any turn.

    If turns with calls must have the field, so that rendering makes an empty one, a
    turn without calls has the field only if the provider's rule sends it. Otherwise the
    field counts as accepted if the turn has it when all reasoning is sent.
    """
    field = WIRES[wire].unsigned_field
    if not field:
        return False

    def has_field(*blocks: TurnBlock, mode: Reasoning = "auto") -> bool:
        turn = Turn(blocks=blocks)
        messages, _ = render(turn, wire, provider=provider, model=model, reasoning=mode)
        return f'"{field}":' in dumps(messages)

    thought = TurnBlock("reasoning", 0, "Hm.", source="native", fields=(field,))
    return has_field(thought, _TEXT, mode="auto" if has_field(_CALL) else "all")
