"""Empty projects that install the npm packages, as their users have them.

A `Kind` is one: its files, and the commands that check or run them. Tools are those of
the client, or, where a kind names ``tools``, fetched from the index into the project:
``python3 tests/installed.py`` tries these.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

from attrs import field, frozen
from node_package import HOME

SAID = "why Because."

CLIENT = "stream-sidecar"
ENTRIES = (
    *(CLIENT, f"{CLIENT}/ai-sdk", f"{CLIENT}/acp", f"{CLIENT}/fetch"),
    *(f"{CLIENT}-gateway", f"{CLIENT}/wasm"),
)


@frozen
class Kind:
    """A project: ``package`` is its ``package.json``, ``tools`` are downloaded.
    ``says`` is the output of its commands together; None: no command may fail."""

    files: dict[str, str]
    commands: tuple[tuple[str, ...], ...]
    tools: tuple[str, ...] = ()
    package: dict[str, Any] = field(factory=dict)
    says: str | None = SAID


def pack(output: Path) -> Path:
    """The tarballs of the client, of its worker's files and of the gateway, which have
    to be built."""
    subprocess.run(["node", HOME / "scripts" / "pack.mjs", output], check=True)
    return output


def install(packages: Path, project: Path, *tools: str) -> None:
    """A project with what ``packages`` has for every platform, and with ``tools``."""
    project.mkdir(parents=True)
    (project / "package.json").write_text('{"private": true}', encoding="utf-8")
    version = json.loads((HOME / "package.json").read_text(encoding="utf-8"))["version"]
    tarballs = [
        f"{packages}/stream-sidecar-{kind}{version}.tgz"
        for kind in ("", "wasm-", "gateway-")
    ]
    quiet = ("--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error")
    alone = () if tools else ("--ignore-scripts", "--omit=optional")
    _run(project, "npm", "install", *quiet, *alone, *tarballs, *tools)


def failure(kind: Kind, project: Path, name: str) -> str | None:
    """What is wrong with a kind in a folder of ``project``; None: nothing."""
    folder = project / name.replace(":", "")
    folder.mkdir()
    for file, text in kind.files.items():
        (folder / file).write_text(text, encoding="utf-8")
    (folder / "package.json").write_text(json.dumps(kind.package), encoding="utf-8")
    try:
        said = "".join(_run(folder, *command) for command in kind.commands)
    except CalledProcessError as error:
        return f"{error}\n{error.stdout}"
    return None if kind.says in (None, said.strip()) else said


def _run(folder: Path, *command: str) -> str:
    tools = folder.parent / "node_modules" / ".bin"
    search = os.pathsep.join([str(tools), os.environ["PATH"]])
    sidecar = str(Path(sys.executable).with_name("stream-sidecar"))
    done = subprocess.run(
        [shutil.which(command[0], path=search) or command[0], *command[1:]],
        cwd=folder,
        env={**os.environ, "PATH": search, "STREAM_SIDECAR": sidecar},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,  # nobody warns, either
        encoding="utf-8",
        check=True,
    )
    return done.stdout


# What they run

_STREAM = """
  const stream = await sidecar.openStream({ wire: "text" });
  const told = [];
  const chunks = ["<think>why</think>", "Because."];
  for await (const event of stream.pipe(chunks)) told.push(event);
  const { message } = await stream.close();
  await sidecar.shutdown();
  const isClean = told.every((event) => !JSON.stringify(event).includes("<"));
"""
_PROCESS = f"""
  const sidecar = await Sidecar.spawn();
  {_STREAM}
  const isOne = Sidecar === all.at(-1).Sidecar;
  console.log(isClean && isOne ? `${{message.reasoning}} ${{message.text}}` : message);
"""
_WORKER = f"""
  const sidecar = await spawn();
  {_STREAM}
  console.log(`${{message.reasoning}} ${{message.text}}`);
"""


def _imports() -> Iterator[str]:
    for number, entry in enumerate(ENTRIES):
        yield f'import * as entry{number} from "{entry}";\n'
    names = ", ".join(f"entry{number}" for number in range(len(ENTRIES)))
    yield f"const all = [{names}];\nconst {{ Sidecar }} = entry0;\n"


_REQUIRED = ", ".join(f'require("{entry}")' for entry in ENTRIES)
_REQUIRES = f"const all = [{_REQUIRED}];\nconst {{ Sidecar }} = all[0];\n"

_ESM = "".join(_imports()) + _PROCESS
_CJS = f"{_REQUIRES}(async () => {{ {_PROCESS} }})();\n"
_WASM_ESM = f'import {{ spawn }} from "stream-sidecar/wasm";\n{_WORKER}'
_WASM_CJS = (
    f'const {{ spawn }} = require("stream-sidecar/wasm");\n'
    f"(async () => {{ {_WORKER} }})();\n"
)

_TYPED = """
import { Sidecar, StreamLost, type StreamEvent, type ToolCall } from "stream-sidecar";
import { uiMessageChunks, sidecarMiddleware } from "stream-sidecar/ai-sdk";
import { sessionUpdates } from "stream-sidecar/acp";
import { sidecarFetch } from "stream-sidecar/fetch";
import { createGateway } from "stream-sidecar-gateway";
import { spawn, type WasmOptions } from "stream-sidecar/wasm";

const options: WasmOptions = { files: "file:///a/", pyodide: new URL("file:///b/") };
export const command = (call: ToolCall): unknown => call.input?.["command"];
export const all = [StreamLost, uiMessageChunks, sidecarMiddleware, sessionUpdates];
export const more = [createGateway, spawn, options];

