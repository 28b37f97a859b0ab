// An app that is bundled as an ES module has the client in it: made by each bundler, run
// by Node.js against the real sidecar.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { nodeResolve } from "@rollup/plugin-node-resolve";
import { build as esbuild } from "esbuild";
import { rollup } from "rollup";
import webpack from "webpack";
import { afterAll, beforeAll, expect, test } from "vitest";
import { REAL } from "./support.js";

const HOME = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "sidecar-bundles-"));
const entry = join(folder, "app.mjs");

const APP = `
import { Sidecar } from "./dist/index.js";
import { uiMessageChunks } from "./dist/adapters/ai-sdk.js";
import { sessionUpdates } from "./dist/adapters/acp.js";

const sidecar = await Sidecar.spawn(${JSON.stringify(REAL)});
const stream = await sidecar.openStream({ wire: "text" });
const told = [];
for await (const chunk of uiMessageChunks(stream.pipe(["<think>why</think>", "Because."]))) told.push(chunk.type);
await sidecar.shutdown();
console.log(told.join(" "), typeof sessionUpdates);
`;

beforeAll(() => {
  const compiler = join(HOME, "node_modules", "typescript", "bin", "tsc");
  const to = ["--outDir", join(folder, "dist")];
  execFileSync(process.execPath, [compiler, "-p", join(HOME, "tsconfig.build.json"), ...to]);
  writeFileSync(entry, APP);
});
afterAll(() => rmSync(folder, { recursive: true }));

type Bundler = (file: string) => Promise<unknown>;

const BUNDLERS: Readonly<Record<string, Bundler>> = {
  esbuild: (outfile) =>
    esbuild({ entryPoints: [entry], bundle: true, platform: "node", format: "esm", outfile, logLevel: "silent" }),
  rollup: async (file) => {
    const plugins = [nodeResolve({ preferBuiltins: true })];
    const bundle = await rollup({ input: entry, external: /^node:/, plugins });
    await bundle.write({ file, format: "es", inlineDynamicImports: true });
    await bundle.close();
  },
  webpack: (file) =>
    new Promise<void>((resolve, reject) => {
      const output = { path: folder, filename: file.slice(folder.length + 1), module: true, chunkFormat: "module" };
      const made = {
        entry,
        output,
        mode: "production",
        target: "node20",
        experiments: { outputModule: true },
      } as const;
      webpack(made, (error, stats) => {
        if (error || stats?.hasErrors()) reject(error ?? new Error(stats?.toString()));
        else resolve();
      });
    }),
};

test.for(Object.entries(BUNDLERS))("%s", async ([name, bundle]) => {
  const file = join(folder, `${name}.mjs`);
  await bundle(file);
  const said = execFileSync(process.execPath, [file], { encoding: "utf8" });
  expect(said).toContain("reasoning-delta reasoning-end text-start text-delta");
  expect(said).toContain("function");
});
