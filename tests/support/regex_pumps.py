"""Strings that make a regular expression work as hard as it can, made from itself.

Each is a ``head``, a ``pump`` that is repeated, and a ``tail``. The head leads into a
repetition of the pattern. The pump is text for that repetition: one character of every
kind that the pattern distinguishes, two of them, or a whole match. The tail matches
nowhere, so that everything is tried before the pattern gives up.
"""

from __future__ import annotations

import re
from itertools import product
from re import _compiler, _parser  # type: ignore[attr-defined]
from typing import Any

from attrs import frozen

_WORLD = [chr(code) for code in range(0x100)]
_WORLD += "\u0130\u0131\u017f\u0660\u1680\u200b\u2028\u3000\u4e2d\uff21\ufeff"
_WORLD += "\ud800\udfff\ue200\ue202\U0001f600\U0010ffff"
_BRANCHES = 6
"""So many alternatives are written out at most: more are of one kind."""

_KINDS = 6
"""So many kinds of characters are combined two by two."""


@frozen
class Pump:
    """``head + pump * count + tail``."""

    head: Any
    pump: Any
    tail: Any

    def text(self, size: int) -> Any:
        """With a middle of about so many characters."""
        return self.head + self.pump * (size // len(self.pump) + 1) + self.tail


def pumps_of(pattern: re.Pattern[Any]) -> list[Pump]:
    """What to pump a pattern with; nothing where it repeats nothing."""
    reader = _Reader(pattern)
    if not reader.bodies:
        return []
    kinds = reader.kinds()
    wholes = [part for text in reader.wholes for part in (text, text[:-1]) if part]
    pairs = map("".join, product(kinds[:_KINDS], repeat=2))
    ways = {("", word): None for word in (*kinds, *wholes, *pairs)}
    ways.update(((kinds[0], word), None) for word in kinds)
    for head, bodies in reader.bodies.items():
        ways.update(((head, word), None) for word in (*kinds, *bodies))
    found = [Pump(*way, tail) for way in ways for tail in ("", kinds[0])]
    if isinstance(pattern.pattern, bytes):
        return [_encoded(pump) for pump in found]
    return found


def _encoded(pump: Pump) -> Pump:
    parts = (pump.head, pump.pump, pump.tail)
    return Pump(*(part.encode("latin-1") for part in parts))


class _Reader:
    """Walks through a parsed pattern with a text that leads to each place."""

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        self.bodies: dict[str, list[str]] = {}
        self._sets: dict[str, set[str]] = {}
        self._bytes = isinstance(pattern.pattern, bytes)
        self._flags = pattern.flags
        self._top = _parser.parse(pattern.pattern, pattern.flags)
        self.wholes = self._sequence(self._top, "")

    def kinds(self) -> list[str]:
        """A character of each kind; the character in the fewest sets first."""
        kinds: dict[frozenset[str], str] = {}
        for character in self._world():
            inside = [name for name, known in self._sets.items() if character in known]
            kinds.setdefault(frozenset(inside), character)
        return [kinds[names] for names in sorted(kinds, key=len)]

    def _world(self) -> list[str]:
        written = str(self._top.state.str)
        world = [*"!~aA0_ \n", *_WORLD, *written]
        return [c for c in dict.fromkeys(world) if not self._bytes or ord(c) < 0x100]

    def _sequence(self, nodes: Any, before: str) -> list[str]:
        """Texts that the nodes read one after the other, after ``before``."""
        texts = [""]
        for node in nodes:
            read = self._node(str(node[0]), node, before + texts[0])
            texts = [left + right for left, right in product(texts, read)]
            texts = texts[:_BRANCHES]
        return texts

    def _node(self, kind: str, node: Any, before: str) -> list[str]:
        value = node[1]
        if kind in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            return self._character(node)
        if kind == "BRANCH":
            read = [self._sequence(each, before) for each in value[1]]
            return [text for texts in read for text in texts][:_BRANCHES]
        if kind == "SUBPATTERN":
            return self._sequence(value[3], before)
        if kind == "ATOMIC_GROUP":
            return self._sequence(value, before)
        if kind.endswith("REPEAT"):
            return self._repeat(value, before)
        if kind.startswith("ASSERT"):
            self._sequence(value[1], before)
        return [""]

    def _repeat(self, value: Any, before: str) -> list[str]:
        least, most, nodes = value
        texts = self._sequence(nodes, before)
        if most > 1:
            self.bodies.setdefault(before, []).extend(filter(None, texts))
        return [text * max(least, 1) for text in texts]

    def _character(self, node: Any) -> list[str]:
        name = str(node)
        if name not in self._sets:
            single = _parser.SubPattern(self._top.state, [node])
            asked = _compiler.compile(single, self._flags & ~re.DEBUG)
            self._sets[name] = {
                character
                for character in self._world()
                if asked.fullmatch(self._written(character))
            }
        return sorted(self._sets[name], key=lambda c: (not c.isalnum(), c))[:1]

    def _written(self, character: str) -> Any:
        return character.encode("latin-1") if self._bytes else character
