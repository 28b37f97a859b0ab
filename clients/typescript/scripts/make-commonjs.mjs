// Makes dist/cjs of what `tsc` made: the same files, and the same types, for `require`. File
// for file, so that a class is one class whatever entry of the package it comes from.

import { cpSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const DIST = fileURLToPath(new URL("../dist/", import.meta.url));
const CJS = join(DIST, "cjs");

const PROGRAM = join("gateway", "bin."); // which nobody requires

const made = readdirSync(DIST, { recursive: true }).filter((name) => !name.startsWith(PROGRAM));
await build({
  entryPoints: made.filter((name) => name.endsWith(".js")).map((name) => join(DIST, name)),
  outdir: CJS,
  format: "cjs",
  platform: "node",
  target: "node20",
  charset: "utf8",
  logOverride: { "empty-import-meta": "silent" }, // src/process/locate.ts asks for __filename first
});
for (const name of made.filter((name) => name.endsWith(".d.ts"))) cpSync(join(DIST, name), join(CJS, name));
writeFileSync(join(CJS, "package.json"), '{ "type": "commonjs" }\n');
