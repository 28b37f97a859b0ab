"""The tools with which the dialects write grammars for text that comes in slices.

A grammar is a generator. It gets a `Cursor`, reads with the cursor's methods (each by
``yield from``: ``name = yield from cursor.word(NAME)``) and returns what it found. When
it needs more text, it yields None. `MismatchError` says at which character the grammar
cannot continue; `EndedError` says that the text ended inside the grammar. Both depend
on the text alone, never on how it was cut.

Each method reads all available text and leaves at most the beginning of a literal
unread, so time is linear. Long parts are read as an extent ``(start, end)``, in code
points from the candidate's start; the part's content is read when the form is complete.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from stream_sidecar import patterns
from stream_sidecar.forms.literals import Literals
from stream_sidecar.forms.repeated_results import NO_ECHO
from stream_sidecar.records import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from stream_sidecar.forms.repeated_results import EchoRules
    from stream_sidecar.options import Tool

T = TypeVar("T")
Reading: TypeAlias = "Generator[None, None, T]"
Extent: TypeAlias = tuple[int, int]

LONGEST_NAME = 256
"""A tool's or a parameter's name has at most this many code points."""

_FEW = 8
_SPACE = patterns.compile(r"\s*+")
_BLANKS = patterns.compile(r"[ \t]*+")


class MismatchError(Exception):
    """The grammar cannot continue. ``position``: after the character that fails."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


class EndedError(Exception):
    """The text ended inside the grammar."""


class OpenEndError(EndedError):
    """The text ended in a part without a syntax, such as the text in a tag."""


class PartScanner(Protocol):
    """Finds the end of one long part, such as a JSON object (see ``values``)."""

    @property
    def state(self) -> str: ...

    @property
    def stays(self) -> re.Pattern[str] | None: ...

    def scan(self, text: str, index: int) -> int: ...


@frozen
class Context:
    """What grammars need to know about the host's options.

    ``tools``: the declared tools by name; None if the host gave no list of tools.
    ``calls``: the policy ``toolCalls.mode``. ``echo``: how to recognize repeated
    results.
    """

    tools: Mapping[str, Tool] | None = None
    echo: EchoRules = NO_ECHO
    calls: Literal["extract", "report", "off"] = "extract"


