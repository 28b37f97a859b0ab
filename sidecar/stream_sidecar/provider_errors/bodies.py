"""Reads a provider's error body of any shape into facts.

Bodies are nested: an object in ``error``, JSON text in its ``message``, a list around
it. `read_body` reads from the outside in, and a deeper value replaces an outer one,
because it is more specific. Keys and shapes: wires/README.md, "Error bodies". Never
raises.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from stream_sidecar import patterns
from stream_sidecar.provider_errors.kinds import WINDOW
from stream_sidecar.provider_errors.waits import milliseconds, wait_of_headers
from stream_sidecar.records import define, field
from stream_sidecar.values.jsontext import loads

if TYPE_CHECKING:
    from collections.abc import Mapping

EXCEPTIONS = frozenset(
    (
        "internalServerException",
        "modelStreamErrorException",
        "modelTimeoutException",
        "serviceUnavailableException",
        "throttlingException",
        "validationException",
    )
)
"""Members of Bedrock's response union that are errors."""

_DEPTH = 16
"""The most levels that are read: objects, lists and JSON inside strings."""

_MOST = 32
"""The most entries that are read of a list."""

_MESSAGES = (
    "message",
    "Message",
    "error_message",
    "errorMessage",
    "error_msg",
    "human_readable_message",
    "status_msg",
    "originalMessage",
    "msg",
    "Msg",
    "error_description",
    "detail",
    "error",
    "errMsg",
    "err_msg",
    "title",
    "text",
)
_CODES = (
    "code",
    "Code",
    "status_code",
    "error_code",
    "errorCode",
    "errCode",
    "err_code",
)
_TYPES = ("type", "error_type", "errorType", "__type")
_WORDS = (*_CODES, *_TYPES, "status", "reason", "provider_code", "tag")
_STATUSES = (
    "status",
    "status_code",
    "statusCode",
    "http_status",
    "raw_status_code",
    "originalStatusCode",
    "code",
)
_WAITS = {
    "retryDelay": 1000,
    "retry_after": 1000,
    "retryAfter": 1000,
    "retry_after_ms": 1,
    "retryAfterMs": 1,
}
"""Key -> its unit in milliseconds."""

_WRAPPERS = ("Response", "Error", "ErrorMsg")
"""Keys of an error, or of an object around it, in Tencent's spelling."""

_HOLDERS = (
    ("response", "error"),
    ("x_groq", "error"),
    ("delta", "error"),
    ("value", "error_message"),  # Vercel's gateway could not parse it (vercel/ai#18303)
)
"""A member of a body, and the member inside it that shows that it holds the error."""

_EXTRA = ("details", "innererror", "inner_error", "metadata")
"""Keys of objects with more facts about an error."""

_NOTHING = patterns.compile(r"\s*+(?:none|null|undefined|error)?\s*+", re.IGNORECASE)
_OF_ANOTHER = patterns.compile(r"provider returned error", re.IGNORECASE)
"""A message of OpenRouter's that says nothing: ``metadata.raw`` has the provider's."""

_EVENT_NAME = patterns.compile(r"message-end|response\.[a-z]+|[a-z._]+\.error")
"""Values of ``type`` that are names of events in a stream, not types of errors."""

_DATA = patterns.compile(r"^data: ?(.{1,4000})", re.MULTILINE)
_HTML = patterns.compile(r"\s*<(?:!doctype|html|head|body)", re.IGNORECASE)
_TITLE = patterns.compile(r"<title[^>]{0,200}>([^<]{1,300})", re.IGNORECASE)
_TAG = patterns.compile(r"<[^<>]{0,500}>")
_TITLE_STATUS = patterns.compile(r"\s*([45][0-9]{2})\b")


@define
class ErrorFacts:
    """The facts of an error; ``words`` are its codes, types and reasons, innermost
    first.

    ``codes`` are pairs: the name of a member, and the number in it as text. ``extra``
    is text beside the message. ``wait`` is in milliseconds. ``spent``: a quota is used
    up that is not filled again within minutes.
    """

    message: str = ""
    extra: str = ""
    code: str | int | None = None
    type: str | None = None
    status: int | None = None
    wait: int | None = None
    spent: bool = False
    words: list[str] = field(factory=list)
    codes: list[tuple[str, str]] = field(factory=list)


def read_body(body: Any) -> ErrorFacts:
    """Return the facts of a body: an object, a list, or text (JSON, HTML or plain)."""
    facts = ErrorFacts()
    node = body
    for _ in range(_DEPTH):
        if isinstance(node, dict):
            node = _read_object(facts, node)
        elif isinstance(node, list):
            node = _read_list(facts, node)
        elif isinstance(node, str):
            inner = json_in(node)
            if inner is None:
                _read_text(facts, node)
            node = inner
        else:
            break
    return facts


def json_in(text: str) -> Any:
    """Return the JSON in a string (bare, stray commas, after ``data:``) or None."""
    data = _DATA.search(text[:WINDOW]) if text.startswith(("data:", "event:")) else None
    text = (data[1] if data else text).strip(" \t\r\n,")
    if not text.startswith(("{", "[", '"')):
        return None
    try:
        return loads(text)
    except ValueError:
        return None


