"""The items of a Responses stream: finds the item of an event, and keeps its texts.

Ids do not identify an item: Copilot sends another id with every event, some gateways
send none. The place (``output_index``) decides first, then the id; without both, the
latest item is meant. No event follows for an item that is done, so the next item at its
place is another one (wires/README.md, "Responses").
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
    """The family of a type: "message", "reasoning" or "tool". Events name only this."""
    return type if type in _TALKING else "tool"


@define(eq=False)
class ItemText:
    """A text of an item as far as it has come; the finished text is compared with it.
    ``separator``: stands between the provider's parts. ``starts``: part -> where it
    begins in the text."""

    separator: str = ""
    length: int = 0
    starts: dict[int, int] = field(factory=dict)
    #: a finished text was not what its fragments were
    differs: bool = False
    _part: int | None = None
    _start: int = 0
    _text: StringIO = field(factory=StringIO)

    def add(self, text: str, part: int | None = None) -> str:
        """Adds a fragment and returns it, after a separator if its part is new."""
        if part is not None and part != self._part:
            text = (self.separator if self.length else "") + text
            self._begin(part)
        self._text.write(text)
        self.length += len(text)
        return text

    def finish(self, whole: str, part: int | None = None) -> str | None:
        """The new end of a part's ``whole`` text; None if its fragments were another.
        ``whole`` may be the text of all parts: vLLM numbers each fragment as a part."""
        if len(whole) == self.length and self._text.getvalue() == whole:
            return ""
        if part in (None, self._part):
            return self._new_end(whole, self._start)
        if part in self.starts:
            return ""  # the part is over: others came after it
        return self.add(whole, part) if whole else ""

    def finish_all(self, whole: str) -> str | None:
        return self._new_end(whole, 0)

    def begin(self, part: int) -> None:
        """Notes that a part begins, still empty."""
        if part not in self.starts:
            self._begin(part)

    def start_of(self, part: int | None) -> int:
        """Where a part, by default the latest one, begins in the text."""
        return self._start if part is None else self.starts.get(part, self._start)

    def _begin(self, part: int) -> None:
        self._part = part
        self._start = self.length + (len(self.separator) if self.length else 0)
        self.starts[part] = self._start

    def _new_end(self, whole: str, start: int) -> str | None:
        size = self.length - start
        if len(whole) <= size or self.differs:
            return ""
        self._text.seek(start)
        fragments = self._text.read()
        self._text.seek(0, SEEK_END)
        if whole.startswith(fragments):
            return self.add(whole[len(fragments) :])
        self.differs = True
        return None


@define(eq=False)
class OutputItem:
    """An output item. ``key``: identifies it in parts. ``family``: see `family_of`.
    ``body``: the item as it began. ``base``: the code points of the answer before it.
    ``is_implied``: it was never added, but an event belongs to it. Its texts go when it
    is done."""

    key: str
    family: str
    body: JsonObject
    base: int
    is_implied: bool = False
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
        """Adds an item, for its own event or for the first event that names it."""
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
        """The item that an event of ``family`` belongs to, done or not, if any."""
        place, id = value.get("output_index"), value.get("item_id")
        item = self._places.get(place) if type(place) is int else None
        if item is None or item.family != family:
            item = self._ids.get(id) if isinstance(id, str) else None
        if item is None and type(place) is not int and self._all:
            item = self._all[-1]
        return item if item is not None and item.family == family else None

    def thinking(self, value: JsonObject) -> OutputItem | None:
        """The open reasoning item that an event for a message's text names by its id:
        then the text is reasoning. None if it names none."""
        item, id = self.find(value, "reasoning"), value.get("item_id")
        if item is None or item.done or not id:
            return None
        return item if item.body.get("id") == id else None

    def ended(self, value: JsonObject, body: JsonObject) -> OutputItem | None:
        """The item that ``response.output_item.done`` belongs to, if any. One that is
        done already is meant only if the event has its id and its place."""
        place, known_item = value.get("output_index"), self._known(body)
        event = {**value, "item_id": body.get("id")}
        item = self.find(event, family_of(type_of(body)))
        if item is None or not item.done:
            return item
        is_here = type(place) is not int or self._places.get(place) is item
        return item if is_here and known_item is item else None

    def match(
        self, output: Iterable[JsonObject]
    ) -> Iterator[tuple[OutputItem | None, Any]]:
        """Pairs the items of a finished response with the items that came, as (item or
        None, body): by id, else by place and type, else with the next item of the type.
        In the finished response an item may have another id and another place."""
        bodies, keys = list(output), set[str]()
        items = [_take(self._known(body), keys) for body in bodies]
        for place, body in enumerate(bodies):
            placed = self._places.get(place)
            if items[place] is None and placed and placed.type == type_of(body):
                items[place] = _take(placed, keys)
        others: dict[str, deque[OutputItem]] = {}
        for item in self._all:
            if item.key not in keys:
                others.setdefault(item.type, deque()).append(item)
        for match, body in zip(items, bodies, strict=True):
            queue = others.get(type_of(body))
            yield match or (queue.popleft() if queue else None), body

    def _known(self, body: JsonObject) -> OutputItem | None:
        ids = (body.get("call_id"), body.get("id"))
        items = (self._ids.get(id) for id in ids if isinstance(id, str))
        alike = (item for item in items if item and item.type == type_of(body))
        return next(alike, None)


def _take(item: OutputItem | None, keys: set[str]) -> OutputItem | None:
    """``item``, whose key is added to ``keys``; None if it was there before."""
    if item is None or item.key in keys:
        return None
    keys.add(item.key)
    return item
