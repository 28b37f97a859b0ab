"""What the fixes of an editor make of a document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rpc_client import RpcClient

from stream_sidecar.editor.features import FIX_MESSAGE_TITLE

WHOLE = {"start": {"line": 0, "character": 0}, "end": {"line": 10**6, "character": 0}}
ONLY = {"one": "quickfix", "message": "quickfix", "all": "source.fixAll"}


def fixed(
    client: RpcClient, where: Path | str, text: str | None = None, fix: str = "all"
) -> str:
    """The text after the fix of ``one`` finding, of its ``message`` or of ``all``;
    columns are UTF-16 units."""
    uri, name = (
        (where, where) if isinstance(where, str) else (where.as_uri(), where.name)
    )
    if text is None:
        assert isinstance(where, Path)
        text = where.read_bytes().decode()
    opened = {"uri": uri, "languageId": name.rpartition(".")[2], "version": 1}
    client.notify("textDocument/didOpen", {"textDocument": {**opened, "text": text}})
    context = {"diagnostics": [], "only": [ONLY[fix]]}
    document = {"textDocument": {"uri": uri}}
    asked = {**document, "range": WHOLE, "context": context}
    actions = client.request("textDocument/codeAction", asked)
    client.notify("textDocument/didClose", document)
    if fix == "message":
        actions = [each for each in actions if each["title"] == FIX_MESSAGE_TITLE]
    edits = [edit for each in actions[:1] for edit in each["edit"]["changes"][uri]]
    return _applied(text, edits)


def _applied(text: str, edits: list[dict[str, Any]]) -> str:
    """``text`` with edits that are sorted and apart."""
    units, at, pieces = text.encode("utf-16-le"), 0, []
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(f"{line}\n".encode("utf-16-le")))
    for edit in edits:
        first, last = (
            starts[point["line"]] + 2 * point["character"]
            for point in (edit["range"]["start"], edit["range"]["end"])
        )
        assert first >= at
        pieces += [units[at:first].decode("utf-16-le"), edit["newText"]]
        at = last
    return "".join((*pieces, units[at:].decode("utf-16-le")))
