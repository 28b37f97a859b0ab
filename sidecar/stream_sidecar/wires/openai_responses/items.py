"""The items of a Responses stream: finds the item of an event, and keeps its texts.

Not a wire: a helper of ``openai-responses``. Ids do not identify an item: Copilot sends
another id with every event, some gateways send none. The place (``output_index``)
decides first, then the id; without both, the latest item is meant. No event follows for
an item that is done, so the next item at its place is another one (wires/README.md,
"Responses").
"""

from __future__ import annotations

from collections import deque
from io import SEEK_END, StringIO
from typing import TYPE_CHECKING, Any

from stream_sidecar.records import define, field
from stream_sidecar.wires.shared.fields import type_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stream_sidecar.parts import JsonObject


_TALKING = ("message", "reasoning")


def family_of(type: str) -> str:
    """The family of an item's type: "message", "reasoning" or "tool". Events name only
    the family of their item."""
    return type if type in _TALKING else "tool"


@define(eq=False)
class ItemText:
    """A text of an item as far as it has come.

    The finished text is compared with it: only the rest is new. ``separator``: stands
    between the provider's parts. ``starts``: part -> where it begins in the text.
    """

    separator: str = ""
    length: int = 0
    starts: dict[int, int] = field(factory=dict)
    #: a finished text was not what its fragments were
    differs: bool = False
    _part: int | None = None
    _start: int = 0
    _text: StringIO = field(factory=StringIO)

    def add(self, text: str, part: int | None = None) -> str:
        """Adds a fragment of a part and returns it, after a separator if the part is
        new."""
        if part is not None and part != self._part:
            text = (self.separator if self.length else "") + text
            self._begin(part)
        self._text.write(text)
        self.length += len(text)
        return text

    def finish(self, whole: str, part: int | None = None) -> str | None:
        """Compares the ``whole`` text of a part and returns its new end; None if it is
        another text than the fragments. ``whole`` may be the text of all parts: vLLM
        numbers each fragment as a part."""
        if len(whole) == self.length and self._text.getvalue() == whole:
            return ""
        if part in (None, self._part):
            return self._rest(whole, self._start)
        if part in self.starts:
            return ""  # the part is over: others came after it
        return self.add(whole, part) if whole else ""

    def finish_all(self, whole: str) -> str | None:
        return self._rest(whole, 0)

    def begin(self, part: int) -> None:
        """Notes that a part begins, still empty."""
        if part not in self.starts:
            self._begin(part)

    def start_of(self, part: int | None) -> int:
        """Where a part begins in the text; for an unknown part, where the latest one
        begins."""
        return self._start if part is None else self.starts.get(part, self._start)

    def _begin(self, part: int) -> None:
        self._part = part
        self._start = self.length + (len(self.separator) if self.length else 0)
        self.starts[part] = self._start

    def _rest(self, whole: str, start: int) -> str | None:
        size = self.length - start
        if len(whole) <= size or self.differs:
            return ""
        self._text.seek(start)
        known = self._text.read()
        self._text.seek(0, SEEK_END)
        if whole.startswith(known):
            return self.add(whole[len(known) :])
        self.differs = True
        return None


@define(eq=False)
class OutputItem:
    """An output item.

    ``key``: identifies it in parts. ``family``: see `family_of`. ``body``: the item as
    it began. ``base``: the code points of the answer before it. ``implied``: it was
    never added, but an event belongs to it. Its texts are dropped when it is done.
    """

    key: str
    family: str
    body: JsonObject
    base: int
    implied: bool = False
    done: bool = False
    #: its arguments came in full
    has_arguments: bool = False
    texts: dict[str, ItemText] = field(factory=dict)
    #: its annotations that were reported
    cited: set[str] = field(factory=set)

    @property
    def type(self) -> str:
        return type_of(self.body)

    def text(self, name: str, separator: str = "") -> ItemText:
        text = self.texts.get(name)
        if text is None:
            text = self.texts[name] = ItemText(separator)
        return text


