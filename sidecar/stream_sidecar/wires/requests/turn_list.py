"""Makes the turns of a request fit together as the provider requires.

`TurnList` has the items of a request, after `refusals` has cleaned each. It puts
results right after their calls, joins turns of one role, and adds turns that a provider
requires between or before others. Text that it adds says that it was added. Whatever it
removes is reported. A prefix (a turn of the model at the list's end) stays. It changes
only what the rule ``refuses`` (wires/README.md, "Requests"). Never raises for any JSON
value.
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
from stream_sidecar.wires.shared.request_shapes import (
    changed,
    held,
    name_of,
    sum_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.request_rules import Rule
    from stream_sidecar.wires.shared.request_shapes import RequestShape
    from stream_sidecar.wires.shared.row import WireRow

    Key = tuple[str, str]
    Kind = Literal["model", "answer", "other"]

_NO_RESULT = "No result: the call was not finished."
_SAID = "..."
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
    of what is removed, and of what stays although it is refused. ``continues``: the
    server has earlier items, which the request names and does not repeat."""

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
            self.items.append((end[0][0], self.shape.turn("user", _SAID)))
        return [item for _, item in self.items]

    def _lose(self, number: int, what: str, why: str) -> None:
        self.lost.append(LostPart(f"/{self.shape.items}/{number}", what, why))

    def _is_models(self, end: list[tuple[int, Json]]) -> bool:
        return any(self.shape.role(item) == "model" for _, item in end)

    # Calls and results

    def pair(self) -> None:
        """Gives each call one result, right after it, and drops results without a
        call."""
        entries = [e for item in self.items for e in self._entries(*item)]
        self.items = list(self._joined(self._paired(entries)))

    def _entries(self, number: int, item: Json) -> Iterator[ListedTurn]:
        """The parts of an item: first its results, then the rest."""
        shape = self.shape
        if not isinstance(item, dict) or not shape.answers(item):
            yield ListedTurn(self._kind(item), item, item, number)
        elif not shape.answer:
            yield ListedTurn("answer", item, item, number)
        else:
            rest = []
            for part in item[shape.parts]:
                if held(part, shape.answer):
                    yield ListedTurn("answer", part, item, number)
                else:
                    rest.append(part)
            if rest:
                yield ListedTurn("other", {**item, shape.parts: rest}, item, number)

    def _kind(self, item: Json) -> Kind:
        """The kind of an item. An item that is no message and has no role counts as the
        model's."""
        role = self.shape.role(item)
        is_models = role == "model" or not (self.shape.parts or role)
        return "model" if is_models else "other"

    def _paired(self, entries: list[ListedTurn]) -> Iterator[ListedTurn]:
        """Puts results right after the turn with their calls. On a wire where each
        result is an item, results may stand anywhere after the turn, and stay."""
        self._assign(entries)
        due: list[Call] = []
        for entry in entries:
            if not self.shape.parts and entry.kind == "other":
                yield from map(self._stand_in, due)
                due = []
            if entry.kind != "answer":
                yield entry
            elif not self.shape.parts and entry.call:
                yield self._addressed(entry.call, entry)
            open = [call for call in entry.calls if call.answer is None]
            if self.shape.parts:
                answers = [(c.answer, c) for c in entry.calls if c.answer]
                answers.sort(key=_place)
                yield from (self._addressed(call, answer) for answer, call in answers)
                yield from map(self._stand_in, open)
            else:
                due += open
        yield from map(self._stand_in, due)

    def _assign(self, entries: list[ListedTurn]) -> None:
        """Assigns results to calls. If several calls have a result's id, the result is
        for the call in the latest turn. If a call has two results side by side, the
        last one counts."""
        open: defaultdict[Key, deque[Call]] = defaultdict(deque)
        answered: dict[Key, Call] = {}
        turn = 0
        for place, entry in enumerate(entries):
            entry.place = place
            self.continues = self.continues or _is_reference(entry.value)
            if entry.kind == "answer":
                self._answered(entry, open, answered, turn)
                continue
            turn += 1 if self.shape.parts or entry.kind == "other" else 0
            if entry.kind == "model":
                entry.calls = self._opened(entry, turn)
            for call in entry.calls:
                for key in self._keys(call.id, call.name):
                    if open[key] and open[key][0].turn != turn:
                        open[key].clear()
                    open[key].append(call)

    def _answered(
        self,
        entry: ListedTurn,
        open: dict[Key, deque[Call]],
        answered: dict[Key, Call],
        turn: int,
    ) -> None:
        id, name = self._named(entry)
        for key in self._keys(id, name):
            calls = open.get(key, _NO_CALLS)
            while calls and calls[0].answer is not None:
                calls.popleft()
            is_named = key[0] == "id" or id is None
            if calls and (is_named or calls[0].id is None):
                entry.call = answered[key] = calls.popleft()
                entry.call.answer = entry
                return
            before = answered.get(key)
            if before and before.answer and before.turn == turn and is_named:
                self._lose(before.answer.number, "tool-result", SURPASSED)
                before.answer.call, before.answer, entry.call = None, entry, before
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
        new = changed(inner, {n: v for n, v in news.items() if inner.get(n) != v})
        if new is inner:
            return value
        return new if inner is value else {**value, word: new}

    def _opened(self, entry: ListedTurn, turn: int) -> list[Call]:
        """The calls of the turn ``entry``. If the provider refuses repeated ids, they
        are replaced."""
        calls: list[Call] = []

        def renamed(call: JsonObject) -> JsonObject:
            id = call.get(self.shape.id)
            was = sent = id if isinstance(id, str) else None
            if sent is None and not self.shape.pairs_by_name:
                sent = made_id(f"#{len(self._taken)}")
            if sent in self._taken and "repeated-ids" in self.rule.refuses:
                sent = self._new_id(sent)
                self._lose(entry.number, "tool-call-id", OTHER_ID)
            self._taken |= {sent or ""}
            new = call if sent == was else {**call, self.shape.id: sent}
            calls.append(Call(was, sent, name_of(call), new, entry.number, turn))
            return new

        if isinstance(entry.value, dict):
            entry.value = self.shape.change_calls(entry.value, renamed) or entry.value
        return calls

    def _new_id(self, id: str) -> str:
        """An id for a call whose ``id`` is taken; it meets no id before it."""
        count = len(self._taken)
        while (sent := made_id(f"{id}#{count}")) in self._taken:
            count += 1
        return sent

    def _stand_in(self, call: Call) -> ListedTurn:
        """A result for ``call``, which has none, that says so."""
        self._lose(call.number, "tool-result", UNANSWERED)
        return ListedTurn("answer", self._made(call), None, call.number)

    def _made(self, call: Call) -> JsonObject:
        """The added result for ``call``, written by the wire's own writer."""
        value, is_text = call.value, type_of(call.value).startswith("custom")
        is_text = is_text or "custom" in value
        block = TurnBlock(
            "tool-call",
            tool_call_id=call.sent,
            id_synthetic=call.sent is None,
            name=call.name if isinstance(call.name, str) else None,
            arguments_format="text" if is_text else "json",
            raw={"status": "completed"} | value,
        )
        result = TurnResult(call.sent or "", _NO_RESULT, is_error=True)
        turn = Rendering((block,), (), self.rule, answers=[(block, result)])
        assert self.row.request is not None
        answer = self.row.request(turn)[-1]
        return answer[self.shape.parts][0] if self.shape.answer else answer

    def _joined(self, entries: Iterable[ListedTurn]) -> Iterator[tuple[int, Json]]:
        """The items of ``entries``: results that are parts of a turn become one item,
        with the other parts of that turn."""
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
        for each in run:
            parts += [each.value] if each.kind == "answer" else each.value[name]
        home = next((each.home for each in run if each.home is not None), None)
        old = home[name] if isinstance(home, dict) else []
        one, other = list(map(id, parts)), list(map(id, old))
        is_free = not self.shape.answers_first
        if one == other or (is_free and sorted(one) == sorted(other)):
            yield run[0].number, home
        else:
            base = home if isinstance(home, dict) else {"role": "user"}
            yield run[0].number, {**base, name: parts}

    # Turns

    def drop_empty(self) -> None:
        """Removes turns without content."""
        kept = []
        for number, item in self.items:
            if self._is_empty(item):
                self._lose(number, "text", EMPTY)
            else:
                kept.append((number, item))
        self.items = kept

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
        kept = []
        follows: Json = None
        for number, item in reversed(self.items):
            is_thought = isinstance(item, dict) and type_of(item) == "reasoning"
            is_end = follows is None or self.shape.role(follows) in ("user", "system")
            is_end = is_end or bool(self.shape.answers(follows))
            if is_thought and is_end:
                self._lose(number, "reasoning", ALONE)
                continue
            kept.append((number, item))
            follows = item
        self.items = kept[::-1]

    def join_all(self) -> None:
        self._join(("user", "model"))

    def join_models(self) -> None:
        self._join(("model",))

    def _join(self, roles: tuple[str, ...]) -> None:
        """Joins neighbouring turns of one role."""
        joined: list[tuple[int, Json]] = []
        for role, group in groupby(self.items, lambda each: self.shape.role(each[1])):
            same = list(group)
            is_one = role in roles and len(same) > 1 and all(map(_can_join, same))
            joined += [(same[0][0], _merged([i for _, i in same]))] if is_one else same
        self.items = joined

    def part_from_results(self) -> None:
        """Puts a turn of the model between results and a user's turn."""
        parted: list[tuple[int, Json]] = []
        for number, item in self.items:
            is_results = bool(parted and self.shape.answers(parted[-1][1]))
            if is_results and self.shape.role(item) == "user":
                parted.append((number, self.shape.turn("model", _SAID)))
            results, rest = self._split(item)
            parted.append((number, results))
            if rest is not None:
                parted += [(number, self.shape.turn("model", _SAID)), (number, rest)]
        self.items = parted

    def _split(self, item: Json) -> tuple[Json, Json]:
        """A turn with only the results of ``item``, and a turn with the rest of it."""
        entries = list(self._entries(0, item))
        if not self.shape.answer or len({each.kind for each in entries}) < 2:
            return item, None
        assert isinstance(item, dict)
        *results, rest = entries
        return {**item, self.shape.parts: [each.value for each in results]}, rest.value

    def add_first_user(self) -> None:
        """Adds a user's turn before the first call, unless there is one already (a turn
        of results only does not count). Without calls, a user's turn anywhere is
        enough."""
        shape = self.shape
        roles = [shape.role(item) for _, item in self.items]
        asked = [
            role == "user" and not shape.answers(item)
            for role, (_, item) in zip(roles, self.items, strict=True)
        ]
        called = [bool(shape.calls(item)) for _, item in self.items]
        end = called.index(True) if any(called) else len(called)
        if "model" in roles and not any(asked[:end]):
            start = roles[:end].count("system")
            self.items.insert(
                start, (self.items[start][0], self.shape.turn("user", _SAID))
            )

    def join_system(self) -> None:
        """Moves the content of later system turns into the first one."""
        said = [(n, i) for n, i in self.items if self.shape.role(i) == "system"]
        if not said or said == self.items[:1]:
            return
        first = said[0][0], _merged([item for _, item in said])
        others = [each for each in self.items if self.shape.role(each[1]) != "system"]
        self.items = [first, *others]


_MENDERS: dict[str, Callable[[TurnList], None]] = {
    "broken-pairs": TurnList.pair,
    "lonely-reasoning": TurnList.drop_lonely,
    "empty-turns": TurnList.drop_empty,
    "later-system": TurnList.join_system,
    "models-neighbours": TurnList.join_models,
    "neighbours": TurnList.join_all,
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
    return all(isinstance(each, str | list | None) for each in contents)


def _place(answered: tuple[ListedTurn, Call]) -> int:
    return answered[0].place


def _is_reference(item: Json) -> bool:
    """Whether an item of Responses stands for an item that the server has."""
    return isinstance(item, dict) and type_of(item) == "item_reference"


_NO_CALLS: deque[Call] = deque()
