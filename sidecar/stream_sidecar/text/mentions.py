"""Mentions: a delimiter, a token or a tag that the text only mentions is text.

For the answer, `is_mentioned` decides by text rules 4.6 and 4.10, `pair_of` by 4.12,
`sentence_goes_on` by 4.14, and `stands_in_sentence` by 12.6. Each looks at the text
before a literal and at a bounded window after it, and returns a verdict, or None if it
needs more text. Example: in ``Send "a </think> b" back.`` the closer is in a quoted
string, so it is a mention.

For reasoning, `is_quoted` and `code_span` decide (text rule 4.5). There, emphasis and
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
from stream_sidecar.text.joining_words import SPACED, UNSPACED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stream_sidecar.forms.literals import Literals

_BEFORE_QUOTE = " \t\r\f\v\n([{=,:"
"""A quote opens only after one of these characters, or at a line's start."""

_QUOTES = "`\"'”’»"  # each may open and close: the last three in Swedish and Finnish
_TYPOGRAPHIC = patterns.compile("..").findall("“”„“„”‘’‚‘‚’«»»«‹››‹「」『』")
_PAIRS = {*_TYPOGRAPHIC, *(quote * 2 for quote in _QUOTES)}
_OPENERS = {pair[0] for pair in _PAIRS}
_STRING_QUOTES = _OPENERS - {"`"}
_BRACKETS = dict(zip("([《「（", ")]》」）", strict=True))
_EMPHASIS = "*_"
_SPACED_MARKS = {"|": "|", "«": "»"}
"""Opening -> closing marks that may have a blank on their inner side."""

_BLANKS = " \u00a0\u202f"

STRING_REACH = 256
"""The most code points between a string's quote and the literal."""

WINDOW = STRING_REACH + 4
"""How many code points on each side of a literal are looked at. A quote may have three
signs, and the character next to a quote decides whether it opens or closes."""

MOST_GAP = 16
"""The most code points between the opener and closer of a mentioned pair."""

LONGEST_SPAN = 200
"""The most code points of a span in reasoning on each side of a literal."""

LONGEST_TAG = 48
"""A tag without ``>`` (``<invoke``) must end within so many code points."""

_TAG_END = patterns.compile(rf"[^<>\n]{{0,{LONGEST_TAG}}}+>")


class LiteralKind(Enum):
    """The kinds of literals that are mentioned in different ways."""

    TAG = 1  # a delimiter of reasoning, or a token
    CALL = 2  # the opener of a call or a result, which may have quotes of its own
    RESERVED = 3  # a citation's marker or a reserved token: nobody quotes these


@hot
class AnswerPlace:
    """A place in the answer. ``prefix``: the end of the text before it. ``is_all``:
    ``prefix`` is the whole answer so far. ``head``: the first character of the line.
    ``in_json``: the place is in a string of an answer that is JSON."""

    prefix: str
    is_all: bool
    head: str
    in_json: bool


def is_mentioned(
    place: AnswerPlace,
    literal: str,
    suffix: str,
    kind: LiteralKind,
    literals: Literals,
    *,
    final: bool,
) -> bool | None:
    """Whether ``literal`` at ``place`` is a mention (text rule 4.6); None if more text
    is needed.

    ``suffix``: the text after the literal; only its first `WINDOW` code points are
    read. ``literals``: all literals of the stream. ``final``: no more text comes, so
    the verdict is not None.
    """
    prefix = place.prefix
    if prefix.endswith(("\\", "(?", "(?P")):
        return True
    may_be_in_string = kind is not LiteralKind.RESERVED
    if may_be_in_string and place.in_json:
        return True
    is_between = _is_between(place, literal, suffix, literals, final=final)
    if is_between or not may_be_in_string:
        return is_between
    is_in_string = _is_in_string(place, suffix, kind, final=final)
    return is_in_string or (None if None in (is_between, is_in_string) else False)


@hot
class BorderPlace:
    """A place where a mark or a wrapper stands. ``prefix``: the text before it.
    ``line_shown``: the line has visible text before it. ``is_word``: the mark is a tag
    of plain letters, such as ``<response>``."""

    prefix: str
    line_shown: bool
    is_word: bool


class After(Enum):
    """What stands after a closer without an opener."""

    ANSWER = 1  # a header that begins the answer
    SENTENCE = 2  # a header as a word of a sentence
    OTHER = 3


