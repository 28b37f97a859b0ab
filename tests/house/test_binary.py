"""The sidecar for machines without Python: built, packed, installed and used.

It is built once, by the command for releases, installed into folders with blanks and
letters beyond ASCII, and started with an empty PATH.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from agent_stores import STORES, database
from node_package import HOME, missing, prepare
from places import ROOT, TESTS

from stream_sidecar import __version__

if sys.platform == "win32":
    pytest.skip("not run: it starts programs as POSIX does", allow_module_level=True)

sys.path.insert(0, str(ROOT / "clients" / "bundle"))
from binary import ARCHITECTURES, TARGETS, here, wheel_platform

if TYPE_CHECKING:
    from house.conftest import Released

SYSTEM, MACHINE = here()
PLATFORM = f"{SYSTEM}-{MACHINE}"
TARGET = f"{ARCHITECTURES[MACHINE]}-{TARGETS[SYSTEM]}"
LEAK = "<think>Hm.</think>Four."
LACKING = missing()
pytestmark = pytest.mark.thorough
needs_node = pytest.mark.skipif(LACKING is not None, reason=f"not run: {LACKING}")


def run(*command: str | Path, **options: Any) -> str:
    """What ``command`` says; fails with all that it said."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words, capture_output=True, encoding="utf-8", check=False, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def alone(*command: str | Path, **options: Any) -> str:
    """The same on a machine that has nothing."""
    return run(*command, env={"PATH": "/nowhere", "HOME": "/nowhere"}, **options)


@pytest.fixture(scope="module")
def packed(released: Released) -> Path:
    """Everything that is published for this machine; it says what it replayed."""
    count = len([*(TESTS / "transcripts").glob("*.jsonl")])
    assert f"{count} of {count} transcripts replayed" in released.said
    return released.folder


@pytest.fixture(scope="module")
def program(packed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of the archive, unpacked as its user would."""
    archive = packed / f"stream-sidecar-{__version__}-{TARGET}.tar.gz"
    checksum = archive.with_name(f"{archive.name}.sha256").read_text(encoding="utf-8")
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    assert checksum == f"{digest}  {archive.name}\n"
    place = tmp_path_factory.mktemp("unpacked") / "Größe 日本"
    with tarfile.open(archive) as opened:
        opened.extractall(place, filter="data")
    return place / "stream-sidecar" / "stream-sidecar"


@pytest.mark.timeout(3_600)
def test_commands(program: Path) -> None:
    """What the program says is what the package says, data files and all."""
    leaking = TESTS / "wires" / "openai-chat" / "leaking.sse"
    assert alone(program, "--version") == f"stream-sidecar {__version__}\n"
    for command in (("normalize", leaking, "--json"), ("dialects",), ("schema",)):
        native = run(sys.executable, "-P", "-m", "stream_sidecar", *command, cwd=ROOT)
        assert alone(program, *command) == native


def test_repair_by_many_processes_and_of_a_database(
    program: Path, tmp_path: Path
) -> None:
    """Workers are the same program, and SQLite is in it."""
    line = json.dumps({"role": "assistant", "content": LEAK})
    files = [tmp_path / f"Größe {number}.jsonl" for number in range(4)]
    for file in files:
        file.write_text(f"{line}\n", encoding="utf-8")
    STORES["llm"](tmp_path, "", LEAK)
    alone(program, "repair", tmp_path, "--write", "--jobs", "2")
    for file in files:
        assert json.loads(file.read_text(encoding="utf-8"))["content"] == "Four."
    with database(tmp_path / "logs.db") as db, closing(db.cursor()) as rows:
        rows.execute("SELECT response FROM responses")
        assert rows.fetchall() == [("Four.",)]


def test_it_has_the_licences_of_all_that_is_in_it(program: Path) -> None:
    names = {each.name for each in (program.parent / "licences").iterdir()}
    for name in ("attrs", "cattrs", "click", "orjson", "pygls", "rich", "python"):
        assert any(each.startswith(name) for each in names), name
    assert (program.parent / "LICENSE").exists()


def test_a_wheel_for_any_python(packed: Path, tmp_path: Path) -> None:
    tag = f"py3-none-{wheel_platform()}"
    wheel = packed / f"stream_sidecar_bin-{__version__}-{tag}.whl"
    pip = (sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "-q")
    run(*pip, "--target", tmp_path, wheel)
    environment = {"PATH": "/nowhere", "PYTHONPATH": str(tmp_path)}
    module = (sys.executable, "-S", "-m", "stream_sidecar_bin")
    said = run(*module, "--version", cwd=tmp_path, env=environment)
    assert said == f"stream-sidecar {__version__}\n"
    script = tmp_path / "bin" / "stream-sidecar"
    assert run(script, "--version", env=environment) == said


@needs_node
@pytest.mark.timeout(3_600)
def test_npm_packages_in_an_empty_project(
    released: Released, packed: Path, tmp_path: Path
) -> None:
    """Every recording gives the events that the native process gave: through the
    binary, and where that is removed through WebAssembly. Without either, one error
    says what to install."""
    if released.lacks:
        prepare()
        run("node", HOME / "scripts" / "pack.mjs", packed)
    project = tmp_path / "Größe 日本"
    project.mkdir()
    (project / "package.json").write_text(
        '{"private": true, "type": "module"}', encoding="utf-8"
    )
    tarballs = [
        packed / f"stream-sidecar-{__version__}.tgz",
        packed / f"stream-sidecar-{PLATFORM}-{__version__}.tgz",
        packed / f"stream-sidecar-wasm-{__version__}.tgz",
    ]
    install = ("npm", "install", "--prefer-offline", "--no-audit", "--no-fund")
    run(*install, "--ignore-scripts", "--omit=optional", *tarballs, cwd=project)
    modules = project / "node_modules"
    about = json.loads(
        (modules / f"@stream-sidecar/{PLATFORM}/package.json").read_text(
            encoding="utf-8"
        )
    )
    assert (about["os"], about["cpu"]) == ([SYSTEM], [MACHINE])
    assert about["version"] == __version__
    shutil.copy(HOME / "test" / "anywhere.mjs", project)

    count = len([*(TESTS / "wires").rglob("*.chunks.jsonl")])
    binary = {"way": "package", "isProcess": True, "streamed": count, "different": []}
    assert streamed(project) == binary
    shutil.rmtree(modules / "@stream-sidecar" / PLATFORM)
    worker = {**binary, "way": "webassembly", "isProcess": False}
    assert streamed(project) == worker
    shutil.rmtree(modules / "@stream-sidecar")
    with pytest.raises(AssertionError, match=f"install @stream-sidecar/{PLATFORM} or"):
        streamed(project)


def streamed(project: Path) -> Any:
    """The output of ``anywhere.mjs`` in a Node.js that finds nothing else."""
    node = os.path.realpath(str(shutil.which("node")))
    return json.loads(alone(node, "anywhere.mjs", TESTS / "wires", cwd=project))
