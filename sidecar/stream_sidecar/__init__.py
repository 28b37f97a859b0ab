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

The stable interface is the protocol (``protocol.md``) and the names of ``api``, which
are its methods and results, and not the modules of this package. Importing the package
loads nothing else; the first use of one of these names does (`__getattr__`).

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


def __getattr__(name: str) -> object:
    """Loads ``api`` for one of its names or ``__all__``. Python also looks here for
    each submodule before it imports it; that must not load ``api``."""
    from importlib import import_module
    from importlib.util import find_spec

    is_special = name.startswith("__") and name != "__all__"
    if not is_special and find_spec(f"{__name__}.{name}") is None:
        api = import_module("stream_sidecar.api")
        if name in ("__all__", *api.__all__):
            return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, for ``dir()`` and ``help()``, which load them; the modules that
    happen to be loaded are not public."""
    from importlib import import_module

    names = import_module("stream_sidecar.api").__all__
    return sorted({*names, *(name for name in globals() if name.startswith("__"))})
