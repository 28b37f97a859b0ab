"""Python's values as the JSON values that the methods read.

A host has bytes in several classes, objects of SDKs, tuples and enumerations. What is
no JSON and cannot become JSON is the host's mistake, and a `UsageError`.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from stream_sidecar.errors import InvalidParamsError
from stream_sidecar.protocol.converter import Invalid, unstructure
from stream_sidecar.records import PublicRecord
from stream_sidecar.values.jsontext import NumberText

BYTES = (bytes, bytearray, memoryview)

_JSON = frozenset((str, NumberText, int, float, bool, type(None)))

_CONVERSIONS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (PublicRecord, unstructure),
    (str, str.__str__),
    (int, int),
    (float, float),
    (Mapping, dict),
    (tuple, list),
    (list, list),
)
"""Classes of JSON values in another form -> what makes them; the first counts."""

_PYDANTIC = {"mode": "json", "by_alias": True, "exclude_unset": True, "warnings": False}
"""Arguments with which pydantic gives an object as its provider sent it."""


def plain(value: Any, path: str) -> Any:
    """``value`` as a JSON value, itself if it is one; errors call it ``path``."""
    try:
        return _plain(value)
    except Invalid as error:
        place = path + error.path
        raise InvalidParamsError(f"{place}: {error.reason}", path=place) from None
    except RecursionError:
        if _is_circular(value):
            raise InvalidParamsError(f"{path}: contains itself", path=path) from None
        return value  # a document of a provider may be nested without end


def text_of(data: Any, encoding: str) -> str:
    """A whole body of ``BYTES`` as the text that ``message/normalize`` reads."""
    body = bytes(data)  # a memoryview may have gaps
    if encoding == "base64":
        return b64encode(body).decode("ascii")
    return body.decode("utf-8", "replace")


def _plain(value: Any) -> Any:
    kind = type(value)
    if kind in _JSON:
        return value
    if kind is dict:
        if {*map(type, value)} - {str}:
            raise Invalid("has a member whose name is not a string")
        changed = _changed(value.items())
        return {**value, **changed} if changed else value
    if kind is list:
        changed = _changed(enumerate(value))
        if not changed:
            return value
        return [changed.get(place, item) for place, item in enumerate(value)]
    return _plain(_converted(value))


def _is_circular(value: Any) -> bool:
    """Whether a list or dictionary has itself in it, at any depth."""
    above: dict[int, Any] = {}
    waiting, checked = [(value, False)], set[int]()
    while waiting:
        item, is_left = waiting.pop()
        if is_left:
            del above[id(item)]
            checked.add(id(item))
        elif id(item) in above:
            return True
        elif isinstance(item, dict | list) and id(item) not in checked:
            above[id(item)] = item
            inner = item.values() if isinstance(item, dict) else item
            waiting += [(item, True), *((member, False) for member in inner)]
    return False


def _changed(items: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    """The values of ``items`` that had to be converted, by name or place."""
    changed = {}
    for name, item in items:
        if type(item) in _JSON:
            continue
        try:
            converted = _plain(item)
        except Invalid as error:
            step = f"[{name}]" if type(name) is int else f".{name}"
            raise Invalid(error.reason, step + error.path) from None
        if converted is not item:
            changed[name] = converted
    return changed


def _converted(value: Any) -> Any:
    for kind, convert in _CONVERSIONS:
        if isinstance(value, kind):
            return convert(value)
    if not isinstance(value, type):
        if hasattr(value, "model_dump"):
            is_pydantic = hasattr(type(value), "model_fields")
            return value.model_dump(**_PYDANTIC if is_pydantic else {})
        if hasattr(value, "to_dict"):
            return value.to_dict()
    name = type(value).__name__
    raise Invalid(f"must be a JSON value or an object of an SDK, and is of type {name}")
