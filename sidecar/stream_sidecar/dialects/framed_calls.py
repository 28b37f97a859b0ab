"""Calls whose name and arguments stand between tokens.

Solar Open: ``<|tool_call:begin|>id<|tool_call:name|>f<|tool_call:args|>{}``; PLaMo:
``<|plamo:begin_tool_name:plamo|>f<|plamo:end_tool_name:plamo|>`` and so on; Inkling:
``<|message_model|>f<|content_invoke_tool_json|>{"name": "f", "args": {}}``. A family is
described by its tokens (`FramedCall`), or by the label before its body (`LabelledCall`:
CWM, Step-Audio). HyperCLOVA X, MiniMax and others have a grammar each.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.forms.call_bodies import (
    Parameter,
    calls_of,
    cut_calls,
    cut_part,
    json_part,
    typed,
)
from stream_sidecar.forms.form import Form, Found, MalformedError, WrittenCall, mark
from stream_sidecar.forms.grammar import LONGEST_NAME, literals
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.forms.literals import Literals
from stream_sidecar.forms.shared_grammars import (
    NAME,
    begin_reasoning,
    closed_object,
    framed_calls,
    json_calls,
    section,
    tool_name,
    value,
)
from stream_sidecar.records import frozen
from stream_sidecar.values.relaxed import ObjectScanner

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.forms.call_bodies import Calls
    from stream_sidecar.forms.grammar import Cursor, Extent, Reading

_ID = patterns.compile(r"[^\s<>]*+")


@frozen
class FramedCall:
    """The tokens of a family: before several calls, before each call, its name and its
    arguments, and after it. Any of them may be missing if another one says the same
    (text rule 11.23).
    ``closers``: of a call and of several calls."""

    section: tuple[str, ...]
    begin: str
    name: str
    arguments: tuple[str, ...]
    end: tuple[str, ...]
    closers: tuple[str, ...]


def _framed(tokens: FramedCall) -> Callable[[Cursor], Reading[Found]]:
    def grammar(cursor: Cursor) -> Reading[Found]:
        ends = tokens.closers[1:]
        is_in_section = cursor.opener in tokens.section
        if is_in_section and (yield from section(cursor, tokens.begin, *ends)):
            return mark()
        yield from cursor.space()
        id = yield from cursor.run(_ID, LONGEST_NAME)
        yield from cursor.space()
        if (yield from cursor.optional(tokens.name)):
            yield from cursor.space()
            name = yield from tool_name(cursor, NAME)
        else:
            name, id = id, ""
        yield from cursor.space()
        begins = False
        for token in tokens.arguments:
            begins |= bool((yield from cursor.optional(token)))
            yield from cursor.space()
        if not begins and (not name or (yield from cursor.need()) != "{"):
            raise cursor.mismatch()
        cursor.partial = cut_part(name, cursor.position, id)
        part = yield from cursor.scan(ObjectScanner())
        for token in tokens.end:
            end = cursor.position
            cursor.closed_body = end, json_part(name, part, end, id)
            yield from cursor.space()
            if token is tokens.end[-1]:
                yield from cursor.literal(token)
            else:
                yield from cursor.optional(token)
        return Found(PieceKind.CALL, json_part(name, part, cursor.position, id))

    return grammar


def _form(tokens: FramedCall) -> Form:
    openers = (*tokens.section, tokens.begin)
    return Form(openers, _framed(tokens), tier="A", closers=tokens.closers)


_INKLING = "<|content_invoke_tool_json|>"


def _inkling(cursor: Cursor) -> Reading[Found]:
    """Reads Inkling's call: a name, its token and an object. The object has the name
    again and the arguments, or it is the arguments."""
    name = cursor.opener.removesuffix(_INKLING)
    if name == cursor.opener:
        name = yield from cursor.run(NAME, LONGEST_NAME)
        has_token = yield from cursor.optional(_INKLING)
        if not has_token and (not name or (yield from cursor.need()) != "{"):
            raise cursor.mismatch()
    yield from cursor.space()
    start = cursor.position
    cursor.partial = lambda raw: cut_calls(raw[start:], start)
    part = yield from cursor.scan(ObjectScanner())

    def read(raw: str) -> Calls:
        with suppress(MalformedError):
            calls = calls_of(raw[slice(*part)], start)
            if name in ("", calls[0].name):
                return calls
        return json_part(name, part, cursor.position)(raw)

    cursor.closed_body = cursor.position, read
    yield from cursor.space()
    yield from cursor.literal("<|end_message|>")
    return Found(PieceKind.CALL, read)


_GROK = ("<|tool_calls_begin|>", "<|tool_call_begin|>")
_GROK_ENDS = ("<|tool_sep|>", "<|tool_call_end|>", "<|tool_calls_end|>")
_LINE_END = Literals(("\n",))


def _grok(cursor: Cursor) -> Reading[Found]:
    """Reads Grok's call: the name, and after each separator a key and a value."""
    is_in_section = cursor.opener == _GROK[0]
    if is_in_section and (yield from section(cursor, _GROK[1], _GROK_ENDS[2])):
        return mark()
    yield from cursor.space()
    name = yield from cursor.word(NAME)
    yield from cursor.blanks()
    yield from cursor.literal("\n", "\r\n")
    yield from cursor.space()
    parts: list[tuple[str, Extent]] = []

    def calls(raw: str, end: int) -> Calls:
        parameters = [Parameter(key, raw[slice(*part)]) for key, part in parts]
        return [WrittenCall(name, typed(name, parameters, cursor.context), end)]

    cursor.partial = lambda raw: calls(raw, len(raw))
    while (token := (yield from cursor.literal(*_GROK_ENDS))) == _GROK_ENDS[0]:
        key = (yield from cursor.before("\n")).strip()
        parts.append((key, (yield from value(cursor, _LINE_END, *_GROK_ENDS))))
    cursor.index -= len(token) * (token == _GROK_ENDS[2])
    end = cursor.position
    return Found(PieceKind.CALL, lambda raw: calls(raw, end))


