"""The recordings: those of the project, and those of the corpus beside it."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from attrs import frozen
from corpus import CORPUS
from places import TESTS

from stream_sidecar.values.jsontext import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WIRES = {
    "openai.chat": "openai-chat",
    "openai.responses": "openai-responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "ollama": "ollama",
    "cohere.v2": "cohere",
    "bedrock.converse": "bedrock-converse",
    "bedrock.converse-json": "bedrock-converse",
}
"""The wires of the corpus' index."""

FRAMINGS = {"eventstream": "aws-eventstream", "jsonarray": "json-array"}


@frozen
class Recording:
    """The params of stream/open and stream/close, and the chunks between them."""

    name: str
    params: dict[str, Any]
    chunks: list[Any]
    close: dict[str, Any]


def own(path: Path) -> Recording:
    """A recording of the project."""
    header, *chunks = map(loads, path.read_text(encoding="utf-8").splitlines())
    name = f"{path.parent.name}/{path.name.split('.')[0]}"
    if not isinstance(header, dict) or "options" not in header:
        wire = {"options": {"wire": path.parent.name}}
        raise ValueError(f"{path}: the first line is no {dumps(wire)}")
    return Recording(name, header["options"], chunks, header.get("close") or {})


PATHS = sorted((TESTS / "wires").glob("*/*.chunks.jsonl"))


def of_corpus(every: int = 1) -> Iterator[Recording]:
    """The recordings beside the project, each as one chunk; one of so many."""
    lines = (CORPUS / "index.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["wire"] in WIRES]
    for row in rows[::every]:
        named = {key: row[key] for key in ("provider", "model") if row.get(key)}
        framing = FRAMINGS.get(row["framing"], row["framing"])
        how = {"wire": WIRES[row["wire"]], "framing": framing, "encoding": "base64"}
        data = base64.b64encode((CORPUS / row["file"]).read_bytes()).decode()
        yield Recording(row["file"], {**named, **how}, [data], {})
