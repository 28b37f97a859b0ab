"""The TypeScript client and the gateway: their types, their tests against the real
sidecar, their packages.

The tests themselves are in the folders ``test`` of ``clients/typescript`` and
``clients/gateway`` and run by vitest. Where there is no Node.js they are skipped, which
the end of the run says.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from node_package import GATEWAY, HOME, missing, npm, prepare
from rpc_client import ROOT

LACKING = missing()
SKIPPED = (
    "not run: the TypeScript client and the gateway (clients/typescript and "
    f"clients/gateway), because {LACKING}: their types, their transcripts, their kills "
    "of the sidecar, their packages"
)


def needs_node(test: Any) -> Any:
    """The first of these that runs installs, so each gets the same long timeout."""
    skips = pytest.mark.skipif(LACKING is not None, reason=SKIPPED)
    return pytest.mark.thorough(pytest.mark.timeout(3_600)(skips(test)))


PACKED = re.compile(
    r"dist/(cjs/)?([a-z]+/)?[a-z-]+\.(js|d\.ts)|LICENSE|README\.md"
    r"|(dist/cjs/)?package\.json"
)


@pytest.fixture(scope="module")
def package() -> Path:
    prepare()
    return HOME


@pytest.fixture(scope="module", params=[HOME, GATEWAY], ids=lambda home: home.name)
def each(request: pytest.FixtureRequest) -> Path:
    """Each of the two packages."""
    home: Path = request.param
    prepare(home)
    return home


@needs_node
def test_types(each: Path) -> None:
    npm("run", "check", home=each)


@needs_node
def test_vitest(each: Path) -> None:
    npm("test", home=each)


@needs_node
def test_what_is_published(each: Path) -> None:
    """The code, its types, README and licence, and nothing else."""
    said = npm("pack", "--dry-run", "--json", "--ignore-scripts", home=each)
    (packed,) = json.loads(said)
    names = [file["path"] for file in packed["files"]]
    assert [name for name in names if not PACKED.fullmatch(name)] == []
    sources = {path.relative_to(each / "src") for path in (each / "src").rglob("*.ts")}
    sources -= {Path("wasm/worker.ts")}  # which @stream-sidecar/wasm has
    formats = {"dist": sources, "dist/cjs": sources - {Path("bin.ts")}}
    for folder, files in formats.items():
        for ending in (".js", ".d.ts"):
            built = {
                f"{folder}/{file.with_suffix(ending).as_posix()}" for file in files
            }
            assert built <= set(names)
    assert {"LICENSE", "README.md", "package.json"} <= set(names)


@needs_node
def test_the_gateway_is_a_program() -> None:
    """`npx stream-sidecar` is left to Python's command, which the client looks for."""
    prepare(GATEWAY)
    client = json.loads((HOME / "package.json").read_text("utf-8"))
    assert "bin" not in client
    manifest = json.loads((GATEWAY / "package.json").read_text("utf-8"))
    assert list(manifest["bin"]) == ["stream-sidecar-gateway"]
    done = _behind_the_gateway(manifest["bin"]["stream-sidecar-gateway"])
    assert (done.returncode, done.stdout) == (3, "Four.\n"), done.stderr
    assert done.stderr.splitlines() == [
        "POST /v1/chat/completions 200: removed 3 characters of reasoning"
    ]


@needs_node
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("is_closed", [False, True], ids=["full disk", "closed pipe"])
def test_a_log_that_cannot_be_written_ends_nothing(is_closed: bool) -> None:
    prepare(GATEWAY)
    log = _closed_pipe() if is_closed else os.open("/dev/full", os.O_WRONLY)
    try:
        done = _behind_the_gateway("dist/bin.js", "--watch", asked=2, stderr=log)
    finally:
        os.close(log)
    assert (done.returncode, done.stdout) == (3, "Four.\nFour.\n")


def _closed_pipe() -> int:
    reader, writer = os.pipe()
    os.close(reader)
    return writer


def _behind_the_gateway(
    program: str, *options: str, asked: int = 1, stderr: int = subprocess.PIPE
) -> subprocess.CompletedProcess[str]:
    """An agent that asks a leaking provider so many times."""
    agent = GATEWAY / "dist" / "agent.test.mjs"
    agent.write_text(AGENT * asked, encoding="utf-8")
    with ThreadingHTTPServer(("127.0.0.1", 0), Leaking) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        upstream = ["--upstream", f"http://127.0.0.1:{server.server_port}"]
        sidecar = ["--sidecar", str(Path(sys.executable).with_name("stream-sidecar"))]
        command = ["node", program, "run", *upstream, *sidecar, *options]
        try:
            return subprocess.run(
                [*command, "--", "node", agent],
                cwd=GATEWAY,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                encoding="utf-8",
                check=False,
            )
        finally:
            agent.unlink()
            server.shutdown()


