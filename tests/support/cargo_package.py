"""The Rust client's tools: runs cargo in ``clients/rust``.

`missing()` says why that cannot be done on this machine (no cargo, too old a one, or
one without rustfmt and clippy), and `cargo()` does it. All that is built is in the
package's own ``target``, so that the next run finds it there. Tests that need cargo are
marked by `needs_cargo`, or by `skips_without_cargo` where nothing is compiled.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from typing import Any

import pytest
from places import ROOT

HOME = ROOT / "clients" / "rust"

EVERYTHING = ("--workspace", "--all-features")

BUSY = 2 * 60 * 60
"""Seconds: time is not what is tested, and a cold build shares the machine."""

_OLDEST = re.compile(r'^rust-version = "(\d+)\.(\d+)"', re.MULTILINE)
_COMPONENTS = (("fmt", "rustfmt"), ("clippy", "clippy"))


def missing() -> str | None:
    """What the machine lacks; None: nothing."""
    if shutil.which("cargo") is None:
        return "there is no cargo"
    version = _version()
    if version is None:
        return "cargo has no toolchain"
    oldest = _OLDEST.search((HOME / "Cargo.toml").read_text(encoding="utf-8"))
    assert oldest is not None
    if version < (int(oldest[1]), int(oldest[2])):
        return "cargo is {}.{}, and {}.{} is needed".format(*version, *oldest.groups())
    lacking = [name for command, name in _COMPONENTS if not _says(command)]
    return f"cargo has no {' and no '.join(lacking)}" if lacking else None


def cargo(*arguments: str) -> str:
    """What cargo writes to standard output; AssertionError with all that it said."""
    environment = {
        **os.environ,
        "STREAM_SIDECAR": f'"{sys.executable}" -m stream_sidecar --stdio',
        "SIDECAR_TEST_PYTHON": sys.executable,
        "PYTHONPATH": str(ROOT / "sidecar"),
        "CARGO_TARGET_DIR": str(HOME / "target"),
        "CARGO_TERM_COLOR": "never",
    }
    done = _run(*arguments, environment=environment)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def _version() -> tuple[int, int] | None:
    found = re.match(r"cargo (\d+)\.(\d+)", _says(""))
    return (int(found[1]), int(found[2])) if found else None


def _says(command: str) -> str:
    """What a command's ``--version`` says; nothing where it is not there."""
    done = _run(*([command] if command else []), "--version")
    return done.stdout if done.returncode == 0 else ""


def _run(
    *arguments: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    command = shutil.which("cargo")
    assert command is not None
    return subprocess.run(
        [command, *arguments],
        cwd=HOME,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


LACKING = missing()
SKIPPED = (
    f"not run: the Rust client (clients/rust), because {LACKING}: "
    "its types, its transcripts, its kills of the sidecar, its lints, its package"
)

skips_without_cargo = pytest.mark.skipif(LACKING is not None, reason=SKIPPED)


def needs_cargo(test: Any) -> Any:
    """The first of these that runs compiles, so each gets the same long timeout."""
    return pytest.mark.thorough(pytest.mark.timeout(BUSY)(skips_without_cargo(test)))
