"""Recordings that are emitted on a wire and read there again.

`emitted` gives the documents of a stream, or the document of its body. `carried` gives
the parts of a message that a wire can represent. wires/README.md, "Writers", lists the
parts that it cannot; ``LOST`` is that list as a table.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from attrs import frozen
from checking import Fed
from open_params import options_of

from stream_sidecar.stream.emission import END
from stream_sidecar.stream.stream import Stream
from stream_sidecar.wires import WIRES as ROWS
from stream_sidecar.wires.anthropic.writer import ERROR_TYPES
from stream_sidecar.wires.gemini.writer import ERROR_STATUSES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.message.message import Message

Params = dict[str, Any]

READER = ("provider", "model", "tools", "policy")
"""Parameters that say how a message is read, on whatever wire."""


@frozen
class Emitted:
    """``read``: the emitted stream; ``again``: the reader's result for ``chunks``."""

    read: Fed
    chunks: list[Any]
    again: Fed
    whole: bool
    wire: str  # that was read

    def is_as_it_came(self, wire: str) -> bool:
        """Whether the documents are the provider's own: nothing leaked."""
        stats = self.read.stats
        removed = stats.delimiters_stripped + stats.tool_results_stripped
        return self.wire == wire and not (removed + stats.tool_calls_from_text)

    @property
    def is_early(self) -> bool:
        """Something was taken back after it had been emitted."""
        return "emitted-before" in codes(self.read) or _is_replaced(self.read)


def emitted(
    params: Params,
    chunks: list[Any],
    wire: str,
    *,
    claims: str = "drop",
    reasoning: str = "include",
    whole: bool = False,
    rewrite: bool = False,
    close: Params | None = None,
) -> Emitted:
    """Emits ``chunks`` on ``wire`` and reads that again; ``whole``: as one body."""
    emit = {"wire": wire, "claims": claims, "reasoning": reasoning, "rewrite": rewrite}
    stream = Stream(options_of({**params, "emit": emit}))
    emission = stream.emission()
    assert emission is not None
    events, written = [], []
    for chunk in chunks:
        fresh = stream.push(chunk)
        events += fresh
        written += [] if whole else emission.push(fresh)
    last = stream.close(**(close or {}))
    message = stream.message()
    if whole:
        written = [emission.body(message, stream.wire)]
    else:
        written += emission.close(last, message)
    written = json.loads(json.dumps([each for each in written if each != END]))
    how = {name: params[name] for name in READER if name in params}
    again = _read({**how, "wire": wire}, written)
    read = Fed([*events, *last], message, stream.stats())
    return Emitted(read, written, again, whole, stream.wire)


def _read(params: Params, chunks: list[Any]) -> Fed:
    """A chunk with the name of its event is read as the server-sent event it was."""
    named = any(_is_named(chunk) for chunk in chunks)
    stream = Stream(options_of({**params, "framing": "sse"} if named else params))
    read = map(_event, chunks) if named else chunks
    events = [event for chunk in read for event in stream.push(chunk)]
    return Fed([*events, *stream.close()], stream.message(), stream.stats())


def _is_named(chunk: Any) -> bool:
    return isinstance(chunk, dict) and {*chunk} == {"event", "data"}


def _event(chunk: Any) -> str:
    if _is_named(chunk):
        return f"event: {chunk['event']}\ndata: {json.dumps(chunk['data'])}\n\n"
    return f"data: {json.dumps(chunk)}\n\n"


def _is_replaced(fed: Fed) -> bool:
    """A finished call was another one than its fragments."""
    fragments: dict[int, str] = {}
    for event in fed.events:
        if event.type == "tool-call-delta":
            fragments[event.block] = (
                fragments.get(event.block, "") + event.arguments_delta
            )
    calls = [event for event in fed.events if event.type == "tool-call"]
    return any(
        fragments.get(call.block) not in (None, "", call.arguments) for call in calls
    )


def codes(fed: Fed) -> set[str]:
    return {event.code for event in fed.events if event.type == "diagnostic"}


def found(fed: Fed) -> dict[str, int]:
    """What a reader found in the text that does not belong there."""
    stats = fed.stats
    counts = {
        "delimiters": stats.delimiters_stripped,
        "results": stats.tool_results_stripped,
        "calls": stats.tool_calls_from_text,
    }
    return {name: count for name, count in counts.items() if count}


