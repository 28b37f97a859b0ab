"""The table of dialects: how each family of models writes reasoning and calls in text.

``README.md`` here says how the table is built and how to add a dialect. Reasoning
pairs, marks and wrappers are rows of ``reasoning_tags``. Calls are forms, in one file
for each syntax. This module puts them together by family. Of all forms with the same
opener, the one that is complete first counts. So the order of the table matters only if
two forms are complete at the same character.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.dialects import (
    cofl,
    framed_calls,
    function_tags,
    gemma,
    harmony,
    invoke_tags,
    json_calls,
    keyed_tags,
    leftovers,
    phrases,
    python_calls,
    tag_trees,
    tokens,
    tool_code,
    transcripts,
)
from stream_sidecar.dialects.reasoning_tags import (
    ENDS,
    ENDS_REASONING,
    HEADERS,
    MARKS,
    PAIRS,
    UNSAFE,
    WITH,
    WITHOUT,
)
from stream_sidecar.dialects.reasoning_tags import SENTINELS as SENTINELS
from stream_sidecar.forms.form import Dialect, Form

if TYPE_CHECKING:
    from stream_sidecar.forms.literals import Pair

_BARE = patterns.compile(r"[\w:.-]+")
_LETTER = patterns.compile(r"\w")

_FORMS: dict[str, tuple[Form, ...]] = {}
for _file in (
    json_calls,
    function_tags,
    tokens,
    keyed_tags,
    framed_calls,
    leftovers,
    phrases,
    invoke_tags,
    cofl,
    python_calls,
    tool_code,
    gemma,
    harmony,
    tag_trees,
    transcripts,
):
    for _name, _forms in _file.FORMS.items():
        _FORMS[_name] = (*_FORMS.get(_name, ()), *_forms)

DIALECTS: dict[str, Dialect] = {
    name: Dialect(
        name,
        pairs=PAIRS.get(name, ()),
        marks=MARKS.get(name, ()),
        ends=ENDS.get(name, ()),
        headers=HEADERS.get(name, ()),
        forms=_FORMS.get(name, ()),
        safe=name not in UNSAFE,
        ends_reasoning=name in ENDS_REASONING,
    )
    for name in dict.fromkeys((*_FORMS, *PAIRS, *MARKS, *ENDS))
}
"""All families that a host can name in ``policy.dialects``."""

SAFE = tuple(name for name, dialect in DIALECTS.items() if dialect.safe)
"""The families whose forms are read for every model."""


def pair_of(tag: str) -> Pair:
    """The opener and the closer for one entry of ``reasoning.tags``.

    A bare name means ``<name>`` and ``</name>``. Any other entry is the opener, and the
    closer is the same with a slash before the first letter or digit (``[THINK]``,
    ``[/THINK]``), or, if there is none, before the last character.
    """
    if _BARE.fullmatch(tag):
        return f"<{tag}>", f"</{tag}>"
    match = _LETTER.search(tag)
    index = match.start() if match else len(tag) - 1
    return tag, f"{tag[:index]}/{tag[index:]}"


def tags_of(
    tags: tuple[str, ...], dialects: tuple[str, ...], host_dialects: tuple[Dialect, ...]
) -> tuple[str, ...]:
    """``tags``, and the openers of pairs of ``dialects`` and ``host_dialects``."""
    known = {pair_of(tag)[0] for tag in tags}
    spoken = (*host_dialects, *(DIALECTS[name] for name in dialects))
    openers = (opener for dialect in spoken for opener, _ in dialect.pairs)
    return tags + tuple(dict.fromkeys(o for o in openers if o and o not in known))


def without(names: tuple[str, ...]) -> frozenset[str]:
    """The families that the ``names`` families switch off."""
    return frozenset(family for name in names for family in WITHOUT.get(name, ()))


def companions(names: tuple[str, ...]) -> tuple[str, ...]:
    """The ``names`` families, and the families that come with them."""
    families = (family for name in names for family in WITH.get(name, ()))
    return tuple(dict.fromkeys((*names, *families)))
