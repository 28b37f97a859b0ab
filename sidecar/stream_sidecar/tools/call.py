"""What is known of one tool call, before it is classified.

`CallAssembler` fills an `OpenCall` from a wire's fragments, the dialects from text, and
tool/classify from a provider's item. `Entry` is the assembler's own.
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

    ``id`` is the provider's, verbatim, or made up (``id_synthetic``) as soon as the
    call is handed out, and never changes then. ``arguments`` is set when the call ends,
    and ``rest``: the end of it that was not handed out as a delta. ``cut``: arguments
    beyond the limit are missing. ``bare``: none came before the wire or the finish
    ended the call. ``ambiguous``: readers of the arguments may differ. ``cancelled``:
    the provider took it back. ``key`` is the wire's, which a result without an id
    shares. ``block`` and ``reported`` (a delta with its id and name was sent) belong to
    the stream.
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
    reported: bool = False
    rest: str = ""
    cut: bool = False
    bare: bool = False
    ambiguous: bool = False
    cancelled: bool = False
    ended: bool = False

    def learn(self, part: CallPart) -> None:
        """Takes what a fragment says beside id and arguments: latest state wins."""
        self.name = self.name or clean_name(part.name or "")
        self.type = self.type or part.type
        self.executor = part.executor or self.executor
        self.caller = self.caller if part.caller is None else part.caller
        self.raw = self.raw if part.raw is None else part.raw
        if isinstance(self.opaque, dict) and isinstance(part.opaque, dict):
            self.opaque.update(part.opaque)
        elif part.opaque is not None:
            # A copy: later fragments add to it, and the part is not ours.
            opaque = part.opaque
            self.opaque = dict(opaque) if isinstance(opaque, dict) else opaque


@define(eq=False)
class Entry:
    """A call while it is open.

    ``resent``: its id is that of a call that ended, so nothing is handed out before it
    is clear that it differs. ``before``: the call behind whose arguments these began,
    without a word of their own; from that one it must differ, too. ``heir``: id and
    name that came when the arguments were complete; they belong to the next call, if
    there is one.
    """

    call: OpenCall
    number: int
    text: ArgumentText
    resent: bool
    before: OpenCall | None = None
    heir: tuple[str, str] = ("", "")
    shown: bool = False
    places: list[tuple[dict[Any, Entry], Any]] = field(factory=list)

    @property
    def is_head(self) -> bool:
        """Whether it has a name, and no arguments so far."""
        return bool(self.call.name) and self.call.key is None and self.text.empty

    @property
    def may_go_on(self) -> bool:
        """Whether arguments are missing, and nothing else than the end tells of it."""
        text = self.text
        return self.call.key is None and not (text.complete or text.placeholder)

    def stand_at(self, places: dict[Any, Entry], place: Any) -> None:
        if places.get(place) is not self:
            places[place] = self
            self.places.append((places, place))

    def inherit(self, other: Entry) -> None:
        """Fragments that would go to ``other``, which has left, come here."""
        for place in other.places:
            self.stand_at(*place)

    def leave(self) -> None:
        for places, place in self.places:
            if places.get(place) is self:
                del places[place]


def clean_name(name: str) -> str:
    """A tool's name without markup of the model's own that a server left behind it.

    ``search<|channel|>commentary``, ``search</arg_value>``, ``search" parameter="q``,
    ``search[ARGS]`` (waybarrios/vllm-mlx#631):
    no API lets a tool be named with these signs.
    """
    return _MARKUP.split(name, 1)[0] or name