AGENT = """
{
  const messages = [{ role: "user", content: "?" }];
  const body = JSON.stringify({ model: "m", messages });
  const url = `${process.env.OPENAI_BASE_URL}/chat/completions`;
  const told = await (await fetch(url, { method: "POST", body })).json();
  console.log(told.choices[0].message.content);
  process.exitCode = 3;
}
"""


class Leaking(BaseHTTPRequestHandler):
    """A provider whose answer leaks."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        message = {"role": "assistant", "content": "<think>Hm.</think>Four."}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        body = json.dumps({"object": "chat.completion", "choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@needs_node
def test_the_readme_begins_with_an_example_that_runs(
    package: Path, tmp_path: Path
) -> None:
    """Unchanged, with a recorded body instead of the network."""
    text = (package / "README.md").read_text(encoding="utf-8")
    example = text.split("```ts\n")[1].split("```")[0]
    recorded = json.dumps(str(ROOT / "tests/wires/openai-chat/leaking.sse"))
    program = f"""
        import {{ readFileSync }} from "node:fs";
        globalThis.fetch = async () => new Response(readFileSync({recorded}));
        {example}
    """
    assert 'from "stream-sidecar"' in program
    file = package / "dist" / "example.test.mjs"
    file.write_text(_lowered(program), encoding="utf-8")
    try:
        done = subprocess.run(
            ["node", str(file)],
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=tmp_path,
            env=_environment(),
            check=False,
        )
    finally:
        file.unlink()
    assert (done.returncode, done.stderr) == (0, "")
    printed = done.stdout.replace("\n", "")  # each delta is on a line
    assert "I will look at the branch 🌿 first." in printed


def _lowered(program: str) -> str:
    """TypeScript and ``await using`` as every Node.js that is supported reads them."""
    command = [
        "node",
        "--input-type=module",
        "--eval",
        "import ts from 'typescript';"
        "import { text } from 'node:stream/consumers';"
        "const compilerOptions = { target: 'es2022', module: 'esnext' };"
        "const options = { compilerOptions };"
        "const program = await text(process.stdin);"
        "process.stdout.write(ts.transpileModule(program, options).outputText);",
    ]
    done = subprocess.run(
        command, input=program, capture_output=True, encoding="utf-8", cwd=HOME
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _environment() -> dict[str, str]:
    command = f'"{sys.executable}" -m stream_sidecar'
    return {
        **os.environ,
        "STREAM_SIDECAR": command,
        "PYTHONPATH": str(ROOT / "sidecar"),
    }


@pytest.mark.parametrize("home", [HOME, GATEWAY], ids=lambda home: home.name)
def test_the_lockfile_names_no_registry(home: Path) -> None:
    """Whoever installs it does so from the registry of their own."""
    lock = json.loads((home / "package-lock.json").read_text(encoding="utf-8"))
    manifest = json.loads((home / "package.json").read_text(encoding="utf-8"))
    assert lock["packages"].pop("")["name"] == manifest["name"]
    for name, each in lock["packages"].items():
        if name == "../typescript":
            continue  # the client itself, which the gateway has as a link
        if not each.get("link"):
            assert "resolved" not in each, name
            assert each["integrity"].startswith("sha512-"), name


def test_dependencies_at_run_time() -> None:
    """The client has none. The gateway has the client, and reads agents' settings."""
    client, gateway = (
        json.loads((home / "package.json").read_text(encoding="utf-8"))
        for home in (HOME, GATEWAY)
    )
    assert "dependencies" not in client
    assert gateway["dependencies"].pop("stream-sidecar") == "file:../typescript"
    assert set(gateway["dependencies"]) == {"jsonc-parser", "smol-toml", "yaml"}


def test_the_snapshot_is_of_the_pyodide_that_comes_along() -> None:
    lock = json.loads((HOME / "package-lock.json").read_text(encoding="utf-8"))
    taken = lock["packages"]["node_modules/pyodide"]["version"]
    package = json.loads((HOME / "wasm" / "package.json").read_text(encoding="utf-8"))
    assert package["dependencies"] == {"pyodide": taken}


@pytest.mark.parametrize("folder", [HOME, HOME / "wasm", GATEWAY])
def test_it_has_the_licence_of_the_project(folder: Path) -> None:
    assert (folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_a_file_begins_with_its_contract_and_is_short() -> None:
    sources = ((HOME / "src").rglob("*.ts"), (GATEWAY / "src").rglob("*.ts"))
    for path in sorted(chain(*sources)):
        lines = path.read_text(encoding="utf-8").splitlines()
        if path.name in {"protocol.ts", "endpoint-table.ts"}:
            assert lines[0].startswith("// Made by scripts/generate-types.mjs")
        else:
            assert len(lines) <= 450, path
            first = lines[lines[0].startswith("#!")]
            assert path.name == "index.ts" or first.startswith("// "), path
