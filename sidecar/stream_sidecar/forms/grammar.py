"""Grammars over text that comes in slices. The dialects' readers are written with this.

A grammar is a generator. It gets a `Cursor`, reads with the cursor's methods (each by
``yield from``: ``name = yield from cursor.word(NAME)``) and returns what it found. It
yields only None, whenever it needs more text. `MismatchError` says at which character
the grammar cannot continue; `EndedError` says that the text ended inside the grammar.
Both depend on the text alone, never on how it was cut.

Each method reads all the text there is and leaves at most the beginning of a literal
unread, so time is linear. Long parts are read as ``(start, end)``, code points from the
start of the candidate; their content is looked at once they are complete.
"""

from __future__ import annotations

import re
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
    """The grammar cannot continue. ``position`` is right after the character that rules
    it out."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


class EndedError(Exception):
    """The text ended inside the grammar."""


class OpenEndError(EndedError):
    """The text ended inside a part that has no syntax of its own, such as text between
    tags."""


class PartScanner(Protocol):
    """Finds the end of one long part; see ``stream_sidecar.values``."""

    @property
    def state(self) -> str: ...

    def scan(self, text: str, at: int) -> int: ...


@frozen
class Context:
    """What forms need to know about the host.

    ``tools``: the declared tools by name; None: the host declared nothing. ``calls``:
    the policy ``toolCalls.mode``. ``echo``: how to recognize repeated results.
    """

    tools: Mapping[str, Tool] | None = None
    echo: EchoRules = NO_ECHO
    calls: Literal["extract", "report", "off"] = "extract"


class Cursor:
    """A reader's place in a candidate's text.

    ``opener``: what was read before. ``inside``: reasoning is open. ``furthest``: how
    far the text was looked at for something that did not stand there; after the text's
    end if that may have been cut off.

    A grammar sets four fields. ``serious``: what it has read can hardly be anything
    else. ``partial``: a function that reads the calls of a candidate that is cut off
    later. ``whole``, after a body that closed itself and may lack only closers: its
    end, and a function that reads the text up to there. ``part``: where the last value
    without escapes begins, and the openers of calls that may stand in it.
    """

    __slots__ = (
        *("at", "base", "context", "final", "furthest", "inside", "opener", "part"),
        *("partial", "serious", "text", "whole"),
    )

    def __init__(self, opener: str, context: Context, *, inside: bool) -> None:
        self.inside = inside
        self.opener = opener
        self.context = context
        self.text = ""
        self.at = 0
        self.base = 0
        self.furthest = 0
        self.part: tuple[int, frozenset[str]] = 0, frozenset()
        self.final = False
        self.serious = False
        self.partial: Callable[[str], Any] | None = None
        self.whole: tuple[int, Callable[[str], Any]] | None = None

    @property
    def position(self) -> int:
        return self.base + self.at

    def again(self) -> None:
        """Goes back to before the opener. Nothing may have been read since."""
        self.at -= len(self.opener)

    def feed(self, text: str, *, final: bool) -> None:
        self.text = self.text[self.at :] + text if self.at < len(self.text) else text
        self.base += self.at
        self.at = 0
        self.final = final

    def mismatch(self, offset: int = 1) -> MismatchError:
        """The error for the character that is ``offset`` away from here."""
        return MismatchError(self.position + offset)

    def fails_at(self, position: int) -> MismatchError:
        """The error for text from ``position`` on that belongs to another form."""
        self.furthest = 0
        return MismatchError(position)

    def not_here(self, offset: int) -> None:
        """Notes that the character ``offset`` away from here did not fit. The grammar
        continues another way."""
        self.furthest = max(self.furthest, self.position + offset)

    def ahead(self, *options: str) -> Reading[str]:
        """The longest of ``options`` that stands here, unread; "" if none does."""
        choice = _choice(options)
        while True:
            rest = self.text[self.at : self.at + choice.sizes[0]]
            if self.final or rest not in choice.parts:
                break
            yield
        found = choice.find(rest)
        if not found:
            self.not_here(choice.fits(rest) + 1)
        return found

    def optional(self, *options: str) -> Reading[str]:
        """Reads the longest of ``options`` that stands here; "" if none does."""
        found = yield from self.ahead(*options)
        self.at += len(found)
        return found

    def literal(self, *options: str) -> Reading[str]:
        """Reads the longest of ``options`` that stands here. Raises if none does."""
        found = yield from self.ahead(*options)
        if not found:
            choice = _choice(options)
            rest = self.text[self.at : self.at + choice.sizes[0]]
            if rest in choice.parts:
                raise EndedError
            raise self.mismatch(choice.fits(rest) + 1)
        self.at += len(found)
        return found

    def peek(self) -> Reading[str]:
        """The next character, unread; "" at the end of the text."""
        while self.at == len(self.text) and not self.final:
            yield
        return self.text[self.at : self.at + 1]

    def need(self) -> Reading[str]:
        """The next character, unread. Raises EndedError at the end of the text."""
        character = yield from self.peek()
        if not character:
            raise EndedError
        return character

    def is_last(self, text: str) -> Reading[bool]:
        """Whether only a few blanks stand between ``text``, which stands here, and the
        text's end. Reads nothing."""
        while True:
            start = self.at + len(text)
            rest = self.text[start : start + _FEW]
            if rest.strip() or len(rest) == _FEW or self.final:
                return not rest.strip() and len(rest) < _FEW
            yield

    def run(self, pattern: re.Pattern[str], most: int = 0) -> Reading[str]:
        """Reads what ``pattern`` (one character class, repeated) matches, perhaps
        nothing.

        More than ``most`` characters are a mismatch. 0: there is no limit, and the text
        is skipped, not returned.
        """
        found, size = [], 0
        while True:
            match = pattern.match(self.text, self.at)
            end = match.end() if match else self.at
            size += end - self.at
            if most and size > most:
                raise self.mismatch(end - self.at - (size - most) + 1)
            if most:
                found.append(self.text[self.at : end])
            self.at = end
            if end < len(self.text) or self.final:
                return "".join(found)
            yield

    def space(self) -> Reading[None]:
        """Reads white space, including line breaks."""
        yield from self.run(_SPACE)

    def blanks(self) -> Reading[None]:
        """Reads blanks on this line."""
        yield from self.run(_BLANKS)

    def word(self, pattern: re.Pattern[str]) -> Reading[str]:
        """Reads a name: at least one character of ``pattern``."""
        found = yield from self.run(pattern, LONGEST_NAME)
        if not found:
            yield from self.need()
            raise self.mismatch()
        return found

    def label(self, end: str) -> Reading[str]:
        """Reads a name in a tag and the character ``end`` after it. The name has
        neither markup nor line breaks."""
        found = yield from self.run(_label(end), LONGEST_NAME)
        yield from self.literal(end)
        return found.strip()

    def until(self, ends: Literals) -> Reading[tuple[Extent, str]]:
        """Reads up to the first of ``ends`` and returns the part and that end. The end
        stays unread."""
        start = self.position
        while True:
            self.at, found = ends.next(self.text, self.at, final=self.final)
            if found is not None:
                return (start, self.position), found
            if self.final:
                raise OpenEndError
            yield

    def before(self, *ends: str) -> Reading[str]:
        """Reads a short text and the first of ``ends`` after it. Returns the text."""
        table = literals(*ends)
        found = []
        size = 0
        while True:
            at, end = table.next(self.text, self.at, final=self.final)
            size += at - self.at
            if size > LONGEST_NAME:
                raise self.mismatch(at - self.at - (size - LONGEST_NAME) + 1)
            found.append(self.text[self.at : at])
            self.at = at + len(end or "")
            if end is not None:
                return "".join(found)
            if self.final:
                raise EndedError
            yield

    def scan(self, scanner: PartScanner) -> Reading[Extent]:
        """Reads up to the end that ``scanner`` finds."""
        start = self.position
        while True:
            self.at = scanner.scan(self.text, self.at)
            if scanner.state == "failed":
                raise MismatchError(self.position)
            if scanner.state != "open":
                return start, self.position
            if self.final:
                raise EndedError
            yield

    def scan_checked(
        self, scanner: PartScanner, *checks: tuple[int, Callable[[str], bool]]
    ) -> Reading[Extent]:
        """Reads as `scan` does, with checks ``(size, check)``: if the end was not found
        within ``size`` characters, ``check`` decides by their text whether to continue.
        """
        start, begun = self.position, [""]
        for size, check in checks:
            while (
                scanner.state == "open" and (room := size + start - self.position) > 0
            ):
                at = self.at
                self.at = scanner.scan(self.text[: at + room], at)
                begun.append(self.text[at : self.at])
                if scanner.state == "open" and self.at == len(self.text):
                    if self.final:
                        raise EndedError
                    yield
            if scanner.state == "open" and not check("".join(begun)):
                raise MismatchError(self.position)
        return start, (yield from self.scan(scanner))[1]

    def line_end(self) -> Reading[None]:
        """Reads blanks up to the line break or the text's end, which stay unread.
        Raises MismatchError at anything else."""
        yield from self.blanks()
        if (yield from self.peek()) not in ("", "\n", "\r"):
            raise self.mismatch()


