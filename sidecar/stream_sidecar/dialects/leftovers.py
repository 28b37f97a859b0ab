"""Leftovers of any model in an answer: tokens of turns, reserved tokens, citation
markers.

Tokens of turns (see ``turns``) are removed only at the answer's ends, because an answer
may mention them. Reserved tokens and citation markers are removed anywhere outside code
(text rule 12.2, text rule 12.4). The forms of repeated results are here as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar import patterns
from stream_sidecar.dialects.gemma import RESULTS
from stream_sidecar.dialects.turns import TURN_FORMS, last_token, turn_token
from stream_sidecar.forms.call_bodies import looks_like_call
from stream_sidecar.forms.form import Dialect, Form, Found, MalformedError, mark
from stream_sidecar.forms.grammar import literals
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.forms.repeated_results import BEGINNING
from stream_sidecar.forms.shared_grammars import markup
from stream_sidecar.values.relaxed import ObjectScanner, parse

if TYPE_CHECKING:
    from stream_sidecar.forms.grammar import Cursor, Reading
    from stream_sidecar.forms.literals import Pair

_STRIKETHROUGH = ("<s>", "<s ", "<s\t", "<s\n")
_NUMBERED = ("<SPECIAL_", "<reserved_", "<|reserved_")
_DIGITS = patterns.compile(r"[0-9]*+")


def _reserved(cursor: Cursor) -> Reading[Found]:
    """Reads the number and end of ``<unusedN>``, ``<ctrlN>`` .. (text rule 12.2)."""
    digits = yield from cursor.run(_DIGITS, 6)
    if not digits:
        raise cursor.mismatch()
    yield from cursor.literal("|>" if cursor.opener.startswith("<|") else ">")
    return mark()


LONGEST_MARKER = 4096
"""A citation's marker has at most this many code points, including all references."""

_WORD = patterns.compile("[a-z_]")
_CITED = patterns.compile("\ue202([^\ue200-\ue202]+)")
_INSIDE = patterns.compile("[^\ue200\ue201]*+")


def _marker(cursor: Cursor) -> Reading[Found]:
    """Reads a citation's marker: U+E200, a word, references, each after U+E202, and
    U+E201. No other marker may begin inside it (text rule 12.4)."""
    text = yield from cursor.run(_INSIDE, LONGEST_MARKER)
    yield from cursor.literal("\ue201")
    if not _WORD.match(text):
        raise cursor.mismatch(0)  # an icon, perhaps
    return Found(PieceKind.CITE, content=tuple(_CITED.findall(text)))


_TAGGED = {
    "{render_inline_citation ": "}",  # Grok's
    "<grok:render ": "</grok:render>",
    "<cite index=": ">",  # Claude's
}
"""A citation that is written as a tag -> its end. The last one is Claude's."""
_GROK = tuple(_TAGGED)[:2]

_REFERENCE = patterns.compile(r"(?:\A[\"']|citation_id[\"']?[=>][\"']?)([\w,. -]+)")


def _citation(cursor: Cursor) -> Reading[Found]:
    """Reads a citation's tag with its references, ``3`` or ``0-1,0-4``."""
    text = yield from cursor.before(_TAGGED[cursor.opener])
    reference = _REFERENCE.search(text)
    if reference is None:
        raise cursor.mismatch(0)
    cited = (each.strip() for each in reference[1].split(","))
    return Found(PieceKind.CITE, content=tuple(cited))


def _cited(_cursor: Cursor) -> Reading[Found]:
    """Reads the closer of a citation's tag; what is cited stays."""
    yield from ()
    return mark()


def _echo(cursor: Cursor) -> Reading[Found]:
    """Reads an object at the answer's start: a result? (text rules 10.1, 10.7)"""
    cursor.rewind()
    tools, rules = cursor.context.tools or {}, cursor.context.echo
    checks = (BEGINNING, rules.begins), (rules.patience, rules.may_continue)
    start, end = yield from cursor.scan_checked(ObjectScanner(), *checks)

    def read(raw: str) -> Any:
        value = parse(raw[start:end])
        if looks_like_call(value) in tools:
            raise MalformedError("it is a call")
        if not rules.qualifies(value, raw[start:end]):
            raise MalformedError("it is no result")
        return value

    return Found(PieceKind.RESULT, read)


