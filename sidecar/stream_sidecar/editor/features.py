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
from stream_sidecar.records import field, frozen
from stream_sidecar.resume.wording import ERRORS, code_of, sentences_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stream_sidecar.editor.resuming import Problem
    from stream_sidecar.editor.session import Leak, PlacedUnit, SessionMessage
    from stream_sidecar.editor.text import DocumentText, Point
    from stream_sidecar.history.cuts import Change, Cut

SOURCE = "stream-sidecar"
FIX_ALL = "source.fixAll.streamSidecar"
FIX_MESSAGE_TITLE = "Take out all leaks of this message"
FIX_ALL_TITLE = "Take out all leaks of this session"
FIX_MESSAGE = "streamSidecar.fixMessage"
MEND_TITLE = "Mend it"
MEND_ALL_TITLE = "Mend all that keeps this session from resuming"

_LONGEST = 80
"""The most characters of a text that the outline shows."""


@frozen
class View:
    """One version of a document. No two views have the same ``number``."""

    uri: str
    version: int
    number: int
    text: DocumentText
    units: list[PlacedUnit]
    problems: list[Problem] = field(factory=list)

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
        diagnostics = [
            _diagnostic(message, leak, leak_range)
            for (_, message, leak), leak_range in zip(leaks, ranges, strict=True)
        ]
        ranges = self._ranges((each.start, each.end) for each in self.problems)
        return diagnostics + [
            _problem_diagnostic(problem, problem_range)
            for problem, problem_range in zip(self.problems, ranges, strict=True)
        ]

    # Fixes

    def actions(self, selection: types.Range) -> list[tuple[Any, list[Change]]]:
        """The fixes for the leaks that overlap or touch ``selection``: pairs of an
        action, still without an edit, and the changes for it."""
        start, end = self._offset(selection.start), self._offset(selection.end)
        leaks = []
        for placed, message, leak in self.leaks():
            leak_start, leak_end = placed.place_of(leak)
            if leak_start <= end and leak_end >= start and leak.stays is None:
                leaks.append((placed, message, leak))
        ranges = self._ranges(placed.place_of(leak) for placed, _, leak in leaks)
        fixes: list[tuple[Any, list[Change]]] = []
        for (placed, message, leak), leak_range in zip(leaks, ranges, strict=True):
            action = types.CodeAction(
                fix_title(leak.finding.kind),
                types.CodeActionKind.QuickFix,
                diagnostics=[_diagnostic(message, leak, leak_range)],
                is_preferred=True,
            )
            fixes.append((action, self._changes(placed, message, leak)))
        messages = {id(message): (placed, message) for placed, message, _ in leaks}
        for placed, message in messages.values():
            if len(message.fixable) == 1:  # its own fix does the same
                continue
            action = types.CodeAction(FIX_MESSAGE_TITLE, types.CodeActionKind.QuickFix)
            fixes.append((action, self._changes(placed, message)))
        fixable = [message for _, message in self.malformed() if message.fixable]
        if fixes and len(fixable) > 1:
            action = types.CodeAction(FIX_ALL_TITLE, types.CodeActionKind.QuickFix)
            fixes.append((action, self.all_changes()))
        return fixes

    def mends(
        self, selection: types.Range
    ) -> list[tuple[types.CodeAction, list[Change]]]:
        """The fixes of what stands in the way of the session in the selected text, and
        one that makes all mends of the session if there are more."""
        start, end = self._offset(selection.start), self._offset(selection.end)
        mendable = [problem for problem in self.problems if problem.changes]
        here = [p for p in mendable if p.start <= end and p.end >= start]
        ranges = self._ranges((problem.start, problem.end) for problem in here)
        fixes: list[tuple[types.CodeAction, list[Change]]] = []
        for problem, problem_range in zip(here, ranges, strict=True):
            action = types.CodeAction(
                f"{MEND_TITLE}: {noun_of(code_of(problem.record))}",
                types.CodeActionKind.QuickFix,
                diagnostics=[_problem_diagnostic(problem, problem_range)],
                is_preferred=True,
            )
            fixes.append((action, [*problem.changes]))
        if here and len(mendable) > 1:
            action = types.CodeAction(MEND_ALL_TITLE, types.CodeActionKind.QuickFix)
            fixes.append((action, _apart(mendable)))
        return fixes

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
        offsets = (offset for fix in fixes for change in fix for offset in change[:2])
        points = self._points(offsets)
        return [
            [types.TextEdit(_range(points, c[:2]), c[2]) for c in sorted(fix)]
            for fix in fixes
        ]

    def _changes(
        self, placed: PlacedUnit, message: SessionMessage, leak: Leak | None = None
    ) -> list[Change]:
        """The changes that remove ``leak``, or all leaks of the message."""
        start, inner = placed.start, message.changes(placed.unit, leak)
        changes = [(left + start, right + start, new) for left, right, new in inner]
        if placed.keeps_length:
            offset, blanks = padding(placed.unit.text, inner)
            changes.append((offset + start, offset + start, blanks))
        return changes

    def changes_of_message(self, number: int) -> list[Change]:
        """The changes that fix the message with this ``number``, counted over
        `malformed`; empty if there is none or nothing may be removed from it."""
        malformed = self.malformed()
        if not 0 <= number < len(malformed) or not malformed[number][1].fixable:
            return []
        return self._changes(*malformed[number])

    # Lenses, hovers and symbols

    def lenses(self) -> list[types.CodeLens]:
        """One or two lenses above each message with leaks: their number, which does
        nothing when clicked, and, if there is a fix, the command that removes them."""
        malformed = self.malformed()
        ranges = self._ranges(
            (placed.start + message.place[0],) * 2
            for placed, message in malformed
            if message.place is not None
        )
        lenses = []
        for number, lens_range in enumerate(ranges):
            _, message = malformed[number]
            count = types.Command(f"{_count(message)}{_stays(message)}", command="")
            lenses.append(types.CodeLens(lens_range, count))
            if message.fixable:
                arguments = [self.uri, self.version, number]
                title = FIX_TITLE if len(message.fixable) == 1 else "Take them out"
                fix = types.Command(title, FIX_MESSAGE, arguments=arguments)
                lenses.append(types.CodeLens(lens_range, fix))
        return lenses

    def hover(self, position: types.Position) -> types.Hover | None:
        offset = self._offset(position)
        for placed, message, leak in self.leaks():
            start, end = placed.place_of(leak)
            if start <= offset < end:
                (leak_range,) = self._ranges([(start, end)])
                text, keeps_length = self.text.text[start:end], placed.keeps_length
                content = hover_text(message, leak, text, keeps_length=keeps_length)
                markdown = types.MarkupContent(types.MarkupKind.Markdown, content)
                return types.Hover(markdown, leak_range)
        return None

    def symbols(self) -> list[types.DocumentSymbol]:
        """One symbol for each message."""
        symbols = [
            (message, placed.start + start, placed.start + end)
            for placed in self.units
            for message, (start, end) in places_of(placed.unit)
        ]
        ranges = self._ranges((start, end) for _, start, end in symbols)
        return [
            types.DocumentSymbol(
                name=_name(message),
                detail=_detail(message),
                kind=types.SymbolKind.String,
                range=symbol_range,
                selection_range=types.Range(symbol_range.start, symbol_range.start),
            )
            for (message, *_), symbol_range in zip(symbols, ranges, strict=True)
        ]

    # Positions

    def _ranges(self, spans: Iterable[Cut]) -> list[types.Range]:
        """Spans, in any order, as ranges."""
        spans = list(spans)
        points = self._points(offset for span in spans for offset in span)
        return [_range(points, span) for span in spans]

    def _points(self, offsets: Iterable[int]) -> dict[int, Point]:
        """The points of offsets in any order."""
        ordered = sorted(set(offsets))
        return dict(zip(ordered, self.text.points(ordered), strict=True))

    def _offset(self, position: types.Position) -> int:
        return self.text.offset((position.line, position.character))


