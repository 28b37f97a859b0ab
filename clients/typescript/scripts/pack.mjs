// Packs this package, `wasm/` and the gateway as they are published: `node scripts/pack.mjs FOLDER`.
// The packed manifest of this package has the platforms' packages as `optionalDependencies`, which
// cannot be installed in a checkout before they are published. That of the gateway has this package
// in the same version, because the gateway is made of parts that are not stable. All must be built.

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { argv, platform } from "node:process";
import { fileURLToPath } from "node:url";

const HOME = fileURLToPath(new URL("..", import.meta.url));
const PLATFORMS = ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64", "win32-arm64", "win32-x64"];

/** Folder of a package -> what its published manifest has besides its own, or instead of it. */
const PUBLISHED = {
  ".": ({ version }) => ({
    optionalDependencies: Object.fromEntries(PLATFORMS.map((name) => [`@stream-sidecar/${name}`, version])),
  }),
  "../gateway": ({ version, dependencies }) => ({ dependencies: { ...dependencies, "stream-sidecar": version } }),
};

function pack(folder, output) {
  const options = { cwd: folder, encoding: "utf8", shell: platform === "win32" };
  const words = ["pack", "--silent", "--ignore-scripts", "--pack-destination", output];
  process.stdout.write(execFileSync("npm", words, options));
}

function packPublished(folder, added, output) {
  const scratch = mkdtempSync(join(tmpdir(), "stream-sidecar-"));
  try {
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    for (const name of [...manifest.files, "LICENSE", "README.md"]) {
      cpSync(join(folder, name), join(scratch, name), { recursive: true });
    }
    const { devDependencies, scripts, prettier, ...about } = manifest;
    const published = { ...about, ...added(manifest) };
    writeFileSync(join(scratch, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
    pack(scratch, output);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

const output = resolve(argv[2] ?? ".");
mkdirSync(output, { recursive: true });
for (const [folder, added] of Object.entries(PUBLISHED)) packPublished(join(HOME, folder), added, output);
pack(join(HOME, "wasm"), output);
