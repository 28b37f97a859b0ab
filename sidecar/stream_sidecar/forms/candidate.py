"""A candidate: text that may be a form, read by all forms that begin with its opener.

`Candidate.push` reads text and returns a verdict: None while undecided, `Taken` once a
form is complete, `Failed` at the first character after which no form can continue (text
rule 11.7). The form that is complete first wins; of several that are complete at the
same character, the first in the dialect's table wins. So forms are read in turn: a form
waits while a form before it is read and none of the literals that it needs has come
(see `Form`). A candidate keeps its text; time and memory are linear in its length.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.forms.call_bodies import ARGUMENT_KEYS, placed, properties
from stream_sidecar.forms.definitions import can_be_called, has_placeholder, is_schema
from stream_sidecar.forms.form import TornError
from stream_sidecar.forms.grammar import (
    Cursor,
    EndedError,
    MismatchError,
    OpenEndError,
    literals,
)
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.forms.resolving import resolved
from stream_sidecar.records import evolve, frozen
from stream_sidecar.values.crowd import is_crowd

if TYPE_CHECKING:
    import re

    from stream_sidecar.forms.form import Dialect, Form, Found, Tier, WrittenCall
    from stream_sidecar.forms.grammar import Context
    from stream_sidecar.forms.literals import Literals

_LINE_CONTINUES = patterns.compile(r"[ \t\r]++[^\s<\[]")
"""Matches words after a call on its line: then the call is in a sentence."""

NAMESPACES = ("default_api.", "default_api:")
"""Gemini's own prefixes of declared tools. No other model writes them."""


@frozen(eq=False)
class Opening:
    """A form that may begin with ``opener``. ``named``: the host named it."""

    dialect: Dialect
    form: Form
    opener: str
    named: bool


@frozen
class Taken:
    """The verdict that the candidate's first ``end`` code points are a form.

    ``calls``: the calls of a CALL. ``content``: as in `Found`. ``raw``: the form's
    text, if it stays in the channel (policy ``report``). ``waits``: the text after the
    form decides whether the form is text. This is so for a call without a marker, a
    result at the answer's start and a stop token. ``lacks``: the form's closers are
    missing. ``spoiled``: the members of the form's list that are no calls.
    """

    opening: Opening
    kind: PieceKind
    end: int
    calls: tuple[WrittenCall, ...] = ()
    content: Any = None
    raw: str = ""
    waits: bool = False
    lacks: bool = False
    spoiled: tuple[str, ...] = ()


@frozen
class Failed:
    """The verdict that no form can continue after ``position``: the text is no form.

    ``openings``: the forms that were tried. ``code``: the code of the diagnostic to
    send; "" for none. ``full``: the candidate reached the hold limit.
    """

    position: int
    openings: tuple[Opening, ...]
    code: str = ""
    full: bool = False

    @cached_property
    def closers(self) -> frozenset[str]:
        """The closers of the forms, which are text because their opener is."""
        forms = [opening.form for opening in self.openings]
        pending = (
            closer
            for form in forms
            for closer in (*form.closers, *form.pending_closers)
        )
        return frozenset(pending)

    @property
    def quiet(self) -> bool:
        """Whether there is no diagnostic to send and no closer pending."""
        return not (self.code or self.full or self.closers)


Tried: TypeAlias = "tuple[str, Failed]"
"""The text that a failed candidate read, and the verdict. It is kept only if all
openings of the candidate have the same ``about``."""

_Best: TypeAlias = "tuple[int, Taken]"
"""The position where a form is complete, and the form."""

_LONGEST = 64
"""A failed candidate's verdict is kept if it read at most so many code points."""


class Room(Protocol):
    """A function that returns how many code points may be held. A result below ``size``
    is exact. ``calls``: asks for the limit of calls."""

    def __call__(self, size: int, /, *, calls: bool) -> int: ...


