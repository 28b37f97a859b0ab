"""A document of an editor that is longer than the largest message.

The text was skipped and not kept, and an error would reach nobody: clients only log an
error without an id. So the text is read from the document's file. The editor may have
unsaved changes, so the file is used only if its text has the digest of the text that
the editor sent. Otherwise the user gets a warning, once for each document.

The method, the uri and the version are found in a sample of the message. A document's
text cannot contain a member's name, because its quotes are escaped in JSON.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from stream_sidecar import patterns
from stream_sidecar.records import frozen
from stream_sidecar.values.printable import one_line

if TYPE_CHECKING:
    from stream_sidecar.rpc.base_protocol import UnreadableFrame
    from stream_sidecar.rpc.text_digest import TextDigest

OPEN, CHANGE, CLOSE = (
    f"textDocument/did{name}" for name in ("Open", "Change", "Close")
)

_MEMBER = r'"%s"\s{0,9}:\s{0,9}'
_STRING = r'("(?:[^"\\]|\\.){0,4000}")'
_METHOD = patterns.compile(_MEMBER % "method" + r'"(textDocument/did\w{1,30})"')
_URI = patterns.compile(_MEMBER % "uri" + _STRING)
_LANGUAGE = patterns.compile(_MEMBER % "languageId" + _STRING)
_VERSION = patterns.compile(_MEMBER % "version" + r"(-?[0-9]{1,15})")

_LARGEST_FILE = 1 << 28
_BOM = "\ufeff"
_WARNING = 2
"""MessageType.Warning of LSP 3.17."""


@frozen
class SkippedDocument:
    """What an editor's notification ``method`` said about the document at ``uri``."""

    method: str
    uri: str
    language: str
    version: int
    digest: TextDigest

    def message(self) -> dict[str, Any]:
        """The notification with the file's text, or one that the document was closed,
        if the file does not have the text."""
        document: dict[str, Any] = {"uri": self.uri, "version": self.version}
        params: dict[str, Any] = {"textDocument": document}
        method, text = self.method, self._saved()
        if text is None:
            method = CLOSE
        elif method == OPEN:
            document |= {"languageId": self.language, "text": text}
        else:
            params["contentChanges"] = [{"text": text}]
        return {"jsonrpc": "2.0", "method": method, "params": params}

    def _saved(self) -> str | None:
        """The file's text, if it is the text of the message: with or without its byte
        order mark, which editors remove."""
        if self._path is None:
            return None
        try:
            with self._path.open("rb") as file:
                text = file.read(_LARGEST_FILE).decode()
        except (OSError, ValueError):
            return None
        texts = dict.fromkeys((text.removeprefix(_BOM), text))
        return next(filter(self.digest.is_of, texts), None)

    @property
    def _path(self) -> Path | None:
        from urllib.request import url2pathname  # here, because it loads an HTTP client

        parts = urlsplit(self.uri)
        return Path(url2pathname(parts.path)) if parts.scheme == "file" else None

    def warning(self, limit: int) -> dict[str, Any]:
        """``window/showMessage``: why the document has no findings, and what to do."""
        path = self._path
        name = self.uri.rpartition("/")[2] if path is None else path.name
        reason = "is not a file" if path is None else "differs from its file"
        file = "FILE" if path is None else f'"{path}"'
        words = (
            f"Nothing is underlined in {name}: it is larger than {limit >> 20} MiB and "
            f"{reason}. Save it and open it again, or in a terminal: "
            f"stream-sidecar repair --diff {file}"
        )
        params = {"type": _WARNING, "message": one_line(words)}
        return {"jsonrpc": "2.0", "method": "window/showMessage", "params": params}


def document_in(skipped: UnreadableFrame) -> SkippedDocument | None:
    """The document of a skipped notification; None if it was about none."""
    sample = skipped.sample.decode("utf-8", "replace")
    method, uri = _METHOD.search(sample), _URI.search(sample)
    if skipped.id is not None or method is None or uri is None:
        return None
    language, version = _LANGUAGE.search(sample), _VERSION.search(sample)
    return SkippedDocument(
        OPEN if method[1] == OPEN else CHANGE,
        json.loads(uri[1], strict=False),
        "" if language is None else json.loads(language[1], strict=False),
        0 if version is None else int(version[1]),
        skipped.digest,
    )
