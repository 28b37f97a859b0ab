"""Mentions: a delimiter, a token or a tag that the text only mentions is text.

For the answer, `is_mentioned` decides by text rules 4.6 and 4.10, `pair_of` by 4.12,
and `stands_in_sentence` by 12.6. Each looks at the text before a literal and at a
bounded window after it, and returns a verdict, or None if it needs more text. Example:
in ``Send "a </think> b" back.`` the closer is in a quoted string, so it is a mention.

For reasoning, `is_quoted` and `span_around` decide (text rule 4.5). There, emphasis and
brackets prove nothing, because reasoning may well end with them.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.forms.literals import UndecidedError
from stream_sidecar.markdown.runs import closing_run, open_runs
from stream_sidecar.records import hot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stream_sidecar.forms.literals import Literals

_OPENS_AFTER = " \t\r\f\v\n([{=,:"
"""A quote opens only after one of these characters, or at a line's start."""

_QUOTES = "`\"'”’»"  # each may open and close: the last three in Swedish and Finnish
_TYPOGRAPHIC = patterns.compile("..").findall("“”„“„”‘’‚‘‚’«»»«‹››‹「」『』")
_PAIRS = {*_TYPOGRAPHIC, *(quote * 2 for quote in _QUOTES)}
_OPENING = {pair[0] for pair in _PAIRS}
_OPENING_STRINGS = _OPENING - {"`"}
_BRACKETS = dict(zip("([《「（", ")]》」）", strict=True))
_EMPHASIS = "*_"
_SPACED = {"|": "|", "«": "»"}
"""Opening -> closing marks that may have a blank on their inner side."""

_BLANKS = " \u00a0\u202f"

STRING = 256
"""The opening and the closing quote of a string are each at most this many code points
away from the literal."""

WINDOW = STRING + 4
"""How many code points on each side of a literal are looked at. A quote may have three
signs, and the character next to a quote decides whether it opens or closes."""

BETWEEN = 16
"""At most this many code points stand between the opener and the closer of a mentioned
pair."""

LONGEST_SPAN = 200
"""In reasoning, at most this many code points of a code span are looked at on each side
of a literal."""

LONGEST_TAG = 48
"""A tag whose literal has no ``>`` (``<invoke``) must end within this many code points
after the literal."""

_TAG = patterns.compile(rf"[^<>\n]{{0,{LONGEST_TAG}}}+>")


class LiteralKind(Enum):
    """The kinds of literals that are mentioned in different ways."""

    TAG = 1  # a delimiter of reasoning, or a token
    CALL = 2  # the opener of a call or a result, which may have quotes of its own
    RESERVED = 3  # a citation's marker or a reserved token: nobody quotes these


@hot
class AnswerPlace:
    """A place in the answer. ``before``: the end of the text before it. ``is_all``:
    ``before`` is the whole answer so far. ``head``: the first character of the line.
    ``in_json``: the place is in a string of an answer that is JSON."""

    before: str
    is_all: bool
    head: str
    in_json: bool


def is_mentioned(
    place: AnswerPlace,
    literal: str,
    after: str,
    kind: LiteralKind,
    words: Literals,
    *,
    final: bool,
) -> bool | None:
    """Whether ``literal`` at ``place`` is a mention (text rule 4.6); None if more text
    is needed.

    ``after``: the text after the literal; only its first `WINDOW` code points are
    read. ``words``: all literals of the stream. ``final``: no more text comes, so the
    verdict is not None.
    """
    before = place.before
    if before.endswith(("\\", "(?", "(?P")):
        return True
    strings = kind is not LiteralKind.RESERVED
    if strings and place.in_json:
        return True
    between = _is_between(place, literal, after, words, final=final)
    if between or not strings:
        return between
    quoted = _is_in_string(place, after, kind, final=final)
    return quoted or (None if None in (between, quoted) else False)


@hot
class BorderPlace:
    """A place where a mark or a wrapper stands. ``before``: the text before it.
    ``shown``: the line has visible text before it. ``word``: the mark is a tag of plain
    letters, such as ``<response>``."""

    before: str
    shown: bool
    word: bool


_LINE_BLANKS = " \t\r"
_APART = " \t.,;:!?)"


