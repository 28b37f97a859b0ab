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

    def add(self, anchor: Anchor, grammar: Any, **own: Any) -> None:
        """Adds a form for the anchor's heads: one for heads of tier A, one for B.
        ``own``: further fields of the `Form`."""
        for tier in ("A", "B"):
            heads = tuple(each for each in anchor.heads if _tier(each) == tier)
            if heads:
                self.forms.append(Form(heads, grammar, tier=tier, **own))

    def reasoning(self, opener: Anchor, closer: Anchor) -> None:
        self.starts |= opener.starts
        if opener.pattern is None and closer.pattern is None and closer.heads:
            heads = opener.heads or ("",)
            self.pairs += [(one, other) for one in heads for other in closer.heads]
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
            own = {"place": "end", "vague": True, "about": "leftovers"}
            self.add(closer, partial(_border, closer, mark()), **own)
            return
        for each in (opener, closer):
            if each.pattern is None:
                self.ends += each.heads
            else:
                found = partial(_border, each, mark(ends=True))
                self.add(each, found, vague=True, about="channels")

    def other(self, opener: Anchor, closer: Anchor) -> None:
        for each in (opener, closer):
            self.add(each, partial(_border, each, mark()), vague=True, about="channels")

    def anchor(self, start: Anchor) -> None:
        """Adds the beginning of a message, if it is a token, as a mark: it is removed
        wherever the model repeats it."""
        opened = {each for form in self.forms for each in form.openers}
        for each in start.heads:
            text = each.rstrip()
            if start.pattern is None and _TOKEN.match(text) and text not in opened:
                self.marks.append(text)


def _border(
    anchor: Anchor, found: Found, cursor: Cursor, *, inside: bool = False
) -> Reading[Found]:
    """Reads an opener or a closer of a region and returns ``found``. ``inside``: it
    counts only in reasoning."""
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
    for name, each in fields.items():
        path = f".fields.{name}"
        one = members(each, _FIELD, path)
        opener, closer = (anchor_of(one, side, path) for side in ("open", "close"))
        if not (opener.heads or opener.starts):
            implicit.append(path)
        if len(implicit) > 1:
            raise TemplateError(path, f"lacks open, and so does {implicit[0][1:]}")
        _add(parts, name, (opener, closer), one, path)
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
    """Adds the field ``name`` of a template, with its opener and closer in ``anchors``,
    to the ``parts`` of the dialect."""
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
        own = CallField(opener, closer, shape, content, args, tags, kind)
        closers = closer.heads if closer.pattern is None else ()
        parts.add(opener, own.grammar, closers=closers)
    else:
        parts.other(opener, closer)
