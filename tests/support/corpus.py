"""Data of others that lies beside the project, where it is there: it is no part of it.

``SIDECAR_CORPUS`` names the folder, by default ``shared`` beside the repository.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from places import ROOT

DATA = Path(os.environ.get("SIDECAR_CORPUS") or ROOT.parent / "shared")
CORPUS = DATA / "corpus"
"""Recorded streams, with results that are known independently."""

CASES = DATA / "cases"
"""Hard cases from public reports, with the result that their authors want."""


def cases_in(name: str) -> list[Any]:
    """The cases of one file."""
    lines = (CASES / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]
