"""Makes the turns of a request fit together as the provider requires.

`TurnList` has the items of a request, after `refusals` has cleaned each. It changes
only what the rule ``refuses`` (wires/README.md, "Requests"). Text that it adds says
that it was added, and whatever it removes is reported. A prefix (a turn of the model at
the list's end) stays. Never raises for any JSON value.
"""

from __future__ import annotations

from collections import defaultdict, deque
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from stream_sidecar.message.turn import TurnBlock, TurnResult
from stream_sidecar.records import define, evolve, field
from stream_sidecar.values.made_id import made_id
from stream_sidecar.wires.shared.fields import type_of
from stream_sidecar.wires.shared.rendering import LostPart, Rendering
from stream_sidecar.wires.shared.request_shapes import changed, held, name_of, sum_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.request_rules import Rule
    from stream_sidecar.wires.shared.request_shapes import RequestShape
    from stream_sidecar.wires.shared.row import WireRow

    Key = tuple[str, str]
    Kind = Literal["model", "answer", "other"]

_NO_RESULT = "No result: the call was not finished."
_FILLER = "..."
"""The text of a turn that is added."""

UNANSWERED = "it has no result, which is refused; a result that says so was added"
STRAY = "no call before it has its id"
SURPASSED = "another result of its call comes later"
OTHER_ID = "an earlier call has the same id"
EMPTY = "a turn that says nothing is refused"
ALONE = "nothing follows it, so it is refused"


@define
class ListedTurn:
    """An item of the list, or part of an item.

    ``value``: an answer (a tool's result), or the item without its answers. ``home``:
    the item, ``number``: its place in the request. An answer has its ``call``; a turn
    of the model has its ``calls``.
    """

    kind: Kind
    value: Any
    home: Json
    number: int
    place: int = 0
    call: Call | None = None
    calls: list[Call] = field(factory=list)


@define(eq=False)
class Call:
    """A call: its original id, the id it is sent with, and its place."""

    id: str | None
    sent: str | None
    name: Json
    value: JsonObject
    number: int
    turn: int
    answer: ListedTurn | None = None


