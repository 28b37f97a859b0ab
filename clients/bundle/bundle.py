"""Makes the bundle that an extension ships: the sidecar with all its dependencies.

``python3 bundle.py OUTPUT ...``: an output that ends in ``.pyz`` becomes one executable
file, any other one a folder. Either runs as ``python OUTPUT --stdio`` with Python 3.11
or newer, on every platform, from a place that cannot be written to.

- Everything in it is pure Python. orjson, which is native and faster, is used if the
  interpreter that runs the bundle has it.
- Bytecode is compiled beforehand, for the Python that runs this script or for each
  ``--python``, and is valid whatever a packager does to the times of files. Other
  Pythons compile the sources at every start.
- The same versions give the same bytes.

Uses only the standard library and pip; ``--from`` accepts everything that pip accepts.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent

OLDEST = "3.11"
"""What is bundled runs on every Python from this one on."""

BESIDE = ("colorama",)
"""What click asks for on Windows alone; a bundle serves all platforms."""

LEFT_OUT = ("markdown-it-py", "mdurl", "pygments")
"""Dependencies of rich for Markdown and highlighted code, which the sidecar never
shows. They are half of all files."""

COMMAND_LINE = ("click", "colorama", "rich")
"""What the command line alone needs, and ``--core`` leaves out with it."""

PURE = (
    *("--only-binary", ":all:", "--python-version", OLDEST),
    *("--platform", "any", "--implementation", "py", "--abi", "none"),
)
"""pip's options for wheels that run anywhere; pip fails if a package has none."""

NOTES = ("RECORD", "REQUESTED", "INSTALLER", "direct_url.json", "py.typed", "*.pyi")
"""What pip notes about an installation, paths of this machine among it, and what only
type checkers read: each file of an archive costs time at every start."""

EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The time of every file in an archive: the first that zip knows."""

COMPILING = {"PYTHONHASHSEED": "0", "PYTHONOPTIMIZE": "", "PYTHONPYCACHEPREFIX": ""}
"""Variables under which a source always gives the same bytecode in the same place."""

SHEBANG = b"#!/usr/bin/env python3\n"


def main(arguments: list[str] | None = None) -> None:
    """Makes all ``outputs`` from one installation."""
    given = _parser().parse_args(arguments)
    for output in given.outputs:
        _refuse_foreign(output)
    with TemporaryDirectory(prefix="stream-sidecar-") as scratch:
        libs = Path(scratch, "libs")
        install(given.requirement, libs)
        if given.core:
            leave_out_command_line(libs)
        for python in [] if given.core else given.python or [sys.executable]:
            compile_for(python, libs)
        for output in given.outputs:
            output.parent.mkdir(parents=True, exist_ok=True)
            (pack if output.suffix == ".pyz" else place)(libs, output)
            print(output)


def install(requirement: str, libs: Path) -> None:
    """The project and its dependencies in a new folder ``libs``, with its launcher."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile"]
    _run(*pip, *PURE, "--target", str(libs), requirement, *BESIDE)
    _uninstall(LEFT_OUT, libs)
    for note in [file for name in NOTES for file in libs.rglob(name)]:
        note.unlink()
    shutil.rmtree(libs / "bin", ignore_errors=True)
    _remove_empty(libs)
    shutil.copyfile(HERE / "launch.py", libs / "__main__.py")


def leave_out_command_line(libs: Path) -> None:
    """What is left has no ``__main__``: somebody else's interpreter imports it."""
    for name in COMMAND_LINE:
        shutil.rmtree(libs / name)
        for about in libs.glob(f"{name}-*.dist-info"):
            shutil.rmtree(about)
    shutil.rmtree(libs / "stream_sidecar" / "cli")
    for main in (libs, libs / "stream_sidecar"):
        (main / "__main__.py").unlink()


def compile_for(python: str, libs: Path) -> None:
    """The bytecode of ``python``, which is valid without a look at the sources."""
    line = [python, "-m", "compileall", "-q", "-f", "-s", str(libs), str(libs)]
    _run(*line, "--invalidation-mode", "unchecked-hash", **COMPILING)


