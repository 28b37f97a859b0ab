"""How much work a regular expression takes: the steps of a backtracking matcher.

What Python's ``re`` does inside is invisible to a count of lines, and its time is no
measure on a busy machine. So a pattern, parsed by ``re`` itself, is run here by the
same rules (first alternative first, greedy, lazy, possessive, atomic), and every
attempt at a character or place counts. ``re`` does the same attempts, or fewer where
it has a short cut; ``Steps.spans`` are its very matches, which the tests compare.

What a pattern may hold and this matcher does not know is a NotImplementedError, so
that no pattern is passed over.
"""

from __future__ import annotations

import re
from re import _compiler, _constants, _parser  # type: ignore[attr-defined]
from typing import Any, AnyStr, Generic, NamedTuple

MODES = ("match", "fullmatch", "findall")
"""What may be done with a pattern: ``findall`` stands for all that look for it.
``fullmatch`` tries all that ``match`` does, and more."""

_CHARACTERS = {"LITERAL", "NOT_LITERAL", "ANY", "IN"}
_PLACES = {"AT"}
_REPEATS = {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}


class _State(NamedTuple):
    """Where an attempt is, and what it has to remember, newest first."""

    at: int  # the instruction
    place: int
    groups: Any = None
    heights: Any = None  # of the stack where atomic groups began
    turns: Any = None  # where turns of loops began


class Program(Generic[AnyStr]):
    """A pattern as instructions; ``groups`` as they were when it matched."""

    def __init__(self, pattern: re.Pattern[AnyStr]) -> None:
        self.pattern = pattern
        self.code: list[Any] = []
        parsed = _parser.parse(pattern.pattern, pattern.flags)
        self._sequence(parsed, parsed, pattern.flags)
        self.code.append(("matched",))

    def _sequence(self, nodes: Any, top: Any, flags: int) -> None:
        for node in nodes:
            self._node(node, top, flags)

    def _node(self, node: Any, top: Any, flags: int) -> None:
        kind, value = str(node[0]), node[1]
        if kind in _CHARACTERS:
            self.code.append(("character", _Asked(node, top, flags)))
        elif kind in _PLACES:
            self.code.append(("place", _Asked(node, top, flags)))
        elif kind in _REPEATS:
            self._repeat(kind, value, top, flags)
        elif kind == "BRANCH":
            self._branch(value[1], top, flags)
        elif kind == "SUBPATTERN":
            self._group(value, top, flags)
        elif kind == "ATOMIC_GROUP":
            self._atomic(lambda: self._sequence(value, top, flags))
        elif kind in ("ASSERT", "ASSERT_NOT"):
            self._look(kind, value, top, flags)
        elif kind == "GROUPREF":
            self.code.append(("same", value))
        elif kind == "FAILURE":
            self.code.append(("fail",))
        else:
            raise NotImplementedError(f"{kind} in {self.pattern.pattern!r}")

    def _group(self, value: Any, top: Any, flags: int) -> None:
        number, added, removed, nodes = value
        if number is not None:
            self.code.append(("group", 2 * number))
        self._sequence(nodes, top, (flags | added) & ~removed)
        if number is not None:
            self.code.append(("group", 2 * number + 1))

    def _atomic(self, body: Any) -> None:
        self.code.append(("atomic",))
        body()
        self.code.append(("commit",))

    def _look(self, kind: str, value: Any, top: Any, flags: int) -> None:
        direction, nodes = value
        width = nodes.getwidth()[1] if direction < 0 else 0
        inner = object.__new__(Program)
        inner.pattern, inner.code = self.pattern, []
        inner._sequence(nodes, top, flags)
        inner.code.append(("matched",))
        self.code.append(("look", inner, width, kind == "ASSERT"))

    def _branch(self, branches: Any, top: Any, flags: int) -> None:
        ends = []
        for nodes in branches[:-1]:
            split = self._reserve()
            self._sequence(nodes, top, flags)
            ends.append(self._reserve())
            self.code[split] = ("split", split + 1, len(self.code))
        self._sequence(branches[-1], top, flags)
        for end in ends:
            self.code[end] = ("split", len(self.code), None)

    def _repeat(self, kind: str, value: Any, top: Any, flags: int) -> None:
        if kind == "POSSESSIVE_REPEAT":
            self._atomic(lambda: self._repeat("MAX_REPEAT", value, top, flags))
            return
        least, most, nodes = value
        lazy = kind == "MIN_REPEAT"
        for _ in range(least):
            self._sequence(nodes, top, flags)
        if most is _constants.MAXREPEAT:
            self._loop(nodes, top, flags, lazy=lazy)
            return
        splits = []
        for _ in range(most - least):
            splits.append(self._reserve())
            self._sequence(nodes, top, flags)
        for split in splits:
            self._split(split, split + 1, len(self.code), lazy=lazy)

    def _loop(self, nodes: Any, top: Any, flags: int, *, lazy: bool) -> None:
        split = self._reserve()
        self.code.append(("turn",))
        self._sequence(nodes, top, flags)
        self.code.append(("again", split))
        self._split(split, split + 1, len(self.code), lazy=lazy)

    def _reserve(self) -> int:
        self.code.append(None)
        return len(self.code) - 1

    def _split(self, split: int, body: int, end: int, *, lazy: bool) -> None:
        first, other = (end, body) if lazy else (body, end)
        self.code[split] = ("split", first, other)


