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

_MOST_PARTS, _LONG_TEXT = 64, 4096
_CODE_PARTS = patterns.compile("\n|`++|[^\n`]++")


@define(eq=False)
class CodeSoFar:
    """Knows whether a text's end is in code; reads it late, or when it is long."""

    _state: CodeState = field(factory=CodeState)
    _parts: list[str] = field(factory=list)

    def add_text(self, text: str) -> None:
        """Adds the next part of the text."""
        self._parts.append(text)
        if len(self._parts) >= _MOST_PARTS or len(text) >= _LONG_TEXT:
            self._read()

    def _read(self) -> None:
        self._state.feed("".join(self._parts))
        self._parts.clear()

    def state_around(self) -> CodeState | None:
        """The state of code if a fence or span may be open, or None."""
        self._read()
        code = self._state.after()
        return code if code.runs or (code.fence and code.is_code) else None


@define(eq=False)
class Quotation:
    """A call in code of reasoning, with the text after it: either quoted or a call.

    It has the interface of a `Candidate`. ``start``: the position of the call in the
    channel. ``_call``: the call. ``_code``: the state of code in the fence or span
    around the call. ``_closers``: the closers of the reasoning. ``size``: the number of
    code points so far. ``read_size``: how many of these were read for the verdict.
    ``is_full``: the hold limit is reached.
    """

    start: int
    _call: Taken
    _code: CodeState
    _closers: Literals
    size: int = 0
    read_size: int = 0
    is_full: bool = False
    called: bool = False
    known: None = None
    may_be_call: bool = False
    halves: bool = False
    halved: bool = False
    stays: tuple[re.Pattern[str], ...] = ()
    _pieces: list[str] = field(factory=list)
    _recent: str = ""  # the last two characters that were read
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
        earlier_size, call_end = self.size, self._call.end
        self._pieces.append(text)
        self.size += len(text)
        size_limit = max(room(self.size, calls=False), call_end)
        is_over = self.size > size_limit
        final, readable = final or is_over, text[: size_limit - earlier_size]
        if not earlier_size:  # all of the call is there, and may close the code itself
            call_text, readable = readable[:call_end], readable[call_end:]
            if self._read(call_text) is not None:
                return self._call
        is_closed = self._closes_code(readable, final=final)
        if is_closed is None and final:
            self.is_full, is_closed = is_over, self._read("x" if self._runs else "\n")
            is_closed = is_closed or False
        if is_closed:
            return Failed(min(self.read_size, self.size), (self._call.opening,))
        return None if is_closed is None else self._call

    def _closes_code(self, text: str, *, final: bool) -> bool | None:
        """Reads ``text``. True: the code closes in it before the reasoning does; False:
        the reasoning, or the line of a span, ends first; None: neither closes."""
        text, index = self._unread + text, 0
        is_closed: bool | None = None
        while is_closed is None and index < len(text):
            end, closer = self._closers.next(text, index, final=final)
            is_closed, index = self._read(text[index:end]), end
            if is_closed is not None or closer is None:
                break
            end += len(closer)
            try:
                is_text = is_quoted(self._recent, text[end : end + 1], final=final)
            except UndecidedError:
                break
            is_closed, index = self._read(closer) if is_text else False, end
        self._unread = text[index:]
        return is_closed

    def _read(self, text: str) -> bool | None:
        """Reads ``text``, which has no closer of the reasoning. True: the code closes
        in it; False: the line of a span ends; None: neither happens."""
        for part in _CODE_PARTS.findall(text):
            if self._runs and part == "\n":
                return False
            self._code.feed(part)
            self.read_size += len(part)
            runs = self._code.runs[: len(self._runs)]
            if runs != self._runs or not (self._runs or self._code.fence):
                return True
        self._recent = (self._recent + text)[-2:]
        return None