def _read_object(facts: ErrorFacts, node: dict[str, Any]) -> Any:
    """Reads the facts of an object; returns the next node inside it, or None."""
    _read_words(facts, node)
    code, kind = _first_value(node, _CODES, str | int), _first_value(node, _TYPES, str)
    facts.code = facts.code if code is None else code
    if kind is not None and not _EVENT_NAME.fullmatch(kind[:WINDOW]):
        facts.type = kind
    elif isinstance(node.get("status"), str) and node["status"].isupper():
        facts.type = node["status"]  # Google's RESOURCE_EXHAUSTED
    facts.status = _status(node) or facts.status
    for key in _EXTRA:
        _read_extra(facts, node.get(key))
    # AWS names the kind of an error by the member that has it
    for key in [key for key in node if key.endswith("Exception")]:
        facts.type = key
        facts.words.insert(0, key)
        return node[key]
    inner, message = _inner_node(node), _first_value(node, _MESSAGES, str)
    if message is not None:
        facts.message = message[:WINDOW]
        if _OF_ANOTHER.fullmatch(facts.message) and facts.extra:
            return facts.extra
    # the text of a message can contain the whole error again
    return message if inner is None else inner


def _inner_node(node: dict[str, Any]) -> Any:
    """The part of ``node`` that has the error, else the value of ``base_resp``."""
    for key in ("error", "errors", "detail", "message", *_WRAPPERS):
        if isinstance(node.get(key), dict | list) and node[key]:
            return node[key]
    for key, member in _HOLDERS:
        if holds(node.get(key), member):
            return node[key]
    base, choice = node.get("base_resp"), first_of(node.get("choices"))
    return choice if holds(choice, "error") else base


def _read_list(facts: ErrorFacts, node: list[Any]) -> Any:
    """Reads FastAPI's list of faults; of any other, returns the error's item."""
    items = node[:_MOST]
    faults = [_fault(item) for item in items if isinstance(item, dict)]
    if any(faults):
        facts.message = "\n".join(filter(None, faults))[:WINDOW]
        facts.words.insert(0, "validation")
        return None
    errors = (item for item in items if isinstance(item, dict) and item.get("error"))
    return next(errors, items[0] if items else None)


def _fault(item: dict[str, Any]) -> str:
    """A fault as text: ``body.messages.0.content: Field required``, or ""."""
    message, place = item.get("msg"), item.get("loc")
    if not isinstance(message, str):
        return ""
    steps = place if isinstance(place, list) else []
    path = ".".join(str(step) for step in steps if isinstance(step, str | int))
    return f"{path}: {message}" if path else message


def _read_text(facts: ErrorFacts, text: str) -> None:
    shown = text[:WINDOW]
    if _HTML.match(shown):
        title = _TITLE.search(shown)
        shown = title[1] if title else _TAG.sub(" ", shown)
        status = _TITLE_STATUS.match(shown)
        facts.status = facts.status or (int(status[1]) if status else None)
        shown = " ".join(shown.split())
    facts.message = shown.strip() or facts.message


def _read_words(facts: ErrorFacts, node: dict[str, Any]) -> None:
    words = [str(node[key]) for key in _WORDS if isinstance(node.get(key), str | int)]
    facts.words[:0] = words
    found = [
        (key, str(node[key])) for key in _CODES if isinstance(node.get(key), str | int)
    ]
    facts.codes[:0] = [(key, code) for key, code in found if code.isdecimal()]
    if isinstance(node.get("error"), str):
        facts.words.insert(0, node["error"])
    if "QUOTA_EXHAUSTED" in words:
        facts.spent = True
    for key, unit in _WAITS.items():
        wait = milliseconds(node.get(key), unit)
        facts.wait = facts.wait if wait is None else wait


def _read_extra(facts: ErrorFacts, value: Any) -> None:
    """Reads Google's details, Azure's inner error and OpenRouter's metadata."""
    for item in (value if isinstance(value, list) else [value])[:_MOST]:
        if not isinstance(item, dict):
            continue
        _read_words(facts, item)
        if isinstance(item.get("raw"), str):
            facts.extra += item["raw"][:WINDOW]
        headers, violations = item.get("headers"), item.get("violations")
        if isinstance(headers, dict):
            wait = wait_of_headers(plain_headers(headers))
            facts.wait = facts.wait if wait is None else wait
        for violation in (violations if isinstance(violations, list) else ())[:_MOST]:
            quota = violation.get("quotaId") if isinstance(violation, dict) else None
            if isinstance(quota, str) and ("PerDay" in quota or "Daily" in quota):
                facts.spent = True


def _first_value(node: dict[str, Any], keys: tuple[str, ...], kind: Any) -> Any:
    """The first value of ``kind`` under ``keys`` that says something, or None."""
    for key in keys:
        value = node.get(key)
        if not isinstance(value, kind) or isinstance(value, bool):
            continue
        if not isinstance(value, str) or not _NOTHING.fullmatch(value[:WINDOW]):
            return value
    return None


def _status(node: dict[str, Any]) -> int | None:
    for key in _STATUSES:
        value = node.get(key)
        if isinstance(value, str) and len(value) == 3 and value.isdecimal():
            value = int(value)
        if isinstance(value, int) and 400 <= value < 600:
            return value
    return None


def plain_headers(headers: Mapping[str, Any] | None) -> dict[str, str]:
    """Headers with lower-case names; of a list, the first item counts."""
    plain = {}
    for name, value in (headers or {}).items():
        value = first_of(value) if isinstance(value, list) else value
        if isinstance(value, str | int | float):
            plain[name.lower()] = str(value)
    return plain


def first_of(value: Any) -> Any:
    """Return the first item of a list; None if it is empty or no list."""
    return value[0] if isinstance(value, list) and value else None


def holds(value: Any, key: str) -> bool:
    """Whether ``value`` is an object whose ``key`` is neither empty nor null."""
    return isinstance(value, dict) and bool(value.get(key))
