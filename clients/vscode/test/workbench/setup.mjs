// Installs what the test of the workbench needs besides this package, in a folder outside of
// the repository: SIDECAR_WORKBENCH, or .cache/stream-sidecar/workbench in the home folder.
//
//   node test/workbench/setup.mjs      takes some minutes and 1 GB
//
// code-server is VS Code in a browser; its native parts are compiled, so a compiler,
// Python and the headers of Kerberos must be there, and the browser Chromium:
//
//   apt-get install build-essential python3 libkrb5-dev chromium

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const NODE = "node@24.21.0"; // the version that this code-server requires
const SERVER = ["code-server@4.139.1", "playwright-core@1.65.1"];

const HOME = process.env["SIDECAR_WORKBENCH"] ?? join(homedir(), ".cache", "stream-sidecar", "workbench");
const nodeHome = join(HOME, "node", "node_modules", "node", "node_modules", `node-${platform()}`);
const node = join(nodeHome, "bin", "node");
const server = join(HOME, "server", "node_modules", "code-server", "out", "node", "entry.js");

/** Returns the programs, or throws an Error that says what is missing. */
export function workbench() {
  const chromium = ["chromium", "chromium-browser", "google-chrome"].map(onPath).find((each) => each !== undefined);
  if (chromium === undefined) throw new Error("Chromium is missing: apt-get install chromium");
  if (!existsSync(node) || !existsSync(server)) {
    throw new Error(`code-server is not in ${HOME}: node test/workbench/setup.mjs`);
  }
  const require = createRequire(join(HOME, "server", "package.json"));
  return { chromium, server: [node, server], playwright: require("playwright-core") };
}

function install() {
  if (!existsSync("/usr/include/gssapi.h") && !existsSync("/usr/include/gssapi/gssapi.h")) {
    console.error("The headers of Kerberos are missing: apt-get install libkrb5-dev");
  }
  npm(join(HOME, "node"), [NODE], process.env);
  const path = `${join(nodeHome, "bin")}:${process.env["PATH"]}`;
  npm(join(HOME, "server"), SERVER, { ...process.env, PATH: path, npm_config_nodedir: nodeHome });
  workbench();
  console.log(`The workbench is in ${HOME}.`);
}

/** Installs packages in their own folder: native parts are compiled with the headers of the Node.js in the first. */
function npm(folder, packages, env) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"private": true}\n');
  const options = ["--no-audit", "--no-fund", "--dangerously-allow-all-scripts"];
  const { status } = spawnSync("npm", ["install", ...options, ...packages], { cwd: folder, env, stdio: "inherit" });
  if (status !== 0) throw new Error(`npm install ${packages.join(" ")} failed in ${folder}`);
}

function onPath(name) {
  const places = (process.env["PATH"] ?? "").split(":");
  return places.map((place) => join(place, name)).find((file) => existsSync(file));
}

function platform() {
  return `${process.platform}-${process.arch}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) install();