_RESULT_TAGS = tuple(
    f"<{name}>"
    for name in (
        "function_results",
        "function_result",
        "function_response",
        "tool_result",
        "tool_response",
        "tool_output",
    )
)


def _results(cursor: Cursor) -> Reading[Found]:
    start = cursor.position
    (_, end), closer = yield from cursor.until(literals(f"</{cursor.opener[1:]}"))
    cursor.index += len(closer)
    return Found(PieceKind.RESULT, lambda raw: _unwrapped(raw[start:end]))


_WRAPPER = patterns.compile(r"\s*+<(result|output|stdout|content)>")


def _unwrapped(text: str) -> str:
    """``text`` without line breaks around it, and without elements around all of it."""
    while wrapper := _WRAPPER.match(text):
        inner, closer, rest = text[wrapper.end() :].partition(f"</{wrapper[1]}>")
        if not closer or rest.strip():
            break
        text = inner
    return text.strip("\n")


FORMS: dict[str, tuple[Form, ...]] = {
    name: (
        Form(
            tuple(tokens), grammar, tier="B", place="end", vague=True, about="leftovers"
        ),
    )
    for name, grammar, *tokens in (
        ("laguna", turn_token, "</assistant>"),
        ("ling", turn_token, "</role>", "<|role_end|>"),
        ("gigachat", last_token, "<|message_sep|>"),
    )
}
"""Tokens that end a turn in one family only: other models write them in text, or begin
a call with them."""

FORMS["minicpm-v"] = (
    Form(_NUMBERED, _reserved, tier="B", vague=True, about="reserved"),
)

FORMS["claude-citations"] = (
    Form(("<cite index=",), _citation, tier="B", vague=True, about="reserved"),
    Form(("</cite>",), _cited, tier="B", vague=True, about="reserved"),
    Form(
        ("<cite>", "<cite "),
        markup,
        tier="B",
        vague=True,
        about="leftovers",
        pending_closers=("</cite>",),
    ),
)
"""Claude's citations, ``<cite index="0-1">words</cite>``: the words stay."""

LEFTOVERS = Dialect(
    "leftovers",
    forms=(
        *TURN_FORMS,
        Form(
            _NUMBERED, _reserved, tier="B", place="end", vague=True, about="leftovers"
        ),
        Form(
            _STRIKETHROUGH,
            markup,
            tier="B",
            vague=True,
            about="leftovers",
            pending_closers=("</s>",),
        ),
        Form(("<unused", "<ctrl"), _reserved, tier="B", vague=True, about="reserved"),
        Form(("\ue200",), _marker, tier="B", vague=True, about="reserved"),
        Form(_GROK, _citation, tier="B", vague=True, about="reserved"),
    ),
)

_TAG = patterns.compile(r"<[\w:.-]+>")


def elements_of(pairs: tuple[Pair, ...]) -> Dialect:
    """The dialect of the openers of ``pairs`` with attributes (``<think class="x">``).
    Such an opener is text, and so is its closer (text rule 4.13)."""
    forms = (
        Form(
            openers=tuple(f"{opener[:-1]}{blank}" for blank in " \t\n"),
            grammar=markup,
            tier="B",
            vague=True,
            about="leftovers",
            pending_closers=(closer,),
        )
        for opener, closer in pairs
        if _TAG.fullmatch(opener)
    )
    return Dialect("elements", forms=tuple(forms))


TAGGED = (Form(_RESULT_TAGS, _results, tier="B", called=True, about="results"),)
RESULTS_DIALECT = Dialect(
    "tool-results",
    forms=(
        Form(("{",), _echo, tier="B", place="start", vague=True, about="echoes"),
        *RESULTS,
        *TAGGED,
    ),
)