class Items:
    """The items of one response, in the order in which they came."""

    def __init__(self, response: int) -> None:
        self._prefix = f"{response}:" if response else ""
        self._all: list[OutputItem] = []
        self._open: dict[str, OutputItem] = {}
        self._places: dict[int, OutputItem] = {}
        self._ids: dict[str, OutputItem] = {}

    def __len__(self) -> int:
        return len(self._all)

    @property
    def open(self) -> list[OutputItem]:
        """The items that are not done yet."""
        return list(self._open.values())

    def begin(self, value: JsonObject, body: JsonObject, base: int) -> OutputItem:
        """Adds an item: for ``response.output_item.added``, or for the first event of
        an item that was never added."""
        family, place = family_of(type_of(body)), value.get("output_index")
        key = f"{self._prefix}{len(self._all)}"
        item = self._open[key] = OutputItem(key, family, body, base)
        self._all.append(item)
        if type(place) is int:
            self._places[place] = item
        for id in (body.get("id"), body.get("call_id"), value.get("item_id")):
            if id and isinstance(id, str):
                self._ids[id] = item
        return item

    def end(self, item: OutputItem) -> None:
        del self._open[item.key]
        item.done = True
        item.texts.clear()
        item.cited.clear()

    def find(self, value: JsonObject, family: str) -> OutputItem | None:
        """The item that an event of ``family`` belongs to, done or not; None if it is
        unknown."""
        place, id = value.get("output_index"), value.get("item_id")
        found = self._places.get(place) if type(place) is int else None
        if found is None or found.family != family:
            found = self._ids.get(id) if isinstance(id, str) else None
        if found is None and type(place) is not int and self._all:
            found = self._all[-1]
        return found if found is not None and found.family == family else None

    def thinking(self, value: JsonObject) -> OutputItem | None:
        """The open reasoning item that an event for a message's text names by its id:
        then the text is reasoning. None if it names none."""
        item, id = self.find(value, "reasoning"), value.get("item_id")
        if item is None or item.done or not id:
            return None
        return item if item.body.get("id") == id else None

    def ended(self, value: JsonObject, body: JsonObject) -> OutputItem | None:
        """The item that ``response.output_item.done`` belongs to; None if it is
        unknown. An item that is done already is meant only if the event has its id and
        its place."""
        place, known = value.get("output_index"), self._known(body)
        event = {**value, "item_id": body.get("id")}
        found = self.find(event, family_of(type_of(body)))
        if found is None or not found.done:
            return found
        is_here = type(place) is not int or self._places.get(place) is found
        return found if is_here and known is found else None

    def match(
        self, output: Iterable[JsonObject]
    ) -> Iterator[tuple[OutputItem | None, Any]]:
        """Pairs the items of a finished response with the items that came; yields
        (item or None, body).

        They are paired by id, else by place and type, else with the next item of the
        type: in the finished response an item may have another id and another place.
        """
        bodies, taken = list(output), set[str]()
        found = [_take(self._known(body), taken) for body in bodies]
        for place, body in enumerate(bodies):
            here = self._places.get(place)
            if found[place] is None and here and here.type == type_of(body):
                found[place] = _take(here, taken)
        left: dict[str, deque[OutputItem]] = {}
        for item in self._all:
            if item.key not in taken:
                left.setdefault(item.type, deque()).append(item)
        for same, body in zip(found, bodies, strict=True):
            others = left.get(type_of(body))
            yield same or (others.popleft() if others else None), body

    def _known(self, body: JsonObject) -> OutputItem | None:
        ids = (body.get("call_id"), body.get("id"))
        found = (self._ids.get(id) for id in ids if isinstance(id, str))
        same = (item for item in found if item and item.type == type_of(body))
        return next(same, None)


def _take(item: OutputItem | None, taken: set[str]) -> OutputItem | None:
    """``item``, whose key is added to ``taken``; None if it was taken before."""
    if item is None or item.key in taken:
        return None
    taken.add(item.key)
    return item
