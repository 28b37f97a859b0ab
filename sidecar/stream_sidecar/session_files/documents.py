"""Sessions as text: JSON (one document a line or one a file) and logs in Markdown.

A JSONL file is read line by line and may be larger than the memory; other files are
read whole. Lines that are not JSON stay as they are and are counted. The same holds for
text of no known kind, and for text that a hash protects. If something points into a
file by bytes, the lines of the file keep their length.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cache, partial
from io import BytesIO
from itertools import repeat
from typing import IO, TYPE_CHECKING, Any, Protocol, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.history.bound import BoundTexts
from stream_sidecar.history.chat_logs import answers_in, message_of
from stream_sidecar.history.cuts import changes_of, edited_in, spans_of, spliced
from stream_sidecar.history.documents import messages_in
from stream_sidecar.history.lengths import padding
from stream_sidecar.history.lineage import RecordsBeforeSeals, names_parent
from stream_sidecar.history.shapes import is_based_elsewhere, is_piece
from stream_sidecar.history.signed_blocks import may_have_seal, seals_of
from stream_sidecar.history.unread import may_be_said
from stream_sidecar.history.unsealing import first_edit, is_emptied, unsealed
from stream_sidecar.records import evolve, frozen
from stream_sidecar.session_files import size_limits
from stream_sidecar.session_files.packing import pack_zstd, unpack_zstd
from stream_sidecar.values.jsontext import decode_utf8, loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from stream_sidecar.history.history import History
    from stream_sidecar.history.lineage import RecordsAfterEdits
    from stream_sidecar.history.messages import StoredMessage
    from stream_sidecar.history.unread import UnreadText
    from stream_sidecar.history.unsealing import RepairedMessage
    from stream_sidecar.session_files.reports import FileReport, Tally
    from stream_sidecar.session_files.surrounding_files import SurroundingFiles
    from stream_sidecar.values.json_places import Path as JsonPath

Advance: TypeAlias = "Callable[[int], None]"
"""Gets the number of bytes that were read since its last call."""


class Stopped(Exception):  # noqa: N818 - a request, not an error
    """Raised by `Advance`: the run must end before this file is done."""


Seal: TypeAlias = "Callable[[Any, list[JsonPath]], str | None]"
"""Returns why strings of a document are not edited; None if they may be."""


class Output(Protocol):
    """Gets a file's content in its order: what stays, and what replaces the rest."""

    def keep(self, data: bytes) -> None: ...

    def change(self, data: bytes) -> None: ...


