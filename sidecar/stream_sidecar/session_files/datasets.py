"""Sessions as datasets: the same repair over Ray Data, batch by batch.

A row is one session or one message. Its column of messages holds a list of messages, a
message, or either as JSON text, and is written back in the same form. Ray is an
optional dependency (``stream-sidecar[ray]``); only this module imports it.
"""

from __future__ import annotations

from collections import Counter
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import asdict, evolve

from stream_sidecar.history.bound import BoundTexts
from stream_sidecar.history.documents import messages_in
from stream_sidecar.history.history import History
from stream_sidecar.history.paths import at, path_of
from stream_sidecar.history.repair_counts import ModelRepairCounters
from stream_sidecar.history.unsealing import unsealed
from stream_sidecar.records import frozen
from stream_sidecar.session_files.documents import repaired, repairs_of
from stream_sidecar.session_files.reports import FileReport, Tally
from stream_sidecar.values.jsontext import decode, encode, loads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.history.messages import StoredMessage
    from stream_sidecar.history.results import Repair
    from stream_sidecar.history.unsealing import RepairedMessage
    from stream_sidecar.options import StreamOptions
    from stream_sidecar.values.json_places import Path as JsonPath

NOTES = "_stream_sidecar"
"""The column that a batch gets beside its own: what was removed from each row."""

_ROWS = 256
_BOM = "\ufeff"


@frozen
class DatasetJob:
    """``address`` of None: Ray is started on this machine. ``output``: the folder for
    the repaired dataset, in the same format; None: nothing is written."""

    path: str
    column: str
    options: StreamOptions
    address: str | None = None
    output: str | None = None
    unseal: bool = False


def repair_dataset(job: DatasetJob) -> Iterator[tuple[FileReport, list[bytes]]]:
    """The reports of the rows, each with its removals as lines of JSON.

    ImportError without Ray, ValueError without the column, and whatever Ray raises for
    a dataset that it cannot read.
    """
    import ray

    ray.init(address=job.address, ignore_reinit_error=True, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    folder = Path(job.path)
    if folder.is_dir():
        is_parquet = any(folder.rglob("*.parquet"))
    else:
        is_parquet = job.path.rstrip("/").endswith((".parquet", ".pq"))
    rows = (
        ray.data.read_parquet(job.path) if is_parquet else ray.data.read_json(job.path)
    )
    names = set(rows.columns() or ())
    if job.column not in names:
        raise ValueError(f"{job.path} has no column {job.column}")
    batches = rows.map_batches(
        RowRepair(job.path, job.column, job.options, unseal=job.unseal),
        batch_size=_ROWS,
        batch_format="pyarrow",
    )
    if job.output is not None:
        batches = batches.materialize()
        repaired_rows = batches.drop_columns([NOTES])
        write = repaired_rows.write_parquet if is_parquet else repaired_rows.write_json
        write(job.output)
    for batch in batches.iter_batches(batch_size=None, batch_format="pyarrow"):
        for note in batch.column(NOTES).to_pylist():
            (unreadable, bound, unsealed, kept), models, removals = decode(note)
            counters = [ModelRepairCounters(**model) for model in models]
            report = FileReport(
                "", bound=bound, unsealed=unsealed, unreadable=unreadable
            )
            report.kept, report.models = Counter(kept), counters
            yield report, [encode(removal) + b"\n" for removal in removals]


class RowRepair:
    """Repairs the rows of a batch; Ray sends the object to where the batches are."""

    def __init__(
        self, path: str, column: str, options: StreamOptions, *, unseal: bool = False
    ) -> None:
        self._path, self._column, self._options = path, column, options
        self._unseal = unseal

    def __call__(self, batch: Any) -> Any:
        """The batch, an Arrow table, with the new messages and the column `NOTES`."""
        import pyarrow

        column = batch.column(self._column)
        values, notes = [], []
        for number, value in enumerate(column.to_pylist()):
            new_value, note = self._row(value, number)
            values.append(new_value)
            notes.append(note)
        index = batch.column_names.index(self._column)
        new_column = pyarrow.array(values, column.type)
        repaired_rows = batch.set_column(index, self._column, new_column)
        new_notes = pyarrow.array(notes, pyarrow.binary())
        return repaired_rows.append_column(NOTES, new_notes)

    def _row(self, value: Any, number: int) -> tuple[Any, bytes]:
        """The repaired value, and the row's report with all removals as JSON."""
        removals: list[dict[str, Any]] = []
        report = FileReport(self._path)
        tally, history = Tally(report, removals.append), History(self._options)
        document, is_text = value, isinstance(value, str)
        if is_text:
            try:
                document = loads(value.removeprefix(_BOM))
            except (ValueError, RecursionError):
                report.unreadable, document = 1, None
        messages, model = [*messages_in(document)], self._options.model
        bound = BoundTexts(messages, model, unseals=self._unseal)
        repairs = repairs_of(messages, history, bound)
        edits = [pair for pair in repairs if pair[1].changed]
        if self._unseal:  # also takes out the seals that edits break
            edits, report.unsealed = unsealed(
                document, messages, edits, model, is_after=False
            )
        for message, repair in repairs:
            tally.add({"rowInBatch": number}, message, repair)
        is_edited_text = bool(edits) and is_text
        new_value = repaired(value, edits) if is_edited_text else replaced(value, edits)
        tally.finish()
        models = [asdict(model) for model in report.models]
        counts = [report.unreadable, report.bound, report.unsealed, report.kept]
        return new_value, encode([counts, models, removals])


def replaced(value: Any, repairs: list[RepairedMessage]) -> Any:
    """``value``, changed in place, with the repaired messages."""
    dropped: list[tuple[list[Any], int]] = []
    for message, repair in repairs:
        if repair.changed:
            value = _with(value, message.path, message, repair, dropped)
    for items, number in sorted(dropped, key=itemgetter(1), reverse=True):
        del items[number]
    return value


def _with(
    value: Any,
    path: JsonPath,
    message: StoredMessage,
    repair: Repair,
    dropped: list[tuple[list[Any], int]],
) -> Any:
    """``value`` with a repaired message at ``path``, which may continue in JSON text.
    ``dropped`` gets the items to remove from lists."""
    if path and isinstance(value, str):
        return repaired(value, [(evolve(message, path=path), repair)])
    if path:
        value[path[0]] = _with(value[path[0]], path[1:], message, repair, dropped)
        return value
    for edit in reversed(repair.edits):
        place = path_of(edit.path, value)
        text = at(value, place)
        text = text[: edit.start] + edit.new_text + text[edit.end :]
        if not place:
            value = text
        else:
            at(value, place[:-1])[place[-1]] = text
    for pointer in repair.dropped:
        *holder, number = path_of(pointer, value)
        dropped.append((at(value, (*holder,)), int(number)))
    return value
