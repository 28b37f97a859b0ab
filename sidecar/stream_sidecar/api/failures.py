"""Exceptions as the end of a stream: a failed response, a broken connection, or a host
that stopped reading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stream_sidecar.api.plain import BYTES, plain, text_of
from stream_sidecar.errors import UsageError

_STATUS_NAMES = ("status_code", "status", "code")
"""Attributes in which SDKs and HTTP libraries keep the status."""

_STATUSES = range(100, 600)

_BODY_NAMES = ("body", "details")
"""Attributes in which SDKs keep what the provider said."""


def ending(error: Any) -> dict[str, Any]:
    """The params of ``stream/close`` for ``error``: an exception, or the fields of a
    failed response.

    Where the host stopped (a cancelled task, an interrupt, a mistake of its own), the
    stream is cancelled and nothing failed.
    """
    if not isinstance(error, BaseException):
        return {"error": _described(error)}
    if isinstance(error, UsageError) or not isinstance(error, Exception):
        return {"reason": "cancelled"}
    return {"error": _failure(error)}


def _described(error: Any) -> Any:
    """The fields of a failed response, with a body of bytes as text."""
    body = error.get("body") if isinstance(error, Mapping) else None
    return (
        {**error, "body": text_of(body, "utf-8")} if isinstance(body, BYTES) else error
    )


def _failure(error: Exception) -> dict[str, Any]:
    response = getattr(error, "response", None)
    words = str(error) or type(error).__name__
    bodies_given = [getattr(error, name, None) for name in _BODY_NAMES]
    bodies = (*map(_json, bodies_given), _text(response), words)
    headers = getattr(response or error, "headers", None)
    return {
        "status": _status(error, response),
        "headers": {str(name): str(value) for name, value in headers.items()}
        if isinstance(headers, Mapping)
        else None,
        "body": next(body for body in bodies if body),
    }


def _status(*sources: Any) -> int | None:
    values = [getattr(item, name, None) for item in sources for name in _STATUS_NAMES]
    numbers = (item for item in values if isinstance(item, int) and item in _STATUSES)
    return next(map(int, numbers), None)


def _json(value: Any) -> Any:
    """``value`` if it is JSON, else None."""
    try:
        return plain(value, "body")
    except UsageError:
        return None


def _text(response: Any) -> str | None:
    """The body of ``response``; None if nobody read it yet."""
    try:
        text = getattr(response, "text", None)
    except Exception:
        return None
    return text if isinstance(text, str) else None
