"""From fragments of structured calls to calls.

Each choice has a `CallAssembler`, which gets the `CallPart`s of a wire. A part with a
``key`` belongs to the call with that key. Without a key, neither index nor id is an
identity: both are repeated, left out or late (apache/maka#1995). Then a fragment
belongs to the call with its id, else to the call with its index, else to the latest
call. It starts a new call if it has

- another non-empty id and a name (Ollama: every call has index 0),
- a name, and the arguments of that call are complete (no ids at all; or one id for
  every call, huggingface/text-generation-inference),
- another name, and that call has no arguments yet or another index.

A fragment without id and name that cannot begin arguments continues the latest call,
whatever its index is. A name is set once and never appended to. A call never ends
because its arguments happen to parse (vercel/ai#13137), but another object after them
is another call. Repetitions are recognised and reported.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from stream_sidecar.parts import CallEndPart, CallPart, DiagnosticPart
from stream_sidecar.tools.arguments import ArgumentText, nothing, same_json
from stream_sidecar.tools.call import Entry, OpenCall, clean_name
from stream_sidecar.values.jsontext import dumps

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CallAssembler", "OpenCall"]


class CallAssembler:
    """Joins the call fragments of one choice, by the rules at the top of this module.

    A call keeps at most ``max_call_chars`` code points of arguments. ``make_id`` makes
    an id from a call's number, for a call without an id. `take_reports` returns
    diagnostics; their ``raw`` is what was left out.
    """

    def __init__(
        self, choice: int, max_call_chars: int, make_id: Callable[[str], str]
    ) -> None:
        self._reports: list[DiagnosticPart] = []
        self._choice = choice
        self._limit = max_call_chars
        self._make_id = make_id
        self._count = 0
        self._open: dict[int, Entry] = {}
        self._by_key: dict[int | str, Entry] = {}
        self._by_id: dict[str, Entry] = {}
        self._by_index: dict[int, Entry] = {}
        self._latest: Entry | None = None
        self._heads: deque[Entry] = deque()  # calls that began without arguments
        self._lost = False  # some arguments came that belong to no named call
        self._ended_keys: dict[int | str, OpenCall] = {}
        self._ended_ids: set[str] = set()
        self._ended: set[tuple[str, str, str]] = set()

    def push(self, part: CallPart) -> list[tuple[OpenCall, str]]:
        """Adds a fragment. Returns pairs of a call and the text of its arguments that
        may now be sent as a delta.

        The list is empty while nothing may be sent: before the name is known, and while
        the call may be a repetition. The text is "" if only the call became known. If
        ``part`` is a whole call, the call in the list is ``ended``, and the text is all
        of its arguments.
        """
        text = _text(part)
        if part.key is None:
            entry = self._without_key(part, text)
        else:
            entry = self._keyed(part.key, part, text)
        if entry is None:
            return []
        entry.call.learn(part)
        if not part.whole:
            text = entry.text.news(text)
        elif entry.before is not None and text.endswith(entry.text.text):
            text = entry.text.text  # the whole also repeats the calls before this one
        given: list[tuple[OpenCall, str]] = []
        while (own := self._own(entry, part, text)) < len(text):
            given += self._give(entry, text[:own], whole=part.whole, over=True)
            entry, text = self._glue(entry), text[own:]
        # A whole call with an id and no arguments waits, because it may come again
        # with arguments (smallcloudai/refact).
        waits = part.key is None and bool(part.id) and not text
        over = part.whole and not waits
        return given + self._give(entry, text, whole=part.whole, over=over)

    def _own(self, entry: Entry, part: CallPart, text: str) -> int:
        """How many code points of ``text`` belong to the call of ``entry``."""
        again = part.whole and not entry.text.empty
        return len(text) if again else entry.text.own(text)

    def _give(
        self, entry: Entry, text: str, *, whole: bool, over: bool
    ) -> list[tuple[OpenCall, str]]:
        """Adds ``text`` to a call and returns what may now be sent (see `push`).
        ``whole``: the text is all of the arguments. ``over``: the call ends with it."""
        delta = self._consume(entry, whole, text)
        if not over:
            return self._hand_out(entry, delta)
        call, before = entry.call, delta if entry.shown else ""
        if not self._close(entry):
            return []
        delta, call.rest = before + call.rest, ""
        return [(call, delta)]

    def _glue(self, entry: Entry) -> Entry:
        """Begins a new call of the same tool, for the object that follows the arguments
        of ``entry``."""
        before = entry.call
        if entry.before is None:
            message = "Several objects came as the arguments of one call"
            self._report("glued-arguments", message, None)
        self._count += 1
        call = OpenCall(
            name=before.name,
            id=self._make_id(f"c{self._count}"),
            id_synthetic=True,
            choice=self._choice,
            type=before.type,
            executor=before.executor,
            origin=before.origin,
        )
        text = ArgumentText(self._limit)
        self._latest = Entry(call, self._count, text, resent=False, before=before)
        self._latest.inherit(entry)
        self._open[self._count] = self._latest
        return self._latest

    def continuing(self, part: CallPart) -> Entry | None:
        """The open call of ``part``, the latest fragment, if each further fragment like
        ``part`` belongs to this call and can be passed on unchanged (unless its text
        ``matters``). Otherwise None."""
        entry = self._at(part)
        may_begin = part.key is None and bool(part.id or part.name)
        is_bare = not (part.whole or may_begin)
        if entry is None or not is_bare or any(entry.for_next) or not entry.shown:
            return None
        return entry if entry.text.continues else None

    def _at(self, part: CallPart | CallEndPart) -> Entry | None:
        """The open call with the part's key; for a part without a key, the call with
        its index, or without an index the latest call. None if there is no such
        call."""
        if part.key is not None:
            return self._by_key.get(part.key)
        return self._latest if part.index is None else self._by_index.get(part.index)

    def end(self, part: CallEndPart) -> list[OpenCall]:
        """Ends the calls that the wire ends with ``part``, and returns them: usually
        one."""
        entry = self._at(part)
        if entry is None:
            return []
        entry.call.cut = entry.call.cut or part.cut
        entry.call.bare = entry.text.empty
        return [entry.call] if self._close(entry) else []

    def finish(self, *, is_over: bool = True) -> list[OpenCall]:
        """Ends the open calls and returns them, in the order in which they began.

        ``is_over``: the stream ends. False at a finish chunk, because some proxies send
        a finish chunk after every chunk (1jehuang/jcode#1326). Then calls whose
        arguments may still come stay open.
        """
        entries = [
            each for each in self._open.values() if is_over or not each.may_continue
        ]
        self._lost = self._lost or any(
            not each.call.name and not each.text.empty for each in entries
        )
        for entry in entries:
            entry.call.bare = entry.text.empty
            entry.call.cut = entry.call.cut or (self._lost and entry.is_head)
        return [entry.call for entry in entries if self._close(entry)]

    @property
    def held(self) -> int:
        """The number of code points of arguments that have not been passed on yet."""
        entries = self._open.values()
        unknown = sum(each.text.length for each in entries if not each.shown)
        return unknown + sum(each.text.waiting for each in entries)

    def take_reports(self) -> list[DiagnosticPart]:
        """The diagnostics since the last call of this method."""
        reports, self._reports = self._reports, []
        return reports

    def _keyed(self, key: int | str, part: CallPart, text: str) -> Entry | None:
        """The call of ``part``, which has a ``key`` that the wire guarantees to be
        unique. None: the part repeats an ended call, or comes after its end."""
        entry = self._by_key.get(key)
        if entry is not None:
            entry.call.id = entry.call.id or part.id or ""
            return entry
        done = self._ended_keys.get(key)
        if done is not None and part.id in (None, "", done.id):
            if part.name in (None, "", done.name) and text in ("", done.arguments):
                return None  # resent, as Groq does with executed_tools
            if not part.name:
                self._report("malformed-chunk", "Arguments after the call's end", text)
                return None
        return self._start(part, key=key)

    def _without_key(self, part: CallPart, text: str) -> Entry | None:
        """The call of ``part``, which has no key (wires/README.md, "Fragments of
        calls"). None: the part says nothing, or repeats a call."""
        held = self._matching(part) or self._headless(part, text)
        if held is None:
            return self._start(part) if part.id or part.name or text else None
        known = bool(part.id) and (
            part.id == held.call.id or self._by_id.get(part.id or "") is held
        )
        if _repeats(held, part, text, known):
            raw = {"id": part.id, "name": part.name, "arguments": text}
            self._report("duplicate-tool-call", "A tool call came twice", raw)
            return None
        here = part.index is None or self._by_index.get(part.index) is held
        if not _continues(held, part, text, known, here):
            return self._start(part, held.for_next)
        other = bool(part.id) and not known
        head = bool(held.call.name) and (bool(part.name) or other)
        if head and not text.strip() and held.text.complete:
            held.for_next = (part.id or held.for_next[0], part.name or held.for_next[1])
        else:
            self._place(held, part)
        return held

    def _matching(self, part: CallPart) -> Entry | None:
        """The open call with the part's id, else its index, else the latest call; None
        if there is no such call."""
        by_index = None if part.index is None else self._by_index.get(part.index)
        if by_index is not None and part.id and by_index.call.id == part.id:
            return by_index  # several calls may have this id
        if part.whole or (part.id and part.id in self._by_id):
            return self._by_id.get(part.id or "")
        return self._latest if part.index is None else by_index

    def _headless(self, part: CallPart, text: str) -> Entry | None:
        """The open call of a fragment with a new index, but without id and name; None
        if there is none. Some servers increase the index in the middle of a call, and
        some between the names and the arguments (agno-agi/agno#8879). If the fragment
        begins arguments, it belongs to the first call without arguments."""
        if part.whole or part.id or part.name or not text.strip():
            return None
        if text.lstrip()[0] in "{[":
            return self._first_head()
        latest = self._latest
        return None if latest is None or latest.text.complete else latest

    def _first_head(self) -> Entry | None:
        """The first open call with a name and without arguments; None if there is
        none."""
        heads = self._heads
        while heads and not (heads[0].is_head and heads[0].number in self._open):
            heads.popleft()
        return heads[0] if heads else None

    def _start(
        self,
        part: CallPart,
        inherited: tuple[str, str] = ("", ""),
        key: int | str | None = None,
    ) -> Entry:
        self._count += 1
        call = OpenCall(
            id=part.id or inherited[0],
            name=clean_name(part.name or inherited[1]),
            choice=self._choice,
            key=key,
            format=part.format,
            origin=part.origin,
        )
        text = ArgumentText(self._limit, json=part.format == "json")
        entry = Entry(call, self._count, text, call.id in self._ended_ids)
        self._open[entry.number] = entry
        if key is not None:
            entry.enter_at(self._by_key, key)
            return entry
        if call.id:
            entry.enter_at(self._by_id, call.id)
        self._place(entry, part)
        self._first_head()  # drops heads that have ended: the queue stays short
        self._heads.append(entry)
        return entry

    def _place(self, entry: Entry, part: CallPart) -> None:
        """Notes that later fragments with the id or the index of ``part`` belong to
        ``entry``."""
        if part.id:
            entry.call.id = entry.call.id or part.id
            entry.enter_at(self._by_id, part.id)
        if part.index is not None:
            entry.enter_at(self._by_index, part.index)
        self._latest = entry

    def _consume(self, entry: Entry, whole: bool, text: str) -> str:
        if not text:
            return ""
        if not whole:
            delta = entry.text.push(text)
        elif entry.text.empty or not nothing(text):
            delta = self._replace(entry, text)
        else:
            delta = ""  # a summary that lost the arguments (mudler/LocalAI#11635)
        self._check_limit(entry)
        return delta

    def _replace(self, entry: Entry, text: str) -> str:
        """Replaces fragments by the whole arguments, and returns what is new in them.
        Equal JSON in another spelling is not new; fragments that the whole arguments
        contradict are reported."""
        given = entry.text.text
        if not text.startswith(given):
            if same_json(given, text):
                return ""
            message = "The whole arguments of a call differ from its fragments"
            self._report("malformed-chunk", message, given)
        return entry.text.replace(text)

    def _hand_out(self, entry: Entry, delta: str) -> list[tuple[OpenCall, str]]:
        call = entry.call
        if entry.shown:
            return [(call, delta)] if delta else []
        # a call that may repeat another is shown once its end has decided
        if (
            entry.resent
            or entry.before
            or not call.name
            or not (call.id or entry.text.length)
        ):
            return []
        self._show(entry)
        return [(call, entry.text.text)]

    def _show(self, entry: Entry) -> None:
        entry.shown = True
        if not entry.call.id:
            entry.call.id = self._make_id(f"c{entry.number}")
            entry.call.id_synthetic = True

    def _close(self, entry: Entry) -> bool:
        """Ends the call of ``entry``. Returns False if the call is dropped, because it
        is empty or repeats another call."""
        is_stub = not entry.call.name and entry.text.empty and not entry.shown
        call, tail = entry.call, entry.text.close()
        self._check_limit(entry)
        call.arguments = entry.text.text
        entry.leave()
        del self._open[entry.number]
        self._latest = None if self._latest is entry else self._latest
        if is_stub:
            if call.id:
                message = "A tool call had neither a name nor arguments"
                self._report("malformed-chunk", message, {"id": call.id})
            return False
        before = entry.before
        if before is not None and same_json(before.arguments, call.arguments):
            message = "An object came twice as the arguments of one call"
            self._report("glued-arguments", message, call.arguments)
            return False
        identity = (call.id, call.name, call.arguments)
        if entry.resent and identity in self._ended:
            raw = {"id": call.id, "name": call.name, "arguments": call.arguments}
            self._report("duplicate-tool-call", "A tool call came twice", raw)
            return False
        call.rest = tail if entry.shown else call.arguments
        call.ended = True
        self._show(entry)
        if not call.id_synthetic:
            self._ended_ids.add(call.id)
            self._ended.add(identity)
        if call.key is not None:
            self._ended_keys[call.key] = call
        return True

    def _check_limit(self, entry: Entry) -> None:
        if entry.text.cut:
            entry.call.cut = True
            message = "The arguments of a tool call are longer than maxCallChars"
            self._report("hold-limit", message, entry.text.cut)
            entry.text.cut = ""

    def _report(self, code: str, message: str, raw: Any) -> None:
        part = DiagnosticPart(code, message, raw=raw, choice=self._choice)
        self._reports.append(part)


def _text(part: CallPart) -> str:
    """The arguments of a fragment as text: an object is written as JSON."""
    arguments = part.arguments
    if arguments is None:
        return ""
    return arguments if isinstance(arguments, str) else dumps(arguments)


def _repeats(held: Entry, part: CallPart, text: str, known: bool) -> bool:
    """Whether the fragment repeats the whole arguments of ``held``. ``known``: the id
    of the fragment is an id of ``held``.

    A repetition has the call's id and name (mudler/LocalAI#9722), or neither
    (lidge-jun/opencodex#361). A fragment with a name alone is a second, equal call.
    """
    if part.id and not known:
        return False
    if part.name and not (known and part.name == held.call.name):
        return False
    return held.text.repeats(text)


def _continues(held: Entry, part: CallPart, text: str, known: bool, here: bool) -> bool:
    """Whether the fragment belongs to ``held``, the call with its id or index.

    ``known``: the fragment's id is an id of ``held``. ``here``: the fragment's index is
    that of ``held``, or the fragment has no index.
    """
    call, other = held.call, bool(part.id) and not known
    if other and call.id and part.name:
        return False
    if not (part.name or other or any(held.for_next)):
        return True
    complete, placeholder = held.text.complete, held.text.placeholder
    if part.name and call.name and part.name != call.name:
        return here and not (complete or placeholder or held.text.empty)
    complete = complete or (placeholder and not known)
    return not (complete and text.strip())
