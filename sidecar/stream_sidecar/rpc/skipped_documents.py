"""What an editor's user is told of a document whose notification was skipped.

A notification has no answer, and clients only log an error without an id. The method
and the document's uri are found in a sample of the message; in the text of a document
no member's name stands, because its quotes are escaped there.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote, urlsplit

from stream_sidecar import patterns
from stream_sidecar.values.printable import one_line

_METHOD = patterns.compile(rb'"method"\s{0,9}:\s{0,9}"textDocument/did\w{1,30}"')
_URI = patterns.compile(rb'"uri"\s{0,9}:\s{0,9}("(?:[^"\\]|\\.){1,4000}")')

_WARNING = 2
"""MessageType.Warning of LSP 3.17."""


def uri_in(sample: bytes) -> str | None:
    """The uri of the document that a skipped message is about; None: it is none of an
    editor's notifications."""
    found = _URI.search(sample) if _METHOD.search(sample) else None
    try:
        return None if found is None else str(json.loads(found[1]))
    except ValueError:
        return None


def warning(uri: str, reason: str) -> dict[str, Any]:
    """``window/showMessage``: nothing is shown in it, and what to run."""
    parts = urlsplit(uri)
    is_file = parts.scheme == "file"
    path = unquote(parts.path)
    name = path.rpartition("/")[2]
    file = f'"{path}"' if is_file else "FILE"
    words = (
        f"Nothing is underlined in {name}: {reason}. In a terminal: "
        f"stream-sidecar repair --diff {file}"
    )
    params = {"type": _WARNING, "message": one_line(words)}
    return {"jsonrpc": "2.0", "method": "window/showMessage", "params": params}
