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
from stream_sidecar.tools.arguments import ArgumentText, has_no_arguments, same_json
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
        self._open_calls: dict[int, Entry] = {}
        self._by_key: dict[int | str, Entry] = {}
        self._by_id: dict[str, Entry] = {}
        self._by_index: dict[int, Entry] = {}
        self._latest: Entry | None = None
        self._heads: deque[Entry] = deque()  # begun without arguments
        self._has_lost_text = False  # some arguments came that belong to no named call
        self._ended_keys: dict[int | str, OpenCall] = {}
        self._ended_ids: set[str] = set()
        self._ended_calls: set[tuple[str, str, str]] = set()

    def push(self, part: CallPart) -> list[tuple[OpenCall, str]]:
        """Adds a fragment. Returns pairs of a call and the text of its arguments that
        may now be sent as a delta.

        The list is empty while nothing may be sent: before the name is known, and while
        the call may be a repetition. The text is "" if only the call became known. If
        ``part`` is a whole call, the call in the list is ``ended``, and the text is all
        of its arguments.
        """
        text = "" if part.arguments is None else part.arguments
        text = text if isinstance(text, str) else dumps(text)
        if part.key is None:
            entry = self._entry_without_key(part, text)
        else:
            entry = self._entry_of_key(part.key, part, text)
        if entry is None:
            return []
        entry.call.add_facts(part)
        if not part.whole:
            text = entry.text.new_text(text)
        elif entry.earlier is not None and text.endswith(entry.text.text):
            text = entry.text.text  # the whole also repeats the calls before this one
        pairs: list[tuple[OpenCall, str]] = []
        while (size := self._own_size(entry, part, text)) < len(text):
            pairs += self._add_text(entry, text[:size], whole=part.whole, is_end=True)
            entry, text = self._begin_glued(entry), text[size:]
        # A whole call with an id and no arguments waits, because it may come again
        # with arguments (smallcloudai/refact).
        may_repeat = part.key is None and bool(part.id) and not text
        is_end = part.whole and not may_repeat
        return pairs + self._add_text(entry, text, whole=part.whole, is_end=is_end)

    def _own_size(self, entry: Entry, part: CallPart, text: str) -> int:
        """How many code points of ``text`` belong to the call of ``entry``."""
        is_repeated = part.whole and not entry.text.empty
        return len(text) if is_repeated else entry.text.own_size(text)

    def _add_text(
        self, entry: Entry, text: str, *, whole: bool, is_end: bool
    ) -> list[tuple[OpenCall, str]]:
        """Adds ``text`` to a call and returns what may now be sent (see `push`).
        ``whole``: it is all of the arguments. ``is_end``: the call ends with it."""
        delta = self._take_text(entry, whole, text)
        if not is_end:
            return self._pairs_to_send(entry, delta)
        call, unsent = entry.call, delta if entry.is_sent else ""
        if not self._end_call(entry):
            return []
        delta, call.rest = unsent + call.rest, ""
        return [(call, delta)]

    def _begin_glued(self, entry: Entry) -> Entry:
        """Begins a call of the same tool, for the object after these arguments."""
        earlier = entry.call
        if entry.earlier is None:
            message = "Several objects came as the arguments of one call"
            self._report("glued-arguments", message, None)
        self._count += 1
        call = OpenCall(
            name=earlier.name,
            id=self._make_id(f"c{self._count}"),
            id_synthetic=True,
            choice=self._choice,
            type=earlier.type,
            executor=earlier.executor,
            origin=earlier.origin,
        )
        text = ArgumentText(self._limit)
        self._latest = Entry(call, self._count, text, may_repeat=False, earlier=earlier)
        self._latest.inherit_places(entry)
        self._open_calls[self._count] = self._latest
        return self._latest

    def continuing(self, part: CallPart) -> Entry | None:
        """The open call of ``part``, the latest fragment, if each further fragment like
        ``part`` belongs to this call and can be passed on unchanged (unless its text
        ``matters``). Otherwise None."""
        entry = self._find_entry(part)
        may_begin = part.key is None and bool(part.id or part.name)
        is_bare = not (part.whole or may_begin)
        if entry is None or not is_bare or any(entry.next_ids) or not entry.is_sent:
            return None
        return entry if entry.text.continues else None

    def _find_entry(self, part: CallPart | CallEndPart) -> Entry | None:
        """The open call with the part's key; for a part without a key, the call with
        its index, or without an index the latest call. None: there is none."""
        if part.key is not None:
            return self._by_key.get(part.key)
        return self._latest if part.index is None else self._by_index.get(part.index)

    def end(self, part: CallEndPart) -> list[OpenCall]:
        """Ends the calls that the wire ends with ``part``: usually one."""
        entry = self._find_entry(part)
        if entry is None:
            return []
        entry.call.cut = entry.call.cut or part.cut
        entry.call.bare = entry.text.empty
        return [entry.call] if self._end_call(entry) else []

    def finish(self, *, is_over: bool = True) -> list[OpenCall]:
        """Ends the open calls and returns them, in the order in which they began.

        ``is_over``: the stream ends. False at a finish chunk, because some proxies send
        a finish chunk after every chunk (1jehuang/jcode#1326). Then calls whose
        arguments may still come stay open.
        """
        entries = [
            each
            for each in self._open_calls.values()
            if is_over or not each.may_continue
        ]
        self._has_lost_text = self._has_lost_text or any(
            not each.call.name and not each.text.empty for each in entries
        )
        for entry in entries:
            entry.call.bare = entry.text.empty
            entry.call.cut = entry.call.cut or (self._has_lost_text and entry.is_head)
        return [entry.call for entry in entries if self._end_call(entry)]

    @property
    def held(self) -> int:
        """The number of code points of arguments that have not been passed on yet."""
        entries = self._open_calls.values()
        unsent = sum(entry.text.length for entry in entries if not entry.is_sent)
        return unsent + sum(entry.text.waiting for entry in entries)

    def take_reports(self) -> list[DiagnosticPart]:
        """The diagnostics since the last call of this method."""
        reports, self._reports = self._reports, []
        return reports

    def _entry_of_key(self, key: int | str, part: CallPart, text: str) -> Entry | None:
        """The call of ``part``, which has a ``key`` that the wire guarantees to be
        unique. None: the part repeats an ended call, or comes after its end."""
        entry = self._by_key.get(key)
        if entry is not None:
            entry.call.id = entry.call.id or part.id or ""
            return entry
        ended = self._ended_keys.get(key)
        if ended is not None and part.id in (None, "", ended.id):
            if part.name in (None, "", ended.name) and text in ("", ended.arguments):
                return None  # resent, as Groq does with executed_tools
            if not part.name:
                self._report("malformed-chunk", "Arguments after the call's end", text)
                return None
        return self._begin_call(part, key=key)

    def _entry_without_key(self, part: CallPart, text: str) -> Entry | None:
        """The call of ``part``, which has no key (wires/README.md, "Fragments of
        calls"). None: the part says nothing, or repeats a call."""
        entry = self._match_entry(part) or self._match_headless(part, text)
        if entry is None:
            return self._begin_call(part) if part.id or part.name or text else None
        has_id = bool(part.id) and (
            part.id == entry.call.id or self._by_id.get(part.id or "") is entry
        )
        if _is_repetition(entry, part, text, has_id):
            raw = {"id": part.id, "name": part.name, "arguments": text}
            self._report("duplicate-tool-call", "A tool call came twice", raw)
            return None
        at_index = part.index is None or self._by_index.get(part.index) is entry
        if not _belongs(entry, part, text, has_id, at_index):
            return self._begin_call(part, entry.next_ids)
        has_other_id = bool(part.id) and not has_id
        may_be_next = bool(entry.call.name) and (bool(part.name) or has_other_id)
        if may_be_next and not text.strip() and entry.text.complete:
            entry.next_ids = (
                part.id or entry.next_ids[0],
                part.name or entry.next_ids[1],
            )
        else:
            self._enter_places(entry, part)
        return entry

    def _match_entry(self, part: CallPart) -> Entry | None:
        """The open call with the part's id, else its index, else the latest call; None
        if there is no such call."""
        by_index = None if part.index is None else self._by_index.get(part.index)
        if by_index is not None and part.id and by_index.call.id == part.id:
            return by_index  # several calls may have this id
        if part.whole or (part.id and part.id in self._by_id):
            return self._by_id.get(part.id or "")
        return self._latest if part.index is None else by_index

    def _match_headless(self, part: CallPart, text: str) -> Entry | None:
        """The open call of a fragment with a new index, but without id and name; None
        if there is none. Some servers increase the index in the middle of a call, and
        some between the names and the arguments (agno-agi/agno#8879). If the fragment
        begins arguments, it belongs to the first call without arguments."""
        if part.whole or part.id or part.name or not text.strip():
            return None
        if text.lstrip()[0] in "{[":
            return self._first_bare_call()
        latest = self._latest
        return None if latest is None or latest.text.complete else latest

    def _first_bare_call(self) -> Entry | None:
        """The first open call with a name and without arguments, if any."""
        calls = self._heads
        while calls and not (calls[0].is_head and calls[0].number in self._open_calls):
            calls.popleft()
        return calls[0] if calls else None

    def _begin_call(
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
        self._open_calls[entry.number] = entry
        if key is not None:
            entry.enter_at(self._by_key, key)
            return entry
        if call.id:
            entry.enter_at(self._by_id, call.id)
        self._enter_places(entry, part)
        self._first_bare_call()  # drops heads that have ended: the queue stays short
        self._heads.append(entry)
        return entry

    def _enter_places(self, entry: Entry, part: CallPart) -> None:
        """Notes that later fragments like ``part`` belong to ``entry``."""
        if part.id:
            entry.call.id = entry.call.id or part.id
            entry.enter_at(self._by_id, part.id)
        if part.index is not None:
            entry.enter_at(self._by_index, part.index)
        self._latest = entry

    def _take_text(self, entry: Entry, whole: bool, text: str) -> str:
        if not text:
            return ""
        if not whole:
            delta = entry.text.push(text)
        elif entry.text.empty or not has_no_arguments(text):
            delta = self._replace_text(entry, text)
        else:
            delta = ""  # a summary that lost the arguments (mudler/LocalAI#11635)
        self._check_limit(entry)
        return delta

    def _replace_text(self, entry: Entry, text: str) -> str:
        """Replaces fragments by the whole arguments, and returns what is new in them.
        Equal JSON in another spelling is not new; fragments that the whole arguments
        contradict are reported."""
        earlier_text = entry.text.text
        if not text.startswith(earlier_text):
            if same_json(earlier_text, text):
                return ""
            message = "The whole arguments of a call differ from its fragments"
            self._report("malformed-chunk", message, earlier_text)
        return entry.text.replace(text)

    def _pairs_to_send(self, entry: Entry, delta: str) -> list[tuple[OpenCall, str]]:
        call = entry.call
        if entry.is_sent:
            return [(call, delta)] if delta else []
        # a call that may repeat another is shown once its end has decided
        if (
            entry.may_repeat
            or entry.earlier
            or not call.name
            or not (call.id or entry.text.length)
        ):
            return []
        self._mark_sent(entry)
        return [(call, entry.text.text)]

    def _mark_sent(self, entry: Entry) -> None:
        entry.is_sent = True
        if not entry.call.id:
            entry.call.id = self._make_id(f"c{entry.number}")
            entry.call.id_synthetic = True

    def _end_call(self, entry: Entry) -> bool:
        """Ends the call of ``entry``. Returns False if the call is dropped, because it
        is empty or repeats another call."""
        is_stub = not entry.call.name and entry.text.empty and not entry.is_sent
        call, last_text = entry.call, entry.text.close()
        self._check_limit(entry)
        call.arguments = entry.text.text
        entry.leave_places()
        del self._open_calls[entry.number]
        self._latest = None if self._latest is entry else self._latest
        if is_stub:
            if call.id:
                message = "A tool call had neither a name nor arguments"
                self._report("malformed-chunk", message, {"id": call.id})
            return False
        earlier = entry.earlier
        if earlier is not None and same_json(earlier.arguments, call.arguments):
            message = "An object came twice as the arguments of one call"
            self._report("glued-arguments", message, call.arguments)
            return False
        identity = (call.id, call.name, call.arguments)
        if entry.may_repeat and identity in self._ended_calls:
            raw = {"id": call.id, "name": call.name, "arguments": call.arguments}
            self._report("duplicate-tool-call", "A tool call came twice", raw)
            return False
        call.rest = last_text if entry.is_sent else call.arguments
        call.ended = True
        self._mark_sent(entry)
        if not call.id_synthetic:
            self._ended_ids.add(call.id)
            self._ended_calls.add(identity)
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


def _is_repetition(entry: Entry, part: CallPart, text: str, has_id: bool) -> bool:
    """Whether the fragment repeats the whole arguments of ``entry``. ``has_id``: the id
    of the fragment is an id of ``entry``.

    A repetition has the call's id and name (mudler/LocalAI#9722), or neither
    (lidge-jun/opencodex#361). A fragment with a name alone is a second, equal call.
    """
    if part.id and not has_id:
        return False
    if part.name and not (has_id and part.name == entry.call.name):
        return False
    return entry.text.repeats(text)


def _belongs(
    entry: Entry, part: CallPart, text: str, has_id: bool, at_index: bool
) -> bool:
    """Whether the fragment belongs to ``entry``, the call with its id or index.

    ``has_id``: the fragment's id is an id of ``entry``. ``at_index``: the fragment's
    index is that of ``entry``, or the fragment has no index.
    """
    call, has_other_id = entry.call, bool(part.id) and not has_id
    if has_other_id and call.id and part.name:
        return False
    if not (part.name or has_other_id or any(entry.next_ids)):
        return True
    is_complete, is_placeholder = entry.text.complete, entry.text.placeholder
    if part.name and call.name and part.name != call.name:
        return at_index and not (is_complete or is_placeholder or entry.text.empty)
    is_complete = is_complete or (is_placeholder and not has_id)
    return not (is_complete and text.strip())
