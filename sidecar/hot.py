"""Classes that are made for every chunk.

`hot` is ``attrs.frozen`` to people and type checkers. At run time it does not freeze,
because that doubles the time to make one, and one of each is made for every delta.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attrs import frozen as hot
else:
    from functools import partial

    from attrs import define

    hot = partial(define, unsafe_hash=True)

__all__ = ["hot"]
