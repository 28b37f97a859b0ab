// Bundles the extension into dist/: one file for each entry, and the licences of the bundled
// packages. --minify: as the extension is published.

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const shared = {
  bundle: true,
  format: "cjs",
  target: "es2022",
  external: ["vscode"],
  minify: process.argv.includes("--minify"),
  logLevel: "warning",
  metafile: true,
};

/** The address that Pyodide sees as its own; src/wasm/worker.ts serves what it loads from there. */
const PYODIDE_AT = { "import.meta.url": '"https://stream-sidecar.invalid/pyodide.asm.mjs"' };

/** The bundles. A browser never reaches Pyodide's code for Node.js, so its imports stay external. */
const ENTRIES = [
  { entryPoints: ["src/extension.ts"], outfile: "dist/extension.js", platform: "node" },
  { entryPoints: ["src/browser-extension.ts"], outfile: "dist/browser.js", platform: "browser" },
  {
    entryPoints: ["src/wasm/node-worker.ts"],
    outfile: "dist/node-worker.js",
    platform: "node",
    external: ["ws"],
    define: PYODIDE_AT,
  },
  {
    entryPoints: ["src/wasm/worker.ts"],
    outfile: "dist/worker.js",
    platform: "browser",
    format: "iife",
    external: ["node:*", "ws"],
    define: PYODIDE_AT,
  },
];

// Packages from earlier runs stay.
for (const name of existsSync("dist") ? readdirSync("dist") : []) {
  if (!name.endsWith(".vsix")) rmSync(join("dist", name), { recursive: true });
}
const built = await Promise.all(ENTRIES.map((entry) => build({ ...shared, ...entry })));
const inputs = built.flatMap(({ metafile }) => Object.keys(metafile.inputs));
writeFileSync("dist/LICENCES.txt", licences(inputs));

/** The licences of all packages that have a file in `inputs`. */
function licences(inputs) {
  const packages = inputs.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []);
  return [...new Set(packages)].sort().map(licenceOf).join("\n");
}

function licenceOf(folder) {
  const { name, version, license, homepage } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (file === undefined && !license) throw new Error(`${folder} has no licence`);
  const text = file === undefined ? `${license}\nIts source: ${homepage}` : readFileSync(join(folder, file), "utf8");
  return `${name} ${version}\n\n${text.replaceAll("\r\n", "\n").trim()}\n\n${"-".repeat(80)}\n`;
}
