"""A scanner driven by tables, which finds the end of a construct in growing text.

It reads slices of text, cut anywhere, and returns the index after the last character of
the construct. It keeps a state and the open brackets, never text, and reads each
character at most a fixed number of times. The module that writes the `Syntax` knows
what a construct means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.records import field, frozen

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Mapping

MAX_NESTING = 128
"""The deepest nesting of brackets; one more fails."""

Moves: TypeAlias = "dict[str, dict[str, str]]"


def _compile_runs(rows: Mapping[str, str]) -> dict[str, re.Pattern[str]]:
    compiled = [(states.split(), patterns.compile(run)) for states, run in rows.items()]
    return {state: run for states, run in compiled for state in states}


def _compile_classes(
    rows: Mapping[str, tuple[str, str]],
) -> dict[str, tuple[re.Pattern[str], str]]:
    return {
        state: (patterns.compile(pattern), move)
        for state, (pattern, move) in rows.items()
    }


def _read_nothing(_text: str, index: int) -> int:
    return index


@frozen
class Syntax:
    """The tables of a syntax. A state is a name, and every state has ``moves``.

    A move is the name of the next state, or a verb: a key of ``containers`` opens that
    container, ``close`` ends the innermost container, a key of ``container_moves``
    leads to a state that depends on the innermost container, ``failed`` fails.
    """

    moves: Moves
    """State -> the character that is read -> move."""

    runs: dict[str, re.Pattern[str]] = field(converter=_compile_runs)
    """States -> a pattern for the text that they read in one step, perhaps none."""

    classes: dict[str, tuple[re.Pattern[str], str]] = field(converter=_compile_classes)
    """State -> a pattern for characters that ``moves`` does not list, and their
    move."""

    defaults: Mapping[str, str]
    """State -> the move for any other character, which is not read; a state that is
    missing here fails."""

    containers: Mapping[str, tuple[str, str]]
    """Verb -> the state after a value in the container, and the first state in it."""

    container_moves: Mapping[str, Mapping[str, str]]
    """Verb -> the state after a value in the innermost container -> the next state."""

    stays: dict[str, re.Pattern[str]] = field(factory=dict, converter=_compile_runs)
    """States -> a pattern for text that leaves the scanner in this state."""

    read_whole: Callable[[str, int], int] = _read_nothing
    """A quicker way to read most constructs that end in the text. Returns the index
    after the construct that begins at an index, or this index itself if the construct
    has to be read by states."""


def spelling(words: Mapping[str, str], prefix: str = "") -> Moves:
    """Return the moves that read ``words``, which maps each word to the move of its
    last character. The name of a state is ``prefix`` and the part of a word read so
    far."""
    moves: Moves = {}
    for word, end_move in words.items():
        for index in range(1, len(word)):
            spelled = word[: index + 1]
            move = end_move if spelled == word else prefix + spelled
            moves.setdefault(prefix + word[:index], {})[word[index]] = move
    return moves


class Scanner:
    """Follows one construct of ``syntax`` from its first character, in state ``start``.

    ``state`` is ``open`` until the end of the construct is found (``whole``) or the
    text does not fit the syntax (``failed``).
    """

    __slots__ = ("_place", "_stack", "_syntax", "state")

    def __init__(self, syntax: Syntax, start: str) -> None:
        self.state: Literal["open", "whole", "failed"] = "open"
        self._syntax = syntax
        self._place = start
        self._stack: list[str] = []

    @property
    def stays(self) -> re.Pattern[str] | None:
        """A pattern: text that it matches in full changes nothing but the position."""
        return self._syntax.stays.get(self._place)

    def scan(self, text: str, index: int) -> int:
        """Read from ``index``; return the index after the last character that was read.

        While the construct is open, that is the end of ``text``. Otherwise it is the
        index after the construct, or after the character at which it failed.
        """
        place, end = self._place, len(text)
        runs, moves = self._syntax.runs, self._syntax.moves
        if not self._stack and text[index : index + 1] in moves.get(place, {}):
            whole_end = self._syntax.read_whole(text, index)
            if whole_end > index:
                self._place, self.state = "close", "whole"
                return whole_end
        while self.state == "open":
            if place in runs:
                run = runs[place].match(text, index)
                assert run is not None  # it also matches the empty string
                index = run.end()
            if index == end:
                break
            move, width = moves[place].get(text[index]), 1
            if move is None:
                move, width = self._unlisted_move(place, text[index])
            index += width
            place = move if move in moves else self._change_container(move)
        self._place = place
        return index

    def _unlisted_move(self, place: str, char: str) -> tuple[str, int]:
        """The move for a character not in the table, and its width."""
        if place in self._syntax.classes:
            class_pattern, move = self._syntax.classes[place]
            if class_pattern.match(char):
                return move, 1
        if place in self._syntax.defaults:
            return self._syntax.defaults[place], 0
        return "failed", 1

    def _change_container(self, verb: str) -> str:
        """Opens or closes a container as ``verb`` says; returns the next state."""
        syntax, stack = self._syntax, self._stack
        if verb in syntax.containers and len(stack) < MAX_NESTING:
            state_after, first_state = syntax.containers[verb]
            stack.append(state_after)
            return first_state
        if verb in syntax.container_moves:
            return syntax.container_moves[verb][stack[-1]]
        if verb == "close":
            stack.pop()
            if stack:
                return stack[-1]
            self.state = "whole"
        else:
            self.state = "failed"
        return verb
