"""Lanes ``amplify`` and ``emit``: output is in proportion, whatever is said again.

An input is a recorded stream in which something has been blown up: a string made long,
an item of a list or a whole document repeated, a number counted on, and some of the
documents behind it repeated with it.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

from amplification import (
    FREE,
    assert_in_proportion,
    assert_written_in_proportion,
    size_of,
)
from strategies import as_read

from fuzz import inputs
from fuzz.fragments import RECORDED
from stream_sidecar.wires import WRITERS

MOST_TIMES = 120
"""How often something is repeated at most."""

MOST_BYTES = 60_000
"""What a document has grown to, or what several repeated ones have together."""

LONGEST = 4_000
"""Code points of a string that was made long."""

Place = tuple[Any, Any]
"""A container and a key of it."""


def draw_amplified(number: int) -> dict[str, Any]:
    generator = Random(number)
    if generator.random() < 0.25:
        params = inputs.text_params(generator)
        params.pop("limits", None)  # one that lets nothing wait errs each time
        unit = inputs.text_of(generator, 2) or "a"
        times = generator.randint(1, LONGEST // len(unit) + 1)
        return {"params": params, "documents": [unit], "times": times}
    params, recorded = generator.choice(RECORDED)
    documents = json.loads(json.dumps(as_read(list(recorded))))
    for _ in range(generator.randint(1, 4)):
        at = generator.randrange(len(documents))
        large = json.loads(json.dumps(documents[at]))
        _blow_up(generator, large)
        if size_of(large) < MOST_BYTES:
            documents[at] = large
    at = generator.randrange(len(documents))
    again = documents[at : at + generator.randint(1, 4)]
    times = generator.choice((0, 1, MOST_TIMES // len(again)))
    documents[at:at] = again * min(times, MOST_BYTES // sum(map(size_of, again)))
    return {"params": params, "documents": documents, "times": 1}


def draw_emitted(number: int) -> dict[str, Any]:
    return {**draw_amplified(number), "wire": [*WRITERS][number % len(WRITERS)]}


def check_amplified(given: dict[str, Any]) -> None:
    chunks = _chunks(given)
    if any(chunks):
        assert_in_proportion(given["params"], chunks, FREE)


def check_emitted(given: dict[str, Any]) -> None:
    chunks = _chunks(given)
    if any(chunks):
        wire = given["wire"]
        assert_written_in_proportion(given["params"], chunks, wire, FREE)


def _chunks(given: dict[str, Any]) -> list[Any]:
    documents, times = given["documents"], given["times"]
    return [each * times if isinstance(each, str) else each for each in documents]


def _blow_up(generator: Random, document: Any) -> None:
    """Makes one place of ``document`` large, or many."""
    places = [*_places(document)]
    if not places:
        return
    holder, key = generator.choice(places)
    value = holder[key]
    if isinstance(holder, list) and generator.random() < 0.6:
        times = generator.randint(2, MOST_TIMES)
        copies = [json.loads(json.dumps(value)) for _ in range(times)]
        holder[key:key] = [_counted(copy, n) for n, copy in enumerate(copies)]
    elif isinstance(value, str):
        holder[key] = (value or "x") * (
            generator.randint(300, LONGEST) // len(value or "x")
        )
    elif isinstance(value, list):
        holder[key] = value * generator.randint(2, MOST_TIMES)
    elif isinstance(value, dict):
        value |= {f"{n}": n for n in range(generator.randint(2, MOST_TIMES))}
    else:
        holder[key] = generator.choice(("x" * LONGEST, [0] * LONGEST, [{}] * 2_000))


def _counted(value: Any, number: int) -> Any:
    """``value`` with another text, so that it is not equal to its neighbours."""
    if isinstance(value, dict):
        name = next((name for name in value if isinstance(value[name], str)), None)
        if name is not None and name not in ("type", "role", "object"):
            value[name] += f" {number}"
    return value


def _places(value: Any) -> Any:
    """Every place in ``value``, containers before what is in them."""
    if not isinstance(value, dict | list):
        return
    for key in [*value] if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])
