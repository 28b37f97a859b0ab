"""Forms at the answer's start or end that wait for the text after them.

`Waiting` keeps them together with the blanks after them. If visible text follows,
results at the start are removed, but stop tokens and calls without a marker are text.
If the answer ends, results are text, but stop tokens and such calls are removed.
Example: ``<|im_end|>`` after ``Done.`` waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.records import define, field
from stream_sidecar.text.shown_text import SPACE

if TYPE_CHECKING:
    from stream_sidecar.forms.candidate import Taken

Item: TypeAlias = "tuple[str, int, Taken | None]"
"""A form's text, its position and its `Taken`. None in place of the `Taken`: the text
is blanks; if it is empty, something was removed here."""


@define(eq=False)
class Waiting:
    """The waiting ``items``. ``held``: how many code points wait. ``called``: how many
    of them belong to calls.

    ``values``: the objects of results that were not examined yet. ``proven``: results
    examined before are certainly repetitions. ``tail``: the last ``_size`` waiting
    characters. ``breaks``: a line break waits. ``line_shown``: the last waiting line is
    not blank. ``alone``: the line where the items begin has nothing but closers of
    calls.
    """

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
        """Adds a form with its `Taken`, or blanks after a form. ``start``: the position
        of ``text`` in the channel."""
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
        """Notes that something was removed after the last waiting item."""
        if self.items[-1][0]:
            self.items.append(("", 0, None))

    @property
    def gap(self) -> str:
        """The blanks after the last form."""
        text, _, taken = self.items[-1]
        return text if taken is None else ""