@define
class TurnList:
    """The items of one request with their original places. ``lost``: collects reports
    of what is removed, and of what stays although it is refused."""

    row: WireRow
    rule: Rule
    items: list[tuple[int, Json]]
    lost: list[LostPart]
    continues: bool = False
    _taken: set[str] = field(factory=set)

    @property
    def shape(self) -> RequestShape:
        return self.row.shape

    def mend(self) -> list[Json]:
        """The items to send. If items at the end were removed, a user's turn is added:
        otherwise a turn of the model would become a prefix."""
        end = self.items[-1:]
        for word, mend in _MENDERS.items():
            if word in self.rule.refuses:
                mend(self)
        if end and not self._is_models(end) and self._is_models(self.items[-1:]):
            self.items.append((end[0][0], self.shape.turn("user", _FILLER)))
        return [item for _, item in self.items]

    def _lose(self, number: int, kind: str, reason: str) -> None:
        self.lost.append(LostPart(f"/{self.shape.items}/{number}", kind, reason))

    def _is_models(self, end: list[tuple[int, Json]]) -> bool:
        return any(self.shape.role(item) == "model" for _, item in end)

    # Calls and results

    def pair(self) -> None:
        """Gives each call one result, right after it; drops results without a call."""
        entries = [e for item in self.items for e in self._entries(*item)]
        self.items = list(self._joined(self._paired(entries)))

    def _entries(self, number: int, item: Json) -> Iterator[ListedTurn]:
        """The parts of an item: first its results, then the others."""
        shape = self.shape
        if not isinstance(item, dict) or not shape.answers(item):
            yield ListedTurn(self._kind(item), item, item, number)
        elif not shape.answer:
            yield ListedTurn("answer", item, item, number)
        else:
            others = []
            for part in item[shape.parts]:
                if held(part, shape.answer):
                    yield ListedTurn("answer", part, item, number)
                else:
                    others.append(part)
            if others:
                yield ListedTurn("other", {**item, shape.parts: others}, item, number)

    def _kind(self, item: Json) -> Kind:
        """An item's kind: also the model's if it is no message and has no role."""
        role = self.shape.role(item)
        is_models = role == "model" or not (self.shape.parts or role)
        return "model" if is_models else "other"

    def _paired(self, entries: list[ListedTurn]) -> Iterator[ListedTurn]:
        """Puts results right after the turn with their calls. On a wire where each
        result is an item, results may stand anywhere after the turn, and stay."""
        self._assign(entries)
        waiting_calls: list[Call] = []
        for entry in entries:
            if not self.shape.parts and entry.kind == "other":
                yield from map(self._stand_in, waiting_calls)
                waiting_calls = []
            if entry.kind != "answer":
                yield entry
            elif not self.shape.parts and entry.call:
                yield self._addressed(entry.call, entry)
            open_calls = [call for call in entry.calls if call.answer is None]
            if self.shape.parts:
                answers = [(c.answer, c) for c in entry.calls if c.answer]
                answers.sort(key=lambda pair: pair[0].place)
                yield from (self._addressed(call, answer) for answer, call in answers)
                yield from map(self._stand_in, open_calls)
            else:
                waiting_calls += open_calls
        yield from map(self._stand_in, waiting_calls)

    def _assign(self, entries: list[ListedTurn]) -> None:
        """Assigns results to calls: of several with one id, to that of the latest turn.
        Of two results of one call side by side, the last one counts."""
        open_calls: defaultdict[Key, deque[Call]] = defaultdict(deque)
        answered: dict[Key, Call] = {}
        turn = 0
        for place, entry in enumerate(entries):
            entry.place = place
            self.continues = self.continues or _is_reference(entry.value)
            if entry.kind == "answer":
                self._answered(entry, open_calls, answered, turn)
                continue
            turn += 1 if self.shape.parts or entry.kind == "other" else 0
            if entry.kind == "model":
                entry.calls = self._opened(entry, turn)
            for call in entry.calls:
                for key in self._keys(call.id, call.name):
                    if open_calls[key] and open_calls[key][0].turn != turn:
                        open_calls[key].clear()
                    open_calls[key].append(call)

    def _answered(
        self,
        entry: ListedTurn,
        open_calls: dict[Key, deque[Call]],
        answered: dict[Key, Call],
        turn: int,
    ) -> None:
        id, name = self._named(entry)
        for key in self._keys(id, name):
            calls = open_calls.get(key, _NO_CALLS)
            while calls and calls[0].answer is not None:
                calls.popleft()
            is_named = key[0] == "id" or id is None
            if calls and (is_named or calls[0].id is None):
                entry.call = answered[key] = calls.popleft()
                entry.call.answer = entry
                return
            earlier = answered.get(key)
            if earlier and earlier.answer and earlier.turn == turn and is_named:
                self._lose(earlier.answer.number, "tool-result", SURPASSED)
                earlier.answer.call, earlier.answer, entry.call = None, entry, earlier
                return
        if self.continues and not self.shape.parts:
            entry.kind = "model"  # the server has its call
        else:
            self._lose(entry.number, "tool-result", STRAY)

    def _keys(self, id: Json, name: Json) -> Iterator[Key]:
        """The keys by which a result finds its call: the id; on a wire where ids may be
        missing, also the name. On other wires calls and results without an id are
        paired in their order."""
        if isinstance(id, str):
            yield "id", id
        elif not self.shape.pairs_by_name:
            yield "id", ""
        if self.shape.pairs_by_name and isinstance(name, str):
            yield "name", name

    def _named(self, entry: ListedTurn) -> tuple[Json, Json]:
        answer = held(entry.value, self.shape.answer) or entry.value
        id = answer.get(self.shape.answered)
        is_item = not self.shape.parts and id is None
        return answer.get("id") if is_item else id, name_of(answer)

    def _addressed(self, call: Call, entry: ListedTurn) -> ListedTurn:
        """``entry``, the turn with a tool's result, with the id under which its
        ``call`` is sent, and where names pair, with the call's name."""
        value = entry.value
        if call.sent != call.id:
            value = self._with_members(value, {self.shape.answered: call.sent})
        if self.shape.pairs_by_name:
            value = self._with_members(value, {"name": call.name})
        return entry if value is entry.value else evolve(entry, value=value)

    def _with_members(self, value: JsonObject, news: JsonObject) -> JsonObject:
        word = self.shape.answer
        inner = value if not word or value.get("type") == word else value[word]
        new_inner = changed(inner, {n: v for n, v in news.items() if inner.get(n) != v})
        if new_inner is inner:
            return value
        return new_inner if inner is value else {**value, word: new_inner}

    def _opened(self, entry: ListedTurn, turn: int) -> list[Call]:
        """The calls of the turn ``entry``; refused repeated ids are replaced."""
        calls: list[Call] = []

        def renamed(call: JsonObject) -> JsonObject:
            id = call.get(self.shape.id)
            old_id = new_id = id if isinstance(id, str) else None
            if new_id is None and not self.shape.pairs_by_name:
                new_id = made_id(f"#{len(self._taken)}")
            if new_id in self._taken and "repeated-ids" in self.rule.refuses:
                new_id = self._new_id(new_id)
                self._lose(entry.number, "tool-call-id", OTHER_ID)
            self._taken |= {new_id or ""}
            new = call if new_id == old_id else {**call, self.shape.id: new_id}
            calls.append(Call(old_id, new_id, name_of(call), new, entry.number, turn))
            return new

        if isinstance(entry.value, dict):
            entry.value = self.shape.change_calls(entry.value, renamed) or entry.value
        return calls

    def _new_id(self, id: str) -> str:
        """An id for a call whose ``id`` is taken; it meets no id before it."""
        count = len(self._taken)
        while (new_id := made_id(f"{id}#{count}")) in self._taken:
            count += 1
        return new_id

    def _stand_in(self, call: Call) -> ListedTurn:
        """A result for ``call`` that says it has none, by the wire's own writer."""
        self._lose(call.number, "tool-result", UNANSWERED)
        is_text = type_of(call.value).startswith("custom") or "custom" in call.value
        block = TurnBlock(
            "tool-call",
            tool_call_id=call.sent,
            id_synthetic=call.sent is None,
            name=call.name if isinstance(call.name, str) else None,
            arguments_format="text" if is_text else "json",
            raw={"status": "completed"} | call.value,
        )
        result = TurnResult(call.sent or "", _NO_RESULT, is_error=True)
        turn = Rendering((block,), (), self.rule, answers=[(block, result)])
        assert self.row.request is not None
        answer = self.row.request(turn)[-1]
        value = answer[self.shape.parts][0] if self.shape.answer else answer
        return ListedTurn("answer", value, None, call.number)

    def _joined(self, entries: Iterable[ListedTurn]) -> Iterator[tuple[int, Json]]:
        """The items of ``entries``: results that are parts become one item."""
        run: list[ListedTurn] = []
        homes: set[int] = set()
        for entry in entries:
            is_part = bool(self.shape.answer) and entry.kind == "answer"
            if is_part or (entry.kind == "other" and id(entry.home) in homes):
                run.append(entry)
                homes |= set() if entry.home is None else {id(entry.home)}
                continue
            yield from self._one_item(run)
            run, homes = [], set()
            yield entry.number, entry.value
        yield from self._one_item(run)

    def _one_item(self, run: list[ListedTurn]) -> Iterator[tuple[int, Json]]:
        if not run:
            return
        name = self.shape.parts
        parts: list[Json] = []
        for entry in run:
            parts += [entry.value] if entry.kind == "answer" else entry.value[name]
        home = next((entry.home for entry in run if entry.home is not None), None)
        home_parts = home[name] if isinstance(home, dict) else []
        new_ids, old_ids = list(map(id, parts)), list(map(id, home_parts))
        is_free = not self.shape.answers_first
        if new_ids == old_ids or (is_free and sorted(new_ids) == sorted(old_ids)):
            yield run[0].number, home
        else:
            base = home if isinstance(home, dict) else {"role": "user"}
            yield run[0].number, {**base, name: parts}

    # Turns

    def drop_empty(self) -> None:
        """Removes turns without content."""
        items = []
        for number, item in self.items:
            if self._is_empty(item):
                self._lose(number, "text", EMPTY)
            else:
                items.append((number, item))
        self.items = items

    def _is_empty(self, item: Json) -> bool:
        is_turn = isinstance(item, dict) and self.shape.role(item) in ("model", "user")
        if not is_turn or self.shape.calls(item):
            return False
        assert isinstance(item, dict)
        content = item.get(self.shape.content)
        if isinstance(content, str) and self.shape.answer:
            content = content.strip()
        return content in (None, "", [])

    def drop_lonely(self) -> None:
        """Removes reasoning items after which nothing of the model follows."""
        items = []
        next_item: Json = None
        for number, item in reversed(self.items):
            is_thought = isinstance(item, dict) and type_of(item) == "reasoning"
            role = self.shape.role(next_item)
            is_end = next_item is None or role in ("user", "system")
            is_end = is_end or bool(self.shape.answers(next_item))
            if is_thought and is_end:
                self._lose(number, "reasoning", ALONE)
                continue
            items.append((number, item))
            next_item = item
        self.items = items[::-1]

    def join(self, roles: tuple[str, ...]) -> None:
        """Joins neighbouring turns of one role."""
        items: list[tuple[int, Json]] = []
        for role, group in groupby(self.items, lambda turn: self.shape.role(turn[1])):
            run = list(group)
            is_one = role in roles and len(run) > 1 and all(map(_can_join, run))
            items += [(run[0][0], _merged([i for _, i in run]))] if is_one else run
        self.items = items

    def part_from_results(self) -> None:
        """Puts a turn of the model between results and a user's turn."""
        items: list[tuple[int, Json]] = []
        for number, item in self.items:
            is_results = bool(items and self.shape.answers(items[-1][1]))
            if is_results and self.shape.role(item) == "user":
                items.append((number, self.shape.turn("model", _FILLER)))
            results, others = self._split(item)
            items.append((number, results))
            if others is not None:
                items += [(number, self.shape.turn("model", _FILLER)), (number, others)]
        self.items = items

    def _split(self, item: Json) -> tuple[Json, Json]:
        """A turn with only the results of ``item``, and a turn with the rest of it."""
        entries = list(self._entries(0, item))
        if not self.shape.answer or len({entry.kind for entry in entries}) < 2:
            return item, None
        assert isinstance(item, dict)
        *results, others = entries
        parts = [result.value for result in results]
        return {**item, self.shape.parts: parts}, others.value

    def add_first_user(self) -> None:
        """Adds a user's turn before the first call, unless there is one with more than
        results. Without calls, a user's turn anywhere is enough."""
        shape = self.shape
        roles = [shape.role(item) for _, item in self.items]
        is_user = [
            role == "user" and not shape.answers(item)
            for role, (_, item) in zip(roles, self.items, strict=True)
        ]
        has_calls = [bool(shape.calls(item)) for _, item in self.items]
        end = has_calls.index(True) if any(has_calls) else len(has_calls)
        if "model" in roles and not any(is_user[:end]):
            start = roles[:end].count("system")
            turn = self.items[start][0], self.shape.turn("user", _FILLER)
            self.items.insert(start, turn)

    def join_system(self) -> None:
        """Moves the content of later system turns into the first one."""
        system = [(n, i) for n, i in self.items if self.shape.role(i) == "system"]
        if not system or system == self.items[:1]:
            return
        system_turn = system[0][0], _merged([item for _, item in system])
        others = [item for item in self.items if self.shape.role(item[1]) != "system"]
        self.items = [system_turn, *others]


