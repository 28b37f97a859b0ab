"""The crate as others get it: lints, features, documentation, and what is published.

Only a change of the crate or of its dependencies can move these, so the test command
runs them apart from the client's tests (``test_client_rust.py``).
"""

from __future__ import annotations

import re

import pytest
from cargo_package import EVERYTHING, HOME, cargo, needs_cargo
from rpc_client import ROOT

PACKED = re.compile(
    r"src/([a-z]+/)*[a-z0-9_]+\.rs|src/adapters/tower/endpoints\.json"
    r"|examples/[a-z_]+\.rs|README\.md|LICENSE|Cargo\.(toml|toml\.orig|lock)|\.cargo_vcs_info\.json"
)


@needs_cargo
def test_lints() -> None:
    cargo("clippy", *EVERYTHING, "--all-targets", "--locked", "--", "-D", "warnings")


@needs_cargo
def test_the_crate_without_features() -> None:
    """As most hosts compile it: without adapters and without their dependencies."""
    cargo("check", "--locked")
    tree = cargo("tree", "--locked", "--edges", "normal")
    assert not {"agent-client-protocol", "tower-service"} & set(
        re.findall(r"[\w-]+", tree)
    )


@needs_cargo
def test_documentation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every public item has a comment, and every link in one leads somewhere."""
    monkeypatch.setenv("RUSTDOCFLAGS", "-D warnings")
    cargo("doc", "--all-features", "--no-deps", "--locked")


@needs_cargo
def test_what_is_published() -> None:
    """The code, the examples that pages link to, README and licence; nothing else."""
    names = cargo("package", "--allow-dirty", "--locked", "--list").split()
    assert [name for name in names if not PACKED.fullmatch(name)] == []
    sources = {
        path.relative_to(HOME).as_posix() for path in (HOME / "src").rglob("*.rs")
    }
    readme = (HOME / "README.md").read_text(encoding="utf-8")
    examples = set(re.findall(r"\]\((examples/\w+\.rs)\)", readme))
    assert examples == {name for name in names if name.startswith("examples/")}
    assert sources | {"README.md", "LICENSE"} <= set(names)
    assert (HOME / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
