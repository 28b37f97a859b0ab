"""Text that a later seal is bound to: after an edit, its provider refuses the session.

`wires.requests.seals` says which models bind their signed thinking to everything before
it. This module finds such blocks in stored messages, in the spelling of any agent, and
says which texts, and which records of a log, come before one. Never raises for any JSON
value. Pure.
"""

from __future__ import annotations

from array import array
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

from stream_sidecar.history.messages import model_of, role_of
from stream_sidecar.history.shapes import ASSISTANT, MESSAGE, at
from stream_sidecar.records import frozen
from stream_sidecar.wires.requests.seals import STATE_LISTS, binding_of, signature_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from stream_sidecar.history.documents import FoundMessage
    from stream_sidecar.parts import Json
    from stream_sidecar.values.json_places import Path

BOUND = "a later seal is bound to it"
"""Why a text is not edited, for people."""

_THOUGHTS = frozenset(("thinking", "reasoning"))
_SAYING = ASSISTANT | {"thinking"}
"""Roles of the model; Continue keeps thinking in messages of its own."""

_SIGNATURES: tuple[Path, ...] = (
    ("signature",),
    ("thinkingSignature",),
    ("data", "signature"),
    ("Thinking", "signature"),
    ("extras", "signature"),
)
"""Where agents keep the signature of a block of thinking; the last three are Crush's,
Zed's and LangChain's."""

_OF_PROVIDERS = ("metadata", "providerMetadata", "providerOptions")
"""Objects of the AI SDK and of opencode, with an object for each provider."""

_OF_SEAL = 'ignature"'
_OF_PARENT = (b'"parentUuid"', b'"parentId"')
_LINKS = (("uuid", "parentUuid"), ("id", "parentId"))
"""The names of a record's id and of its parent's: Claude Code's, pi's."""

_OF_LINKS = (
    *(name for pair in _LINKS for name in pair),
    "logicalParentUuid",
    "compactMetadata",
)

_KEEPING = frozenset(("preservedSegment", "preservedMessages"))
"""A summary with one of these is sent before the last messages that came before it."""


@frozen
class SealedBlock:
    """A sealed block at ``path`` of its message. ``order``: it is bound to the texts of
    the message whose order is less."""

    path: Path
    order: float

    @property
    def in_list(self) -> bool:
        """Whether the block is an item of a list, and can be taken out of it."""
        return bool(self.path) and isinstance(self.path[-1], int)


def order_of(path: Path) -> int:
    """The number of the part of a message in which ``path`` is; 0 for a text that is
    the whole content."""
    return next((step for step in path if isinstance(step, int)), 0)


def seals_of(found: FoundMessage, model: str | None) -> list[SealedBlock]:
    """The bound seals of a model's message. ``model``: the model, if neither the
    message nor its document names one."""
    message = found.message
    is_said = isinstance(message, dict) and role_of(message) in _SAYING
    if found.shape is None and not is_said:
        return []
    known = model_of(found.message) or found.model or model
    return [] if binding_of(known) is None else [*_seals(found)]


def _seals(found: FoundMessage) -> Iterator[SealedBlock]:
    shape = found.shape or MESSAGE
    for body in dict.fromkeys(((), *shape.bodies)):
        value = at(found.message, body)
        if is_signed(value):
            yield SealedBlock(body, 0)
        for number, part in enumerate(_list(value)):
            if is_signed(part):
                yield SealedBlock((*body, number), number)
            else:
                for place in _details_in(part):
                    yield SealedBlock((*body, number, *place), number)
    states = [
        (name, number)
        for name in STATE_LISTS
        for number, part in enumerate(_list(at(found.message, (name,))))
        if is_signed(part)
    ]
    for rank, path in enumerate(states):
        yield SealedBlock(path, inf if rank else -1)


def is_signed(part: Json) -> bool:
    """Whether ``part`` is a block of thinking with a signature."""
    if not isinstance(part, dict):
        return False
    if signature_of(part):
        return True
    kind = part.get("type", part.get("part_kind", part.get("role")))
    if not ("Thinking" in part or (isinstance(kind, str) and kind in _THOUGHTS)):
        return False
    signs = [at(part, path) for path in _SIGNATURES]
    signs += [each.get("signature") for _, each in _of_providers(part)]
    is_detailed = any(True for _ in _details_in(part))
    return is_detailed or any(isinstance(sign, str) and sign for sign in signs)


def _of_providers(part: Json) -> Iterator[tuple[Path, dict[str, Json]]]:
    """What a part keeps for each provider, with its place."""
    for name in _OF_PROVIDERS:
        inner = at(part, (name,))
        for provider, each in inner.items() if isinstance(inner, dict) else ():
            if isinstance(each, dict):
                yield (name, provider), each


