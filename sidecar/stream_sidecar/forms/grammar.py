"""Grammars over text that comes in slices: what a dialect's reader is written with.

A grammar is a generator: it takes a `Cursor`, reads with the methods of that (each by
``yield from``: ``name = yield from cursor.word(NAME)``) and returns what it found. It
yields None, and nothing else, where it needs more text. `MismatchError` says at which
character the grammar cannot go on, `EndedError` that the text ended inside it; both
depend on the text alone, never on how it was cut.

A method reads all the text there is and leaves at most the beginning of a literal
unread, so time is linear. Long parts are read as ``(start, end)``, code points from the
beginning of the candidate; what they hold is looked at once the whole is there.
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
"""Code points of a tool's name or a parameter's; a longer one is none."""

_FEW = 8
_SPACE = patterns.compile(r"\s*+")
_BLANKS = patterns.compile(r"[ \t]*+")


class MismatchError(Exception):
    """The grammar cannot go on; ``position`` is behind the character that says so."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


class EndedError(Exception):
    """The text ended inside the grammar."""


class OpenEndError(EndedError):
    """It ended in a part that goes up to what may stand in it, as text between tags."""


class PartScanner(Protocol):
    """Finds the end of one long part; see ``stream_sidecar.values``."""

    @property
    def state(self) -> str: ...

    def scan(self, text: str, at: int) -> int: ...


@frozen
class Context:
    """What the host said, as far as forms must know it.

    ``tools``: the declared ones by name, None when it did not say. ``calls`` is
    ``toolCalls.mode``; ``echo`` tells repeated results.
    """

    tools: Mapping[str, Tool] | None = None
    echo: EchoRules = NO_ECHO
    calls: Literal["extract", "report", "off"] = "extract"


class Cursor:
    """A reader's place in a candidate's text.

    ``opener`` is what was read before, ``inside`` whether reasoning is open. A grammar
    sets ``serious`` when what it has read can hardly be anything else, and ``partial``
    to a function that reads the calls of a candidate that is cut off behind here, and
    ``whole``, behind a body that closed itself, to its place and one that reads what
    there is up to it: only closers may be missing. ``part``: where the last value
    without escapes begins, and what begins a call that may stand in it.
    ``furthest``: how far text was looked at for something that did not stand there; it
    is behind the text's end where that thing may have been cut off.
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
        """Goes back to before the opener; only where nothing was read since."""
        self.at -= len(self.opener)

    def feed(self, text: str, *, final: bool) -> None:
        self.text = self.text[self.at :] + text if self.at < len(self.text) else text
        self.base += self.at
        self.at = 0
        self.final = final

    def mismatch(self, offset: int = 1) -> MismatchError:
        """The character ``offset`` from here on is the one that does not fit."""
        return MismatchError(self.position + offset)

    def fails_at(self, position: int) -> MismatchError:
        """What was read behind ``position`` is of another form, which begins there."""
        self.furthest = 0
        return MismatchError(position)

    def not_here(self, offset: int) -> None:
        """The character ``offset`` from here on is the one that does not fit, but the
        grammar goes on in another way."""
        self.furthest = max(self.furthest, self.position + offset)

    def ahead(self, *options: str) -> Reading[str]:
        """The longest of ``options`` that stands here, unread; empty: none does."""
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
        """Reads the longest of ``options`` that stands here, if any does."""
        found = yield from self.ahead(*options)
        self.at += len(found)
        return found

    def literal(self, *options: str) -> Reading[str]:
        """Reads the longest of ``options`` that stands here; "" is no match."""
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
        """The next character, unread; empty at the end of the text."""
        while self.at == len(self.text) and not self.final:
            yield
        return self.text[self.at : self.at + 1]

    def need(self) -> Reading[str]:
        """The next character, unread; the end of the text is inside the grammar."""
        character = yield from self.peek()
        if not character:
            raise EndedError
        return character

    def is_last(self, text: str) -> Reading[bool]:
        """Whether behind ``text``, which stands here, the text ends, but for a few
        blanks; nothing is read."""
        while True:
            start = self.at + len(text)
            rest = self.text[start : start + _FEW]
            if rest.strip() or len(rest) == _FEW or self.final:
                return not rest.strip() and len(rest) < _FEW
            yield

    def run(self, pattern: re.Pattern[str], most: int = 0) -> Reading[str]:
        """Reads what ``pattern`` (one character class, repeated) matches, if anything.

        More than ``most`` characters are a mismatch. With 0 there is no such limit, and
        the text is read over, not returned.
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
        """Reads white space, line breaks too."""
        yield from self.run(_SPACE)

    def blanks(self) -> Reading[None]:
        """Reads blanks of this line."""
        yield from self.run(_BLANKS)

    def word(self, pattern: re.Pattern[str]) -> Reading[str]:
        """Reads a name: at least one character of ``pattern``."""
        found = yield from self.run(pattern, LONGEST_NAME)
        if not found:
            yield from self.need()
            raise self.mismatch()
        return found

    def label(self, end: str) -> Reading[str]:
        """Reads a name in a tag up to the character ``end``, which is read too: it has
        neither markup nor line breaks."""
        found = yield from self.run(_label(end), LONGEST_NAME)
        yield from self.literal(end)
        return found.strip()

    def until(self, ends: Literals) -> Reading[tuple[Extent, str]]:
        """Reads up to the first of ``ends``, which stays unread: part and end."""
        start = self.position
        while True:
            self.at, found = ends.next(self.text, self.at, final=self.final)
            if found is not None:
                return (start, self.position), found
            if self.final:
                raise OpenEndError
            yield

    def before(self, *ends: str) -> Reading[str]:
        """Reads a short text up to one of ``ends``, which is read too."""
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
        """Reads what ``scanner`` finds."""
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
        """Reads what ``scanner`` finds; where it has read so many characters and is not
        at the end, a check says by their text whether it may go on."""
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
        """Nothing but blanks up to the line break, which stays unread, or the end."""
        yield from self.blanks()
        if (yield from self.peek()) not in ("", "\n", "\r"):
            raise self.mismatch()


class _Choice(NamedTuple):
    """Texts of which one may stand at a place: all of them, what each may begin with
    and is longer than, and their sizes, the largest first."""

    options: frozenset[str]
    parts: frozenset[str]
    sizes: tuple[int, ...]

    def find(self, rest: str) -> str:
        """The longest of the options with which ``rest`` begins, if any."""
        if rest[:1] not in self.parts and rest[:1] not in self.options:
            return ""  # as mostly
        sizes = (size for size in self.sizes if rest[:size] in self.options)
        return rest[: next(sizes, 0)]

    def fits(self, rest: str) -> int:
        """How much of ``rest``, which begins with no option, begins one."""
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
    """A table of literals, made once: grammars ask for the same ones often."""
    return Literals(texts)
