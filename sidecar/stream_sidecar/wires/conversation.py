"""What the turns of a request must be together, made so where a provider demands it.

`TurnList` has the items of a request, freed of what `refused` finds in each. Calls
get their results and results their calls, in the places where they must stand; turns of
one role are joined; what must stand between or before turns is made. What is made says
that it is, what goes away is told, and a prefix, which ends the list, stays. A rule
names what is ``refuses``d; what it does not name stays as it is (wires/README.md,
"Requests"). Never raises for any JSON value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from stream_sidecar.message.turn import TurnBlock, TurnResult
from stream_sidecar.records import define, evolve, field
from stream_sidecar.wires import REQUESTS
from stream_sidecar.wires.shared.fields import type_of
from stream_sidecar.wires.shared.fitting import made_id
from stream_sidecar.wires.shared.rendering import LostPart, Rendering
from stream_sidecar.wires.shared.request_shapes import (
    SHAPES,
    RequestShape,
    changed,
    name_of,
    sum_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.request_rules import Rule

    Kind = Literal["model", "answer", "other"]

_NO_RESULT = "No result: the call was not finished."
_SAID = "..."
"""What a turn says that is made because there must be one."""

UNANSWERED = "it has no result, which is refused; one that says so was put there"
STRAY = "no call before it has its id"
SURPASSED = "another result of its call comes later"
OTHER_ID = "an earlier call has the same id"
EMPTY = "a turn that says nothing is refused"
ALONE = "nothing follows it, so it is refused"


@define
class ListedTurn:
    """An item of the list, or a part of one: ``value`` is the answer, or what is left
    of the item beside its answers. ``number`` is the place of the ``home`` item."""

    kind: Kind
    value: Any
    home: Json
    number: int


@define
class Call:
    """An open call: the ids that it came with and goes with."""

    id: str | None
    sent: str | None
    name: Json
    value: JsonObject
    at: ListedTurn


@define
class TurnList:
    """The items of one request with the places that they had. ``model`` is who is
    asked; ``lost`` is told what goes away, or is refused and stays."""

    wire: str
    rule: Rule
    model: str
    items: list[tuple[int, Json]]
    lost: list[LostPart]
    _taken: set[str] = field(factory=set)

    @property
    def shape(self) -> RequestShape:
        return SHAPES[self.wire]

    def mend(self) -> list[Json]:
        """The items as they go. Where the last ones are gone the user goes on, so that
        no turn of the model's becomes a prefix."""
        end = self.items[-1:]
        for word, mend in _MENDED.items():
            if word in self.rule.refuses:
                mend(self)
        if end and not self._is_models(end) and self._is_models(self.items[-1:]):
            self.items.append((end[0][0], self._turn("user")))
        return [item for _, item in self.items]

    def _lose(self, number: int, what: str, why: str) -> None:
        self.lost.append(LostPart(f"/{self.shape.items}/{number}", what, why))

    def _is_models(self, end: list[tuple[int, Json]]) -> bool:
        return any(self.shape.role(item) == "model" for _, item in end)

    # Calls and results

    def pair(self) -> None:
        """A call has one result, right behind it; a result has a call."""
        entries = [e for item in self.items for e in self._entries(*item)]
        self.items = list(self._joined(self._paired(entries)))

    def _entries(self, number: int, item: Json) -> Iterator[ListedTurn]:
        """An item; results that are parts of one come before what else it has."""
        shape = self.shape
        answers = shape.answers(item)
        if not isinstance(item, dict) or not answers:
            kind: Kind = "model" if shape.role(item) == "model" else "other"
            yield ListedTurn(kind, item, item, number)
        elif not shape.answer:
            yield ListedTurn("answer", item, item, number)
        else:
            parts = item[shape.parts]
            ours = [p for p in parts if shape.answers({shape.parts: [p]})]
            rest = [p for p in parts if not any(p is each for each in ours)]
            for part in ours:
                yield ListedTurn("answer", part, item, number)
            if rest:
                yield ListedTurn("other", {**item, shape.parts: rest}, item, number)

    def _paired(self, entries: list[ListedTurn]) -> list[ListedTurn]:
        done: list[ListedTurn] = []
        open: list[Call] = []
        told: list[tuple[Call, int]] = []
        moved: set[int] = set()
        for at, entry in enumerate(entries):
            if at in moved:
                continue
            if entry.kind == "answer":
                self._answered(entry, done, open, told)
                continue
            if entry.kind == "other" or self.shape.parts:
                done += [self._found(call, entries, at, moved) for call in open]
                open, told = [], []
            done.append(entry)
            if entry.kind == "model":
                open += self._opened(entry)
        return done + [self._found(call, [], 0, moved) for call in open]

    def _answered(
        self,
        entry: ListedTurn,
        done: list[ListedTurn],
        open: list[Call],
        told: list[tuple[Call, int]],
    ) -> None:
        """Of two results of one call the last one counts."""
        call = next((each for each in open if self._fits(each, entry)), None)
        if call is not None:
            open.remove(call)
            told.append((call, len(done)))
            done.append(self._for(call, entry))
            return
        before = next((pair for pair in told if self._fits(pair[0], entry)), None)
        if before is None:
            self._lose(entry.number, "tool-result", STRAY)
            return
        self._lose(done[before[1]].number, "tool-result", SURPASSED)
        done[before[1]] = self._for(before[0], entry)

    def _fits(self, call: Call, entry: ListedTurn) -> bool:
        """By the id; where a wire needs none by the name, if there is one."""
        (answer,) = self._answers(entry)
        id, name = answer.get(self.shape.answered), name_of(answer)
        if self.wire == "openai-responses" and id is None:
            id = answer.get("id")
        if call.id is not None and id is not None:
            return bool(id == call.id)
        return self.wire == "gemini" and bool(name in (call.name, "", None))

    def _answers(self, entry: ListedTurn) -> list[JsonObject]:
        value = entry.value
        return self.shape.answers(
            {self.shape.parts: [value]} if self.shape.answer else value
        )

    def _for(self, call: Call, entry: ListedTurn) -> ListedTurn:
        """The answer with the id and the name of its call."""
        value = entry.value
        if call.sent != call.id:
            value = self._told(value, {self.shape.answered: call.sent})
        if self.wire == "gemini":
            value = self._told(value, {"name": call.name})
        return entry if value is entry.value else evolve(entry, value=value)

    def _told(self, value: JsonObject, news: JsonObject) -> JsonObject:
        word = self.shape.answer
        inner = value if not word or value.get("type") == word else value[word]
        new = changed(inner, {n: v for n, v in news.items() if inner.get(n) != v})
        if new is inner:
            return value
        return new if inner is value else {**value, word: new}

    def _opened(self, entry: ListedTurn) -> list[Call]:
        """The calls of a turn; where ids must differ a later one gets another."""
        calls: list[Call] = []

        def renamed(call: JsonObject) -> JsonObject:
            id = call.get(self.shape.id)
            sent = id if isinstance(id, str) else None
            if sent in self._taken and "repeated-ids" in self.rule.refuses:
                sent = made_id(f"{sent}#{len(self._taken)}")
                self._lose(entry.number, "tool-call-id", OTHER_ID)
            self._taken |= {sent or ""}
            new = call if sent == id else {**call, self.shape.id: sent}
            was = id if isinstance(id, str) else None
            calls.append(Call(was, sent, name_of(call), new, entry))
            return new

        if isinstance(entry.value, dict):
            entry.value = self.shape.change_calls(entry.value, renamed) or entry.value
        return calls

    def _found(
        self, call: Call, entries: list[ListedTurn], at: int, moved: set[int]
    ) -> ListedTurn:
        """The result of a call that has none behind it: one that stands later, before
        another call of that id, or one that says that there is none."""
        for number in range(at, len(entries)):
            later = entries[number]
            is_ours = later.kind == "answer" and number not in moved
            if is_ours and self._fits(call, later):
                moved.add(number)
                return self._for(call, later)
            ids = [c.get(self.shape.id) for c in self.shape.calls(later.value)]
            if later.kind == "model" and (call.id is None or call.id in ids):
                break
        self._lose(call.at.number, "tool-result", UNANSWERED)
        return ListedTurn("answer", self._made(call), None, call.at.number)

    def _made(self, call: Call) -> JsonObject:
        """As the wire's own writer answers a call."""
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
        write = REQUESTS[self.wire].request
        assert write is not None
        answer = write(turn)[-1]
        return answer[self.shape.parts][0] if self.shape.answer else answer

    def _joined(self, entries: list[ListedTurn]) -> Iterator[tuple[int, Json]]:
        """Results that are parts stand in one item, with what else theirs have."""
        run: list[ListedTurn] = []
        for entry in entries:
            is_part = bool(self.shape.answer) and entry.kind == "answer"
            is_rest = entry.kind == "other" and any(
                entry.home is each.home for each in run
            )
            if is_part or is_rest:
                run.append(entry)
                continue
            yield from self._item(run)
            run = []
            yield entry.number, entry.value
        yield from self._item(run)

    def _item(self, run: list[ListedTurn]) -> Iterator[tuple[int, Json]]:
        if not run:
            return
        name = self.shape.parts
        parts: list[Json] = []
        for each in run:
            parts += [each.value] if each.kind == "answer" else each.value[name]
        home = next((each.home for each in run if each.home is not None), None)
        old = home[name] if isinstance(home, dict) else []
        one, other = list(map(id, parts)), list(map(id, old))
        is_free = self.wire != "anthropic"
        if one == other or (is_free and sorted(one) == sorted(other)):
            yield run[0].number, home
        else:
            base = home if isinstance(home, dict) else {"role": "user"}
            yield run[0].number, {**base, name: parts}

    # Turns

    def drop_empty(self) -> None:
        """Turns that say nothing."""
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
        content = item.get("parts" if self.wire == "gemini" else "content")
        text = content.strip() if isinstance(content, str) else content
        return text in (None, "", [])

    def drop_lonely(self) -> None:
        """Reasoning items that nothing of the model's follows."""
        kept = []
        follows: Json = None
        for number, item in reversed(self.items):
            is_thought = isinstance(item, dict) and type_of(item) == "reasoning"
            if is_thought and self.shape.role(follows) != "model":
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
        """Neighbours of one role become one turn."""
        joined: list[tuple[int, Json]] = []
        for number, item in self.items:
            role = self.shape.role(item)
            before = joined[-1][1] if joined else None
            is_same = role in roles and self.shape.role(before) == role
            if is_same and isinstance(before, dict) and isinstance(item, dict):
                joined[-1] = (joined[-1][0], _one(before, item))
            else:
                joined.append((number, item))
        self.items = joined

    def part(self) -> None:
        """Between results and a user's turn stands one of the model's."""
        parted: list[tuple[int, Json]] = []
        for number, item in self.items:
            is_results = bool(parted and self.shape.answers(parted[-1][1]))
            if is_results and self.shape.role(item) == "user":
                parted.append((number, self._turn("model")))
            told, rest = self._split(item)
            parted.append((number, told))
            if rest is not None:
                parted += [(number, self._turn("model")), (number, rest)]
        self.items = parted

    def _split(self, item: Json) -> tuple[Json, Json]:
        """Results, and what else stands in their turn."""
        entries = list(self._entries(0, item))
        if not self.shape.answer or len({each.kind for each in entries}) < 2:
            return item, None
        assert isinstance(item, dict)
        *told, rest = entries
        return {**item, self.shape.parts: [each.value for each in told]}, rest.value

    def begin(self) -> None:
        """Before a call, or else somewhere, stands a user's turn that is more than
        results."""
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
            self.items.insert(start, (self.items[start][0], self._turn("user")))

    def lead(self) -> None:
        """What the system says later goes to what it says first."""
        said = [(n, i) for n, i in self.items if self.shape.role(i) == "system"]
        if not said or said == self.items[:1]:
            return
        first: Json = said[0][1]
        for _, item in said[1:]:
            assert isinstance(first, dict)
            assert isinstance(item, dict)
            first = _one(first, item)
        others = [each for each in self.items if self.shape.role(each[1]) != "system"]
        self.items = [(said[0][0], first), *others]

    def _turn(self, role: Literal["user", "model"]) -> JsonObject:
        if self.wire == "gemini":
            return {"role": role, "parts": [{"text": _SAID}]}
        is_blocks = self.wire == "bedrock-converse"
        name = "user" if role == "user" else "assistant"
        return {"role": name, "content": [{"text": _SAID}] if is_blocks else _SAID}


_MENDED: dict[str, Callable[[TurnList], None]] = {
    "broken-pairs": TurnList.pair,
    "lonely-reasoning": TurnList.drop_lonely,
    "empty-turns": TurnList.drop_empty,
    "later-system": TurnList.lead,
    "models-neighbours": TurnList.join_models,
    "neighbours": TurnList.join_all,
    "user-behind-results": TurnList.part,
    "no-user-turn": TurnList.begin,
}
"""In this order: what one leaves is what the next one sees."""


def _one(first: JsonObject, second: JsonObject) -> JsonObject:
    """Two turns of one role as one: lists go behind lists, texts behind texts."""
    both = {**second, **first}
    for name in first.keys() & second.keys() - {"role", "type", "id"}:
        both[name] = sum_of(first[name], second[name])
    return both
