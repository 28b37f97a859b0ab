"""``stream-sidecar repair --engine ray DATASET``: repairs datasets of Ray Data."""

from __future__ import annotations

from contextlib import nullcontext
from typing import IO, TYPE_CHECKING, Any

import click

from stream_sidecar.cli.repair_options import options_in
from stream_sidecar.cli.repair_page import RepairPage, end
from stream_sidecar.cli.report_file import open_report
from stream_sidecar.session_files.datasets import DatasetJob, repair_dataset
from stream_sidecar.session_files.reports import FileReport, Tally
from stream_sidecar.session_files.skipped_files import SkippedFiles

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def repair_datasets(given: dict[str, Any]) -> None:
    """Repairs each dataset; ends the process with an exit code of ``repair``."""
    if given["write"] and not given["ray_output"]:
        raise click.UsageError("--write needs --ray-output: datasets are not replaced")
    page = RepairPage(write=given["write"])
    files = (file for path in given["paths"] for file in _files(path))
    report_file = open_report(given["report_path"], files, force=given["force"])
    with report_file or nullcontext() as records:
        reports = [_repair(str(path), given, page, records) for path in given["paths"]]
    page.summary(len(reports), SkippedFiles())
    has_leaks = given["check"] and any(report.leaking for report in reports)
    failed = any(report.error for report in reports)
    end(2 if failed else int(has_leaks), has_leaks=has_leaks)


def _files(path: Path) -> Iterable[Path]:
    """The files of a dataset, if it is on this machine."""
    return path.rglob("*") if path.is_dir() else [path]


def _repair(
    path: str, given: dict[str, Any], page: RepairPage, records: IO[bytes] | None
) -> FileReport:
    job = DatasetJob(
        path,
        given["messages_column"],
        options_in(given),
        given["ray_address"],
        given["ray_output"] if given["write"] else None,
        given["unseal"],
    )
    whole = FileReport(path, "dataset")
    tally = Tally(whole, None)
    try:
        for report, removals in repair_dataset(job):
            tally.include(report)
            for line in removals:
                if given["diff"]:
                    page.show(line)
                if records is not None:
                    records.write(line)
    except ImportError as error:
        more = "pip install 'ray[data]' installs Ray"
        raise click.ClickException(f"{error}; {more}") from None
    except (OSError, ValueError) as error:
        whole.error = str(error)
    if job.output is not None and whole.error is None:
        whole.written, whole.path = True, f"{path} -> {job.output}"
    page.add(tally.finish())
    return whole
