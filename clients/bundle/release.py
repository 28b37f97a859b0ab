"""Builds and checks all files of a release in one folder; uploads nothing.

``python3 release.py OUTPUT`` makes, in the version of the checkout,

- for Python a wheel and the sources, and the sidecar as one file;
- for npm the client, the files of its worker, and the gateway;
- the crate, and the extension for VS Code;
- for the system and processor of this machine, the packages of ``binary.py`` and an
  extension with its program (``--platform`` makes only these);
- bills of materials (CycloneDX; the crate's by ``cargo-cyclonedx``), ``SHA256SUMS``.

Put the files that other machines made for their platforms into OUTPUT before. All files
there are checked: the same version, a licence, and the licences of bundled libraries.

It needs Python 3.11 or newer with pip, Node.js, Cargo and a checkout without
uncommitted changes; ``--dry-run`` also builds a changed checkout.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from zipfile import ZipFile, is_zipfile

from binary import NAME, here
from bundle import COMMAND_LINE
from bundle import LEFT_OUT as UNUSED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

BUNDLE = Path(__file__).resolve().parent
CHECKOUT = BUNDLE.parent.parent
CLIENTS = CHECKOUT / "clients"
TYPESCRIPT, GATEWAY = CLIENTS / "typescript", CLIENTS / "gateway"
VSCODE = CLIENTS / "vscode"

SUMS = "SHA256SUMS"

SAYS_VERSION = (
    (r"stream_sidecar.*\.whl", r"[^/]+\.dist-info/METADATA", r"^Version: (\S+)"),
    (r"stream_sidecar-.*\.tar\.gz", r"[^/]+/PKG-INFO", r"^Version: (\S+)"),
    (r".*\.pyz", r"stream_sidecar-.*\.dist-info/METADATA", r"^Version: (\S+)"),
    (r".*\.tgz", r"package/package\.json", r'"version": "(.+)"'),
    (r".*\.tgz", r"package/package\.json", r'"@stream-sidecar/.+": "(.+)"'),
    (r".*-gateway-.*\.tgz", r"package/package\.json", r'"stream-sidecar": "(.+)"'),
    (r".*\.crate", r"[^/]+/Cargo\.toml", r'\A[^\[]*\[package\][^\[]*^version = "(.+)"'),
    (r".*\.vsix", r"extension/package\.json", r'"version": "(.+)"'),
)
"""Names of files, a member of theirs, and the versions that it says."""

LICENCE = re.compile(r"(LICEN[CS]E|COPYING)", re.IGNORECASE)

FROZEN = {"markdown-it-py", "mdurl", "pygments"}
"""Libraries that ``binary.py`` leaves out of its folder."""

OUTSIDE = {"ws", "@types/emscripten"}
"""What Pyodide depends on, and nothing that editors run: it is not in an extension."""


def main(arguments: list[str] | None = None) -> None:
    """Everything, in ``output``; ends with an error where something is wrong."""
    given = _parser().parse_args(arguments)
    output: Path = given.output.resolve()
    if not given.dry_run:
        _refuse_changes()
    output.mkdir(parents=True, exist_ok=True)
    version = _version()
    with TemporaryDirectory(prefix=f"{NAME}-") as scratch:
        build = Build(Path(scratch), output, version)
        build.python()
        build.platform()
        if not given.platform:
            build.others()
    problems = [*wrong_versions(output, version), *unlicensed(output)]
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        sys.exit(f"{output} is not to be published")
    sign(output)


class Build:
    """Makes the files of one release."""

    def __init__(self, scratch: Path, output: Path, version: str) -> None:
        self.scratch, self.output, self.version = scratch, output, version
        self.tools, self.made = scratch / "tools", scratch / "made"
        venv.create(self.tools, with_pip=True)
        project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))
        self._pip(*project["dependency-groups"]["release"])

    def python(self) -> None:
        """The wheel, the sources, and what a wheel brings along."""
        self._tool("hatchling", "build", "-d", str(self.output), at=CHECKOUT)
        made = (self._file("stream_sidecar-{}-*.whl"), self._file("*sidecar-{}.tar.gz"))
        self._tool("twine", "check", "--strict", *map(str, made))
        product = self.scratch / "product"
        venv.create(product, with_pip=False)
        self._pip(f"{made[0]}[fast]", python=_interpreter(product))
        self._tool(
            *("cyclonedx_py", "environment", str(_interpreter(product))),
            *("--pyproject", str(CHECKOUT / "pyproject.toml"), "--output-reproducible"),
            *("-o", str(self._bill("python"))),
        )
        _set_version(self._bill("python"), self.version)

    def platform(self) -> None:
        """What this machine alone can make."""
        wheel = str(self._file("stream_sidecar-{}-*.whl"))
        _run(sys.executable, BUNDLE / "binary.py", self.made, "--from", wheel)
        for file in [each for each in self.made.iterdir() if each.is_file()]:
            shutil.move(file, self.output / file.name)
        _install(VSCODE)
        self._extension("-".join(here()))

    def others(self) -> None:
        """What is the same on every platform."""
        wheel = str(self._file("stream_sidecar-{}-*.whl"))
        archive = self.made / f"{NAME}.pyz"
        _run(sys.executable, BUNDLE / "bundle.py", archive, "--from", wheel)
        shutil.copy(archive, self.output / f"{NAME}-{self.version}.pyz")
        for package in (TYPESCRIPT, GATEWAY):
            _install(package)
            _npm("run", "build", at=package)
        _npm("run", "build:wasm", at=TYPESCRIPT)
        _run("node", TYPESCRIPT / "scripts" / "pack.mjs", self.output)
        for name in (f"{NAME}-{{}}.tgz", f"{NAME}-gateway-{{}}.tgz"):
            for linter in (("publint", "--strict"), ("attw",)):
                package = self._file(name)
                _npm("exec", "--no", "--", *linter, str(package), at=TYPESCRIPT)
        self._extension("universal")
        bill = _npm("sbom", "--sbom-format", "cyclonedx", "--omit", "dev", at=VSCODE)
        self._bill("vscode").write_text(bill, encoding="utf-8")
        self._crate()

    def _extension(self, name: str) -> None:
        target = ("--universal",) if name == "universal" else ("--target", name)
        file = self.output / f"{NAME}-{name}-{self.version}.vsix"
        where = ("--made", str(self.made), "--out", str(file))
        _npm("run", "pack", "--", *target, *where, at=VSCODE)

    def _crate(self) -> None:
        """Cargo builds what it has packed."""
        target = self.scratch / "target"
        words = ("package", "--locked", "--allow-dirty", "--target-dir", target)
        _run("cargo", *words, "--package", NAME, at=CLIENTS / "rust")
        made = target / "package" / f"{NAME}-{self.version}"
        shutil.copyfile(f"{made}.crate", self.output / f"{made.name}.crate")
        if not shutil.which("cargo-cyclonedx"):
            print("no bill of materials of the crate: cargo install cargo-cyclonedx")
            return
        listed = ("cyclonedx", "--quiet", "--all-features", "--format", "json")
        name = self._bill("rust").name.removesuffix(".json")
        _run("cargo", *listed, "--override-filename", name, at=made)
        shutil.move(made / f"{name}.json", self._bill("rust"))

    def _file(self, pattern: str) -> Path:
        (file,) = self.output.glob(pattern.format(self.version))
        return file

    def _bill(self, name: str) -> Path:
        return self.output / f"{NAME}-{name}-{self.version}.cdx.json"

    def _tool(self, *words: str, at: Path | None = None) -> None:
        _run(_interpreter(self.tools), "-m", *words, at=at)

    def _pip(self, *words: str, python: Path | None = None) -> None:
        where = () if python is None else ("--python", str(python))
        self._tool(
            "pip", *where, "install", "-q", "--disable-pip-version-check", *words
        )


# --- What is checked ------------------------------------------------------------------


def wrong_versions(output: Path, version: str) -> Iterator[str]:
    """Each file that says, by its name or inside, another version than it should."""
    for file in _published(output):
        if version not in file.name:
            yield f"{file.name}: not of version {version}"
        for name, member, says in SAYS_VERSION:
            if re.fullmatch(name, file.name) is None:
                continue
            said = [
                each
                for path, data in members(file).items()
                if re.fullmatch(member, path)
                for each in re.findall(says, data.decode(), re.MULTILINE)
            ]
            if {*said} - {version} or not (said or "@" in says):
                yield f"{file.name}: says {', '.join(said) or 'no version'}"


def unlicensed(output: Path) -> Iterator[str]:
    """Each file without a licence, or without the licence of a bundled library."""
    bills = {name: _components(output, name) for name in ("python", "vscode")}
    pure = bills["python"] - {*UNUSED, "orjson"}
    brings = (
        (f"{NAME}*.pyz", pure),
        (f"{NAME}-wasm-*.tgz", pure - {*COMMAND_LINE}),
        (f"{NAME}-*-*-[0-9]*.tgz", bills["python"] - FROZEN),
        (f"{NAME}-[0-9]*-*.tar.gz", bills["python"] - FROZEN),
        ("stream_sidecar_bin-*.whl", bills["python"] - FROZEN),
        ("*.vsix", bills["vscode"] - OUTSIDE),
    )
    for file in _published(output):
        if file.suffix in (".json", ".sha256"):
            continue
        inside = members(file)
        if not any(LICENCE.search(name) for name in inside):
            yield f"{file.name}: no licence"
        needed = {lib for glob, libs in brings if file.match(glob) for lib in libs}
        for library in sorted(needed - licensed(inside)):
            yield f"{file.name}: no licence of {library}"


def licensed(inside: Mapping[str, bytes]) -> set[str]:
    """The libraries whose licence, or whose package's note about it, is included."""
    found: set[str] = set()
    for name, data in inside.items():
        if match := re.search(r"([^/]+)-\d[^/]*?(?:\.dist-info)?/", name):
            if LICENCE.search(name) or name.endswith("METADATA"):
                found.add(_plain(match[1]))
        elif name.endswith("LICENCES.txt"):
            found |= set(re.findall(r"^(\S+) \d[\w.]*$", data.decode(), re.MULTILINE))
    return found


