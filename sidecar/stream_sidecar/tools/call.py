"""One tool call before it is classified.

An `OpenCall` is filled by `CallAssembler` from a wire's fragments, by `written` from
text, and by ``tool/classify`` from a provider's item. `Entry` belongs to the assembler.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from stream_sidecar import patterns
from stream_sidecar.records import define, field

if TYPE_CHECKING:
    from stream_sidecar.parts import CallPart
    from stream_sidecar.tools.arguments import ArgumentText

_MARKUP = patterns.compile(r"[<>\"']|\[(?:ARGS|CALL_ID|TOOL_CALLS)\]")


@define(eq=False)
class OpenCall:
    """Everything known of one call.

    ``id`` is the provider's, verbatim. A call without an id gets one that is made
    (``id_synthetic``) when it is first passed on, and keeps it. When the call ends, it
    gets ``arguments``, and ``rest``: the end of the arguments that no delta has.
    ``cut``: part of the arguments is missing. ``unclear``: it is not clear which
    members of the call's object they are. ``bare``: no arguments came before the wire
    or the finish ended the call. ``ambiguous``: readers may differ about the
    arguments (`members`). ``cancelled``: the provider took the call back. ``key`` is
    the wire's; a result without an id has the same key. ``block`` and
    ``header_sent`` (a delta with the id and the name was sent) are set by the stream.
    """

    name: str = ""
    id: str = ""
    id_synthetic: bool = False
    choice: int = 0
    key: int | str | None = None
    arguments: str = ""
    type: str | None = None
    format: Literal["json", "text"] = "json"
    executor: Literal["client", "server"] | None = None
    origin: Literal["structured", "text", "finish-message"] = "structured"
    channel: Literal["text", "reasoning"] = "text"
    dialect: str | None = None
    caller: Any = None
    opaque: Any = None
    raw: Any = None
    block: int | None = None
    header_sent: bool = False
    rest: str = ""
    cut: bool = False
    unclear: bool = False
    bare: bool = False
    ambiguous: bool = False
    cancelled: bool = False
    ended: bool = False

    def add_facts(self, part: CallPart) -> None:
        """Adds all that a fragment says except its id and arguments. Of names and types
        the first counts; of executors, callers, raw items and opaque state the last."""
        self.name = self.name or clean_name(part.name or "")
        self.type = self.type or part.type
        self.executor = part.executor or self.executor
        self.caller = self.caller if part.caller is None else part.caller
        self.raw = self.raw if part.raw is None else part.raw
        if isinstance(self.opaque, dict) and isinstance(part.opaque, dict):
            self.opaque.update(part.opaque)
        elif part.opaque is not None:
            # A copy: later fragments add to it, and the part must not change.
            opaque = part.opaque
            self.opaque = dict(opaque) if isinstance(opaque, dict) else opaque


@define(eq=False)
class Entry:
    """A call while it is open.

    ``may_repeat``: a call with the same id has ended, so nothing is passed on before it
    is clear that this call differs from the ended one. ``earlier``: if this call began
    with a second object after the arguments of another call, that other call; this call
    must differ from it, too. ``next_ids``: an id and a name that came when the
    arguments were complete; they belong to the next call, if there is one. ``is_sent``:
    the call was passed on. ``places``: tables and keys at which the assembler finds
    this entry.
    """

    call: OpenCall
    number: int
    text: ArgumentText
    may_repeat: bool
    earlier: OpenCall | None = None
    next_ids: tuple[str, str] = ("", "")
    is_sent: bool = False
    places: list[tuple[dict[Any, Entry], Any]] = field(factory=list)

    @property
    def is_head(self) -> bool:
        """Whether the call has a name, and no arguments so far."""
        return bool(self.call.name) and self.call.key is None and self.text.empty

    @property
    def may_continue(self) -> bool:
        """Whether more arguments may come: the arguments so far are not complete, and
        the wire has no key with which it would end the call."""
        text = self.text
        return self.call.key is None and not (text.complete or text.placeholder)

    def enter_at(self, table: dict[Any, Entry], key: Any) -> None:
        """Puts this entry into the table ``table``, under the key ``key``."""
        if table.get(key) is not self:
            table[key] = self
            self.places.append((table, key))

    def inherit_places(self, other: Entry) -> None:
        """Takes over the places of ``other``, so that fragments for ``other`` go to
        this entry. ``other`` must have left its places."""
        for place in other.places:
            self.enter_at(*place)

    def leave_places(self) -> None:
        """Removes this entry from all tables."""
        for table, key in self.places:
            if table.get(key) is self:
                del table[key]


def clean_name(name: str) -> str:
    """A tool's name without the model's own markup, if a server left some after the
    name.

    ``search<|channel|>commentary``, ``search</arg_value>``, ``search" parameter="q``,
    ``search[ARGS]`` (waybarrios/vllm-mlx#631): no API allows these characters in the
    name of a tool.
    """
    return _MARKUP.split(name, 1)[0] or name
