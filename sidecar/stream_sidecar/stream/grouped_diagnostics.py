"""Diagnostics of odd input: one for each oddity, but one for many small ones.

A document such as ``0`` takes two bytes, and its diagnostic 150. After the first few,
small oddities of the same kind are reported together, so that the output stays in
proportion. The result does not depend on how the input was cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.events import Diagnostic

if TYPE_CHECKING:
    from stream_sidecar.events import Severity
    from stream_sidecar.message.outlet import Outlet
    from stream_sidecar.parts import DiagnosticPart

CODES = frozenset({"malformed-chunk", "unknown-chunk", "data-after-done"})
"""Codes of oddities that may be reported together."""

_ALONE = 32
"""This many small oddities, of all kinds, are reported one by one."""

_TOGETHER = 16
_KINDS = 64
"""At most this many different messages wait at the same time."""

_SMALL = 16
"""A string of at most this many code points is small."""

_TIMES = " ({} times, raw has each)"
"""What the message of several oddities has at its end."""


class GroupedDiagnostics:
    """``push`` reports a part, or lets it wait for more parts of its kind. ``close``
    reports the parts that wait."""

    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet
        self._alone = _ALONE
        self._waiting: dict[tuple[int, str, Severity, str], list[Any]] = {}

    def push(self, part: DiagnosticPart) -> None:
        key = part.choice, part.code, part.severity, part.message
        if part.code not in CODES or not _is_small(part.raw):
            self._outlet.send(Diagnostic, *key, part.raw)
        elif self._alone or (key not in self._waiting and len(self._waiting) == _KINDS):
            self._alone = max(0, self._alone - 1)
            self._outlet.send(Diagnostic, *key, part.raw)
        else:
            oddities = self._waiting.setdefault(key, [])
            oddities.append(part.raw)
            if len(oddities) == _TOGETHER:
                self._send(key, self._waiting.pop(key))

    def close(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for key, oddities in waiting.items():
            self._send(key, oddities)

    def _send(self, key: tuple[int, str, Severity, str], oddities: list[Any]) -> None:
        choice, code, severity, message = key
        message += _TIMES.format(len(oddities))
        self._outlet.send(Diagnostic, choice, code, severity, message, oddities)


def message_and_count(diagnostic: Diagnostic) -> tuple[str, int]:
    """The message of one oddity, and how many oddities ``diagnostic`` stands for."""
    number = len(diagnostic.raw) if isinstance(diagnostic.raw, list) else 1
    message = diagnostic.message.removesuffix(_TIMES.format(number))
    return message, number if message != diagnostic.message else 1


def _is_small(value: Any) -> bool:
    """Whether ``value`` is at most a short text, or holds at most one like this."""
    if isinstance(value, dict | list):
        items = value.values() if isinstance(value, dict) else value
        names = value if isinstance(value, dict) else ()
        return len(value) < 2 and all(map(_is_word, (*items, *names)))
    return _is_word(value)


def _is_word(value: Any) -> bool:
    if isinstance(value, dict | list):
        return not value
    return not isinstance(value, str) or len(value) <= _SMALL
