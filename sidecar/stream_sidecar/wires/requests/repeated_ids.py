"""Calls of several turns that have one id: a later call and its result get their own.

Hosts that make ids for calls without one may begin again with each response. A call is
renamed only if every earlier call with its id has its result, so that the results after
the call are certainly its own. The new id depends on nothing that follows the call.
Otherwise the id stays, and ``lost`` says so. Never raises for any JSON value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.records import define, field
from stream_sidecar.values.made_id import made_id
from stream_sidecar.wires.shared.rendering import LostPart
from stream_sidecar.wires.shared.request_shapes import changed, held

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.request_shapes import RequestShape

UNCERTAIN = "an earlier call has the same id, and whose result is whose is not certain"


def with_own_ids(
    shape: RequestShape, items: list[Json], lost: list[LostPart]
) -> Iterator[Json]:
    """The ``items`` of a request, each call with an id of its own where that is
    certain. An item without a repeated id is returned as the same object."""
    ids = _Ids(shape, lost)
    for number, item in enumerate(items):
        yield ids.renamed(number, item) if isinstance(item, dict) else item


@define
class _Id:
    """An id of the host's: the ``new_id`` of the last call with it, and how many of
    these calls have no result yet: ``open_calls``."""

    new_id: str
    open_calls: int = 1


@define
class _Ids:
    """The ids of a request up to an item. ``taken``: all ids that were sent."""

    shape: RequestShape
    lost: list[LostPart]
    _known: dict[str, _Id] = field(factory=dict)
    _taken: set[str] = field(factory=set)
    _number: int = 0
    _signed: set[int] = field(factory=set)

    def renamed(self, number: int, item: JsonObject) -> Json:
        self._number, self._signed = number, set(self._signed_calls(item))
        if self.shape.answers(item):
            item = self.shape.change_answers(item, self._answer) or item
        if self.shape.calls(item):
            item = self.shape.change_calls(item, self._call) or item
        return item

    def _signed_calls(self, item: JsonObject) -> Iterator[int]:
        """The identities of the calls in parts with a signature."""
        parts = item.get(self.shape.parts) if self.shape.signatures else None
        for part in parts if isinstance(parts, list) else ():
            call = held(part, self.shape.call)
            if call and any(part.get(name) for name in self.shape.signatures):
                yield id(call)

    def _call(self, call: JsonObject) -> JsonObject:
        host_id = call.get(self.shape.id)
        if not isinstance(host_id, str) or not host_id:
            return call
        known_id = self._known.get(host_id)
        is_signed = id(call) in self._signed
        if known_id is not None and (known_id.open_calls or is_signed):
            path = f"/{self.shape.items}/{self._number}"
            self.lost.append(LostPart(path, "tool-call-id", UNCERTAIN))
        if known_id is not None and known_id.open_calls and not is_signed:
            known_id.open_calls += 1
            return changed(call, {self.shape.id: self._same(host_id, known_id.new_id)})
        is_free = is_signed or host_id not in self._taken
        new_id = host_id if is_free else self._free_id(host_id)
        self._known[host_id] = _Id(new_id)
        self._taken.add(new_id)
        return changed(call, {self.shape.id: new_id})

    def _free_id(self, id: str) -> str:
        """An id for a call whose ``id`` is taken; it depends on the ids before it."""
        count = 1
        while (new_id := made_id(f"{id}#{count}")) in self._taken:
            count += 1
        return new_id

    def _answer(self, answer: JsonObject) -> JsonObject:
        name = self.shape.answered
        if not self.shape.parts and answer.get(name) is None:
            name = "id"
        id = answer.get(name)
        known_id = self._known.get(id) if isinstance(id, str) else None
        if not isinstance(id, str) or known_id is None:
            return answer
        known_id.open_calls = max(0, known_id.open_calls - 1)
        return changed(answer, {name: self._same(id, known_id.new_id)})

    def _same(self, id: str, new_id: str) -> str:
        """The object ``id`` itself if ``new_id`` equals it, so that nothing changes."""
        return id if new_id == id else new_id