class Made:
    """Collects the new text of some lines, in place of a file."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._changed = False

    def keep(self, data: bytes) -> None:
        self._pieces.append(data)

    def change(self, data: bytes) -> None:
        self._pieces.append(data)
        self._changed = True

    @property
    def new(self) -> bytes | None:
        """The new text; None if nothing changed."""
        return b"".join(self._pieces) if self._changed else None


_BOM = "\ufeff"
_HALVES = "surrogatepass"
_BREAK = patterns.compile("\n")


@frozen
class TextSession:
    """What is needed to repair a session of text: its history, the tally of its
    repairs, the output for its new text, the function that gets the number of bytes
    read, and the files around it. ``before_seals``: the lines that come before a bound
    seal. ``after_edits``: the lines that come after an edit, if the seals in them are
    taken out; None if bound text stays."""

    history: History
    tally: Tally
    new: Output
    advance: Advance
    surroundings: SurroundingFiles
    before_seals: Callable[[], RecordsBeforeSeals]
    after_edits: RecordsAfterEdits | None = None

    def repair_lines(self, file: IO[bytes], first: int = 1) -> None:
        """Repairs a JSONL file, or lines of a file from the line ``first`` on."""
        number = first - 1
        for data, piece in size_limits.lines_of(file):
            number += piece is not size_limits.LinePart.REST
            if piece is size_limits.LinePart.LINE:
                self._repair(data, number, by_line=True)
            else:
                self.keep_piece(data, piece)
            self.advance(len(data))

    def keep_piece(self, data: bytes, piece: size_limits.LinePart) -> None:
        """Keeps a piece of a line that is too long, and counts the line."""
        self.new.keep(data)
        if piece is size_limits.LinePart.TOO_LONG:
            error = size_limits.too_large("a line", size_limits.LONGEST_LINE)
            self.tally.report.leave(str(error))

    def repair_packed_lines(self, file: IO[bytes]) -> None:
        """Repairs a JSONL file that is compressed as a whole; CannotEditError if it is
        too large or if there is no zstd."""
        data, made = size_limits.read_whole(file), Made()
        model = self.history.options.model
        try:
            lines = unpack_zstd(data)
        except ValueError:
            self.tally.report.unreadable += 1
        else:
            inner = evolve(
                self,
                new=made,
                advance=lambda _size: self.advance(0),
                before_seals=cache(partial(lines_before_seals, lines, model)),
            )
            inner.repair_lines(BytesIO(lines))
        if made.new is None:
            self.new.keep(data)
        else:
            self.new.change(pack_zstd(made.new))
        self.advance(len(data))

    def repair_whole(self, file: IO[bytes]) -> None:
        """Repairs a JSON file; CannotEditError if it is too large."""
        data = size_limits.read_whole(file)
        self._repair(data, 1, by_line=False)
        self.advance(len(data))

    def _repair(self, data: bytes, line: int, *, by_line: bool) -> None:
        if data.isspace() or not data:
            self.new.keep(data)
            return
        report, place = self.tally.report, {"line": line} if by_line else {}
        try:
            document = _decoded(data)
        except (ValueError, RecursionError):
            report.unreadable += 1
            self.new.keep(data)
            return
        unread: list[UnreadText] = []
        found = [*messages_in(document, self.surroundings.role, unread)]
        repairs = self._repairs(document, found, line, by_line=by_line)
        if self._is_piece(document, repairs, by_line=by_line):
            report.piece = True
        elif unread:
            name_unread(document, unread, self.history, report)
        changed = [each for each in repairs if each[1].changed]
        is_shown = any(repair.leaks for _, repair in repairs)
        text = data.decode("utf-8", _HALVES) if is_shown or self.after_edits else ""
        self._count(text, line, place, repairs)
        seal = self.surroundings.seal
        made = editable(document, changed, report, seal) if changed else []
        if self.after_edits is not None:
            made = self._unsealed(document, found, made, line)
        if made:
            keeps_length = by_line and self.surroundings.keeps_length(document)
            may_go = by_line and not (keeps_length or names_parent(data))
            if may_go and len(found) == 1 and is_emptied(found[0], made[0][1].dropped):
                self.new.change(b"")
                return
            new = repaired(text, made, keeps_length=keeps_length)
            self.new.change(new.encode("utf-8", _HALVES))
        else:
            self.new.keep(data)

    def _repairs(
        self, document: Any, found: list[StoredMessage], line: int, *, by_line: bool
    ) -> list[RepairedMessage]:
        """The messages of a document with their repairs. ``by_line``: the document is a
        line of a log, and a later line may have a seal."""
        model, unseals = self.history.options.model, self.after_edits is not None

        def is_later() -> bool:
            if by_line:
                return not unseals and self.before_seals().has(line - 1)
            return self.surroundings.is_before_seal(document, model)

        bound = BoundTexts(found, model, is_later, unseals=unseals)
        return repairs_of(found, self.history, bound)

    def _unsealed(
        self,
        document: Any,
        found: list[StoredMessage],
        made: list[RepairedMessage],
        line: int,
    ) -> list[RepairedMessage]:
        """The repairs ``made``, with the removal of the seals that edits break."""
        assert self.after_edits is not None
        is_after = self.after_edits.add(line, document)
        if first_edit(found, made) is not None:
            self.after_edits.edited(line, document)
        model = self.history.options.model
        made, count = unsealed(document, found, made, model, is_after=is_after)
        self.tally.report.unsealed += count
        return made

    def _is_piece(
        self, document: Any, found: list[RepairedMessage], *, by_line: bool
    ) -> bool:
        """Whether a file with this document may have no text of a model."""
        if by_line:
            return not found and is_based_elsewhere(document)
        return is_piece(document, self.surroundings.role)

    def _count(
        self,
        text: str,
        line: int,
        place: dict[str, int],
        repairs: list[RepairedMessage],
    ) -> None:
        where: Iterable[list[dict[str, int]]] = repeat([])
        if self.tally.wants_records and any(repair.leaks for _, repair in repairs):
            bom, lines = len(_BOM) if text.startswith(_BOM) else 0, Lines(text, line)
            leaks = ((found, repair.leaks) for found, repair in repairs)
            where = (
                [lines.place(start + bom, end + bom) for start, end in spans]
                for spans in spans_of(text[bom:], leaks)
            )
        for (found, repair), places in zip(repairs, where, strict=False):
            self.tally.add(place, found, repair, places)

    def repair_chat_log(self, file: IO[bytes]) -> None:
        """Repairs a log in Markdown, as aider keeps it; CannotEditError if it is too
        large."""
        data = size_limits.read_whole(file)
        try:
            text = data.decode("utf-8")
        except ValueError:
            self.tally.report.unreadable += 1
            self.new.keep(data)
            return
        lines, cuts = Lines(text, 1), []
        for start, end in answers_in(text):
            found = message_of(text[start:end])
            repair = self.history.examine(found).repair(in_place=True)
            spans = [(each.start + start, each.end + start) for each in repair.removed]
            where = [lines.place(*span) for span in spans]
            line = {"line": lines.point(start)[0]}
            self.tally.add(line, found, repair, where)
            cuts += [
                (each.start + start, each.end + start, each.new_text)
                for each in repair.edits
            ]
        if cuts:
            self.new.change(spliced(text, cuts).encode("utf-8"))
        else:
            self.new.keep(data)
        self.advance(len(data))


class Lines:
    """Lines and columns of positions in a text. Columns are code points, counted from
    1; the first line has the number ``first``."""

    def __init__(self, text: str, first: int) -> None:
        self._starts = [0, *(match.end() for match in _BREAK.finditer(text))]
        self._first = first

    def point(self, offset: int) -> tuple[int, int]:
        number = bisect_right(self._starts, offset) - 1
        return number + self._first, offset - self._starts[number] + 1

    def place(self, start: int, end: int) -> dict[str, int]:
        """The span from ``start`` to ``end`` as a report writes it: lines and
        columns."""
        line, column = self.point(start)
        end_line, end_column = self.point(end)
        begin = {"line": line, "column": column}
        return {**begin, "endLine": end_line, "endColumn": end_column}


def repairs_of(
    found: list[StoredMessage], history: History, bound: BoundTexts
) -> list[RepairedMessage]:
    """The messages of a document with their repairs, which leave ``bound`` text."""
    repairs = []
    for number, each in enumerate(found):
        examined = history.examine(each, partial(bound.until, number))
        repairs.append((each, examined.repair(in_place=True)))
    return repairs


def lines_before_seals(log: bytes | Path, model: str | None) -> RecordsBeforeSeals:
    """The lines of a log, or of the log in a file, that come before a bound seal. Most
    logs have none, so only lines that may have one are decoded at first."""
    before = RecordsBeforeSeals()
    with BytesIO(log) if isinstance(log, bytes) else log.open("rb") as file:
        if not any(_is_sealed(data, model) for data, _ in size_limits.lines_of(file)):
            return before
        file.seek(0)
        for data, piece in size_limits.lines_of(file):
            if piece is not size_limits.LinePart.REST:
                is_read = piece is size_limits.LinePart.LINE and names_parent(data)
                record = _record(data) if is_read else None
                before.add(record, is_sealed=_is_sealed(data, model))
    return before


def _is_sealed(line: bytes, model: str | None) -> bool:
    found = messages_in(_record(line)) if may_have_seal(line) else ()
    return any(seals_of(each, model) for each in found)


def _record(line: bytes) -> Any:
    try:
        return _decoded(line)
    except (ValueError, RecursionError):
        return None


def _decoded(data: bytes) -> Any:
    """The value of JSON in UTF-8, which may have halves of characters."""
    try:
        return decode_utf8(data)
    except UnicodeDecodeError:
        return loads(data.decode("utf-8", _HALVES).removeprefix(_BOM))


def name_unread(
    document: Any, unread: list[UnreadText], history: History, report: FileReport
) -> None:
    """Counts the texts that no row reads, if a model may have written them and
    something leaked into them."""
    for each in unread:
        if history.would_cut(each.text) and may_be_said(document, each):
            place = "/".join("*" if isinstance(n, int) else n[:80] for n in each.path)
            report.leave(f"a delimiter in text of no known kind, at /{place:.200}")


def editable(
    document: Any, repairs: list[RepairedMessage], report: FileReport, seal: Seal
) -> list[RepairedMessage]:
    """The ``repairs`` that may be made, of repairs that change something. Messages that
    a hash protects are counted instead."""
    made = []
    for found, repair in repairs:
        if (reason := seal(document, edited_in(found, repair))) is not None:
            report.keep(reason)
        else:
            made.append((found, repair))
    return made


def repaired(
    text: str, repairs: list[RepairedMessage], *, keeps_length: bool = False
) -> str:
    """``text`` with the repairs of its messages. Nothing else changes; with
    ``keeps_length``, blanks before the last bracket make up for the cuts."""
    bom = _BOM if text.startswith(_BOM) else ""
    body = text.removeprefix(_BOM)
    changes = [(found, repair) for found, repair in repairs if repair.changed]
    cuts = changes_of(body, changes)
    at, blanks = padding(body, cuts) if keeps_length else (len(body), "")
    return "".join((bom, spliced(body[:at], cuts), blanks, body[at:]))
