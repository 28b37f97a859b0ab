"""Everything that is published, built once for all tests that install it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import frozen
from node_package import missing
from places import ROOT

BUNDLE = ROOT / "clients" / "bundle"


@frozen
class Released:
    """The folder; ``lacks`` says why it has the packages of this platform alone."""

    folder: Path
    said: str
    lacks: str | None

    def file(self, pattern: str) -> Path:
        """The one file of this name."""
        (found,) = self.folder.glob(pattern)
        return found


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> Released:
    lacks = missing() or (None if shutil.which("cargo") else "there is no cargo")
    output = tmp_path_factory.mktemp("released") / "Größe 日本"
    script = ("binary.py",) if lacks else ("release.py", "--dry-run")
    command = [sys.executable, BUNDLE / script[0], *script[1:], output]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return Released(output, done.stdout, lacks)