_TYPE = "function"


@frozen
class LabelledCall:
    """A call with a label and a body. ``label`` reads up to the body and returns the
    name. ``end`` closes the body. The body is an object. With ``text`` it may be other
    text, which the tool gets unchanged."""

    label: Callable[[Cursor], Reading[str]]
    end: str
    text: bool = False

    def grammar(self, cursor: Cursor) -> Reading[Found]:
        name = yield from self.label(cursor)
        if not self.text or (yield from cursor.need()) == "{":
            return (yield from closed_object(cursor, name, self.end))
        (start, end), closer = yield from cursor.until(literals(self.end))
        cursor.index += len(closer)
        place = cursor.position

        def read(raw: str) -> list[WrittenCall]:
            return [WrittenCall(name, raw[start:end].strip("\n"), place, text=True)]

        return Found(PieceKind.CALL, read)


def _cwm_label(cursor: Cursor) -> Reading[str]:
    """Reads ``<tool: f>``, or ``<tool: function>`` and the name."""
    name = yield from cursor.label(">")
    yield from cursor.space()
    if name == _TYPE:
        name = yield from cursor.word(NAME)
        yield from cursor.space()
    return name


def _step_audio_label(cursor: Cursor) -> Reading[str]:
    """Reads Step-Audio 2's label: ``function`` and the name, each on its own line."""
    yield from cursor.optional("\n")
    yield from cursor.literal(f"{_TYPE}\n")
    name = yield from cursor.word(NAME)
    yield from cursor.literal("\n")
    return name


_CWM = LabelledCall(_cwm_label, "</tool>", text=True)
_STEP_AUDIO = LabelledCall(_step_audio_label, "</tool_call>")
_HYPERCLOVA = "<|im_start|>assistant -> tool/function_call\n"
_QUOTE = Literals(('"',))


def _arrow(cursor: Cursor) -> Reading[Found]:
    """Reads MiniMax's ``{tool => "f", args => {--a "1"}}``; ``args`` may be JSON."""
    yield from cursor.space()
    yield from cursor.literal('{tool => "')
    name = yield from cursor.before('"')
    yield from cursor.literal(", args => ")
    start = cursor.position
    yield from cursor.literal("{")
    yield from cursor.space()
    parts: list[tuple[str, Extent]] = []
    while (yield from cursor.optional("--")):
        key = yield from cursor.word(NAME)
        yield from cursor.literal(' "')
        parts.append((key, (yield from value(cursor, _QUOTE, "--", "}"))))
    if parts:
        yield from cursor.literal("}")
    else:
        scanner = ObjectScanner()
        scanner.scan("{", 0)
        part = start, (yield from cursor.scan(scanner))[1]
    yield from cursor.space()
    yield from cursor.literal("}")
    end = cursor.position

    def read(raw: str) -> Calls:
        parameters = [Parameter(key, raw[slice(*part)]) for key, part in parts]
        return [WrittenCall(name, typed(name, parameters, cursor.context), end)]

    cursor.closed_body = end, read if parts else json_part(name, part, end)
    yield from cursor.space()
    yield from cursor.literal("[/TOOL_CALL]")
    return Found(PieceKind.CALL, cursor.closed_body[1])