class _Asked:
    """Whether a single character, or a place, is what a node wants: ``re`` is asked."""

    def __init__(self, node: Any, top: Any, flags: int) -> None:
        single = _parser.SubPattern(top.state, [node])
        self._pattern = _compiler.compile(single, flags & ~re.DEBUG)
        self._known: dict[Any, bool] = {}

    def character(self, found: Any) -> bool:
        """A character of a text; of bytes, a number."""
        known = self._known.get(found)
        if known is None:
            single = bytes([found]) if isinstance(found, int) else found
            known = self._known[found] = self._pattern.fullmatch(single) is not None
        return known

    def place(self, text: Any, place: int) -> bool:
        return self._pattern.match(text, place) is not None


class Steps:
    """Runs a pattern over ``text`` in one of the ``MODES`` and counts; ``spans`` are
    what it matched. More than ``most`` steps are not made: then ``spans`` is None."""

    def __init__(self, program: Program[Any], text: Any, mode: str, most: int) -> None:
        self.text = text
        self.count = 0
        self.most = most
        self.spans: list[tuple[int, int]] | None = []
        try:
            self._run(program, mode)
        except _TooManyError:
            self.spans = None

    def _run(self, program: Program[Any], mode: str) -> None:
        whole, start, again = mode == "fullmatch", 0, -1
        while start <= len(self.text):
            self.count += 1
            end = self._from(program, start, whole=whole, nonempty=start == again)
            if end is not None:
                self.spans.append((start, end))  # type: ignore[union-attr]
            if mode != "findall":
                return
            if end is None:
                start += 1
            else:  # an empty match may be followed by another one at its place
                again = end if end == start else -1
                start = end

    def _from(
        self, program: Program[Any], start: int, *, whole: bool, nonempty: bool = False
    ) -> int | None:
        """Where a match that begins at ``start`` ends."""
        code, text, stack = program.code, self.text, [_State(0, start)]
        while stack:
            state = stack.pop()
            at, place = state[:2]
            while True:
                self.count += 1
                if self.count > self.most:
                    raise _TooManyError
                name, *operands = code[at]
                if name == "character":
                    if place == len(text) or not operands[0].character(text[place]):
                        break
                    at, place = at + 1, place + 1
                elif name == "split":
                    at, other = operands
                    if other is not None:
                        stack.append(_State(other, place, *state[2:]))
                elif name == "matched":
                    fits = not whole or place == len(text)
                    if fits and not (nonempty and place == start):
                        return place
                    break
                else:
                    state = self._next(name, operands, at, place, state, stack)
                    if state is None:
                        break
                    at, place = state[:2]
        return None

    def _next(
        self, name: str, operands: Any, at: int, place: int, state: Any, stack: Any
    ) -> Any:
        move = getattr(self, f"_{name}")
        return move(_State(at, place, *state[2:]), stack, *operands)

    def _place(self, state: Any, _stack: Any, asked: _Asked) -> Any:
        if asked.place(self.text, state.place):
            return state._replace(at=state.at + 1)
        return None

    def _fail(self, _state: Any, _stack: Any) -> Any:
        return None

    def _group(self, state: Any, _stack: Any, border: int) -> Any:
        groups = (border, state.place, state.groups)
        return state._replace(at=state.at + 1, groups=groups)

    def _same(self, state: Any, _stack: Any, number: int) -> Any:
        start, end = (_border(state.groups, 2 * number + side) for side in (0, 1))
        if start is None or end is None:
            return None
        wanted = self.text[start:end]
        self.count += len(wanted)
        if not self.text.startswith(wanted, state.place):
            return None
        return state._replace(at=state.at + 1, place=state.place + len(wanted))

    def _atomic(self, state: Any, stack: Any) -> Any:
        return state._replace(at=state.at + 1, heights=(len(stack), state.heights))

    def _commit(self, state: Any, stack: Any) -> Any:
        height, heights = state.heights
        del stack[height:]
        return state._replace(at=state.at + 1, heights=heights)

    def _turn(self, state: Any, _stack: Any) -> Any:
        return state._replace(at=state.at + 1, turns=(state.place, state.turns))

    def _again(self, state: Any, _stack: Any, split: int) -> Any:
        """A turn that read nothing is the last one."""
        began, turns = state.turns
        at = state.at + 1 if began == state.place else split
        return state._replace(at=at, turns=turns)

    def _look(
        self, state: Any, _stack: Any, inner: Any, width: int, wanted: bool
    ) -> Any:
        start = state.place - width
        found = start >= 0 and self._from(inner, start, whole=False) is not None
        return state._replace(at=state.at + 1) if found == wanted else None


class _TooManyError(Exception):
    """It takes more steps than it may."""


def _border(groups: Any, border: int) -> int | None:
    while groups is not None:
        known, place, groups = groups
        if known == border:
            return place  # type: ignore[no-any-return]
    return None