def _details_in(part: Json) -> Iterator[Path]:
    """The places of signed details of OpenRouter, which the AI SDK keeps in a part of
    thinking and in a call's."""
    for place, each in _of_providers(part):
        for number, detail in enumerate(_list(each.get("reasoning_details"))):
            if signature_of(detail):
                yield (*place, "reasoning_details", number)


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


class BoundTexts:
    """Which texts of a document's messages, which are in their order, a seal is bound
    to: one in the document, or a later one if ``is_later`` says so. Nothing is looked
    for before the first question. ``unseals``: only a seal counts that cannot be taken
    out."""

    def __init__(
        self,
        found: Iterable[FoundMessage],
        model: str | None,
        is_later: Callable[[], bool] = lambda: False,
        *,
        unseals: bool = False,
    ) -> None:
        self._found, self._model, self._is_later = found, model, is_later
        self._unseals = unseals

    @cached_property
    def _last(self) -> tuple[int, float]:
        """The number of the last message with a seal, and the order of this seal."""
        last, order = -1, -inf
        for number, each in enumerate(self._found):
            seals = seals_of(each, self._model)
            orders = [s.order for s in seals if not (self._unseals and s.in_list)]
            if orders:
                last, order = number, max(orders)
        return last, order

    def until(self, number: int) -> float:
        """Texts of the message with this ``number`` are bound if their order is less
        than the result."""
        last, order = self._last
        if number < last or self._is_later():
            return inf
        return order if number == last else -inf


def _compaction(record: dict[str, Json]) -> dict[str, Json]:
    """What Claude Code notes where it has put a summary in place of old messages."""
    noted = record.get("compactMetadata")
    return noted if isinstance(noted, dict) else {}


class Lineage:
    """Which record of a log a record continues: its parent, if it names one, else the
    record before it. Logs with names of parents have several branches."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._last = -1

    def parent_of(self, number: int, record: Json) -> int:
        """The number of the record that ``record`` continues; -1: it continues none.
        All records have to be given, in their order."""
        parent, self._last = self._last, number
        if not isinstance(record, dict):
            return parent
        for name, link in _LINKS:
            id, named = record.get(name), record.get(link, parent)
            if isinstance(id, str) and link in record:
                self._numbers[id] = number
                if named is None and _KEEPING.isdisjoint(_compaction(record)):
                    return -1
                named = named or record.get("logicalParentUuid")
                return self._numbers.get(str(named), parent)
        return parent


def links_of(record: Json) -> Json:
    """``record`` with what `RecordsBeforeSeals` reads of it."""
    if not isinstance(record, dict):
        return None
    kept = {name: record[name] for name in _OF_LINKS if name in record}
    return {**kept, "message": {"id": answer_of(record)}}


def answer_of(record: Json) -> str | None:
    """The id of the answer that a record has a block of: Claude Code writes a record
    for each block. With calls at the same time they are on several branches, and the
    agent sends all of them."""
    id = at(record, ("message", "id"))
    return id if isinstance(id, str) else None


class RecordsBeforeSeals:
    """Which records of a log come before a bound seal of another record. ``add`` gets
    all of them, in their order."""

    def __init__(self) -> None:
        self._lineage = Lineage()
        self._parents = array("q")
        self._before = bytearray()
        self._answers: dict[int, str] = {}
        self._blocks: dict[str, list[int]] = {}

    def add(self, record: Json, *, is_sealed: bool) -> None:
        number, answer = len(self._before), answer_of(record)
        parent = self._lineage.parent_of(number, record)
        self._parents.append(parent)
        self._before.append(0)
        if answer is not None:
            self._answers[number] = answer
            if self._answers.get(parent) == answer:
                self._blocks.setdefault(answer, []).append(number)
        waiting = [parent] if is_sealed else []
        while waiting:
            number = waiting.pop()
            if number < 0:
                continue
            if (other := self._answers.get(number)) not in (None, answer):
                waiting += self._blocks.pop(str(other), ())
            if not self._before[number]:
                self._before[number] = 1
                waiting.append(self._parents[number])

    def has(self, number: int) -> bool:
        """Whether a seal is bound to the record with this number, counted from 0."""
        return number < len(self._before) and bool(self._before[number])


def may_have_seal(text: str | bytes) -> bool:
    """Whether JSON text may have a seal."""
    return _OF_SEAL in text if isinstance(text, str) else _OF_SEAL.encode() in text


def names_parent(line: bytes) -> bool:
    """Whether a line names the record that it continues."""
    return any(each in line for each in _OF_PARENT)
