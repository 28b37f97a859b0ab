"""The table of wires: name -> row, in the order in which wires are announced.

A new wire is one file or folder with a ``ROW``, its name here, and one recording under
``tests/wires`` (wires/README.md, "Adding a wire"). A wire's module is imported when its
row is first used: a stream needs one of ten.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.parts import Document
    from stream_sidecar.wires.shared.row import WireRow

EmitWire: TypeAlias = Literal["openai-chat", "openai-responses", "anthropic", "gemini"]
"""The wires on which events can be written."""

RequestWire: TypeAlias = Literal[EmitWire, "ollama", "bedrock-converse", "cohere"]
"""The wires for which a turn can be rendered."""

WireName: TypeAlias = Literal[
    RequestWire, "mistral-conversations", "workers-ai", "text"
]

WRITERS: tuple[str, ...] = get_args(EmitWire)
REQUESTS: tuple[str, ...] = get_args(RequestWire)
NAMES: tuple[str, ...] = get_args(WireName)

FALLBACK = "openai-chat"
"""The wire for a stream whose documents fit no wire; it reports each of them."""


class _Rows(Mapping[str, "WireRow"]):
    def __getitem__(self, name: str) -> WireRow:
        return _row(name)

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


@cache
def _row(name: str) -> WireRow:
    if name not in NAMES:
        raise KeyError(name)
    row: WireRow = import_module(f"{__name__}.{name.replace('-', '_')}").ROW
    return row


WIRES = _Rows()


def detect(document: Document) -> str | None:
    """The only wire that ``document`` fits; None if it fits no wire or several."""
    names = [row.name for row in WIRES.values() if row.fits(document)]
    return names[0] if len(names) == 1 else None
