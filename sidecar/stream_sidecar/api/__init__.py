"""Python's interface: the methods of the protocol as functions and one class.

Each function runs the method of the same name (``protocol.methods``), and is as stable
as the protocol. The package ``stream_sidecar`` exports these names and loads them at
their first use. README.md in this folder documents them.
"""

from stream_sidecar.api.calls import (
    as_json,
    inspect,
    normalize,
    prepare,
    render,
    repair,
)
from stream_sidecar.api.option_types import (
    CallResult,
    Chunk,
    CloseReason,
    EmitClaims,
    EmitOptions,
    EmitWire,
    Encoding,
    FailedResponse,
    Framing,
    PolicyOptions,
    RequestWire,
    Wire,
)
from stream_sidecar.api.stream import Stream
from stream_sidecar.api.telemetry import output_messages, telemetry_attributes
from stream_sidecar.errors import UsageError
from stream_sidecar.events import (
    BlockEnd,
    Citation,
    Diagnostic,
    Event,
    Finish,
    Metadata,
    ProviderError,
    ReasoningDelta,
    Reclassify,
    Retract,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    ToolResult,
    Usage,
)
from stream_sidecar.message.message import Message
from stream_sidecar.protocol.params import (
    CloseResult,
    InspectResult,
    NormalizeResult,
    PrepareResult,
    PushResult,
    RenderResult,
    RepairResult,
    SnapshotResult,
)

__all__ = [
    "BlockEnd",
    "CallResult",
    "Chunk",
    "Citation",
    "CloseReason",
    "CloseResult",
    "Diagnostic",
    "EmitClaims",
    "EmitOptions",
    "EmitWire",
    "Encoding",
    "Event",
    "FailedResponse",
    "Finish",
    "Framing",
    "InspectResult",
    "Message",
    "Metadata",
    "NormalizeResult",
    "PolicyOptions",
    "PrepareResult",
    "ProviderError",
    "PushResult",
    "ReasoningDelta",
    "Reclassify",
    "RenderResult",
    "RepairResult",
    "RequestWire",
    "Retract",
    "SnapshotResult",
    "Stream",
    "TextDelta",
    "ToolCall",
    "ToolCallDelta",
    "ToolResult",
    "Usage",
    "UsageError",
    "Wire",
    "as_json",
    "inspect",
    "normalize",
    "output_messages",
    "prepare",
    "render",
    "repair",
    "telemetry_attributes",
]
