"""Response templates: the host describes as data how a model writes.

Hugging Face defines the format (``response_template`` in a model's
``tokenizer_config.json``): fields, each with an opener and a closer, a parser for the
body, and a shape for the result. `template_of` turns a template into a `Dialect` with
the same parts as any other, so all rules of the text hold for it:

- The delimiters of ``thinking``, ``reasoning_content`` and ``reasoning`` become pairs.
- The opener and the closer of ``content`` become wrappers of the answer. Without an
  opener, the closer becomes a token that ends the turn.
- ``tool_calls``, and each field whose ``transform`` has the shape of a call, become
  forms.
- The delimiters of any other field are removed, and its text stays in the answer.

Example: ``{"fields": {"thinking": {"open": "<a>", "close": "</a>"}}}`` has one pair. A
template that cannot be understood raises `TemplateError`, which says where. Source:
transformers 5.24, its page on response parsing and its module ``utils.chat_parsing``.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from stream_sidecar import patterns
from stream_sidecar.forms.form import Dialect, Form, Found, mark
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.records import define, field, frozen
from stream_sidecar.templates.anchors import TemplateError, anchor_of, members
from stream_sidecar.templates.call_fields import (
    CONTENT,
    CallField,
    body_arguments,
    shape_of,
    tags_of_pattern,
    value_kind,
)
from stream_sidecar.values.jsontext import dumps, loads

if TYPE_CHECKING:
    from stream_sidecar.forms.form import Tier
    from stream_sidecar.forms.grammar import Cursor, Reading
    from stream_sidecar.forms.literals import Pair
    from stream_sidecar.templates.anchors import Anchor

NAME = "response-template"
"""The name of the dialect that a template becomes."""

REASONING = ("thinking", "reasoning_content", "reasoning")
CALLS = "tool_calls"


_TOP = {
    "version": (int, "1"),
    "defaults": (dict, "an object"),
    "fields": (dict, "an object"),
    "start_anchor": ((str, list), "a string or an array of strings"),
    "start_anchor_pattern": (str, "a string"),
}
_FIELD = {
    "open": ((str, list), "a string or an array of strings"),
    "open_pattern": (str, "a string"),
    "close": ((str, list), "a string or an array of strings"),
    "close_pattern": (str, "a string"),
    "content": (str, "a string"),
    "content_args": (dict, "an object"),
    "repeats": (bool, "true or false"),
    "join": (str, "a string"),
    "optional": (bool, "true or false"),
    "transform": ((dict, list, str), "an object, an array or a string"),
    "transform_each": (bool, "true or false"),
}


_TOKEN = patterns.compile(r"<[|｜][^<>]*+>|<[^<>|｜]*+[|｜]>")
"""Matches a token of special shape, such as ``<|call|>``, which no person writes."""


@define(eq=False)
class _Parts:
    """A dialect under construction."""

    pairs: list[Pair] = field(factory=list)
    ends: list[str] = field(factory=list)
    marks: list[str] = field(factory=list)
    forms: list[Form] = field(factory=list)
    starts: bool = False

    def add(self, anchor: Anchor, grammar: Any, **fields: Any) -> None:
        """Adds a form for heads of tier A, and one for B, with more ``fields``."""
        for tier in ("A", "B"):
            heads = tuple(head for head in anchor.heads if _tier(head) == tier)
            if heads:
                self.forms.append(Form(heads, grammar, tier=tier, **fields))

    def reasoning(self, opener: Anchor, closer: Anchor) -> None:
        self.starts |= opener.starts
        if opener.pattern is None and closer.pattern is None and closer.heads:
            heads = opener.heads or ("",)
            self.pairs += [(head, end) for head in heads for end in closer.heads]
            return
        found = partial(_border, opener, Found(PieceKind.ENTER))
        self.add(opener, found, vague=closer.pattern is None, about="channels")
        if closer.pattern is None:
            self.pairs += [("", each) for each in closer.heads]
        else:
            grammar = partial(_border, closer, mark(ends=True), inside=True)
            self.add(closer, grammar, vague=True, about="channels")

    def answer(self, opener: Anchor, closer: Anchor) -> None:
        if not opener.heads:
            fields = {"place": "end", "vague": True, "about": "leftovers"}
            self.add(closer, partial(_border, closer, mark()), **fields)
            return
        for edge in (opener, closer):
            if edge.pattern is None:
                self.ends += edge.heads
            else:
                grammar = partial(_border, edge, mark(ends=True))
                self.add(edge, grammar, vague=True, about="channels")

    def other(self, opener: Anchor, closer: Anchor) -> None:
        for edge in (opener, closer):
            self.add(edge, partial(_border, edge, mark()), vague=True, about="channels")

    def anchor(self, start: Anchor) -> None:
        """Adds the beginning of a message, if it is a token, as a mark: it is removed
        wherever the model repeats it."""
        opened = {head for form in self.forms for head in form.openers}
        for head in start.heads:
            text = head.rstrip()
            if start.pattern is None and _TOKEN.match(text) and text not in opened:
                self.marks.append(text)


def _border(
    anchor: Anchor, found: Found, cursor: Cursor, *, inside: bool = False
) -> Reading[Found]:
    """Reads a region's border; returns ``found``. ``inside``: only in reasoning."""
    if inside and not cursor.inside:
        raise cursor.mismatch(0)
    cursor.rewind()
    yield from anchor.read(cursor)
    return found