# --- What a wire can carry ------------------------------------------------------------


@frozen
class Wire:
    """The parts of a message that a wire cannot have (wires/README.md, "Writers").

    ``reasons``: finish reasons without a word of their own, and what they are there.
    ``kinds``: kinds of errors that it can tell, all if None. ``is_single``: one choice
    only. ``has_free``: calls may have free text as input. ``cites_blocks``: a citation
    is of a block, and once. ``cites_text``: the cited text is told. ``fails_alone``: an
    error has no counts beside it. ``wraps``: a result is an object. ``refuses``: a
    refusal has words. ``has_parts_of_calls``: a call may be cut off. ``hides_cuts``:
    then the finish is another one. ``has_last_counts``: also where a stream broke off.
    ``reports_text``: a result is one.
    """

    reasons: dict[str, str]
    kinds: frozenset[str] | None = None
    is_single: bool = True
    has_free: bool = False
    cites_blocks: bool = False
    cites_text: bool = True
    fails_alone: bool = True
    wraps: bool = False
    refuses: bool = True
    has_parts_of_calls: bool = True
    hides_cuts: bool = False
    has_last_counts: bool = True
    reports_text: bool = False


WIRES: dict[str, Wire] = {
    "openai-chat": Wire(
        {
            "context-length": "length",
            "pause": "length",
            "malformed": "error",
            "cancelled": "error",
        },
        is_single=False,
        has_free=True,
        fails_alone=False,
    ),
    "openai-responses": Wire(
        {
            "context-length": "length",
            "pause": "length",
            "malformed": "error",
        },
        has_free=True,
        cites_blocks=True,
        cites_text=False,
        has_last_counts=False,
        reports_text=True,
    ),
    "anthropic": Wire(
        {"content-filter": "refusal", "malformed": "error", "cancelled": "error"},
        kinds=frozenset(ERROR_TYPES),
        cites_blocks=True,
        hides_cuts=True,
    ),
    "gemini": Wire(
        {
            "context-length": "length",
            "pause": "length",
            "refusal": "content-filter",
            "cancelled": "error",
        },
        kinds=frozenset(ERROR_STATUSES),
        is_single=False,
        cites_text=False,
        wraps=True,
        refuses=False,
        has_parts_of_calls=False,
        hides_cuts=True,
    ),
}


def differences(trip: Emitted, wire: str) -> list[tuple[str, Any, Any]]:
    """What should have been carried and was not: the fact, what it was and is."""
    read, again = _carried(trip, trip.read, wire), _carried(trip, trip.again, wire)
    pairs = [(name, read.get(name), again.get(name)) for name in {**read, **again}]
    return [pair for pair in pairs if pair[1] != pair[2]]


def _carried(trip: Emitted, fed: Fed, wire: str) -> dict[str, Any]:
    """The parts of a message that the reader of ``wire`` can give again."""
    rules, message, facts = WIRES[wire], fed.message, dict[str, Any]()
    is_failed = bool(trip.again.message.errors) and rules.fails_alone
    if is_failed and trip.whole:
        has_errors = bool(trip.read.message.errors)
        return {"error": has_errors and _errors(message, rules)}
    if not is_failed and (rules.has_last_counts or _is_over(message)):
        facts["usage"] = _usage(message, wire)
    if _is_known_early(trip.read):
        facts["who"] = message.metadata and message.metadata.model
    ends = (each.finish for each in trip.read.message.choices or (trip.read.message,))
    is_wordless = any(rules.reasons.get(end.reason) == "error" for end in ends)
    choices = message.choices or (message,)
    for each in choices[:1] if rules.is_single else choices:
        carried = _choice(each, rules)
        if trip.whole and not trip.read.message.finish.complete:
            del carried["finish"]  # a body is always over
        if rules.cites_blocks and not trip.whole:
            del carried["cited"]  # the blocks of late ones are over
        if rules.hides_cuts and _is_spoiled(trip.read):
            carried.pop("finish", None)
        if (is_failed or is_wordless) and not trip.read.message.errors:
            del carried["error"]  # a finish for which there is no word
        facts |= {f"{name} of {each.choice}": value for name, value in carried.items()}
    return facts


def _is_over(message: Message) -> bool:
    finish = message.finish
    return finish.complete and (finish.reason != "unknown" or bool(finish.raw))


