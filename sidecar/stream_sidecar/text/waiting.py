"""Forms at the answer's start or end, while it is not known what follows them.

`Waiting` keeps them, with the blanks behind them. Visible text behind results at the
start makes them repetitions; behind stop tokens and calls without a marker it makes
those text. Where the answer ends it is the other way round. Example: ``Done.<|im_end|>
`` waits behind ``Done.``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.records import define, field
from stream_sidecar.text.shown_text import SPACE

if TYPE_CHECKING:
    from stream_sidecar.forms.candidate import Taken

Item: TypeAlias = "tuple[str, int, Taken | None]"
"""Text, its position, and what is known of it; None: blanks, or without text a
removal."""


@define(eq=False)
class Waiting:
    """``held``: code points, ``called`` of them of calls; ``values``: what results say
    that nobody has looked at yet, and ``proven``: those before prove enough; ``tail``:
    the end of what waits, at least ``size`` of it; ``breaks``: it has several lines;
    ``line_shown``: the last one is not blank; ``alone``: nothing but closers stands on
    it."""

    _size: int
    alone: bool
    items: list[Item] = field(factory=list)
    held: int = 0
    called: int = 0
    values: list[dict[str, Any]] = field(factory=list)
    proven: bool = False
    tail: str = ""
    breaks: bool = False
    line_shown: bool = False

    def push(self, text: str, start: int, taken: Taken | None = None) -> None:
        """A form waits, or blanks behind one."""
        self.items += [(text, start, taken)] if text else []
        self.held += len(text)
        if taken is not None:
            self.alone = self.alone and not taken.waits
            self.called += len(text) if taken.kind is PieceKind.CALL else 0
            echo = taken.kind is PieceKind.RESULT and not taken.opening.form.called
            self.values += [taken.content] if echo else []
            self.proven = self.proven or taken.opening.form.called
        self.tail = (self.tail + text)[-self._size :]
        _, line, last = text.rpartition("\n")
        self.breaks = self.breaks or bool(line)
        self.line_shown = bool(last.strip(SPACE)) or (self.line_shown and not line)

    def removed(self) -> None:
        """Something was taken out behind what waits."""
        if self.items[-1][0]:
            self.items.append(("", 0, None))

    @property
    def gap(self) -> str:
        """The blanks behind the last form."""
        text, _, taken = self.items[-1]
        return text if taken is None else ""
