"""The tables of the wires: documents in, parts out; and what holds for any document.

Each line of ``data/<wire>_parts.jsonl`` is ``{case, documents, parts}``: a stream of
documents (``event``: the name that all of them have) and the parts that the wire gives
for all of them and at its close, each as ``{class: fields}`` without the fields that
have their default. Whole streams, through all stages, are the recordings in ``wires``.
"""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

from attrs import NOTHING, fields
from places import TESTS

from stream_sidecar.parts import Document, ReasoningPart, RefusalPart, TextPart
from stream_sidecar.wires import WIRES

if TYPE_CHECKING:
    from pathlib import Path

    from stream_sidecar.parts import Part

DATA = TESTS / "data"

Row = dict[str, Any]


def table_of(wire: str) -> Path:
    return DATA / f"{wire.replace('-', '_')}_parts.jsonl"


def rows_of(wire: str) -> list[Row]:
    lines = table_of(wire).read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def as_read(wire: str) -> str:
    """The table of ``wire`` with the parts that come of its documents."""
    rows = (row | {"parts": parts_of(wire, row)} for row in rows_of(wire))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


WIRES_WITH_TABLES = [name for name in WIRES if table_of(name).exists()]


def parts_of(wire: str, row: Row) -> list[dict[str, Any]]:
    return [plain(part) for part in read(wire, row["documents"], row.get("event"))]


def plain(part: Part) -> dict[str, Any]:
    members = {
        field.name: getattr(part, field.name)
        for field in fields(type(part))
        if field.default is NOTHING or getattr(part, field.name) != field.default
    }
    return {type(part).__name__: members}


def read(wire: str, documents: list[Any], event: str | None = None) -> list[Part]:
    reader = WIRES[wire].make(None)
    parts: list[Part] = []
    for document in documents:
        parts += reader.push(Document(document, event))
    return parts + reader.close()


def fit(document: Document) -> list[str]:
    """The wires that a document fits."""
    return [name for name, row in WIRES.items() if row.fits(document)]


# --- Any value in any place -----------------------------------------------------------


def too_deep() -> list[Any]:
    value: list[Any] = []
    for _ in range(5_000):
        value = [value]
    return value


ODD = [
    *(None, 0, -1, 5, 1.5, True, "", "x", 10**25, "\ud800"),
    *([], {}, [[]], [None], [5], ["x"], [{}], {"a": 1}, {"type": ["x"]}),
    *({"type": "text"}, [{"type": "text", "text": 5}]),
    too_deep(),
]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    keys: Any = value if isinstance(value, dict) else ()
    if isinstance(value, list):
        keys = range(len(value))
    inner = [places(value[key], (*path, key)) for key in keys]
    return [path, *(place for found in inner for place in found)]


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    value = copy.copy(value)
    value[path[0]] = changed(value[path[0]], path[1:], new)
    return value


def assert_never_raises(wire: str, row: Row) -> None:
    """What can be used of any document is, and nothing raises."""
    for document in row["documents"]:
        for path in places(document):
            for odd in ODD:
                value = changed(document, path, odd)
                WIRES[wire].fits(Document(value, row.get("event")))
                for part in read(wire, [value, value, document], row.get("event")):
                    if isinstance(part, TextPart | RefusalPart | ReasoningPart):
                        assert isinstance(part.text, str)
