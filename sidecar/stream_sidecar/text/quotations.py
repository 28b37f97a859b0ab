"""Calls inside code in reasoning: quoted if the code closes before the reasoning does.

A model that thinks about the syntax of calls writes them in fences and spans that it
closes. A model that leaves the code open may mean the call. `CodeSoFar` knows where
reasoning has code. `Quotation` holds a call in code, and the text after it, until the
code or the reasoning closes. Example: in a fence that closes, a call is text of the
reasoning (text rule 11.18).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.forms.candidate import Failed
from stream_sidecar.forms.literals import UndecidedError
from stream_sidecar.markdown.code import CodeState
from stream_sidecar.records import define, field
from stream_sidecar.text.mentions import is_quoted

if TYPE_CHECKING:
    import re

    from stream_sidecar.forms.candidate import Room, Taken
    from stream_sidecar.forms.literals import Literals

_MANY, _LONG = 64, 4096
_PARTS = patterns.compile("\n|`++|[^\n`]++")


@define(eq=False)
class CodeSoFar:
    """Knows whether the end of a text is in code. The added text is read only when
    `around` is called, or when there is much of it."""

    _code: CodeState = field(factory=CodeState)
    _parts: list[str] = field(factory=list)

    def add(self, text: str) -> None:
        """Adds the next part of the text."""
        self._parts.append(text)
        if len(self._parts) >= _MANY or len(text) >= _LONG:
            self._read()

    def _read(self) -> None:
        self._code.feed("".join(self._parts))
        self._parts.clear()

    def around(self) -> CodeState | None:
        """The state of code at the end of the text if a fence or a span may be open
        there; else None."""
        self._read()
        code = self._code.after()
        return code if code.runs or (code.fence and code.is_code) else None


@define(eq=False)
class Quotation:
    """A call in code of reasoning, with the text after it: either quoted or a call.

    It has the interface of a `Candidate`. ``start``: the position of the call in the
    channel. ``_taken``: the call. ``_code``: the state of code in the fence or span
    around the call. ``_closers``: the closers of the reasoning. ``size``: the number of
    code points so far. ``seen``: how many of these were read for the verdict. ``full``:
    the hold limit is reached.
    """

    start: int
    _taken: Taken
    _code: CodeState
    _closers: Literals
    size: int = 0
    seen: int = 0
    full: bool = False
    called: bool = False
    known: None = None
    may_be_call: bool = False
    halves: bool = False
    halved: bool = False
    stays: tuple[re.Pattern[str], ...] = ()
    _pieces: list[str] = field(factory=list)
    _before: str = ""  # the last two characters that were read
    _unread: str = ""
    _runs: tuple[int, ...] = ()

    def __attrs_post_init__(self) -> None:
        self._runs = () if self._code.fence and self._code.is_code else self._code.runs

    @property
    def raw(self) -> str:
        return "".join(self._pieces)

    def push(self, text: str, room: Room, *, final: bool) -> Taken | Failed | None:
        """Adds ``text`` and returns the verdict: `Taken` if the call is meant, `Failed`
        if it is quoted, None if more text has to decide. ``room``: how much may be
        held. ``final``: no more text comes."""
        known, end = self.size, self._taken.end
        self._pieces.append(text)
        self.size += len(text)
        limit = max(room(self.size, calls=False), end)
        over = self.size > limit
        final, read = final or over, text[: limit - known]
        if not known:  # all of the call is there, and may close the code itself
            inside, read = read[:end], read[end:]
            if self._read(inside) is not None:
                return self._taken
        closes = self._closes(read, final=final)
        if closes is None and final:
            self.full, closes = over, self._read("x" if self._runs else "\n")
            closes = closes or False
        if closes:
            return Failed(min(self.seen, self.size), (self._taken.opening,))
        return None if closes is None else self._taken

    def _closes(self, text: str, *, final: bool) -> bool | None:
        """Reads ``text``. True: the code closes in it before the reasoning does; False:
        the reasoning, or the line of a span, ends first; None: neither closes."""
        text, at = self._unread + text, 0
        closes: bool | None = None
        while closes is None and at < len(text):
            end, closer = self._closers.next(text, at, final=final)
            closes, at = self._read(text[at:end]), end
            if closes is not None or closer is None:
                break
            end += len(closer)
            try:
                quoted = is_quoted(self._before, text[end : end + 1], final=final)
            except UndecidedError:
                break
            closes, at = self._read(closer) if quoted else False, end
        self._unread = text[at:]
        return closes

    def _read(self, text: str) -> bool | None:
        """Reads ``text``, which has no closer of the reasoning. True: the code closes
        in it; False: the line of a span ends; None: neither happens."""
        for part in _PARTS.findall(text):
            if self._runs and part == "\n":
                return False
            self._code.feed(part)
            self.seen += len(part)
            runs = self._code.runs[: len(self._runs)]
            if runs != self._runs or not (self._runs or self._code.fence):
                return True
        self._before = (self._before + text)[-2:]
        return None
