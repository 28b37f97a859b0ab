"""Makes the sidecar for machines without Python, for the platform that this runs on.

``python3 binary.py OUTPUT`` makes a folder ``stream-sidecar`` with an interpreter in it
(PyInstaller, one folder), replays every transcript of the project through it, and packs
it in the folder OUTPUT as

- ``stream-sidecar-<os>-<arch>-<version>.tgz``, the npm package
  ``@stream-sidecar/<os>-<arch>``;
- ``stream_sidecar_bin-<version>-py3-none-<platform>.whl``, for pip and uv, with any
  Python from 3.8 on;
- ``stream-sidecar-<version>-<target>.tar.gz`` and its ``.sha256``, for everybody else.

``--slim`` leaves out SQLite, which only ``repair`` of an agent's database needs. On
macOS the environment variable ``CODESIGN_IDENTITY`` names the identity that signs.

It needs Python 3.11 or newer with pip, and the checkout. PyInstaller and the packed
packages are installed into a temporary environment.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import hashlib
import io
import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent

NAME = "stream-sidecar"

LEFT_OUT = (
    *("ssl", "_ssl", "_hashlib", "lzma", "_lzma", "bz2", "_bz2"),
    *("tkinter", "unittest", "pydoc", "pip", "setuptools"),
    *("markdown_it", "pygments"),
)
"""Modules that are not needed: network, archives, highlighted code. The standard
library has its own hashes, so OpenSSL's are not needed either."""

DATABASES = ("sqlite3", "_sqlite3")

SYSTEMS = {"Linux": "linux", "Darwin": "darwin", "Windows": "win32"}
MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
"""As Node.js calls them."""

TARGETS = {"linux": "unknown-linux-gnu", "darwin": "apple-darwin"}
ARCHITECTURES = {"x64": "x86_64", "arm64": "aarch64"}
"""As Rust calls them."""

PROJECT = "https://github.com/stream-sidecar/stream-sidecar"
SUMMARY = "stream-sidecar with its own interpreter, for machines without Python."
Entry: TypeAlias = tuple[str, bytes, int]
"""A file of an archive: its name, what is in it, its rights."""

EARLIEST = (1980, 1, 1, 0, 0, 0)


def main(arguments: list[str] | None = None) -> None:
    """Everything for this machine, in ``output``."""
    given = _parser().parse_args(arguments)
    output: Path = given.output
    output.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f"{NAME}-") as scratch:
        built = freeze(Path(scratch), given.requirement, slim=given.slim)
        version = said_version(built)
        check(built)
        folder = output / NAME
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(built, folder, symlinks=True)
        for pack in (pack_npm, pack_wheel, pack_archive):
            print(pack(folder, version, output))


# --- The folder -----------------------------------------------------------------------


def freeze(scratch: Path, requirement: str, *, slim: bool) -> Path:
    """The folder with the program, the interpreter and the licences of all of it."""
    python = _environment(scratch / "env", requirement)
    left_out = LEFT_OUT + (DATABASES if slim else ())
    shrink = ("--strip",) if shutil.which("strip") and os.name != "nt" else ()
    identity = os.environ.get("CODESIGN_IDENTITY")
    signed = ("--codesign-identity", identity) if identity else ()
    _run(
        *(python, "-I", "-m", "PyInstaller", "--log-level", "ERROR", "--noconfirm"),
        *("--onedir", "--name", NAME, "--contents-directory", "lib", *shrink, *signed),
        *("--collect-submodules", "stream_sidecar", "--collect-data", "stream_sidecar"),
        *(word for name in left_out for word in ("--exclude-module", name)),
        *("--distpath", str(scratch / "dist"), "--workpath", str(scratch / "work")),
        *("--specpath", str(scratch), str(HERE / "started.py")),
    )
    folder = scratch / "dist" / NAME
    _add_licences(python, folder)
    return folder


