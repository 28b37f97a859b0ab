"""Errors of providers: finds out whether a document is an error, and reads it.

`find_error` is a cheap test for every document of a stream; `normalize_error` reads any
error body. Both look at keys and shapes, never at the text of an answer, and never
raise. Sources: wires/README.md, "Error bodies", "Kinds of errors" and "When to try
again".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from stream_sidecar import patterns
from stream_sidecar.parts import ErrorPart
from stream_sidecar.provider_errors.bodies import (
    EXCEPTIONS,
    ErrorFacts,
    first_of,
    holds,
    json_in,
    plain_headers,
    read_body,
)
from stream_sidecar.provider_errors.codes import known_code
from stream_sidecar.provider_errors.kinds import RETRYABLE, kind_of_error
from stream_sidecar.provider_errors.refusals import refusal_in
from stream_sidecar.provider_errors.waits import wait_of_headers, wait_of_text
from stream_sidecar.records import evolve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stream_sidecar.parts import Json

_PAYLOAD = frozenset(
    (
        "choices",
        "candidates",
        "delta",
        "object",
        "event_type",
        "content",
        "text",
        "output",
        "response",
        "usage",
        "usageMetadata",
    )
)
"""Keys of answers. A document with one of them is an error only if it says so."""

_PAIRS = (
    ("error_type", "error_message"),
    ("error_code", "error_msg"),
    ("errorCode", "errorMessage"),
    ("errCode", "errMsg"),
    ("err_code", "err_msg"),
)
"""Members that make an error: of DeepInfra and Venice, Baidu, gateways."""

_ERROR_TYPES = ("error", "exception", "response.failed")

_FINE = (200, "200", "0", "ok", "OK", "success", "Success")
"""Codes of gateways that mean success."""

_DESCRIBING = frozenset(("error", "errors", "message", "detail", "msg"))
"""Members that describe an error, beside ``"success": false``."""

_SENTENCES = {
    "auth": "The provider did not accept the credentials",
    "permission": "The provider did not permit the request",
    "billing": "The account at the provider has no credit left",
    "rate-limit": "The rate limit of the provider was reached",
    "overloaded": "The provider is overloaded",
    "context-length": "The request is longer than the context of the model",
    "content-filter": "The content filter of the provider stopped the response",
    "invalid-request": "The provider did not understand the request",
    "not-found": "The provider does not know the model or resource",
    "timeout": "The provider took too long",
    "server": "The provider failed",
    "network": "The connection to the provider failed",
    "cancelled": "The request was cancelled",
    "unknown": "The provider reported an error without a message",
}
"""Kind -> the message for a body without one."""

_OF_HISTORY = ("invalid-request", "context-length", "not-found", "server", "unknown")
"""Kinds of errors that may be about the conversation."""

_BY_DAY = patterns.compile(r"per day|daily", re.IGNORECASE)
"""A daily quota is used up until the next day, unless the provider names a wait."""

_EMPTY_MEANS_LONG = ("cerebras", "mistral")
"""Providers that refuse a too long request with an empty body (opencode)."""


def find_error(value: Json, event: str | None = None) -> Json | None:
    """Return the body for `normalize_error` if a document is or contains an error, else
    None.

    ``event`` is the name of a server-sent event or of an event-stream frame.
    """
    if event is not None and event.endswith("Exception"):
        return {event: value}
    if event == "error":
        return value or {"type": "error"}
    if isinstance(value, str):
        value = json_in(value)
    item = first_of(value) if isinstance(value, list) else value
    return value if isinstance(item, dict) and _is_error(item) else None


def normalize_error(
    body: Json,
    status: int | None = None,
    headers: Mapping[str, Any] | None = None,
    provider: str | None = None,
) -> ErrorPart:
    """Return the error that ``body`` reports; ``status`` and ``headers`` are those of
    its HTTP response.

    A header's value is a string, a number or a list of these; its name is in any case.
    """
    facts, plain = read_body(body), plain_headers(headers)
    status = status if status is not None else facts.status
    text = f"{facts.message}\n{facts.extra}"
    coded = known_code(facts.codes, provider)
    kind = kind_of_error(facts.words, text, status, coded.kind if coded else "")
    if (
        not body
        and status in (400, 413)
        and (provider or "").lower() in _EMPTY_MEANS_LONG
    ):
        kind = "context-length"
    delays = (wait_of_headers(plain), facts.wait, wait_of_text(text))
    wait = next((wait for wait in delays if wait is not None), None)
    facts.spent |= coded is not None and coded.spent
    facts.spent |= wait is None and _BY_DAY.search(text) is not None
    return ErrorPart(
        kind=kind,
        message=facts.message or _SENTENCES[kind],
        retryable=_is_retryable(kind, status, plain, facts),
        raw=body,
        code=facts.code,
        provider_type=facts.type,
        http_status=status,
        retry_after_ms=wait,
        refusal=refusal_in(text) if kind in _OF_HISTORY else None,
    )


def closing_error(host: Mapping[str, Any], provider: str | None) -> ErrorPart:
    """Return the error for the ``error`` that a host passes to ``stream/close``
    (``status``, ``headers``, ``body``).

    If it has neither a status nor a provider's error in its body, the transport broke,
    whatever the host's HTTP client says: the kind is ``network``, and it is retryable.
    """
    body, status = host.get("body"), host.get("status")
    error = normalize_error(body, status, host.get("headers"), provider)
    if error.http_status is not None or find_error(body) is not None:
        return error
    message = error.message if body else _SENTENCES["network"]
    return evolve(error, kind="network", message=message, retryable=True)


def _is_retryable(
    kind: str, status: int | None, headers: Mapping[str, str], facts: ErrorFacts
) -> bool:
    """Whether to try again. The header ``x-should-retry`` decides alone. Without it the
    kind decides; but if a quota is used up, or the request alone exceeds the rate, the
    error is never retryable."""
    advice = headers.get("x-should-retry")
    if advice in ("true", "false"):
        return advice == "true"
    if facts.spent or "request too large" in facts.message.lower():
        return False
    return kind in RETRYABLE or status == 409


def _is_error(value: dict[str, Any]) -> bool:
    if value.get("error") or not EXCEPTIONS.isdisjoint(value):
        return True  # null, "" and {} are no errors
    choice = first_of(value.get("choices"))
    if holds(choice, "error") or holds(value.get("x_groq"), "error"):
        return True
    if holds(value.get("base_resp"), "status_code") or _says_so(value):
        return True
    if any(value.get(n) and isinstance(value.get(m), str) for n, m in _PAIRS):
        return True
    if holds(value.get("Response"), "Error") or holds(value, "ErrorMsg"):
        return True  # Tencent
    return _PAYLOAD.isdisjoint(value) and _is_bare(value)


def _says_so(value: dict[str, Any]) -> bool:
    kind = value.get("type") or value.get("event_type")
    if kind == "message-end":  # Cohere
        return holds(value.get("delta"), "error")
    if kind in _ERROR_TYPES or value.get("object") == "error":
        return True
    if value.get("status") in ("error", "failed") and "message" in value:
        return _PAYLOAD.isdisjoint(value)
    if isinstance(kind, str) and kind.endswith(".error"):
        return True
    return value.get("success") is False and not _DESCRIBING.isdisjoint(value)


def _is_bare(value: dict[str, Any]) -> bool:
    """Whether the document has a shape that only errors have."""
    message = value.get("message", value.get("msg"))
    if value.get("code") and value["code"] not in _FINE and isinstance(message, str):
        return True
    if "type" in value:  # problem+json, RFC 9457
        return "title" in value and isinstance(value.get("status"), int)
    return bool(value.get("detail") or value.get("human_readable_message"))
