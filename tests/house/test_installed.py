"""The npm packages, installed into empty projects that use them, and as their linters
see them. `projects` has the kinds; ``python3 tests/installed.py`` tries more.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from node_package import GATEWAY, HOME, missing, npm, prepare
from projects import KINDS, failure, install, pack

from stream_sidecar import __version__

if TYPE_CHECKING:
    from house.conftest import Released

LACKING = missing()
pytestmark = [
    pytest.mark.thorough,
    pytest.mark.timeout(3_600),
    pytest.mark.skipif(LACKING is not None, reason=f"not run: {LACKING}"),
]


@pytest.fixture(scope="module")
def packages(released: Released, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not released.lacks:
        return released.folder
    prepare(GATEWAY)
    return pack(tmp_path_factory.mktemp("packages"))


@pytest.fixture(scope="module")
def project(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("projects") / "project"
    install(packages, project)
    return project


@pytest.mark.parametrize("name", KINDS)
def test_a_project(project: Path, name: str) -> None:
    problem = failure(KINDS[name], project, name)
    assert problem is None, problem


def test_the_gateway_runs_where_it_is_installed(project: Path) -> None:
    """With all packages that it needs: those of a checkout are not there."""
    command = ("stream-sidecar-gateway", "--version")
    said = npm("exec", "--no", "--", *command, home=project)
    assert said == f"stream-sidecar-gateway {__version__}\n"


CODE = ("stream-sidecar-[0-9]*", "stream-sidecar-gateway-*")


@pytest.mark.parametrize("name", CODE)
def test_types_resolve_however_they_are_looked_for(packages: Path, name: str) -> None:
    (tarball,) = packages.glob(f"{name}.tgz")
    npm("exec", "--no", "--", "attw", str(tarball), home=HOME)


@pytest.mark.parametrize("name", [*CODE, "stream-sidecar-wasm-*"])
def test_a_package_is_what_its_manifest_says(packages: Path, name: str) -> None:
    (tarball,) = packages.glob(f"{name}.tgz")
    npm("exec", "--no", "--", "publint", "--strict", str(tarball), home=HOME)
