"""Which files a change touches, as git says. Standard library only.

A change begins at the commit that SIDECAR_BASE names, else where the branch left the
one it was cloned from, else at the parent of the last commit.
"""

from __future__ import annotations

import os
import subprocess

from environment import ROOT


def changed_files() -> frozenset[str] | None:
    """The files that differ from the beginning of the change, with `/` between folders;
    None if git cannot say."""
    base = os.environ.get("SIDECAR_BASE") or _base()
    named = _git("diff", "--name-only", base) if base else None
    return None if named is None else frozenset(named.splitlines())


def commit() -> str:
    """The last commit; "" if git cannot say."""
    return _git("rev-parse", "HEAD") or ""


def _base() -> str | None:
    head, left = _git("rev-parse", "HEAD"), _git("merge-base", "HEAD", "origin/HEAD")
    return left if left and left != head else _git("rev-parse", "HEAD^")


def _git(*words: str) -> str | None:
    """What git prints; None if it fails or is not there."""
    command = ["git", "-C", str(ROOT), *words]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError:
        return None
    return done.stdout.decode().strip() if done.returncode == 0 else None