def members(file: Path | io.BytesIO) -> dict[str, bytes]:
    """The files in an archive, and in an archive of the sidecar in it."""
    if is_zipfile(file):
        with ZipFile(file) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    found: dict[str, bytes] = {}
    with tarfile.open(file) as packed:  # type: ignore[arg-type]
        for entry in packed:
            if data := packed.extractfile(entry):
                found[entry.name] = data.read()
    core = found.get("package/core.zip")
    return {**found, **(members(io.BytesIO(core)) if core else {})}


def sign(output: Path) -> None:
    """The checksums of all, as ``sha256sum --check`` reads them."""
    lines = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"
        for file in _published(output)
    ]
    (output / SUMS).write_text("".join(lines), encoding="utf-8")
    print("".join(lines), end="")


def _published(output: Path) -> list[Path]:
    return sorted(file for file in output.iterdir() if file.name != SUMS)


def _components(output: Path, name: str) -> set[str]:
    """The names of what a bill of materials has."""
    found: set[str] = set()
    for file in output.glob(f"{NAME}-{name}-*.cdx.json"):
        bill = json.loads(file.read_text(encoding="utf-8"))
        found |= {_plain(each["name"]) for each in bill["components"]}
    return found


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


# --- The checkout ---------------------------------------------------------------------


