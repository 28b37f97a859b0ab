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
from itertools import chain, repeat
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
from stream_sidecar.records import evolve, field, frozen
from stream_sidecar.session_files import size_limits
from stream_sidecar.session_files.mends import UNMENDED, mended_lines
from stream_sidecar.session_files.packing import pack_zstd, unpack_zstd
from stream_sidecar.values.jsontext import decode_utf8, loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from stream_sidecar.history.cuts import Change
    from stream_sidecar.history.history import History
    from stream_sidecar.history.lineage import RecordsAfterEdits
    from stream_sidecar.history.messages import StoredMessage
    from stream_sidecar.history.unread import UnreadText
    from stream_sidecar.history.unsealing import RepairedMessage
    from stream_sidecar.session_files.mends import LineMend
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
    """Gets a file's content in order: what stays, and what replaces the rest."""

    def keep(self, data: bytes) -> None: ...

    def change(self, data: bytes) -> None: ...


class NewLines:
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
    def data(self) -> bytes | None:
        """The new text; None if nothing changed."""
        return b"".join(self._pieces) if self._changed else None


_BOM = "\ufeff"
_HALVES = "surrogatepass"
_BREAK = patterns.compile("\n")


@frozen
class TextSession:
    """What is needed to repair a session of text. ``before_seals``: the lines that come
    before a bound seal. ``after_edits``: the lines that come after an edit, if the
    seals in them are taken out; None if bound text stays. ``mends``: number of a line
    -> what else changes in it."""

    history: History
    tally: Tally
    output: Output
    advance: Advance
    surroundings: SurroundingFiles
    before_seals: Callable[[], RecordsBeforeSeals]
    after_edits: RecordsAfterEdits | None = None
    mends: Mapping[int, LineMend] = field(factory=dict)

    def repair_lines(self, file: IO[bytes], first_line: int = 1) -> None:
        """Repairs a JSONL file, or the lines of one from ``first_line`` on."""
        for number, data, part, mend in mended_lines(file, self.mends, first_line):
            if part is not size_limits.LinePart.LINE:
                self.keep_part(data, part)
            elif mend.new is not None:
                self._repair_new(mend.lines(data), number, by_line=True)
            else:
                self._repair(data, number, by_line=True, mend=mend)
            self.advance(len(data))

    def _repair_new(self, new: list[bytes], number: int, *, by_line: bool) -> None:
        """Repairs the lines that take the place of damaged ones, or a document."""
        output = NewLines()
        inner = evolve(self, output=output)
        for line in new:
            inner._repair(line, number, by_line=by_line)
        self.output.change(b"".join(new) if output.data is None else output.data)

    def keep_part(self, data: bytes, part: size_limits.LinePart) -> None:
        """Keeps a part of a line that is too long, and counts the line."""
        self.output.keep(data)
        if part is size_limits.LinePart.TOO_LONG:
            error = size_limits.too_large("a line", size_limits.LONGEST_LINE)
            self.tally.report.leave(str(error))

    def repair_packed_lines(self, file: IO[bytes]) -> None:
        """Repairs a JSONL file that is compressed as a whole; CannotEditError if it is
        too large or if there is no zstd."""
        data, output = size_limits.read_whole(file), NewLines()
        model = self.history.options.model
        try:
            lines = unpack_zstd(data)
        except ValueError:
            self.tally.report.unreadable += 1
        else:
            inner = evolve(
                self,
                output=output,
                advance=lambda _size: self.advance(0),
                before_seals=cache(
                    partial(lines_before_seals, lines, model, self.mends)
                ),
            )
            inner.repair_lines(BytesIO(lines))
        if output.data is None:
            self.output.keep(data)
        else:
            self.output.change(pack_zstd(output.data))
        self.advance(len(data))

    def repair_whole(self, file: IO[bytes]) -> None:
        """Repairs a JSON file; CannotEditError if it is too large."""
        data = size_limits.read_whole(file)
        mend = self.mends.get(1, UNMENDED)
        if mend.new is not None:
            self._repair_new([mend.new], 1, by_line=False)
        else:
            self._repair(data, 1, by_line=False, mend=mend)
        self.advance(len(data))

    def _repair(
        self, data: bytes, line: int, *, by_line: bool, mend: LineMend = UNMENDED
    ) -> None:
        if data.isspace() or not data:
            self.output.keep(data)
            return
        try:
            document = decoded(data)
        except (ValueError, RecursionError):
            self.tally.report.unreadable += 1
            self.output.keep(data)
            return
        unread: list[UnreadText] = []
        messages = [*messages_in(document, self.surroundings.role, unread)]
        repairs = self._repairs(document, messages, line, by_line=by_line)
        if by_line:
            has_no_text = not messages and is_based_elsewhere(document)
        else:
            has_no_text = is_piece(document, self.surroundings.role)
        if has_no_text:
            self.tally.report.piece = True
        elif unread:
            name_unread(document, unread, self.history, self.tally.report)
        spans: Iterable[list[dict[str, int]]] = repeat([])
        has_leaks = any(repair.leaks for _, repair in repairs)
        if has_leaks and self.tally.wants_records:
            spans = _spans(data.decode("utf-8", _HALVES), line, repairs)
        place = {"line": line} if by_line else {}
        for (message, repair), message_spans in zip(repairs, spans, strict=False):
            self.tally.add(place, message, repair, message_spans)
        changed = [pair for pair in repairs if pair[1].changed]
        seal = self.surroundings.seal
        edits = editable(document, changed, self.tally.report, seal) if changed else []
        if self.after_edits is not None:
            edits = self._unsealed(document, messages, edits, line)
        if edits or mend.changes:
            self.output.change(
                self._edited(data, document, messages, edits, mend, by_line=by_line)
            )
        else:
            self.output.keep(data)

    def _edited(
        self,
        data: bytes,
        document: Any,
        messages: list[StoredMessage],
        edits: list[RepairedMessage],
        mend: LineMend,
        *,
        by_line: bool,
    ) -> bytes:
        """A line or a document with the ``edits`` of its messages and its ``mend``;
        empty if the line goes."""
        text = data.decode("utf-8", _HALVES)
        keeps_length = by_line and self.surroundings.keeps_length(document)
        if mend.changes[:1] == ((0, len(text), ""),):
            ending = data[len(data.rstrip(b"\r\n")) :]
            blanks = b" " * (len(data) - len(ending))
            return blanks + ending if keeps_length else b""
        may_go = by_line and not (keeps_length or names_parent(data))
        if (
            may_go
            and edits
            and len(messages) == 1
            and is_emptied(messages[0], edits[0][1].dropped)
        ):
            return b""
        new_text = repaired(text, edits, mend.changes, keeps_length=keeps_length)
        return new_text.encode("utf-8", _HALVES)

    def _repairs(
        self, document: Any, messages: list[StoredMessage], line: int, *, by_line: bool
    ) -> list[RepairedMessage]:
        """The messages of a document with their repairs. ``by_line``: the document is a
        line of a log, and a later line may have a seal."""
        model, unseals = self.history.options.model, self.after_edits is not None

        def is_before_seal() -> bool:
            if by_line:
                return not unseals and self.before_seals().has(line - 1)
            return self.surroundings.is_before_seal(document, model)

        bound = BoundTexts(messages, model, is_before_seal, unseals=unseals)
        return repairs_of(messages, self.history, bound)

    def _unsealed(
        self,
        document: Any,
        messages: list[StoredMessage],
        edits: list[RepairedMessage],
        line: int,
    ) -> list[RepairedMessage]:
        """The ``edits``, with the removal of the seals that they break."""
        assert self.after_edits is not None
        is_after = self.after_edits.add(line, document)
        if first_edit(messages, edits) is not None:
            self.after_edits.edited(line, document)
        model = self.history.options.model
        edits, count = unsealed(document, messages, edits, model, is_after=is_after)
        self.tally.report.unsealed += count
        return edits

    def repair_chat_log(self, file: IO[bytes]) -> None:
        """Repairs aider's log in Markdown; CannotEditError if it is too large."""
        data = size_limits.read_whole(file)
        try:
            text = data.decode("utf-8")
        except ValueError:
            self.tally.report.unreadable += 1
            self.output.keep(data)
            return
        lines, cuts = Lines(text, 1), []
        for start, end in answers_in(text):
            message = message_of(text[start:end])
            repair = self.history.examine(message).repair(in_place=True)
            spans = [lines.span(start + r.start, start + r.end) for r in repair.removed]
            self.tally.add({"line": lines.point(start)[0]}, message, repair, spans)
            cuts += [(start + e.start, start + e.end, e.new_text) for e in repair.edits]
        if cuts:
            self.output.change(spliced(text, cuts).encode("utf-8"))
        else:
            self.output.keep(data)
        self.advance(len(data))


