"""What is shipped: wheel, sdist, and the bundles that extensions carry.

Each is built once, from this checkout, into a folder with blanks and letters beyond
ASCII in its name, and started from there as a host does, over raw pipes. What starts
must be the package itself: in its way stand a working directory and a ``PYTHONPATH``
full of modules of the same names, and bundles run without ``site-packages``.
"""

from __future__ import annotations

import filecmp
import json
import marshal
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
from email import message_from_bytes
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from zipfile import ZipFile

import pytest
from attrs import frozen
from rpc_client import ROOT, RpcClient

from stream_sidecar import __version__

pytestmark = pytest.mark.thorough
BUNDLE = ROOT / "clients" / "bundle" / "bundle.py"
LEAKING = ROOT / "tests" / "wires" / "openai-chat" / "leaking.sse"
WHEEL = f"stream_sidecar-{__version__}-py3-none-any.whl"
SDIST = f"stream_sidecar-{__version__}"
INFO = f"{SDIST}.dist-info"
TREE = sys.implementation.cache_tag
OTHERS = (
    "attr",
    "attrs",
    "cattrs",
    "click",
    "lsprotocol",
    "pygls",
    "rich",
    "stream_sidecar",
)
FORBIDDEN = 'raise SystemExit(f"{__file__} is none of ours")\n'


@frozen
class Built:
    """Everything that is shipped, in one folder."""

    home: Path

    @property
    def wheel(self) -> Path:
        return self.home / "dist" / WHEEL

    @property
    def archive(self) -> Path:
        return self.home / "stream-sidecar.pyz"

    @property
    def folder(self) -> Path:
        return self.home / "bundled" / "libs"

    @property
    def workspace(self) -> Path:
        """A directory to work in that has modules with our names."""
        return self.home / "workspace"

    def command(self, name: str) -> tuple[str, ...]:
        """How a host starts the wheel's script or a bundle."""
        if name == "wheel":
            return (str(self.home / "site" / "bin" / "stream-sidecar"),)
        return (sys.executable, "-S", str(getattr(self, name)))

    def environment(self, name: str, **more: str) -> dict[str, str]:
        """As poor as it gets: no UTF-8, and bytecode is written where it can be."""
        first = self.home / "site" if name == "wheel" else self.workspace
        path = {"PATH": os.environ["PATH"], "PYTHONPATH": str(first)}
        return {**path, "LC_ALL": "C", "PYTHONUTF8": "0", "NO_COLOR": "1", **more}


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> bytes:
    """What ``command`` says on standard output; fails with all that it said."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    pytest.importorskip("hatchling", reason="no hatchling: nothing was built")
    built = Built(tmp_path_factory.mktemp("packages") / "Größe 日本 Ⅻ")
    built.workspace.mkdir(parents=True)
    for name in OTHERS:
        (built.workspace / f"{name}.py").write_text(FORBIDDEN, encoding="utf-8")
    run(sys.executable, "-m", "hatchling", "build", "-d", built.home / "dist")
    bundle = (sys.executable, BUNDLE, "--from", built.wheel)
    run(*bundle, built.folder, built.archive)
    pip = (sys.executable, "-m", "pip", "install", "--no-index", "--no-deps")
    run(*pip, "--target", built.home / "site", built.wheel)
    return built


def _listing(folder: Path) -> dict[str, int]:
    """Every file with the time it was written."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): path.stat().st_mtime_ns for path in files}


# --- What is in it --------------------------------------------------------------------


