"""What an editor shows of a session document, as LSP types.

`View` is one version of a text with its leaks: diagnostics, fixes, hovers, lenses
and symbols. Nothing here sends anything to the client.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from stream_sidecar.editor.session import places_of
from stream_sidecar.editor.wording import (
    FIX_TITLE,
    diagnostic_text,
    fix_title,
    hover_text,
    noun_of,
)
from stream_sidecar.history.lengths import padding
from stream_sidecar.history.paths import at
from stream_sidecar.history.shapes import MESSAGE
from stream_sidecar.records import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stream_sidecar.editor.session import Leak, PlacedUnit, SessionMessage
    from stream_sidecar.editor.text import DocumentText, Point
    from stream_sidecar.history.cuts import Change, Cut

SOURCE = "stream-sidecar"
FIX_ALL = "source.fixAll.streamSidecar"
FIX_MESSAGE_TITLE = "Take out all leaks of this message"
FIX_ALL_TITLE = "Take out all leaks of this session"
FIX_MESSAGE = "streamSidecar.fixMessage"

_LONGEST = 80
"""The most characters of a text that the outline shows."""


@frozen
class View:
    """One version of a document. ``number`` is different for each view of any
    document."""

    uri: str
    version: int
    number: int
    text: DocumentText
    units: list[PlacedUnit]

    # What leaked

    def leaks(self) -> Iterator[tuple[PlacedUnit, SessionMessage, Leak]]:
        for placed, message in self.malformed():
            for leak in message.leaks:
                yield placed, message, leak

    def malformed(self) -> list[tuple[PlacedUnit, SessionMessage]]:
        """The messages with leaks, each with its unit."""
        return [
            (placed, message)
            for placed in self.units
            for message in placed.unit.messages
            if message.leaks
        ]

    def diagnostics(self) -> list[types.Diagnostic]:
        leaks = list(self.leaks())
        ranges = self._ranges(placed.place_of(leak) for placed, _, leak in leaks)
        return [
            _diagnostic(message, leak, where)
            for (_, message, leak), where in zip(leaks, ranges, strict=True)
        ]

    # Fixes

    def actions(self, wanted: types.Range) -> list[tuple[Any, list[Change]]]:
        """The fixes for the leaks that ``wanted`` touches: pairs of an action, still
        without an edit, and the changes for it."""
        touched = list(self._touched(*self._span(wanted)))
        ranges = self._ranges(placed.place_of(leak) for placed, _, leak in touched)
        found: list[tuple[Any, list[Change]]] = []
        for (placed, message, leak), where in zip(touched, ranges, strict=True):
            action = types.CodeAction(
                fix_title(leak.finding.kind),
                types.CodeActionKind.QuickFix,
                diagnostics=[_diagnostic(message, leak, where)],
                is_preferred=True,
            )
            found.append((action, self._changes(placed, message, leak)))
        messages = {id(message): (placed, message) for placed, message, _ in touched}
        for placed, message in messages.values():
            if len(message.fixable) == 1:  # its own fix does the same
                continue
            action = types.CodeAction(FIX_MESSAGE_TITLE, types.CodeActionKind.QuickFix)
            found.append((action, self._changes(placed, message)))
        fixable = [each for _, each in self.malformed() if each.fixable]
        if found and len(fixable) > 1:
            action = types.CodeAction(FIX_ALL_TITLE, types.CodeActionKind.QuickFix)
            found.append((action, self.all_changes()))
        return found

    def _touched(
        self, start: int, end: int
    ) -> Iterator[tuple[PlacedUnit, SessionMessage, Leak]]:
        """The leaks that can be fixed and that overlap or touch the offsets ``start``
        to ``end``."""
        for placed, message, leak in self.leaks():
            first, last = placed.place_of(leak)
            if first <= end and last >= start and leak.stays is None:
                yield placed, message, leak

    def all_changes(self) -> list[Change]:
        """The changes that fix the whole document."""
        return [
            change
            for placed, message in self.malformed()
            if message.fixable
            for change in self._changes(placed, message)
        ]

    def edits(self, fixes: list[list[Change]]) -> list[list[types.TextEdit]]:
        """The changes of each fix as edits of the document."""
        points = self._points(at for fix in fixes for each in fix for at in each[:2])
        return [
            [types.TextEdit(_range(points, each[:2]), each[2]) for each in sorted(fix)]
            for fix in fixes
        ]

    def _changes(
        self, placed: PlacedUnit, message: SessionMessage, leak: Leak | None = None
    ) -> list[Change]:
        """The changes that remove ``leak`` from a message, or all its leaks if ``leak``
        is None."""
        start, inner = placed.start, message.changes(placed.unit, leak)
        changes = [(first + start, last + start, new) for first, last, new in inner]
        if placed.keeps_length:
            at, blanks = padding(placed.unit.text, inner)
            changes.append((at + start, at + start, blanks))
        return changes

    def changes_of_message(self, number: int) -> list[Change]:
        """The changes that fix the message with this ``number``, counted over
        `malformed`. Empty if there is no such message, or if nothing may be removed
        from it."""
        malformed = self.malformed()
        if not 0 <= number < len(malformed) or not malformed[number][1].fixable:
            return []
        return self._changes(*malformed[number])

    # Lenses, hovers and symbols

    def lenses(self) -> list[types.CodeLens]:
        """One or two lenses above each message with leaks: the number of leaks,
        which does nothing when clicked, and, if there is a fix, the command that
        removes them."""
        malformed = self.malformed()
        ranges = self._ranges(
            (placed.start + message.place[0],) * 2
            for placed, message in malformed
            if message.place is not None
        )
        lenses = []
        for number, where in enumerate(ranges):
            _, message = malformed[number]
            count = types.Command(f"{_count(message)}{_stays(message)}", command="")
            lenses.append(types.CodeLens(where, count))
            if message.fixable:
                arguments = [self.uri, self.version, number]
                title = FIX_TITLE if len(message.fixable) == 1 else "Take them out"
                fix = types.Command(title, FIX_MESSAGE, arguments=arguments)
                lenses.append(types.CodeLens(where, fix))
        return lenses

    def hover(self, position: types.Position) -> types.Hover | None:
        at = self._offset(position)
        for placed, message, leak in self.leaks():
            first, last = placed.place_of(leak)
            if first <= at < last:
                (where,) = self._ranges([(first, last)])
                content = hover_text(
                    message,
                    leak,
                    self.text.text[first:last],
                    keeps_length=placed.keeps_length,
                )
                markdown = types.MarkupContent(types.MarkupKind.Markdown, content)
                return types.Hover(markdown, where)
        return None

    def symbols(self) -> list[types.DocumentSymbol]:
        """One symbol for each message."""
        named = [
            (message, placed.start + start, placed.start + end)
            for placed in self.units
            for message, (start, end) in places_of(placed.unit)
        ]
        ranges = self._ranges((start, end) for _, start, end in named)
        return [
            types.DocumentSymbol(
                name=_name(message),
                detail=_detail(message),
                kind=types.SymbolKind.String,
                range=where,
                selection_range=types.Range(where.start, where.start),
            )
            for (message, *_), where in zip(named, ranges, strict=True)
        ]

    # Positions

    def _ranges(self, spans: Iterable[Cut]) -> list[types.Range]:
        """Spans, in any order, as ranges."""
        wanted = list(spans)
        points = self._points(offset for span in wanted for offset in span)
        return [_range(points, span) for span in wanted]

    def _points(self, offsets: Iterable[int]) -> dict[int, Point]:
        """The points of offsets in any order."""
        ordered = sorted(set(offsets))
        return dict(zip(ordered, self.text.points(ordered), strict=True))

    def _span(self, wanted: types.Range) -> Cut:
        start, end = (self._offset(each) for each in (wanted.start, wanted.end))
        return start, end

    def _offset(self, position: types.Position) -> int:
        return self.text.offset((position.line, position.character))


def _range(points: dict[int, Point], span: Cut) -> types.Range:
    start, end = (types.Position(*points[offset]) for offset in span)
    return types.Range(start, end)


def _diagnostic(
    message: SessionMessage, leak: Leak, where: types.Range
) -> types.Diagnostic:
    return types.Diagnostic(
        range=where,
        message=diagnostic_text(message, leak),
        severity=types.DiagnosticSeverity.Warning,
        code=leak.finding.kind,
        source=SOURCE,
    )


def _stays(message: SessionMessage) -> str:
    """Why leaks of a message stay, and how many of them if it is not all."""
    kept = Counter(leak.stays for leak in message.leaks if leak.stays is not None)
    return "".join(
        f"; it stays: {why}"
        if count == len(message.leaks)
        else f"; {count} of them stay{'s' if count == 1 else ''}: {why}"
        for why, count in kept.items()
    )


def _count(message: SessionMessage) -> str:
    """``1 leak: reasoning``, or ``3 leaks: 1 delimiter, 2 reasoning``."""
    kinds = Counter(leak.finding.kind for leak in message.leaks)
    if len(message.leaks) == 1:
        return f"1 leak: {noun_of(next(iter(kinds)))}"
    counts = ", ".join(
        f"{count} {noun_of(kind)}" for kind, count in sorted(kinds.items())
    )
    return f"{len(message.leaks)} leaks: {counts}"


def _name(message: SessionMessage) -> str:
    found = message.found
    if found.shape is not None and found.shape is not MESSAGE:
        return "assistant"
    kind = at(found.message, ("type",))
    return found.role or (kind if isinstance(kind, str) else "message")


def _detail(message: SessionMessage) -> str:
    """The number of leaks, and the beginning of the text."""
    text = _short(_text_in(message.found.message))
    details = [text] if text else []
    if message.leaks:
        details.insert(0, _count(message))
    return "; ".join(details)


def _text_in(message: Any) -> str:
    """The text of a message, or the texts of its parts."""
    for name in ("content", "parts", "text"):
        content = at(message, (name,))
        if isinstance(content, str):
            return content
        if isinstance(content, list):
            texts = (at(part, ("text",)) for part in content)
            return " ".join(text for text in texts if isinstance(text, str))
    return ""


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