class Lines:
    """Lines and columns of positions in a text. Columns count code points from 1."""

    def __init__(self, text: str, first_line: int) -> None:
        self._starts = [0, *(match.end() for match in _BREAK.finditer(text))]
        self._first_line = first_line

    def point(self, offset: int) -> tuple[int, int]:
        number = bisect_right(self._starts, offset) - 1
        return number + self._first_line, offset - self._starts[number] + 1

    def span(self, start: int, end: int) -> dict[str, int]:
        """A span of the text as a report writes it."""
        line, column = self.point(start)
        end_line, end_column = self.point(end)
        begin = {"line": line, "column": column}
        return {**begin, "endLine": end_line, "endColumn": end_column}


def _spans(
    text: str, first_line: int, repairs: list[RepairedMessage]
) -> Iterator[list[dict[str, int]]]:
    """The spans of each message's leaks in the text of a document."""
    bom, lines = len(_BOM) if text.startswith(_BOM) else 0, Lines(text, first_line)
    leaks = ((message, repair.leaks) for message, repair in repairs)
    for spans in spans_of(text[bom:], leaks):
        yield [lines.span(start + bom, end + bom) for start, end in spans]


def repairs_of(
    messages: list[StoredMessage], history: History, bound: BoundTexts
) -> list[RepairedMessage]:
    """The messages of a document with their repairs, which leave ``bound`` text."""
    repairs = []
    for number, message in enumerate(messages):
        examined = history.examine(message, partial(bound.until, number))
        repairs.append((message, examined.repair(in_place=True)))
    return repairs