class Candidate:
    """Text from an opener on that may be a form.

    - ``start``: the position of the opener in the channel.
    - ``openings``: the forms that may begin there.
    - ``size``: the number of code points so far.
    - ``inside``: the candidate is in reasoning.
    - ``called``: a call follows the candidate. So a form of tier A that breaks off here
      is the border of that call.
    - ``known``: the text and the verdict of the last failed candidate. A candidate with
      the same openings and the same text gets this verdict without being read.
    - ``halves``: if the text ends inside the candidate, it may be given up in favour of
      a form inside it. ``halved``: this has happened.
    """

    def __init__(
        self,
        start: int,
        openings: tuple[Opening, ...],
        context: Context,
        known: Tried | None = None,
        *,
        inside: bool = False,
    ) -> None:
        self.start = start
        self.openings = openings
        self.context = context
        self.size = 0
        self.called = False
        self.inside = inside
        self.known = known
        self._pieces: list[str] = []
        is_repeated = known is not None and not inside and known[1].openings == openings
        self._expected = known if is_repeated else None
        self._readers: list[_Reader] = []
        self._waiting, self._needed = _in_turn(openings)
        self._fed = 0
        self._end = ""  # the last characters that were fed
        self._failed_at = 0
        self._full = False
        self._code = ""
        self._lacking: Taken | None = None
        self.halves = self.halved = False

    @property
    def raw(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0]

    @property
    def may_be_call(self) -> bool:
        if self._expected is not None:
            return self.openings[0].form.may_be_call
        open_forms = (*(opening.opening for opening in self._readers), *self._waiting)
        return any(opening.form.may_be_call for opening in open_forms)

    @property
    def stays(self) -> tuple[re.Pattern[str], ...]:
        """Patterns: text that all of them match in full does not lead to a verdict, so
        it may be read later. () if any text may lead to one."""
        stay_patterns = {reader.cursor.stays for reader in self._readers}
        if self._waiting and self._needed is not None:
            is_cut = self._needed.certain(self._end) < len(self._end)
            stay_patterns.add(None if is_cut else self._needed.others)
        kinds = {reader.is_call for reader in self._readers}
        if None in stay_patterns or len(kinds) != 1:
            return ()
        return tuple(filter(None, stay_patterns))

    def push(self, text: str, room: Room, *, final: bool) -> Taken | Failed | None:
        """Reads the next ``text`` and returns the verdict; None if more text is needed.
        ``room``: how much may be held; calls have their own limit. ``final``: no more
        text comes."""
        self._pieces.append(text)
        self.size += len(text)
        if self._expected is None:
            return self._read(text, room, final=final)
        known_text, failed = self._expected
        raw = self.raw
        continues = len(raw) < len(known_text) and known_text.startswith(raw)
        # this text failed here before: it is compared, and read only if it differs
        is_same = not final and (continues or raw.startswith(known_text))
        if is_same and self.size <= room(self.size, calls=self.may_be_call):
            return None if continues else failed
        self._expected = None
        if text_before := self.raw[: self.size - len(text)]:
            self._read(text_before, _unlimited, final=False)
        return self._read(text, room, final=final)

    def _read(self, text: str, room: Room, *, final: bool) -> Taken | Failed | None:
        """Passes ``text`` to all readers that are left; the verdict, if any."""
        best: _Best | None = None
        recent = self._end + text if self._fed else text[1:]
        best = self._feed(self._readers, text, room, best, final=final)
        while woken := self._wake(best, recent):
            if self._fed:
                text_before = self.raw[: self._fed]
                best = self._feed(woken, text_before, _unlimited, best, final=False)
            best = self._feed(woken, text, room, best, final=final)
            self._readers += woken
        self._fed += len(text)
        if self._needed is not None:
            self._end = recent[-self._needed.longest :]
        if best is not None:
            return best[1]
        if self._readers:
            return None
        if self._lacking is not None:
            return self._lacking
        failed = Failed(self._failed_at, self.openings, self._code, self._full)
        kinds = {opening.form.about for opening in self.openings}
        is_reusable = not (final or self.inside or self._full) and len(kinds) == 1
        if is_reusable and failed.position <= _LONGEST:
            self.known = self.raw[: failed.position], failed
        return failed

    def _feed(
        self,
        readers: list[_Reader],
        text: str,
        room: Room,
        best: _Best | None,
        *,
        final: bool,
    ) -> _Best | None:
        """Passes ``text`` to ``readers``, and drops those that end. Returns the form
        that is complete first, with its end: ``best`` or one of ``readers``."""
        limits: dict[bool, int] = {}
        for reader in readers.copy():
            try:
                if (calls := reader.is_call) not in limits:
                    limits[calls] = room(self.size, calls=calls)
                found = reader.feed(text, limits[calls], final=final)
                if found is None:
                    continue
                is_later = best is not None and reader.position >= best[0]
                verdict = None if is_later else self._accept(reader, found)
            except (MismatchError, EndedError) as reason:
                verdict = self._fail(reader, reason)
            if verdict is not None and (best is None or reader.position < best[0]):
                best = reader.position, verdict
            readers.remove(reader)
        return best

    def _wake(self, best: _Best | None, recent: str) -> list[_Reader]:
        """Begins to read forms that waited: the next one if no form is being read, all
        of them if another one may be complete. ``best``: the form that is complete,
        with its end; only a form that is complete before it matters. ``recent``: the
        text in which a literal that the forms need may have come."""
        waiting, needed = self._waiting, self._needed
        span = (recent,) if best is None else (self.raw, 1, best[0] - 1)
        if needed and best is None and not self._readers:
            count = 1
        elif needed is None or (waiting and needed.any.search(*span)):
            count = len(waiting)
        else:
            count = 0
        woken, self._waiting = waiting[:count], waiting[count:]
        return [
            _Reader(opening, Cursor(opening.opener, self.context, inside=self.inside))
            for opening in woken
        ]

    def _accept(self, reader: _Reader, found: Found) -> Taken | None:
        """The verdict on ``found``, the form that ``reader`` has read. None: it is no
        form after all, because it cannot be read or its tier does not allow it."""
        opening, end = reader.opening, reader.position
        raw, content = self.raw[:end], found.content
        try:
            if found.read is not None:
                content = found.read(raw)
        except ValueError as reason:
            if isinstance(reason, TornError) and self.halves:
                self.halved, end = True, reason.position
            self._refuse(end, "malformed-tool-text" if reader.serious else "")
            return None
        if found.kind is PieceKind.CALL:
            return self._accept_calls(opening, tuple(content), raw)
        if found.kind is PieceKind.RESULT and content is None:
            return Taken(opening, PieceKind.MARK, end)
        result = found.kind is PieceKind.RESULT
        places = ("start",) if result else ("end", "sentence-end")
        waits = opening.form.place in places or opening.form.waits
        return Taken(opening, found.kind, end, content=content, waits=waits)

    def _accept_calls(
        self, opening: Opening, calls: tuple[WrittenCall, ...], raw: str
    ) -> Taken | None:
        tier, end = opening.form.tier, len(raw)
        spoiled = tuple(call.spoiled for call in calls if call.spoiled)
        calls = tuple(self._resolve(call, tier) for call in calls if not call.spoiled)
        if not calls:  # tools are declared, not called
            return Taken(opening, PieceKind.MARK, end)
        is_readable = tier == "A" or not any(call.unclear for call in calls)
        is_readable = is_readable and all(map(self._is_call, calls))
        if is_crowd(len(calls), end) or not is_readable:
            # arguments that are there, and are no object: a call was meant
            is_meant = tier != "C" or any(call.unclear and call.key for call in calls)
            self._refuse(end, "malformed-tool-text" if is_meant else "")
            return None
        if self._allowed(calls, tier, raw):
            complete = opening, PieceKind.CALL, end, calls
            return Taken(*complete, waits=tier == "C", spoiled=spoiled)
        self._refuse(end, "undeclared-tool-text" if tier == "B" else "")
        return None

    def _resolve(self, call: WrittenCall, tier: Tier) -> WrittenCall:
        """``call`` with its tool's declared name and the arguments beside it."""
        tools = self.context.tools or ()
        call_resolved = resolved(call, tools, undeclared=tier == "A")
        return placed(call_resolved, self.context, tier)

    def _is_named(self, call: WrittenCall) -> bool:
        return can_be_called(call.name, self.context.tools or ())

    def _is_call(self, call: WrittenCall) -> bool:
        """Whether ``call`` is no definition or placeholder (text rule 11.14)."""
        if not self._is_named(call):
            return False
        parameters = properties(call.name, self.context)
        return not (has_placeholder(call) or is_schema(call, parameters))

    def _allowed(self, calls: tuple[WrittenCall, ...], tier: Tier, raw: str) -> bool:
        """Whether tier and declared tools allow them (text rules 11.2, 11.4)."""
        tools = self.context.tools
        if tier == "A":
            return True
        if tools is None:
            is_likely = _has_parameter(calls, raw) or _has_namespace(raw)
            return tier == "B" and is_likely
        if all(call.name in tools for call in calls):
            return True
        return tier == "B" and _has_namespace(raw)

    def _fail(
        self, reader: _Reader, reason: MismatchError | EndedError
    ) -> Taken | None:
        """Gives up a reader whose form cannot continue, or whose text ended within the
        form (text rule 11.7). Returns the truncated call if the reader has read one."""
        position = self.size + 1  # the text ended
        if isinstance(reason, MismatchError):
            self._full = self._full or isinstance(reason, FullError)
            position = max(reason.position, reader.cursor.furthest)
        if self._may_lack(reader, ended=position > self.size):
            return None
        border = isinstance(reason, OpenEndError) and self._next_opener(reader)
        end = border.start() if border else self.size
        is_cut = position > self.size and reader.opening.form.tier == "A"
        if is_cut and (cut_call := self._cut_off(reader, end)) is not None:
            return cut_call
        position = border.end() - 1 if border else position  # it begins an opener
        position = min(position, self.size)
        self._refuse(position, "malformed-tool-text" if reader.serious else "")
        return None

    def _may_lack(self, reader: _Reader, *, ended: bool) -> bool:
        """Whether the form of ``reader`` is a call that lacks only its closers, because
        its body closed itself (text rule 11.19). If so, keeps this call, which becomes
        the verdict if no other form is complete. ``ended``: the text ended inside the
        form."""
        if reader.cursor.closed_body is None or (ended and not self.halves):
            return False
        end, read = reader.cursor.closed_body
        opening, raw = reader.opening, self.raw
        if opening.form.tier != "A" and (
            self.context.tools is None or _LINE_CONTINUES.match(raw, end)
        ):
            return False
        if ended and _begins_closer(raw[end:], opening.form):
            end = self.size
        verdict: Taken | None = None
        with suppress(ValueError):
            verdict = self._accept_calls(opening, tuple(read(raw[:end])), raw[:end])
        if verdict is not None:
            self.halved |= ended
            self._lacking = self._lacking or evolve(verdict, lacks=True)
        return verdict is not None

    def _next_opener(self, reader: _Reader) -> re.Match[str] | None:
        """Where a call begins in the value that the text's end cut off. None: there is
        none, or no call may be given up."""
        (start, calls), form = reader.cursor.part, reader.opening.form
        if not (self.halves and calls):
            return None
        wrappers = (opener for opener in form.openers if opener.endswith(">"))
        match = literals(*sorted(calls), *wrappers).any.search(self.raw, start)
        self.halved |= match is not None
        return match

    def _cut_off(self, reader: _Reader, end: int) -> Taken | None:
        """The verdict on an unfinished form of tier A: at ``end`` the text ended, or
        another form began (text rule 11.3).

        With a complete name, the form is a truncated call. Otherwise it is text (None),
        unless a call follows it: then it is the border of that call.
        """
        calls: tuple[WrittenCall, ...] = ()
        if reader.cursor.partial is not None:
            with suppress(ValueError):  # the part before ``end`` is no call
                part_calls = reader.cursor.partial(self.raw[:end])
                calls = tuple(call for call in part_calls if self._is_named(call))
        if not calls or is_crowd(len(calls), end):
            border = Taken(reader.opening, PieceKind.MARK, end)
            return border if self.called else None
        whole_calls = (self._resolve(call, "A") for call in calls[:-1])
        calls = (*whole_calls, evolve(calls[-1], cut=True))
        return Taken(reader.opening, PieceKind.CALL, end, calls)

    def _refuse(self, position: int, code: str) -> None:
        """Notes that a form is text up to ``position`` (text rule 11.5). The ``code``
        of the form that was read furthest is the candidate's."""
        if position > self._failed_at:
            self._failed_at, self._code = position, code
        elif position == self._failed_at:
            self._code = self._code or code


