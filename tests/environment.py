"""The virtual environment that the README's two commands set up for themselves.

Standard library only, so that it runs on a machine that has Python 3.11 and git and
nothing else. `ensure()` makes or refreshes ``.venv`` (SIDECAR_VENV names another place)
and gives its interpreter.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

from progress import each_minute

ROOT = Path(__file__).resolve().parent.parent


def ensure(
    *groups: str,
    extras: str = "fast",
    packages: tuple[str, ...] = (),
    home: Path | None = None,
) -> Path:
    """The interpreter of an environment that has the project, ``groups`` and
    ``packages``; ``home`` is its folder, if it is not the usual one."""
    if sys.version_info < (3, 11):  # noqa: UP036 - an older python3 may run this file
        sys.exit("stream-sidecar needs Python 3.11 or newer")
    home = home or Path(os.environ.get("SIDECAR_VENV", ROOT / ".venv"))
    binaries = home / ("Scripts" if os.name == "nt" else "bin")
    python = binaries / ("python.exe" if os.name == "nt" else "python")
    stamp = home / "sidecar-stamp"
    wanted = _fingerprint(extras, (*groups, *packages))
    if not python.exists():
        print(f"making {home.name} ...", file=sys.stderr)
        venv.create(home, with_pip=True)
    if (
        not stamp.exists()
        or wanted not in stamp.read_text(encoding="utf-8").splitlines()
    ):
        print("installing what is needed ...", file=sys.stderr)
        with each_minute(lambda: f"installing in {home.name}", file=sys.stderr):
            _install(python, extras, groups, packages)
        with stamp.open("a") as lines:
            lines.write(wanted + "\n")
    return python


def enter(script: str, *groups: str) -> int | None:
    """Runs ``script`` with this process's arguments in an environment with ``groups``.

    Gives its exit code, or None when this process is in that environment already.
    """
    python = ensure(*groups)
    if Path(sys.prefix).resolve() == python.parent.parent.resolve():
        sys.path.insert(0, str(ROOT))
        return None
    command = [str(python), script, *sys.argv[1:]]
    environment = {**os.environ, "PYTHONUTF8": "1"}
    return subprocess.run(command, env=environment, check=False).returncode


def _fingerprint(extras: str, named: tuple[str, ...]) -> str:
    project = (ROOT / "pyproject.toml").read_bytes()
    words = " ".join((extras, *named)).encode()
    return hashlib.sha256(project + words).hexdigest()


def _install(
    python: Path, extras: str, groups: tuple[str, ...], packages: tuple[str, ...]
) -> None:
    pip = [str(python), "-m", "pip", "install", "--quiet"]
    if groups:  # dependency groups are read since pip 25.1
        subprocess.run([*pip, "pip>=25.1"], cwd=ROOT, check=True)
    target = f".[{extras}]" if extras else "."
    chosen = [word for group in groups for word in ("--group", group)]
    subprocess.run(
        [*pip, "--editable", target, *chosen, *packages], cwd=ROOT, check=True
    )