class Cursor:
    """A grammar's place in a candidate's text.

    ``opener``: the form's opener, which was read before. ``inside``: reasoning is open.
    ``furthest``: the position after the furthest character that was compared with an
    alternative that does not match. It is after the text's end if more text might have
    matched. ``stays``: a pattern; the grammar continues after text that the pattern
    matches in full as if this text had not come. None if there is no such text.

    A grammar sets these fields:

    - ``serious``: the text read so far can hardly be anything but this form.
    - ``partial``: a function that returns the calls of the candidate's text if the text
      is cut off after this place.
    - ``closed_body``: set after a body that closed itself, so that only closers may be
      missing: the body's end, and a function that returns the calls of the text up to
      this end.
    - ``part``: where the last value without escapes begins, and the openers of calls
      that may stand in the value.
    """

    __slots__ = (
        "base",
        "closed_body",
        "context",
        "final",
        "furthest",
        "index",
        "inside",
        "opener",
        "part",
        "partial",
        "serious",
        "stays",
        "text",
    )

    def __init__(self, opener: str, context: Context, *, inside: bool) -> None:
        self.inside = inside
        self.opener = opener
        self.context = context
        self.text = ""
        self.index = 0
        self.base = 0
        self.furthest = 0
        self.part: tuple[int, frozenset[str]] = 0, frozenset()
        self.final = False
        self.stays: re.Pattern[str] | None = None
        self.serious = False
        self.partial: Callable[[str], Any] | None = None
        self.closed_body: tuple[int, Callable[[str], Any]] | None = None

    @property
    def position(self) -> int:
        return self.base + self.index

    def rewind(self) -> None:
        """Goes back to before the opener. Call this before anything is read."""
        self.index -= len(self.opener)

    def feed(self, text: str, *, final: bool) -> None:
        self.text = self.text[self.index :] + text
        self.base += self.index
        self.index = 0
        self.final = final
        self.stays = None

    def mismatch(self, offset: int = 1) -> MismatchError:
        """The error for a grammar that fails ``offset`` characters after this place."""
        return MismatchError(self.position + offset)

    def fails_at(self, position: int) -> MismatchError:
        """The error at ``position``, because another form begins there."""
        self.furthest = 0
        return MismatchError(position)

    def note_failed(self, offset: int) -> None:
        """Notes that an alternative failed ``offset`` characters later."""
        self.furthest = max(self.furthest, self.position + offset)

    def ahead(self, *options: str) -> Reading[str]:
        """Returns the longest of ``options`` that comes next, unread, else ""."""
        choice = _choice(options)
        while True:
            text_ahead = self.text[self.index : self.index + choice.sizes[0]]
            if self.final or not choice.is_begun(text_ahead):
                break
            yield
        option = choice.find(text_ahead)
        if not option:
            self.note_failed(choice.fits(text_ahead) + 1)
        return option

    def optional(self, *options: str) -> Reading[str]:
        """Reads and returns the longest of ``options`` that comes next, or ""."""
        option = yield from self.ahead(*options)
        self.index += len(option)
        return option

    def literal(self, *options: str) -> Reading[str]:
        """Reads the longest of ``options`` that comes next and returns it. Raises
        MismatchError if none of them comes next, EndedError if the text ends inside one
        of them."""
        option = yield from self.ahead(*options)
        if not option:
            choice = _choice(options)
            text_ahead = self.text[self.index : self.index + choice.sizes[0]]
            if choice.is_begun(text_ahead):
                raise EndedError
            raise self.mismatch(choice.fits(text_ahead) + 1)
        self.index += len(option)
        return option

    def peek(self) -> Reading[str]:
        """Returns the next character without reading it; "" at the end of the text."""
        while self.index == len(self.text) and not self.final:
            yield
        return self.text[self.index : self.index + 1]

    def need(self) -> Reading[str]:
        """Returns the next character, unread. Raises EndedError at the end."""
        character = yield from self.peek()
        if not character:
            raise EndedError
        return character

    def is_last(self, text: str) -> Reading[bool]:
        """Whether only blanks follow ``text``, which comes next; reads nothing."""
        while True:
            start = self.index + len(text)
            text_ahead = self.text[start : start + _FEW]
            if text_ahead.strip() or len(text_ahead) == _FEW or self.final:
                return not text_ahead.strip() and len(text_ahead) < _FEW
            yield

    def run(self, pattern: re.Pattern[str], most: int = 0) -> Reading[str]:
        """Reads the characters that ``pattern`` (one repeated character class) matches,
        perhaps none, and returns them.

        Raises MismatchError after ``most`` characters. With ``most`` 0 there is no
        limit, and the result is "".
        """
        pieces, size = [], 0
        while True:
            match = pattern.match(self.text, self.index)
            end = match.end() if match else self.index
            size += end - self.index
            if most and size > most:
                raise self.mismatch(end - self.index - (size - most) + 1)
            if most:
                pieces.append(self.text[self.index : end])
            self.index = end
            if end < len(self.text) or self.final:
                return "".join(pieces)
            yield

    def space(self) -> Reading[None]:
        """Reads white space, including line breaks."""
        yield from self.run(_SPACE)

    def blanks(self) -> Reading[None]:
        """Reads blanks on this line."""
        yield from self.run(_BLANKS)

    def word(self, pattern: re.Pattern[str]) -> Reading[str]:
        """Reads at least one character that ``pattern`` matches."""
        name = yield from self.run(pattern, LONGEST_NAME)
        if not name:
            yield from self.need()
            raise self.mismatch()
        return name

    def label(self, end: str) -> Reading[str]:
        """Reads a name in a tag, without ``<``, ``>`` and line breaks, and ``end``."""
        name = yield from self.run(_label(end), LONGEST_NAME)
        yield from self.literal(end)
        return name.strip()

    def until(self, ends: Literals) -> Reading[tuple[Extent, str]]:
        """Reads up to the first of ``ends``. Returns the extent, and this end."""
        start = self.position
        while True:
            self.index, end = ends.next(self.text, self.index, final=self.final)
            if end is not None:
                return (start, self.position), end
            if self.final:
                raise OpenEndError
            self.stays = ends.others if self.index == len(self.text) else None
            yield

    def before(self, *ends: str) -> Reading[str]:
        """Reads a short text and the first of ``ends`` after it; returns the text."""
        table = literals(*ends)
        pieces = []
        size = 0
        while True:
            index, end = table.next(self.text, self.index, final=self.final)
            size += index - self.index
            if size > LONGEST_NAME:
                raise self.mismatch(index - self.index - (size - LONGEST_NAME) + 1)
            pieces.append(self.text[self.index : index])
            self.index = index + len(end or "")
            if end is not None:
                return "".join(pieces)
            if self.final:
                raise EndedError
            yield

    def scan(self, scanner: PartScanner) -> Reading[Extent]:
        """Reads the part whose end ``scanner`` finds, and returns its extent."""
        start = self.position
        while True:
            self.index = scanner.scan(self.text, self.index)
            if scanner.state == "failed":
                raise MismatchError(self.position)
            if scanner.state != "open":
                return start, self.position
            if self.final:
                raise EndedError
            self.stays = scanner.stays
            yield

    def scan_checked(
        self, scanner: PartScanner, *checks: tuple[int, Callable[[str], bool]]
    ) -> Reading[Extent]:
        """Reads as `scan` does, but with checks ``(size, check)``. If the part does not
        end within ``size`` characters, ``check`` gets these characters, and a result of
        False is a mismatch."""
        start, pieces = self.position, [""]
        for size, check in checks:
            while (
                scanner.state == "open" and (room := size + start - self.position) > 0
            ):
                index = self.index
                self.index = scanner.scan(self.text[: index + room], index)
                pieces.append(self.text[index : self.index])
                if scanner.state == "open" and self.index == len(self.text):
                    if self.final:
                        raise EndedError
                    yield
            if scanner.state == "open" and not check("".join(pieces)):
                raise MismatchError(self.position)
        return start, (yield from self.scan(scanner))[1]

    def line_end(self) -> Reading[None]:
        """Reads blanks up to the line's or the text's end; else MismatchError."""
        yield from self.blanks()
        if (yield from self.peek()) not in ("", "\n", "\r"):
            raise self.mismatch()


