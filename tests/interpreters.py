"""Whether all Pythons give the same: ``python3 tests/interpreters.py``.

Each Python of this machine from 3.11 on is given the folder that ``clients/bundle``
makes and nothing else, and writes a hash of what every page, recording and public case
gives (``support/hashes.py``). All files must be alike. One more is written by a Python
that is told to compile as one does that misreads possessive repeats (``patterns`` of
the package); where no Python of the machine misreads them, Debian's package of one that
does is unpacked, and ``--pinned`` asks for it in any case. Where that package is not to
be had, it is told so, and is no failure. ``--hashes FILE`` keeps the file.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from difflib import unified_diff
from pathlib import Path

from environment import ROOT, ensure

HASHES = ROOT / "tests" / "support" / "hashes.py"
BUNDLE = ROOT / "clients" / "bundle" / "bundle.py"

MISREADS = 'import re; print(re.fullmatch("(?:ab?c)*+", "a") is not None)'
WHERE = "import sys; print(sys.version, sys.base_prefix)"
IS_NEW = (
    "import sys; "
    "print(sys.version_info >= (3, 11) and sys.implementation.name == 'cpython')"
)

PINNED = "3.11.2-6+deb12u8"
"""A version of Debian's Python that misreads possessive repeats."""

PACKAGES = ("python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib")

SHOWN = 20
"""So many lines are shown of a difference."""


def main(arguments: list[str]) -> int:
    """0 if all files are alike."""
    own = ensure("test", "lint", "sdks")
    with tempfile.TemporaryDirectory(prefix="sidecar-interpreters-") as folder:
        lanes = Lanes(own, Path(folder))
        failed = lanes.run_all(always_pinned="--pinned" in arguments)
        if "--hashes" in arguments:
            kept = arguments[arguments.index("--hashes") + 1]
            shutil.copyfile(next(iter(lanes.files.values())), kept)
    print(f"{len(lanes.files) - failed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


class Lanes:
    """One folder, with the bundle and the file of each Python; the first is ``own``."""

    def __init__(self, own: Path, folder: Path) -> None:
        self._own = own
        self._folder = folder
        self.files: dict[str, Path] = {}

    def run_all(self, *, always_pinned: bool) -> int:
        """How many files differ from the first."""
        _quiet(str(self._own), str(BUNDLE), str(self._folder / "bundle"))
        failed = self.run(str(self._own)) + self.run(str(self._own), "--atomic")
        found = _pythons(str(self._own))
        failed += sum(map(self.run, found))
        if always_pinned or not any(_says(each, MISREADS) == "True" for each in found):
            failed += self._run_pinned()
        return failed

    def run(self, python: str, *options: str, **more: str) -> int:
        """1 if ``python`` fails or writes another file than the first one did."""
        name = " ".join((python, *options))
        file = self._folder / f"{len(self.files)}.txt"
        self.files[name] = file
        path = {"PYTHONPATH": str(self._folder / "bundle"), **more}
        command = [python, "-S", "-P", "-B", str(HASHES), str(file), *options]
        code = subprocess.run(command, env={**os.environ, **path}, check=False)
        lines = _lines(file) if code.returncode == 0 else []
        expected = _lines(next(iter(self.files.values())))
        print(f"{name}: {len(lines)} ways", end="", flush=True)
        print(", alike" if lines and lines == expected else ", NOT alike", flush=True)
        for line in [*unified_diff(expected, lines, n=0)][:SHOWN]:
            print(f"  {line.rstrip()}")
        return int(not lines or lines != expected)

    def _run_pinned(self) -> int:
        home = self._folder / "pinned"
        if not _unpacked(home):
            print(f"Debian's Python {PINNED}: not run, the package is not to be had")
            return 0
        python = str(home / "usr" / "bin" / "python3.11")
        return self.run(python, PYTHONHOME=str(home / "usr"))


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def _pythons(own: str) -> list[str]:
    """Every other CPython from 3.11 on, each once."""
    named = [f"{folder}/python3" for folder in os.get_exec_path()]
    versions = Path.home() / ".pyenv" / "versions"
    named += sorted(map(str, versions.glob("3.*/bin/python3")))
    found = {_says(own, WHERE): own}
    for each in named:
        if "/shims/" not in each and _says(each, IS_NEW) == "True":
            found.setdefault(_says(each, WHERE), each)
    return [*found.values()][1:]


def _says(python: str, program: str) -> str:
    """What a program prints; "" if it fails, or cannot be started."""
    try:
        done = subprocess.run([python, "-c", program], capture_output=True, check=False)
    except OSError:
        return ""
    return done.stdout.decode().strip() if done.returncode == 0 else ""


def _unpacked(home: Path) -> bool:
    """Whether Debian still has the packages; then they lie in ``home``."""
    home.mkdir()
    wanted = [f"{package}={PINNED}" for package in PACKAGES]
    try:
        _quiet("apt-get", "download", *wanted, cwd=home)
        for package in home.glob("*.deb"):
            _quiet("dpkg-deb", "-x", str(package), str(home))
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def _quiet(*command: str, cwd: Path = ROOT) -> None:
    subprocess.run(command, cwd=cwd, check=True, capture_output=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
