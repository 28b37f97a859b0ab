"""Ctrl-C, and the other signals that ask a process to end, as a wish that is asked for.

A command that changes files ends between two of them, not in the midst of one. The
second signal ends it at once, as it would have without all this.
"""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from stream_sidecar.session_files.workers import ENDING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Interruption:
    """``number``: the signal that has come; 0: none."""

    number = 0

    def has_come(self) -> bool:
        return self.number != 0


@contextmanager
def raising() -> Iterator[None]:
    """While a person is asked Ctrl-C is a wish, and KeyboardInterrupt, too: nothing
    else would end the question."""
    before = signal.getsignal(signal.SIGINT)

    def note(number: int, frame: Any) -> None:
        if callable(before):
            before(number, frame)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def interruption() -> Iterator[Interruption]:
    """Notes signals as long as it lasts. What is ignored (nohup) stays so."""
    come = Interruption()
    before = {
        number: handler
        for number in ENDING
        if (handler := signal.getsignal(number)) not in (signal.SIG_IGN, None)
    }

    def note(number: int, _frame: Any) -> None:
        come.number = number
        signal.signal(number, before[number])

    for number in before:
        signal.signal(number, note)
    try:
        yield come
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