def lines_before_seals(
    log: bytes | Path, model: str | None, mends: Mapping[int, LineMend]
) -> RecordsBeforeSeals:
    """The lines of a log, or of the log in a file, that come before a bound seal, after
    the mends of damaged lines. Most logs have none, so only lines that may have one are
    decoded at first."""
    records = RecordsBeforeSeals()
    with BytesIO(log) if isinstance(log, bytes) else log.open("rb") as file:
        if not any(
            _is_sealed(mend.lines(data), model)
            for _, data, _, mend in mended_lines(file, mends)
        ):
            return records
        file.seek(0)
        for _, data, part, mend in mended_lines(file, mends):
            if part is not size_limits.LinePart.REST:
                lines = mend.lines(data)
                is_read = part is size_limits.LinePart.LINE and bool(lines)
                is_link = is_read and names_parent(lines[-1])
                record = _record(lines[-1]) if is_link else None
                records.add(record, is_sealed=_is_sealed(lines, model))
                for _ in range(mend.count - 1):
                    records.add(None, is_sealed=False)
    return records


def _is_sealed(lines: list[bytes], model: str | None) -> bool:
    records = map(_record, filter(may_have_seal, lines))
    messages = chain.from_iterable(map(messages_in, records))
    return any(seals_of(message, model) for message in messages)


def _record(line: bytes) -> Any:
    try:
        return decoded(line)
    except (ValueError, RecursionError):
        return None


def decoded(data: bytes) -> Any:
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
    for text in unread:
        if history.would_cut(text.text) and may_be_said(document, text):
            place = "/".join("*" if isinstance(n, int) else n[:80] for n in text.path)
            report.leave(f"a delimiter in text of no known kind, at /{place:.200}")


def editable(
    document: Any, repairs: list[RepairedMessage], report: FileReport, seal: Seal
) -> list[RepairedMessage]:
    """The ``repairs`` that may be made, of repairs that change something. Messages that
    a hash protects are counted instead."""
    edits = []
    for message, repair in repairs:
        if (reason := seal(document, edited_in(message, repair))) is not None:
            report.keep(reason)
        else:
            edits.append((message, repair))
    return edits


def repaired(
    text: str,
    repairs: list[RepairedMessage],
    mends: Sequence[Change] = (),
    *,
    keeps_length: bool = False,
) -> str:
    """``text`` with the repairs of its messages, and with other changes, ``mends``,
    which count before the repairs. Nothing else changes; with ``keeps_length``, blanks
    before the last bracket make up for the cuts."""
    bom = len(_BOM) if text.startswith(_BOM) else 0
    cuts = changes_of(text[bom:], [pair for pair in repairs if pair[1].changed])
    moved = ((start + bom, end + bom, new) for start, end, new in cuts)
    apart = (cut for cut in moved if not any(_overlap(cut, mend) for mend in mends))
    changes = sorted([*mends, *apart])
    end, blanks = padding(text, changes) if keeps_length else (len(text), "")
    return "".join((spliced(text[:end], changes), blanks, text[end:]))


def _overlap(one: Change, other: Change) -> bool:
    return one[0] < other[1] and other[0] < one[1]