def stands_in_sentence(
    place: BorderPlace, words: Literals, after: str, *, final: bool
) -> bool | None:
    """Whether a mark or wrapper at ``place`` is a word of a sentence (text rule 12.6):
    text stands on both sides, and a token has blanks, too. None: more text than
    ``after`` is needed. ``words``: all literals of the stream."""
    rest = after.lstrip(_LINE_BLANKS)
    if rest[:1] == "\n":
        if not (place.word and place.shown):
            return False
        rest = rest.lstrip()
        if rest:
            return True
    if not rest or (not final and words.certain(rest) == 0):
        return False if final else None
    if place.word or words.any.match(rest):
        return not words.any.match(rest)
    return place.before[-1:].isspace() and after[0] in _APART


# --- Between two marks ----------------------------------------------------------------


def _is_between(
    place: AnswerPlace, literal: str, after: str, words: Literals, *, final: bool
) -> bool | None:
    """Whether ``literal`` stands directly between the two marks of a pair, as in
    ``(</think>)`` (text rule 4.6). Further literals may stand next to it. None: more
    text is needed."""
    # If the literal is a mention, the literals right before it are mentions, too.
    closings = _closings(words.without_end(place.before[-WINDOW:]), place.head)
    if not closings:
        return False
    at = 0
    if literal[0] == "<" and ">" not in literal:
        tag = _TAG.match(after)
        if tag is None:
            waits = not final and len(after) <= LONGEST_TAG and "\n" not in after
            return None if waits and "<" not in after else False
        at = tag.end()
    while not after.startswith(closings, at):  # ``]`` may begin a literal, too
        match = words.any.match(after, at)
        if match is None:
            break
        at = match.end()
    return _closes(after[at:], closings, words, final=final)


def _closings(before: str, head: str) -> tuple[str, ...]:
    """The closing marks that fit the opening mark at the end of ``before``; () if
    ``before`` ends with no opening mark. ``head``: the first character of the line."""
    mark = before[-1:]
    wide = before[-2:-1] if mark and mark in _BLANKS else mark
    found = [_SPACED[wide]] if wide in _SPACED else []
    if wide == "|" and head != "|":
        found = []
    found += [blank + each for each in found for blank in _BLANKS]
    if not mark or mark in _BLANKS:
        return tuple(found)
    if mark in _BRACKETS:
        return (_BRACKETS[mark],)
    if mark in _EMPHASIS:
        return (mark,) if _opens(before.rstrip(mark)[-1:]) else ()
    if mark not in _QUOTES or _opens(before[-2:-1]):
        found += [pair[1] for pair in _PAIRS if pair[0] == mark]
    return tuple(found)


def _opens(front: str) -> bool:
    """Whether a quote may open after ``front``, the character before the quote; "" if
    there is no character before it."""
    return front in _OPENS_AFTER


def _closes(
    rest: str, closings: tuple[str, ...], words: Literals, *, final: bool
) -> bool | None:
    """Whether ``rest`` begins with one of ``closings``. None: more text is needed,
    because ``rest`` is the beginning of a closing mark or of a literal."""
    if rest.startswith(closings):
        mark = rest[0]
        if mark not in _EMPHASIS:
            return True
        following = rest.lstrip(mark)
        if not following and not final:
            return None
        return not following[:1].isalnum()
    waits = rest in words.prefixes or any(each.startswith(rest) for each in closings)
    return None if waits and not final else False


# --- In a quoted string ---------------------------------------------------------------


def _is_in_string(
    place: AnswerPlace, after: str, kind: LiteralKind, *, final: bool
) -> bool | None:
    """Whether a quote opens before the literal and closes after it on the same line
    (text rule 4.10). None: more text is needed."""
    quote = _open_quote(place)
    if not quote:
        return False
    for at, sign in _quotes(after[:WINDOW]):
        if sign == "\n" or at >= STRING:
            return False
        following = after[at + len(sign) : WINDOW]
        if len(following) < 2 and not final and sign != "/":
            return None  # a letter, or two more quotes, may follow
        if sign in _partners(quote) and _ends(sign, following):
            return True
        own = kind is LiteralKind.CALL and at and _opens(after[at - 1])
        if own and sign in _partners(quote):
            return False  # a string inside the call begins
    return None if not final and len(after) < STRING else False


def _open_quote(place: AnswerPlace) -> str:
    """The quote that is open at ``place``; "" if no quote is open."""
    line = place.before[-WINDOW:].rpartition("\n")[2]
    if line[-1:] == "/" and _opens(line[-2:-1]):
        return "/"
    quote, first = "", len(line) - STRING
    for at, sign in _quotes(line):
        if quote:
            ends = sign in _partners(quote) and _ends(sign, line[at + len(sign) :])
            quote = "" if ends else quote
        elif (
            at >= first and _begins(line, at, sign) and not _is_first(place, line[at:])
        ):
            quote = sign
    return quote


