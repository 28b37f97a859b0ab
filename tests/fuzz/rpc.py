"""Sequences of requests against one connection: the table of what hosts do to it.

Each rule takes a ``Session`` and a ``random.Random`` to draw from, sends something and
compares what comes with what the session's model says. The same rules are run by
numbers (`check_sequence`) and by hypothesis (``test_fuzz.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from fuzz.rpc_requests import (
    ask_for_nothing,
    ask_what_takes_long,
    ask_wrongly,
    begin_batch,
    cancel,
    look_up,
    normalize,
    run_batch,
    say_nothing,
    send_a_bad_envelope,
    send_too_much,
    shut_down,
    use_an_id_twice,
)
from fuzz.rpc_session import Session
from fuzz.rpc_streams import (
    close,
    let_time_pass,
    list_streams,
    open_stream,
    push,
    read_counts,
    take_snapshot,
)

Rule = Callable[[Session, Random], None]

RULES: tuple[Rule, ...] = (
    *(open_stream, push, close, take_snapshot, list_streams, read_counts),
    *(let_time_pass, normalize, look_up, begin_batch, run_batch),
    *(ask_what_takes_long, cancel, use_an_id_twice),
    *(ask_wrongly, ask_for_nothing, send_a_bad_envelope, send_too_much, say_nothing),
)

OFTEN: tuple[Rule, ...] = (*RULES, open_stream, open_stream, *(push,) * 8, close)
"""The rules, those more than once that lead somewhere."""

LONGEST = 16


def draw_sequence(number: int) -> dict[str, Any]:
    """The seeds of the steps: a sequence is made shorter by leaving some out."""
    generator = Random(number)
    count = generator.randint(2, LONGEST)
    ends = generator.random() < 0.1
    return {"steps": [generator.randrange(2**32) for _ in range(count)], "ends": ends}


def check_sequence(given: dict[str, Any]) -> None:
    session = Session()
    for seed in given["steps"]:
        generator = Random(seed)
        generator.choice(OFTEN)(session, generator)
    if given.get("ends"):
        shut_down(session, Random(0))
    session.finish()
