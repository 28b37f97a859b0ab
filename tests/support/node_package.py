"""The tools of a package for Node.js: installs and builds ``clients/typescript``, or
another package beside it, once.

`missing()` says why that cannot be done on this machine (no Node, too old a Node), and
`prepare()` does it: ``npm ci`` where the lockfile has changed since the last time,
which a stamp in ``node_modules`` tells, then the build, and what its worker loads where
the sidecar has changed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from places import ROOT

HOME = ROOT / "clients" / "typescript"
GATEWAY = ROOT / "clients" / "gateway"
OLDEST = 20
"""The major version of Node.js that ``engines`` asks for."""


def missing() -> str | None:
    """What the machine lacks; None: nothing."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        return "there is no Node.js (node and npm)"
    version = subprocess.check_output(["node", "--version"], text=True).strip()
    if int(version.removeprefix("v").split(".")[0]) < OLDEST:
        return f"Node.js is {version}, and {OLDEST} is needed"
    return None


def prepare(home: Path = HOME) -> None:
    """Installs what is not there yet, and builds; raises CalledProcessError."""
    if home == GATEWAY:
        prepare()  # which it is compiled against
    stamp = home / "node_modules" / ".stamp"
    wanted = _fingerprint(home)
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        npm("ci", "--ignore-scripts", "--no-audit", "--no-fund", home=home)
        stamp.write_text(wanted, encoding="utf-8")
    npm("run", "build", home=home)
    if home == HOME:
        _prepare_worker()


def _prepare_worker() -> None:
    """What the client's worker loads, made where the sidecar has changed."""
    stamp, wanted = HOME / "node_modules" / ".wasm-stamp", _core_fingerprint()
    made = (HOME / "wasm" / "made.json").exists() and stamp.exists()
    if not made or stamp.read_text(encoding="utf-8") != wanted:
        npm("run", "build:wasm")
        stamp.write_text(wanted, encoding="utf-8")


def npm(*arguments: str, home: Path = HOME) -> str:
    """What npm says on standard output; its errors go where pytest shows them."""
    npm_command = shutil.which("npm")
    assert npm_command is not None
    environment = {**os.environ, "SIDECAR_TEST_PYTHON": sys.executable, "CI": "1"}
    done = subprocess.run(
        [npm_command, *arguments],
        cwd=home,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        sys.stderr.write(done.stdout)
    done.check_returncode()
    return done.stdout


def _fingerprint(home: Path) -> str:
    version = subprocess.check_output(["node", "--version"])
    lock = (home / "package-lock.json").read_bytes()
    return hashlib.sha256(version + lock).hexdigest()


def _core_fingerprint() -> str:
    """Of all that is packed for the worker, and of what packs it."""
    files = sorted(path for path in (ROOT / "sidecar").rglob("*") if path.is_file())
    sources = [path for path in files if "__pycache__" not in path.parts]
    own = [HOME / "scripts/make-wasm.mjs", HOME / "src/wasm/worker.ts"]
    tools = (ROOT / "clients/bundle/bundle.py", *own)
    whole = hashlib.sha256(_fingerprint(HOME).encode())
    for path in (*sources, *tools):
        whole.update(path.read_bytes())
    return whole.hexdigest()
