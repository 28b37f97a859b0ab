// Makes the generated files of the package `wasm/`:
//
//   worker.js        the program of the worker
//   core.zip         the sidecar and its libraries, pure Python, with bytecode for Pyodide
//   snapshot.bin.gz  the memory of an interpreter that has imported them
//   made.json        the version of Pyodide that the snapshot was made with
//
// Python 3.11 with pip packs the sidecar (clients/bundle). Pyodide's own interpreter compiles the
// bytecode, because it will run it. STREAM_SIDECAR_PYTHON names a Python.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env } from "node:process";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { transformSync } from "esbuild";
import { loadPyodide, version } from "pyodide";

const BUNDLE = fileURLToPath(new URL("../../bundle/bundle.py", import.meta.url));
const CORE = "/stream-sidecar.zip"; // where src/wasm/worker.ts puts it

// Runs in Pyodide: /libs is a folder of this machine, the archive and /tmp are in memory.
const COMPILE = `
import pathlib, py_compile, zipfile

libs = pathlib.Path("/libs")
compiled = pathlib.Path("/tmp/a.pyc")  # in Pyodide's memory: no file of this machine
with zipfile.ZipFile("${CORE}", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
    for path in sorted(libs.rglob("*")):
        if not path.is_file():
            continue
        name = path.relative_to(libs).as_posix()
        entry = lambda name: zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        archive.writestr(entry(name), path.read_bytes(), zipfile.ZIP_DEFLATED, 9)
        if path.suffix == ".py":
            unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
            py_compile.compile(str(path), str(compiled), f"${CORE}/{name}", True, invalidation_mode=unchecked)
            archive.writestr(entry(name + "c"), compiled.read_bytes(), zipfile.ZIP_DEFLATED, 9)
`;

const WARM = `
import gc, sys
sys.path.insert(0, "${CORE}")
import stream_sidecar.protocol.methods  # which a connection loads after initialize
from stream_sidecar.worker import Worker
Worker(lambda data: None)
gc.collect()
`;

const HOME = fileURLToPath(new URL("..", import.meta.url));
const folder = join(HOME, "wasm");

async function main() {
  const scratch = mkdtempSync(join(tmpdir(), "stream-sidecar-"));
  try {
    const libs = join(scratch, "libs");
    const python = env["STREAM_SIDECAR_PYTHON"] ?? env["SIDECAR_TEST_PYTHON"] ?? "python3";
    execFileSync(python, [BUNDLE, "--core", libs], { stdio: ["ignore", "ignore", "inherit"] });
    const core = await packed(libs);
    writeFileSync(join(folder, "worker.js"), worker());
    writeFileSync(join(folder, "core.zip"), core);
    writeFileSync(join(folder, "snapshot.bin.gz"), gzipSync(await snapshot(core), { level: 9 }));
    writeFileSync(join(folder, "made.json"), `${JSON.stringify({ pyodide: version })}\n`);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

function worker() {
  const source = readFileSync(join(HOME, "src", "wasm", "worker.ts"), "utf8");
  return transformSync(source, { loader: "ts", format: "esm", target: "es2023", charset: "utf8" }).code;
}

async function packed(libs) {
  const python = await loadPyodide();
  python.FS.mkdir("/libs");
  python.mountNodeFS("/libs", libs);
  python.runPython(COMPILE);
  return python.FS.readFile(CORE);
}

async function snapshot(core) {
  const python = await loadPyodide({ _makeSnapshot: true });
  python.FS.writeFile(CORE, core);
  python.runPython(WARM);
  return python.makeMemorySnapshot();
}

await main();
