"""When two JSON values are the same."""

from __future__ import annotations

from json.encoder import encode_basestring
from typing import Any

from stream_sidecar.values.jsontext import pieces_of


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
    return "".join(pieces_of(value, _scalar, sorted))


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return encode_basestring(value)
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if is_whole else value)
