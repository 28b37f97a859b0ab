"""What the client is told of an exception: its own mistake, or that we have a bug."""

from __future__ import annotations

from sidecar.errors import UsageError
from sidecar.rpc.envelope import InternalError
from sidecar.rpc.logs import log


def usage_error(error: Exception, name: str) -> UsageError:
    """The error that the client is told: its own mistake, or that we have a bug."""
    if isinstance(error, UsageError):
        return error
    log.error("bug in %s", name, exc_info=error)
    kind = type(error).__name__
    return InternalError(f"internal error in {name} ({kind}), which is a bug of ours")