_MENDERS: dict[str, Callable[[TurnList], None]] = {
    "broken-pairs": TurnList.pair,
    "lonely-reasoning": TurnList.drop_lonely,
    "empty-turns": TurnList.drop_empty,
    "later-system": TurnList.join_system,
    "models-neighbours": lambda turns: turns.join(("model",)),
    "neighbours": lambda turns: turns.join(("user", "model")),
    "user-after-results": TurnList.part_from_results,
    "no-user-turn": TurnList.add_first_user,
}
"""What a rule ``refuses`` -> the method that mends it. They run in this order, each on
the result of the one before."""


def _merged(turns: list[Any]) -> JsonObject:
    """Turns of one role joined into one."""
    names = dict.fromkeys(name for turn in turns for name in turn)
    alone = ("role", "type", "id")
    return {
        name: next(turn[name] for turn in turns if name in turn)
        if name in alone
        else sum_of([turn[name] for turn in turns if name in turn])
        for name in names
    }


def _can_join(turn: tuple[int, Any]) -> bool:
    contents = (turn[1].get(name) for name in ("content", "parts"))
    return all(isinstance(content, str | list | None) for content in contents)


def _is_reference(item: Json) -> bool:
    """Whether an item of Responses stands for an item that the server has."""
    return isinstance(item, dict) and type_of(item) == "item_reference"


_NO_CALLS: deque[Call] = deque()
