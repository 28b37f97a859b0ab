"""The tokens with which chat templates begin and end a turn, by family.

A model that does not stop in time writes them behind its answer, and one whose prompt
was cut repeats them before it: ``Done.<|im_end|>\n<|im_start|>user``. `turn_token`
reads one of them. At the answer's end they are removed in any number and order (text
rule 12.1), and at its start those that begin a turn (text rule 12.7).
"""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from stream_sidecar.forms.form import Form, Found, mark
from stream_sidecar.records import frozen

if TYPE_CHECKING:
    from stream_sidecar.forms.grammar import Cursor, Reading


@frozen
class TurnTokens:
    """The tokens of a family. ``ends``: they end a turn. ``begins``: they begin a text.
    ``roles``: each is a whole header of a turn. ``header``: the token before the name
    of a role. ``after_role``: the token after this name; a line break may stand there,
    too."""

    ends: tuple[str, ...] = ()
    begins: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    header: str = ""
    after_role: str = ""


TURNS: dict[str, TurnTokens] = {
    "apertus": TurnTokens(
        ends=("<|assistant_end|>",),
        roles=("<|assistant_start|>", "<|user_start|>", "<|system_start|>"),
    ),
    "chatml": TurnTokens(
        ends=("<|im_end|>", "<|im_end>", "<|endoftext|>"), header="<|im_start|>"
    ),
    "cohere": TurnTokens(
        ends=("<|END_OF_TURN_TOKEN|>",),
        begins=("<BOS_TOKEN>",),
        roles=(
            "<|START_OF_TURN_TOKEN|>",
            "<|CHATBOT_TOKEN|>",
            "<|USER_TOKEN|>",
            "<|SYSTEM_TOKEN|>",
        ),
    ),
    "deepseek": TurnTokens(
        ends=("<｜end▁of▁sentence｜>", "<|end▁of▁sentence|>"),
        begins=("<｜begin▁of▁sentence｜>", "<|begin▁of▁sentence|>"),
        roles=("<｜User｜>", "<｜Assistant｜>", "<|User|>", "<|Assistant|>"),
    ),
    "ernie": TurnTokens(
        ends=("<|end_of_sentence|>",), begins=("<|begin_of_sentence|>",)
    ),
    "exaone": TurnTokens(
        ends=("[|endofturn|]", "<|endofturn|>"),
        begins=("[BOS]",),
        roles=("[|user|]", "[|assistant|]", "[|system|]"),
    ),
    "gemma": TurnTokens(
        ends=("<end_of_turn>", "<eos>", "<start_function_response>"),
        begins=("<bos>",),
        header="<start_of_turn>",
    ),
    "gemma4": TurnTokens(ends=("<turn|>", "<|tool_response>"), header="<|turn>"),
    "glm": TurnTokens(
        ends=("<|observation|>",),
        begins=("[gMASK]", "<sop>"),
        roles=("<|user|>", "<|assistant|>", "<|system|>"),
    ),
    "granite": TurnTokens(header="<|start_of_role|>", after_role="<|end_of_role|>"),
    "hunyuan": TurnTokens(
        ends=("<|hy_eos|>", "<|eos|>"),
        begins=("<｜hy_begin▁of▁sentence｜>", "<|startoftext|>"),
        roles=("<｜hy_User｜>", "<｜hy_Assistant｜>"),
    ),
    "inkling": TurnTokens(ends=("<|content_model_end_sampling|>",)),
    "iquest": TurnTokens(ends=("<|iquest_end|>",)),
    "kimi": TurnTokens(header="<|im_assistant|>", after_role="<|im_middle|>"),
    "kimi-user": TurnTokens(header="<|im_user|>", after_role="<|im_middle|>"),
    "llama2": TurnTokens(ends=("</s>",), begins=("<s>", "[/INST]"), roles=("[INST]",)),
    "llama3": TurnTokens(
        ends=("<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"),
        begins=("<|begin_of_text|>",),
        header="<|start_header_id|>",
        after_role="<|end_header_id|>",
    ),
    "llama4": TurnTokens(
        ends=("<|eot|>", "<|eom|>"),
        header="<|header_start|>",
        after_role="<|header_end|>",
    ),
    "minimax": TurnTokens(ends=("[e~[",), begins=("]~!b[",), header="]~b]"),
    "mistral": TurnTokens(ends=("[EOS]",)),
    "phi4": TurnTokens(header="<|im_start|>", after_role="<|im_sep|>"),
    "plamo": TurnTokens(ends=("<|plamo:tag|>",)),
    "seed": TurnTokens(ends=("<seed:eos>",), header="<seed:bos>"),
    "solar": TurnTokens(ends=("<|calls|>",)),
    "telechat": TurnTokens(ends=("<|end_of_msg|>",)),
}

