"""Reads and writes JSON text; the only module that chooses the library.

Reading (`loads` for text, `decode` for bytes) uses orjson if it is installed and
accepts the text. The standard library reads what a strict reader refuses: half
surrogates, NaN, numbers outside 64 bits, a byte order mark. A number outside the strict
JSON subset of protocol.md, "JSON", becomes a `NumberText`, its JSON text. Text that is
not JSON raises ValueError and nothing else.

Writing (`encode`) stays inside that subset. A value outside it is replaced: half a
surrogate pair by U+FFFD, any other value by a string with its JSON text (`portable`).
`dumps` gives compact JSON text of anything that `loads` can read.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Any

from stream_sidecar.values.surrogates import has_half

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

MAX_DEPTH = 64
"""The deepest level of a provider's value; what is deeper becomes a string."""

_PLAIN_TYPES = frozenset((str, bool, type(None)))
"""Types whose values every reader can represent."""

_SMALLEST, _LARGEST = -(2**63), 2**64 - 1
"""The range of integers that every reader can represent."""

_DIGITS = bytes.maketrans(b"-123456789", b"0000000000")
_LONG_NUMBER = b"0" * 20
"""The fewest characters of an integer outside 64 bits, its sign included."""

_BEFORE_NUMBER = frozenset(b" \t\r\n:,[")


class NumberText(str):
    """A number that strict readers cannot represent, as its JSON text."""

    __slots__ = ()


def loads(text: str) -> Any:
    """Return the value of ``text``; ValueError if it is not one JSON value."""
    try:
        return _read(text.encode())
    except ValueError:
        return _read_leniently(text)


def decode(body: bytes) -> Any:
    """The value of ``body`` in UTF-8, or another encoding of RFC 4627."""
    try:
        return _read(body)
    except ValueError:
        text = body.decode(json.detect_encoding(body), "surrogatepass")
        return _read_leniently(text)


def decode_utf8(body: bytes) -> Any:
    """Return the value of ``body``, which must be UTF-8."""
    try:
        return _read(body)
    except ValueError:
        return _read_leniently(body.decode("utf-8-sig"))


_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def dumps(value: Any) -> str:
    """Compact JSON text of ``value``, in order, beyond ASCII not escaped."""
    try:
        return _COMPACT.encode(value)
    except RecursionError:
        return "".join(pieces_of(value, _COMPACT.encode, list))


def encode(value: Any) -> bytes:
    """Return ``value`` as UTF-8 JSON that the strictest reader accepts.

    TypeError if it is no JSON value. The caller limits the nesting (`portable`),
    because only the caller knows which parts come from a provider.
    """
    try:
        return _write(value)
    except (TypeError, ValueError):
        return _write(_heal(value))


def whole(value: Any) -> Any:
    """Return a portable ``value`` with U+FFFD in place of half characters, as `encode`
    writes it; the same object if it has none."""
    try:
        _COMPACT.encode(value).encode()  # much faster than a search
    except UnicodeEncodeError:
        return _heal(value)
    return value


def portable(value: Any, depth: int = MAX_DEPTH) -> Any:
    """Return a provider's ``value`` so that every reader can represent it; the same
    object if nothing has to change.

    Values nested deeper than ``depth``, numbers outside 64 bits and values that are not
    JSON become text. `encode` replaces half surrogates.
    """
    items: Iterable[Any] = (value,)
    levels_left = depth
    if type(value) is dict and depth:  # most values are objects: saves a call
        items, levels_left = value.values(), depth - 1
    return value if _are_portable(items, levels_left) else _make_portable(value, depth)


def _are_portable(items: Iterable[Any], depth: int) -> bool:
    """Whether all ``items`` are portable, as most are. False for subclasses of JSON's
    types, too. The checks are written out for speed: this runs for each count and each
    call that is sent."""
    for item in items:
        kind = type(item)
        if kind in _PLAIN_TYPES:
            continue
        if kind is int:
            if not _SMALLEST <= item <= _LARGEST:
                return False
        elif kind is dict:
            if not (depth and _are_portable(item.values(), depth - 1)):
                return False
        elif kind is list:
            if not (depth and _are_portable(item, depth - 1)):
                return False
        elif kind is not float or not isfinite(item):
            return False
    return True


def _make_portable(value: Any, depth: int) -> Any:
    """`portable` for a value in which something has to change."""
    if isinstance(value, dict | list | tuple):
        if not depth:
            return dumps(value)
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return _portable_items(value, items, depth)
    is_text = isinstance(value, str) or value is None
    return value if is_text else _portable_number(value)


