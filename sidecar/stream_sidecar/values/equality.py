"""When two JSON values are the same."""

from __future__ import annotations

from json.encoder import encode_basestring
from typing import Any


def equal(one: Any, other: Any) -> bool:
    """Whether two decoded JSON values are the same, however deep they nest.

    The order of an object's members is free, ``1`` equals ``1.0``, and ``true`` is not
    ``1``, which Python's own ``==`` says it is.
    """
    pairs = [(one, other)]
    while pairs:
        one, other = pairs.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            if one.keys() != other.keys():
                return False
            pairs += [(value, other[key]) for key, value in one.items()]
        elif isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            pairs += zip(one, other, strict=True)
        elif isinstance(one, bool) is not isinstance(other, bool) or one != other:
            return False
    return True


def key_of(value: Any) -> str:
    """What a decoded JSON value is looked up by: values have the same key where they
    are `equal`, and nowhere else."""
    pieces: list[str] = []
    todo: list[Any] = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            pieces.append("{")
            todo.append(_END)
            for name in sorted(item, reverse=True):
                todo += (item[name], _Written(encode_basestring(name)))
        elif isinstance(item, list):
            pieces.append("[")
            todo += (_END, *reversed(item))
        else:
            pieces.append(item if isinstance(item, _Written) else _scalar(item))
    return " ".join(pieces)


class _Written(str):
    """A piece of a key, as it is."""

    __slots__ = ()


_END = _Written("]")


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return encode_basestring(value)
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if is_whole else value)