WORDS = ("<s>", "<bos>", "[BOS]", "[INST]", "[/INST]")
"""Tokens that a sentence or HTML has, too: ``The first token is <s>``."""

STOP_TOKENS = tuple(chain.from_iterable(turn.ends for turn in TURNS.values()))
"""The tokens that end a turn, of all families. ``</s>`` stays after ``<s>``: it may be
HTML."""

_BEGINS = tuple(chain.from_iterable(turn.begins for turn in TURNS.values()))
_ROLE_TOKENS = tuple(chain.from_iterable(turn.roles for turn in TURNS.values()))
_HEADERS = tuple(sorted({turn.header for turn in TURNS.values()} - {""}))
_AFTER_ROLE = tuple(sorted({turn.after_role for turn in TURNS.values()} - {""}))
TOKENS = (*STOP_TOKENS, *_BEGINS, *_ROLE_TOKENS, *_HEADERS)
"""All tokens that may stand in a row at the end of an answer."""

_ROLES = (
    *("system", "developer", "user", "assistant", "model", "ai"),
    *("tool", "function", "ipython"),
)
_ROLE_ENDS = tuple(
    f"{blank}{role}{end}"
    for blank in ("", " ")
    for role in _ROLES
    for end in (
        *(f"{t}{b}" for t in _AFTER_ROLE for b in ("", "\n", "\n\n")),
        "\n",
        "\r\n",
    )
)
_BLANKS = (" ", "\t")
_LONGEST_LINE = 256


def _read_role(cursor: Cursor) -> Reading[bool]:
    """Reads the name of a role, and what ends the header. Returns whether they stand
    there, at least as far as the text goes."""
    if (yield from cursor.optional(*_ROLE_ENDS)):
        return True
    rest = cursor.text[cursor.index :]
    is_cut = cursor.final and any(each.startswith(rest) for each in _ROLE_ENDS)
    cursor.index += len(rest) if is_cut else 0
    return is_cut


def _read_header(cursor: Cursor, *others: str) -> Reading[None]:
    """Reads the role behind a header's token. Instead of it neither a role with more
    behind it may stand there nor one of ``others``."""
    if not (yield from _read_role(cursor)):
        yield from _refuse(cursor, *others, *_ROLES)


def _refuse(cursor: Cursor, *words: str) -> Reading[None]:
    if word := (yield from cursor.ahead(*words)):
        raise cursor.mismatch(len(word))


def turn_token(cursor: Cursor) -> Reading[Found]:
    """Reads a token of the answer's end, with the role in a header. A role with more
    behind it is no header: ``<|im_start|>assistant -> tool/f`` begins a call."""
    if cursor.inside:
        return (yield from last_token(cursor))
    if cursor.opener in _HEADERS:
        yield from _read_header(cursor)
    return mark()


def last_token(cursor: Cursor) -> Reading[Found]:
    """Reads a token after which only tokens come; not the blanks at the end."""
    token = cursor.opener
    while True:
        if token in _HEADERS:
            yield from _read_role(cursor)
        end = cursor.position
        yield from cursor.space()
        if not (yield from cursor.peek()):
            break
        token = yield from cursor.literal(*TOKENS)
    cursor.index -= cursor.position - end
    return mark()


def _line(cursor: Cursor) -> Reading[str]:
    """Returns the rest of the line, unread; only its beginning if it is long."""
    while True:
        ahead = cursor.text[cursor.index : cursor.index + _LONGEST_LINE]
        if "\n" in ahead or len(ahead) == _LONGEST_LINE or cursor.final:
            return ahead.partition("\n")[0]
        yield


def _first_token(cursor: Cursor) -> Reading[Found]:
    """Reads a token of the answer's start (text rule 12.7). One that begins a turn may
    be a word if a blank, or a role and more, comes after it: ``<|user|> is a token``.
    ``<s>`` may be HTML."""
    if cursor.opener == "<s>":
        line = yield from _line(cursor)
        if "</s>" in line:
            raise cursor.mismatch(line.index("</s>") + len("</s>"))
    elif cursor.opener in _HEADERS:
        yield from _read_header(cursor, *_BLANKS)
    elif cursor.opener not in _BEGINS:
        yield from _refuse(cursor, *_BLANKS)
    return mark()


_LEFTOVERS = partial(Form, tier="B", vague=True, about="leftovers")
TURN_FORMS = (
    _LEFTOVERS(
        tuple(token for token in TOKENS if token not in WORDS), turn_token, place="end"
    ),
    _LEFTOVERS(WORDS, last_token, place="sentence-end"),
    _LEFTOVERS((*_BEGINS, *_ROLE_TOKENS, *_HEADERS), _first_token, place="start"),
)
