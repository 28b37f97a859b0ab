"""Equality of JSON values."""

from __future__ import annotations

from json.encoder import encode_basestring
from typing import Any

from stream_sidecar.values.jsontext import pieces_of


def equal(one: Any, other: Any) -> bool:
    """Whether two decoded JSON values are the same, at any depth.

    The order of an object's members does not matter. ``1`` equals ``1.0``. ``true`` is
    not ``1``, unlike with Python's ``==``.
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
    """The key of a value for look-ups: the same for `equal` values only."""
    return "".join(pieces_of(value, _scalar, sorted))


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return encode_basestring(value)
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if is_whole else value)