_AFTER_HEADER = frozenset(" \t,.;:)")


def after_closer(suffix: str, headers: Iterable[str], *, final: bool) -> After | None:
    """What ``suffix``, the text after a closer, begins with (text rule 9.6). None: more
    text is needed. ``headers``: those that may begin the answer after this closer."""
    for header in headers:
        if suffix.startswith(header):
            if suffix == header and not final:
                return None
            is_word = suffix[len(header) : len(header) + 1] in _AFTER_HEADER
            return After.SENTENCE if is_word else After.ANSWER
    may_grow = any(header.startswith(suffix) for header in headers)
    return None if may_grow and not final else After.OTHER


_LINE_BLANKS = " \t\r"
_AFTER_TOKEN = " \t.,;:!?)"


def stands_in_sentence(
    place: BorderPlace, literals: Literals, suffix: str, *, final: bool
) -> bool | None:
    """Whether a mark or wrapper at ``place`` is a word of a sentence (text rule 12.6):
    text stands on both sides, and a token has blanks, too. None: more text than
    ``suffix`` is needed. ``literals``: all literals of the stream."""
    next_text = suffix.lstrip(_LINE_BLANKS)
    if next_text[:1] == "\n":
        if not (place.is_word and place.line_shown):
            return False
        next_text = next_text.lstrip()
        if next_text:
            return True
    if not next_text or (not final and literals.certain(next_text) == 0):
        return False if final else None
    if place.is_word or literals.any.match(next_text):
        return not literals.any.match(next_text)
    return place.prefix[-1:].isspace() and suffix[0] in _AFTER_TOKEN


# --- Between two marks ----------------------------------------------------------------


def _is_between(
    place: AnswerPlace, literal: str, suffix: str, literals: Literals, *, final: bool
) -> bool | None:
    """Whether ``literal`` stands directly between the two marks of a pair, as in
    ``(</think>)`` (text rule 4.6). Further literals may stand next to it. None: more
    text is needed."""
    # If the literal is a mention, the literals right before it are mentions, too.
    closings = _closings(literals.without_end(place.prefix[-WINDOW:]), place.head)
    if not closings:
        return False
    index = 0
    if literal[0] == "<" and ">" not in literal:
        tag = _TAG_END.match(suffix)
        if tag is None:
            may_grow = not final and len(suffix) <= LONGEST_TAG and "\n" not in suffix
            return None if may_grow and "<" not in suffix else False
        index = tag.end()
    while not suffix.startswith(closings, index):  # ``]`` may begin a literal, too
        match = literals.any.match(suffix, index)
        if match is None:
            break
        index = match.end()
    return _begins_with_closing(suffix[index:], closings, literals, final=final)


def _closings(prefix: str, head: str) -> tuple[str, ...]:
    """The closing marks that fit the mark at the end of ``prefix``, if any."""
    mark = prefix[-1:]
    outer_mark = prefix[-2:-1] if mark and mark in _BLANKS else mark
    marks = [_SPACED_MARKS[outer_mark]] if outer_mark in _SPACED_MARKS else []
    if outer_mark == "|" and head != "|":
        marks = []
    marks += [blank + closing for closing in marks for blank in _BLANKS]
    if not mark or mark in _BLANKS:
        return tuple(marks)
    if mark in _BRACKETS:
        return (_BRACKETS[mark],)
    if mark in _EMPHASIS:
        return (mark,) if _may_open(prefix.rstrip(mark)[-1:]) else ()
    if mark not in _QUOTES or _may_open(prefix[-2:-1]):
        marks += [pair[1] for pair in _PAIRS if pair[0] == mark]
    return tuple(marks)


def _may_open(character_before: str) -> bool:
    """Whether a quote may open after ``character_before`` ("": none)."""
    return character_before in _BEFORE_QUOTE


def _begins_with_closing(
    text: str, closings: tuple[str, ...], literals: Literals, *, final: bool
) -> bool | None:
    """Whether one of ``closings`` comes; None: more text decides."""
    if text.startswith(closings):
        mark = text[0]
        if mark not in _EMPHASIS:
            return True
        following = text.lstrip(mark)
        if not following and not final:
            return None
        return not following[:1].isalnum()
    may_grow = text in literals.prefixes or any(
        end.startswith(text) for end in closings
    )
    return None if may_grow and not final else False


