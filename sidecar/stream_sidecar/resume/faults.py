"""What a provider refuses of a conversation: the rule that is broken, and the place.

`request/prepare` mends a request by `accepted_request`, which says what it removed and
why. The reason names the rule (`_RULES`); the place is narrowed to the part at fault.
What it moves or replaces without a word is found by what an item had (`_SILENT`). Never
raises for any JSON.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from stream_sidecar.history.paths import path_of
from stream_sidecar.records import frozen
from stream_sidecar.values.jsontext import MAX_DEPTH
from stream_sidecar.values.surrogates import whole_values
from stream_sidecar.wires import WIRES
from stream_sidecar.wires.anthropic.refusals import BROKEN_OFF
from stream_sidecar.wires.openai_chat.refusals import TEXT_ALONE
from stream_sidecar.wires.openai_responses import refusals as of_items
from stream_sidecar.wires.requests import refusals as of_calls
from stream_sidecar.wires.requests import turn_list
from stream_sidecar.wires.requests.accepted import accepted_request
from stream_sidecar.wires.requests.destination import Destination
from stream_sidecar.wires.requests.issuers import FOREIGN, OPENAIS
from stream_sidecar.wires.shared import item_cleaning
from stream_sidecar.wires.shared.block_cleaning import BLANK, is_blank_text
from stream_sidecar.wires.shared.fields import type_of
from stream_sidecar.wires.shared.fitting import id_for, name_for
from stream_sidecar.wires.shared.rendering import LostPart, object_of
from stream_sidecar.wires.shared.request_rules import Names, Rule, rule_for
from stream_sidecar.wires.shared.request_shapes import (
    function_of,
    held,
    name_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from stream_sidecar.parts import JsonObject
    from stream_sidecar.resume.conversation import ResumedConversation
    from stream_sidecar.values.json_places import Path
    from stream_sidecar.wires.shared.request_shapes import RequestShape

_ANY = Rule(
    "what all providers of the wire refuse", refuses=frozenset(("broken-pairs",))
)
"""The rule of a provider that nobody named, on a wire of many providers."""

_NEXT = "Go on."
"""The user's next turn: without one, the model's last turn would be a prefix."""


@frozen
class Fault:
    """The ``rule`` that item ``number`` breaks at ``path``."""

    rule: str
    number: int
    path: Path = ()


@frozen
class Request:
    """The request that the agent would send: the ``items`` with the user's next turn,
    and the rule of its provider."""

    to: Destination
    rule: Rule
    body: JsonObject
    items: list[JsonObject]

    @classmethod
    def of(cls, conversation: ResumedConversation) -> Request:
        row = WIRES[conversation.wire]
        shape = row.shape
        to = Destination(
            row=row,
            provider=conversation.provider,
            model=conversation.model,
            reasoning="auto",
            stores=conversation.settings.get("store") is not False,
            continues=False,
        )
        rule = to.rule
        if rule is None:
            rule = _ANY if row.is_of_many else rule_for(row.rules, Names())
        items = [sent.item for sent in conversation.items]
        items.append(shape.turn("user", _NEXT))
        body = {"model": to.model, **conversation.settings, shape.items: items}
        return cls(to, rule, body, items)

    @property
    def shape(self) -> RequestShape:
        return self.to.row.shape

    def calls(self, number: int) -> list[tuple[Path, JsonObject]]:
        """The calls of an item with their paths."""
        item, shape = self.items[number], self.shape
        return _held(item, shape.parts, shape.call) if shape.calls(item) else []

    def answers(self, number: int) -> list[tuple[Path, JsonObject]]:
        """The results of an item with their paths."""
        item, shape = self.items[number], self.shape
        if not shape.answers(item):
            return []
        return _held(item, shape.parts if shape.answer else "", shape.answer)

    def key(self, holder: JsonObject, name: str) -> str:
        """What pairs a call or a result: its id, or without one its name."""
        id = holder.get(name)
        if id is None and not self.shape.parts:
            id = holder.get("id")
        return str(id if id is not None else name_of(holder))

    @cached_property
    def pending(self) -> int:
        """The number of the first item that may still wait for what follows: a running
        session ends like this."""
        end = len(self.items) - 1
        while end and self.answers(end - 1):
            end -= 1
        while end and self.shape.role(self.items[end - 1]) == "model":
            end -= 1
            if self.shape.parts:
                break
        return end


def _held(item: JsonObject, parts: str, word: str) -> list[tuple[Path, JsonObject]]:
    if not parts:
        return [((), item)]
    listed = item.get(parts)
    places: list[tuple[Path, JsonObject]] = []
    for number, part in enumerate(listed if isinstance(listed, list) else ()):
        inner = held(part, word)
        if inner is not None:
            is_part = inner is part
            places.append(
                ((parts, number) if is_part else (parts, number, word), inner)
            )
    return places


# --- Where in an item -----------------------------------------------------------------

_Places: TypeAlias = "Callable[[Request, int], list[Path]]"


def _whole(_request: Request, _number: int) -> list[Path]:
    return [()]


def _unanswered(request: Request, number: int) -> list[Path]:
    """The calls that have no result behind them; of calls with one key, the last."""
    shape, found = request.shape, Counter[str]()
    for later in range(number + 1, len(request.items)):
        found.update(request.key(a, shape.answered) for _, a in request.answers(later))
        is_end = shape.parts and shape.role(request.items[later]) == "model"
        if is_end:
            break
    places: list[Path] = []
    for path, call in request.calls(number):
        key = request.key(call, shape.id)
        if not found[key]:
            places.append(path)
        found[key] -= 1 if found[key] else 0
    return places


def _stray(request: Request, number: int) -> list[Path]:
    """The results that no call before them asks for."""
    shape, open_calls = request.shape, Counter[str]()
    for earlier in range(number):
        open_calls.update(request.key(c, shape.id) for _, c in request.calls(earlier))
        open_calls.subtract(
            request.key(a, shape.answered) for _, a in request.answers(earlier)
        )
    places: list[Path] = []
    for path, answer in request.answers(number):
        key = request.key(answer, shape.answered)
        if open_calls[key] <= 0:
            places.append(path)
        open_calls[key] -= 1
    return places


def _surpassed(request: Request, number: int) -> list[Path]:
    """The results whose call has another one later."""
    name = request.shape.answered
    later = Counter(
        request.key(answer, name)
        for after in range(number, len(request.items))
        for _, answer in request.answers(after)
    )
    places: list[Path] = []
    for path, answer in request.answers(number):
        key = request.key(answer, name)
        later[key] -= 1
        if later[key]:
            places.append(path)
    return places


def _is_repeat(request: Request, number: int, path: Path) -> bool:
    """Whether the call at ``path`` says what an earlier one said, under its id."""
    calls = [
        call
        for at in range(number + 1)
        for place, call in request.calls(at)
        if at < number or place <= path
    ]
    return len(calls) > 1 and calls[-1] in calls[:-1]


def _repeated(request: Request, number: int) -> list[Path]:
    """The calls whose id an earlier call has."""
    name = request.shape.id
    taken = {c.get(name) for n in range(number) for _, c in request.calls(n)}
    places: list[Path] = []
    for path, call in request.calls(number):
        if call.get(name) in taken:
            places.append(path)
        taken.add(call.get(name))
    return places


def _in_holders(is_bad: Callable[[Request, JsonObject], bool]) -> _Places:
    def places(request: Request, number: int) -> list[Path]:
        holders = request.calls(number) + request.answers(number)
        return [path for path, holder in holders if is_bad(request, holder)]

    return places


def _has_bad_name(request: Request, holder: JsonObject) -> bool:
    name = name_of(holder)
    return name is not None and (
        not isinstance(name, str) or name_for(request.rule, name) != name
    )


def _has_bad_id(request: Request, holder: JsonObject) -> bool:
    ids = (holder.get(name) for name in (request.shape.id, request.shape.answered))
    return any(isinstance(id, str) and id_for(request.rule, id) != id for id in ids)


def _has_bad_arguments(request: Request, holder: JsonObject) -> bool:
    value = function_of(holder).get(request.shape.input)
    if isinstance(value, str):
        return object_of(value) is None or request.shape.is_parsed
    return value is not None and not isinstance(value, dict)


_RULES: dict[str, tuple[str, _Places]] = {
    turn_list.UNANSWERED: ("call-without-result", _unanswered),
    turn_list.STRAY: ("result-without-call", _stray),
    turn_list.SURPASSED: ("two-results", _surpassed),
    turn_list.OTHER_ID: ("repeated-id", _repeated),
    turn_list.EMPTY: ("empty-turn", _whole),
    turn_list.ALONE: ("lonely-reasoning", _whole),
    item_cleaning.NEVER: ("reasoning-refused", _whole),
    item_cleaning.UNSIGNED: ("signature-missing", _whole),
    item_cleaning.NO_BASE64: ("signature-foreign", _whole),
    of_calls.OTHER_IDS: ("id-characters", _in_holders(_has_bad_id)),
    of_calls.OTHER_NAMES: ("name-characters", _in_holders(_has_bad_name)),
    of_calls.NO_NAME: ("name-characters", _in_holders(_has_bad_name)),
    of_calls.NO_OBJECT: ("arguments", _in_holders(_has_bad_arguments)),
    BLANK: ("blank-text", _whole),
    TEXT_ALONE: ("content-form", _whole),
    FOREIGN: ("signature-foreign", _whole),
    of_items.UNKNOWN_ITEM: ("item-not-stored", _whole),
    of_items.UNKNOWN_ID: ("item-not-stored", _whole),
    of_items.NO_CONTENT: ("item-form", _whole),
    of_items.TWICE: ("item-form", _whole),
    of_items.REFUSED_ID: ("item-form", _whole),
    of_items.TORN: ("reasoning-missing", _whole),
}
"""Why something was removed -> the rule, and where in the item."""

_OF_SERVERS = {
    "tool-call": "call-without-result",
    "tool-result": "result-without-call",
}
"""What was removed of a server's call without its result, or the reverse -> the rule.
"""


def faults_in(request: Request) -> Iterator[Fault]:
    """What is refused, each once, in the order of the items."""
    faults = dict.fromkeys(_faults(request))
    last = len(request.items) - 1
    for fault in sorted(faults, key=lambda each: each.number):
        may_wait = fault.rule in ("call-without-result", "lonely-reasoning")
        if fault.number < last and not (may_wait and fault.number >= request.pending):
            yield fault


def _faults(request: Request) -> Iterator[Fault]:
    halves: list[str] = []
    body = whole_values(request.body, halves, MAX_DEPTH)
    name = request.shape.items
    for pointer in halves:
        if pointer.startswith(f"/{name}/"):
            yield _at(request, "half-surrogate", pointer)
    lost: list[LostPart] = []
    items = body[name]
    sent, _ = accepted_request(request.to, request.rule, body, items, lost)
    for part in lost:
        if part.path.startswith(f"/{name}/"):
            yield from _named(request, part)
    spoken = {_at(request, "", part.path).number for part in lost if part.path}
    yield from _silent(request, items, {id(item) for item in sent}, spoken)
    yield from _sealed_elsewhere(request)


def _at(request: Request, rule: str, pointer: str) -> Fault:
    """The fault at a JSON Pointer of the body."""
    _, *path = path_of(pointer, {request.shape.items: request.items})
    if not path or not isinstance(path[0], int):
        return Fault(rule, len(request.items))
    return Fault(rule, path[0], tuple(path[1:]))


def _named(request: Request, part: LostPart) -> Iterator[Fault]:
    rule, places = _RULES.get(part.why, ("", _whole))
    if part.why == BROKEN_OFF:
        rule = _OF_SERVERS[part.what]
    elif part.why.startswith(item_cleaning.NO_MEMBER):
        rule = "unknown-field"
    elif part.why == FOREIGN and not request.shape.parts:
        rule = "foreign-encrypted-content"
    if not rule:
        return
    fault = _at(request, rule, part.path)
    if fault.path:
        yield fault
        return
    for path in places(request, fault.number) or [()]:
        is_repeat = places is _unanswered and _is_repeat(request, fault.number, path)
        yield Fault("repeated-id" if is_repeat else rule, fault.number, path)


# --- What changes without a word ------------------------------------------------------


def _silent(
    request: Request, items: list[JsonObject], sent: set[int], spoken: set[int]
) -> Iterator[Fault]:
    for number, item in enumerate(items[:-1]):
        if number in spoken or not isinstance(item, dict):
            continue
        if id(item) not in sent:
            found = ((rule, find(request, number)) for rule, find in _SILENT.items())
            rule, path = next(((r, p) for r, p in found if p is not None), ("", None))
            if path is not None:
                yield Fault(rule, number, path)
        elif _is_between(request, number):
            yield Fault("role-order", number)
        elif _is_late(request, number):
            yield Fault("results-apart", number)


def _is_between(request: Request, number: int) -> bool:
    """Whether a user's turn is right after results, where that is refused."""
    if number == 0 or "user-after-results" not in request.rule.refuses:
        return False
    is_user = request.shape.role(request.items[number]) == "user"
    return is_user and bool(request.answers(number - 1))


