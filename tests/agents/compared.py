"""What must be the same with a clean provider and behind the gateway.

Each function yields what differs, in words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from provider import TURN, Run
from refusing import CHECKS, objections
from scenarios import ANSWER, LATE, LEAKS, Scenario
from wires import Wire

#: What differs from one run to the next: sessions, times, counts, places.
_VARIES = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\d+|/\S+")

_EVERYWHERE = ("half-surrogate", "image", "seal-of-another-issuer")
"""Objections of `refusing.py` that no server but one is known for."""

_SERVERS = {
    "Messages": ("anthropic", "anthropic"),
    "Responses": ("responses", "openai-responses"),
    "Chat": ("openai", "openai-chat"),
    "Gemini": ("gemini", "gemini"),
}
"""A wire of `wires.py` -> the server of `refusing.py` that judges it, and its wire."""


@dataclass(frozen=True)
class Done:
    """What came of a run."""

    codes: list[int]
    files: dict[str, str]
    #: Standard output of all turns, and standard error, which is the gateway's, too.
    output: str
    errors: str
    run: Run
    #: What the model was asked in each turn.
    asked: list[list[tuple[Wire, dict[str, Any]]]]
    #: The folder of the run: `home`, `work`, and `record` of the gateway.
    place: Path

    @property
    def wire(self) -> str:
        return type(self.run.asked[-1][0]).__name__ if self.run.asked else ""

    @property
    def calls(self) -> list[tuple[str, Any]]:
        return [(each.name, each.arguments) for each in self._history()]

    def _history(self) -> list[Any]:
        wire, body = self.run.asked[-1]
        return wire.calls(body)

    def twice(self) -> list[str]:
        ids = [each.id for each in self._history() if each.id]
        return sorted({each for each in ids if ids.count(each) > 1})

    def leaks(self) -> list[str]:
        asked = chain.from_iterable(self.asked)
        histories = [json.dumps(wire.history(body)) for wire, body in asked]
        return [leak for leak in LEAKS if any(leak in each for each in histories)]

    def shown(self) -> list[str]:
        """Leaks that a person would see."""
        return [leak for leak in LEAKS if leak in self.output + self.errors]

    def storing(self, words: str) -> set[Path]:
        """The files of the agent that have these words: its sessions, its logs."""
        paths = chain.from_iterable(
            map(_files, (self.place / "home", self.place / "work"))
        )
        found = (each for each in paths if words.encode() in each.read_bytes())
        return {each.relative_to(self.place) for each in found}

    def words(self) -> list[str]:
        """Of what was printed, without what differs from run to run.

        Sorted: of calls at once the one that ends first is shown first.
        """
        return sorted(_VARIES.sub("", self.output.replace(LATE, "")).split())


def _files(folder: Path) -> Iterator[Path]:
    paths = folder.rglob("*")
    return (each for each in paths if each.is_file() and not each.is_symlink())


def differences(scenario: Scenario, direct: Done, cleaned: Done) -> Iterator[str]:
    """Between an agent with a clean provider and one behind the gateway."""
    if not direct.run.asked or not cleaned.run.asked:
        yield f"it asked {len(direct.run.asked)} and {len(cleaned.run.asked)} times"
        return
    yield from (f"{each} was shown" for each in cleaned.shown())
    yield from _stored(direct, cleaned)
    if scenario.aborts:
        for way, done in (("directly", direct), ("behind the gateway", cleaned)):
            if not done.run.left.wait(10):
                yield f"{way} the provider did not see the agent disconnect"
        return
    yield from _outcomes(scenario, direct, cleaned)
    yield from seals(direct, cleaned)
    if abs(len(direct.run.asked) - len(cleaned.run.asked)) > 1:
        yield f"{len(direct.run.asked)} and {len(cleaned.run.asked)} requests"
    if direct.words() != cleaned.words():
        yield f"printed {direct.output[-200:]!r} and {cleaned.output[-200:]!r}"


def _stored(direct: Done, cleaned: Done) -> Iterator[str]:
    """Leaks in files of the agent. It may have some of its own, as in a library."""
    if not cleaned.storing(TURN.format(0)):
        yield "no session was stored"
    for leak in LEAKS:
        new = cleaned.storing(leak) - direct.storing(leak)
        yield from (f"{leak} was stored in {each}" for each in sorted(new))


def _outcomes(scenario: Scenario, direct: Done, cleaned: Done) -> Iterator[str]:
    """What an agent did, and what it asked for."""
    if direct.codes != cleaned.codes:
        yield f"exit codes {direct.codes} and {cleaned.codes}"
    if direct.calls != cleaned.calls:
        yield f"calls {direct.calls} and {cleaned.calls}"
    for done in (direct, cleaned):
        if done.run.has_tools and done.files != scenario.files:
            yield f"files {done.files}"
    yield from (f"id {each} twice" for each in cleaned.twice())
    yield from (f"a request with {each}" for each in cleaned.leaks())


def seals(without: Done, ours: Done) -> Iterator[str]:
    """What we break. Some agents break seals themselves, and try again."""
    if ours.run.unfit != without.run.unfit:
        yield f"unfit seals {without.run.unfit} and {ours.run.unfit}"
    if ours.run.drops > without.run.drops:
        yield f"{ours.run.drops} requests ask to drop thinking"


def repairs(scenario: Scenario, leaking: Done, repaired: Done) -> Iterator[str]:
    """Of a stored session that was repaired, against the same one as it was."""
    yield from seals(leaking, repaired)
    if repaired.codes != [0] * len(scenario.turns):
        yield f"exit codes {repaired.codes}"
    if repaired.files != scenario.files:
        yield f"files {repaired.files}"
    if "backup:" not in repaired.output:
        yield "nothing was repaired"


def crossings(scenario: Scenario, direct: Done, crossed: Done) -> Iterator[str]:
    """A session that goes on behind the gateway and without it, against one that has
    never been there."""
    for turn, asked in enumerate(crossed.asked):
        if not asked:
            yield f"turn {turn} was not asked where it should have been"
        for wire, body in asked:
            history = json.dumps(wire.history(body))
            lost = [at for at in range(turn) if TURN.format(at) not in history]
            yield from (f"turn {turn} was asked without turn {each}" for each in lost)
    yield from _stored(direct, crossed)
    if all(crossed.asked):
        yield from _outcomes(scenario, direct, crossed)


def refusals(resumed: Done, *, has_answer: bool) -> Iterator[str]:
    """What the provider would refuse of the first request of the last turn, and what is
    missing there. ``has_answer``: whether the first turn's answer is still stored."""
    if any(resumed.codes):
        yield f"exit codes {resumed.codes}"
    asked = resumed.asked[-1]
    if not asked:
        yield "nothing was asked"
    for wire, body in asked[:1]:
        server, name = _SERVERS[type(wire).__name__]
        yield from objections(server, name, body)
        history = json.dumps(wire.history(body), ensure_ascii=False)
        yield from (each for each in _EVERYWHERE if CHECKS[each](name, body))
        kept = (TURN.format(0), ANSWER) if has_answer else (TURN.format(0),)
        yield from (f"it has no {words!r}" for words in kept if words not in history)


def changes(clean: Done) -> Iterator[str]:
    """Documents of a clean provider that the gateway did not hand on as they came."""
    came = sorted((clean.place / "record").glob("*.came"))
    if not came:
        yield "nothing was recorded"
    for each in came:
        one, other = (_documents(each.with_suffix(end)) for end in (".came", ".went"))
        if one != other:
            yield f"{each}: {len(one)} documents became {len(other)}"


def _documents(record: Path) -> list[Any]:
    """Of a stream, with the names of its events; a whole answer is its text."""
    text = record.read_text(encoding="utf-8")
    lines = re.findall(r"^(event|data): (.*)$", text, re.MULTILINE) or [("", text)]
    return [
        (field, json.loads(value) if value.startswith("{") else value)
        for field, value in lines
    ]
