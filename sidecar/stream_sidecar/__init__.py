"""Turns the stream of any language model into clean channels.

The way of the data::

    host chunk -> framing -> wires -> stream (channel -> text) -> events -> protocol

``framing`` cuts documents out of raw chunks, a wire of ``wires`` reads one provider's
documents into parts, ``stream`` is the pipeline of one stream, ``channel`` and ``text``
decide who owns each character of text, ``tools`` puts calls together and classifies
them, ``message`` folds events into a message. All of that is sans-IO and deterministic.
``protocol`` knows the methods, ``rpc`` speaks JSON-RPC over stdio, ``cli`` is the
command line. The map of all rooms is sidecar/README.md, "Rooms".

The stable interface is the protocol (``protocol.md``) and the names of `__all__`, which
are its methods and results (``api``), not these modules. Importing the package loads
nothing: `__getattr__` does where one of the names is asked for.
"""

__version__ = "0.1.0"

__all__ = (
    *("BlockEnd", "Citation", "CloseResult", "Diagnostic", "Event", "Finish"),
    *("InspectResult", "Message", "Metadata", "NormalizeResult", "PrepareResult"),
    *("ProviderError", "PushResult", "ReasoningDelta", "Reclassify", "RenderResult"),
    *("RepairResult", "Retract", "SnapshotResult", "Stream", "TextDelta", "ToolCall"),
    *("ToolCallDelta", "ToolResult", "Usage", "UsageError", "as_json", "inspect"),
    *("normalize", "output_messages", "prepare", "render", "repair"),
    "telemetry_attributes",
)


def __getattr__(name: str) -> object:
    """Loads Python's face; rooms are looked for in vain before they are imported."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("stream_sidecar.api"), name)