# --- In a quoted string ---------------------------------------------------------------


def _is_in_string(
    place: AnswerPlace, suffix: str, kind: LiteralKind, *, final: bool
) -> bool | None:
    """Whether a quote opens before the literal and closes after it on the same line
    (text rule 4.10). None: more text is needed."""
    quote = _open_quote(place)
    if not quote:
        return False
    for index, sign in _find_quotes(suffix[:WINDOW]):
        if sign == "\n" or index >= STRING_REACH:
            return False
        following = suffix[index + len(sign) : WINDOW]
        if len(following) < 2 and not final and sign != "/":
            return None  # a letter, or two more quotes, may follow
        if sign in _partners(quote) and _closes_string(sign, following):
            return True
        in_call = kind is LiteralKind.CALL and index and _may_open(suffix[index - 1])
        if in_call and sign in _partners(quote):
            return False  # a string inside the call begins
    return None if not final and len(suffix) < STRING_REACH else False


def _open_quote(place: AnswerPlace) -> str:
    """The quote that is open at ``place``; "" if no quote is open."""
    line = place.prefix[-WINDOW:].rpartition("\n")[2]
    if line[-1:] == "/" and _may_open(line[-2:-1]):
        return "/"
    quote, limit = "", len(line) - STRING_REACH
    for index, sign in _find_quotes(line):
        if quote:
            closes = sign in _partners(quote) and _closes_string(
                sign, line[index + len(sign) :]
            )
            quote = "" if closes else quote
        elif (
            index >= limit
            and _opens_string(line, index, sign)
            and not _begins_answer(place, line[index:])
        ):
            quote = sign
    return quote


def _begins_answer(place: AnswerPlace, text_end: str) -> bool:
    """Whether the answer begins with ``text_end``, except for blanks."""
    return place.is_all and not place.prefix[: -len(text_end)].strip()


_QUOTE_SIGNS = patterns.compile(r"\\.|\"\"\"|'''|[\"'”’“„‘‚«»‹›「」『』/\n]", re.DOTALL)
_STRING_PREFIX = patterns.compile(r"(?:^|[\s(\[{=,:])[rRbBfFuU]{1,2}\Z")


def _find_quotes(text: str) -> Iterator[tuple[int, str]]:
    """The quotes (three in a row as one) and line breaks, with their places."""
    for match in _QUOTE_SIGNS.finditer(text):
        if match[0][0] != "\\":
            yield match.start(), match[0]


def _opens_string(line: str, index: int, sign: str) -> bool:
    if sign[0] not in _STRING_QUOTES:
        return False
    return _may_open(line[index - 1 : index] if index else "") or bool(
        sign[0] in "\"'" and _STRING_PREFIX.search(line, max(index - 3, 0), index)
    )


def _partners(quote: str) -> Iterable[str]:
    if quote == "/" or quote[0] in "\"'":
        return (quote,)
    return [pair[1] for pair in _PAIRS if pair[0] == quote]


def _closes_string(sign: str, following: str) -> bool:
    """Whether a quote closes: no letter follows, or flags after a slash."""
    return sign == "/" or not following[:1].isalnum()


# --- A pair ---------------------------------------------------------------------------

_PUNCTUATION = r"[!#-&(-/:;=?@\[-_{-~·…—–、，。・]"  # no quotes, and none of ``<>``
_PUNCTUATED = rf"[ \t]*+{_PUNCTUATION}(?:{_PUNCTUATION}|[ \t])*+"
_SPACED, _UNSPACED = (
    {word for words in table.values() for word in words} for table in (SPACED, UNSPACED)
)
_JOINED = (
    rf"[ \t]++(?:{'|'.join(map(re.escape, sorted(_SPACED, reverse=True)))})[ \t]++"
    rf"|[ \t]*+(?:{'|'.join(map(re.escape, sorted(_UNSPACED, reverse=True)))})[ \t]*+"
)
_JOINING_WORD = patterns.compile(_JOINED)
_PAIR_GAP = patterns.compile(rf"{_PUNCTUATED}|{_JOINED}")
_SPACED_BEGINNINGS, _UNSPACED_BEGINNINGS = (
    {word[:size] for word in words for size in range(len(word) + 1)}
    for words in (_SPACED, _UNSPACED)
)


