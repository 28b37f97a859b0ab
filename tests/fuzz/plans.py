"""What one stream of a soak does: its chunks, and the events that each has to bring.

A `Plan` is made once, with a `Stream` that nobody disturbs; what the process answers
is compared with it, whatever goes on beside it. A close at any place, and for any
reason, is computed when it is asked for.
"""

from __future__ import annotations

import base64
import json
import re
from functools import lru_cache
from random import Random
from typing import Any

from attrs import field, frozen
from open_params import options_of
from strategies import as_read

from fuzz import inputs
from fuzz.fragments import RECORDED
from stream_sidecar.protocol.converter import unstructure
from stream_sidecar.protocol.params import CloseResult
from stream_sidecar.stream.stream import Stream
from stream_sidecar.values.jsontext import encode

LONG = 40
"""Chunks of the longest streams."""


@frozen(eq=False)
class Plan:
    """``params`` of the stream, its ``chunks``, and the ``events`` of each."""

    params: dict[str, Any]
    chunks: list[Any]
    events: list[list[Any]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        stream = Stream(options_of(self.params))
        events = [_as_json(stream.push(chunk)) for chunk in self.chunks]
        object.__setattr__(self, "events", events)

    def closed(self, pushed: int, reason: str) -> dict[str, Any]:
        """What a close after so many chunks gives: events and message."""
        return _closed(self, pushed, reason)


@lru_cache(maxsize=4096)
def _closed(plan: Plan, pushed: int, reason: str) -> dict[str, Any]:
    stream = Stream(options_of(plan.params))
    for chunk in plan.chunks[:pushed]:
        stream.push(chunk)
    events = stream.close(reason)
    result = CloseResult("", events, stream.message(), stream.stats())
    written = without_made_ids(unstructure(result))
    return {"events": written["events"], "message": written["message"]}


_MADE = re.compile(rb'"toolCallId":"[0-9a-f]{9}"')


def without_made_ids(value: Any) -> Any:
    """JSON without the ids that are made of a stream's name, which a plan has not."""
    return json.loads(_MADE.sub(b'"toolCallId":"made"', encode(value)))


def _as_json(events: list[Any]) -> list[Any]:
    found: list[Any] = without_made_ids([unstructure(event) for event in events])
    return found


def plans(seed: int, count: int) -> list[Plan]:
    """Texts, documents and bodies of all wires, cut at random."""
    kinds = (_text, _documents, _body)
    return [
        kinds[number % len(kinds)](Random(f"{seed} {number}"))
        for number in range(count)
    ]


def _text(generator: Random) -> Plan:
    params, text = inputs.written(generator)
    params = {key: params[key] for key in params if key != "limits"}
    while len(text) < 400:
        text += inputs.text_of(generator)
    return Plan(params, as_read(_pieces(generator, text)))


def _documents(generator: Random) -> Plan:
    params, documents = generator.choice(RECORDED)
    params = {key: params[key] for key in params if key != "limits"}
    return Plan(params, as_read(documents[:LONG]))


def _body(generator: Random) -> Plan:
    """A recording as server-sent events, in slices of its bytes."""
    plan = _documents(generator)
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in plan.chunks)
    params = {**plan.params, "framing": "sse", "encoding": "base64"}
    pieces = _pieces(generator, body.encode().decode("latin-1"))
    coded = [base64.b64encode(each.encode("latin-1")).decode() for each in pieces]
    return Plan(params, coded)


def _pieces(generator: Random, text: str) -> list[str]:
    """``text`` in up to `LONG` pieces of any size."""
    count = min(generator.randint(3, LONG), len(text))
    places = sorted({generator.randrange(len(text) + 1) for _ in range(count)})
    edges = zip([0, *places], [*places, len(text)], strict=True)
    return [text[start:end] for start, end in edges]