class _Choice(NamedTuple):
    """``options``: texts, one of which may stand at a place. ``parts``: their proper
    prefixes. ``sizes``: their lengths, the largest first."""

    options: frozenset[str]
    parts: frozenset[str]
    sizes: tuple[int, ...]

    def find(self, rest: str) -> str:
        """The longest option at the start of ``rest``, or ""."""
        if rest[:1] not in self.parts and rest[:1] not in self.options:
            return ""  # as mostly
        sizes = (size for size in self.sizes if rest[:size] in self.options)
        return rest[: next(sizes, 0)]

    def fits(self, rest: str) -> int:
        """How much of ``rest`` is the beginning of an option. ``rest`` begins with
        none."""
        size = 0
        while size < len(rest) and rest[: size + 1] in self.parts:
            size += 1
        return size


@lru_cache(maxsize=512)
def _choice(options: tuple[str, ...]) -> _Choice:
    parts = {one[:size] for one in options for size in range(len(one))}
    sizes = tuple(sorted(set(map(len, options)), reverse=True))
    return _Choice(frozenset(options), frozenset(parts), sizes)


@lru_cache(maxsize=16)
def _label(end: str) -> re.Pattern[str]:
    return patterns.compile(rf"[^<>\r\n{re.escape(end)}]*+")


@lru_cache(maxsize=512)
def literals(*texts: str) -> Literals:
    """A table of literals, cached: grammars ask for the same ones often."""
    return Literals(texts)
