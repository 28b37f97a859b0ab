"""How many calls a text of some length has where a model wrote it.

``f(),f(),f()`` and so on has more: each of them would become an event a hundred times
its size, so what goes out would not be linear in what came in.
"""

from __future__ import annotations

_FEW_CALLS = 32
_CALL_SIZE = 16
"""Code points that each of more calls takes at least."""


def is_crowd(calls: int, size: int) -> bool:
    """Whether so many ``calls`` in a text of ``size`` code points are none that a model
    has written."""
    return calls > _FEW_CALLS and size < _CALL_SIZE * calls
