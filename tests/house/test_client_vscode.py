"""The extension for VS Code: its types, its tests, its manifest, its package.

Where there is no Node.js what needs it is skipped, which the end of the run says. What
it does in a real workbench is ``clients/vscode/test/workbench.mjs``, which is run by
hand because it needs a browser and a server.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from node_package import missing, npm, prepare
from rpc_client import ROOT

from stream_sidecar import __version__
from stream_sidecar.editor.settings import EXCEPT, ONLY, SECTION
from stream_sidecar.history.results import CHOICES

HOME = ROOT / "clients" / "vscode"
MANIFEST: dict[str, Any] = json.loads((HOME / "package.json").read_text("utf-8"))
CONTRIBUTES = MANIFEST["contributes"]
LACKING = missing()
SKIPPED = (
    f"not run: the extension for VS Code (clients/vscode), because {LACKING}: "
    "its types, its tests, its package"
)
PACKED = re.compile(
    r"\[Content_Types\]\.xml|extension\.vsixmanifest|extension/("
    r"LICENSE\.txt|package\.json|readme\.md|dist/([\w-]+\.js|LICENCES\.txt)"
    r"|media/(walkthrough/)?[\w-]+\.(png|svg|md))"
)
PNG = b"\x89PNG\r\n\x1a\n"


def needs_node(test: Any) -> Any:
    """The first of these that runs installs, so each gets the same long timeout."""
    skips = pytest.mark.skipif(LACKING is not None, reason=SKIPPED)
    return pytest.mark.thorough(pytest.mark.timeout(3_600)(skips(test)))


@pytest.fixture(scope="module")
def package() -> Path:
    prepare(HOME)
    return HOME


@needs_node
def test_types(package: Path) -> None:
    npm("run", "check", home=package)


@needs_node
def test_vitest(package: Path) -> None:
    npm("test", home=package)


@needs_node
def test_it_is_packaged_without_a_warning(package: Path, tmp_path: Path) -> None:
    """With code, pictures, README and licences, and nothing else."""
    file = tmp_path / "it.vsix"
    said = npm("run", "pack", "--", "--out", str(file), home=package)
    assert "WARNING" not in said.upper()
    with ZipFile(file) as vsix:
        names = vsix.namelist()
        assert [name for name in names if not PACKED.fullmatch(name)] == []
        packed = {name.removeprefix("extension/") for name in names}
        readme = vsix.read("extension/readme.md").decode()
    assert {"LICENSE.txt", "dist/LICENCES.txt", MANIFEST["icon"]} <= packed
    entries = {MANIFEST[name].removeprefix("./") for name in ("main", "browser")}
    assert {*entries, "dist/worker.js", "dist/node-worker.js"} <= packed
    assert not re.search(r"\]\((?!https://|data:image/png;)", readme), (
        "a link that leads nowhere"
    )


# --- The manifest ---------------------------------------------------------------------


def test_its_name_and_its_version() -> None:
    assert f"{MANIFEST['publisher']}.{MANIFEST['name']}" == (
        "stream-sidecar.stream-sidecar"
    )
    assert MANIFEST["version"] == __version__


def test_the_icon_is_large_enough() -> None:
    icon = (HOME / MANIFEST["icon"]).read_bytes()
    assert icon.startswith(PNG)
    width, height = (int.from_bytes(icon[at : at + 4], "big") for at in (16, 20))
    assert (width, height) == (128, 128)


def test_every_setting_is_described_and_on_the_page() -> None:
    page = (HOME / "README.md").read_text("utf-8")
    for name, setting in CONTRIBUTES["configuration"]["properties"].items():
        assert setting["markdownDescription"].endswith("."), name
        assert "default" in setting, name
        assert f"`{name}`" in page, name
        described = setting.get("enumDescriptions", [])
        assert len(described) == len(setting.get("enum", [])), name


def test_kinds_of_findings_are_those_of_the_sidecar() -> None:
    settings = CONTRIBUTES["configuration"]["properties"]
    for name in (ONLY, EXCEPT):
        assert settings[f"{SECTION}.{name}"]["items"]["enum"] == [*CHOICES], name


def test_no_folder_chooses_what_is_run() -> None:
    """What names a program is set for the machine, and not where nobody is trusted."""
    settings = CONTRIBUTES["configuration"]["properties"]
    named = [f"streamSidecar.{name}" for name in ("command", "python")]
    assert {settings[name]["scope"] for name in named} == {"machine"}
    untrusted = MANIFEST["capabilities"]["untrustedWorkspaces"]
    assert untrusted["restrictedConfigurations"] == named


def test_what_is_declared_is_what_the_code_has() -> None:
    """Commands and settings: each is declared, and each is used."""
    code = "".join(path.read_text("utf-8") for path in (HOME / "src").glob("**/*.ts"))
    commands = {each["command"] for each in CONTRIBUTES["commands"]}
    named = set(re.findall(r'"(streamSidecar\.\w+)"', code))
    contexts = {f"streamSidecar.{name}" for name in ("leaks", "inBrowser", "missing")}
    assert named - commands == {"streamSidecar.sessions", *contexts}
    assert commands <= named
    settings = set(CONTRIBUTES["configuration"]["properties"])
    used = {f"streamSidecar.{name}" for name in re.findall(r'>\("(\w+)", ', code)}
    assert used == settings - {"streamSidecar.trace.server"}


def test_every_step_of_the_walkthrough_has_its_picture() -> None:
    for walkthrough in CONTRIBUTES["walkthroughs"]:
        for step in walkthrough["steps"]:
            assert (HOME / step["media"]["image"]).is_file(), step["id"]
            assert step["media"]["altText"], step["id"]


def test_every_command_of_a_menu_is_declared() -> None:
    commands = {each["command"] for each in CONTRIBUTES["commands"]}
    for menu, items in CONTRIBUTES.get("menus", {}).items():
        assert {item["command"] for item in items} <= commands, menu


# --- What it shares with the other clients --------------------------------------------


def test_the_lockfile_names_no_registry() -> None:
    """Whoever installs it does so from the registry of their own."""
    lock = json.loads((HOME / "package-lock.json").read_text("utf-8"))
    assert lock["packages"].pop("")["name"] == MANIFEST["name"]
    for name, each in lock["packages"].items():
        assert "resolved" not in each, name
        assert each["integrity"].startswith("sha512-"), name


def test_it_has_the_pyodide_of_the_client_whose_worker_it_takes() -> None:
    """A snapshot of the sidecar is taken of one version, and read by the same."""
    locks = [
        json.loads((ROOT / "clients" / name / "package-lock.json").read_text("utf-8"))
        for name in ("vscode", "typescript")
    ]
    mine, clients = (lock["packages"]["node_modules/pyodide"] for lock in locks)
    assert mine["version"] == clients["version"]


def test_it_has_the_licence_of_the_project() -> None:
    assert (HOME / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_a_file_begins_with_its_contract_and_is_short() -> None:
    for path in sorted((HOME / "src").rglob("*.ts")):
        lines = path.read_text("utf-8").splitlines()
        assert len(lines) <= 450, path
        assert lines[0].startswith("// "), path