def _rwkv(cursor: Cursor) -> Reading[Found]:
    """Reads RWKV's call after its heading: JSON in a fence."""
    yield from cursor.space()
    yield from cursor.literal("```json", "```")
    yield from cursor.space()
    calls = yield from framed_calls(cursor, "```", opener="{[")
    return Found(PieceKind.CALL, calls)


_STRING_ARGUMENTS = patterns.compile(r'"arguments"\s*+:\s*+"')


def _rwkv_bare(cursor: Cursor) -> Reading[Found]:
    """Reads RWKV's fence without the heading. It is a call only if the arguments are a
    string, as in the requests that the model was trained on."""
    calls = yield from framed_calls(cursor, "```", opener="{[")

    def read(raw: str) -> Calls:
        if not _STRING_ARGUMENTS.search(raw):
            raise MalformedError("it is an example")
        return calls(raw)

    return Found(PieceKind.CALL, read)


_SOLAR = FramedCall(
    ("<|begin|>assistant<|tool_calls|>", "<|tool_calls|>"),
    "<|tool_call:begin|>",
    "<|tool_call:name|>",
    ("<|tool_call:args|>",),
    ("<|tool_call:end|>",),
    ("<|tool_call:end|>", "<|calls|>"),
)


def _plamo_token(name: str) -> str:
    return f"<|plamo:{name}:plamo|>"


_PLAMO = FramedCall(
    (_plamo_token("begin_tool_requests"),),
    _plamo_token("begin_tool_request"),
    _plamo_token("begin_tool_name"),
    (
        _plamo_token("end_tool_name"),
        _plamo_token("begin_tool_arguments"),
        "<|plamo:constrain|>json",
        "<|plamo:msg|>",
    ),
    (_plamo_token("end_tool_arguments"), _plamo_token("end_tool_request")),
    (_plamo_token("end_tool_request"), _plamo_token("end_tool_requests")),
)

FORMS: dict[str, tuple[Form, ...]] = {
    "solar": (_form(_SOLAR),),
    "plamo": (_form(_PLAMO),),
    "inkling": (
        Form(("<|message_model|>", _INKLING), _inkling, tier="A"),
        Form(
            (f"%s{_INKLING}",),
            _inkling,
            tier="A",
            place="line",
            vague=True,
            per_tool=True,
        ),
    ),
    "sarashina": (Form(("<|tool_calls|>",), json_calls(), tier="A"),),
    "lfm2": (
        Form(("<|tool_call_start|>",), json_calls("<|tool_call_end|>"), tier="A"),
    ),
    "pangu": (
        Form(
            ("[unused11]",), json_calls("[unused12]"), tier="B", closers=("[unused12]",)
        ),
    ),
    "minimax-m2": (Form(("[TOOL_CALL]",), _arrow, tier="B"),),
    "grok": (Form(_GROK, _grok, tier="A", closers=_GROK_ENDS[1:]),),
    "cwm": (Form(("<tool: ",), _CWM.grammar, tier="B", vague=True),),
    "step-audio": (
        Form(("<tool_call>",), _STEP_AUDIO.grammar, tier="B", needs=(_STEP_AUDIO.end,)),
    ),
    "hyperclova": (
        Form((f"<|im_end|>\n{_HYPERCLOVA}", _HYPERCLOVA), json_calls(), tier="A"),
        Form(("/think\n",), begin_reasoning, tier="A", place="start", vague=True),
        Form(
            ("-> tool/function_call\n",),
            json_calls(),
            tier="A",
            place="start",
            vague=True,
        ),
    ),
    "rwkv": (Form(("**Tool Call:**",), _rwkv, tier="B", place="line", vague=True),),
    "rwkv-fence": (
        Form(("```json\n",), _rwkv_bare, tier="B", place="line", vague=True),
    ),
}