def _version() -> str:
    text = (CHECKOUT / "sidecar" / "stream_sidecar" / "__init__.py").read_text("utf-8")
    found = re.search(r'^__version__ = "(.+)"', text, re.MULTILINE)
    assert found is not None
    return found[1]


def _refuse_changes() -> None:
    status = ("git", "-C", str(CHECKOUT), "status", "--porcelain")
    if said := subprocess.check_output(status, text=True):
        sys.exit(f"the checkout is not as it was committed (--dry-run):\n{said}")


def _set_version(bill: Path, version: str) -> None:
    """The version of our own component, which is not in ``pyproject.toml``."""
    reported = json.loads(bill.read_text(encoding="utf-8"))
    reported["metadata"]["component"]["version"] = version
    bill.write_text(json.dumps(reported, indent=2) + "\n", encoding="utf-8")


def _interpreter(home: Path) -> Path:
    return home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _install(package: Path) -> None:
    """The tools of an npm package, unless they are there."""
    if not (package / "node_modules").exists():
        _npm("ci", "--ignore-scripts", "--no-audit", "--no-fund", at=package)


def _npm(*words: str, at: Path) -> str:
    command = [shutil.which("npm") or "npm", *words]
    environment = {**os.environ, "SIDECAR_TEST_PYTHON": sys.executable}
    done = subprocess.run(
        command, cwd=at, env=environment, stdout=subprocess.PIPE, encoding="utf-8"
    )
    if done.returncode:
        sys.exit(f"{done.stdout}\nfailed: {' '.join(command)}")
    return done.stdout


def _run(*command: str | Path, at: Path | None = None) -> None:
    words: Iterable[str] = map(str, command)
    done = subprocess.run(line := [*words], cwd=at, check=False)
    if done.returncode:
        sys.exit(f"failed: {' '.join(line)}")


def _parser() -> argparse.ArgumentParser:
    about, _, more = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=about,
        epilog=more,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("output", type=Path, metavar="OUTPUT")
    parser.add_argument(
        "--platform", action="store_true", help="for this machine alone"
    )
    parser.add_argument("--dry-run", action="store_true", help="with changes, too")
    return parser


if __name__ == "__main__":
    main()
