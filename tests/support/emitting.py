"""What a recording is when it was emitted on a wire and read there again.

`emitted` gives the documents of a stream or the one of its body, `carried` what of a
message a wire can carry. What it cannot is the list of wires/README.md, "Writers":
``LOST`` is that list as a table.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from attrs import frozen
from checking import Fed
from open_params import options_of

from sidecar.stream.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sidecar.message.message import Message

Params = dict[str, Any]

READER = ("provider", "model", "tools", "policy")
"""Parameters that say how a message is read, on whatever wire."""


@frozen
class Emitted:
    """``read`` is what was emitted, ``again`` what its reader makes of ``chunks``."""

    read: Fed
    chunks: list[Any]
    again: Fed

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
    whole: bool = False,
    close: Params | None = None,
) -> Emitted:
    """Emits ``chunks`` on ``wire`` and reads that again; ``whole``: as one body."""
    stream = Stream(options_of({**params, "emit": {"wire": wire, "claims": claims}}))
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
    written = json.loads(json.dumps(written))
    how = {name: params[name] for name in READER if name in params}
    again = _read({**how, "wire": wire}, written)
    return Emitted(Fed([*events, *last], message, stream.stats()), written, again)


def _read(params: Params, chunks: list[Any]) -> Fed:
    stream = Stream(options_of(params))
    events = [event for chunk in chunks for event in stream.push(chunk)]
    return Fed([*events, *stream.close()], stream.message(), stream.stats())


def _is_replaced(fed: Fed) -> bool:
    """A finished call was another one than its fragments."""
    told: dict[int, str] = {}
    for event in fed.events:
        if event.type == "tool-call-delta":
            told[event.block] = told.get(event.block, "") + event.arguments_delta
    calls = [event for event in fed.events if event.type == "tool-call"]
    return any(told.get(call.block) not in (None, "", call.arguments) for call in calls)


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

AGAIN: Mapping[str, Mapping[str, str]] = {
    "openai-chat": {
        "context-length": "length",
        "pause": "length",
        "malformed": "error",
        "cancelled": "error",
    },
}
"""Finish reasons that have no word of their own on a wire, and what they are there."""


def differences(trip: Emitted, wire: str) -> list[tuple[str, Any, Any]]:
    """What should have been carried and was not: the fact, what it was and is."""
    read, again = _carried(trip.read, wire), _carried(trip.again, wire)
    pairs = [(name, read.get(name), again.get(name)) for name in {**read, **again}]
    return [pair for pair in pairs if pair[1] != pair[2]]


def _carried(fed: Fed, wire: str) -> dict[str, Any]:
    """What of a message its reader can give again behind ``wire``."""
    message = fed.message
    facts = {"usage": _usage(message), "who": _who(message)}
    for each in message.choices or (message,):
        of = f" of {each.choice}"
        facts |= {name + of: value for name, value in _choice(each, wire).items()}
    return facts


def _choice(message: Message, wire: str) -> dict[str, Any]:
    finish = message.finish
    assert finish is not None
    calls = [call for call in message.tool_calls if call.origin == "structured"]
    return {
        "text": message.text,
        "reasoning": message.reasoning,
        "calls": sorted(map(_call, calls)),
        "results": sorted(_results(message)),
        "cited": sorted(map(_cited, message.citations)),
        "error": [(each.kind, each.message) for each in message.errors][-1:],
        "finish": _reason(finish, wire),
    }


def _reason(finish: Any, wire: str) -> str:
    """A word that we do not know is ``stop`` elsewhere."""
    reason = AGAIN[wire].get(finish.reason, finish.reason)
    return "stop" if reason == "unknown" and finish.complete and finish.raw else reason


def _call(call: Any) -> tuple[str, ...]:
    arguments = "" if call.state != "complete" else _plain(call.arguments)
    return call.tool_call_id, call.name, arguments, call.state, call.executor


def _plain(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments))
    except ValueError:
        return arguments


def _results(message: Message) -> list[tuple[str, str]]:
    """Results of the provider's tools whose call is in the message, if they say
    anything."""
    calls = {
        call.tool_call_id for call in message.tool_calls if call.executor == "server"
    }
    return [
        (each.tool_call_id or "", json.dumps(each.content))
        for each in message.tool_results
        if _says(each.content) and each.tool_call_id in calls
    ]


def _says(content: Any) -> bool:
    return any(content.values()) if isinstance(content, dict) else bool(content)


def _cited(citation: Any) -> str:
    return str((citation.url, citation.title, citation.cited_text))


def _usage(message: Message) -> dict[str, int]:
    counts = ("input", "output", "cache_read", "cache_write", "reasoning")
    usage = message.usage
    told = {name: getattr(usage, f"{name}_tokens", None) for name in counts}
    return {name: count for name, count in told.items() if count}


def _who(message: Message) -> str | None:
    """The model; nobody, where an error is all that came."""
    said = message.metadata
    is_error = bool(message.errors) and not message.blocks
    return None if said is None or is_error else said.model