def _is_first(place: AnswerPlace, rest: str) -> bool:
    """Whether the answer begins with ``rest``, the end of the text before ``place``.
    Blanks before ``rest`` do not matter."""
    return place.is_all and not place.before[: -len(rest)].strip()


_SIGNS = patterns.compile(r"\\.|\"\"\"|'''|[\"'”’“„‘‚«»‹›「」『』/\n]", re.DOTALL)
_PREFIXED = patterns.compile(r"(?:^|[\s(\[{=,:])[rRbBfFuU]{1,2}\Z")


def _quotes(text: str) -> Iterator[tuple[int, str]]:
    """The quotes and line breaks in ``text``, each with its place. Three quotes in a
    row count as one quote, and a quote after a backslash does not count."""
    for match in _SIGNS.finditer(text):
        if match[0][0] != "\\":
            yield match.start(), match[0]


def _begins(line: str, at: int, sign: str) -> bool:
    """Whether the quote ``sign`` at ``at`` opens a string."""
    if sign[0] not in _OPENING_STRINGS:
        return False
    return _opens(line[at - 1 : at] if at else "") or bool(
        sign[0] in "\"'" and _PREFIXED.search(line, max(at - 3, 0), at)
    )


def _partners(quote: str) -> Iterable[str]:
    if quote == "/" or quote[0] in "\"'":
        return (quote,)
    return [pair[1] for pair in _PAIRS if pair[0] == quote]


def _ends(sign: str, following: str) -> bool:
    """Whether the quote ``sign`` closes a string: no letter or digit follows. After a
    slash letters may follow, as the flags of a regular expression."""
    return sign == "/" or not following[:1].isalnum()


# --- A pair ---------------------------------------------------------------------------

_MARKS = r"[!#-&(-/:;=?@\[-_{-~·…—–、，。・]"  # no quotes, and none of ``<>``
_WORDS = "and|or|to|und|oder|et|ou|y|o"
_MARKED = rf"[ \t]*+{_MARKS}(?:{_MARKS}|[ \t])*+"
_MENTIONED = patterns.compile(
    rf"{_MARKED}|[ \t]++(?:{_WORDS})[ \t]++|[ \t]*+[和与][ \t]*+"
)
_BEGUN = patterns.compile(
    rf"{_MARKED}|[ \t]*+(?:(?<=[ \t])[a-z]{{1,4}}+|[和与])?+[ \t]*+"
)


def pair_of(after: str, closers: Iterable[str], *, final: bool) -> int | None:
    """The index in ``after``, the text after an opener, at which the closer of a
    mentioned pair ends (text rule 4.12). 0: there is no such pair. None: more text is
    needed. Example: in ``the <think>...</think> tags``, ``after`` is
    ``...</think> tags``, and the result is 11."""
    found = [
        (at, -len(each)) for each in closers if 0 <= (at := after.find(each)) <= BETWEEN
    ]
    if found:
        start, size = min(found)
        return start - size if _MENTIONED.fullmatch(after, 0, start) else 0
    begun = (
        size
        for each in closers
        for size in range(1, len(each))
        if after.endswith(each[:size])
    )
    waits = len(after) <= BETWEEN and bool(_BEGUN.fullmatch(after))
    ends = (len(after) - size for size in begun)
    waits = waits or any(
        end <= BETWEEN and _MENTIONED.fullmatch(after, 0, end) for end in ends
    )
    return None if waits and not final else 0


# --- In reasoning ---------------------------------------------------------------------


def is_quoted(before: str, after: str, *, final: bool) -> bool:
    """Whether the literal between ``before`` and ``after`` has a quote on both sides.
    Raises `UndecidedError` if ``after`` is empty and the next character decides."""
    quote = before[-1:]
    if quote not in _OPENING or (quote in _QUOTES and not _opens(before[-2:-1])):
        return False
    if not (after or final):
        raise UndecidedError
    return quote + after[:1] in _PAIRS


def span_around(before: str, after: str, *, known: bool) -> tuple[str, str]:
    """The text of the code span around a literal: the part before the literal, and the
    part after it. Both are empty if the literal is in no span.

    ``known``: ``after`` is all text that may be looked at. Without ``known``, raises
    `UndecidedError` if the rest of the line decides.
    """
    head, (line, ended, _) = before.rpartition("\n")[2], after.partition("\n")
    runs = open_runs(head)
    run = closing_run(runs, line)
    if runs and not (known or ended) and (run is None or run.end() == len(line)):
        raise UndecidedError
    if run is None:
        return "", ""
    return head[runs[len(run[0])] :], line[: run.start()]
