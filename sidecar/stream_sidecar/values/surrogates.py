"""Half characters (lone surrogates): found, joined, and kept out of the output.

Strings of JavaScript are UTF-16, so a host may end a chunk in the middle of a character
outside the basic plane. `SurrogateJoiner` joins the halves (text rule 1.3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar import patterns
from stream_sidecar.records import define

if TYPE_CHECKING:
    import re

HALVES = "\ud800-\udfff"
"""Surrogates, the halves of characters, as a range for a regular expression."""

_SURROGATE = patterns.compile(f"[{HALVES}]")
_PAIR = patterns.compile("[\ud800-\udbff][\udc00-\udfff]")


def has_half(text: str) -> bool:
    """Whether ``text`` has a surrogate, with or without its partner."""
    try:
        text.encode()  # much faster than a search
    except UnicodeEncodeError:
        return True
    return False


def without_halves(text: str) -> str:
    """``text`` with U+FFFD in place of each surrogate."""
    return _SURROGATE.sub("\ufffd", text)


def whole_values(value: Any, halves: list[str], depth: int, path: str = "") -> Any:
    """A JSON ``value`` with U+FFFD in place of each half in its strings and names; the
    same object if it has none. ``halves`` gets the JSON Pointers of the strings that
    changed. Two halves that make a character are joined. Values nested deeper than
    ``depth`` stay."""
    if isinstance(value, str):
        if not has_half(value):
            return value
        halves.append(path)
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if not (isinstance(value, dict | list) and depth):
        return value
    halves_before = len(halves)
    places = value.items() if isinstance(value, dict) else enumerate(value)
    pairs = [
        (
            whole_values(key, halves, 0, path),
            whole_values(item, halves, depth - 1, f"{path}/{_pointer_token(key)}"),
        )
        for key, item in places
    ]
    if len(halves) == halves_before:
        return value
    return dict(pairs) if isinstance(value, dict) else [item for _, item in pairs]


def _pointer_token(place: object) -> str:
    return str(place).replace("~", "~0").replace("/", "~1")


@define(eq=False)
class SurrogateJoiner:
    """Joins half characters across pushes; ``push(text) -> text``, ``close() -> text``
    (text rule 1.3).

    A high half at the end of a push waits for the next one. Halves without a partner
    become U+FFFD; ``repaired`` counts them.
    """

    held: str = ""
    repaired: int = 0

    def push(self, text: str) -> str:
        if text.isascii() and not self.held:
            return text
        text, self.held = self.held + text, ""
        if not has_half(text):
            return text
        if "\ud800" <= text[-1] <= "\udbff":
            text, self.held = text[:-1], text[-1]
        return self._replace_halves(text)

    def close(self) -> str:
        if not self.held:
            return ""
        text, self.held = self.held, ""
        return self._replace_halves(text)

    def _replace_halves(self, text: str) -> str:
        joined = _PAIR.sub(_join_pair, text)
        whole_text, count = _SURROGATE.subn("\ufffd", joined)
        self.repaired += count
        return whole_text


def _join_pair(match: re.Match[str]) -> str:
    return match[0].encode("utf-16", "surrogatepass").decode("utf-16")
