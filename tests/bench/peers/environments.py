"""Where each peer is installed, by its language's package manager, and how it is run.

Every peer has a folder of its own under `HOME` (SIDECAR_BENCH_HOME names another
place); nothing of it is a dependency of the project. `command()` installs what is not
there yet and gives the start of a command line, or raises `MissingError` with
the reason why this machine cannot have that peer.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

from attrs import frozen

from peers.table import Language, Peer

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
HOME = Path(os.environ.get("SIDECAR_BENCH_HOME", ROOT / ".bench")).resolve()
DRIVERS = HERE / "drivers"

OWN = "drive_sidecar.py"
"""The driver of the project itself, run by the interpreter that runs this."""


class MissingError(Exception):
    """This machine cannot have or run a peer; the message says why."""


def own_command(*options: str) -> list[str]:
    return [sys.executable, str(DRIVERS / OWN), *options]


def command(peer: Peer) -> list[str]:
    """How the peer's driver is started, but for its last arguments JOB and RESULT."""
    way = WAYS[peer.language]
    if shutil.which(way.needs) is None:
        raise MissingError(f"there is no {way.needs}")
    home = HOME / peer.home
    stamp = home / "installed"
    wanted = repr((peer.pinned, peer.installed, peer.alone))
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        print(f"installing {peer.pinned} ...", file=sys.stderr, flush=True)
        home.mkdir(parents=True, exist_ok=True)
        way.install(peer, home)
        stamp.write_text(wanted, encoding="utf-8")
    driver, *options = peer.driver.split()
    return [*way.start(home, DRIVERS / driver), *options]


def version_of(tool: str) -> tuple[str, ...]:
    """What a tool calls itself, nothing where there is none."""
    path = shutil.which(tool)
    if path is None:
        return ()
    said = subprocess.check_output([path, "--version"], text=True).split("(")[0].strip()
    return (said if tool in said else f"{tool} {said}",)


def _run(arguments: list[str], home: Path) -> None:
    done = subprocess.run(
        arguments, cwd=home, capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise MissingError(f"{arguments[0]} failed: {' '.join(last)}")


# Python


def _python(home: Path) -> Path:
    binaries = home / ("Scripts" if os.name == "nt" else "bin")
    return binaries / ("python.exe" if os.name == "nt" else "python")


def _install_python(peer: Peer, home: Path) -> None:
    venv.create(home, with_pip=True)
    python = str(_python(home))
    pip = [python, "-m", "pip"]
    if peer.alone:
        wheels = home / "wheels"
        _run([*pip, "download", "-q", "--no-deps", "-d", "wheels", peer.pinned], home)
        _run([*pip, "install", "-q", *peer.installed], home)
        _unpack(next(wheels.glob("*.whl")), _site_packages(python))
        shutil.rmtree(wheels)
    else:
        _run([*pip, "install", "-q", peer.pinned, *peer.installed], home)


def _site_packages(python: str) -> Path:
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return Path(subprocess.check_output([python, "-c", ask], text=True).strip())


def _unpack(wheel: Path, target: Path) -> None:
    """The Python files of a wheel: what it has compiled for a GPU stays out."""
    with zipfile.ZipFile(wheel) as archive:
        files = [name for name in archive.namelist() if name.endswith(".py")]
        archive.extractall(target, files)


def _start_python(home: Path, driver: Path) -> list[str]:
    return [str(_python(home)), str(driver)]


# JavaScript


def _install_javascript(peer: Peer, home: Path) -> None:
    (home / "package.json").write_text(
        '{"private": true, "type": "module"}\n', encoding="utf-8"
    )
    quietly = ("--no-audit", "--no-fund", "--ignore-scripts", "--silent")
    npm = shutil.which("npm")
    assert npm is not None
    _run([npm, "install", *quietly, peer.pinned, *peer.installed], home)


def _start_javascript(home: Path, driver: Path) -> list[str]:
    """A module finds packages beside itself only, so the driver goes there."""
    shutil.copy(driver, home)
    return ["node", str(home / driver.name)]


# Rust


def _install_rust(peer: Peer, home: Path) -> None:
    (home / "src").mkdir(exist_ok=True)
    dependencies = {
        peer.package: f"={peer.version}",
        "serde_json": "1",
        "cpu-time": "1",
    }
    lines = [f'{name} = "{version}"' for name, version in dependencies.items()]
    manifest = (
        *("[package]", 'name = "driver"', 'version = "0.0.0"', 'edition = "2021"'),
        *("[dependencies]", *lines, "[workspace]", ""),
    )
    (home / "Cargo.toml").write_text("\n".join(manifest), encoding="utf-8")


def _start_rust(home: Path, driver: Path) -> list[str]:
    """Cargo builds what has changed since the last time."""
    shutil.copyfile(driver, home / "src" / "main.rs")
    _run(["cargo", "build", "--release", "--quiet"], home)
    name = "driver.exe" if os.name == "nt" else "driver"
    return [str(home / "target" / "release" / name)]


@frozen
class _Way:
    """How a language's packages are installed and its drivers started."""

    needs: str
    install: Callable[[Peer, Path], None]
    start: Callable[[Path, Path], list[str]]


WAYS: dict[Language, _Way] = {
    "Python": _Way(sys.executable, _install_python, _start_python),
    "JavaScript": _Way("npm", _install_javascript, _start_javascript),
    "Rust": _Way("cargo", _install_rust, _start_rust),
}
