"""What ``release.py`` makes: what lies in its folder, what it refuses, and that it
works where it is installed.

``test_installed.py`` has the npm packages, ``test_binary.py`` the programs.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import venv
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest
from places import ROOT

from stream_sidecar import __version__

if sys.platform == "win32":
    pytest.skip("not run: it starts programs as POSIX does", allow_module_level=True)

sys.path.insert(0, str(ROOT / "clients" / "bundle"))
from binary import here
from release import SUMS, unlicensed, wrong_versions

if TYPE_CHECKING:
    from house.conftest import Released

PLATFORM = "-".join(here())
COMMON = (
    f"stream_sidecar-{__version__}-py3-none-any.whl",
    f"stream_sidecar-{__version__}.tar.gz",
    f"stream-sidecar-{__version__}.pyz",
    f"stream-sidecar-{__version__}.tgz",
    f"stream-sidecar-wasm-{__version__}.tgz",
    f"stream-sidecar-gateway-{__version__}.tgz",
    f"stream-sidecar-{__version__}.crate",
    f"stream-sidecar-universal-{__version__}.vsix",
    f"stream-sidecar-python-{__version__}.cdx.json",
    f"stream-sidecar-vscode-{__version__}.cdx.json",
)
thorough = pytest.mark.thorough


@pytest.fixture
def release(released: Released) -> Released:
    if released.lacks:
        pytest.skip(f"not run: a release, because {released.lacks}")
    return released


def run(*command: str | Path, **options: object) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", **options)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


# --- What it refuses ------------------------------------------------------------------


def test_another_version_is_reported(tmp_path: Path) -> None:
    for name, said in (
        ("stream_sidecar-1.2.whl", "1.3"),
        ("stream_sidecar-1.1.whl", ""),
    ):
        with ZipFile(tmp_path / name, "w") as wheel:
            wheel.writestr("a-1.2.dist-info/METADATA", f"Version: {said}\n")
    assert [*wrong_versions(tmp_path, "1.2")] == [
        "stream_sidecar-1.1.whl: not of version 1.2",
        "stream_sidecar-1.1.whl: says no version",
        "stream_sidecar-1.2.whl: says 1.3",
    ]


def test_a_licence_that_is_missing_is_reported(tmp_path: Path) -> None:
    bill = {"components": [{"name": "attrs"}, {"name": "Cattrs"}]}
    text = json.dumps(bill)
    (tmp_path / "stream-sidecar-python-1.cdx.json").write_text(text, encoding="utf-8")
    with ZipFile(tmp_path / "stream-sidecar-1.pyz", "w") as archive:
        archive.writestr("attrs-26.1.0.dist-info/licenses/LICENSE", "MIT")
    with ZipFile(tmp_path / "stream_sidecar-1.whl", "w") as archive:
        archive.writestr("stream_sidecar/__init__.py", "")
    assert [*unlicensed(tmp_path)] == [
        "stream-sidecar-1.pyz: no licence of cattrs",
        "stream_sidecar-1.whl: no licence",
    ]


# --- What is in it --------------------------------------------------------------------


@thorough
@pytest.mark.timeout(3_600)
def test_everything_is_there_under_its_checksum(release: Released) -> None:
    sums = (release.folder / SUMS).read_text(encoding="utf-8")
    listed = dict(reversed(line.split("  ")) for line in sums.splitlines())
    files = {each.name: each for each in release.folder.iterdir() if each.name != SUMS}
    assert listed == {
        name: hashlib.sha256(file.read_bytes()).hexdigest()
        for name, file in files.items()
    }
    mine = {name for name in files if name not in COMMON and "-rust-" not in name}
    assert {*COMMON} <= {*files}
    assert len(mine) == 5  # the npm package, wheel, archive with its sum, extension
    assert f"stream-sidecar-{PLATFORM}-{__version__}.tgz" in mine


@thorough
def test_bills_name_what_is_bundled(release: Released) -> None:
    def components(name: str) -> set[str]:
        bill = json.loads(release.file(f"*-{name}-*.cdx.json").read_text("utf-8"))
        assert bill["bomFormat"] == "CycloneDX"
        assert bill["metadata"]["component"]["version"] == __version__
        return {each["name"] for each in bill["components"]}

    assert {"attrs", "orjson", "pygls", "rich"} <= components("python")
    assert {"pyodide", "vscode-languageclient"} <= components("vscode")


@thorough
@pytest.mark.parametrize("name", ["universal", PLATFORM])
def test_an_extension_has_the_shape_that_editors_install(
    release: Released, name: str
) -> None:
    """The manifest of the package names the one of the extension, and its entries."""
    with ZipFile(release.file(f"stream-sidecar-{name}-*.vsix")) as vsix:
        files = set(vsix.namelist())
        manifest = ElementTree.fromstring(vsix.read("extension.vsixmanifest"))
        about = json.loads(vsix.read("extension/package.json"))
    (identity,) = manifest.findall(".//{*}Identity")
    target = None if name == "universal" else name
    assert identity.get("Version") == __version__
    assert identity.get("TargetPlatform") == target
    assets = {each.get("Path") for each in manifest.findall(".//{*}Asset")}
    entries = {
        f"extension/{about[entry].removeprefix('./')}" for entry in ("main", "browser")
    }
    assert assets | entries <= files
    sidecar = "stream-sidecar/stream-sidecar" if target else "stream-sidecar.pyz"
    assert f"extension/bundled/{sidecar}" in files


# --- Installed ------------------------------------------------------------------------


@thorough
def test_the_wheel_in_an_empty_environment(release: Released, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    wheel = release.file("stream_sidecar-*.whl")
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "-q")
    run(*pip, wheel)
    code = (
        "import stream_sidecar as s; m = s.normalize('<think>Hm.</think>Four.', "
        "wire='text').message; print(m.reasoning, m.text)"
    )
    assert run(python, "-I", "-c", code) == "Hm. Four.\n"
    said = run(tmp_path / "venv" / "bin" / "stream-sidecar", "--version")
    assert said == f"stream-sidecar {__version__}\n"


@thorough
@pytest.mark.timeout(3_600)
def test_the_crate_in_an_empty_project(release: Released, tmp_path: Path) -> None:
    """It is the example that its README begins with."""
    with tarfile.open(release.file("*.crate")) as crate:
        crate.extractall(tmp_path, filter="data")
    source = tmp_path / f"stream-sidecar-{__version__}"
    project = tmp_path / "project"
    run("cargo", "init", "--quiet", "--bin", "--vcs", "none", project)
    rust = ROOT / "clients" / "rust"
    shutil.copy(rust / "Cargo.lock", project)  # what is compiled is there already
    add = ("cargo", "add", "--quiet")
    run(*add, "--path", source, cwd=project)
    run(*add, "tokio", "--features", "macros,rt-multi-thread", cwd=project)
    run(*add, "futures-util", cwd=project)
    readme = (source / "README.md").read_text(encoding="utf-8")
    program = readme.split("```rust\n")[1].split("```")[0]
    (project / "src" / "main.rs").write_text(program, encoding="utf-8")
    place = {
        "CARGO_TARGET_DIR": str(rust / "target"),
        "STREAM_SIDECAR": str(Path(sys.executable).with_name("stream-sidecar")),
    }
    run("cargo", "run", "--quiet", cwd=project, env={**os.environ, **place})
