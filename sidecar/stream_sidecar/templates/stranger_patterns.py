r"""Regular expressions from untrusted sources, run as grammars in linear time.

A response template describes with a pattern what opens a region, such as
``<tool_call>\s*<function=(?P<name>\w+)>``. `StrangerPattern` is built from the output
of Python's own parser. It refuses constructs that cannot be bounded, and limits each
unbounded repeat to `LONGEST_RUN` code points. It reads text in slices, character by
character, and follows all possible matches at once, in the order in which a
backtracking engine would try them. So it reads each character once and finds the same
match.

``heads`` are literals: each match begins with one of them. If an optional part stands
before them that is no literal (``[^<]*`` in ``[^<]*<think>``), that part is not matched
and stays in the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.forms.grammar import EndedError
from stream_sidecar.records import define, field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from stream_sidecar.forms.grammar import Cursor, Reading

tokens = patterns.tokens

LONGEST_RUN = 256
"""The limit of an unbounded repeat, in code points."""

MOST_STEPS = 1024
"""The most steps of a pattern; a repeat counts as often as it may match."""

_MOST_HEADS = 64
_MOST_CHARACTERS = 4
"""For a character class with at most this many members, each member makes a head."""

_MOST_TIMES = 8
"""Heads contain a repeated part at most this many times."""

PatternItem: TypeAlias = tuple[Any, Any]
Head: TypeAlias = tuple[str, bool]
"""A text with which a match may begin, and whether it is the whole match."""

_REPEATS = (tokens.MAX_REPEAT, tokens.MIN_REPEAT)
_CHARACTERS = (tokens.LITERAL, tokens.NOT_LITERAL, tokens.IN, tokens.ANY)
_START = (tokens.AT_BEGINNING, tokens.AT_BEGINNING_STRING)
_END = (tokens.AT_END, tokens.AT_END_STRING)
_USUAL_FLAGS = 16 | 32
"""The flags DOTALL (``.`` matches any character) and UNICODE."""

_CATEGORIES: dict[Any, tuple[Callable[[str], bool], bool]] = {
    tokens.CATEGORY_DIGIT: (str.isdecimal, True),
    tokens.CATEGORY_NOT_DIGIT: (str.isdecimal, False),
    tokens.CATEGORY_SPACE: (str.isspace, True),
    tokens.CATEGORY_NOT_SPACE: (str.isspace, False),
    tokens.CATEGORY_WORD: (lambda each: each.isalnum() or each == "_", True),
    tokens.CATEGORY_NOT_WORD: (lambda each: each.isalnum() or each == "_", False),
}


class StrangerError(ValueError):
    """The pattern is refused; the message says why."""


@define(eq=False)
class _Step:
    """One step of a pattern. ``fits``: tests the character that the step reads; None if
    it reads no character.

    ``ways``: the steps that may come next, in order. ``group``: the name of a group,
    and 0 if the group begins here, 1 if it ends here. ``runs``: an unbounded repeat
    begins here. ``in_run``: the step is inside an unbounded repeat. ``is_match``: the
    match is complete here.
    """

    fits: Callable[[str], bool] | None = None
    ways: list[_Step] = field(factory=list)
    group: tuple[str, int] | None = None
    runs: bool = False
    in_run: bool = False
    is_match: bool = False


_Groups: TypeAlias = "dict[tuple[str, int], int]"
_Thread: TypeAlias = "tuple[_Step, _Groups, int]"
"""One way to match the text: the current step, where groups began and ended so far, and
how many more code points the unbounded repeat around the step may match."""


def parsed(source: str) -> tuple[list[PatternItem], dict[int, str]]:
    """The items of the pattern ``source``, and the names of its groups by number.
    Raises StrangerError if it is no pattern or has flags."""
    try:
        tree = patterns.parse(source)
    except (ValueError, OverflowError, RecursionError) as reason:
        raise StrangerError(f"is no pattern: {reason}") from None
    if tree.state.flags & ~_USUAL_FLAGS:
        raise StrangerError("has flags, which are not read")
    names = {number: name for name, number in tree.state.groupdict.items()}
    return list(tree), names


_REFUSED = {
    tokens.GROUPREF: "has a reference to a group",
    tokens.GROUPREF_EXISTS: "has a reference to a group",
    tokens.ASSERT: "looks around",
    tokens.ASSERT_NOT: "looks around",
    tokens.AT: "has a place in its middle",
}


class StrangerPattern:
    """A pattern, or a part of a pattern, made from the items that `parsed` returns.

    ``starts``: the pattern also matches the text's start, without a character (``^``).
    ``is_literal``: a match is always exactly one of the ``heads``. ``trimmed``: white
    space at the pattern's start and optional white space at its end are not matched.
    """

    def __init__(
        self, items: list[PatternItem], names: dict[int, str], *, trimmed: bool = False
    ) -> None:
        self._names, self._count = names, 0
        self.groups: set[str] = set()
        ways = [tuple(_trimmed(way) if trimmed else way) for way in _ways(items)]
        self.starts = any(map(_is_start, ways))
        ways = [way for way in ways if way and not _is_place(way)]
        match = self._step(is_match=True)
        firsts = [self._sequence(way, match, run=False) for way in ways]
        self._first_step = self._step(ways=firsts)
        heads_found = [head for way in ways for head in _heads(way)]
        if not all(text for text, _ in heads_found):
            raise StrangerError("must begin with a literal")
        self.heads = tuple(dict.fromkeys(text for text, _ in heads_found))
        self.is_literal = all(is_whole for _, is_whole in heads_found)

    def _step(self, **fields: Any) -> _Step:
        self._count += 1
        if self._count > MOST_STEPS:
            raise StrangerError("is too long")
        return _Step(**fields)

    def _sequence(self, items: Any, follow: _Step, *, run: bool) -> _Step:
        """The first step of ``items``; the last one leads to ``follow``."""
        for code, argument in reversed(list(items)):
            follow = self._item(code, argument, follow, run=run)
        return follow

    def _item(self, code: Any, argument: Any, follow: _Step, *, run: bool) -> _Step:
        if code in _CHARACTERS:
            return self._step(fits=fits(code, argument), ways=[follow], in_run=run)
        if code is tokens.SUBPATTERN:
            return self._group(argument, follow, run=run)
        if code is tokens.BRANCH:
            ways = [self._sequence(way, follow, run=run) for way in argument[1]]
            return self._step(ways=ways)
        if code in _REPEATS:
            return self._repeat(code, argument, follow, run=run)
        if code is tokens.AT and argument in _START:
            return follow  # it begins where the region does
        raise StrangerError(_REFUSED.get(code, f"has {str(code).lower()}"))

    def _group(self, argument: Any, follow: _Step, *, run: bool) -> _Step:
        number, added, removed, body = argument
        if added or removed:
            raise StrangerError("has flags, which are not read")
        name = self._names.get(number)
        if name is None:
            return self._sequence(body, follow, run=run)
        self.groups.add(name)
        end = self._step(group=(name, 1), ways=[follow])
        inner = self._sequence(body, end, run=run)
        return self._step(group=(name, 0), ways=[inner])

    def _repeat(self, code: Any, argument: Any, follow: _Step, *, run: bool) -> _Step:
        minimum, maximum, body = argument

        def choice(inner: _Step) -> list[_Step]:
            return [inner, follow] if code is tokens.MAX_REPEAT else [follow, inner]

        if minimum > MOST_STEPS or (MOST_STEPS < maximum < tokens.MAXREPEAT):
            raise StrangerError("is too long")
        if maximum is tokens.MAXREPEAT:
            if run:
                raise StrangerError("has an unbounded repeat in another one")
            loop = self._step()
            loop.ways = choice(self._sequence(body, loop, run=True))
            first_step = self._step(ways=[loop], runs=True)
        else:
            first_step = follow
            for _ in range(maximum - minimum):
                inner = self._sequence(body, first_step, run=run)
                first_step = self._step(ways=choice(inner))
        for _ in range(minimum):
            first_step = self._sequence(body, first_step, run=run)
        return first_step

    def read(self, cursor: Cursor) -> Reading[dict[str, str]]:
        """Reads the pattern's match at this place and returns its groups by name.
        Raises MismatchError or EndedError if the pattern does not match."""
        match: tuple[int, _Groups] | None = None
        threads, size = _closure([(self._first_step, {}, 0)], 0), 0
        while True:
            for place, (step, groups, _) in enumerate(threads):
                if step.is_match:
                    match, threads = (size, groups), threads[:place]
                    break
            index = cursor.index + size
            if not threads or (index == len(cursor.text) and cursor.final):
                break
            if index == len(cursor.text):
                yield
                continue
            size += 1
            threads = _advanced(threads, cursor.text[index], size)
        if match is None:
            raise EndedError if threads else cursor.mismatch(size)
        end, groups = match
        if threads or size > end:
            cursor.note_failed(size + bool(threads))
        text = cursor.text[cursor.index : cursor.index + end]
        cursor.index += end
        names = (name for name, side in groups if side)
        return {name: text[groups[name, 0] : groups[name, 1]] for name in names}


def _advanced(threads: list[_Thread], character: str, size: int) -> list[_Thread]:
    """The threads that can read ``character``, each continued after this character."""
    advanced = [
        (step.ways[0], groups, steps_left - step.in_run)
        for step, groups, steps_left in threads
        if step.fits is not None and steps_left >= step.in_run and step.fits(character)
    ]
    return _closure(advanced, size)


def _closure(threads: list[_Thread], size: int) -> list[_Thread]:
    """The threads, in order, after all steps that read nothing."""
    reached: list[_Thread] = []
    steps_seen: set[int] = set()
    stack = threads[::-1]
    while stack:
        step, groups, steps_left = stack.pop()
        if id(step) in steps_seen:
            continue
        steps_seen.add(id(step))
        if step.fits is not None or step.is_match:
            reached.append((step, groups, steps_left))
            continue
        if step.group is not None:
            groups = {**groups, step.group: size}
        steps_left = LONGEST_RUN if step.runs else steps_left
        stack += [(way, groups, steps_left) for way in reversed(step.ways)]
    return reached


# The parts of a pattern


def _ways(items: Any) -> Iterator[list[PatternItem]]:
    """The branches of ``items`` if they are one alternation; else only ``items``."""
    item_list = list(items)
    if len(item_list) == 1 and item_list[0][0] is tokens.BRANCH:
        for way in item_list[0][1][1]:
            yield from _ways(way)
    else:
        yield item_list


def _is_place(way: tuple[PatternItem, ...]) -> bool:
    """Whether ``way`` consists of ``^``, ``$`` and the like only."""
    return all(code is tokens.AT and place in (*_START, *_END) for code, place in way)


def _is_start(way: tuple[PatternItem, ...]) -> bool:
    return bool(way) and _is_place(way) and way[0][1] in _START


def _trimmed(way: list[PatternItem]) -> list[PatternItem]:
    while way and may_lack(way[-1]) and fits(*way[-1][1][2][0])("\n"):
        way = way[:-1]
    while len(way) > 1 and _is_space(*way[0]):
        way = way[1:]
    return way


def _is_space(code: Any, argument: Any) -> bool:
    """Whether the item matches only characters of white space."""
    if code in _REPEATS and len(argument[2]) == 1:
        code, argument = argument[2][0]
    space = code in _CHARACTERS and any(map(fits(code, argument), "\n "))
    return space and not fits(code, argument)("<")


def may_lack(item: PatternItem) -> bool:
    r"""Whether the item is an optional character class, such as ``\s*``."""
    code, argument = item
    if code not in _REPEATS or argument[0] or len(argument[2]) != 1:
        return False
    inner = argument[2][0]
    if inner[0] not in _CHARACTERS:
        return False
    return argument[1] != 1 or not all(text for text, _ in _heads_of(inner, lead=False))


def _heads(items: Any, *, lead: bool = True) -> list[Head]:
    """The texts with which a match begins. ``lead``: ``items`` begin the pattern."""
    heads: list[Head] = [("", True)]
    for item in items:
        longer: list[Head] = []
        for text, is_open in heads:
            is_lead = lead and not text
            if not is_open or (is_lead and may_lack(item)):
                longer.append((text, is_open))
            else:
                tails = _heads_of(item, lead=is_lead)
                longer += [(text + tail, is_whole) for tail, is_whole in tails]
        if len(longer) > _MOST_HEADS and all(text for text, _ in heads):
            return [(text, False) for text, _ in heads]  # shorter heads are enough
        if len(longer) > _MOST_HEADS:
            raise StrangerError("begins in too many ways")
        heads = longer
    return list(dict.fromkeys(heads))


def _heads_of(item: PatternItem, *, lead: bool) -> list[Head]:
    code, argument = item
    if code is tokens.LITERAL:
        return [(chr(argument), True)]
    listed = code is tokens.IN and len(argument) <= _MOST_CHARACTERS
    if listed and all(each is tokens.LITERAL for each, _ in argument):
        return [(chr(value), True) for _, value in argument]
    if code is tokens.SUBPATTERN:
        return _heads(argument[3], lead=lead)
    if code is tokens.BRANCH:
        return [head for way in argument[1] for head in _heads(way, lead=lead)]
    if code in _REPEATS:
        minimum, maximum, body = argument
        times = min(minimum, _MOST_TIMES)
        heads = _heads(list(body) * times, lead=lead)
        if (minimum, maximum) == (0, 1):
            return [*_heads(body, lead=lead), ("", True)]
        whole = times == minimum == maximum
        return [(text, is_whole and whole) for text, is_whole in heads]
    return [("", code is tokens.AT and argument in _START)]


def fits(code: Any, argument: Any) -> Callable[[str], bool]:
    """A function that tests whether the item matches a character."""
    if code is tokens.ANY:
        return lambda _: True
    if code is tokens.LITERAL:
        return chr(argument).__eq__
    if code is tokens.NOT_LITERAL:
        return chr(argument).__ne__
    tests = [_member(*part) for part in argument if part[0] is not tokens.NEGATE]
    negated = argument[0][0] is tokens.NEGATE
    return lambda part: any(test(part) for test in tests) is not negated


def _member(code: Any, argument: Any) -> Callable[[str], bool]:
    """A test whether one part of a character class has a character."""
    if code is tokens.LITERAL:
        return chr(argument).__eq__
    if code is tokens.RANGE:
        low, high = argument
        return lambda character: low <= ord(character) <= high
    test, expected = _CATEGORIES[argument]
    return lambda character: test(character) is expected
