"""``stream-sidecar repair --engine ray DATASET``: repairs datasets of Ray Data."""

from __future__ import annotations

from contextlib import nullcontext
from typing import IO, Any

import click

from stream_sidecar.cli.repair_options import options_in
from stream_sidecar.cli.repair_page import RepairPage, end
from stream_sidecar.cli.report_file import open_report
from stream_sidecar.session_files.datasets import DatasetJob, repair_dataset
from stream_sidecar.session_files.reports import FileReport, Tally
from stream_sidecar.session_files.skipped_files import SkippedFiles


def repair_datasets(options: dict[str, Any]) -> None:
    """Repairs each dataset; ends the process with an exit code of ``repair``."""
    if options["write"] and not options["ray_output"]:
        raise click.UsageError("--write needs --ray-output: datasets are not replaced")
    page = RepairPage(write=options["write"])
    files = (
        file
        for path in options["paths"]
        for file in (path.rglob("*") if path.is_dir() else [path])
    )
    report_file = open_report(options["report"], files, force=options["force"])
    with report_file or nullcontext() as records:
        reports = [
            _repair(str(path), options, page, records) for path in options["paths"]
        ]
    page.summary(len(reports), SkippedFiles())
    has_leaks = options["check"] and any(report.leaking for report in reports)
    failed = any(report.error for report in reports)
    end(2 if failed else int(has_leaks), "Leaks found" if has_leaks else "")


def _repair(
    path: str, options: dict[str, Any], page: RepairPage, records: IO[bytes] | None
) -> FileReport:
    job = DatasetJob(
        path=path,
        column=options["messages_column"],
        options=options_in(options),
        address=options["ray_address"],
        output=options["ray_output"] if options["write"] else None,
        unseal=options["unseal"],
    )
    total = FileReport(path, "dataset")
    tally = Tally(total, None)
    try:
        for report, removals in repair_dataset(job):
            tally.include(report)
            for line in removals:
                if options["diff"]:
                    page.show(line)
                if records is not None:
                    records.write(line)
    except ImportError as error:
        more = "pip install 'ray[data]' installs Ray"
        raise click.ClickException(f"{error}; {more}") from None
    except (OSError, ValueError) as error:
        total.error = str(error)
    if job.output is not None and total.error is None:
        total.written, total.path = True, f"{path} -> {job.output}"
    page.add(tally.finish())
    return total
