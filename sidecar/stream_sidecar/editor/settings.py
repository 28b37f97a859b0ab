"""Settings of the editor: the kinds of findings to show.

A client sends them with ``workspace/didChangeConfiguration``. Example:
``{"streamSidecar": {"except": ["white-space"]}}``. An unknown kind is logged and has no
effect.
"""

from __future__ import annotations

from typing import Any

from stream_sidecar.history.results import CHOICES, chosen_kinds
from stream_sidecar.rpc.logs import log

SECTION = "streamSidecar"
ONLY, EXCEPT = "only", "except"


def kinds_in(settings: Any) -> frozenset[str] | None:
    """The kinds that ``settings`` choose; None if they choose all, also those that
    later versions add."""
    section = settings.get(SECTION) if isinstance(settings, dict) else None
    if not isinstance(section, dict):
        return None
    return chosen_kinds(_kinds(section, ONLY), _kinds(section, EXCEPT))


def _kinds(settings: dict[str, Any], name: str) -> list[str]:
    value = settings.get(name) or []
    kinds = value if isinstance(value, list) else [value]
    for kind in kinds:
        if kind not in CHOICES:
            log.warning("setting %s.%s: there is no kind %r", SECTION, name, kind)
    return [kind for kind in kinds if kind in CHOICES]
