"""Harmony, used by gpt-oss and Muse: a header says whom the model addresses.

A header is ``<|start|>role to=f<|channel|>channel to=f <|constrain|>type<|message|>``;
most of its parts may be missing. A message in the channel ``analysis`` is reasoning. A
message with a recipient (``to=f``) is a call. Any other message is the answer. Other
words make no header, so ``<|channel|> is a token`` is text. If the tokens were lost,
the words ``analysis`` and ``assistantfinal`` are left. OpenAI describes the format in
the repository openai/harmony.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.dialects.invoke_tags import atem_calls
from stream_sidecar.dialects.turns import TOKENS
from stream_sidecar.forms.call_bodies import cut_part, json_part
from stream_sidecar.forms.form import Form, Found, WrittenCall, mark
from stream_sidecar.forms.grammar import LONGEST_NAME, EndedError, MismatchError
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.forms.literals import Literals
from stream_sidecar.forms.shared_grammars import NAME, end_reasoning, reasoning
from stream_sidecar.records import define
from stream_sidecar.values.relaxed import ObjectScanner

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.forms.grammar import Cursor, Reading

_CHANNELS = ("analysis", "commentary", "final")
_SHORTEST = 4
"""This many letters are enough to identify a channel."""

_LETTERS = patterns.compile(r"[a-z]*+")
_TEXT_ENDS = Literals(("<|call|>", "<|end|>", "<|eom|>", "<|eot|>"))
_NOT_TOOLS = ("user", "self", "assistant", "all", "")
_TOKENS = ("<|message|>", "<|channel|>", "<|constrain|>", "to=")


@define
class _Header:
    """A header as far as it was read. ``end``: where it ends if ``<|message|>`` is
    missing; 0: then it is no header."""

    role: str = ""
    channel: str = ""
    recipient: str = ""
    end: int = 0


def _header(*, bare: bool) -> Callable[[Cursor], Reading[Found]]:
    """The grammar of a header and its call. ``bare``: a channel alone is a header."""

    def grammar(cursor: Cursor) -> Reading[Found]:
        header = _Header()
        try:
            yield from _words(cursor, header, bare=bare)
        except (MismatchError, EndedError):
            if not header.end:
                raise
            header.recipient = ""
            cursor.index -= cursor.position - header.end
        if header.recipient not in _NOT_TOOLS:
            if cursor.context.calls == "off":
                raise cursor.mismatch(0)
            return (yield from _call(cursor, header.recipient))
        if header.channel == "analysis" or header.recipient == "self":
            return Found(PieceKind.ENTER)
        return mark(ends=True)

    return grammar


def _words(cursor: Cursor, header: _Header, *, bare: bool) -> Reading[None]:
    """Reads the parts of ``header`` up to ``<|message|>`` or to a call's arguments."""
    tokens, part, constrained = list(_TOKENS), cursor.opener, False
    while part != "<|message|>":
        if part == "<|start|>":
            header.role = yield from cursor.word(NAME)
        elif part.endswith("<|channel|>"):
            bare = bare or header.role == "assistant"
            is_nameless = header.role and (yield from cursor.ahead("<|message|>"))
            if not is_nameless:
                header.channel = yield from _channel(cursor, exact=not bare)
            header.end = cursor.position if bare and header.channel else 0
        elif part == "to=":
            header.recipient = _apart(cursor, (yield from cursor.word(NAME)))
        else:
            yield from cursor.word(_LETTERS)  # one word of constraint
            tokens, constrained = ["<|message|>"], True
        tokens = [token for token in tokens if token != part or part == _HEADS[0]]
        yield from cursor.blanks()
        is_addressed = header.recipient and (header.role or header.channel)
        if is_addressed and (yield from cursor.peek()) == "{":
            return
        part = yield from (cursor.literal if constrained else cursor.optional)(*tokens)


_HEADER_WORDS = ("json", "code", "text", "analysis", "commentary", "final")


def _apart(cursor: Cursor, name: str) -> str:
    """The tool that ``name`` means: words of the header (``functions.shelljson``) may
    stand right after a declared name."""
    name, tools = name.removeprefix("functions."), cursor.context.tools or ()
    tool = name
    while tool not in tools:
        word = next((word for word in _HEADER_WORDS if tool.endswith(word)), "")
        if not word:
            return name
        tool = tool.removesuffix(word)
    return tool


def _channel(cursor: Cursor, *, exact: bool) -> Reading[str]:
    """Reads a channel's name, or unless ``exact`` its first four letters. A word before
    another ``<|channel|>`` is none: the model began again."""
    name = yield from cursor.run(NAME, LONGEST_NAME)
    for channel in _CHANNELS:
        is_short = len(name) >= _SHORTEST and channel.startswith(name)
        if channel == name or (is_short and not exact):
            return channel
    if not (yield from cursor.ahead(_HEADS[0])):
        yield from cursor.need()
        raise cursor.mismatch()
    return ""


