"""Native reasoning: the text and the state in a provider's fields for reasoning.

What the fields repeat is left out first (`NativeText`). A splitter then removes
delimiters and forms from the rest, which is sent as reasoning of the source ``native``.
Example: ``reasoning_content`` of ``<think>why`` is sent as ``why``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.events import Diagnostic
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.message.outlet import RunReader
from stream_sidecar.text.pieces import WRITTEN_KINDS, merged
from stream_sidecar.values.surrogates import SurrogateJoiner

if TYPE_CHECKING:
    from stream_sidecar.channel.blocks import Blocks
    from stream_sidecar.channel.found_forms import FoundForms
    from stream_sidecar.channel.native_text import NativeText
    from stream_sidecar.channel.readers import Readers
    from stream_sidecar.channel.setup import Surroundings
    from stream_sidecar.channel.tagged_reasoning import TaggedReasoning
    from stream_sidecar.events import Severity
    from stream_sidecar.text.pieces import Pieces
    from stream_sidecar.text.splitter import Splitter

_SAID_BEFORE: tuple[str, Severity, str] = (
    "duplicate-reasoning",
    "info",
    "the provider repeats what its reasoning field has said",
)


class NativeReasoning:
    """The native reasoning of one choice. Before `push` and `state` the caller ends the
    answer's run."""

    def __init__(
        self,
        choice: int,
        shared: Surroundings,
        readers: Readers,
        mirrors: NativeText,
        tagged: TaggedReasoning,
        blocks: Blocks,
        forms: FoundForms,
    ) -> None:
        self.choice = choice
        self.outlet = shared.outlet
        self.joiner = SurrogateJoiner()
        self._shared = shared
        self._readers = readers
        self._mirrors = mirrors
        self._tagged = tagged
        self._blocks = blocks
        self._forms = forms
        self._block: int | str | None = None  # the provider's key of the last block

    def push(
        self,
        field: str,
        given: str,
        block: int | str | None,
        document: int,
        *,
        is_signed: bool = False,
    ) -> None:
        """Reads ``given``, a text of the native ``field``, which belongs to ``block``
        of the provider. ``document``: the number of the document; ``is_signed``: the
        provider has signed ``given`` (see `NativeText`)."""
        is_open = self._blocks.is_native_open and not self._blocks.signed
        is_same_block = is_open and block == self._block
        if is_signed and not self._blocks.signed:
            self._mirrors.sign(given, document)
        new, repeated = self._mirrors.push(
            field, given, document, same_block=is_same_block
        )
        if repeated:
            self.outlet.send(Diagnostic, self.choice, *_SAID_BEFORE, repeated)
        text = self.joiner.push(new)
        if self.outlet.listener is not None:
            known, size = given[: len(given) - len(new)], len(repeated)
            self.outlet.listener.reasoning(self.choice, field, known, size, text)
        is_next = bool(text) and (self._blocks.signed or block != self._block)
        if is_next:
            self._block = block
            self._blocks.end_native()
        self._mirrors.says(field, restarts=is_next)
        if not text:
            return
        readers = self._readers
        if readers.native is None:
            readers.native = self._shared.native(readers.beside_native)
        self._take(readers.native, readers.native.push(text))
        if readers.native.held:
            if readers.answer is not None:
                readers.answer.first.passage = None  # there may be no room for blanks
            readers.note_held()

    def continuation(
        self, fields: list[str], block: int | str | None
    ) -> RunReader | None:
        """The fast reader for further reasoning in the same ``fields`` and the same
        ``block`` of the provider; None if each text must be read in full."""
        native, blocks, mirrors = self._readers.native, self._blocks, self._mirrors
        passage = None if native is None else native.passage
        if native is None or passage is None or self.outlet.trace:
            return None
        if not blocks.is_native_open or blocks.signed or block != self._block:
            return None  # the next reasoning begins another block
        is_compared = self.joiner.held or self._tagged.needs_native
        if is_compared or not mirrors.in_step(fields):
            return None

        def account(texts: list[str], more: int) -> int:
            if texts:
                native.show_passed(text := "".join(texts))
                blocks.extend(text)
                mirrors.extend(fields, text, len(texts))
            return mirrors.longest(fields, more)

        # lines do not matter in reasoning
        return RunReader(passage[0].pattern.search, blocks.native, account)

    def state(
        self,
        signature: str | None,
        opaque: Any,
        block: int | str | None,
        field: str | None,
    ) -> None:
        """Adds state to ``block``, which came in ``field`` if this has no text."""
        if block is not None and block != self._block:
            self._block = block
            self._blocks.begin_native()
        self._blocks.state(signature, opaque, field)

    def flush(self) -> None:
        half, native = self.joiner.close(), self._readers.native
        if native is None:
            return
        if half and self.outlet.listener is not None:
            field = self._mirrors.fields[-1]
            self.outlet.listener.reasoning(self.choice, field, "", 0, half)
        pieces = native.push(half) if half else []
        self._take(native, [*pieces, *native.flush()])

    def _take(self, reader: Splitter, pieces: Pieces) -> None:
        for piece in pieces if len(pieces) < 2 else merged(pieces):
            kind, text, start, end = piece
            if kind is PieceKind.REASONING:
                span, fields = self.outlet.span(start, end), self._mirrors.fields
                self._blocks.reasoning(text, "native", span, fields)
                self._tagged.native(text)
                continue
            self._blocks.removed(text)
            if kind in WRITTEN_KINDS:
                self._forms.pass_on(reader.verdicts.popleft(), piece, reasoning=True)
            else:
                self._forms.removed(piece)
