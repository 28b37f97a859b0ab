"""The JSON-RPC 2.0 envelope: what a message is, and what an error answer looks like.

Pure functions on decoded messages and on raw bytes; no method is known here. Every
answer to a mistake is made here, so ``error.data`` always has ``kind`` and
``retryable`` (protocol.md, "Errors"). Ids are strings or integers of at most 53 bits,
because Rust and JavaScript peers cannot hold larger ones. Batches of JSON-RPC are
refused: they are not part of the base protocol (LSP 3.17, "Base Protocol").
"""

from __future__ import annotations

import json
import re
from typing import Any, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.errors import InternalError, UsageError
from stream_sidecar.rpc.logs import log
from stream_sidecar.values.jsontext import encode

Id: TypeAlias = int | str

_FIRST_UNSAFE = 2**53
_LAST_UNSAFE = -_FIRST_UNSAFE
SAMPLE = 4096
"""Bytes at either end of an unreadable message in which its id is looked for."""


def usage_error(error: Exception, name: str) -> UsageError:
    """The error for the client: its own mistake, or a logged bug of the sidecar."""
    if isinstance(error, UsageError):
        return error
    log.error("bug in %s", name, exc_info=error)
    kind = type(error).__name__
    return InternalError(f"internal error in {name} ({kind}): a bug in the sidecar")


def error_object(error: UsageError) -> dict[str, Any]:
    """The ``error`` member of an answer."""
    data = {"kind": error.kind, "retryable": error.retryable, **error.data}
    return {"code": error.code, "message": str(error), "data": data}


def answer(message_id: Id, result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": message_id, "result": result}


def answer_text(message_id: Id, result: bytes) -> bytes:
    """The answer to a request as JSON text; ``result`` is JSON text already."""
    if type(message_id) is int:
        return b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (message_id, result)
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (encode(message_id), result)


def refusal(message_id: Id | None, error: UsageError) -> dict[str, Any]:
    """The answer to a refused request; ``message_id`` is None if it is not known."""
    return {"jsonrpc": "2.0", "id": message_id, "error": error_object(error)}


def notification(method: str, params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def is_id(value: Any) -> bool:
    """Whether ``value`` can be the id of a request, and any peer can hold it."""
    if type(value) is int:
        return _LAST_UNSAFE < value < _FIRST_UNSAFE
    return type(value) is str


def fault(message: Any) -> str | None:
    """Why ``message`` is not a JSON-RPC 2.0 request or notification; None if it is."""
    if type(message) is not dict:
        if type(message) is list:
            return "batches are not supported, send the messages one by one"
        return "a message must be an object"
    if message.get("jsonrpc") != "2.0":
        return 'jsonrpc must be "2.0"'
    if type(message.get("method")) is not str:
        return "method must be a string"
    if not is_id(message.get("id", "")):
        return "id must be a string or an integer of at most 53 bits"
    return None


_TOKENS = patterns.compile(
    rb'"(?:[^"\\]++|\\.)*+"?|[{}\[\]:,]|[^\s{}\[\]:,"]++', re.DOTALL
)
_LAST_ID = patterns.compile(
    rb'[,{]\s*+"id"\s*+:\s*+("(?:[^"\\]|\\.){0,255}+"|-?[0-9]{1,16}+)\s*+'
    rb'(?:,\s*+"(?:jsonrpc|method)"\s*+:\s*+"[^"\\]{0,255}+"\s*+){0,2}+\}\s*+\Z',
    re.DOTALL,
)


def recover_id(body: bytes) -> Id | None:
    """The id of an unreadable message; None if it is not near the beginning or the end.

    ``body`` may be broken, or a sample of its first and last bytes. Only the outermost
    object is searched: chunks may quote other messages.
    """
    message_id = _first_id(body[:SAMPLE])
    if message_id is None and len(body) > SAMPLE:
        match = _LAST_ID.search(body[-SAMPLE:])  # the id may be the last member, too
        return _id_value(match.group(1)) if match else None
    return message_id


def _first_id(head: bytes) -> Id | None:
    """The value of ``"id"`` at depth one, scanning from the beginning."""
    depth, name, last_token = 0, b"", b""
    for match in _TOKENS.finditer(head):
        token = match.group()
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
        elif depth == 1 and last_token == b":" and name == b'"id"':
            return _id_value(token) if match.end() < len(head) else None
        name, last_token = last_token, token
    return None


def _id_value(token: bytes) -> Id | None:
    try:
        value: Id = json.loads(token)
    except ValueError:
        return None
    return value if is_id(value) else None
