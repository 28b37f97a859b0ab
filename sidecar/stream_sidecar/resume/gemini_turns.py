"""Turns of the Gemini API as Gemini CLI and its descendants keep and choose them."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from stream_sidecar.records import field, frozen
from stream_sidecar.resume.conversation import LeftOut, SentItem
from stream_sidecar.resume.findings import FileEdit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from stream_sidecar.parts import JsonObject
    from stream_sidecar.resume.records import StoredPlace
    from stream_sidecar.resume.stored import Stored
    from stream_sidecar.values.json_places import Path

_NO_CONTENT = frozenset(("text", "thought", "callIndex"))
"""A part whose text is empty holds nothing if it has no other member."""


@frozen
class TurnPart:
    """A part of a turn and where it is stored. ``places``: as of `SentItem`, below the
    part."""

    part: JsonObject
    source: StoredPlace
    places: Mapping[Path, StoredPlace] = field(factory=dict)

    @property
    def is_empty(self) -> bool:
        is_blank = not self.part.get("thought") and self.part.get("text") == ""
        return not self.part or (is_blank and self.part.keys() <= _NO_CONTENT)


@frozen
class GeminiTurn:
    role: str
    source: StoredPlace
    parts: tuple[TurnPart, ...]

    def spoken(self) -> GeminiTurn:
        """The turn without its thoughts."""
        parts = tuple(each for each in self.parts if not each.part.get("thought"))
        return GeminiTurn(self.role, self.source, parts)

    def item(self) -> SentItem:
        return SentItem(
            {"role": self.role, "parts": [each.part for each in self.parts]},
            self.source,
            tuple(each.source for each in self.parts),
            {
                ("parts", number, *path): source
                for number, each in enumerate(self.parts)
                for path, source in each.places.items()
            },
        )


def parts_of(content: Stored) -> tuple[TurnPart, ...]:
    """The parts of a content: a text, a part, or a list of both."""
    if isinstance(content.value, str):
        places: dict[Path, StoredPlace] = {("text",): content.source}
        return (TurnPart({"text": content.value}, content.source, places),)
    if isinstance(content.value, dict):
        return (TurnPart(content.value, content.source),)
    return tuple(part for each in content.items() for part in parts_of(each))


def turn_of(content: Stored) -> GeminiTurn:
    """The turn that is stored as the API has it, with ``role`` and ``parts``."""
    role = content.at("role").text or "user"
    return GeminiTurn(role, content.source, parts_of(content.at("parts")))


def without_empty(
    turns: Iterable[GeminiTurn], title: str
) -> tuple[list[GeminiTurn], list[LeftOut]]:
    """The turns that are sent. Turns of the model that follow one another are left out
    together if a part of them is empty."""
    sent: list[GeminiTurn] = []
    left: list[LeftOut] = []
    for role, group in groupby(turns, key=lambda turn: turn.role):
        run = [*group]
        is_empty = any(part.is_empty for turn in run for part in turn.parts)
        if role == "model" and is_empty:
            why = f"{title} does not send an answer with an empty part"
            left.extend(
                LeftOut(part.source, why, "blank-text", _without(part, turn))
                for turn in run
                for part in turn.parts
                if part.is_empty
            )
        else:
            sent.extend(run)
    return sent, left


def _without(part: TurnPart, turn: GeminiTurn) -> tuple[FileEdit, ...]:
    """What takes an empty part out of a turn that has another one."""
    is_listed = isinstance(part.source.path[-1], int)
    has_other = any(not each.is_empty for each in turn.parts)
    return (FileEdit(part.source),) if is_listed and has_other else ()


def joined(turns: Iterable[GeminiTurn]) -> Iterator[GeminiTurn]:
    """The turns as they are sent to the API: without thoughts, neighbours of one role
    as one."""
    spoken = [turn.spoken() for turn in turns]
    kept = (turn for turn in spoken if turn.parts)
    for _, group in groupby(kept, key=lambda turn: turn.role):
        yield one_of([*group])


def one_of(turns: Sequence[GeminiTurn]) -> GeminiTurn:
    """The parts of all turns in the first of them."""
    parts = tuple(part for turn in turns for part in turn.parts)
    return GeminiTurn(turns[0].role, turns[0].source, parts)
