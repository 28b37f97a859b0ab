"""Turns the stream of any language model into clean channels.

::

    from stream_sidecar import Stream

    stream = Stream(wire="openai-chat", model="qwen/qwen3-32b")
    for event in stream.pipe(response.iter_bytes()):
        if event.type == "text-delta":
            print(event.text, end="")
    print(stream.message.tool_calls)

`normalize` reads a whole response. `render` and `prepare` write what the next request
must carry. `inspect` and `repair` clean stored messages.

The stable interface is the protocol (``protocol.md``) and the names of ``__all__``,
which are its methods and results (``api``), and not the modules of this package.
Importing the package loads nothing else; the first use of one of these names does
(`__getattr__`).

The path of the data::

    host chunk -> framing -> wires -> stream (channel -> text) -> events -> protocol

``framing`` cuts documents out of raw chunks, and ``wires`` reads each provider's
documents into parts. ``stream`` is the pipeline of one stream: ``channel`` and ``text``
decide which channel owns each character of text, ``tools`` joins and classifies calls,
and ``message`` folds events into a message. All of these do no I/O and are
deterministic. ``protocol`` has the methods, ``rpc`` speaks JSON-RPC over stdio, and
``cli`` is the command line. sidecar/README.md, "Rooms", has the map of all rooms.
"""

__version__ = "0.1.0"

__all__ = (
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
    "ErrorKind",
    "Event",
    "FailedResponse",
    "Finish",
    "FinishReason",
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
    "ToolKind",
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
)


def __getattr__(name: str) -> object:
    """Loads ``api`` for one of its names. Python also looks here for each submodule
    before it imports it, so other names must fail fast."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("stream_sidecar.api"), name)


def __dir__() -> list[str]:
    """The public names, for ``dir()`` and ``help()``, which load them; the modules that
    happen to be loaded are not public."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