def place(libs: Path, folder: Path) -> None:
    """``libs`` as ``folder``, in place of an earlier bundle."""
    with TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as beside:
        shutil.copytree(libs, new := Path(beside, "new"))
        if folder.exists():
            folder.rename(Path(beside, "old"))
        new.rename(folder)


def pack(libs: Path, file: Path) -> None:
    """``libs`` as one executable file, in place of an earlier one."""
    with TemporaryDirectory(dir=file.parent, prefix=f".{file.name}-") as beside:
        new = Path(beside, "new")
        with new.open("wb") as output:
            output.write(SHEBANG)
            with ZipFile(output, "w") as archive:
                for name, path in sorted(_entries(libs).items()):
                    _add(archive, name, path.read_bytes())
        new.chmod(0o755)
        new.replace(file)


def _entries(libs: Path) -> dict[str, Path]:
    """Name in the archive -> file. The importer of zip files knows no ``__pycache__``,
    so each Python has a tree of its own there, with bytecode and data."""
    files = [path for path in libs.rglob("*") if path.is_file()]
    compiled = [path for path in files if path.suffix == ".pyc"]
    plain = {_name(libs, path): path for path in files if path.suffix != ".pyc"}
    data = {name for name in plain if not name.endswith(".py") and "info/" not in name}
    trees = {path.stem.rpartition(".")[2] for path in compiled}
    return {
        **plain,
        **{f"{tree}/{name}": plain[name] for tree in trees for name in data},
        **{_compiled_name(libs, path): path for path in compiled},
    }


def _compiled_name(libs: Path, path: Path) -> str:
    """``a/__pycache__/b.cpython-311.pyc`` is ``cpython-311/a/b.pyc``."""
    module, _, tree = path.stem.rpartition(".")
    return f"{tree}/{_name(libs, path.parent.parent / module)}.pyc"


def _name(libs: Path, path: Path) -> str:
    return path.relative_to(libs).as_posix()


def _add(archive: ZipFile, name: str, content: bytes) -> None:
    """Write one file, without traces of this machine or time. Bytecode is not
    compressed: it is read at every start, and the extension compresses the archive."""
    info = ZipInfo(name, EARLIEST)
    info.create_system, info.external_attr = 3, 0o644 << 16
    method = ZIP_STORED if name.endswith(".pyc") else ZIP_DEFLATED
    archive.writestr(info, content, method, 9)


def _uninstall(names: tuple[str, ...], libs: Path) -> None:
    for installed in list(distributions(path=[str(libs)])):
        if installed.name.lower() in names:
            for file in installed.files or ():
                Path(str(file.locate())).unlink(missing_ok=True)


def _refuse_foreign(output: Path) -> None:
    """Only an earlier bundle is overwritten."""
    if output.suffix == ".pyz" or not output.exists():
        return
    names = {path.name for path in output.iterdir()} if output.is_dir() else {""}
    if names and not {"cattrs", "stream_sidecar"} <= names:
        sys.exit(f"{output} is no earlier bundle; name another folder")


def _remove_empty(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()


def _run(*command: str, **environment: str) -> None:
    """Runs ``command``, which says on standard error what it did not like."""
    try:
        done = subprocess.run(command, env={**os.environ, **environment}, check=False)
    except OSError as error:
        sys.exit(f"{command[0]}: {error.strerror}")
    if done.returncode:
        sys.exit(f"failed: {' '.join(command)}")


def _parser() -> argparse.ArgumentParser:
    about, _, more = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=about,
        epilog=more,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("outputs", nargs="+", type=Path, metavar="OUTPUT")
    parser.add_argument(
        "--from",
        dest="requirement",
        default=str(CHECKOUT),
        help="a wheel, or a requirement such as stream-sidecar==0.1.0 (this checkout)",
    )
    parser.add_argument(
        "--core",
        action="store_true",
        help="without the command line and bytecode, for an interpreter in a worker",
    )
    parser.add_argument(
        "--python",
        action="append",
        help="compile for this interpreter, too; may be repeated (the running one)",
    )
    return parser


if __name__ == "__main__":
    main()
