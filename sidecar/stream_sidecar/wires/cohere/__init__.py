"""Cohere: the row of the wire."""

from __future__ import annotations

from stream_sidecar.wires.cohere.reader import CohereWire, fits
from stream_sidecar.wires.cohere.refusals import CohereCleaner
from stream_sidecar.wires.cohere.request import write
from stream_sidecar.wires.shared.request_rules import Rule
from stream_sidecar.wires.shared.row import WireRow
from stream_sidecar.wires.shared.usage import UsageShape

ROW = WireRow(
    name="cohere",
    title="Cohere",
    reader=CohereWire,
    fits=fits,
    usage=UsageShape(
        input=("tokens.input_tokens", "billed_units.input_tokens"),
        output=("tokens.output_tokens", "billed_units.output_tokens"),
        cache_read=("cached_tokens",),
        reasoning=("tokens.reasoning_tokens",),
    ),
    request=write,
    cleaner=CohereCleaner,
    rules=(
        Rule(
            "docs.cohere.com/docs/tool-use-overview: tool_plan and tool_calls are"
            " appended"
        ),
    ),
)
