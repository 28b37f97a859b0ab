"""Which documents the official SDKs can read: each call is whole in one part
(python-genai and js-genai join no arguments)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.wires.shared.row import SdkRules

if TYPE_CHECKING:
    from stream_sidecar.parts import Json, JsonObject

_IN_PIECES = frozenset(("partialArgs", "willContinue"))


class GeminiSdkRules(SdkRules):
    """Looks at all documents of one stream, in their order."""

    def allows(self, document: JsonObject) -> bool:
        """Whether the SDKs read from ``document`` what it says."""
        candidates = document.get("candidates") or []
        return type(candidates) is list and all(map(_is_whole, candidates))


def _is_whole(candidate: Json) -> bool:
    content = candidate.get("content") if type(candidate) is dict else None
    parts = content.get("parts") if type(content) is dict else None
    if type(parts) is not list:
        return True
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    return all(
        type(call) is dict and call.get("name") and _IN_PIECES.isdisjoint(call)
        for call in calls
    )