def test_a_wheel_is_the_package_and_nothing_else(built: Built) -> None:
    ours = (
        path
        for path in (ROOT / "sidecar" / "stream_sidecar").rglob("*")
        if path.is_file()
    )
    expected = {path.relative_to(ROOT / "sidecar").as_posix() for path in ours}
    expected = {name for name in expected if "__pycache__" not in name}
    assert {"stream_sidecar/py.typed", "stream_sidecar/tools/kinds.csv"} <= expected
    notes = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")
    with ZipFile(built.wheel) as wheel:
        assert set(wheel.namelist()) == expected | {f"{INFO}/{each}" for each in notes}
        facts = message_from_bytes(wheel.read(f"{INFO}/METADATA"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    assert facts["Name"] == project["name"]
    assert facts["Version"] == __version__
    assert facts["Requires-Python"] == project["requires-python"]
    assert facts["License-Expression"] == "Apache-2.0"
    assert facts["Description-Content-Type"] == "text/markdown"
    readme = (ROOT / "README.md").read_bytes()
    assert facts.get_payload(decode=True) == readme


def test_an_sdist_makes_the_same_wheel(built: Built, tmp_path: Path) -> None:
    """It is the whole checkout, so that what its README says can be done with it."""
    with tarfile.open(built.home / "dist" / f"{SDIST}.tar.gz") as sdist:
        names = {name.removeprefix(f"{SDIST}/") for name in sdist.getnames()}
        sdist.extractall(tmp_path, filter="data")
    top = {name.split("/")[0] for name in names}
    files = {"LICENSE", "README.md", "protocol.md", "pyproject.toml"}
    assert top == files | {"PKG-INFO", ".gitignore", "sidecar", "tests", "clients"}
    made = {"__pycache__", "node_modules", "target", "dist", ".venv"}
    assert not [name for name in names if made.intersection(name.split("/"))]
    hatchling = (sys.executable, "-m", "hatchling", "build", "-t", "wheel")
    run(*hatchling, "-d", tmp_path, cwd=tmp_path / SDIST)
    assert filecmp.cmp(tmp_path / WHEEL, built.wheel, shallow=False)


def test_a_bundle_has_bytecode_that_needs_no_check(built: Built) -> None:
    """For the Python that made it: its magic, and flags 1, a hash that nobody reads."""
    with ZipFile(built.archive) as archive:
        names = set(archive.namelist())
        sources = {name.removesuffix(".py") for name in names if name.endswith(".py")}
        compiled = {name for name in names if name.endswith(".pyc")}
        assert compiled == {f"{TREE}/{name}.pyc" for name in sources}
        for name in compiled:
            content = archive.read(name)
            assert content[:8] == MAGIC_NUMBER + b"\x01\x00\x00\x00"
            path = name.removeprefix(f"{TREE}/").removesuffix("c")
            assert marshal.loads(content[16:]).co_filename == path


def test_a_bundle_is_pure_and_licensed(built: Built) -> None:
    names = {path.relative_to(built.folder) for path in built.folder.rglob("*")}
    assert not {name.suffix for name in names} & {".so", ".pyd", ".dll", ".dylib"}
    about = {name.parts[0] for name in names if name.parts[0].endswith("-info")}
    licensed = {name.parts[0] for name in names if "LICENSE" in name.name.upper()}
    assert INFO in about
    assert {name for name in about if "lsprotocol" not in name} <= licensed
    texts = {path.name for path in names}
    assert not texts & {"RECORD", "direct_url.json", "INSTALLER", "bin"}


def test_the_same_bundle_twice(built: Built, tmp_path: Path) -> None:
    """Under another locale and another seed, from another place, over an old one."""
    old = tmp_path / "libs"
    shutil.copytree(built.folder, old)
    (old / "left.py").touch()
    place = tmp_path / "made" / "again.pyz"
    command = (sys.executable, BUNDLE, "--from", built.wheel, "libs", place)
    run(*command, cwd=tmp_path, LC_ALL="C", PYTHONHASHSEED="7", TMPDIR=str(tmp_path))
    assert place.read_bytes() == built.archive.read_bytes()
    assert os.access(place, os.X_OK)
    assert not (old / "left.py").exists()
    difference = filecmp.dircmp(built.folder, old)
    assert (difference.left_only, difference.right_only) == ([], [])
    assert {path.name for path in tmp_path.iterdir()} == {"libs", "made"}


def test_a_foreign_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    done = subprocess.run(
        [sys.executable, BUNDLE, tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "is no earlier bundle" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


# --- What it does ---------------------------------------------------------------------


def _converse(client: RpcClient) -> None:
    """A whole life, with data files and letters beyond ASCII."""
    server = client.initialize()["serverInfo"]
    assert server == {"name": "stream-sidecar", "version": __version__}
    call = {"name": "read_text_file", "arguments": "{}"}
    [classified] = client.request("tool/classify", {"calls": [call]})["calls"]
    assert (classified["kind"], classified["kindSource"]) == ("read", "table")
    stream = client.request("stream/open", {"wire": "text"})
    push = {**stream, "chunk": "<think>日本</think>Größe"}
    push = {key: push[key] for key in ("streamId", "chunk")}
    events = client.request("stream/push", push)["events"]
    assert events[0]["type"] == "reasoning-delta"
    closed = client.request("stream/close", {"streamId": stream["streamId"]})
    message = closed["message"]
    assert (message["reasoning"], message["text"]) == ("日本", "Größe")
    assert client.request("shutdown") is None
    client.notify("exit")
    assert client.wait() == 0
    assert client.stderr() == ""


@pytest.mark.parametrize("name", ["wheel", "folder", "archive"])
def test_a_conversation(built: Built, name: str) -> None:
    place = {"cwd": built.workspace, "env": built.environment(name)}
    before = _listing(built.home)
    with RpcClient("--stdio", command=built.command(name), **place) as client:
        _converse(client)
    assert _listing(built.home) == before


def test_the_wheel_that_is_meant(built: Built) -> None:
    """The conversation above is with what was built, not with the checkout."""
    tell = "import stream_sidecar; print(ascii(stream_sidecar.__file__))"
    place = str(built.home / "site")
    said = run(sys.executable, "-P", "-c", tell, cwd=built.workspace, PYTHONPATH=place)
    expected = built.home / "site" / "stream_sidecar" / "__init__.py"
    assert said.decode().strip() == ascii(str(expected))


@pytest.mark.parametrize("installed", ["ours first", "theirs first"])
@pytest.mark.parametrize("removed", ["stream-sidecar", "sidecar"])
def test_beside_the_package_called_sidecar(
    built: Built, tmp_path: Path, installed: str, removed: str
) -> None:
    """PyPI has one, a widget of Jupyter; neither overwrites or removes the other."""
    venv.create(tmp_path / "venv", with_pip=False)
    python = next((tmp_path / "venv").glob("[bS]*/python*"))
    pip = (sys.executable, "-m", "pip", "--python", python)
    wheels = (built.wheel, _other_sidecar(tmp_path))
    for wheel in wheels if installed == "ours first" else wheels[::-1]:
        run(*pip, "install", "--no-index", "--no-deps", wheel)
    says = {
        "stream-sidecar": (
            (python, "-m", "stream_sidecar", "--version"),
            f"stream-sidecar {__version__}",
        ),
        "sidecar": ((python, "-c", "import sidecar; sidecar.tell()"), "theirs"),
    }
    for command, said in says.values():
        assert run(*command, cwd=tmp_path).decode().strip() == said
    run(*pip, "uninstall", "--yes", removed)
    command, said = next(each for name, each in says.items() if name != removed)
    assert run(*command, cwd=tmp_path).decode().strip() == said


def _other_sidecar(home: Path) -> Path:
    """A wheel with the module ``sidecar``."""
    path, info = home / "sidecar-1.0-py3-none-any.whl", "sidecar-1.0.dist-info"
    facts = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\n"
    files = {
        "sidecar/__init__.py": "def tell():\n    print('theirs')\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: sidecar\nVersion: 1.0\n",
        f"{info}/WHEEL": f"{facts}Tag: py3-none-any\n",
    }
    listed = "".join(f"{name},,\n" for name in (*files, f"{info}/RECORD"))
    with ZipFile(path, "w") as wheel:
        for name, content in {**files, f"{info}/RECORD": listed}.items():
            wheel.writestr(name, content)
    return path


@pytest.mark.parametrize("kept", ["sources", "bytecode"])
def test_half_of_an_archive_is_enough(built: Built, tmp_path: Path, kept: str) -> None:
    """Without bytecode it serves any other Python; without sources, it is what runs."""
    half = tmp_path / "half.pyz"
    with ZipFile(built.archive) as whole, ZipFile(half, "w") as archive:
        for name in whole.namelist():
            compiled = name.startswith(f"{TREE}/")
            if name == "__main__.py" or compiled == (kept == "bytecode"):
                archive.writestr(name, whole.read(name))
    place = {"cwd": built.workspace, "env": built.environment("archive")}
    with RpcClient(command=(sys.executable, "-S", str(half)), **place) as client:
        _converse(client)


@pytest.mark.parametrize("name", ["folder", "archive"])
def test_commands(built: Built, name: str) -> None:
    def said(*arguments: str | Path) -> bytes:
        command, environment = built.command(name), built.environment(name)
        return run(*command, *arguments, cwd=built.workspace, **environment)

    def meant(*arguments: str | Path) -> bytes:
        environment = built.environment(name, PYTHONPATH=str(ROOT / "sidecar"))
        return run(
            sys.executable, "-P", "-m", "stream_sidecar", *arguments, **environment
        )

    assert said("--version").decode() == f"stream-sidecar {__version__}\n"
    assert b"Usage: stream-sidecar" in said("--help")
    explain = ("explain", LEAKING, "--html", "/dev/stdout")  # reads its own pages
    for command in (("normalize", LEAKING), ("dialects",), ("schema",), explain):
        assert said(*command) == meant(*command)


@pytest.mark.parametrize("name", ["folder", "archive"])
def test_repair_by_many_processes(built: Built, tmp_path: Path, name: str) -> None:
    """Workers are new processes, and find the bundle again."""
    line = json.dumps({"role": "assistant", "content": "<think>日</think>Größe"})
    files = [tmp_path / f"Größe {number}.jsonl" for number in range(4)]
    for file in files:
        file.write_text(line + "\n", encoding="utf-8")
    arguments = ("repair", tmp_path, "--write", "--jobs", "2")
    environment = built.environment(name)
    run(*built.command(name), *arguments, cwd=built.workspace, **environment)
    for file in files:
        assert json.loads(file.read_text(encoding="utf-8"))["content"] == "Größe"


def test_too_old_a_python_says_so(built: Built) -> None:
    pretend = "import runpy, sys; sys.version_info = (3, 8); sys.version = '3.8.1 (x)'"
    code = f"{pretend}; runpy.run_path(sys.argv[1], run_name='__main__')"
    command = [sys.executable, "-c", code, built.archive]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "stream-sidecar needs Python 3.11 or newer, not 3.8.1\n"