def _begins_closer(text: str, form: Form) -> bool:
    """Whether ``text`` is the beginning of one of the form's closers."""
    start = text.strip()
    return bool(start) and any(closer.startswith(start) for closer in form.closers)


def _unlimited(size: int, /, *, calls: bool) -> int:
    """A `Room` without a limit, for text that was within the limit before."""
    return size


def _has_parameter(calls: tuple[WrittenCall, ...], raw: str) -> bool:
    """Whether a call has arguments, or a key for them: else it may be XML or code."""
    has_arguments = any(call.arguments.strip() not in ("", "{}") for call in calls)
    return has_arguments or any(f'"{key}"' in raw for key in ARGUMENT_KEYS)


def _has_namespace(raw: str) -> bool:
    return any(prefix in raw for prefix in NAMESPACES)


@lru_cache(maxsize=256)
def _in_turn(
    openings: tuple[Opening, ...],
) -> tuple[tuple[Opening, ...], Literals | None]:
    """The openings that have to be read, and the literals without which only the first
    of them is complete; None if there are no such literals. Of equal forms, the first
    is enough."""
    first_openings: dict[tuple[Form, str], Opening] = {}
    for opening in openings:
        first_openings.setdefault((opening.form, opening.opener), opening)
    once = tuple(first_openings.values())
    needs = [opening.form.needs for opening in once[1:]]
    kinds = {opening.form.may_be_call for opening in once}
    in_turn = needs and all(needs) and len(kinds) == 1
    return once, literals(*chain.from_iterable(needs)) if in_turn else None


class FullError(MismatchError):
    """The candidate reached the hold limit."""


class _Reader:
    """Reads a candidate's text with the grammar of one form."""

    def __init__(self, opening: Opening, cursor: Cursor) -> None:
        self.opening = opening
        self.is_call = opening.form.may_be_call
        self.cursor = cursor
        self._reading = opening.form.grammar(self.cursor)
        self._began = False
        self._fed = 0

    @property
    def position(self) -> int:
        return self.cursor.position

    @property
    def serious(self) -> bool:
        return self.cursor.serious or not self.opening.form.vague

    def feed(self, text: str, limit: int, *, final: bool) -> Found | None:
        """Reads the next ``text`` and returns what the grammar found; None if it needs
        more text. Reads at most ``limit`` code points in total (text rule 13.2)."""
        cursor = self.cursor
        room = max(limit, len(self.opening.opener), self._fed) - self._fed
        self._fed += len(text)
        full = len(text) > room
        cursor.feed(text[:room] if full else text, final=final and not full)
        if not self._began:
            self._began, cursor.index = True, len(self.opening.opener)
        try:
            next(self._reading)
        except StopIteration as over:
            found: Found = over.value
            return found
        if full:
            raise FullError(self._fed - len(text) + room)
        return None
