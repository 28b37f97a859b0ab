"""Ollama: the row of the wire."""

from __future__ import annotations

from functools import partial

from stream_sidecar.wires.ollama.reader import OllamaWire, fits
from stream_sidecar.wires.ollama.request import write
from stream_sidecar.wires.shared.reasoning_fields import ReasoningFields
from stream_sidecar.wires.shared.request_rules import Rule
from stream_sidecar.wires.shared.request_shapes import RequestShape
from stream_sidecar.wires.shared.row import WireRow
from stream_sidecar.wires.shared.usage import UsageShape

ROW = WireRow(
    name="ollama",
    title="Ollama",
    reader=OllamaWire,
    fits=fits,
    usage=UsageShape(input=("prompt_eval_count",), output=("eval_count",)),
    reasons={"load": "pause", "unload": "pause"},
    request=write,
    shape=RequestShape(is_parsed=True),
    cleaner=partial(ReasoningFields, plain=("thinking",)),
    rules=(
        Rule(
            "docs.ollama.com/capabilities/thinking and tool-calling: the message is"
            " appended with its thinking; it is read by the model's template"
        ),
    ),
)