def _tier(head: str) -> Tier:
    return "A" if _TOKEN.match(head) else "B"


@frozen(eq=False)
class ResponseTemplate:
    """A template as a dialect. ``starts_open``: the text may begin in reasoning."""

    dialect: Dialect
    starts_open: bool


def template_of(given: Any) -> ResponseTemplate:
    """The template that the host passed as JSON. The last 64 are cached."""
    if not isinstance(given, dict):
        raise TemplateError("", "must be an object")
    return _template(dumps(given))


@lru_cache(maxsize=64)
def _template(text: str) -> ResponseTemplate:
    given = members(loads(text), _TOP, "")
    if given.get("version", 1) != 1:
        raise TemplateError(".version", "must be 1")
    fields = {key: e for key, e in given.get("fields", {}).items() if e is not None}
    if not fields:
        raise TemplateError(".fields", "must have a field")
    parts, implicit = _Parts(), list[str]()
    for name, value in fields.items():
        path = f".fields.{name}"
        spec = members(value, _FIELD, path)
        opener, closer = (anchor_of(spec, side, path) for side in ("open", "close"))
        if not (opener.heads or opener.starts):
            implicit.append(path)
        if len(implicit) > 1:
            raise TemplateError(path, f"lacks open, and so does {implicit[0][1:]}")
        _add(parts, name, (opener, closer), spec, path)
    parts.anchor(anchor_of(given, "start_anchor", ""))
    dialect = Dialect(
        NAME,
        pairs=tuple(dict.fromkeys(parts.pairs)),
        marks=tuple(dict.fromkeys(parts.marks)),
        ends=tuple(dict.fromkeys(parts.ends)),
        forms=tuple(parts.forms),
    )
    return ResponseTemplate(dialect, parts.starts)


def _add(
    parts: _Parts,
    name: str,
    anchors: tuple[Anchor, Anchor],
    given: dict[str, Any],
    path: str,
) -> None:
    """Adds the template's field ``name``, with its ``anchors``, to the ``parts``."""
    opener, closer = anchors
    content, args = body_arguments(given, path)
    kind = value_kind(args, path)
    if given.get("join") is not None and not given.get("repeats"):
        raise TemplateError(f"{path}.join", "needs repeats")
    shape = shape_of(given, opener.groups | closer.groups, path)
    is_call = name == CALLS or (shape is not None and "transform" in given)
    is_call = is_call and name not in (*REASONING, CONTENT)
    if any(map(str.isspace, opener.heads + (() if is_call else closer.heads))):
        raise TemplateError(path, "opens or closes with white space alone")
    if name in REASONING:
        parts.reasoning(opener, closer)
    elif name == CONTENT:
        parts.answer(opener, closer)
    elif is_call:
        if not opener.heads:
            raise TemplateError(path, "is a call, and nothing opens it")
        if shape is None:
            raise TemplateError(f"{path}.transform", "has not the shape of a call")
        tags = tags_of_pattern(args, path) if content == "xml-inline" else None
        call_field = CallField(opener, closer, shape, content, args, tags, kind)
        closers = closer.heads if closer.pattern is None else ()
        parts.add(opener, call_field.grammar, closers=closers)
    else:
        parts.other(opener, closer)
