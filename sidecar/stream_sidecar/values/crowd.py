"""The most calls that a text of some length may have.

In ``f(),f(),f()`` ... each call would become an event a hundred times its size, so the
output would be out of proportion to the input. No model writes a text like that.
"""

from __future__ import annotations

_FEW_CALLS = 32
_CALL_SIZE = 16
"""The fewest code points for each call if there are more than a few."""


def is_crowd(calls: int, size: int) -> bool:
    """Whether ``calls`` are too many for a text of ``size`` code points."""
    return calls > _FEW_CALLS and size < _CALL_SIZE * calls
