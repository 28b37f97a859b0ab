"""The host's mistakes: the only exceptions that are raised on purpose.

Whatever a provider sends becomes an event (``stream_sidecar.events``), never an
exception. A subclass of `UsageError` means that the *host* asked for something that
cannot be done; each has its JSON-RPC error code and its ``data.kind`` (protocol.md,
"Errors"). Any other exception that leaves the core is a bug.
"""

from __future__ import annotations

from typing import Any, ClassVar


class UsageError(Exception):
    """The host asked for something that cannot be done; ``str()`` explains it fully.

    ``data`` has further members of the JSON-RPC error's ``data``.
    """

    code: ClassVar[int]
    kind: ClassVar[str]
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, **data: Any) -> None:
        super().__init__(message)
        self.data: dict[str, Any] = data


class ParseError(UsageError):
    """The body is not JSON, or its length could not be read."""

    code = -32700
    kind = "parse-error"


class InvalidRequestError(UsageError):
    """Not a request object, a batch, or a request at a time that does not allow it."""

    code = -32600
    kind = "invalid-request"


class MethodNotFoundError(UsageError):
    """There is no such method."""

    code = -32601
    kind = "method-not-found"


class InternalError(UsageError):
    """A bug in the sidecar; the details are in the log, not in the answer."""

    code = -32603
    kind = "internal-error"


class NotInitializedError(UsageError):
    """A request before ``initialize`` was answered."""

    code = -32002
    kind = "not-initialized"
    retryable = True


class CancelledError(UsageError):
    """The client cancelled the request, or the process ended before its answer."""

    code = -32800
    kind = "cancelled"
    retryable = True


class InvalidParamsError(UsageError):
    """A parameter has the wrong shape; the message begins with the field's path."""

    code = -32602
    kind = "invalid-params"


class StreamNotFoundError(UsageError):
    """push, close or snapshot of a stream that is not open.

    ``data.reason`` is ``never``, ``closed`` or ``expired``.
    """

    code = -31001
    kind = "stream-not-found"


class StreamExistsError(UsageError):
    """stream/open with an id that is in use."""

    code = -31002
    kind = "stream-exists"


class SequenceError(UsageError):
    """``pushSeq`` is not the expected one (``data.expected``); nothing was applied."""

    code = -31003
    kind = "sequence-error"


class LimitExceededError(UsageError):
    """Too many streams, too large a message, or too much text held back by streams:
    ``data.limit`` and ``data.value``.

    A retry may work later, when other streams hold back less. If the request alone is
    too large, ``data.retryable`` is false.
    """

    code = -31004
    kind = "limit-exceeded"
    retryable = True


class UnsupportedVersionError(UsageError):
    """``protocolVersion`` is not one of ``data.supported``."""

    code = -31005
    kind = "unsupported-version"
