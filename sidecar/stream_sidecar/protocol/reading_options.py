"""How options are read: what types cannot say of them, the spellings of a tool, and
patches, which are some fields of a policy or of limits by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NewType, TypeVar

from attrs import evolve, fields, has

from stream_sidecar.options import (
    EchoPolicy,
    Limits,
    Policy,
    ReasoningPolicy,
    Tool,
    ToolResultsPolicy,
)
from stream_sidecar.protocol.announced import DIALECT_NAMES
from stream_sidecar.protocol.converter import (
    CHECKS,
    SHARED,
    Invalid,
    ValueReader,
    class_reader,
    converter,
    patch_reader,
)
from stream_sidecar.records import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")

PolicyPatch = NewType("PolicyPatch", dict[str, Any])
"""Some fields of a Policy, by name, nested like it."""

LimitsPatch = NewType("LimitsPatch", dict[str, Any])
"""Some fields of Limits, by name."""


PATCHES: dict[Any, type] = {PolicyPatch: Policy, LimitsPatch: Limits}
"""Types of params that are some fields of a class."""

TOOL_KINDS = (
    *("read", "edit", "delete", "move", "search", "execute", "think", "fetch"),
    *("switch-mode", "other"),
)


@frozen
class Check:
    """A check that JSON Schema can say, too: ``schema`` are the keywords that do."""

    test: Callable[[Any], None]
    schema: dict[str, Any]

    def __call__(self, value: Any) -> None:
        self.test(value)


def _check_not_empty(value: str) -> None:
    if not value:
        raise Invalid("must not be empty")


not_empty = Check(_check_not_empty, {"minLength": 1})


def one_of(names: Iterable[str]) -> Check:
    known = tuple(names)

    def check(value: str) -> None:
        if value not in known:
            raise Invalid(f"must be one of {', '.join(known)}")

    return Check(check, {"enum": [*known]})


def at_least(least: int) -> Check:
    def check(value: int) -> None:
        if value < least:
            raise Invalid(f"must be at least {least}")

    return Check(check, {"minimum": least})


def _tags(tags: tuple[str, ...]) -> None:
    for number, tag in enumerate(tags):
        if not tag or "`" in tag or any(map(str.isspace, tag)):
            raise Invalid(
                "must be a name or an opener without white space and backticks",
                f"[{number}]",
            )


def _no_empty(texts: tuple[str, ...]) -> None:
    for number, text in enumerate(texts):
        if not text:
            raise Invalid("must not be empty", f"[{number}]")


def _dialects(names: str | tuple[str, ...]) -> None:
    for number, name in enumerate(() if isinstance(names, str) else names):
        if name not in DIALECT_NAMES:
            raise Invalid(f"must be one of {', '.join(DIALECT_NAMES)}", f"[{number}]")


CHECKS.update(
    {
        (Tool, "name"): not_empty,
        (Tool, "kind"): one_of(TOOL_KINDS),
        (ReasoningPolicy, "tags"): _tags,
        (ToolResultsPolicy, "indicators"): _no_empty,
        (EchoPolicy, "markers"): _no_empty,
        (EchoPolicy, "prefixes"): _no_empty,
        (Policy, "dialects"): _dialects,
        (Limits, "idle_timeout_ms"): at_least(0),
    }
)
SHARED.update((Policy, Limits))
for _limit in fields(Limits):
    CHECKS.setdefault((Limits, _limit.name), at_least(1))


def _tool_reader() -> ValueReader:
    """Reads a tool as MCP, OpenAI or Anthropic spell it."""
    read = class_reader(Tool)
    return lambda value, kind: read(_tool(value), kind)


def _tool(value: Any) -> Any:
    """Our spelling of a declared tool; a provider's own tool is named by its type."""
    if not isinstance(value, dict):
        return value
    inner = value.get("function") or value.get("custom")
    spelled = {**value, **inner} if isinstance(inner, dict) else dict(value)
    if spelled.get("name") is None and value.get("type") not in ("function", "custom"):
        spelled["name"] = value.get("type")
    for other in ("input_schema", "parameters"):
        if spelled.get("inputSchema") is None:
            spelled["inputSchema"] = spelled.get(other)
    return spelled


converter.register_structure_hook(Tool, _tool_reader())
for _part, _whole in PATCHES.items():
    converter.register_structure_hook(_part, patch_reader(_whole))


def patched(base: T, patch: dict[str, Any]) -> T:
    """``base`` with the given fields replaced singly, nested classes field by field."""
    if not patch:
        return base
    whole: Any = base
    changes = {}
    for name, value in patch.items():
        old = getattr(whole, name)
        changes[name] = patched(old, value) if has(type(old)) else value
    changed: T = evolve(whole, **changes)
    return changed