class _Choice(NamedTuple):
    """``options``: several texts; one of them may come next. ``ordered``: the options
    in order, to find those with a common beginning; their prefixes are not listed,
    because an option with a tool's name may be long. ``sizes``: the lengths of the
    options, the largest first."""

    options: frozenset[str]
    firsts: frozenset[str]
    ordered: tuple[str, ...]
    sizes: tuple[int, ...]

    def find(self, text: str) -> str:
        """The longest option at the start of ``text``, or ""."""
        if text[:1] not in self.firsts:
            return ""  # the usual case
        sizes = (size for size in self.sizes if text[:size] in self.options)
        return text[: next(sizes, 0)]

    def is_begun(self, text: str) -> bool:
        """Whether ``text`` is a proper prefix of an option."""
        if text and text[:1] not in self.firsts:
            return False  # the usual case
        place = bisect_right(self.ordered, text)
        return any(item.startswith(text) for item in self.ordered[place : place + 1])

    def fits(self, text: str) -> int:
        """The number of characters of ``text`` that begin an incomplete option."""
        place = bisect_right(self.ordered, text)
        neighbours = self.ordered[max(place - 1, 0) : place + 1]
        return max((_common(text, option) for option in neighbours), default=0)


def _common(text_a: str, text_b: str) -> int:
    """The length of the common beginning of two texts."""
    pairs = enumerate(zip(text_a, text_b, strict=False))
    size = min(len(text_a), len(text_b))
    return next((index for index, (left, right) in pairs if left != right), size)


@lru_cache(maxsize=512)
def _choice(options: tuple[str, ...]) -> _Choice:
    sizes = tuple(sorted(set(map(len, options)), reverse=True))
    firsts = frozenset(option[:1] for option in options)
    return _Choice(frozenset(options), firsts, tuple(sorted(set(options))), sizes)


@lru_cache(maxsize=16)
def _label(end: str) -> re.Pattern[str]:
    return patterns.compile(rf"[^<>\r\n{re.escape(end)}]*+")


@lru_cache(maxsize=512)
def literals(*texts: str) -> Literals:
    """The `Literals` of ``texts``, cached, because grammars often need the same set."""
    return Literals(texts)
