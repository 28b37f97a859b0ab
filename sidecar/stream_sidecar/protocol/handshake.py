"""``initialize``: what the client may send, and the answer.

The reader is tolerant: ``{}`` is enough, and it only looks at the LSP fields that
matter here. The answer is made without pygls: its import takes three times as long as
the rest of the start (microsoft/lsprotocol#441), and a host without LSP documents never
needs it. `LSP_CAPABILITIES` is what pygls announces for the features registered on it;
a test compares the two.
"""

from __future__ import annotations

from typing import Any

from stream_sidecar import __version__
from stream_sidecar.errors import InvalidParamsError, UnsupportedVersionError
from stream_sidecar.events import EVENTS
from stream_sidecar.options import Limits, Policy
from stream_sidecar.protocol.announced import (
    DIALECT_NAMES,
    FRAMING_NAMES,
    HEADER_NAMES,
    METHOD_NAMES,
    OPTION_NAMES,
    WIRE_NAMES,
)
from stream_sidecar.protocol.converter import structure, unstructure
from stream_sidecar.protocol.ignored import ignored
from stream_sidecar.protocol.reading_options import LimitsPatch, PolicyPatch, patched
from stream_sidecar.records import frozen

PROTOCOL_VERSION = 1

LSP_CAPABILITIES: dict[str, Any] = {
    "textDocumentSync": {"openClose": True, "change": 2, "save": False},
    "hoverProvider": True,
    "documentSymbolProvider": True,
    "codeActionProvider": {
        "codeActionKinds": ["quickfix", "source.fixAll.streamSidecar"]
    },
    "codeLensProvider": {"resolveProvider": False},
    "executeCommandProvider": {"commands": ["streamSidecar.fixMessage"]},
    "diagnosticProvider": {
        "identifier": "stream-sidecar",
        "interFileDependencies": False,
        "workspaceDiagnostics": False,
    },
    "workspace": {
        "workspaceFolders": {"supported": True, "changeNotifications": True},
        "fileOperations": {},
    },
}

_POSITION_ENCODINGS = ("utf-8", "utf-16", "utf-32")


@frozen
class ConnectionOptions:
    """``initializationOptions.streamSidecar``: limits and defaults for every stream."""

    protocol_version: int | None = None
    policy: PolicyPatch | None = None
    limits: LimitsPatch | None = None


@frozen
class Capabilities:
    """``capabilities.experimental.streamSidecar``: what this sidecar can do.

    ``options`` names the params of stream/open, with ``emit.claims`` for a field of
    ``emit``. ``request_headers``: the headers that request/prepare reads, in small
    letters. Older sidecars send neither ``options`` nor ``methods`` nor these.
    ``ignored``: the paths of members of the `ConnectionOptions` that this version does
    not know.
    """

    protocol_version: int
    wires: tuple[str, ...]
    framings: tuple[str, ...]
    dialects: tuple[str, ...]
    events: tuple[str, ...]
    limits: Limits
    methods: tuple[str, ...] | None = None
    options: tuple[str, ...] | None = None
    request_headers: tuple[str, ...] | None = None
    ignored: tuple[str, ...] | None = None


@frozen
class Handshake:
    """What was agreed on. The sidecar ends when the process ``process_id`` ends."""

    policy: Policy
    limits: Limits
    process_id: int | None
    result: dict[str, Any]


def shake_hands(params: Any) -> Handshake:
    """Reads the params of ``initialize`` and makes its result."""
    if params is None:
        params = {}
    if not isinstance(params, dict):
        raise InvalidParamsError("params: must be an object", path="params")
    # The options of other servers are beside it, and are ignored.
    members = params.get("initializationOptions")
    given = members.get("streamSidecar") if isinstance(members, dict) else None
    given = {} if given is None else given
    options = _connection_options(given)
    limits = patched(Limits(), options.limits or {})
    process_id = params.get("processId")
    capabilities = Capabilities(
        protocol_version=PROTOCOL_VERSION,
        wires=WIRE_NAMES,
        framings=FRAMING_NAMES,
        dialects=DIALECT_NAMES,
        events=tuple(vars(event)["type"] for event in EVENTS),
        limits=limits,
        methods=METHOD_NAMES,
        options=OPTION_NAMES,
        request_headers=HEADER_NAMES,
        ignored=ignored(given, ConnectionOptions) or None,
    )
    return Handshake(
        policy=patched(Policy(), options.policy or {}),
        limits=limits,
        process_id=process_id if type(process_id) is int else None,
        result={
            "capabilities": {
                "positionEncoding": _position_encoding(params),
                **LSP_CAPABILITIES,
                "experimental": {"streamSidecar": unstructure(capabilities)},
            },
            "serverInfo": {"name": "stream-sidecar", "version": __version__},
        },
    )


def _connection_options(given: Any) -> ConnectionOptions:
    path = "params.initializationOptions.streamSidecar"
    options = structure(given, ConnectionOptions, path)
    if options.protocol_version not in (None, PROTOCOL_VERSION):
        raise UnsupportedVersionError(
            f"protocolVersion {options.protocol_version} is not supported, "
            f"supported is {PROTOCOL_VERSION}",
            requested=options.protocol_version,
            supported=[PROTOCOL_VERSION],
        )
    return options


def _position_encoding(params: dict[str, Any]) -> str:
    """The first of the client's encodings that pygls supports, else UTF-16."""
    general: Any = params
    for name in ("capabilities", "general", "positionEncodings"):
        general = general.get(name) if isinstance(general, dict) else None
    offered = general if isinstance(general, list) else []
    return next((name for name in offered if name in _POSITION_ENCODINGS), "utf-16")
