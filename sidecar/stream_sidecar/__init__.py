"""Turns the stream of any language model into clean channels.

The way of the data::

    host chunk -> framing -> wires -> stream (channel -> text) -> events -> protocol

``framing`` cuts documents out of raw chunks, a wire of ``wires`` reads one provider's
documents into parts, ``stream`` is the pipeline of one stream, ``channel`` and ``text``
decide who owns each character of text, ``tools`` puts calls together and classifies
them, ``message`` folds events into a message. All of that is sans-IO and deterministic.
``protocol`` knows the methods, ``rpc`` speaks JSON-RPC over stdio, ``cli`` is the
command line. The map of all rooms is sidecar/README.md, "Rooms".

The stable interface is the protocol (``protocol.md``), not these modules.
"""

__version__ = "0.1.0"
