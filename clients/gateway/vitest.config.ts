import { defineConfig } from "vitest/config";

const source = (file: string) => new URL(`../typescript/src/${file}`, import.meta.url).pathname;

export default defineConfig({
  resolve: {
    alias: [
      { find: /^stream-sidecar$/, replacement: source("index.ts") },
      { find: /^stream-sidecar\/internal$/, replacement: source("internal.ts") },
    ],
  },
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 300_000,
    // Each file starts processes of its own; two cores are all there may be.
    maxWorkers: 2,
    dangerouslyIgnoreUnhandledErrors: false,
  },
});
