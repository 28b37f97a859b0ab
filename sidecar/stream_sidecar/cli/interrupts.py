"""Ctrl-C and the other signals that end a process, noted so that a command can check.

A command that changes files ends between two files, never in the middle of a file. A
second signal ends it immediately, as the first one would without this module.
"""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from stream_sidecar.session_files.workers import ENDING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Interruption:
    """``number``: the number of the signal that came; 0 if no signal came."""

    number = 0

    def has_come(self) -> bool:
        return self.number != 0


@contextmanager
def raising() -> Iterator[None]:
    """Makes Ctrl-C also raise KeyboardInterrupt, which ends a question."""
    handler = signal.getsignal(signal.SIGINT)

    def note(number: int, frame: Any) -> None:
        if callable(handler):
            handler(number, frame)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


@contextmanager
def interruption() -> Iterator[Interruption]:
    """Notes signals inside the ``with`` block. Ignored signals (nohup) stay ignored."""
    signals = Interruption()
    handlers = {
        number: handler
        for number in ENDING
        if (handler := signal.getsignal(number)) not in (signal.SIG_IGN, None)
    }

    def note(number: int, _frame: Any) -> None:
        signals.number = number
        signal.signal(number, handlers[number])

    for number in handlers:
        signal.signal(number, note)
    try:
        yield signals
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
