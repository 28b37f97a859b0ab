// Makes dist/cjs of the package in the working directory from the output of `tsc`: the same files,
// and the same types, for `require`. It converts file by file, so that a class is the same class in
// all entries of the package.

import { cpSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";

const DIST = resolve("dist");
const CJS = join(DIST, "cjs");

const PROGRAM = /^bin\./; // of the gateway, which is never required

const made = readdirSync(DIST, { recursive: true }).filter((name) => !PROGRAM.test(name));
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
