// Makes dist/stream-sidecar.vsix. Without an argument no sidecar is in it; with
// --universal one that any Python 3.11 runs, with --target PLATFORM the self-contained
// one of this machine.

import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { parseArgs } from "node:util";

const BUNDLE = "../bundle/bundle.py";

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
  if (values.universal) run(python, BUNDLE, "bundled/stream-sidecar.pyz");
  if (values.target) run(python, "../bundle/binary.py", "bundled/stream-sidecar");
  const target = values.target ? ["--target", values.target] : [];
  const links = ["--baseContentUrl", PAGES, "--baseImagesUrl", PICTURES];
  run("npx", "--no-install", "vsce", "package", "--no-dependencies", "--out", out, ...target, ...links);
} finally {
  rmSync("bundled", { recursive: true, force: true });
}

function run(command, ...args) {
  execFileSync(command, args, { stdio: "inherit", shell: process.platform === "win32" });
}
