"""How options are read: conditions that types cannot express, the spellings of a tool,
and patches, which are some fields of a policy or of limits by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NewType, TypeVar, get_args

from attrs import evolve, fields, has

from stream_sidecar.events import ToolKind
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
    class_reader,
    converter,
    patch_reader,
)
from stream_sidecar.records import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

PolicyPatch = NewType("PolicyPatch", dict[str, Any])
"""Some fields of a Policy by name, nested like the Policy."""

LimitsPatch = NewType("LimitsPatch", dict[str, Any])
"""Some fields of Limits by name."""

ResponseTemplate = NewType("ResponseTemplate", dict[str, Any])
"""A response template of Hugging Face, unchanged."""

PATCHES: dict[Any, type] = {PolicyPatch: Policy, LimitsPatch: Limits}
"""Types of params that hold some fields of a class -> that class."""

TOOL_KINDS: tuple[str, ...] = get_args(ToolKind)


@frozen
class Check:
    """A check that JSON Schema can express, too: ``schema`` has its keywords."""

    test: Callable[[Any], None]
    schema: dict[str, Any]

    def __call__(self, value: Any) -> None:
        self.test(value)


def _check_not_empty(value: str) -> None:
    if not value:
        raise Invalid("must not be empty")


not_empty = Check(_check_not_empty, {"minLength": 1})


def one_of(names: tuple[str, ...]) -> Check:
    def check(value: str) -> None:
        if value not in names:
            raise Invalid(f"must be one of {', '.join(names)}")

    return Check(check, {"enum": [*names]})


def at_least(least: int) -> Check:
    def check(value: int) -> None:
        if value < least:
            raise Invalid(f"must be at least {least}")

    return Check(check, {"minimum": least})


def _of_each(test: Callable[[str], None]) -> Callable[[Any], None]:
    """A check of each text of a list. A string in place of the list (``auto``) names no
    text, so it always passes."""

    def check(texts: str | tuple[str, ...]) -> None:
        for number, text in enumerate(() if isinstance(texts, str) else texts):
            try:
                test(text)
            except Invalid as error:
                raise Invalid(error.reason, f"[{number}]") from None

    return check


_LONGEST_LITERAL = 256
"""A longer literal, in characters, is no delimiter. The memory for one grows with the
square of its length."""


def _check_literal(text: str) -> None:
    _check_not_empty(text)
    if len(text) > _LONGEST_LITERAL:
        raise Invalid(f"must have at most {_LONGEST_LITERAL} characters")


def _check_tag(tag: str) -> None:
    if not tag or "`" in tag or any(map(str.isspace, tag)):
        raise Invalid("must be a name or an opener without white space and backticks")
    _check_literal(tag)


CHECKS.update(
    {
        (Tool, "name"): not_empty,
        (Tool, "kind"): one_of(TOOL_KINDS),
        (ReasoningPolicy, "tags"): _of_each(_check_tag),
        (ToolResultsPolicy, "indicators"): _of_each(not_empty),
        (EchoPolicy, "markers"): _of_each(_check_literal),
        (EchoPolicy, "prefixes"): _of_each(_check_literal),
        (Policy, "dialects"): _of_each(one_of(DIALECT_NAMES)),
        (Limits, "idle_timeout_ms"): at_least(0),
    }
)
SHARED.update((Policy, Limits))
for _limit in fields(Limits):
    CHECKS.setdefault((Limits, _limit.name), at_least(1))


_read_tool = class_reader(Tool)


def _tool(value: Any) -> Any:
    """A tool in the protocol's spelling, given in that of MCP, OpenAI or Anthropic. A
    provider's own tool has no name and gets its type as its name."""
    if not isinstance(value, dict):
        return value
    inner = value.get("function") or value.get("custom")
    spelled = {**value, **inner} if isinstance(inner, dict) else dict(value)
    if spelled.get("name") is None and value.get("type") not in ("function", "custom"):
        spelled["name"] = value.get("type")
    for name in ("input_schema", "parameters"):
        if spelled.get("inputSchema") is None:
            spelled["inputSchema"] = spelled.get(name)
    return spelled


def _read_template(value: Any, _kind: Any) -> Any:
    """The template, unchanged; a template that cannot be read is the host's mistake."""
    # Imported here: the handshake needs no dialects, a quarter of the start's time.
    from stream_sidecar.templates.anchors import TemplateError
    from stream_sidecar.templates.response_template import template_of

    try:
        template_of(value)
    except TemplateError as error:
        raise Invalid(error.reason, error.path) from None
    return value


converter.register_structure_hook(ResponseTemplate, _read_template)
converter.register_structure_hook(
    Tool, lambda value, kind: _read_tool(_tool(value), kind)
)
for _patch, _kind in PATCHES.items():
    converter.register_structure_hook(_patch, patch_reader(_kind))


def patched(base: T, patch: dict[str, Any]) -> T:
    """``base`` with the fields in ``patch`` replaced, in nested classes as well."""
    if not patch:
        return base
    record: Any = base
    changes = {}
    for name, value in patch.items():
        member = getattr(record, name)
        changes[name] = patched(member, value) if has(type(member)) else value
    changed: T = evolve(record, **changes)
    return changed