def _may_begin_gap(text: str) -> bool:
    """Whether ``text`` may become what stands between a mentioned pair."""
    word = text.strip(" \t")
    return (
        word in _UNSPACED_BEGINNINGS
        or (word in _SPACED_BEGINNINGS and text[0] in " \t")
        or bool(_PAIR_GAP.fullmatch(text))
    )


def pair_of(suffix: str, closers: Iterable[str], *, final: bool) -> int | None:
    """The index in ``suffix``, the text after an opener, at which the closer of a
    mentioned pair ends (text rule 4.12). 0: there is no such pair. None: more text is
    needed. Example: in ``the <think>...</think> tags``, ``suffix`` is
    ``...</think> tags``, and the result is 11."""
    positions = [
        (index, -len(closer))
        for closer in closers
        if 0 <= (index := suffix.find(closer)) <= MOST_GAP
    ]
    if positions:
        start, size = min(positions)
        return start - size if _PAIR_GAP.fullmatch(suffix, 0, start) else 0
    begun_sizes = (
        size
        for closer in closers
        for size in range(1, len(closer))
        if suffix.endswith(closer[:size])
    )
    may_grow = len(suffix) <= MOST_GAP and _may_begin_gap(suffix)
    gap_ends = (len(suffix) - size for size in begun_sizes)
    may_grow = may_grow or any(
        end <= MOST_GAP and _PAIR_GAP.fullmatch(suffix, 0, end) for end in gap_ends
    )
    return None if may_grow and not final else 0


# --- A sentence goes on ---------------------------------------------------------------

_SIGNS = re.escape(",;:)].!?")
_SENTENCE_SIGN = patterns.compile(  # ``.NET`` and ``:root`` may begin reasoning
    rf"[{_SIGNS}](?=[\s{_SIGNS}}}>\"'”’»›）】」』》*_`]|\Z)"
    "|[，、；：）】。！？،؛؟।۔]"
    rf"|[{_BLANKS}][;:!?–—](?=\s|\Z)"  # French has a blank before some signs
)
_BEGUN_SIGN = patterns.compile(rf"[{_SIGNS}]?|[{_BLANKS}][;:!?–—]?")


def sentence_goes_on(suffix: str, delimiters: Literals, *, final: bool) -> bool | None:
    """Whether a sentence goes on with ``suffix``, the text after a delimiter: with a
    sign, or with a joining word and one of the other ``delimiters`` (text rule 4.14).
    None: more text is needed. ``suffix`` is no beginning of a pair's gap: see
    `pair_of`."""
    if _BEGUN_SIGN.fullmatch(suffix) and not final:
        return None
    word = _JOINING_WORD.match(suffix)
    if word is None or word.end() > MOST_GAP:
        return _SENTENCE_SIGN.match(suffix) is not None
    following = suffix[word.end() :]
    if delimiters.any.match(following):
        return True
    return None if following in delimiters.prefixes and not final else False


# --- In reasoning ---------------------------------------------------------------------


def is_quoted(prefix: str, suffix: str, *, final: bool) -> bool:
    """Whether the literal between ``prefix`` and ``suffix`` has a quote on both sides.
    Raises `UndecidedError` if ``suffix`` is empty and the next character decides."""
    quote = prefix[-1:]
    if quote not in _OPENERS or (quote in _QUOTES and not _may_open(prefix[-2:-1])):
        return False
    if not (suffix or final):
        raise UndecidedError
    return quote + suffix[:1] in _PAIRS


def code_span(prefix: str, suffix: str, *, is_all: bool) -> tuple[str, str]:
    """The text of the code span around a literal: the part before the literal, and the
    part after it. Both are empty if the literal is in no span.

    ``is_all``: ``suffix`` is all text that may be looked at. Without ``is_all``, raises
    `UndecidedError` if the rest of the line decides.
    """
    head, (line, has_end, _) = prefix.rpartition("\n")[2], suffix.partition("\n")
    runs = open_runs(head)
    run = closing_run(runs, line)
    if runs and not (is_all or has_end) and (run is None or run.end() == len(line)):
        raise UndecidedError
    if run is None:
        return "", ""
    return head[runs[len(run[0])] :], line[: run.start()]