def _environment(home: Path, requirement: str) -> str:
    """The interpreter of a new environment with what is packed, and what packs it."""
    venv.create(home, with_pip=True)
    python = str(home / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    install = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    _run(*install, f"{requirement}[fast]", *project["dependency-groups"]["bundle"])
    return python


def _add_licences(python: str, folder: Path) -> None:
    """Of each library in it, and of Python."""
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    libraries = Path(_said(python, "-c", code))
    about = folder / "licences"
    for info in libraries.glob("*.dist-info"):
        texts = [each for each in info.rglob("*") if "LICEN" in each.name.upper()]
        texts = texts or [info / "METADATA"]  # which names it
        for text in (each for each in texts if each.is_file()):
            (about / info.stem).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(text, about / info.stem / text.name)
    for text in Path(sysconfig.get_path("stdlib")).glob("LICENSE*"):
        shutil.copyfile(text, about / "python.txt")
    shutil.copyfile(CHECKOUT / "LICENSE", folder / "LICENSE")


def program(folder: Path) -> Path:
    return folder / (f"{NAME}.exe" if os.name == "nt" else NAME)


def said_version(folder: Path) -> str:
    return _said(str(program(folder)), "--version").split()[-1]


def check(folder: Path) -> None:
    """Every transcript through the program, which finds no Python and no package."""
    script = str(HERE / "check.py")
    environment = {**os.environ, "PATH": "", "PYTHONPATH": "", "PYTHONHOME": ""}
    environment = {name: value for name, value in environment.items() if value}
    done = subprocess.run(
        [sys.executable, script, str(program(folder))], env=environment, check=False
    )
    if done.returncode:
        sys.exit("the program is not what it should be")


# --- What it is packed as -------------------------------------------------------------


def pack_npm(folder: Path, version: str, output: Path) -> Path:
    """``@stream-sidecar/<os>-<arch>``, as ``npm pack`` would make it."""
    system, machine = here()
    name = f"{system}-{machine}"
    about = {
        "name": f"@{NAME}/{name}",
        "version": version,
        "description": SUMMARY,
        "license": "Apache-2.0",
        "homepage": f"{PROJECT}#readme",
        "repository": {"type": "git", "url": f"git+{PROJECT}.git"},
        "os": [system],
        "cpu": [machine],
        **({"libc": ["glibc"]} if system == "linux" else {}),
        "preferUnplugged": True,
    }
    readme = f"# @{NAME}/{name}\n\n{SUMMARY} The package `{NAME}` finds it.\n"
    entries = [
        ("package/package.json", _json(about), 0o644),
        ("package/README.md", readme.encode(), 0o644),
        *_files(folder, f"package/{NAME}/"),
    ]
    return _tar(output / f"{NAME}-{name}-{version}.tgz", entries)


def pack_archive(folder: Path, version: str, output: Path) -> Path:
    """The folder as it is, named after the target, and its checksum."""
    system, machine = here()
    target = TARGETS.get(system, "pc-windows-msvc")
    name = f"{NAME}-{version}-{ARCHITECTURES[machine]}-{target}"
    archive = _tar(output / f"{name}.tar.gz", _files(folder, f"{NAME}/"))
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    archive.with_name(f"{archive.name}.sha256").write_text(
        f"{digest}  {archive.name}\n", encoding="utf-8"
    )
    return archive


_ENTRY = f'''"""Finds and starts the stream-sidecar that lies beside this file."""

import os
import subprocess
import sys

_NAME = "{NAME}.exe" if os.name == "nt" else "{NAME}"
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "{NAME}", _NAME)


def main():
    command = [PROGRAM, *sys.argv[1:]]
    if os.name == "nt":
        sys.exit(subprocess.call(command))
    os.execv(PROGRAM, command)


if __name__ == "__main__":
    main()
'''


def pack_wheel(folder: Path, version: str, output: Path) -> Path:
    """A command ``stream-sidecar`` for whoever has pip and an old Python."""
    package = "stream_sidecar_bin"
    info = f"{package}-{version}.dist-info"
    tag = f"py3-none-{wheel_platform()}"
    about = (
        f"Metadata-Version: 2.4\nName: {package.replace('_', '-')}\n"
        f"Version: {version}\nSummary: {SUMMARY}\nLicense-Expression: Apache-2.0\n"
        f"Requires-Python: >=3.8\nProject-URL: Homepage, {PROJECT}\n"
    )
    wheel = (
        f"Wheel-Version: 1.0\nGenerator: {NAME}\nRoot-Is-Purelib: false\nTag: {tag}\n"
    )
    scripts = f"[console_scripts]\n{NAME} = {package}:main\n"
    entries = [
        (f"{package}/__init__.py", _ENTRY.encode(), 0o644),
        (
            f"{package}/__main__.py",
            f"from {package} import main\n\nmain()\n".encode(),
            0o644,
        ),
        *_files(folder, f"{package}/{NAME}/"),
        (f"{info}/METADATA", about.encode(), 0o644),
        (f"{info}/WHEEL", wheel.encode(), 0o644),
        (f"{info}/entry_points.txt", scripts.encode(), 0o644),
    ]
    rows = [f"{path},sha256={_digest(data)},{len(data)}" for path, data, _ in entries]
    record = "\n".join([*rows, f"{info}/RECORD,,"]) + "\n"
    file = output / f"{package}-{version}-{tag}.whl"
    with ZipFile(file, "w") as archive:
        for path, data, mode in [*entries, (f"{info}/RECORD", record.encode(), 0o644)]:
            entry = ZipInfo(path, EARLIEST)
            entry.create_system, entry.external_attr = 3, (0o100000 | mode) << 16
            archive.writestr(entry, data, ZIP_DEFLATED, 9)
    return file


def here() -> tuple[str, str]:
    """System and processor of this machine, as Node.js calls them."""
    machine = platform.machine().lower()
    return SYSTEMS[platform.system()], MACHINES.get(machine, machine)


def wheel_platform() -> str:
    """Where the wheel runs: with the C library of this machine, or a newer one."""
    name = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    library, version = platform.libc_ver()
    if library == "glibc":
        name = name.replace("linux", f"manylinux_{version.replace('.', '_')}", 1)
    return name


# --- Files ----------------------------------------------------------------------------


def _files(folder: Path, prefix: str) -> Iterator[Entry]:
    """Each file below ``folder``. Links become files, which every way of packing
    knows."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            runs = path == program(folder) or os.access(path, os.X_OK)
            name = path.relative_to(folder).as_posix()
            yield prefix + name, path.read_bytes(), 0o755 if runs else 0o644


def _tar(file: Path, entries: Iterable[Entry]) -> Path:
    """The same entries give the same bytes."""
    with (
        file.open("wb") as raw,
        gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path, data, mode in entries:
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(data), mode
            archive.addfile(entry, io.BytesIO(data))
    return file


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode()


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _run(*command: str) -> None:
    done = subprocess.run(command, check=False)
    if done.returncode:
        sys.exit(f"failed: {' '.join(command)}")


def _said(*command: str) -> str:
    return subprocess.check_output(command, text=True).strip()


def _parser() -> argparse.ArgumentParser:
    about, _, more = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=about,
        epilog=more,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("output", type=Path, metavar="OUTPUT")
    parser.add_argument("--slim", action="store_true", help="without SQLite")
    parser.add_argument(
        "--from",
        dest="requirement",
        default=str(CHECKOUT),
        help="a requirement such as stream-sidecar==0.1.0, or a wheel (this checkout)",
    )
    return parser


if __name__ == "__main__":
    main()
