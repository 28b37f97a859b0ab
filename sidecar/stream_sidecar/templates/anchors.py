"""The members of a response template, checked, and what opens and closes its regions.

`members` checks an object of the template, `anchor_of` reads ``open``, ``close`` or
``start_anchor`` as literals or as a pattern. What is not understood raises
`TemplateError`, with the place of the mistake.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.records import frozen
from stream_sidecar.templates.stranger_patterns import (
    StrangerError,
    StrangerPattern,
    parsed,
)

if TYPE_CHECKING:
    from stream_sidecar.forms.grammar import Cursor, Reading


class TemplateError(ValueError):
    """The template is not understood. ``path``: the place of the mistake in it."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path.lstrip('.') or 'it'}: {reason}")
        self.path, self.reason = path, reason


_LONGEST_LITERAL = 256
_LONGEST_PATTERN = 2048


def members(value: Any, known: dict[str, tuple[Any, str]], path: str) -> dict[str, Any]:
    """The members of the object ``value`` that are not null. Raises TemplateError if
    one is not ``known`` or has another type."""
    if not isinstance(value, dict):
        raise TemplateError(path, "must be an object")
    present = {key: member for key, member in value.items() if member is not None}
    for key, member in present.items():
        if key not in known:
            raise TemplateError(f"{path}.{key}", "is not known")
        kind, words = known[key]
        is_flag = isinstance(member, bool) and kind is not bool
        if is_flag or not isinstance(member, kind):
            raise TemplateError(f"{path}.{key}", f"must be {words}")
    return present


@frozen(eq=False)
class Anchor:
    """The opener or the closer of a region: one of ``heads``, or a ``pattern``, whose
    matches begin with one of them. Without heads there is none. ``starts``: the text's
    start opens the region, too. ``groups``: the pattern's groups."""

    heads: tuple[str, ...]
    pattern: StrangerPattern | None = None
    starts: bool = False
    groups: frozenset[str] = frozenset()

    def read(self, cursor: Cursor) -> Reading[dict[str, str]]:
        """Reads the anchor and returns the pattern's groups by name."""
        if self.pattern is not None:
            return (yield from self.pattern.read(cursor))
        yield from cursor.literal(*self.heads)
        return {}


def anchor_of(given: dict[str, Any], side: str, path: str) -> Anchor:
    """The anchor that a field describes as ``open`` or ``open_pattern`` (``side``:
    open), or in the same way as ``close`` or ``start_anchor``. ``path``: the field's
    place, for errors."""
    key = f"{side}_pattern"
    if side in given and key in given:
        raise TemplateError(f"{path}.{key}", f"stands beside {side}")
    if key in given:
        items, names = parsed_pattern(given[key], f"{path}.{key}")
        pattern = made_pattern(items, names, f"{path}.{key}", trimmed=True)
        groups = frozenset(names.values())
        if pattern.is_literal and not groups:
            return Anchor(pattern.heads, None, pattern.starts)
        return Anchor(pattern.heads, pattern, pattern.starts, groups)
    heads_given = given.get(side, [])
    heads = [heads_given] if isinstance(heads_given, str) else heads_given
    for number, head in enumerate(heads):
        place = f"{path}.{side}" + (f"[{number}]" if heads is heads_given else "")
        if not isinstance(head, str) or not head:
            raise TemplateError(place, "must be a string that is not empty")
        if len(head) > _LONGEST_LITERAL:
            demand = f"must have at most {_LONGEST_LITERAL} characters"
            raise TemplateError(place, demand)
    if side in given and not heads:
        raise TemplateError(f"{path}.{side}", "must not be empty")
    return Anchor(tuple(dict.fromkeys(head.lstrip() or head for head in heads)))


def parsed_pattern(source: str, path: str) -> tuple[list[Any], dict[int, str]]:
    if len(source) > _LONGEST_PATTERN:
        raise TemplateError(path, "is too long")
    try:
        return parsed(source)
    except StrangerError as reason:
        raise TemplateError(path, str(reason)) from None


def made_pattern(
    items: list[Any], names: dict[int, str], path: str, *, trimmed: bool = False
) -> StrangerPattern:
    try:
        return StrangerPattern(items, names, trimmed=trimmed)
    except StrangerError as reason:
        raise TemplateError(path, str(reason)) from None
    except RecursionError:
        raise TemplateError(path, "is nested too deep") from None
