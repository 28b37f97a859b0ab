"""The readable form of events: one line for what is one thing, however it was cut.

Deltas of one block that follow each other are one line, block ends are left out where
they carry nothing. Strings are JSON strings, numbers before ``text`` and ``reasoning``
are block numbers::

    0 text "Answer"
    1 reasoning tag "why"
    2 call get_weather {"city":"Oslo"} complete client executable
    reclassify 0 to reasoning
    diagnostic orphan-reasoning-close "</think>"
    finish stop

Where a block changed its channel or was retracted, two lines follow with the message's
``text`` and ``reasoning``. Lines of another choice than 0 begin with ``choice N``.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from attrs import asdict, evolve, fields, has

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stream_sidecar.events import Event
    from stream_sidecar.message.message import Message

_DELTAS = {"text-delta", "reasoning-delta"}
_MOVES = {"reclassify", "retract"}
_LATE = {"citation": 1, "finish": 2}


def lines(events: Iterable[Event], message: Message) -> list[str]:
    """The lines of a whole stream."""
    events = joined(events)
    written = [_line(event) for event in events]
    if any(event.type in _MOVES for event in events):
        written += [f"message {_of_message(message)}"]
        written += [
            f"message of choice {number} {_of_message(choice)}"
            for number, choice in enumerate(message.choices or ())
            if number
        ]
    return [line for line in written if line]


def _of_message(message: Message) -> str:
    return f"{_json(message.text)} reasoning {_json(message.reasoning)}"


def joined(events: Iterable[Event]) -> list[Event]:
    """``events`` with neighbouring deltas of a block joined, citations at the end.

    A citation is sent when its span is known, which may be in the middle of a text that
    arrived in one delta: its place among the events depends on the cut.
    """
    result: list[Any] = []
    for event in sorted(events, key=lambda event: _LATE.get(event.type, 0)):
        last = result[-1] if result else None
        if event.type in _DELTAS and last is not None and _continues(last, event):
            span = last.span and (last.span[0], event.span[1])
            result[-1] = evolve(last, text=last.text + event.text, span=span)
        else:
            result.append(event)
    return result


def _continues(last: Any, event: Any) -> bool:
    return type(last) is type(event) and last.block == event.block


def _line(event: Any) -> str:
    words = [word for word in _WORDS[event.type](event) if word]
    if not words:
        return ""
    return " ".join([f"choice {event.choice}"] * (event.choice > 0) + words)


def _text(event: Any) -> list[str]:
    return [f"{event.block} text", _json(event.text)]


def _reasoning(event: Any) -> list[str]:
    return [f"{event.block} reasoning {event.source}", _json(event.text)]


def _block_end(event: Any) -> list[str]:
    state = {"signature": event.signature, "opaque": event.opaque}
    known = _known({**state, "rawText": event.raw_text})
    return [f"{event.block} end", *known] if known else []


def _move(event: Any) -> list[str]:
    blocks = ",".join(map(str, event.blocks))
    if event.type == "reclassify":
        return [f"reclassify {blocks} to {event.to}"]
    return [f"retract {blocks} {event.reason}"]


def _call(event: Any) -> list[str]:
    return [
        f"{event.block} call {event.name}",
        _word(event.arguments),
        event.state,
        event.executor,
        "executable" if event.executable else "",
        f"id={event.tool_call_id}" if not event.id_synthetic else "",
        event.origin if event.origin != "structured" else "",
        event.dialect or "",
        event.channel if event.channel != "text" else "",
    ]


def _result(event: Any) -> list[str]:
    named = {"id": event.tool_call_id, "name": event.name, "isError": event.is_error}
    if event.source == "echo":
        named |= {"executed": event.executed, "raw": _json(event.raw)}
    return [
        f"{event.block} result {event.source}",
        _json(event.content),
        *_known(named),
    ]


def _citation(event: Any) -> list[str]:
    place = {"blocks": event.blocks, "start": event.start, "end": event.end}
    what = {"url": event.url, "title": event.title, "citedText": event.cited_text}
    inexact = "" if event.exact else "inexact"
    return [f"citation {event.kind} {event.role}", *_known({**what, **place}), inexact]


def _error(event: Any) -> list[str]:
    known = {
        "code": event.code,
        "providerType": event.provider_type,
        "httpStatus": event.http_status,
        "retryAfterMs": event.retry_after_ms,
    }
    flags = [name for name in ("retryable", "partial") if getattr(event, name)]
    head = f"error {event.kind} {_json(event.message)}"
    return [head, *_known(known), *flags, event.phase]


def _usage(event: Any) -> list[str]:
    counts = {
        field.name.removesuffix("_tokens"): getattr(event, field.name)
        for field in fields(type(event))
        if field.name.endswith("_tokens")
    }
    return ["usage", *_known(counts)]


def _metadata(event: Any) -> list[str]:
    known = asdict(event)
    return ["metadata", *_known({k: known[k] for k in known.keys() - _PLACE})]


def _diagnostic(event: Any) -> list[str]:
    raw = _json(event.raw) if event.raw is not None else ""
    return [f"diagnostic {event.code}", raw]


def _finish(event: Any) -> list[str]:
    return [
        f"finish {event.reason}",
        f"raw={event.raw}" if event.raw is not None else "",
        "empty-answer" if event.empty_answer else "",
        "incomplete" if not event.complete else "",
    ]


def _nothing(_event: Any) -> list[str]:
    return []


_PLACE = {"seq", "choice"}

_WORDS = {
    "metadata": _metadata,
    "text-delta": _text,
    "reasoning-delta": _reasoning,
    "block-end": _block_end,
    "reclassify": _move,
    "retract": _move,
    "tool-call-delta": _nothing,
    "tool-call": _call,
    "tool-result": _result,
    "citation": _citation,
    "error": _error,
    "usage": _usage,
    "diagnostic": _diagnostic,
    "finish": _finish,
}


def _known(values: dict[str, Any]) -> list[str]:
    return [
        f"{name}={_word(value) if isinstance(value, str) else _json(value)}"
        for name, value in sorted(values.items())
        if value is not None
    ]


def _word(text: str) -> str:
    """``text`` as it is where it can be read on one line."""
    return text if text.isprintable() else _json(text)


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode("utf-8", "backslashreplace").decode()  # half characters


def plain(value: Any) -> Any:
    """``value`` as plain data, without what a cut or ``trace`` may change."""
    if names := _names(type(value)):
        named = {name: plain(getattr(value, name)) for name in names}
        return {"type": type(value).__name__, **named}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


@cache
def _names(kind: type) -> tuple[str, ...]:
    """The fields of a class of attrs that count; () of any other class."""
    named = [field.name for field in fields(kind)] if has(kind) else []
    return tuple(name for name in named if name not in ("seq", "span"))
