// Makes dist/stream-sidecar.vsix. Without an argument no sidecar is in it; with
// --universal one that any Python 3.11 runs, and one for browsers; with --target PLATFORM
// the self-contained one of this machine, which has to be of that platform.

import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

/** What makes the sidecar for browsers; its packages have to be installed. */
const CLIENT = "../typescript";

/** What links and pictures of the page are relative to. */
const PAGES = "https://github.com/stream-sidecar/stream-sidecar/blob/main/clients/vscode";
const PICTURES = "https://raw.githubusercontent.com/stream-sidecar/stream-sidecar/main/clients/vscode";

const { values } = parseArgs({
  options: { universal: { type: "boolean" }, target: { type: "string" }, out: { type: "string" } },
});
const python = process.env["SIDECAR_TEST_PYTHON"] ?? "python3";
const out = values.out ?? "dist/stream-sidecar.vsix";

rmSync("bundled", { recursive: true, force: true });
try {
  if (values.universal) bringPortable();
  if (values.target !== undefined) bringProgram();
  const target = values.target === undefined ? [] : ["--target", values.target];
  const links = ["--baseContentUrl", PAGES, "--baseImagesUrl", PICTURES];
  run("npx", "--no-install", "vsce", "package", "--no-dependencies", "--out", out, ...target, ...links);
} finally {
  rmSync("bundled", { recursive: true, force: true });
}

/** The folder that has an interpreter in it. */
function bringProgram() {
  const made = mkdtempSync(join(tmpdir(), "stream-sidecar-"));
  try {
    run(python, "../bundle/binary.py", made);
    cpSync(join(made, "stream-sidecar"), "bundled/stream-sidecar", { recursive: true });
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

function bringPortable() {
  run(python, "../bundle/bundle.py", "bundled/stream-sidecar.pyz");
  mkdirSync("bundled/wasm");
  run("npm", "run", "--silent", "--prefix", CLIENT, "build:wasm");
  for (const name of ["core.zip", "snapshot.bin.gz", "made.json"]) copy(`${CLIENT}/wasm`, name);
  for (const name of ["pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"]) copy("node_modules/pyodide", name);
}

function copy(folder, name) {
  copyFileSync(`${folder}/${name}`, `bundled/wasm/${name}`);
}

function run(command, ...args) {
  execFileSync(command, args, { stdio: "inherit", shell: process.platform === "win32" });
}
