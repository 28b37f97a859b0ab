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
    """The waiting ``items``. ``held``: how many code points wait. ``call_size``: how
    many of them belong to calls.

    ``values``: the objects of results that were not examined yet. ``is_proven``:
    results examined before are certainly repetitions. ``tail``: the last ``_tail_size``
    waiting characters. ``has_line_break``: a line break waits. ``line_shown``: the last
    waiting line is not blank. ``is_alone``: the line where the items begin has nothing
    but closers of calls.
    """

    _tail_size: int
    is_alone: bool
    items: list[Item] = field(factory=list)
    held: int = 0
    call_size: int = 0
    values: list[dict[str, Any]] = field(factory=list)
    is_proven: bool = False
    tail: str = ""
    has_line_break: bool = False
    line_shown: bool = False

    def push(self, text: str, start: int, form: Taken | None = None) -> None:
        """Adds a form with its `Taken`, or blanks; ``start``: their place."""
        self.items += [(text, start, form)] if text else []
        self.held += len(text)
        if form is not None:
            self.is_alone = self.is_alone and not form.waits
            self.call_size += len(text) if form.kind is PieceKind.CALL else 0
            is_echo = form.kind is PieceKind.RESULT and not form.opening.form.called
            self.values += [form.content] if is_echo else []
            self.is_proven = self.is_proven or form.opening.form.called
        self.tail = (self.tail + text)[-self._tail_size :]
        _, sign, last_line = text.rpartition("\n")
        self.has_line_break = self.has_line_break or bool(sign)
        self.line_shown = bool(last_line.strip(SPACE)) or (self.line_shown and not sign)

    def note_removal(self) -> None:
        """Notes that something was removed after the last waiting item."""
        if self.items[-1][0]:
            self.items.append(("", 0, None))

    @property
    def last_blanks(self) -> str:
        """The blanks after the last form."""
        text, _, form = self.items[-1]
        return text if form is None else ""
