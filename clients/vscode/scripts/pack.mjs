// Makes dist/stream-sidecar.vsix. Without an argument it includes no sidecar. --universal
// includes a sidecar for any Python 3.11, and one for browsers. --target PLATFORM includes the
// self-contained sidecar of this machine, which must be of that platform. --made FOLDER: these
// are already in FOLDER, and the files of the worker are in the client.

import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

/** The client that makes the sidecar for browsers; its packages must be installed. */
const CLIENT = "../typescript";

/** The base address of relative links on the page. */
const PAGES = "https://github.com/stream-sidecar/stream-sidecar/blob/main/clients/vscode/";

const { values } = parseArgs({
  options: {
    universal: { type: "boolean" },
    target: { type: "string" },
    made: { type: "string" },
    out: { type: "string" },
  },
});
const python = process.env["SIDECAR_TEST_PYTHON"] ?? "python3";
const out = values.out ?? "dist/stream-sidecar.vsix";

// The package is assembled outside of this folder.
const scratch = mkdtempSync(join(tmpdir(), "stream-sidecar-"));
const staged = join(scratch, "extension");
const bundled = join(staged, "bundled");
try {
  run("node", "scripts/build.mjs", "--minify");
  stage();
  if (values.universal) bringPortable();
  if (values.target !== undefined) bringProgram();
  const target = values.target === undefined ? [] : ["--target", values.target];
  const vsce = [
    resolve("node_modules/@vscode/vsce/vsce"),
    "package",
    "--no-dependencies",
    "--no-rewrite-relative-links",
  ];
  run(process.execPath, ...vsce, "--out", resolve(out), ...target, { cwd: staged });
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function stage() {
  const isPacked = (file) => !file.endsWith(".vsix");
  for (const name of ["dist", "media", "LICENSE", ".vscodeignore"]) {
    cpSync(name, join(staged, name), { recursive: true, filter: isPacked });
  }
  const { scripts: _, ...manifest } = JSON.parse(readFileSync("package.json", "utf8"));
  writeFileSync(join(staged, "package.json"), JSON.stringify(manifest, undefined, 2));
  writeFileSync(join(staged, "README.md"), page());
  mkdirSync(bundled);
}

/** README.md with its pictures embedded, so that they are shown without a network. */
function page() {
  return readFileSync("README.md", "utf8").replaceAll(/(!?\[[^\]]*\])\(([^()\s]+)\)/g, (_, words, address) => {
    const isPicture = words.startsWith("!");
    return `${words}(${isPicture ? `data:image/png;base64,${readFileSync(address, "base64")}` : new URL(address, PAGES)})`;
  });
}

/** Adds the sidecar with its own interpreter. */
function bringProgram() {
  const made = values.made ?? scratch;
  if (!values.made) run(python, "../bundle/binary.py", made);
  cpSync(join(made, "stream-sidecar"), join(bundled, "stream-sidecar"), { recursive: true });
}

function bringPortable() {
  mkdirSync(join(bundled, "wasm"), { recursive: true });
  const archive = join(bundled, "stream-sidecar.pyz");
  if (values.made) copyFileSync(join(values.made, "stream-sidecar.pyz"), archive);
  else {
    run(python, "../bundle/bundle.py", archive);
    run("npm", "run", "--silent", "--prefix", CLIENT, "build:wasm");
  }
  for (const name of ["core.zip", "snapshot.bin.gz", "made.json"]) copy(`${CLIENT}/wasm`, name);
  for (const name of ["pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"]) copy("node_modules/pyodide", name);
}

function copy(folder, name) {
  copyFileSync(`${folder}/${name}`, join(bundled, "wasm", name));
}

/** Runs a command. The last of `args` may be options of `execFileSync`. */
function run(command, ...args) {
  const options = typeof args.at(-1) === "object" ? args.pop() : {};
  execFileSync(command, args, {
    stdio: "inherit",
    shell: process.platform === "win32" && command !== process.execPath,
    ...options,
  });
}