def _range(points: dict[int, Point], span: Cut) -> types.Range:
    start, end = (types.Position(*points[offset]) for offset in span)
    return types.Range(start, end)


def _diagnostic(
    message: SessionMessage, leak: Leak, leak_range: types.Range
) -> types.Diagnostic:
    return types.Diagnostic(
        range=leak_range,
        message=diagnostic_text(message, leak),
        severity=types.DiagnosticSeverity.Warning,
        code=leak.finding.kind,
        source=SOURCE,
    )


def _problem_diagnostic(
    problem: Problem, problem_range: types.Range
) -> types.Diagnostic:
    is_error = problem.record["kind"] in ERRORS
    severity = types.DiagnosticSeverity
    return types.Diagnostic(
        range=problem_range,
        message=" ".join(sentences_of(problem.record)),
        severity=severity.Error if is_error else severity.Warning,
        code=code_of(problem.record),
        source=SOURCE,
    )


def _apart(problems: Iterable[Problem]) -> list[Change]:
    """The changes of all problems. One that overlaps with an earlier one is made at the
    next time."""
    changes: list[Change] = []
    for change in sorted({change for each in problems for change in each.changes}):
        if not changes or change[0] >= changes[-1][1]:
            changes.append(change)
    return changes


def _stays(message: SessionMessage) -> str:
    """Why leaks of a message stay, and how many of them if it is not all."""
    counts = Counter(leak.stays for leak in message.leaks if leak.stays is not None)
    return "".join(
        f"; it stays: {reason}"
        if count == len(message.leaks)
        else f"; {count} of them stay{'s' if count == 1 else ''}: {reason}"
        for reason, count in counts.items()
    )


def _count(message: SessionMessage) -> str:
    """``1 leak: reasoning``, or ``3 leaks: 1 delimiter, 2 reasoning``."""
    kinds = Counter(leak.finding.kind for leak in message.leaks)
    if len(message.leaks) == 1:
        return f"1 leak: {noun_of(next(iter(kinds)))}"
    counts = (f"{count} {noun_of(kind)}" for kind, count in sorted(kinds.items()))
    return f"{len(message.leaks)} leaks: {', '.join(counts)}"


def _name(message: SessionMessage) -> str:
    stored = message.message
    if stored.shape is not None and stored.shape is not MESSAGE:
        return "assistant"
    kind = at(stored.message, ("type",))
    return stored.role or (kind if isinstance(kind, str) else "message")


def _detail(message: SessionMessage) -> str:
    """The number of leaks, and the beginning of the text."""
    text = " ".join(_text_in(message.message.message).split())
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    count = _count(message) if message.leaks else ""
    return "; ".join(filter(None, (count, text)))


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