function text(event: StreamEvent): string {
  return event.type === "text-delta" ? event.text : "";
}

async function main(): Promise<void> {
  const sidecar: Sidecar = await Sidecar.spawn();
  const clean: typeof fetch = sidecarFetch(sidecar);
  const stream = await sidecar.openStream({ wire: "text" });
  const chunks = ["<think>why</think>", "Because."];
  for await (const event of stream.pipe(chunks)) text(event);
  const { message } = await stream.close();
  await sidecar.shutdown();
  console.log(message.reasoning, message.text, typeof clean === "function" ? "" : "?");
}

void main();
"""

_EXTENSION = """
import * as vscode from "vscode";
import { Sidecar } from "stream-sidecar";

export async function activate(): Promise<string> {
  const command = process.env["STREAM_SIDECAR"]!;
  delete process.env["STREAM_SIDECAR"];
  const { ways } = Sidecar.locate(); // beside the bundle
  const isFound = ways.some(({ files }) => files?.endsWith("wasm"));
  const sidecar = await Sidecar.spawn({ command });
  const stream = await sidecar.openStream({ wire: "text" });
  await stream.push("<think>why</think>Because.");
  const { message } = await stream.close();
  await sidecar.shutdown();
  return vscode.l10n.t(isFound ? `${message.reasoning} ${message.text}` : "not found");
}
"""
_HOST = """
const Module = require("node:module");
const load = Module._load;
const vscode = { l10n: { t: (text) => text } };
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
require("./dist/extension.js").activate().then(console.log);
"""
_TESTED = f"""
{_REQUIRES}
test("a stream", async () => {{
  const sidecar = await Sidecar.spawn();
  {_STREAM}
  const {{ reasoning, text }} = message;
  expect([reasoning, text, isClean, all.length]).toEqual(["why", "Because.", true, 6]);
}});
"""


# The kinds

_TSC = ("node", str(HOME / "node_modules/typescript/bin/tsc"))
_ESBUILD = ("node", str(HOME / "node_modules/esbuild/bin/esbuild"))
_TYPES = "@types/node@20"
_OPTIONS = {
    "strict": True,
    "skipLibCheck": False,
    "target": "es2022",
    "lib": ["es2023", "esnext.disposable"],
    "types": ["node"],
    "outDir": "out",
}
_MODULES = {
    "node16 in ES modules": ("module", {"module": "node16"}),
    "node16 in CommonJS": ("commonjs", {"module": "node16"}),
    "bundler": ("module", {"module": "esnext", "moduleResolution": "bundler"}),
    "node10": ("commonjs", {"module": "commonjs", "moduleResolution": "node10"}),
}
"""How a project finds types -> its ``type``, and its options."""


def _typed(name: str, *tools: str, **more: Any) -> Kind:
    """Checked strictly, with the declarations of the package, and then run."""
    type, options = _MODULES[name]
    config = {"compilerOptions": {**_OPTIONS, **options, **more}}
    files = {"main.ts": _TYPED, "tsconfig.json": json.dumps(config)}
    tsc = ("tsc",) if tools else _TSC
    return Kind(files, (tsc, ("node", "out/main.js")), tools, {"type": type})


_OWN_TYPES = {"typeRoots": [str(HOME / "node_modules/@types")]}

KINDS = {
    "ES modules": Kind({"a.mjs": _ESM}, (("node", "a.mjs"),)),
    "CommonJS": Kind({"a.cjs": _CJS}, (("node", "a.cjs"),)),
    "WebAssembly in ES modules": Kind(
        {"a.mjs": _WASM_ESM}, (("node", "--enable-source-maps", "a.mjs"),)
    ),
    "WebAssembly in CommonJS": Kind(
        {"a.cjs": _WASM_CJS}, (("node", "--enable-source-maps", "a.cjs"),)
    ),
    "extension of VS Code": Kind(
        {"extension.ts": _EXTENSION, "host.cjs": _HOST},
        (
            (
                *(*_ESBUILD, "extension.ts", "--bundle", "--platform=node"),
                *("--format=cjs", "--external:vscode", "--outdir=dist"),
                "--log-level=warning",
            ),
            ("node", "host.cjs"),
        ),
    ),
    **{f"types: {name}": _typed(name, **_OWN_TYPES) for name in [*_MODULES][:3]},
    "types: node10": _typed("node10", **_OWN_TYPES, ignoreDeprecations="6.0"),
}
"""The client has the tools of these."""

FETCHED = {
    **{
        f"TypeScript 5: {name}": _typed(name, "typescript@5", _TYPES)
        for name in _MODULES
    },
    **{
        f"TypeScript 7: {name}": _typed(name, "typescript@7", _TYPES)
        for name in [*_MODULES][:3]
    },
    "Jest": Kind({"a.test.js": _TESTED}, (("jest",),), ("jest@30",), says=None),
    "Bun": Kind({"a.mjs": _ESM}, (("bun", "a.mjs"),), ("bun",)),
    "Deno": Kind({"a.mjs": _ESM}, (("deno", "run", "-A", "a.mjs"),), ("deno",)),
    "tsx": Kind({"a.mts": _WASM_ESM}, (("tsx", "a.mts"),), ("tsx@4",)),
}
"""Tools of these are fetched; TypeScript 7 knows no node10."""
