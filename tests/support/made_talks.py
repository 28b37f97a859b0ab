"""Seeded talks of a user and a model with tools, told to the writer of an agent.

A `Writer` stores a talk in the records of its agent. Every talk can have:
parallel calls, thinking, images, interruptions, compactions, turns that were taken
back, side talks of sub-agents, other models, marks between the messages, and a call at
the end whose result is still to come.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

from attrs import frozen

Json = Any

SEAL = "RXBVQkNrWUlBeEFCR0FJaVFNYWRl"
STATE = "gAAAAABmadeThoughtsThatNobodyReads"
IMAGE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAA"
    "AABJRU5ErkJggg=="
)
CLAUDES = (("anthropic", "claude-opus-4-8"), ("anthropic", "claude-haiku-4-5"))
OPENAIS = (("openai", "gpt-5.5"), ("openai", "gpt-6"))
GOOGLES = (("google", "gemini-3-pro"), ("google", "gemini-3-flash"))
"""Providers and models."""

_TEXTS = (
    *("Look into the file.", "Fine, go on.", "Überprüfe das 🌿 bitte.", "1", "{}"),
    *("Why?\n\nBecause.", "<b>no tag</b>", '{"an": "object"}', "- a\n- b\n", "..."),
)
_NAMES = ("Bash", "read_file", "mcp__files__list-all")


@frozen
class Call:
    id: str
    name: str
    arguments: Json

    @property
    def written(self) -> str:
        return json.dumps(self.arguments)


@frozen
class Result:
    call: Call
    text: str
    failed: bool = False


@frozen
class Answer:
    """What the model says in one step. ``thinking``: "" for none."""

    thinking: str
    text: str
    calls: tuple[Call, ...] = ()


class Writer:
    """Keeps a talk as an agent does; what an agent does not have is not written."""

    models: Sequence[tuple[str, str]] = (("", ""),)
    """Pairs of a provider and a model. A talk has one provider."""

    def __init__(self, chosen: random.Random) -> None:
        self.chosen = chosen
        self.provider, self.model = chosen.choice(self.models)
        self.records: list[Json] = []
        self.count = 0

    def id(self, prefix: str = "") -> str:
        self.count += 1
        return f"{prefix}{self.count:04}"

    def add(self, record: Json) -> None:
        self.records.append(record)

    def ask(self, text: str, image: bool) -> None: ...

    def answer(self, answer: Answer) -> None: ...

    def results(self, results: Sequence[Result]) -> None: ...

    def interrupted(self, answer: Answer) -> None:
        """The user ended the turn: an answer that was not finished, or its calls."""
        self.answer(answer)
        if answer.calls:
            self.results([Result(each, "Interrupted.", True) for each in answer.calls])

    def compacted(self, summary: str) -> None: ...

    def place(self) -> Json:
        """Where the talk is, for `back`."""
        return len(self.records)

    def back(self, place: Json) -> None:
        """The user takes back all that was said since ``place``."""
        del self.records[place:]

    def aside(self, text: str, answer: Answer) -> None: ...

    def switched(self) -> None:
        """Another model of the same provider."""
        same = [each for each in self.models if each[0] == self.provider]
        self.provider, self.model = self.chosen.choice(same)

    def noise(self) -> None: ...

    def session(self) -> list[Json]:
        """The records of the file."""
        return self.records


def tell(writer: Writer) -> None:
    """A whole talk."""
    chosen = writer.chosen
    writer.noise()
    for _ in range(chosen.randint(1, 5)):
        place = writer.place()
        _exchange(writer)
        news = chosen.choice(("", "", "", "compacted", "back", "switched", "aside"))
        if news == "compacted":
            writer.compacted("In short: " + _text(chosen))
        elif news == "back":
            writer.back(place)
            _exchange(writer)
        elif news == "switched":
            writer.switched()
        elif news == "aside":
            writer.aside(_text(chosen), _answer(chosen, 0))
    if chosen.random() < 0.3:
        writer.ask(_text(chosen), image=False)
        writer.answer(_answer(chosen, chosen.randint(0, 3)))


def _exchange(writer: Writer) -> None:
    chosen = writer.chosen
    writer.ask(_text(chosen), image=chosen.random() < 0.2)
    for _ in range(chosen.randint(0, 3)):
        answer = _answer(chosen, chosen.choice((1, 1, 1, 2, 3)))
        if chosen.random() < 0.1:
            writer.interrupted(answer)
            return
        writer.answer(answer)
        writer.results(
            [
                Result(call, _text(chosen), chosen.random() < 0.2)
                for call in answer.calls
            ]
        )
        if chosen.random() < 0.2:
            writer.noise()
    if chosen.random() < 0.1:
        writer.interrupted(_answer(chosen, 0))
    else:
        writer.answer(_answer(chosen, 0))


def _answer(chosen: random.Random, calls: int) -> Answer:
    thinking = _text(chosen) if chosen.random() < 0.6 else ""
    text = _text(chosen) if not calls or chosen.random() < 0.6 else ""
    return Answer(thinking, text, tuple(_call(chosen) for _ in range(calls)))


def _call(chosen: random.Random) -> Call:
    arguments: Json = chosen.choice(({}, {"path": "a.txt"}, {"of": {"lines": [1, 2]}}))
    return Call(
        f"call_{chosen.randrange(10**12):012}", chosen.choice(_NAMES), arguments
    )


def _text(chosen: random.Random) -> str:
    return chosen.choice(_TEXTS)


# --- Damages --------------------------------------------------------------------------


def damaged(records: list[Json], chosen: random.Random) -> list[Json]:
    """The records with one damage, or as they are if they have no place for it."""
    value = json.loads(json.dumps(records))
    lists, members = [], []
    waiting: list[Json] = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            lists.append(each)
            waiting.extend(each)
        elif isinstance(each, dict):
            members.extend((each, name) for name in each)
            waiting.extend(each.values())
    kind = chosen.choice(("gone", "gone", "twice", *_SPOILED))
    if kind in _SPOILED:
        names, spoiled = _SPOILED[kind]
        places = [
            (holder, name)
            for holder, name in members
            if name in names and isinstance(holder[name], str) and holder[name]
            if name != "id" or "name" in holder  # of a call, not of a record
        ]
        if places:
            holder, name = chosen.choice(places)
            holder[name] = spoiled
        return value
    where = chosen.choice([value, *(each for each in lists if len(each) > 1)])
    number = chosen.randrange(len(where))
    if kind == "gone":
        del where[number]
    else:
        where.insert(number, where[number])
    return value


_SPOILED = {
    "blank": (("text", "content"), ""),
    "unsigned": (("signature", "thinkingSignature", "thought_signature"), ""),
    "name": (("name", "tool"), "a\0b"),
    "id": (("id", "callID", "toolCallId", "call_id", "tool_use_id"), "no:such id"),
    "half": (("text", "content", "output"), "half \ud83c"),
}
"""A damage -> the members that it is done to, and what they become."""
