"""One version for everything that is published, and what each says of itself.

``stream_sidecar.__version__`` is it. The wheel has it from there; the platforms'
packages have what their program says.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

import pytest
from places import ROOT

from stream_sidecar import __version__

PROJECT = "https://github.com/stream-sidecar/stream-sidecar"
CLIENTS = ROOT / "clients"
INDEXES = re.compile(
    r"^.*(?:pip install|uvx|npx|npm install|cargo add|npm i) (?:'?stream-sidecar).*$",
    re.MULTILINE,
)
UNTIL = re.compile(r"(?:[Uu]ntil|not) (?:the packages are |they are |it is )?published")


def json_of(path: str) -> Any:
    return json.loads((ROOT / path).read_text(encoding="utf-8"))


def toml_of(path: str) -> Any:
    return tomllib.loads((ROOT / path).read_text(encoding="utf-8"))


def locked_crate() -> str:
    packages = toml_of("clients/rust/Cargo.lock")["package"]
    (version,) = (p["version"] for p in packages if p["name"] == "stream-sidecar")
    return str(version)


VERSIONS = {
    "npm": lambda: json_of("clients/typescript/package.json")["version"],
    "npm, WebAssembly": lambda: json_of("clients/typescript/wasm/package.json")[
        "version"
    ],
    "npm, WebAssembly of the client": lambda: json_of(
        "clients/typescript/package.json"
    )["peerDependencies"]["@stream-sidecar/wasm"],
    "npm, gateway": lambda: json_of("clients/gateway/package.json")["version"],
    "npm, gateway, locked": lambda: json_of("clients/gateway/package-lock.json")[
        "version"
    ],
    "npm, locked": lambda: json_of("clients/typescript/package-lock.json")["version"],
    "crate": lambda: toml_of("clients/rust/Cargo.toml")["package"]["version"],
    "crate, locked": locked_crate,
    "extension": lambda: json_of("clients/vscode/package.json")["version"],
    "extension, locked": lambda: json_of("clients/vscode/package-lock.json")["version"],
}


@pytest.mark.parametrize("name", VERSIONS)
def test_there_is_one_version(name: str) -> None:
    assert VERSIONS[name]() == __version__


def test_what_changed_begins_with_it() -> None:
    """``protocol.md``, "Changes": newest first."""
    text = (ROOT / "protocol.md").read_text(encoding="utf-8")
    changes = text.partition("\n## Changes\n")[2]
    first = re.search(r"stream-sidecar (\d+\.\d+\.\d+)", changes)
    assert first is not None
    assert first[1] == __version__


def test_pages_name_no_other_version() -> None:
    """In names of files and in requirements."""
    named = re.compile(
        r"stream[-_]sidecar(?:[-@]|_bin-|==|-[a-z]+-[a-z0-9]+-)(\d[\d.]*\d)"
    )
    pages = [ROOT / "README.md", *CLIENTS.glob("*/README.md"), CLIENTS / "README.md"]
    found = {
        (page.parent.name, version)
        for page in pages
        for version in named.findall(page.read_text(encoding="utf-8"))
    }
    assert ("bundle", __version__) in found
    assert {version for _, version in found} == {__version__}


def test_packages_say_where_they_are_from() -> None:
    project = toml_of("pyproject.toml")["project"]
    npm = json_of("clients/typescript/package.json")
    gateway = json_of("clients/gateway/package.json")
    crate = toml_of("clients/rust/Cargo.toml")["package"]
    extension = json_of("clients/vscode/package.json")
    assert project["urls"]["Homepage"] == crate["repository"] == PROJECT
    for each in (npm, gateway, extension):
        assert each["homepage"] == f"{PROJECT}#readme"
        assert each["bugs"]["url"] == f"{PROJECT}/issues"
        assert PROJECT in each["repository"]["url"]
    for each in (project, npm, gateway, crate, extension):
        assert each["license"] == "Apache-2.0"
        assert each["description"]
        assert each["keywords"]
    assert len(crate["keywords"]) <= 5  # crates.io takes no more
    assert "Typing :: Typed" in project["classifiers"]


@pytest.mark.parametrize("room", ["", "typescript", "gateway", "rust", "bundle"])
def test_who_names_an_index_says_what_is_true_until_it_is_published(room: str) -> None:
    path = (CLIENTS / room if room else ROOT) / "README.md"
    text = path.read_text(encoding="utf-8")
    if INDEXES.search(text):
        assert UNTIL.search(text), path