def _call(cursor: Cursor, name: str) -> Reading[Found]:
    """Reads the arguments of a call of ``name``, and ``<|call|>``."""
    yield from cursor.space()
    cursor.partial = cut_part(name, cursor.position)
    if (yield from cursor.ahead("<atem:function_calls>")):
        return (yield from atem_calls(cursor))
    if (yield from cursor.need()) != "{":
        (start, end), closer = yield from cursor.until(_TEXT_ENDS)
        cursor.index += len(closer)
        place = cursor.position
        return Found(
            PieceKind.CALL, lambda raw: [_free_call(name, raw[start:end], place)]
        )
    part = yield from cursor.scan(ObjectScanner())
    yield from cursor.optional("<|call|>")
    return Found(PieceKind.CALL, json_part(name, part, cursor.position))


def _free_call(name: str, text: str, end: int) -> WrittenCall:
    """A call with free text as its arguments; if the text is blank, without any."""
    is_text = bool(text.strip())
    return WrittenCall(name, text if is_text else "{}", end, text=is_text)


def _without_recipient(_cursor: Cursor) -> Reading[Found]:
    """Ends reasoning: a header without channel and recipient begins the answer."""
    yield from ()
    return mark(ends=True)


def _lost_end(cursor: Cursor) -> Reading[Found]:
    """Reads a header ``to=`` within a line: the message before it lost its end."""
    cursor.opener = "to="
    return (yield from _header(bare=False)(cursor))


def _border(cursor: Cursor) -> Reading[Found]:
    """Reads ``<|end|>`` or the like, in the answer before a header or at the end."""
    if not cursor.inside:
        end = cursor.position
        yield from cursor.space()
        if (yield from cursor.peek()):
            yield from cursor.literal("<|start|>", "<|channel|>", *TOKENS)
        cursor.index -= cursor.position - end
    return mark(ends=True)


_NO_THOUGHT = " \t\r\n:.(_=,"
_EATEN = ("assistantfinal", "assistantcommentary")
_EATEN_ENDS = Literals(_EATEN)


def _eaten(cursor: Cursor) -> Reading[Found]:
    """Reads reasoning whose special tokens were lost: it begins after ``analysis``, as
    in ``analysisWe need ..``, if ``assistantfinal`` or ``assistantcommentary`` follows
    later. ``analysis: ..`` and ``analysisResult = ..`` are text of the answer."""
    following = yield from cursor.need()
    if following in _NO_THOUGHT or following.islower():
        raise cursor.mismatch()
    start = cursor.position
    if following.isalpha():
        yield from _no_code(cursor)
    thought = yield from reasoning(cursor, _EATEN_ENDS)
    cursor.index = start - cursor.base
    return thought


_WORD = patterns.compile(r"\w*+")


def _no_code(cursor: Cursor) -> Reading[None]:
    """Reads a word. Raises if ``(`` or ``=`` follows: then the text is code."""
    yield from cursor.run(_WORD)
    if (yield from cursor.need()) == "(":
        raise cursor.mismatch()
    yield from cursor.blanks()
    if (yield from cursor.need()) == "=":
        raise cursor.mismatch()


def _eaten_call(cursor: Cursor) -> Reading[Found]:
    """Reads a call that lost its tokens: ``to=functions.f commentary json {..}``."""
    name = _apart(cursor, (yield from cursor.word(NAME)))
    yield from cursor.space()
    yield from cursor.optional(*_CHANNELS)
    yield from cursor.space()
    yield from cursor.optional("json", "(json)", "code")
    yield from cursor.space()
    part = yield from cursor.scan(ObjectScanner())
    return Found(PieceKind.CALL, json_part(name, part, cursor.position))


_HEADS = ("<|channel|>", "<|start|>")
_TORN_HEAD = "assistant<|channel|>"
_BORDERS = ("<|end|>", "<|return|>", "<|call|>")
_TO_FUNCTIONS = tuple(
    f"{lead}to=functions." for lead in ("", "assistant ", "commentary ")
)

FORMS: dict[str, tuple[Form, ...]] = {
    "harmony": (
        Form(_HEADS, _header(bare=False), tier="A", about="channels"),
        Form(("to=",), _header(bare=False), tier="A", place="start", vague=True),
        Form(_BORDERS, _border, tier="B", vague=True, about="channels"),
        Form(_TO_FUNCTIONS, _eaten_call, tier="C", place="line", vague=True),
    ),
    "harmony-eaten": (
        Form(_HEADS, _header(bare=True), tier="A", about="channels"),
        Form(
            (_TORN_HEAD,),
            _header(bare=True),
            tier="A",
            place="start",
            vague=True,
            about="channels",
        ),
        Form(
            ("analysis",),
            _eaten,
            tier="B",
            place="start",
            vague=True,
            about="leftovers",
        ),
        Form(_EATEN, end_reasoning, tier="B", vague=True, about="channels"),
        Form(_TO_FUNCTIONS, _eaten_call, tier="B", place="line", vague=True),
    ),
    "muse": (
        Form(("<|eom|>",), end_reasoning, tier="B", vague=True, about="channels"),
        Form(
            ("<|message|>",),
            _without_recipient,
            tier="A",
            place="start",
            about="channels",
        ),
        Form((" to=",), _lost_end, tier="A", vague=True, about="channels"),
    ),
}