def _is_late(request: Request, number: int) -> bool:
    """Whether results are not right after the turn with their calls."""
    if not (request.shape.parts and request.answers(number)):
        return False
    before = request.shape.role(request.items[number - 1]) if number else ""
    is_next = before == "model" or (number and request.answers(number - 1))
    return not is_next and "broken-pairs" in request.rule.refuses


def _blank_in_results(request: Request, number: int) -> Path | None:
    for path, answer in request.answers(number):
        content = answer.get("content")
        for place, part in enumerate(content if isinstance(content, list) else ()):
            if is_blank_text(part):
                return (*path, "content", place)
    return None


def _apart(request: Request, number: int) -> Path | None:
    """Results behind something else in their turn, or in a second turn."""
    answers = request.answers(number)
    if not answers or not request.shape.answer:
        return None
    parts = request.items[number].get(request.shape.parts)
    assert isinstance(parts, list)
    paths = [path for path, _ in answers]
    is_second = number > 0 and bool(request.answers(number - 1))
    is_first = [path[1] for path in paths] == list(range(len(paths)))
    # Google counts the results of a turn, and takes a text behind them.
    may_be_beside = request.shape.answers_first or request.shape.pairs_by_name
    is_beside = len(parts) != len(paths) and not may_be_beside
    is_before = number + 1 < len(request.items) and bool(request.answers(number + 1))
    return () if is_second or is_before or is_beside or not is_first else None