def _portable_items(value: Any, items: Iterable[tuple[Any, Any]], depth: int) -> Any:
    """`_make_portable` for an object or array."""
    changed = {}
    for key, item in items:
        portable_item = _make_portable(item, depth - 1)
        if portable_item is not item:
            changed[key] = portable_item
    if not changed:
        return value
    if isinstance(value, dict):
        return value | changed
    return [changed.get(key, item) for key, item in enumerate(value)]


def is_portable(value: Any, depth: int = MAX_DEPTH) -> bool:
    """Whether a reader gets the same ``value`` from what `encode` writes."""
    if isinstance(value, str):
        return type(value) is not NumberText and not has_half(value)
    if isinstance(value, dict):
        has_keys = depth > 0 and all(is_portable(key) for key in value)
        return has_keys and all(is_portable(item, depth - 1) for item in value.values())
    if isinstance(value, list):
        return depth > 0 and all(is_portable(item, depth - 1) for item in value)
    return value is None or _portable_number(value) is value


def _portable_number(value: Any) -> Any:
    if isinstance(value, int):
        return value if _SMALLEST <= value <= _LARGEST else NumberText(value)
    if isinstance(value, float):
        return value if isfinite(value) else NumberText(json.dumps(value))
    return str(value)


def _heal(value: Any) -> Any:
    """``value`` without half characters, and with names as strings, or TypeError."""
    if isinstance(value, dict):
        return {_heal_text(str(key)): _heal(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_heal(item) for item in value]
    if isinstance(value, str):
        return _heal_text(value)
    if value is None:
        return None
    if isinstance(value, int | float):
        return _portable_number(value)
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def _heal_text(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _read_leniently(text: str) -> Any:
    try:
        return json.loads(
            text, parse_int=_integer, parse_float=_real, parse_constant=NumberText
        )
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _integer(text: str) -> int | str:
    if len(text) > 20:
        return NumberText(text)
    value = int(text)
    return value if _SMALLEST <= value <= _LARGEST else NumberText(text)


def _real(text: str) -> float | str:
    value = float(text)
    return value if isfinite(value) else NumberText(text)


class _ReadyText(str):
    """A piece of JSON text that is written unchanged."""

    __slots__ = ()


def pieces_of(
    value: Any,
    scalar: Callable[[Any], str],
    order: Callable[[dict[str, Any]], list[str]],
) -> Iterator[str]:
    """The pieces of JSON text of ``value``, nested at any depth, without recursion.
    ``scalar`` writes strings, numbers and literals; ``order`` gives the order of an
    object's names."""
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, _ReadyText):
            yield item
        elif isinstance(item, dict):
            keys = order(item)
            names = [f"{_COMPACT.encode(str(key))}:" for key in keys]
            stack += _to_stack("{", names, [item[key] for key in keys], "}")
        elif isinstance(item, list | tuple):
            stack += _to_stack("[", [""] * len(item), list(item), "]")
        else:
            yield scalar(item)


def _to_stack(
    opener: str, names: list[str], items: list[Any], closer: str
) -> list[Any]:
    """An object's or array's text and values for `pieces_of`, the last first."""
    parts: list[Any] = [_ReadyText(opener)]
    for index, name in enumerate(names):
        parts += [_ReadyText(f",{name}" if index else name), items[index]]
    return [*parts, _ReadyText(closer)][::-1]


def _strict_read(body: bytes) -> Any:
    if _LONG_NUMBER in (digits := body.translate(_DIGITS)):
        _refuse_long_number(body, digits)
    return strict_loads(body)


def _refuse_long_number(body: bytes, digits: bytes) -> None:
    """Raises if an integer is outside 64 bits, because orjson would silently round it
    to a float. ``digits``: ``body`` with zeros for all digits."""
    index = digits.find(_LONG_NUMBER)
    while index >= 0:
        if not index or body[index - 1] in _BEFORE_NUMBER:
            raise ValueError("long number")
        index = digits.find(_LONG_NUMBER, index + len(_LONG_NUMBER))


def _plain_read(body: bytes) -> Any:
    return _read_leniently(body.decode())


def _plain_write(value: Any) -> bytes:
    return _COMPACT.encode(_heal(value)).encode()


_read: Callable[[bytes], Any] = _plain_read
_write: Callable[[Any], bytes] = _plain_write

try:
    from orjson import dumps as strict_dumps
    from orjson import loads as strict_loads
except ImportError:  # bundled without compiled wheels
    pass
else:
    _read, _write = _strict_read, strict_dumps
