"""Foreign text made safe for a terminal: characters that could steer it are escaped.

Names, titles, file names and error texts come from models, providers and folders. A
control character in them can recolour, rename or overwrite what a terminal shows, a
bidirectional control can reorder it, a line break can forge a heading. All these are
shown as escapes: ``one_line("a\\x1b[2J")`` is ``a``, a backslash and ``x1b[2J``.

Control characters are C0 and C1 (ECMA-48). Bidirectional controls are the characters
with the property Bidi_Control (Unicode, UAX #9). Half surrogates, which no terminal can
show, and the separators U+2028 and U+2029 are escaped, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar import patterns

if TYPE_CHECKING:
    import re

_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_NEVER_PRINTED = f"\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{_BIDI}\ud800-\udfff"
_IN_LINES = patterns.compile(f"[{_NEVER_PRINTED}]")
_IN_ONE_LINE = patterns.compile(f"[\t\n{_NEVER_PRINTED}]")


def in_lines(text: str) -> str:
    """``text`` with its line breaks and tabs; other control characters are escaped."""
    return _IN_LINES.sub(_escape, text)


def one_line(text: str) -> str:
    """``text`` on one line: line breaks and tabs are escaped, too."""
    return _IN_ONE_LINE.sub(_escape, text)


def json_line(document: bytes) -> bytes:
    """Return JSON in UTF-8 with the same value and without control characters.

    In JSON these characters stand only in strings, where an escape such as ``\\u202e``
    means the same.
    """
    text = document.decode("utf-8", "surrogatepass")
    escaped = _IN_LINES.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return escaped.encode()


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()
