"""What is in a folder in which sessions were repaired."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

LIST = ".stream-sidecar-backups"


def listed(folder: Path) -> dict[str, tuple[int, str]]:
    """The backups on the list of a folder: size and hash by name. A line that a killed
    process has left counts for nothing."""
    path = folder / LIST
    lines = path.read_text(encoding="utf-8").split("\n") if path.exists() else []
    found: dict[str, tuple[int, str]] = {}
    for row in (json.loads(line) for line in lines if line.endswith("}")):
        found.pop(row["name"], None)
        if "size" in row:
            found[row["name"]] = (row["size"], row["sha256"])
    return found


def inside(folder: Path) -> list[Path]:
    """What is in a folder, but for the list of its backups; that names what is there,
    and has its size and its hash."""
    known = listed(folder)
    for name, (size, digest) in known.items():
        data = (folder / name).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (size, digest), name
    assert known or not (folder / LIST).exists()
    return sorted(path for path in folder.iterdir() if path.name != LIST)
