"""Stored messages, inspected and repaired as over the protocol."""

from __future__ import annotations

import json
from functools import reduce
from typing import Any

from stream_sidecar.history.history import History
from stream_sidecar.history.results import KINDS, Inspection, Repair
from stream_sidecar.options import (
    StreamOptions,
)
from stream_sidecar.values.absent import ABSENT


def assistant(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


def repair(message: Any, *before: Any, **options: Any) -> Repair:
    """The repair of ``message`` in a session in which ``before`` came before it."""
    history = History(StreamOptions(**options))
    for item in before:
        history.repair(item)
    return history.repair(message)


def inspect(message: Any, *before: Any, **options: Any) -> Inspection:
    history = History(StreamOptions(**options))
    for item in before:
        history.inspect(item)
    return history.inspect(message)


def at(value: Any, path: str) -> Any:
    """What a JSON Pointer points to."""
    return reduce(_step, path.split("/")[1:], value)


def _step(value: Any, name: str) -> Any:
    return value[int(name) if isinstance(value, list) else name]


def edited(message: Any, result: Repair) -> Any:
    """``message`` with the edits of its repair applied, by code points and by UTF-16
    units, which must come to the same; without the parts that were dropped."""
    new = json.loads(json.dumps(message))
    for edit in reversed(result.edits):
        *names, last = edit.path.split("/")
        holder = at(new, "/".join(names))
        key = int(last) if isinstance(holder, list) else last
        old = holder[key]
        units = old.encode("utf-16-le", "surrogatepass")
        both = (
            old[: edit.start] + edit.new_text + old[edit.end :],
            (
                units[: 2 * edit.start_utf16]
                + edit.new_text.encode("utf-16-le")
                + units[2 * edit.end_utf16 :]
            ).decode("utf-16-le", "surrogatepass"),
        )
        assert both[0] == both[1]
        holder[key] = both[0]
    for path in reversed(result.dropped):
        *names, last = path.split("/")
        del at(new, "/".join(names))[int(last)]
    return new


def check(message: Any, *before: Any, **options: Any) -> Repair:
    """Everything that holds of any message; gives its repair."""
    found = inspect(message, *before, **options)
    result = repair(message, *before, **options)
    assert found.malformed is (result.changed or result.blocked)
    assert found.malformed is bool(found.findings)
    assert {each.kind for each in found.findings} <= set(KINDS)
    for each in found.findings:
        assert at(message, each.path)[each.start : each.end] == each.text != ""
    if not result.changed:
        assert (result.edits, result.removed, result.dropped) == ([], [], [])
        assert result.message == message or result.message is ABSENT
        return result
    assert [(r.kind, r.path, r.text) for r in result.removed] == [
        (each.kind, each.path, each.text) for each in found.findings
    ]
    places = [(edit.path, edit.start, edit.end) for edit in result.edits]
    assert len(set(places)) == len(places)
    new = edited(message, result)
    assert result.message == new or result.message is ABSENT
    assert not repair(new, *before, **options).changed, "not idempotent"
    return result


LEAK = {"role": "assistant", "content": "<think>a</think>b"}
MANY = [LEAK] * 20_000
"""A batch that takes some seconds."""
