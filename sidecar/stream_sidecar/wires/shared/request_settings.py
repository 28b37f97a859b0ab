"""Rows about a request as a whole: what only the host can mend, and which servers drop
thinking that no longer fits."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from stream_sidecar import patterns, records

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.parts import Json, JsonObject


@records.frozen
class HostMend:
    """What a provider refuses, and only the host can mend. ``is_due``: whether a body
    with these items has it; ``path``: the place in the request where it is mended;
    ``what``: the kind of loss."""

    is_due: Callable[[JsonObject, list[Json]], bool]
    path: str
    what: str
    why: str


def _any_case(pattern: str) -> re.Pattern[str]:
    return patterns.compile(pattern, re.IGNORECASE)


@records.frozen
class SealDropper:
    """Servers, found by any of their names, that can be asked to drop thinking that no
    longer fits, and where the beta is named
    (docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-thinking-block-binding.html)."""

    provider: re.Pattern[str] = records.field(converter=_any_case)
    beta: Literal["header", "body"]