def _no_object(request: Request, number: int) -> Path | None:
    calls = request.calls(number)
    return next((p for p, c in calls if _has_bad_arguments(request, c)), None)


def _nameless(request: Request, number: int) -> Path | None:
    if not request.shape.pairs_by_name:
        return None
    return next((p for p, a in request.answers(number) if not name_of(a)), None)


def _null(request: Request, number: int) -> Path | None:
    item, name = request.items[number], request.shape.content
    is_turn = bool(request.shape.parts) or type_of(item) in ("", "message")
    return () if is_turn and item.get(name) is None else None


def _empty_calls(request: Request, number: int) -> Path | None:
    return ("tool_calls",) if request.items[number].get("tool_calls") == [] else None


def _listed(request: Request, number: int) -> Path | None:
    content = request.items[number].get(request.shape.content)
    is_text = not request.shape.answer and bool(request.shape.parts)
    return (request.shape.content,) if is_text and isinstance(content, list) else None


def _neighbour(request: Request, number: int) -> Path | None:
    """A turn of the same role as the one before it, which was joined with it."""
    role, refuses = request.shape.role(request.items[number]), request.rule.refuses
    is_refused = "neighbours" in refuses or (
        role == "model" and "models-neighbours" in refuses
    )
    before = request.shape.role(request.items[number - 1]) if number else ""
    return () if is_refused and role == before else None


def _system(request: Request, number: int) -> Path | None:
    return () if request.shape.role(request.items[number]) == "system" else None


_SILENT: dict[str, Callable[[Request, int], Path | None]] = {
    "blank-text": _blank_in_results,
    "results-apart": _apart,
    "arguments": _no_object,
    "name-characters": _nameless,
    "empty-calls": _empty_calls,
    "null-content": _null,
    "content-form": _listed,
    "role-order": _neighbour,
    "system-turn": _system,
}
"""Rule -> where an item that was changed breaks it; None if it does not."""


def _sealed_elsewhere(request: Request) -> Iterator[Fault]:
    """Reasoning in a request to OpenAI with encrypted content that is not OpenAI's. A
    proxy under another name may have seals of its own."""
    to = request.to.provider or request.to.maker
    if request.shape.parts or not any(name in to for name in ("openai", "azure")):
        return
    for number, item in enumerate(request.items):
        seal = item.get("encrypted_content") if isinstance(item, dict) else None
        if seal and isinstance(seal, str) and not seal.startswith(OPENAIS):
            yield Fault("foreign-encrypted-content", number)
