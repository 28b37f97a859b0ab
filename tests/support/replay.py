"""Transcripts: conversations with the sidecar as files, for clients in any language.

Every line of ``transcripts/*.jsonl`` is one object of JSON that the strictest readers
accept:

- ``{"transcript": 1, "protocolVersion": 1, "title": ...}``: the first line.
- ``{"comment": ...}``: for people, anywhere.
- ``{"dir": "in", "msg": ...}``: the host sends this message, framed as it should be.
  ``"raw": text`` or ``"base64": text`` instead of ``msg`` are bytes that are written
  unchanged, frame included; ``"end": true`` closes the sidecar's input.
- ``{"dir": "out", "msg": ...}``: the sidecar's next message. It is read before the next
  line is sent, so the answer to a message is the line right after it.
- ``{"dir": "exit", "code": 0}``: the last line. The sidecar sends nothing more, and
  exits with this code.

A message matches when it is equal, the order of keys aside; a value of ``"..."`` is
equal to any value. ``renewed`` writes a new recording over an old one and leaves the
``"..."`` where they are; an ``out`` line without ``msg`` is filled in.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rpc_client import RpcClient

if TYPE_CHECKING:
    from collections.abc import Callable

ANY = "..."
_VARYING = frozenset({"uptimeMs", "openedAt"})
"""Fields that are never the same again; a new recording writes ``"..."``."""


def read(path: Path) -> list[dict[str, Any]]:
    """The lines of a transcript."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def write(path: Path, lines: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")


def replay(
    lines: list[dict[str, Any]], open_client: Callable[[], Any] = RpcClient
) -> list[dict[str, Any]]:
    """Plays the host of a conversation; gives the lines as they were this time.

    Nothing is compared here (`difference`), but the conversation has to have this form.
    ``open_client`` starts a sidecar and gives an `RpcClient`, or what is used like one.
    """
    played = []
    with open_client() as client:
        for line in lines:
            if line.get("dir") == "in":
                _send(client, line)
            elif line.get("dir") == "out":
                line = {"dir": "out", "msg": client.read()}
            elif line.get("dir") == "exit":
                assert client.read_all() == []
                line = {"dir": "exit", "code": client.wait()}
                assert client.stderr() == ""
            played.append(line)
    return played


def _send(client: Any, line: dict[str, Any]) -> None:
    if "msg" in line:
        client.send(line["msg"])
    elif "raw" in line:
        client.send_bytes(line["raw"].encode())
    elif "base64" in line:
        client.send_bytes(base64.b64decode(line["base64"], validate=True))
    else:
        assert line["end"] is True
        client.end_input()


def difference(expected: Any, actual: Any, path: str = "") -> str | None:
    """Where ``actual`` first differs, and how; None when it matches.

    A member ``"...": "..."`` stands for further members (in protocol.md only).
    """
    if expected == ANY:
        return None
    if isinstance(expected, dict) and isinstance(actual, dict):
        keys = [key for key in expected if key != ANY]
        if ANY not in expected:
            keys += [key for key in actual if key not in expected]
        pairs = [(f"{path}.{key}", key) for key in keys]
        for where, key in pairs:
            if key not in expected or key not in actual:
                return f"{where} is {'missing' if key in expected else 'unexpected'}"
        found = (difference(expected[key], actual[key], at) for at, key in pairs)
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            return f"{path} has {len(actual)} items instead of {len(expected)}"
        each = zip(expected, actual, strict=True)
        found = (difference(*pair, f"{path}[{n}]") for n, pair in enumerate(each))
    elif expected == actual and isinstance(expected, bool) == isinstance(actual, bool):
        return None
    else:
        return f"{path} is {json.dumps(actual)} instead of {json.dumps(expected)}"
    return next(filter(None, found), None)


def renewed(expected: Any, actual: Any, key: str = "") -> Any:
    """``actual`` with the wildcards of ``expected``; None: nothing was expected."""
    if expected == ANY or (expected is None and key in _VARYING):
        return ANY
    if isinstance(actual, dict):
        old = expected if isinstance(expected, dict) else {}
        if ANY in old:
            kept = {key: renewed(old[key], actual[key]) for key in old if key in actual}
            return {**kept, ANY: ANY}
        return {key: renewed(old.get(key), actual[key], key) for key in actual}
    if isinstance(actual, list):
        same = isinstance(expected, list) and len(expected) == len(actual)
        olds = expected if same else [None] * len(actual)
        return [renewed(*pair) for pair in zip(olds, actual, strict=True)]
    return actual
