// Packs this package and `wasm/` as they are published: `node scripts/pack.mjs FOLDER`. The packed
// manifest has the platforms' packages as `optionalDependencies`; the checkout has not, because
// they cannot be installed before they are published. Both packages must be built.

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { argv, platform } from "node:process";
import { fileURLToPath } from "node:url";

const HOME = fileURLToPath(new URL("..", import.meta.url));
const PLATFORMS = ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64", "win32-arm64", "win32-x64"];

/** The package's manifest, with every platform's package in the same version. */
export function published(manifest) {
  const { devDependencies, scripts, prettier, ...about } = manifest;
  const optional = PLATFORMS.map((name) => [`@stream-sidecar/${name}`, manifest.version]);
  return { ...about, optionalDependencies: Object.fromEntries(optional) };
}

function pack(output) {
  const scratch = mkdtempSync(join(tmpdir(), "stream-sidecar-"));
  try {
    const manifest = JSON.parse(readFileSync(join(HOME, "package.json"), "utf8"));
    for (const name of [...manifest.files, "LICENSE", "README.md"]) {
      cpSync(join(HOME, name), join(scratch, name), { recursive: true });
    }
    writeFileSync(join(scratch, "package.json"), `${JSON.stringify(published(manifest), null, 2)}\n`);
    mkdirSync(output, { recursive: true });
    for (const folder of [scratch, join(HOME, "wasm")]) {
      const options = { cwd: folder, encoding: "utf8", shell: platform === "win32" };
      const words = ["pack", "--silent", "--ignore-scripts", "--pack-destination", resolve(output)];
      process.stdout.write(execFileSync("npm", words, options));
    }
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

pack(argv[2] ?? ".");