def _is_spoiled(fed: Fed) -> bool:
    return any(call.state != "complete" for call in fed.message.tool_calls)


def _choice(message: Message, rules: Wire) -> dict[str, Any]:
    calls = [
        call
        for call in message.tool_calls
        if call.origin == "structured"
        and (rules.has_parts_of_calls or call.state == "complete")
    ]
    return {
        "text": message.text + "".join(_refusals(message)) * rules.refuses,
        "reasoning": message.reasoning,
        "calls": sorted(_call(call, rules) for call in calls),
        "results": sorted(_results(message, rules)),
        "cited": _cited(message, rules),
        "error": _errors(message, rules),
        "finish": _reason(message.finish, rules),
    }


def _reason(finish: Any, rules: Wire) -> str:
    """A word that we do not know is ``stop`` elsewhere."""
    reason = rules.reasons.get(finish.reason, finish.reason)
    return "stop" if reason == "unknown" and finish.complete and finish.raw else reason


def _errors(message: Message, rules: Wire) -> list[tuple[str, str]]:
    failures = (each for each in message.errors if each.provider_type != "refusal")
    return [_error(each, rules) for each in failures][-1:]


def _refusals(message: Message) -> Iterator[str]:
    """What a provider explains is text where a wire has a field for it."""
    refusals = (each for each in message.errors if each.provider_type == "refusal")
    return (each.message for each in refusals)


def _error(error: Any, rules: Wire) -> tuple[str, str]:
    is_known = rules.kinds is None or error.kind in rules.kinds
    kind = error.kind if is_known else "server"
    return kind, error.message


def _call(call: Any, rules: Wire) -> tuple[str, ...]:
    """Of a call that is not whole, that it is not."""
    arguments, is_free = "", call.arguments_format == "text" and not rules.has_free
    if call.state == "complete":
        written = json.dumps({"input": call.arguments}) if is_free else call.arguments
        arguments = _plain(written)
    is_whole = str(call.state == "complete")
    return call.tool_call_id, call.name, arguments, is_whole, call.executor


def _plain(arguments: str) -> str:
    value = _value(arguments)
    return arguments if value is arguments else json.dumps(value)


def _value(text: str) -> Any:
    """The JSON value that a text is, or the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _results(message: Message, rules: Wire) -> list[tuple[str, str]]:
    """Results of the provider's tools whose call is in the message, if they say more
    than how it ended."""
    calls = {
        call.tool_call_id for call in message.tool_calls if call.executor == "server"
    }
    return [
        (each.tool_call_id or "", json.dumps(_wrapped(each.content, rules)))
        for each in message.tool_results
        if _says(each.content) and each.tool_call_id in calls
    ]


def _wrapped(content: Any, rules: Wire) -> Any:
    if rules.reports_text:
        return _plain(content) if isinstance(content, str) else json.dumps(content)
    is_object = isinstance(content, dict)
    return {"result": content} if rules.wraps and not is_object else content


def _says(content: Any) -> bool:
    if isinstance(content, str):
        content = _value(content)
    if isinstance(content, dict):
        return any(content[name] for name in content if name != "status")
    return bool(content)


def _cited(message: Message, rules: Wire) -> list[str]:
    """Where a citation is its block's, it needs one, and equal ones are one."""
    citations = [
        str((each.url, each.title, rules.cites_text and each.cited_text))
        for each in message.citations
        if each.blocks or not rules.cites_blocks
    ]
    return sorted(set(citations))


def _usage(message: Message, wire: str) -> dict[str, int]:
    names = ("input", "output", "cache_read", "cache_write", "reasoning")
    names = tuple(each for each in names if getattr(ROWS[wire].usage, each))
    usage = message.usage
    counts = {name: getattr(usage, f"{name}_tokens", None) or 0 for name in names}
    cached = counts["cache_read"] + counts.get("cache_write", 0)
    counts["input"] = max(counts["input"], cached)  # some report a part as more
    counts["reasoning"] = min(counts["reasoning"], counts["output"])
    return {name: count for name, count in counts.items() if count}


def _is_known_early(fed: Fed) -> bool:
    """The model is known before anything else is said, and something else is."""
    for event in fed.events:
        if event.type == "metadata" and event.model:
            return not (fed.message.errors and not fed.message.blocks)
        if event.type not in ("diagnostic", "usage", "metadata"):
            return False
    return False
