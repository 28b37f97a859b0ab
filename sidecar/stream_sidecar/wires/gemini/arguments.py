"""Gemini's streamed arguments: turns values at JSON paths into a call's JSON text.

A ``partialArgs`` entry is a value, or a fragment of a string, at a path (RFC 9535) such
as ``$.recipe.steps[0].text``. Entries normally come in the order of the text, so the
text grows at its end. If they do not, it waits for the last one. Each character is
looked at a fixed number of times.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.records import define
from stream_sidecar.values.jsontext import dumps, loads

if TYPE_CHECKING:
    from stream_sidecar.parts import Json, JsonObject

Token: TypeAlias = int | str
TokenPath: TypeAlias = tuple[Token, ...]

_STEP = patterns.compile(
    r"""\.(?P<name>[^.\[\]]++)
    | \[(?P<index>[0-9]{1,9})\]
    | \[(?P<quoted>'(?:[^'\\]|\\.)*+' | "(?:[^"\\]|\\.)*+")\]""",
    re.VERBOSE | re.DOTALL,
)

_DEEPEST = 64
"""A path has at most this many steps."""

_VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")


@define(eq=False)
class _Leaf:
    """A value, or fragments of a string. ``continues``: more are announced."""

    value: Json = None
    fragments: list[str] | None = None
    continues: bool = False

    def push(self, value: Json) -> str:
        """The JSON text that ``value`` adds, without a string's quotes."""
        if not isinstance(value, str):
            self.value, self.fragments = value, None
            return dumps(value)
        if self.fragments is None:
            self.fragments = []
        self.fragments.append(value)
        return dumps(value)[1:-1]


class PartialArguments:
    """The arguments of one call. ``push(entry)`` returns the text that an entry adds,
    or None if the entry cannot be used; ``close()`` returns the rest."""

    def __init__(self) -> None:
        self._root: dict[Token, Any] = {}
        self._writer = _Writer()
        self._latest = _Leaf()
        #: so far entries came in the order of the text, so all of it was returned
        self.in_order = True

    @property
    def continues(self) -> bool:
        """Whether a string is incomplete."""
        return self._latest.continues

    def push(self, entry: JsonObject) -> str | None:
        path = _path(entry.get("jsonPath"))
        node = self._root if path is None else self._find(path)
        name = next((name for name in _VALUES if name in entry), "")
        if path is None or isinstance(node, dict) or not (node or name):
            return None
        leaf, value = node or _Leaf(), entry.get(name)
        value = None if name == "nullValue" else value
        text = ""
        if node is None:
            text = self._begin(leaf, path, value)
        elif name:
            text = self._add(leaf, value)
        leaf.continues = entry.get("willContinue") is True
        return text if self.in_order else ""

    def close(self) -> str:
        """The end of the text; the whole text if the entries were not in order."""
        if not self.in_order:
            return dumps(_plain(self._root))
        return self._quote() + self._writer.close()

    def _find(self, path: TokenPath) -> _Leaf | dict[Token, Any] | None:
        """The leaf or container at ``path``; None if there is none. If ``path`` leads
        below a leaf, the root, which is a container."""
        node: Any = self._root
        for token in path:
            if isinstance(node, _Leaf):
                return self._root
            node = node.get(token)
            if node is None:
                return None
        return node  # type: ignore[no-any-return]

    def _begin(self, leaf: _Leaf, path: TokenPath, value: Json) -> str:
        node = self._root
        for token in path[:-1]:
            node = node.setdefault(token, {})
        node[path[-1]] = leaf
        place = self._writer.place(path) if self.in_order else None
        self.in_order = place is not None
        text = leaf.push(value)
        start, self._latest = self._quote(), leaf
        return f"{start}{place}{self._quote()}{text}"

    def _add(self, leaf: _Leaf, value: Json) -> str:
        """Adds ``value`` to the string of ``leaf`` and returns the new text. A value
        that was returned may not change: such entries are out of order."""
        is_more = isinstance(value, str) and leaf.fragments is not None
        is_here = leaf is self._latest or not value
        self.in_order = self.in_order and is_more and is_here
        return leaf.push(value)

    def _quote(self) -> str:
        """The quote around the latest value; "" if it is no string."""
        return "" if self._latest.fragments is None else '"'


class _Writer:
    """Writes members of nested objects and arrays in their order.

    ``_path`` leads to the last member written. ``_open[n]`` is the container at step
    ``n``: an object's names so far, or an array's length.
    """

    def __init__(self) -> None:
        self._path: TokenPath = ()
        self._open: list[set[Token] | int] = []

    def place(self, path: TokenPath) -> str | None:
        """The text before the value at ``path``: brackets, commas, names. None if its
        place was passed already. Nothing may have been written at ``path``, at a part
        of it, or below it."""
        common = 0
        while common < len(self._path) and path[common] == self._path[common]:
            common += 1
        steps = path[common + 1 :]
        if not all(token == 0 or isinstance(token, str) for token in steps):
            return None
        if self._open and not self._is_next(common, path[common]):
            return None
        pieces = [self._close(common + 1), "," if self._open else ""]
        pieces += [self._enter(n, path[n]) for n in range(common, len(path))]
        self._path = path
        return "".join(pieces)

    def close(self) -> str:
        return self._close(0)

    def _is_next(self, depth: int, token: Token) -> bool:
        container = self._open[depth]
        if isinstance(container, int):
            return token == container
        return isinstance(token, str) and token not in container

    def _close(self, depth: int) -> str:
        closed = reversed(self._open[depth:])
        del self._open[depth:]
        return "".join("]" if isinstance(part, int) else "}" for part in closed)

    def _enter(self, depth: int, token: Token) -> str:
        """Opens the container of step ``depth`` if it is new."""
        is_new, is_name = depth == len(self._open), isinstance(token, str)
        if is_new:
            self._open.append(set() if is_name else 0)
        container = self._open[depth]
        if isinstance(container, int):
            self._open[depth] = container + 1
            return "[" if is_new else ""
        container.add(token)
        return ("{" if is_new else "") + dumps(token) + ":"


def _path(text: Json) -> TokenPath | None:
    """The steps of a path; None if it leads to no member of the arguments."""
    if not isinstance(text, str) or not text.startswith("$"):
        return None
    steps: list[Token] = []
    position = 1
    while position < len(text) and len(steps) < _DEEPEST:
        step = _STEP.match(text, position)
        token = None if step is None else _token(step)
        if step is None or token is None:
            return None
        steps.append(token)
        position = step.end()
    is_member = position == len(text) and isinstance((steps or [0])[0], str)
    return tuple(steps) if is_member else None


def _token(step: re.Match[str]) -> Token | None:
    if step["index"] is not None:
        return int(step["index"])
    if step["quoted"] is None:
        return step["name"]
    body = step["quoted"][1:-1]
    if step["quoted"][0] == "'":
        body = body.replace("\\'", "'").replace('"', '\\"')
    try:
        return str(loads(f'"{body}"'))
    except ValueError:
        return None


def _plain(node: Any) -> Json:
    """The JSON value of a tree. It is an array if all its steps are numbers."""
    if isinstance(node, _Leaf):
        return node.value if node.fragments is None else "".join(node.fragments)
    if all(isinstance(token, int) for token in node):
        return [_plain(node[index]) for index in sorted(node)]
    return {str(token): _plain(child) for token, child in node.items()}
