"""Numeric codes of providers: what kind of error each is, and whether to try again.

The table is ``codes.csv``: provider, member of the body, code, kind, retry (``no``: a
quota that the next minutes do not fill), what the provider says of it, source. A
number means something else at each provider: 1004 in Z.ai's ``code`` is a token that
was not accepted, 1002 in MiniMax's ``status_code`` a rate limit.
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
}
"""Provider of the table -> what a host's name for it has in it."""


class Code(NamedTuple):
    """A row: ``spent`` is the column ``retry``."""

    provider: str
    member: str
    code: str
    kind: str
    spent: bool
    source: str


def known_code(found: Iterable[tuple[str, str]], provider: str | None) -> Code | None:
    """The row of the first of the codes, pairs of a member and its value.

    A row of another provider than the one that the host names does not count. Where
    the host names none of the table, the member tells them apart.
    """
    table, named = _table(), _known(provider)
    for each in found:
        row = table.get(each)
        if row is not None and named in (None, row.provider):
            return row
    return None


def _known(provider: str | None) -> str | None:
    said = (provider or "").lower()
    return next((name for name, all_ in _NAMES.items() if _any_in(all_, said)), None)


def _any_in(names: tuple[str, ...], said: str) -> bool:
    return any(name in said for name in names)


@cache
def _table() -> dict[tuple[str, str], Code]:
    return {(row.member, row.code): row for row in rows()}


def rows() -> list[Code]:
    """The rows of ``codes.csv``."""
    from pkgutil import get_data  # from a zip file, too, and not needed for a start

    data = get_data("stream_sidecar.provider_errors", "codes.csv")
    assert data is not None, "an importer that cannot give files"
    lines = (line.split(",") for line in data.decode().splitlines()[1:])
    return [
        Code(provider, member, code, kind, retry == "no", source)
        for provider, member, code, kind, retry, _, source in lines
    ]
