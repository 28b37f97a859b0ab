"""Numeric codes of providers: the kind of error, and whether to try again.

The table is ``codes.csv``: provider, member of the body, code, kind, retry (``no``: a
quota is used up that is not filled again within minutes), meaning, source. The same
number means different things: 1002 in Z.ai's ``code`` is an invalid token, 1002 in
MiniMax's ``status_code`` is a rate limit.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAMES = {
    "zai": ("zai", "z.ai", "z-ai", "zhipu", "bigmodel", "glm"),
    "minimax": ("minimax",),
    "baidu": ("baidu", "qianfan", "ernie"),
    "cloudflare": ("cloudflare", "workers-ai"),
    "mistral": ("mistral",),
}
"""Provider -> words that a host's name for it may contain. One that has no rows in the
table has codes of its own, whose numbers mean nothing else there (Mistral's 1300)."""


class Code(NamedTuple):
    """A row of the table; ``spent``: the column ``retry`` is ``no``."""

    provider: str
    member: str
    code: str
    kind: str
    spent: bool
    source: str


def known_code(found: Iterable[tuple[str, str]], provider: str | None) -> Code | None:
    """Return the row of the first of the ``found`` codes that the table has, or None.
    ``found`` are pairs: the name of a member, and its value.

    If ``provider``, the host's name for the provider, names a provider of the table,
    only the rows of that provider count. Otherwise the member and the value decide.
    """
    table, host = _table(), (provider or "").lower()
    provider_key = next(
        (key for key, names in _NAMES.items() if any(each in host for each in names)),
        None,
    )
    for each in found:
        row = table.get(each)
        if row is not None and provider_key in (None, row.provider):
            return row
    return None


@cache
def _table() -> dict[tuple[str, str], Code]:
    return {(row.member, row.code): row for row in rows()}


def rows() -> list[Code]:
    """The rows of ``codes.csv``."""
    from pkgutil import get_data  # reads zip files, too; imported late for a fast start

    data = get_data("stream_sidecar.provider_errors", "codes.csv")
    assert data is not None, "an importer that cannot give files"
    lines = (line.split(",") for line in data.decode().splitlines()[1:])
    return [
        Code(provider, member, code, kind, retry == "no", source)
        for provider, member, code, kind, retry, _, source in lines
    ]
