"""Bytes as inputs of a lane, and the bytes that coverage-guided fuzzing begins with.

The first `HEAD` bytes choose parameters and cuts, the rest is the text, the body, or
the documents, one a line. Everything a mutation makes of that is some input.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from random import Random
from typing import Any

from strategies import PROTOCOL, as_read

from fuzz import inputs
from fuzz.fragments import BODIES, EDGES, LITERALS, RECORDED, WRITTEN
from stream_sidecar.framing.framer import FRAMINGS
from stream_sidecar.values.jsontext import loads
from stream_sidecar.wires import WIRES

HEAD = 4
LONGEST = 2_000
_WIRES = ("auto", *(name for name in WIRES if name != "text"))


def given_of(lane: str, data: bytes) -> dict[str, Any]:
    """The input that ``data`` stands for."""
    head, rest = data[:HEAD].ljust(HEAD, b"\0"), data[HEAD:]
    if lane == "documents":
        return _documents(head, rest)
    return _body(head, rest) if lane == "bodies" else _text(head, rest)


def _text(head: bytes, rest: bytes) -> dict[str, Any]:
    text = rest.decode("utf-8", "replace")
    return {"params": _params(head[0]), "chunks": _cut(head, text)}


@lru_cache(maxsize=256)
def _params(number: int) -> dict[str, Any]:
    """The default ones, and others; few, so that their lexicons are made once."""
    return inputs.text_params(Random(number % 32)) if number else {"wire": "text"}


def _cut(head: bytes, text: str) -> list[str]:
    return inputs.cut(Random(int.from_bytes(head[1:3])), text)


def _body(head: bytes, rest: bytes) -> dict[str, Any]:
    """The bytes themselves, as base64, or the text they are."""
    params = {"wire": _WIRES[head[0] % len(_WIRES)]}
    params["framing"] = FRAMINGS[head[3] % len(FRAMINGS)]
    params["encoding"] = "base64" if head[3] & 0x80 else "utf-8"
    if params["framing"] == "text":
        params["wire"] = "text"
    if head[3] & 0x40:
        params["limits"] = {"maxDocumentChars": 40}
    is_text = params["encoding"] == "utf-8"
    text = rest.decode("utf-8", "replace") if is_text else rest.decode("latin-1")
    return {"params": params, "chunks": _cut(head, text)}


def _documents(head: bytes, rest: bytes) -> dict[str, Any]:
    lines = rest.decode("utf-8", "replace").split("\n")
    documents = [document for line in lines if (document := _read(line)) is not None]
    params = {"wire": _WIRES[head[0] % len(_WIRES)]}
    seed = int.from_bytes(head[1:3])
    return {"params": params, "documents": documents, "seed": seed}


def _read(line: str) -> Any:
    """The document on a line; None where there is none."""
    try:
        return as_read(loads(line))
    except (ValueError, RecursionError):
        return None


# --- What it begins with --------------------------------------------------------------


def seeds(lane: str) -> Iterator[bytes]:
    """The corpus: recorded texts, bodies and documents as bytes."""
    if lane == "documents":
        for params, documents in RECORDED:
            wire = _WIRES.index(params.get("wire", "auto"))
            lines = [json.dumps(document) for document in documents]
            yield bytes([wire, 0, 1, 0]) + "\n".join(lines)[:LONGEST].encode()
    elif lane == "bodies":
        for params, body in BODIES:
            framing = FRAMINGS.index(params.get("framing", "auto"))
            wire = _WIRES.index(params.get("wire", "auto"))
            yield bytes([wire, 0, 1, framing]) + _bytes(body)[:LONGEST]
    else:
        for number, (_, text) in enumerate(WRITTEN):
            yield bytes([number % 32, 0, number % 256, 0]) + _bytes(text)[:LONGEST]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def dictionary() -> str:
    """Our literals as libFuzzer reads them: one quoted word a line."""
    words = dict.fromkeys((*LITERALS, *PROTOCOL, *EDGES))
    coded = [word.encode("utf-8", "replace")[:60] for word in words]
    return "".join(f'"{_escaped(word)}"\n' for word in coded if word)


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)
