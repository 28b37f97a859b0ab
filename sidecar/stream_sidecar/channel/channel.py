"""The text and reasoning of one choice: its answer and its native reasoning.

`Answer` reads the answer's text, in which reasoning may stand between tags.
`NativeReasoning` reads the provider's fields for reasoning. `Channel` makes both, and
has the steps that are for both: held text is decided by a structured call and a wire's
block end (``border``), and by the end (``flush``; text rule 13.4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.channel.answer import Answer
from stream_sidecar.channel.blocks import Blocks
from stream_sidecar.channel.found_forms import FoundForms
from stream_sidecar.channel.native_reasoning import NativeReasoning
from stream_sidecar.channel.native_text import NativeText
from stream_sidecar.channel.readers import Readers
from stream_sidecar.channel.tagged_reasoning import TaggedReasoning
from stream_sidecar.dialects.profiles import cumulative_fields

if TYPE_CHECKING:
    from stream_sidecar.channel.found_forms import FormSink
    from stream_sidecar.channel.setup import Surroundings


class Channel:
    """The text and reasoning of one choice. What is found in them goes to ``sink``."""

    def __init__(self, choice: int, shared: Surroundings, sink: FormSink) -> None:
        outlet, limit = shared.outlet, shared.options.limits.max_document_chars
        self.blocks = blocks = Blocks(choice, outlet)
        self.forms = forms = FoundForms(choice, outlet, blocks, sink)
        self.readers = readers = Readers(outlet.counters)
        mirrors = NativeText(limit, cumulative_fields(shared.profile))
        tagged = TaggedReasoning(choice, shared, readers, mirrors, blocks)
        self._tagged = tagged
        self.answer = Answer(choice, shared, readers, tagged, blocks, forms)
        self.native = NativeReasoning(
            choice, shared, readers, mirrors, tagged, blocks, forms
        )

    @property
    def repaired(self) -> int:
        """The number of half characters that had no other half."""
        return self.answer.joiner.repaired + self.native.joiner.repaired

    def border(self, *, call: bool, opaque: Any = None) -> None:
        """Decides held text, because a structured call (``call``) or the end of a block
        on the wire comes next (text rule 13.4). ``opaque``: provider state of the block
        that ends."""
        self.flush(followed=call)
        if self.blocks.open is not None and opaque is not None:
            self.blocks.open.opaque = opaque
        self.blocks.end()
        if call:
            self.answer.call()

    def refuse(self, *, is_refusal: bool) -> None:
        """Decides held text and ends the block, because the next text belongs to a
        refusal or, without ``is_refusal``, to the answer again."""
        self.border(call=False)
        self.blocks.refuses = True if is_refusal else None

    def flush(self, *, followed: bool = False) -> None:
        """Decides held text as if the text ended here; reasoning, fence and line
        continue. ``followed``: a structured call follows."""
        self.answer.flush(followed=followed)
        self.native.flush()
        self._tagged.flush()
